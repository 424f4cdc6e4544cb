"""What an audit is held against: a claimed guarantee, and limits."""

import math
from dataclasses import dataclass

from tapas._validate import check_choice, check_probability
from tapas.errors import ConfigError
from tapas.results._measures import GATE_METRICS, MEASURES, OTHER_LIMITS

__all__ = ["Claim", "Gate", "beyond_reach", "refuse_idle"]

_RANGES = {**OTHER_LIMITS, **{m.gate: m.limits for m in MEASURES if m.gate}}


@dataclass(frozen=True)
class Claim:
    """An (epsilon, delta) that the mechanism is said to guarantee.

    Attributes
    ----------
    epsilon, delta : float
    family : {"gaussian"} or None
        "gaussian" where Gaussian differential privacy is claimed: bounds then show more, and hold
        only if the mechanism is Gaussian.
    """

    epsilon: float
    delta: float = 0.0
    family: str | None = None

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise ConfigError(f"a claimed epsilon must be at least 0, got {self.epsilon!r}")
        check_probability(self.delta, "delta")
        if self.family is not None:
            check_choice(self.family, "family of a claim", ("gaussian",))
            if not 0 < self.delta < 1:
                raise ConfigError(
                    "a claim of Gaussian differential privacy needs a delta above 0, such as 1e-5, "
                    f"got {self.delta!r}"
                )


@dataclass(frozen=True)
class Gate:
    """A limit that the audit must stay under.

    Attributes
    ----------
    metric : str
        What is limited, for every attack and target of the audited subjects: one of
        `GATE_METRICS`. "dropped_columns" limits how many columns were left out of the audit,
        "accuracy_gap" how much better a model does on records that it was trained on,
        "accuracy_ratio" how many times as often it is right about them as about others,
        "exposed_people" which share of the people lies above an AUC, "copied_records" how many
        private records stand in a released file: word for word, and beyond chance but for one
        column.
    at_most : float
        Within the range of the metric.
    fpr : float
        The false positive rate of "tpr_at_fpr".
    confidence : float
        Of the decision over all attacks and targets together.
    above : float
        The AUC of "exposed_people".
    """

    metric: str
    at_most: float
    fpr: float = 0.01
    confidence: float = 0.95
    above: float = 0.5

    def __post_init__(self) -> None:
        check_choice(self.metric, "metric of a gate", GATE_METRICS)
        low, high = _RANGES[self.metric]
        if not low <= self.at_most <= high or math.isinf(self.at_most):
            top = "" if math.isinf(high) else f" and at most {high:g}"
            raise ConfigError(
                f"at_most of a gate on {self.metric} must be at least {low:g}{top}, got "
                f"{self.at_most:g}: another limit could never fail, or always would"
            )
        check_probability(self.fpr, "fpr of a gate")
        check_probability(self.above, "above of a gate")
        check_probability(self.confidence, "confidence of a gate", open_interval=True)


def refuse_idle(gate: Gate) -> None:
    """Refuse a limit of the highest value that there is, whatever is audited.

    Records of earlier versions may have one.
    """
    most = _RANGES[gate.metric][1]
    if gate.at_most >= most:
        why = f"it is never above {most:g}; give a lower limit (in an audit file, at_most) or none"
    elif gate.metric == "exposed_people" and gate.above >= 1:
        why = "nobody lies above an AUC of 1; count people above a lower one, such as above: 0.6"
    else:
        return
    raise ConfigError(f"a gate on {gate.metric} of at most {gate.at_most:g} cannot fail: {why}")


def beyond_reach(gate: Gate, chance: float | None) -> str:
    """Why no attack can exceed a limit on `accuracy_gain`; empty where one can.

    `chance` is how often the best guess without the release is right; None where that is estimated.
    """
    if gate.metric != "accuracy_gain" or chance is None:
        return ""
    room = 1 - chance
    if gate.at_most < room and not math.isclose(gate.at_most, room):
        return ""
    return (
        f"the best guess without the release is right in {100 * chance:.3g}%, so that nobody gains "
        f"more than {room:.3g}; give a limit below that"
    )
