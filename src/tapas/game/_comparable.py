"""Who can be compared: members and non-members that differ by membership alone.

A record whose values occur on both sides is neither: nobody could say whether it is a member. It
is left out on both sides. That alone would favour one side where the sides differ in size, because
repeated records of the larger side have less chance to meet a copy on the smaller one: values that
are repeated on the larger side are therefore thinned out by just that chance, so that the values of
those that remain say nothing about their side.

Equal records on one side are no independent ones, and whoever learns from one of them knows the
others. Where one release or model judges all records, each value is therefore compared once: which
it is, and how often it occurs, then says nothing about its side either.
"""

from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from tapas._random import Parts, part_stream
from tapas.errors import ThreatModelError

__all__ = [
    "Candidates",
    "Compared",
    "Gathered",
    "compare_sides",
    "draw_values",
    "split_coins",
    "split_sides",
]

FEWEST = 2  # judged records of each side


class Gathered(Protocol):
    """Records that can be gathered by position."""

    def __len__(self) -> int:
        """How many records there are."""

    def take(self, rows: np.ndarray, /) -> Self:
        """Some of these records."""

    def splice(self, other: Self, rows: np.ndarray) -> Self:
        """Some of these records followed by those of another, without labels of their own."""


Records_ = TypeVar("Records_", bound=Gathered)


@dataclass(frozen=True, eq=False)
class Candidates(Generic[Records_]):
    """Records with their membership, in an order that says nothing.

    Attributes
    ----------
    records : Records or table
    members : ndarray of bool
    rows : ndarray of int
        Position in the members or the non-members that were given.
    """

    records: Records_
    members: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.members)

    def first(self, number: int) -> Self:
        """So many of them, which their order does not choose by anything."""
        return replace(
            self,
            records=self.records.take(np.arange(min(number, len(self)))),
            members=self.members[:number],
            rows=self.rows[:number],
        )

    @property
    def of_each_side(self) -> tuple[int, int]:
        """How many members and others there are."""
        inside = int(self.members.sum())
        return inside, len(self) - inside


@dataclass(frozen=True, eq=False)
class Compared:
    """Rows of members and of non-members that can be compared.

    Attributes
    ----------
    rows : tuple of ndarray
        Of the members and of the non-members.
    on_both_sides : (int, int)
        How many of either were left out because they occur on the other side too.
    thinned : int
        How many repeated ones of the larger side were left out to make up for that.
    repeated : (int, int)
        How many members and non-members were left out because others of their side equal them.
    """

    rows: tuple[np.ndarray, np.ndarray]
    on_both_sides: tuple[int, int]
    thinned: int
    repeated: tuple[int, int] = (0, 0)

    @property
    def left_out(self) -> int:
        """How many records were left out."""
        return sum(self.on_both_sides) + self.thinned + sum(self.repeated)

    def words(self) -> str:
        """What was left out, in a sentence."""
        said = ""
        if any(self.on_both_sides) or not any(self.repeated):
            said = (
                f"{self.on_both_sides[0]} members and {self.on_both_sides[1]} non-members have "
                f"values that occur on both sides and are left out"
            )
        if self.thinned:
            said += ", and so are " if said else "left out are "
            said += (
                f"{self.thinned} repeated records of the larger side, which had less "
                f"chance to occur on both"
            )
        if any(self.repeated):
            said += "; " if said else ""
            said += (
                f"{self.repeated[0]} members and {self.repeated[1]} non-members repeat others of "
                f"their side, and equal ones are compared once"
            )
        return f"{said}; {len(self.rows[0])} members and {len(self.rows[1])} non-members remain"

    def once(self, keys: tuple[np.ndarray, np.ndarray]) -> "Compared":
        """The same with the first of equal records only."""
        firsts = tuple(
            _first_of_each(side, rows) for side, rows in zip(keys, self.rows, strict=True)
        )
        left = (len(self.rows[0]) - len(firsts[0]), len(self.rows[1]) - len(firsts[1]))
        return replace(self, rows=(firsts[0], firsts[1]), repeated=left)


def compare_sides(keys: tuple[np.ndarray, np.ndarray], seed: int) -> Compared:
    """Choose who is compared; equal keys mark equal records."""
    shared = tuple(np.isin(keys[side], keys[1 - side]) for side in (0, 1))
    kept = [np.flatnonzero(~shared[side]) for side in (0, 1)]
    larger = int(len(keys[1]) > len(keys[0]))
    own, other = len(keys[larger]), len(keys[1 - larger])
    stays = _thinning(keys[larger][kept[larger]], own, other, seed)
    kept[larger] = kept[larger][stays]
    counts = (int(shared[0].sum()), int(shared[1].sum()))
    return Compared((kept[0], kept[1]), counts, int((~stays).sum()))


