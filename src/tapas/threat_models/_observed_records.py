"""Who is known and who is judged in an observed release, chosen so that sides are comparable."""

from dataclasses import dataclass

import numpy as np

from tapas._random import stream
from tapas.datasets import TabularDataset
from tapas.errors import SchemaError, ThreatModelError

FEWEST = 2  # judged records of each side

# Parts of the choice that have a random stream of their own.
_REFERENCE, _SIZES, _AGAIN, _KNOWN, _ORDER = range(10, 15)


@dataclass(frozen=True, eq=False)
class Side:
    """Records with their membership, in an order that says nothing.

    Attributes
    ----------
    records : TabularDataset
    members : ndarray of bool
    rows : ndarray of int
        Position in the members or the non-members that were given.
    """

    records: TabularDataset
    members: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class ObservedCounts:
    """How many records were given, and what became of them.

    Attributes
    ----------
    members, non_members, released : int
        As given.
    compared : int
        Size to which members and non-members were cut.
    equal_members, equal_non_members : int
        Of these, left out because their values occur on both sides or among those cut off.
    known, judged : int
        Members, and as many non-members.
    reference : int
        Records of the reference.
    reference_left_out : int
        Records of a given reference that equal a compared one.
    """

    members: int
    non_members: int
    released: int
    compared: int
    equal_members: int
    equal_non_members: int
    known: int
    judged: int
    reference: int
    reference_left_out: int

    @property
    def left_out(self) -> int:
        """Records left out because of equal ones."""
        return self.equal_members + self.equal_non_members

    def words(self) -> str:
        """What was left out, in a sentence."""
        return (
            f"{self.equal_members} members and {self.equal_non_members} non-members (of "
            f"{self.compared} each) have values that occur on both sides, or again in the rest of "
            f"the larger table; they are left out"
        )


@dataclass(frozen=True, eq=False)
class ChosenRecords:
    """The outcome of the choice."""

    known: Side | None
    judged: Side
    reference: TabularDataset | None
    counts: ObservedCounts


def choose_records(
    release: TabularDataset,
    members: TabularDataset,
    non_members: TabularDataset,
    reference: TabularDataset | None,
    known_share: float,
    seed: int,
) -> ChosenRecords:
    """Choose who is compared, known and judged, and what serves as reference."""
    _check_tables(release, members, non_members, reference)
    outside = stream(seed, _REFERENCE).permutation(len(non_members))
    held, share = outside[:0], known_share
    if reference is None and known_share > 0:
        # Half of what is known of the non-members is the reference. It is set apart before sides
        # are compared: afterwards only one side could have copies in it.
        held = np.sort(outside[: round(known_share / 2 * len(non_members))])
        share = (known_share / 2) / (1 - known_share / 2)
    outside = outside[len(held) :]
    inside = stream(seed, _SIZES).permutation(len(members))
    size = min(len(inside), len(outside))
    keys = _row_keys(members, non_members, *([] if reference is None else [reference]))
    drawn = (inside[:size], outside[:size])
    both = [keys[side][rows] for side, rows in enumerate(drawn)]
    cut_off = np.concatenate([keys[0][inside[size:]], keys[1][outside[size:]]])
    kept = _comparable(drawn, both, cut_off, seed)
    if reference is None:
        auxiliary, dropped = (non_members.take(held) if len(held) else None), 0
    else:
        auxiliary, dropped = _without(reference, keys[2], np.concatenate(both))
    known_number = round(share * len(kept[0]))
    _check_enough(len(kept[0]) - known_number, size, both, cut_off)
    orders = [stream(seed, _KNOWN, side).permutation(len(kept[side])) for side in (0, 1)]
    known_rows = [kept[side][orders[side][:known_number]] for side in (0, 1)]
    judged_rows = [kept[side][orders[side][known_number:]] for side in (0, 1)]
    known = None
    if known_number:
        known = _shuffled(members, non_members, known_rows, stream(seed, _ORDER, 0))
    counts = ObservedCounts(
        members=len(members),
        non_members=len(non_members),
        released=len(release),
        compared=size,
        equal_members=int(_shared(both[0], both[1], cut_off).sum()),
        equal_non_members=int(_shared(both[1], both[0], cut_off).sum()),
        known=known_number,
        judged=len(judged_rows[0]),
        reference=0 if auxiliary is None else len(auxiliary),
        reference_left_out=dropped,
    )
    judged = _shuffled(members, non_members, judged_rows, stream(seed, _ORDER, 1))
    return ChosenRecords(known, judged, auxiliary, counts)


