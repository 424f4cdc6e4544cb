"""The value every epsilon statistic returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas.stats._counts import plain

__all__ = ["EpsilonBound"]

_IF_GAUSSIAN = "if the mechanism is Gaussian"
_GAUSSIAN = ("gaussian", "gaussian pair comparison", "one-run-gaussian")
_READING = {
    "bayes": "{level} posterior probability (credible, not a certificate)",
    **dict.fromkeys(_GAUSSIAN, f"{{level}} confidence {_IF_GAUSSIAN}"),
}


@dataclass(frozen=True)
class EpsilonBound:
    """A lower bound on epsilon, with everything needed to read it.

    Parameters
    ----------
    value
        The bound, at least 0; an array where the counts were arrays.
    confidence
        Probability with which the bound does not exceed the true epsilon.
    delta
        The delta of the (epsilon, delta) pair that is bounded.
    method
        Name of the statistic.
    ceiling
        The largest value that a perfect attack could have reached with as
        many trials: a bound near its ceiling asks for more trials.
    relation
        Neighbour relation that was played (``"add/remove"``, ``"replace"``),
        None where the caller did not say.
    """

    value: Any
    confidence: float
    delta: float
    method: str
    ceiling: Any
    relation: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", plain(self.value))
        object.__setattr__(self, "ceiling", plain(self.ceiling))

    @property
    def certifies(self) -> bool:
        """Whether the bound holds with its confidence for every mechanism."""
        return self.method not in _READING

    @property
    def conditions(self) -> str:
        """At which delta and of which mechanisms it holds, in a few words; empty for all."""
        found = [f"delta {self.delta:g}"] if self.delta else []
        found += [_IF_GAUSSIAN] if self.method in _GAUSSIAN else []
        return ", ".join(found)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        level = f"{100 * self.confidence:g} %"
        reading = _READING.get(self.method, "{level} confidence").format(level=level)
        facts = [self.method, f"delta {self.delta:g}"]
        if self.relation is not None:
            facts.append(f"{self.relation} neighbours")
        facts.append(f"at most {_short(self.ceiling)} could be shown with as many trials")
        return f"epsilon >= {_short(self.value)} with {reading} ({', '.join(facts)})"


def _short(value: Any) -> str:
    return f"{value:.4g}" if np.ndim(value) == 0 else np.array2string(value, precision=4)
