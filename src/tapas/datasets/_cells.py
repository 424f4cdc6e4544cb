"""Records in cells of their like, so that likely neighbours are compared first."""

from collections.abc import Iterator

import numpy as np

_MOST_CELLS = 1000
_PRODUCTS_AT_ONCE = 1 << 18


class Cells:
    """Rows of vectors, each in the cell of the closest of some random rows."""

    def __init__(self, vectors: np.ndarray, number: int, rng: np.random.Generator):
        number = min(number, _MOST_CELLS, len(vectors))
        self._vectors = vectors
        self._centres = vectors[rng.permutation(len(vectors))[:number]].T.copy()
        rows = np.arange(len(vectors))
        own = np.concatenate([part.argmax(axis=1) for part in self._to_centres(rows)])
        self._rows = np.argsort(own, kind="stable")
        self._starts = np.searchsorted(own[self._rows], np.arange(number + 1))

    def __len__(self) -> int:
        return self._centres.shape[1]

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """All cells for each of some rows, those with the closest centres first."""
        orders = [np.argsort(-part, axis=1).astype(np.int16) for part in self._to_centres(rows)]
        return np.concatenate(orders)

    def visits(self, cells: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each cell in a matrix the rows of the matrix that hold it, and its members."""
        flat = cells.ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            cell = flat[places[0]]
            members = self._rows[self._starts[cell] : self._starts[cell + 1]]
            if len(members):
                yield places // cells.shape[1], members

    def _to_centres(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        step = max(1, _PRODUCTS_AT_ONCE // len(self))
        for start in range(0, len(rows), step):
            yield self._vectors[rows[start : start + step]] @ self._centres