def _shared(own: np.ndarray, other: np.ndarray, cut_off: np.ndarray) -> np.ndarray:
    """Which records of a side occur on the other one or among those cut off."""
    return np.isin(own, other) | np.isin(own, cut_off)


def _comparable(
    drawn: tuple[np.ndarray, np.ndarray], both: list[np.ndarray], cut_off: np.ndarray, seed: int
) -> list[np.ndarray]:
    """Rows of each side without shared ones, as many on both.

    The rule is the same for both sides. Leaving out only non-members that equal some member would
    keep the rarer non-members, and make them look unlike members in a release that leaks nothing.
    """
    kept = [rows[~_shared(both[side], both[1 - side], cut_off)] for side, rows in enumerate(drawn)]
    size = min(map(len, kept))
    return [
        rows[stream(seed, _AGAIN, side).permutation(len(rows))[:size]]
        for side, rows in enumerate(kept)
    ]


def _without(
    reference: TabularDataset, keys: np.ndarray, compared: np.ndarray
) -> tuple[TabularDataset, int]:
    """The reference without copies of compared records, which would favour one side."""
    keep = ~np.isin(keys, compared)
    if not keep.any():
        raise ThreatModelError(
            f"all {len(reference)} reference records are also members or non-members: give others, "
            f"or leave the reference out, and some of the non-members serve"
        )
    return reference.take(np.flatnonzero(keep)), int((~keep).sum())


def _shuffled(
    members: TabularDataset,
    non_members: TabularDataset,
    rows: list[np.ndarray],
    rng: np.random.Generator,
) -> Side:
    together = members.take(rows[0]) + non_members.take(rows[1])
    inside = np.arange(len(together)) < len(rows[0])
    order = rng.permutation(len(together))
    return Side(together.take(order, reset_index=True), inside[order], np.concatenate(rows)[order])


def _row_keys(*datasets: TabularDataset) -> list[np.ndarray]:
    """One integer per row and dataset; rows with equal values have equal integers."""
    first, *others = (dataset.table for dataset in datasets)
    whole = first.concat(*others)
    # Adding 0 makes -0.0 equal to 0.0; there is only one NaN afterwards.
    numbers = np.where(np.isnan(whole.numbers), np.nan, whole.numbers + 0.0)
    cells = np.concatenate([whole.codes.astype(np.int64), numbers.view(np.int64)], axis=1)
    packed = np.ascontiguousarray(cells).view(np.dtype((np.void, cells.itemsize * cells.shape[1])))
    _, keys = np.unique(packed.ravel(), return_inverse=True)
    return np.split(keys, np.cumsum([len(dataset) for dataset in datasets])[:-1])


def _check_tables(
    release: TabularDataset,
    members: TabularDataset,
    non_members: TabularDataset,
    reference: TabularDataset | None,
) -> None:
    named = {"release": release, "members": members, "non_members": non_members}
    if reference is not None:
        named["reference"] = reference
    for name, table in named.items():
        if not isinstance(table, TabularDataset):
            raise SchemaError(f"{name} must be a TabularDataset, got {type(table).__name__}")
        if table.description != members.description:
            raise SchemaError(
                f"{name} must have the description of the members: read all tables with one "
                f"description, TabularDataset.read(file, description=members.description)"
            )
    if not members.description.columns:
        raise SchemaError("the tables have no columns")


def _check_enough(judged: int, size: int, both: list[np.ndarray], cut_off: np.ndarray) -> None:
    if judged >= FEWEST:
        return
    equal = [int(_shared(both[s], both[1 - s], cut_off).sum()) for s in (0, 1)]
    raise ThreatModelError(
        f"too few records are left to judge: {max(0, judged)} members and as many non-members, at "
        f"least {FEWEST} are needed. Of {size} of each, {equal[0]} members and {equal[1]} "
        f"non-members have equals on the other side. Give more records or a smaller known_share"
    )
