"""The seven metrics over many bootstrap replicates at once, from resampled counts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_count
from tapas.errors import StatisticsError
from tapas.metrics._ranking import Ranking
from tapas.metrics._rates import _boolean, _pair

__all__ = [
    "ALL_METRICS",
    "DEFAULT_METRICS",
    "counted_metrics",
    "resampled_counts",
    "resampled_metrics",
]

ALL_METRICS = (
    "accuracy",
    "true_positive_rate",
    "false_positive_rate",
    "mia_advantage",
    "privacy_gain",
    "auc",
    "effective_epsilon",
)
DEFAULT_METRICS = ("accuracy", "privacy_gain", "auc")

# Cells of one block of replicates: small enough to stay in the processor's cache.
_BLOCK = 1 << 16


def resampled_metrics(
    labels: ArrayLike,
    predictions: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    num_replicates: int,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Bootstrap the seven binary metrics.

    Parameters
    ----------
    labels, predictions
        0/1 or boolean secret and decision of each trial.
    scores
        Score of each trial; without it AUC and effective epsilon use the decisions.
    num_replicates
        Number of resamples with replacement, each as large as the original.
    rng
        Source of randomness.
    groups
        Integer per trial; trials of one group are drawn together. None: each alone.

    Returns
    -------
    dict
        For each name of `ALL_METRICS`, an array of one value per replicate. A
        replicate without one of the classes has NaN where the metric needs both
        (AUC is then 0.5).
    """
    count = check_count(num_replicates, "num_replicates", minimum=1)
    truth, guess = _pair(labels, predictions)
    ranking = None
    if scores is not None:
        # Sorted once here, no block has to reorder its columns.
        values = np.asarray(scores, dtype=np.float64)
        order = np.argsort(-values, kind="stable")
        truth, guess = truth[order], guess[order]
        groups = None if groups is None else np.asarray(groups)[order]
        ranking = Ranking(truth, values[order])
    blocks = [
        _counted(weights.astype(np.float64), truth, guess, ranking)
        for weights in resampled_counts(len(truth), count, rng=rng, groups=groups)
    ]
    return {name: np.concatenate([block[name] for block in blocks]) for name in ALL_METRICS}


def resampled_counts(
    num_trials: int,
    num_replicates: int,
    *,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of shape (replicates, trials): how often each trial was drawn."""
    if not num_trials:
        raise StatisticsError("there are no trials to resample; run the attack first")
    member = None
    units = num_trials
    if groups is not None:
        _, member = np.unique(np.asarray(groups), return_inverse=True)
        units = int(member.max()) + 1
    size = max(1, min(num_replicates, _BLOCK // num_trials))
    for start in range(0, num_replicates, size):
        rows = min(size, num_replicates - start)
        drawn = rng.integers(units, size=(rows, units), dtype=np.int64)
        drawn += (np.arange(rows) * units)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
        yield counts if member is None else counts[:, member]


def counted_metrics(
    weights: NDArray[Any],
    labels: ArrayLike,
    predictions: ArrayLike,
    scores: ArrayLike | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return the seven metrics of datasets in which trial i occurs ``weights[j, i]`` times."""
    truth, guess = _pair(labels, predictions)
    ranking = None if scores is None else Ranking(truth, np.asarray(scores, dtype=np.float64))
    return _counted(np.asarray(weights, dtype=np.float64), truth, guess, ranking)


def _counted(
    counts: NDArray[np.float64],
    truth: NDArray[Any],
    guess: NDArray[Any],
    ranking: Ranking | None,
) -> dict[str, NDArray[np.float64]]:
    truth, guess = _boolean(truth, "labels"), _boolean(guess, "predictions")
    sums = counts @ np.stack([truth, truth & guess, ~truth & guess], axis=1).astype(np.float64)
    trials = counts.sum(axis=-1)
    positives, hits, alarms = sums[..., 0], sums[..., 1], sums[..., 2]
    negatives = trials - positives
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, fpr = hits / positives, alarms / negatives
        rates = {
            "accuracy": (hits + negatives - alarms) / trials,
            "true_positive_rate": tpr,
            "false_positive_rate": fpr,
            "mia_advantage": tpr - fpr,
            "privacy_gain": 1 - (tpr - fpr),
        }
        if ranking is None:
            return rates | _from_decisions(tpr, fpr)
        area, ratio = ranking.area_and_ratio(counts, positives, negatives)
        return rates | {"auc": area, "effective_epsilon": np.log(ratio)}


def _from_decisions(
    tpr: NDArray[np.float64], fpr: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    undefined = np.isnan(tpr - fpr)
    ratio = np.where(undefined, np.nan, np.fmax(tpr / fpr, (1 - fpr) / (1 - tpr)))
    area = np.where(undefined, 0.5, (1 + tpr - fpr) / 2)
    return {"auc": area, "effective_epsilon": np.log(ratio)}
