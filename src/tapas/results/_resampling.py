"""Metrics of resampled trials, for summaries of ours and for those of others."""

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tapas import stats
from tapas.errors import TapasWarning
from tapas.metrics import Outcomes
from tapas.results._measures import MEASURES, Measure
from tapas.stats import Dependence

if TYPE_CHECKING:
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["is_ours", "named_metrics", "point_value", "resampled_metrics"]

FloatArray = NDArray[np.float64]
# A measure, or the name of a column that only the summary's own table has.
Metric = Measure | str


def named_metrics(
    summary: "LabelInferenceAttackSummary", names: Sequence[str] | None = None
) -> dict[str, Metric]:
    """Metrics of a summary by name: those of its table by default, or any that it has.

    A table that a subclass writes is the last word on what its columns hold.
    """
    measures = {m.name: m for m in MEASURES if m.is_defined_for(summary)}
    if is_ours(summary):
        shown = [name for name, m in measures.items() if summary.secret_kind in m.columns]
        return {name: measures[name] for name in (shown if names is None else names)}
    own = _own_table(summary)
    found: dict[str, Metric] = {}
    for name in own if names is None else names:
        found[name] = name if name in own else measures[name]
    return found


def point_value(summary: "LabelInferenceAttackSummary", metric: Metric) -> float:
    """The value of a metric, without warnings where it is not defined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TapasWarning)
        if isinstance(metric, str):
            return _own_table(summary)[metric]
        return float(metric.point(summary))


def resampled_metrics(
    summary: "LabelInferenceAttackSummary",
    num_replicates: int,
    metrics: dict[str, Metric],
    *,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Metrics of resampled trials, which are drawn as their dependence demands.

    Pairs and groups are drawn whole, records of one release one by one. Where nobody knows how
    trials depend on each other, nothing can be drawn, and all is NaN, with a warning.
    """
    if summary.dependence is Dependence.UNKNOWN:
        warnings.warn(
            "no trials are drawn again: it is not known how they depend on each other",
            TapasWarning,
            stacklevel=3,
        )
        return {name: np.full(num_replicates, np.nan) for name in metrics}
    ordered = summary.drawn(_by_score(summary))
    counted = {
        name: metric
        for name, metric in metrics.items()
        if isinstance(metric, Measure) and metric.resampled is not None and is_ours(summary)
    }
    recomputed = {name: metric for name, metric in metrics.items() if name not in counted}
    outcomes = ordered.outcomes()
    blocks = [
        _counted(ordered, outcomes, counted, weights) | _recomputed(ordered, recomputed, weights)
        for weights in _weights(ordered, num_replicates, rng)
    ]
    return {name: np.concatenate([block[name] for block in blocks]) for name in metrics}


def _counted(
    summary: "LabelInferenceAttackSummary",
    outcomes: Outcomes,
    measures: dict[str, Measure],
    weights: NDArray[np.int64],
) -> dict[str, FloatArray]:
    drawn = outcomes.counted(weights)
    shows_epsilon = summary.dependence.refusal is None
    return {
        name: measure.resampled(drawn)
        if measure.resampled is not None and (shows_epsilon or not measure.is_epsilon)
        else np.full(len(weights), np.nan)
        for name, measure in measures.items()
    }


def _recomputed(
    summary: "LabelInferenceAttackSummary",
    metrics: dict[str, Metric],
    weights: NDArray[np.int64],
) -> dict[str, FloatArray]:
    if not metrics:
        return {}
    drawn = [summary.drawn(np.repeat(np.arange(len(counts)), counts)) for counts in weights]
    return {
        name: np.array([point_value(one, metric) for one in drawn], dtype=np.float64)
        for name, metric in metrics.items()
    }


def _weights(
    summary: "LabelInferenceAttackSummary", num_replicates: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    together = summary.dependence in (Dependence.PAIRS, Dependence.GROUPS)
    groups = summary.groups if together else None
    return stats.resampled_counts(len(summary), num_replicates, rng=rng, groups=groups)


def _by_score(summary: "LabelInferenceAttackSummary") -> NDArray[np.intp]:
    """An order in which no block of resamples has to be sorted again."""
    if summary.scores is None or summary.scores.ndim != 1:
        return np.arange(len(summary))
    return np.argsort(-summary.scores, kind="stable")


def is_ours(summary: "LabelInferenceAttackSummary") -> bool:
    """Whether the class is one of this room; any other may define its metrics anew."""
    return type(summary).__module__.startswith("tapas.results.")


def _own_table(summary: "LabelInferenceAttackSummary") -> dict[str, float]:
    table = summary.get_metrics().drop(columns=list(summary.described()), errors="ignore")
    return {str(name): float(value) for name, value in table.iloc[0].items() if _is_number(value)}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number))
