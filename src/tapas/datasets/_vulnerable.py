"""Find the records that a release endangers most: those far from all others."""

import numpy as np

from tapas._validate import check_count
from tapas.datasets._columns import MISSING_CODE
from tapas.datasets._encoding import EncodedTable, numeric_width
from tapas.datasets._tabular import TabularDataset
from tapas.errors import RecordError


def record_isolation(dataset: TabularDataset, neighbours: int = 5) -> np.ndarray:
    """Mean distance of each record to its nearest others.

    The distance joins the cosine distance of one-hot categories and that of min-max scaled
    numbers, each weighted by its share of the columns. A missing category is a category of its
    own; a missing number is an indicator. Ordered categories count as categories.

    References
    ----------
    Meeus, Guepin, Cretu and de Montjoye (2023), "Achilles' Heels: Vulnerable Record
    Identification in Synthetic Data Publishing", arXiv:2306.10308.
    """
    # Imported here: scikit-learn takes a second to load.
    from sklearn.neighbors import NearestNeighbors

    check_count(neighbours, "neighbours", minimum=1)
    if neighbours >= len(dataset):
        raise RecordError(
            f"{neighbours} neighbours were asked for in a dataset of {len(dataset)} rows; "
            f"ask for fewer than there are other rows"
        )
    vectors = _unit_vectors(dataset.table)
    search = NearestNeighbors(n_neighbors=neighbours, algorithm="brute").fit(vectors)
    euclidean, _ = search.kneighbors()
    # For unit vectors, half the squared Euclidean distance is the cosine distance.
    return np.mean(euclidean.astype(np.float64) ** 2 / 2, axis=1)


def select_vulnerable_records(
    dataset: TabularDataset, k: int, neighbours: int = 5
) -> TabularDataset:
    """Return the `k` most isolated records, most isolated first, under their row labels.

    `record_isolation` gives the ranking itself, e.g. to leave those rows out of the data.
    """
    if check_count(k, "k", minimum=1) > len(dataset):
        raise RecordError(f"{k} records were asked for, the dataset has {len(dataset)}")
    order = np.argsort(-record_isolation(dataset, neighbours), kind="stable")
    return dataset.get_records(order[:k])


def _unit_vectors(table: EncodedTable) -> np.ndarray:
    """Rows whose dot products are the weighted sum of the two cosine similarities."""
    blocks = []
    columns = len(table.columns)
    coded, numbers = table.codes.shape[1], table.numbers.shape[1]
    if coded:
        one_hot = np.concatenate(_one_hot_blocks(table), axis=1)
        blocks.append(one_hot * np.float32(np.sqrt(coded / columns / coded)))
    if numbers:
        scaled = _scaled_numbers(table.numbers)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        # The zero vector has no direction; it gets an axis of its own.
        scaled = np.concatenate([scaled / np.where(norms, norms, 1), norms == 0], axis=1)
        blocks.append((scaled * np.sqrt(numbers / columns)).astype(np.float32))
    return np.concatenate(blocks, axis=1)


def _one_hot_blocks(table: EncodedTable) -> list[np.ndarray]:
    blocks = []
    rows = np.arange(len(table))
    for position, column in enumerate(table.coded_columns()):
        numeric_width(column)  # refuses free text, with advice
        codes = table.codes[:, position]
        missing = bool((codes == MISSING_CODE).any())
        width = len(column.values or ()) + missing
        block = np.zeros((len(table), width), dtype=np.float32)
        block[rows, codes] = 1  # -1 falls on the extra last column
        blocks.append(block)
    return blocks


def _scaled_numbers(numbers: np.ndarray) -> np.ndarray:
    missing = np.isnan(numbers)
    present = np.where(missing, np.inf, numbers)
    low = present.min(axis=0)
    spread = np.where(missing, -np.inf, numbers).max(axis=0) - low
    spread = np.where(np.isfinite(spread) & (spread > 0), spread, 1)
    scaled = np.where(missing, 0, (numbers - np.where(np.isfinite(low), low, 0)) / spread)
    return np.concatenate([scaled, missing[:, missing.any(axis=0)]], axis=1)
