"""Which rows of some tables are equal."""

from collections.abc import Iterable

import numpy as np

from tapas.datasets import TabularDataset


def row_keys(*datasets: TabularDataset) -> list[np.ndarray]:
    """One integer per row and dataset; rows with equal values have equal integers."""
    first, *others = (dataset.table for dataset in datasets)
    whole = first.concat(*others)
    # Adding 0 makes -0.0 equal to 0.0; there is only one NaN afterwards.
    numbers = np.where(np.isnan(whole.numbers), np.nan, whole.numbers + 0.0)
    cells = np.concatenate([whole.codes.astype(np.int64), numbers.view(np.int64)], axis=1)
    packed = np.ascontiguousarray(cells).view(np.dtype((np.void, cells.itemsize * cells.shape[1])))
    _, keys = np.unique(packed.ravel(), return_inverse=True)
    return np.split(keys, np.cumsum([len(dataset) for dataset in datasets])[:-1])


def rows_within(table: TabularDataset, others: Iterable[TabularDataset]) -> np.ndarray:
    """Which rows of a table each of the others has, (others, rows)."""
    found: list[np.ndarray] = []
    some: list[TabularDataset] = []

    def look() -> None:
        asked, *present = row_keys(table, *some)
        found.extend(np.isin(asked, keys) for keys in present)
        some.clear()

    for other in others:
        some.append(other)
        if sum(map(len, some)) >= len(table):  # together they cost what the table does
            look()
    if some:
        look()
    return np.array(found, dtype=bool).reshape(-1, len(table))
