"""A model behind a service: asked in batches, not too often, and about nobody twice."""

import hashlib
import io
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import check_count
from tapas.errors import ConfigError, MechanismError, StoreError, TapasError
from tapas.models._callable import CallableModel
from tapas.models._inputs import Inputs, some_rows
from tapas.models._listed import is_sparse
from tapas.models._model import BATCH_SIZE
from tapas.models._retries import BUSY, asked_again, status_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

AT_ONCE = 64
_KEYS_AT_ONCE = 500  # that one look into the file asks for
Asked: TypeAlias = (
    "Inputs | csr_matrix | list[str] | dict[str, np.ndarray] | tuple[np.ndarray, ...]"
)


class RemoteModel(CallableModel):
    """A service that is asked by a function.

    Every answer is kept as soon as it comes: an attack, or an audit, that was interrupted goes on
    with what is not answered yet, and other attacks ask about the same records for nothing. Where
    the service is busy (HTTP 408, 425, 429, 5xx) or the connection drops, it is asked again
    after a while. That is read off the error that `function` raises: its kind (`ConnectionError`,
    `TimeoutError`, and those of requests, httpx, aiohttp and urllib), or its `status_code`.

    Parameters
    ----------
    function : callable
        ``function(X)`` asks the service about some records, in the form that they are given in,
        and returns an array with one row for each.
    classes : array-like
    answers : path, optional
        A file that answers are kept in, for its owner alone. By default they are kept in memory.
        Use another file for another model.
    batch_size : int
        Records in one call.
    per_second : float, optional
        Calls per second, at most.
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        As in `CallableModel`.
    """

    def __init__(
        self,
        function: Callable[..., ArrayLike],
        classes: ArrayLike,
        *,
        answers: str | PathLike[str] | None = None,
        batch_size: int = AT_ONCE,
        per_second: float | None = None,
        outputs: str | None = None,
    ) -> None:
        if per_second is not None and per_second <= 0:
            raise ConfigError(f"per_second must be above 0, got {per_second!r}")
        size = check_count(batch_size, "batch_size", minimum=1)
        path = None if answers is None else Path(answers).absolute()
        self._asking = _Asking(function, path, size, per_second)
        super().__init__(self._asking, classes, outputs=outputs, batch_size=BATCH_SIZE)

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self._asking.function, "__name__", type(self._asking.function).__name__)

    @property
    def calls(self) -> int:
        """How often the service was called from here."""
        return self._asking.calls


