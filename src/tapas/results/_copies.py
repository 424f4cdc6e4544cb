"""Private records that stand in a release, beside records that were not used."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from tapas._validate import listing
from tapas.stats import least_excess

__all__ = ["Copies"]

ONCE_IN_TWENTY = 0.05
NAMED = 5


@dataclass(frozen=True)
class Copies:
    """How many records equal a released one in every column that was audited, or in all but one.

    Attributes
    ----------
    members, members_copied : int
        All private records, also those that the attacker was told of, and how many are released
        word for word.
    non_members, non_members_copied : int
        The same of the holdout: what records of this population share by chance.
    p_value : float
        How likely such an excess on the private side is by chance (Fisher's exact test over
        distinct records that are on one side only).
    members_near, non_members_near : int
        How many more are released but for one column.
    near_p_value : float
        The same test of all that are released but for at most one column.
    near_counts : (int, int, int, int), optional
        Of distinct records that are on one side only and not released word for word: how many
        private ones are released but for one column, of how many, and the same of the holdout.
        Files of earlier versions do not say.
    rows : tuple of int
        Positions in the private table of all that are released so.
    released_rows : tuple of int
        For each the first such released row.
    differs_in : tuple of str
        For each the column that differs; empty where none does.
    labels : tuple of str
        Their labels, where the private table labels its rows.
    """

    members: int
    members_copied: int
    non_members: int
    non_members_copied: int
    p_value: float
    members_near: int = 0
    non_members_near: int = 0
    near_p_value: float = 1.0
    near_counts: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    released_rows: tuple[int, ...] = ()
    differs_in: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def stands_out(self) -> bool:
        """Whether private records are released and others are not, or hardly ever so often.

        That is what is seen, and worth a look: a test of it that shares no error with others errs
        once in twenty. Whether chance explains it is another question (`Findings.copied`).
        """
        alone = self.members_copied > 0 and self.non_members_copied == 0
        return alone or (self.members_copied > 0 and self._is_rare) or self.near_stands_out

    @property
    def only_private(self) -> bool:
        """Whether private records are released and no holdout record is; not whether by chance."""
        alone = self.members_copied > 0 and self.non_members_copied == 0
        others = self.non_members_copied + self.non_members_near
        return alone or (self.members_near > 0 and others == 0)

    @property
    def near_stands_out(self) -> bool:
        """The same of those that are released but for one column, by a test as lenient."""
        others = self.non_members_copied + self.non_members_near
        return self.members_near > 0 and (others == 0 or self.near_p_value <= ONCE_IN_TWENTY)

    @property
    def _is_rare(self) -> bool:
        return self.p_value <= ONCE_IN_TWENTY

    @property
    def smallest_p_value(self) -> float:
        """Of the two tests; each is a statement of its own."""
        return min(self.p_value, self.near_p_value)

    @property
    def near_by_chance(self) -> float:
        """How many of the near ones the holdout lets expect."""
        return self.members * self.non_members_near / max(1, self.non_members)

    def least(self, confidence: float) -> int:
        """How many are released at least: all that are word for word, and near ones beyond chance.

        Notes
        -----
        Assumes: records that are near by chance are so on both sides alike. Guarantees: at least
        so many are, with this confidence (`tapas.stats.least_excess`).
        """
        return self.members_copied + self._near_beyond_chance(confidence)

    def most(self, confidence: float) -> int:
        """How many may be: near ones too, where chance explains none or not all of them."""
        told = self.non_members_near > 0 and bool(self.near_counts)
        beyond = not told or self._near_beyond_chance(confidence) > 0
        return self.members_copied + self.members_near * beyond

    def _near_beyond_chance(self, confidence: float) -> int:
        return least_excess(*self.near_counts, confidence=confidence) if self.near_counts else 0

    @property
    def names_near(self) -> bool:
        """Whether the holdout lets expect hardly any of the near ones, so that each is named."""
        return self.near_stands_out and 10 * self.near_by_chance <= self.members_near

    @property
    def listed(self) -> list[tuple[int, int, str, str]]:
        """Row, released row, differing column and label; word for word first.

        Near ones only where the holdout has hardly any.
        """
        labels = self.labels or ("",) * len(self.rows)
        every = zip(self.rows, self.released_rows, self.differs_in, labels, strict=True)
        named = [one for one in every if not one[2] or self.names_near]
        return sorted(named, key=lambda one: bool(one[2]))

    def count(self, columns: str = "") -> str:
        """How many private records are released, in words that begin a sentence.

        `columns` are the words for those that were compared, where others were left out.
        """
        near = self.members_near if self.near_stands_out else 0
        if near and not self.members_copied:
            return f"{self._stand(near)} but for one {f'of {columns}' if columns else 'column'}"
        more = f", and {near:,} more but for one column" if near else ""
        return f"{self._stand(self.members_copied)} {_word_for_word(columns)}{more}"

    def _stand(self, number: int) -> str:
        stand = "stands" if number == 1 else "stand"
        return f"{number:,} of {self.members:,} private records {stand} in the release"

    @property
    def beside(self) -> str:
        """The same of the holdout."""
        exact, near = self.non_members_copied, self.non_members_near
        if not self.near_stands_out:
            return f"{exact:,} of {self.non_members:,} holdout records do"
        if not exact and not near:
            return f"none of {self.non_members:,} holdout records does"
        return f"of {self.non_members:,} holdout records {exact:,} and {near:,} do"

    def words(self, *, beyond_chance: bool, columns: str = "") -> str:
        """What was found, in a sentence or two; `beyond_chance`: whether a test says so.

        `columns` are the words for those that were compared, where others were left out.
        """
        if not self.members_copied and not self.stands_out:
            return f"No private record stands in the release {_word_for_word(columns)}."
        if not (self.stands_out or beyond_chance):
            return f"{self.count(columns)}, and {self.beside} too: so many may be equal by chance."
        what = "are more than chance explains" if beyond_chance else "may be equal by chance"
        said = f"{self.count(columns)}; {self.beside}. So many {what}."
        if self.near_stands_out and not self.names_near:
            said += " Which of those but for one column are copies and which are chance is unsure."
        return f"{said} {self._named()}".rstrip()

    def _named(self) -> str:
        """Who they are."""
        listed = self.listed
        if not listed:
            return ""
        few = listing([label or f"row {row}" for row, _, _, label in listed], NAMED, show=str)
        unsure = self.near_stands_out and not self.names_near
        who = "Word for word are" if unsure else "They are"
        return f"{who} {few}; copies.csv lists them."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        found = cls(
            **{name: int(entry[name]) for name in _NUMBERS},
            p_value=float(entry["p_value"]),
            near_p_value=float(entry["near_p_value"]),
            near_counts=tuple(map(int, entry.get("near_counts", ()))),
            rows=tuple(map(int, entry["rows"])),
            released_rows=tuple(map(int, entry["released_rows"])),
            differs_in=tuple(map(str, entry["differs_in"])),
            labels=tuple(map(str, entry["labels"])),
        )
        lengths = {len(found.rows), len(found.released_rows), len(found.differs_in)}
        if len(lengths | ({len(found.labels)} if found.labels else set())) > 1:
            raise ValueError("copies have as many rows as released rows, columns and labels")
        if len(found.near_counts) not in (0, 4):
            raise ValueError("near copies have four counts, or none")
        return found


def _word_for_word(columns: str) -> str:
    return "word for word" + f" in {columns}" * bool(columns)


_NUMBERS = (
    "members",
    "members_copied",
    "non_members",
    "non_members_copied",
    "members_near",
    "non_members_near",
)
