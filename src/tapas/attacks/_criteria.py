"""How a threshold on scores is chosen."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tapas._validate import check_probability
from tapas.errors import ConfigError

# "accuracy", ("tp", 0.9), ("threshold", 0, label) and their like, or one that is made already.
CriterionLike: TypeAlias = "str | Sequence[Hashable] | Criterion"

_COLUMNS_AT_ONCE = 256  # what fits into a cache
_SPELLINGS = {
    "accuracy": "accuracy",
    "tp": "tpr",
    "tpr": "tpr",
    "fp": "fpr",
    "fpr": "fpr",
    "threshold": "threshold",
}


@dataclass(frozen=True)
class Criterion:
    """Rule for the threshold of a score.

    Attributes
    ----------
    kind : {"accuracy", "tpr", "fpr", "threshold"}
        Highest empirical accuracy on the training trials, a true or false positive rate near
        `value`, or `value` itself. Thresholds lie half-way between scores and are finite; of
        equally good ones the highest is taken (for "fpr" the lowest, which detects most).
    value : float, optional
    positive_label : object, optional
        The secret that high scores stand for.
    """

    kind: str
    value: float | None = None
    positive_label: Hashable = None

    @classmethod
    def parse(cls, criterion: CriterionLike) -> "Criterion":
        """Read the documented forms: "accuracy", ("tp", 0.9), ("threshold", 0, label)..."""
        if isinstance(criterion, Criterion):
            return criterion
        several = isinstance(criterion, (tuple, list))
        parts = tuple(criterion) if several else (criterion,)
        kind = _SPELLINGS.get(parts[0]) if parts and isinstance(parts[0], str) else None
        if kind is None or len(parts) > 3:
            raise ConfigError(
                f"criterion must be 'accuracy', ('tp', rate), ('fp', rate) or "
                f"('threshold', value), each with an optional positive label, got {criterion!r}"
            )
        given, label = (*parts[1:], None, None)[:2]
        if kind in ("tpr", "fpr"):
            given = check_probability(given, f"the rate of criterion {criterion!r}")
        value = float(given) if isinstance(given, (int, float, np.number)) else None
        if kind == "threshold" and value is None:
            raise ConfigError(f"criterion ('threshold', value) needs a number, got {criterion!r}")
        return cls(kind, value, label)

    def threshold(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The threshold for ``score >= threshold``, learnt from scores with known secrets."""
        return float(self.thresholds(scores[:, None], positive[:, None])[0])

    def thresholds(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """The threshold of each column of scores, (trials, columns)."""
        if self.kind == "threshold":
            return np.full(scores.shape[1], self.value or 0.0)
        found = np.empty(scores.shape[1])
        for first in range(0, len(found), _COLUMNS_AT_ONCE):
            some = slice(first, first + _COLUMNS_AT_ONCE)
            rows = np.ascontiguousarray(scores[:, some].T, dtype=float)
            found[some] = self._of_rows(rows, np.ascontiguousarray(positive[:, some].T))
        return found

    def _of_rows(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """The same of each row; candidates lie below each distinct score, and above all."""
        scores = np.where(np.isnan(scores), -np.inf, scores)
        order = np.argsort(scores, axis=1)
        ordered = np.take_along_axis(scores, order, axis=1)
        is_candidate, lowest = _candidates(ordered)
        hits, alarms = _at_least(np.take_along_axis(positive, order, axis=1))
        quality = self._quality(hits, alarms)
        quality = np.where(is_candidate, quality, -np.inf)
        if self.kind == "fpr":
            best = np.argmax(quality, axis=1)
        else:
            best = quality.shape[1] - 1 - np.argmax(quality[:, ::-1], axis=1)
        return _below(ordered, best, lowest)

    def _quality(self, hits: np.ndarray, alarms: np.ndarray) -> np.ndarray:
        if self.kind == "accuracy":
            return (hits - alarms).astype(float)
        counts = hits if self.kind == "tpr" else alarms
        return -np.abs(counts / np.maximum(1, counts[:, :1]) - (self.value or 0.0))

    def __str__(self) -> str:
        return self.kind if self.value is None else f"{self.kind}={self.value:g}"


def _candidates(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Before which ascending scores a finite threshold lies, and the place of the first finite one.

    The last column stands for the place behind all.
    """
    finite = np.isfinite(ordered)
    found = np.zeros((len(ordered), ordered.shape[1] + 1), dtype=bool)
    found[:, :-1] = finite
    found[:, 1:-1] &= ordered[:, 1:] != ordered[:, :-1]
    lowest = np.argmax(finite, axis=1)
    found[np.arange(len(ordered)), lowest + finite.sum(axis=1)] = True
    return found, lowest


def _at_least(positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many of either kind stand at each place or behind it, and behind all of them: none."""
    hits = np.zeros((len(positive), positive.shape[1] + 1), dtype=np.int64)
    np.cumsum(positive[:, ::-1], axis=1, out=hits[:, 1:])
    hits = hits[:, ::-1]
    return hits, np.arange(positive.shape[1], -1, -1) - hits


def _below(ordered: np.ndarray, places: np.ndarray, lowest: np.ndarray) -> np.ndarray:
    """A finite threshold half-way between the scores at and before each place."""
    rows, size = np.arange(len(ordered)), ordered.shape[1]
    high = ordered[rows, np.minimum(places, size - 1)]
    low = ordered[rows, np.maximum(places - 1, 0)]
    with np.errstate(invalid="ignore"):
        middle = low + (high / 2 - low / 2)
    # Between neighbouring floats there is no middle: the upper one still tells them apart.
    middle = np.where(middle > low, middle, high)
    is_first = places == lowest
    is_last = (places == size) | np.isinf(high)
    below = np.minimum(high - 1, np.nextafter(high, -np.inf))
    above = np.maximum(low + 1, np.nextafter(low, np.inf))
    found = np.where(is_last, above, np.where(is_first, below, middle))
    return np.where(np.isfinite(ordered[rows, np.minimum(lowest, size - 1)]), found, 0.0)
