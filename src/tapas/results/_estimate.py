"""A metric with the interval that its trials allow."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from tapas._random import stream
from tapas.results._measures import Measure
from tapas.results._resampling import point_value, resampled_metrics
from tapas.stats import Dependence, Interval, percentile_interval, shared_confidence

if TYPE_CHECKING:
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["Estimate", "either_way", "estimate"]

FEWEST_GROUPS = 10
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


def either_way(
    measure: Measure, summary: "LabelInferenceAttackSummary", confidence: float
) -> Estimate | None:
    """The same of an attacker who may turn every guess round, if that tells him more.

    Notes
    -----
    Assumes and Guarantees: as `estimate`; where the two directions have intervals of their own,
    these share the error.
    """
    if measure.turned is not None and summary.dependence not in _WITHOUT_CLOSED_FORM:
        level = shared_confidence(confidence, 2)
        one = estimate(measure, summary, level)
        other = measure.turned(summary, shared_confidence(level, 1, summary.error_share))
        if one is None or other is None:
            return one
        return Estimate(
            *(
                max(ends)
                for ends in zip(
                    (one.value, one.low, one.high),
                    (other.value, other.low, other.high),
                    strict=True,
                )
            )
        )
    found = estimate(measure, summary, confidence)
    if found is None or measure.turns_about is None or summary.secret_kind != "binary":
        return found
    return found.turned_up(measure.turns_about)


def estimate(
    measure: Measure, summary: "LabelInferenceAttackSummary", confidence: float
) -> Estimate | None:
    """Return a measure of a summary with its interval; None where it is not defined.

    Notes
    -----
    Assumes: what the summary states of its trials. Independent trials and pairs have the closed
    form of the measure. Records of one release have it record by record: it then describes that
    release. Other groups, and metrics that a subclass defines anew, are bootstrapped by group
    (`tapas.stats.bootstrap`). With fewer than ten groups, or trials of unknown dependence, the ends
    are those of the measure itself. Where results were looked at before, with fewer trials, they
    hold over all looks (`tapas.stats.look_share`).
    """
    if not measure.is_defined_for(summary) or len(summary) == 0:
        return None
    if measure.compares_worlds and len(np.unique(summary.labels)) < 2:
        return None
    value = point_value(summary, measure)
    if summary.dependence is Dependence.UNKNOWN:
        return Estimate(value, *measure.limits)
    confidence = shared_confidence(confidence, 1, summary.error_share)
    closed = _closed_form(measure, summary, confidence)
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
    found = percentile_interval(drawn, value, confidence)
    if found.widened:
        return _without_spread(measure, value, units, confidence)
    return Estimate(value, found.low, found.high)


def _without_spread(measure: Measure, value: float, units: int, confidence: float) -> Estimate:
    """Where all resamples agree: the limits of a share of as many units."""
    lowest, highest = measure.limits
    if not all(map(math.isfinite, (lowest, highest, value))) or not lowest <= value <= highest:
        return Estimate(value, lowest, highest)
    span, tail = highest - lowest, (1 - confidence) / 2
    count = (value - lowest) / span * units
    low = scipy.special.betaincinv(count, units - count + 1, tail) if count > 0 else 0.0
    high = scipy.special.betaincinv(count + 1, units - count, 1 - tail) if count < units else 1.0
    return Estimate(value, lowest + span * float(low), lowest + span * float(high))
