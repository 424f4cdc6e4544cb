"""A metric with the interval that its trials allow."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import scipy

from tapas._random import stream
from tapas.results._measures import Measure
from tapas.results._resampling import is_ours, point_value, resampled_metrics
from tapas.stats import Dependence, Interval, percentile_interval, shared_confidence

if TYPE_CHECKING:
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["FEWEST_GROUPS", "Estimate", "estimate", "has_few_groups", "of_both_ways"]

FEWEST_GROUPS = 20
_FEWEST_RESAMPLES = 2000
_SEED = 0
_WITHOUT_CLOSED_FORM = (Dependence.GROUPS, Dependence.UNKNOWN)


@dataclass(frozen=True)
class Estimate:
    """A value between the ends of its interval."""

    value: float
    low: float
    high: float

    def turned_up(self, centre: float) -> "Estimate":
        """How far from `centre` on either side, put above it; covers whenever this does."""
        below, above = centre - self.low, self.high - centre
        nearest = max(0.0, -below, -above)
        away = abs(self.value - centre)
        return Estimate(centre + away, centre + nearest, centre + max(below, above))

    def minus(self, other: "Estimate") -> "Estimate":
        """The difference; distances to the ends are squared and added (Zou and Donner 2008)."""
        value = self.value - other.value
        if math.isnan(value):
            return Estimate(value, -1.0, 1.0)
        down = math.hypot(self.value - self.low, other.high - other.value)
        up = math.hypot(self.high - self.value, other.value - other.low)
        return Estimate(value, value - down, value + up)


def of_both_ways(
    measure: Measure, summary: "LabelInferenceAttackSummary", confidence: float
) -> Estimate | None:
    """The larger of the guesses as they are and turned round, which share the error.

    None where turned guesses have no interval of their own.
    """
    if measure.turned is None or summary.dependence in _WITHOUT_CLOSED_FORM:
        return None
    level = shared_confidence(confidence, 2)
    one = estimate(measure, summary, level)
    if one is None:
        return None
    other = measure.turned(summary, shared_confidence(level, 1, summary.error_share))
    if other is None:
        return one
    ends = (one.value, other.value), (one.low, other.low), (one.high, other.high)
    return Estimate(*(max(pair) for pair in ends))


def has_few_groups(summary: "LabelInferenceAttackSummary") -> bool:
    """Whether trials are in so few groups that drawing these again says little of the spread."""
    return summary.dependence is Dependence.GROUPS and summary.num_units < FEWEST_GROUPS


def estimate(
    measure: Measure, summary: "LabelInferenceAttackSummary", confidence: float
) -> Estimate | None:
    """Return a measure of a summary with its interval; None where it is not defined.

    Notes
    -----
    Assumes: what the summary states of its trials. Independent trials and pairs have the closed
    form of the measure. Records of one release have it record by record: it then describes that
    release. Other groups, and metrics that a subclass defines anew, are bootstrapped by group
    (`percentile_interval`). With fewer than twenty groups, or trials of unknown dependence, the
    ends are those of the measure itself. Where results were looked at before, they hold over all
    looks (`tapas.stats.look_share`).
    """
    if not measure.is_defined_for(summary) or len(summary) == 0:
        return None
    if measure.compares_worlds and summary.has_one_secret:
        return None
    if summary.dependence is Dependence.UNKNOWN:
        return Estimate(point_value(summary, measure), *measure.limits)
    confidence = shared_confidence(confidence, 1, summary.error_share)
    closed = _closed_form(measure, summary, confidence)
    usual = closed is not None and not math.isnan(closed.value) and not measure.beside_inputs
    if closed is not None and usual and is_ours(summary):
        return Estimate(closed.value, closed.low, closed.high)
    value = point_value(summary, measure)
    if math.isnan(value) and (closed is None or math.isnan(closed.value)):
        return None
    if closed is not None and (math.isnan(value) or math.isclose(closed.value, value)):
        return Estimate(closed.value, closed.low, closed.high)
    return _bootstrapped(measure, summary, value, confidence)


def _closed_form(
    measure: Measure, summary: "LabelInferenceAttackSummary", confidence: float
) -> Interval | None:
    if measure.interval is None or summary.dependence is Dependence.GROUPS:
        return None
    return measure.interval(summary, confidence)


def _bootstrapped(
    measure: Measure, summary: "LabelInferenceAttackSummary", value: float, confidence: float
) -> Estimate:
    units = summary.num_units
    if units < FEWEST_GROUPS:
        return Estimate(value, *measure.limits)
    # Some resamples must lie outside the ends, however far out these are.
    number = max(_FEWEST_RESAMPLES, math.ceil(20 / (1 - confidence)))
    drawn = resampled_metrics(summary, number, {"it": measure}, rng=stream(_SEED))["it"]
    found = percentile_interval(drawn, value, confidence, units=units)
    if found.widened:
        return _without_spread(value, units, confidence, measure.limits)
    return Estimate(value, found.low, found.high)


def _without_spread(
    value: float, units: int, confidence: float, limits: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """Where all resamples agree: the limits of a share of as many units."""
    lowest, highest = limits
    if not all(map(math.isfinite, (lowest, highest, value))) or not lowest <= value <= highest:
        return Estimate(value, lowest, highest)
    span, tail = highest - lowest, (1 - confidence) / 2
    count = (value - lowest) / span * units
    low = scipy.special.betaincinv(count, units - count + 1, tail) if count > 0 else 0.0
    high = scipy.special.betaincinv(count + 1, units - count, 1 - tail) if count < units else 1.0
    return Estimate(value, lowest + span * float(low), lowest + span * float(high))
