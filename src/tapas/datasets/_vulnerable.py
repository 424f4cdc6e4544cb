"""Find the records that a release endangers most: those far from all others."""

import numpy as np
from threadpoolctl import threadpool_limits

from tapas._random import stream
from tapas._validate import check_count
from tapas.datasets._cells import Cells
from tapas.datasets._columns import MISSING_CODE
from tapas.datasets._encoding import EncodedTable, numeric_width
from tapas.datasets._sorted_blocks import closeness_in_blocks
from tapas.datasets._tabular import TabularDataset
from tapas.errors import RecordError

_PAIRS_AT_ONCE = 1 << 20
_OTHERS_AT_ONCE = 1 << 13
_FEW = 4  # times as many as are asked for: of so few all distances are known at once
_WORTH_ANOTHER = 2 / 3  # of the rows, where sorting all of them again still drops many
_ROUNDING = 1e-5  # more than products of single precision err by, for each column


def record_isolation(dataset: TabularDataset, neighbours: int = 5) -> np.ndarray:
    """Mean distance of each record to its nearest others.

    The distance joins the cosine distance of one-hot categories and that of min-max scaled
    numbers, each weighted by its share of the columns. Ordered categories count as categories. A
    missing value counts as the commonest category or the median of its column: what was not
    recorded does not make a record stand out.

    Every pair of records is compared, in bounded memory; `most_isolated` finds the few most
    isolated ones of a large table much faster.

    References
    ----------
    Meeus, Guepin, Cretu and de Montjoye (2023), "Achilles' Heels: Vulnerable Record
    Identification in Synthetic Data Publishing", arXiv:2306.10308.
    """
    vectors = _checked_vectors(dataset, neighbours)
    columns = len(dataset.table.columns)
    with threadpool_limits(1):  # small products: more threads wait more than they work
        return 1 - _closeness(vectors, np.arange(len(vectors)), neighbours) / columns


def most_isolated(dataset: TabularDataset, k: int, neighbours: int = 5) -> np.ndarray:
    """Positions of the `k` records of highest `record_isolation`, highest first.

    The nearest among some records are never nearer than the nearest among all. So records are
    compared with more and more others, likely neighbours first, and those are dropped that this
    alone shows to be less isolated than `k` others: most of them at once. The outcome is exact.
    """
    if check_count(k, "k", minimum=1) > len(dataset):
        raise RecordError(f"{k} records were asked for, the dataset has {len(dataset)}")
    vectors = _checked_vectors(dataset, neighbours)
    with threadpool_limits(1):
        rows = _candidates(vectors, k, neighbours)
        order = np.argsort(_closeness(vectors, rows, neighbours), kind="stable")
    return rows[order[:k]]


def select_vulnerable_records(
    dataset: TabularDataset, k: int, neighbours: int = 5
) -> TabularDataset:
    """Return the `k` most isolated records, most isolated first, under their row labels.

    `most_isolated` gives their positions, e.g. to leave those rows out of the data.
    """
    return dataset.get_records(most_isolated(dataset, k, neighbours))


def _candidates(vectors: np.ndarray, k: int, neighbours: int) -> np.ndarray:
    """Rows, ascending, among which the `k` most isolated ones are."""
    drawn = stream(0)  # decides how long it takes, not what is found
    alive = _without_copies(
        vectors @ drawn.random(vectors.shape[1], dtype=np.float32), k, neighbours
    )
    bar = _Bar(vectors, k, neighbours)
    at_least, before = np.full(len(vectors), -np.inf, dtype=np.float32), np.inf
    while _FEW * k < len(alive) < _WORTH_ANOTHER * before:
        before = len(alive)
        found = closeness_in_blocks(vectors, alive, neighbours, drawn)
        at_least[alive] = np.maximum(at_least[alive], found)
        alive = bar.kept(alive, at_least[alive])
    if len(alive) <= _FEW * k:
        return alive
    cells = Cells(vectors, int(2 * np.sqrt(len(alive))), drawn)
    closest = np.full((len(vectors), neighbours), -np.inf, dtype=np.float32)
    start, stop = 0, 1
    while len(alive) > _FEW * k and start < len(cells):
        for some, others in cells.visits(cells.nearest(alive)[:, start:stop]):
            rows = alive[some]
            found = _closest(vectors[rows], vectors[others], rows, others, neighbours)
            closest[rows] = _merged(closest[rows], found)
        start, stop = stop, 2 * stop
        if k * len(cells) < len(alive) * start:  # a bar costs less than another round without
            alive = bar.kept(alive, closest[alive].mean(axis=1, dtype=float))
    return alive


