"""AUC and the largest ratio of rates of many resampled datasets, from counts along one ranking."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapas.metrics._rates import _boolean

__all__ = ["Ranking"]


class Ranking:
    """Trials in descending order of score, ready to be counted many times.

    Work arrays are kept from one block of replicates to the next: touching fresh
    memory costs more than the arithmetic.
    """

    def __init__(self, labels: NDArray[Any], scores: NDArray[np.float64]) -> None:
        self._defined = not np.isnan(scores).any()
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        self._order = order if np.any(order[1:] < order[:-1]) else None
        self._truth = _boolean(labels, "labels")[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self._first = first if len(first) < len(ordered) else None
        self._work: dict[tuple[str, tuple[int, ...]], NDArray[Any]] = {}

    def area(
        self,
        counts: NDArray[np.float64],
        positives: NDArray[np.float64],
        negatives: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the AUC of each row of counts; 0.5 where a class is missing."""
        pos, neg = self._tallies(counts)
        tp = np.cumsum(pos, axis=-1, out=self._array("tp", pos.shape))
        return self._area(pos, neg, tp, positives, negatives)

    def area_and_ratio(
        self,
        counts: NDArray[np.float64],
        positives: NDArray[np.float64],
        negatives: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the AUC and the largest ratio of rates (NaN where undefined) of each row."""
        if not self._defined:
            return np.full(positives.shape, np.nan), np.full(positives.shape, np.nan)
        pos, neg = self._tallies(counts)
        tp = np.cumsum(pos, axis=-1, out=self._array("tp", pos.shape))
        fp = np.cumsum(neg, axis=-1, out=self._array("fp", pos.shape))
        area = self._area(pos, neg, tp, positives, negatives)
        return area, self._ratio(tp, fp, positives[..., None], negatives[..., None])

    def _area(
        self,
        pos: NDArray[np.float64],
        neg: NDArray[np.float64],
        tp: NDArray[np.float64],
        positives: NDArray[np.float64],
        negatives: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        if not self._defined:
            return np.full(positives.shape, np.nan)
        # Positives above each negative, and half of those tied with it.
        wins = np.einsum("...k,...k->...", neg, tp) - np.einsum("...k,...k->...", neg, pos) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            area = wins / (positives * negatives)
        return np.where((positives > 0) & (negatives > 0), area, 0.5)

    def _ratio(
        self, tp: NDArray[np.float64], fp: NDArray[np.float64], positives: Any, negatives: Any
    ) -> NDArray[np.float64]:
        trials = positives + negatives
        cut = np.maximum(1, np.minimum(10, trials // 10))
        total = np.add(tp, fp, out=self._array("total", tp.shape))
        # As in `effective_epsilon`: a threshold counts if any of its positions survives the cut.
        # A threshold that was not drawn repeats the one above, which changes nothing.
        dropped = total <= cut
        dropped[..., 1:] |= total[..., :-1] >= trials - cut
        with np.errstate(divide="ignore", invalid="ignore"):
            accepted = np.divide(tp, fp, out=total)
            np.copyto(accepted, -np.inf, where=dropped)
            best = np.fmax.reduce(accepted, axis=-1)
            misses = np.subtract(positives, tp, out=tp)
            rejected = np.divide(np.subtract(negatives, fp, out=fp), misses, out=fp)
            np.copyto(rejected, -np.inf, where=dropped)
            odds = (negatives / positives)[..., 0]
            best = np.fmax(best * odds, np.fmax.reduce(rejected, axis=-1) / odds)
        undefined = dropped.all(axis=-1) | (positives * negatives == 0)[..., 0]
        return np.where(undefined, np.nan, best)

    def _tallies(
        self, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return positives and negatives at each distinct score, highest score first."""
        if self._order is not None:
            counts = counts[..., self._order]
        pos = np.multiply(counts, self._truth, out=self._array("pos", counts.shape))
        neg = np.subtract(counts, pos, out=self._array("neg", counts.shape))
        if self._first is None:
            return pos, neg
        return (
            np.add.reduceat(pos, self._first, axis=-1),
            np.add.reduceat(neg, self._first, axis=-1),
        )

    def _array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        key = (name, shape)
        if key not in self._work:
            self._work[key] = np.empty(shape)
        return self._work[key]
