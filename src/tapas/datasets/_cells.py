"""Records in cells of their like, so that likely neighbours are compared first."""

from collections.abc import Iterator

import numpy as np

_MOST_CELLS = 1000
_PRODUCTS_AT_ONCE = 1 << 18
FIRST = 4


class Cells:
    """Rows of vectors, each in the cell of the closest of some random rows.

    Attributes
    ----------
    first : ndarray
        For each row the cells whose centres are closest: its own, and a few more.
    """

    def __init__(self, vectors: np.ndarray, rng: np.random.Generator):
        number = max(1, min(_MOST_CELLS, int(np.sqrt(len(vectors)))))
        self._vectors = vectors
        self._centres = vectors[rng.permutation(len(vectors))[:number]].T.copy()
        rows = np.arange(len(vectors))
        self.first = np.concatenate([_closest_few(part) for part, _ in self._to_centres(rows)])
        own = self.first[:, 0]
        self._rows = np.argsort(own, kind="stable")
        self._starts = np.searchsorted(own[self._rows], np.arange(number + 1))

    def __len__(self) -> int:
        return self._centres.shape[1]

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """All cells for each of some rows: the first ones, then by how close the centres are."""
        found = []
        for part, some in self._to_centres(rows):
            np.put_along_axis(part, self.first[some], np.inf, axis=1)
            order = np.argsort(-part, axis=1).astype(np.int16)
            order[:, : self.first.shape[1]] = self.first[some]
            found.append(order)
        return np.concatenate(found)

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

    def _to_centres(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        step = max(1, _PRODUCTS_AT_ONCE // len(self))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            yield self._vectors[some] @ self._centres, some


def _closest_few(products: np.ndarray) -> np.ndarray:
    """Where the largest numbers of each row are, largest first."""
    rows = np.arange(len(products))
    found = np.empty((len(products), min(FIRST, products.shape[1])), dtype=np.int16)
    for position in range(found.shape[1]):
        found[:, position] = products.argmax(axis=1)
        products[rows, found[:, position]] = -np.inf
    return found