class _Bar:
    """What the closeness of the `k` most isolated records does not exceed, as far as is known."""

    def __init__(self, vectors: np.ndarray, k: int, neighbours: int):
        self._vectors, self._k, self._neighbours = vectors, k, neighbours
        self._rounding = _ROUNDING * float(vectors[0] @ vectors[0])
        self._known: dict[int, float] = {}

    def kept(self, rows: np.ndarray, at_least: np.ndarray) -> np.ndarray:
        """The rows that may be among them, by closenesses that theirs are not below."""
        likely = rows[np.argsort(at_least, kind="stable")[: 2 * self._k]]
        fresh = np.array([row for row in likely if int(row) not in self._known], dtype=int)
        found = _closeness(self._vectors, fresh, self._neighbours, np.float32)
        self._known |= zip(fresh.tolist(), found, strict=True)
        return rows[at_least <= sorted(self._known.values())[self._k - 1] + self._rounding]


def _without_copies(keys: np.ndarray, k: int, neighbours: int) -> np.ndarray:
    """Rows with too few equals to have no distance at all; the first others where `k` need them."""
    _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    crowded = sizes[group] > neighbours
    alone = np.flatnonzero(~crowded)
    others = np.flatnonzero(crowded)[: max(0, k - len(alone))]
    return np.sort(np.concatenate([alone, others]))


def _closeness(
    vectors: np.ndarray, rows: np.ndarray, neighbours: int, dtype: type = float
) -> np.ndarray:
    """Mean dot product of some rows with their closest others."""
    closest: np.ndarray = np.full((len(rows), neighbours), -np.inf, dtype=dtype)
    own = vectors[rows].astype(dtype)
    for start in range(0, len(vectors), _OTHERS_AT_ONCE):
        others = np.arange(start, min(start + _OTHERS_AT_ONCE, len(vectors)))
        across: np.ndarray = vectors[start : start + _OTHERS_AT_ONCE].astype(dtype, copy=False)
        closest = _merged(closest, _closest(own, across, rows, others, neighbours))
    return closest.mean(axis=1, dtype=float)


def _closest(
    vectors: np.ndarray, across: np.ndarray, rows: np.ndarray, others: np.ndarray, number: int
) -> np.ndarray:
    """The largest products of vectors with those across, without that of a row with itself.

    Vectors are those of `rows`, and those across are those of `others`, ascending.
    """
    number = min(number, len(others))
    places = np.searchsorted(others, rows).clip(max=len(others) - 1)
    places[others[places] != rows] = -1
    found = np.empty((len(rows), number), dtype=vectors.dtype)
    step = max(1, _PAIRS_AT_ONCE // len(others))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        products = vectors[part] @ across.T
        itself = np.flatnonzero(places[part] >= 0)
        products[itself, places[part][itself]] = -np.inf
        products.partition(len(others) - number, axis=1)
        found[part] = products[:, len(others) - number :]
    return found


def _merged(some: np.ndarray, more: np.ndarray) -> np.ndarray:
    """The largest of both, as many as `some` has."""
    both = np.concatenate([some, more], axis=1)
    return np.partition(both, -some.shape[1], axis=1)[:, -some.shape[1] :]


def _checked_vectors(dataset: TabularDataset, neighbours: int) -> np.ndarray:
    """Rows whose dot products are the weighted similarities times the number of columns.

    Where all columns are categories, these are whole numbers, and equal records tie.
    """
    check_count(neighbours, "neighbours", minimum=1)
    if neighbours >= len(dataset):
        raise RecordError(
            f"{neighbours} neighbours were asked for in a dataset of {len(dataset)} rows; "
            f"ask for fewer than there are other rows"
        )
    table = dataset.table
    numbers = table.numbers.shape[1]
    blocks = _one_hot_blocks(table)
    if numbers:
        scaled = _scaled_numbers(table.numbers)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        # The zero vector has no direction; it gets an axis of its own.
        scaled = np.concatenate([scaled / np.where(norms, norms, 1), norms == 0], axis=1)
        blocks.append((scaled * np.sqrt(numbers)).astype(np.float32))
    return np.concatenate(blocks, axis=1)


def _one_hot_blocks(table: EncodedTable) -> list[np.ndarray]:
    blocks = []
    rows = np.arange(len(table))
    for position, column in enumerate(table.coded_columns()):
        numeric_width(column)  # refuses free text, with advice
        codes = table.codes[:, position]
        counts = np.bincount(codes[codes != MISSING_CODE], minlength=len(column.values or ()))
        places = np.cumsum(counts > 0) - 1
        block = np.zeros((len(table), max(1, int((counts > 0).sum()))), dtype=np.float32)
        block[rows, places[np.where(codes == MISSING_CODE, counts.argmax(), codes)]] = 1
        blocks.append(block)
    return blocks


def _scaled_numbers(numbers: np.ndarray) -> np.ndarray:
    columns = [_scaled(column) for column in numbers.T]
    return np.stack(columns, axis=1)


def _scaled(column: np.ndarray) -> np.ndarray:
    """From 0 to 1; a missing number is the median, so that it is ordinary."""
    present = column[~np.isnan(column)]
    if not len(present):
        return np.zeros(len(column))
    low, spread = present.min(), np.ptp(present) or 1
    return (np.where(np.isnan(column), np.median(present), column) - low) / spread
