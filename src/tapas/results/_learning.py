"""Whether an attack still gains from more training trials."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from tapas.results._estimate import Estimate
from tapas.results._mean_area import difference_of_means, mean_area
from tapas.results._rounding import rounded, rounded_area
from tapas.stats import Dependence, mean_auc_influences, runs_needed

__all__ = ["LearningCurve"]

_LEVEL = 0.95
_GAIN_OF_THE_NEXT_DOUBLING = 0.5  # of the last one: what is missing falls like 1 / trials
_RATES = np.linspace(0.01, 0.5, 50)


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Mean AUC over targets after so many training trials, on the same test trials.

    Attributes
    ----------
    attack : str
    trials : tuple of int
        Numbers of training trials, ascending; the last is all of them, the one before about half.
    auc : tuple of Estimate
        Of 95 % confidence each.
    gain : Estimate
        What the second half of the training trials added.
    paired : bool
        Whether test trials came in pairs of one background.
    """

    attack: str
    trials: tuple[int, ...]
    auc: tuple[Estimate, ...]
    gain: Estimate
    paired: bool = False

    @classmethod
    def measured(
        cls,
        attack: str,
        scores: Mapping[int, np.ndarray],
        positive: np.ndarray,
        groups: np.ndarray,
    ) -> "LearningCurve":
        """The curve from scores of test trials, (trials, targets), by number of training ones."""
        trials = tuple(sorted(scores))
        found = [mean_auc_influences(scores[number], positive, groups) for number in trials]
        before, after = found[-2:]
        auc = tuple(mean_area(*one, _LEVEL) for one in found)
        more, parts = after.mean - before.mean, after.parts - before.parts
        gain = difference_of_means(more, parts, after.degrees, _LEVEL)
        kinds = {Dependence.of_groups(column, groups) for column in positive.T}
        return cls(attack, trials, auc, gain, Dependence.PAIRS in kinds)

    @property
    def forecast(self) -> float:
        """The mean AUC to expect from twice as many training trials."""
        return min(1.0, self.auc[-1].value + _GAIN_OF_THE_NEXT_DOUBLING * max(0, self.gain.value))

    @property
    def trials_to_certify(self) -> float:
        """Test trials that certify a leak about a target of mean exposure, nine times in ten."""
        shift = np.sqrt(2) * scipy.special.ndtri(min(max(self.forecast, 0.5), 0.999))
        rates = scipy.special.ndtr(shift + scipy.special.ndtri(_RATES))
        best = int(np.argmax((rates - _RATES) / np.sqrt(rates * (1 - rates) + 1e-9)))
        hits, alarms = float(rates[best]), float(_RATES[best])
        method = "portfolio of pairs" if self.paired else "portfolio"
        return 2 * runs_needed(hits, alarms, 0.0, method=method)

    def words(self, subject: str) -> str:
        """What came out, in a sentence or two."""
        every = self.auc[-1]
        before, now = (rounded_area(one)[0] for one in self.auc[-2:])
        learnt = (
            f"Over people, {self.attack} on {subject} has a mean AUC of {now} after "
            f"{self.trials[-1]} training trials, and of {before} after {self.trials[-2]}: "
        )
        if self.gain.low > 0:
            outlook = (
                f"it still learns ({self.gain.low:.3f} to {self.gain.high:.3f} gained), and twice "
                f"as many would show about {rounded(self.forecast)}."
            )
        else:
            outlook = "more training trials would hardly show more."
        if not every.low > 0.5:
            return f"{learnt}{outlook}"
        needed = self.trials_to_certify
        if not np.isfinite(needed):
            return f"{learnt}{outlook}"
        return (
            f"{learnt}{outlook} A leak about one target of that exposure is certified, nine times "
            f"in ten, by about {_two_digits(needed):,} test trials (`tapas plan`)."
        )

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain values."""
        return {
            "attack": self.attack,
            "trials": list(self.trials),
            "auc": [_plain(one) for one in self.auc],
            "gain": _plain(self.gain),
            "paired": self.paired,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "LearningCurve":
        """The curve that plain values tell of; earlier versions do not say whether of pairs."""
        areas, gain = tuple(Estimate(*one) for one in content["auc"]), Estimate(*content["gain"])
        paired = bool(content.get("paired", False))
        return cls(content["attack"], tuple(content["trials"]), areas, gain, paired)


def _two_digits(number: float) -> int:
    """A forecast, with as many digits as it deserves."""
    return int(float(f"{number:.1e}"))


def _plain(estimate: Estimate) -> list[float]:
    return [estimate.value, estimate.low, estimate.high]
