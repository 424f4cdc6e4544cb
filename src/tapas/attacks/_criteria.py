"""How a threshold on scores is chosen."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tapas._validate import check_probability
from tapas.errors import ConfigError

# "accuracy", ("tp", 0.9), ("threshold", 0, label) and their like, or one that is made already.
CriterionLike: TypeAlias = "str | Sequence[Hashable] | Criterion"

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
        value = 0.0 if self.value is None else self.value
        if self.kind == "threshold":
            return value
        scores = np.where(np.isnan(scores), -np.inf, scores)
        candidates = _between(scores)
        hits = _at_least(np.sort(scores[positive]), candidates)
        alarms = _at_least(np.sort(scores[~positive]), candidates)
        num_positive = max(1, int(positive.sum()))
        num_negative = max(1, int((~positive).sum()))
        # Candidates ascend, so the first best of a reversed array has the highest threshold.
        if self.kind == "accuracy":
            quality = hits - alarms
        elif self.kind == "tpr":
            quality = -np.abs(hits / num_positive - value)
        else:
            quality = -np.abs(alarms / num_negative - value)
            return float(candidates[np.argmax(quality)])
        return float(candidates[len(candidates) - 1 - np.argmax(quality[::-1])])

    def __str__(self) -> str:
        return self.kind if self.value is None else f"{self.kind}={self.value:g}"


def _between(scores: np.ndarray) -> np.ndarray:
    """Finite thresholds: below all distinct scores, between neighbours, and above all."""
    finite = np.unique(scores[np.isfinite(scores)])
    if len(finite) == 0:
        return np.zeros(1)
    low, high = finite[:-1], finite[1:]
    middles = low + (high / 2 - low / 2)
    # Between neighbouring floats there is no middle: the upper one still tells them apart.
    middles = np.where(middles > low, middles, high)
    below = min(finite[0] - 1, np.nextafter(finite[0], -np.inf))
    above = max(finite[-1] + 1, np.nextafter(finite[-1], np.inf))
    return np.concatenate([[below], middles, [above]])


def _at_least(ascending: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    return len(ascending) - np.searchsorted(ascending, thresholds, side="left")
