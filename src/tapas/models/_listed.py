"""Records that cannot be laid out as rows: texts, and sparse matrices.

A row holds a number that stands for the record, and some numbers about its content. The model is
given the record itself.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from tapas.errors import SchemaError
from tapas.models._inputs import Inputs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Items: TypeAlias = "Sequence[str] | csr_matrix"
ABOUT = 32  # numbers that say what a record contains, by hashing


def is_sparse(X: object) -> TypeGuard["csr_matrix"]:
    """Whether inputs are a matrix of scipy.sparse."""
    return hasattr(X, "tocsr")


def is_texts(X: object) -> bool:
    """Whether inputs are texts: one each, not columns of them."""
    return isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "OU"


@dataclass(eq=False)
class Listing:
    """Records by the number that stands for each of them; equal records have one number.

    Attributes
    ----------
    sparse : bool
        Whether records are rows of a sparse matrix; otherwise they are texts.
    """

    sparse: bool
    _items: dict[int, object] = field(default_factory=dict)

    def __spec__(self) -> dict[str, object]:
        """The numbers say what the records are."""
        return {"sparse": self.sparse}

    def rows(self, X: Items) -> np.ndarray:
        """Take records in; return a row of numbers for each."""
        parts = _sparse_rows(X) if self.sparse else [(str(text), _words(str(text))) for text in X]
        found = np.empty((len(parts), 1 + ABOUT))
        for row, (item, about) in enumerate(parts):
            key = _number(item)
            self._items[key] = item
            found[row, 0], found[row, 1:] = key, about
        return found

    def __call__(self, X: Inputs) -> object:
        """The records that rows stand for: a list of texts, or a sparse matrix."""
        keys = np.asarray(X)[:, 0].astype(np.int64)
        try:
            items = [self._items[int(key)] for key in keys]
        except KeyError:
            raise SchemaError(
                "texts and sparse records can be asked about as they are, not changed"
            ) from None
        if not self.sparse:
            return items
        from scipy.sparse import vstack

        return vstack(items, format="csr")


def _sparse_rows(X: "csr_matrix") -> list[tuple[object, np.ndarray]]:
    from scipy.sparse import csr_matrix

    rows = csr_matrix(X)  # sparse arrays give other rows
    place = (np.arange(rows.shape[1]) * 2_654_435_761) % (1 << 32)  # spread over few places
    sign = np.where(place & 1, 1.0, -1.0)
    found = []
    for number in range(rows.shape[0]):
        row = rows[number]
        where, values = place[row.indices], sign[row.indices] * row.data
        about = np.bincount((where >> 16) % ABOUT, weights=values, minlength=ABOUT)
        found.append((row, about))
    return found


def _words(text: str) -> np.ndarray:
    about = np.zeros(ABOUT)
    for word in text.lower().split():
        code = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
        about[code % ABOUT] += 1.0 if code & (1 << 20) else -1.0
    return about


def _number(item: object) -> int:
    """A whole number below 2^53, so that a float holds it."""
    if isinstance(item, str):
        content = item.encode("utf-8", "surrogatepass")
    else:
        row: csr_matrix = item
        row.sort_indices()
        content = row.indices.astype(np.int64).tobytes() + row.data.astype(np.float64).tobytes()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big") >> 11