def draw_values(keys: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Mark such a share of the records, drawn at random: all that equal each other, or none."""
    return _by_value(keys, rng) < round(share * len(keys))


def _first_of_each(keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Those of some rows that no earlier one equals."""
    return rows[np.sort(np.unique(keys[rows], return_index=True)[1])]


def _thinning(keys: np.ndarray, own: int, other: int, seed: int) -> np.ndarray:
    """Which records stay: a value that occurs c times with the chance that makes sides alike.

    Were labels dealt anew, c equal records would all fall on the own side, of `own` records, in
    proportion ``own (own - 1) ... (own - c + 1)``, on the other likewise. Staying with chance
    ``(other - 1) / (own - 1) * ... * (other - c + 1) / (own - c + 1)`` evens that out.
    """
    values, position, count = np.unique(keys, return_inverse=True, return_counts=True)
    steps = np.arange(1, max(2, int(count.max(initial=1))))
    ratios = np.maximum(other - steps, 0) / np.maximum(own - steps, 1)
    chance = np.concatenate([[1.0], np.cumprod(ratios)])[count - 1]
    drawn = part_stream(seed, Parts.SIDE_THINNING).random(len(values))
    return (drawn < chance)[position]


def split_sides(
    sides: tuple[Records_, Records_],
    keys: tuple[np.ndarray, np.ndarray],
    rows: tuple[np.ndarray, np.ndarray],
    known_share: float,
    seed: int,
) -> tuple[Candidates[Records_] | None, Candidates[Records_]]:
    """Draw those whose membership the attacker knows; the others are judged, in random order.

    Equal records are all known or all judged.
    """
    known: list[np.ndarray] = []
    judged: list[np.ndarray] = []
    for side in (0, 1):
        rng = part_stream(seed, Parts.SIDE_SPLIT, side)
        of_known = draw_values(keys[side][rows[side]], known_share, rng)
        known.append(rows[side][of_known])
        judged.append(rows[side][~of_known])
    if min(map(len, judged)) < FEWEST:
        raise ThreatModelError(
            f"too few records are left to judge: {len(judged[0])} members and {len(judged[1])} "
            f"non-members, at least {FEWEST} of each are needed. Give more records that are not "
            f"on both sides, or a smaller known_share"
        )
    candidates = None
    if all(map(len, known)):
        candidates = _shuffled(sides, known, part_stream(seed, Parts.SIDE_ORDER, 0))
    return candidates, _shuffled(sides, judged, part_stream(seed, Parts.SIDE_ORDER, 1))


def split_coins(
    sides: tuple[Records_, Records_],
    keys: tuple[np.ndarray, np.ndarray],
    known_share: float,
    seed: int,
) -> tuple[Candidates[Records_] | None, Candidates[Records_]]:
    """Draw the known ones without a look at their side: each was put there by a coin of its own."""
    together = np.concatenate(keys)
    repeated = len(together) - len(np.unique(together))
    if repeated:
        raise ThreatModelError(
            f"{repeated} canaries have the values of others: each must be there once to be decided "
            f"by a coin of its own"
        )
    order = part_stream(seed, Parts.SIDE_SPLIT, 2).permutation(len(together))
    of_known = np.isin(np.arange(len(together)), order[: round(known_share * len(together))])
    parts = np.split(of_known, [len(keys[0])])
    known, judged = ([np.flatnonzero(part == wanted) for part in parts] for wanted in (True, False))
    if min(map(len, judged)) < FEWEST:
        raise ThreatModelError("too few canaries are left to judge: give more")
    candidates = None
    if all(map(len, known)):
        candidates = _shuffled(sides, known, part_stream(seed, Parts.SIDE_ORDER, 0))
    return candidates, _shuffled(sides, judged, part_stream(seed, Parts.SIDE_ORDER, 1))


def _by_value(keys: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random rank for each record, where equal records have neighbouring ranks or share one."""
    _, first, value = np.unique(keys, return_index=True, return_inverse=True)
    order = rng.permutation(len(keys))
    rank = np.empty(len(keys), dtype=int)
    rank[order] = np.arange(len(keys))
    return rank[first][value]


def _shuffled(
    sides: tuple[Records_, Records_], rows: list[np.ndarray], rng: np.random.Generator
) -> Candidates[Records_]:
    order = rng.permutation(len(rows[0]) + len(rows[1]))
    places = np.concatenate([rows[0], len(sides[0]) + rows[1]])[order]
    gathered = sides[0].splice(sides[1], places)
    return Candidates(gathered, order < len(rows[0]), np.concatenate(rows)[order])