@dataclass(eq=False)
class _Asking:
    """Asks about what is not answered yet."""

    function: Callable[..., ArrayLike]
    path: Path | None
    batch_size: int
    per_second: float | None
    calls: int = 0
    memory: dict[bytes, np.ndarray] = field(default_factory=dict)
    last: float = -np.inf

    def __spec__(self) -> dict[str, object]:
        """How and how often the service is asked makes no difference."""
        return {"function": self.function}

    def __call__(self, X: Asked) -> np.ndarray:
        keys = row_digests(X)
        self._recall(keys)
        first = {key: row for row, key in reversed(list(enumerate(keys)))}
        missing = [row for key, row in first.items() if key not in self.memory]
        missing.sort()
        for start in range(0, len(missing), self.batch_size):
            self._ask(X, keys, missing[start : start + self.batch_size], len(missing) - start)
        return np.stack([self.memory[key] for key in keys])

    def _ask(self, X: Asked, keys: list[bytes], rows: list[int], left: int) -> None:
        batch = _some(X, rows)
        try:
            answer = np.asarray(asked_again(lambda: self._call(batch)))
        except TapasError:
            raise
        except Exception as error:
            kept = "in memory" if self.path is None else f"in {self.path}"
            raise MechanismError(
                f"the service failed with {left} records still to ask about: "
                f"{type(error).__name__}: {error}. Answers so far are kept {kept}{_how(error)}"
            ) from error
        if answer.ndim == 0 or len(answer) != len(rows):
            raise MechanismError(
                f"the service was asked about {len(rows)} records and answered with an array of "
                f"shape {answer.shape}; it must have one row for each"
            )
        fresh = {keys[row]: one for row, one in zip(rows, answer, strict=True)}
        self.memory |= fresh
        self._keep(fresh)

    def _call(self, batch: Asked) -> ArrayLike:
        if self.per_second is not None:
            time.sleep(max(0.0, self.last + 1 / self.per_second - time.monotonic()))
        self.last = time.monotonic()
        self.calls += 1
        return self.function(batch)

    # -- the file --------------------------------------------------------------------------------

    def _recall(self, keys: list[bytes]) -> None:
        wanted = [key for key in dict.fromkeys(keys) if key not in self.memory]
        if self.path is None or not self.path.exists() or not wanted:
            return
        with closing(self._opened()) as file:
            for start in range(0, len(wanted), _KEYS_AT_ONCE):
                some = wanted[start : start + _KEYS_AT_ONCE]
                marks = ", ".join("?" * len(some))
                query = f"SELECT key, answer FROM answers WHERE key IN ({marks})"
                self.memory |= {key: _unpacked(held) for key, held in file.execute(query, some)}

    def _keep(self, fresh: dict[bytes, np.ndarray]) -> None:
        if self.path is None:
            return
        with closing(self._opened()) as file, file:
            rows = [(key, _packed(answer)) for key, answer in fresh.items()]
            file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)

    def _opened(self) -> sqlite3.Connection:
        if self.path is None:
            raise StoreError("answers are kept in memory")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        try:
            file = sqlite3.connect(self.path, timeout=60)
            file.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB)")
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise StoreError(f"{self.path} holds no answers ({error}): name another file") from None
        return file


def row_digests(X: Asked) -> list[bytes]:
    """A digest per record; equal records have equal ones."""
    if isinstance(X, pd.DataFrame):
        plain = X.astype({c: object for c in X.columns if X[c].dtype == "category"})
        parts = [
            pd.util.hash_pandas_object(plain, index=False, hash_key=key).to_numpy()
            for key in ("0123456789123456", "6543219876543210")
        ]
        return [row.tobytes() for row in np.stack(parts, axis=1)]
    if isinstance(X, (tuple, dict)):
        several = [row_digests(part) for part in (X.values() if isinstance(X, dict) else X)]
        return [_digest(b"".join(parts)) for parts in zip(*several, strict=True)]
    if is_sparse(X):
        rows = X.tocsr().sorted_indices()
        places, values, ends = rows.indices.astype(np.int64), rows.data + 0.0, rows.indptr
        return [
            _digest(places[start:end].tobytes() + values[start:end].tobytes())
            for start, end in pairwise(ends)
        ]
    array = np.asarray(X)
    if array.dtype.kind in "OU":  # texts
        return [_digest(repr(value).encode("utf-8", "surrogatepass")) for value in array.tolist()]
    return [_digest(row.tobytes()) for row in np.ascontiguousarray(array + 0.0)]  # -0.0 equals 0.0


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _some(X: Asked, rows: list[int]) -> Asked:
    """Some records, in the form that all are in."""
    if isinstance(X, dict):
        return {name: part[rows] for name, part in X.items()}
    if isinstance(X, tuple):
        return tuple(part[rows] for part in X)
    return [X[row] for row in rows] if isinstance(X, list) else some_rows(X, np.array(rows))


def _packed(answer: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.save(held, np.asarray(answer), allow_pickle=False)
    return held.getvalue()


def _unpacked(held: bytes) -> np.ndarray:
    return np.load(io.BytesIO(held), allow_pickle=False)


def _how(error: Exception) -> str:
    """How a function says that the service was busy, where its words may mean that."""
    if status_of(error) is not None or not any(str(code) in str(error) for code in BUSY):
        return ""
    return (
        ". If the service was busy, let the function raise ConnectionError, or an error with a "
        "status_code such as 429: it is then asked again after a while"
    )
