"""Which of several values is guessed: scores beside how common each value is."""

from dataclasses import dataclass

import numpy as np
import scipy

__all__ = ["ValueGuess"]

FARTHEST = 1e3  # scores are told apart for certain beyond this many logits for each deviation


@dataclass(frozen=True, eq=False)
class ValueGuess:
    """Guesses the value for which ``scale x score + log share`` is largest.

    Attributes
    ----------
    scale : float
        Logits for each unit of a score; 0 where scores tell nothing.
    log_shares : ndarray, (values,)
        How common each value is.
    """

    scale: float
    log_shares: np.ndarray

    @classmethod
    def learnt(cls, scores: np.ndarray, true: np.ndarray) -> "ValueGuess":
        """Learn from scores of trials whose value is known, (trials, values), by likelihood."""
        shares = true.sum(axis=0) + 0.5
        logs = np.log(shares / shares.sum())
        spread = float(scores.std())
        if spread == 0:
            return cls(0.0, logs)
        each, mean = scores / spread, (scores * true).sum(axis=1).mean() / spread

        def slope(scale: float) -> float:
            chances = scipy.special.softmax(scale * each + logs, axis=1)
            return float(mean - (chances * each).sum(axis=1).mean())

        if slope(0.0) <= 0:
            return cls(0.0, logs)
        if slope(FARTHEST) >= 0:
            return cls(FARTHEST / spread, logs)
        from scipy.optimize import brentq

        return cls(brentq(slope, 0.0, FARTHEST) / spread, logs)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Places of the guessed values; the last axis of scores is that of values."""
        return np.argmax(self.scale * scores + self.log_shares, axis=-1)
