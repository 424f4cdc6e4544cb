"""Private records that stand in a release word for word, beside records that were not used."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

__all__ = ["Copies"]

ONCE_IN_TWENTY = 0.05


@dataclass(frozen=True)
class Copies:
    """How many records equal a released one in every column that was audited.

    Attributes
    ----------
    members, members_copied : int
        All private records, also those that the attacker was told of, and how many are released.
    non_members, non_members_copied : int
        The same of the holdout: what records of this population share by chance.
    p_value : float
        How likely such an excess on the private side is by chance (Fisher's exact test over
        distinct records that are on one side only).
    rows : tuple of int
        Positions of the copied ones in the private table.
    released_rows : tuple of int
        For each the first released row that equals it.
    labels : tuple of str
        Their labels, where the private table labels its rows.
    """

    members: int
    members_copied: int
    non_members: int
    non_members_copied: int
    p_value: float
    rows: tuple[int, ...] = ()
    released_rows: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def stands_out(self) -> bool:
        """Whether private records are copied and others are not, or hardly ever so often."""
        return self.members_copied > 0 and (
            self.non_members_copied == 0 or self.p_value <= ONCE_IN_TWENTY
        )

    @property
    def count(self) -> str:
        """How many private records are copied, in words that begin a sentence."""
        stand = "stands" if self.members_copied == 1 else "stand"
        return (
            f"{self.members_copied:,} of {self.members:,} private records {stand} in the release "
            "word for word"
        )

    def words(self) -> str:
        """What was found, in a sentence."""
        if not self.members_copied:
            return "No private record stands in the release word for word."
        others = f"{self.non_members_copied:,} of {self.non_members:,} holdout records do too"
        if not self.stands_out:
            return f"{self.count}, and {others}: so many may be equal by chance."
        if not self.non_members_copied:
            others = f"none of {self.non_members:,} holdout records does"
        return f"{self.count}, and {others}; copies.csv lists them."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        numbers = {name: int(entry[name]) for name in _NUMBERS}
        return cls(
            **numbers,
            p_value=float(entry["p_value"]),
            rows=tuple(map(int, entry["rows"])),
            released_rows=tuple(map(int, entry["released_rows"])),
            labels=tuple(map(str, entry["labels"])),
        )


_NUMBERS = ("members", "members_copied", "non_members", "non_members_copied")
