"""What the leaves of a released tree or forest hold of the records that it was trained on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from tapas._validate import listing

__all__ = ["Leaves"]

NAMED = 5


@dataclass(frozen=True)
class Leaves:
    """How many training records lie in small leaves, and in leaves of one class.

    Whoever holds the model reads the size and the classes of every leaf: this is a statement about
    the model, and no result of an attack.

    Attributes
    ----------
    records : int
        Training records that were looked up.
    trees, leaves : int
        How many there are.
    fewest : int
        A leaf that fewer training records made is small.
    small_leaves, in_small : int
        How many leaves are small, and how many of the records lie in one of them in some tree.
    pure_leaves, in_pure : int
        How many leaves were made by records of one class alone, and how many of the records lie in
        such a leaf of their own class.
    rows, sizes : tuple of int
        Positions among the training records of the first in small leaves, those of the smallest
        leaves first, and how many records made the smallest leaf of each.
    labels : tuple of str
        Their labels, where records have any.
    """

    records: int
    trees: int
    leaves: int
    fewest: int
    small_leaves: int
    in_small: int
    pure_leaves: int
    in_pure: int
    rows: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def listed(self) -> list[tuple[int, str, int]]:
        """Row, label and size of the smallest leaf, of the first records in small leaves."""
        labels = self.labels or ("",) * len(self.rows)
        return [*zip(self.rows, labels, self.sizes, strict=True)]

    def words(self) -> str:
        """What was found, in a few sentences."""
        one = self.trees == 1
        where = "" if one else f"in at least one of {self.trees:,} trees, "
        reads = (
            "whoever holds the model and knows the inputs of such a record reads its class off."
            if one
            else "so may some that it was not trained on, as each tree saw a sample of its own."
        )
        return (
            f"Of {self.records:,} training records, {where}{self.in_small:,} lie in a leaf that "
            f"fewer than {self.fewest} records made (so are {self.small_leaves:,} of "
            f"{self.leaves:,} leaves){self._named()}; {self.in_pure:,} lie in a leaf that records "
            f"of their class alone made ({self.pure_leaves:,} leaves): {reads} A larger "
            f"min_samples_leaf makes leaves larger."
        )

    def _named(self) -> str:
        names = [label or f"row {row}" for row, label, _ in self.listed]
        few = listing(names, NAMED, show=str, total=self.in_small)
        return f", among them the records {few}" if names else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        found = cls(
            **{name: int(entry[name]) for name in _NUMBERS},
            rows=tuple(map(int, entry["rows"])),
            sizes=tuple(map(int, entry["sizes"])),
            labels=tuple(map(str, entry["labels"])),
        )
        if len(found.rows) != len(found.sizes) or len(found.labels) not in (0, len(found.rows)):
            raise ValueError("leaves have as many rows as sizes and labels")
        return found


_NUMBERS = (
    "records",
    "trees",
    "leaves",
    "fewest",
    "small_leaves",
    "in_small",
    "pure_leaves",
    "in_pure",
)
