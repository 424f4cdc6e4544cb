"""Membership summaries in detail: by slice of the records, and record by record."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tapas import metrics, stats
from tapas._validate import check_probability
from tapas.errors import ConfigError
from tapas.results._label_inference import BinaryLabelInferenceAttackSummary

__all__ = ["exposure_table", "positive_predictive_value", "slice_metrics", "write_exposure_table"]

PRIORS = (0.01, 0.1, 0.5)
FPRS = (0.01, 0.001)


def positive_predictive_value(tpr: float, fpr: float, prior: float) -> float:
    """Share of true members among those guessed members, where a share `prior` are members.

    NaN where nobody is guessed a member.
    """
    hits = check_probability(tpr, "tpr") * check_probability(prior, "prior")
    alarms = check_probability(fpr, "fpr") * (1 - prior)
    return hits / (hits + alarms) if hits + alarms > 0 else float("nan")


def slice_metrics(
    summary: BinaryLabelInferenceAttackSummary,
    slices: Mapping[str, Any] | pd.DataFrame | None = None,
    *,
    priors: Sequence[float] = PRIORS,
    fprs: Sequence[float] = FPRS,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return the metrics of an attack over all records and over each slice of them.

    Parameters
    ----------
    summary
        One entry per record.
    slices
        Named columns with one value per record, such as the class or whether the model is right;
        each value is a slice.
    priors
        Shares of members at which the share of right positive guesses (PPV) is given.
    fprs
        False positive rates at which the true positive rate is given.
    confidence
        Of the intervals (columns ending in ``_low`` and ``_high``): Clopper-Pearson for rates,
        Newcombe for the advantage, DeLong for the AUC. Each holds by itself, not all together.

    Returns
    -------
    DataFrame
        One row per slice, ``all`` first. A metric is NaN where a slice has only one kind of
        record.
    """
    rows = [_row(summary, "all", "all", np.ones(len(summary), bool), priors, fprs, confidence)]
    for name in () if slices is None else slices.keys():
        column = _column(slices, name, len(summary))
        for value in sorted(pd.unique(column.dropna()).tolist(), key=_sorting_key):
            chosen = (column == value).to_numpy(dtype=bool)
            rows.append(_row(summary, str(name), value, chosen, priors, fprs, confidence))
    return pd.DataFrame(rows)


def exposure_table(
    summary: BinaryLabelInferenceAttackSummary,
    about: pd.DataFrame | None = None,
    *,
    most: int | None = None,
) -> pd.DataFrame:
    """Return one row per record, the most exposed first.

    Parameters
    ----------
    summary
        One entry per record, with scores.
    about
        More columns about the records, in the order of the summary.
    most
        Keep this many rows.

    Returns
    -------
    DataFrame
        ``record`` (position in the summary), ``member``, ``guessed_member``, ``score``, and
        ``false_positive_rate``: the share of non-members that score at least as high, so that a
        small value means an attacker could single this record out with few false alarms. Members
        come before non-members of the same score.
    """
    if summary.scores is None:
        raise ConfigError("an exposure table needs scores, and this attack gave none")
    scores, members = summary.scores, summary.labels.astype(bool)
    others = np.sort(scores[~members])
    above = len(others) - np.searchsorted(others, scores, side="left")
    table = pd.DataFrame(
        {
            "record": np.arange(len(scores)),
            "member": members,
            "guessed_member": summary.predictions.astype(bool),
            "score": scores,
            "false_positive_rate": above / len(others) if len(others) else np.nan,
        }
    )
    if about is not None:
        if len(about) != len(table):
            raise ConfigError(f"about has {len(about)} rows, the summary {len(table)} records")
        table = pd.concat([table, about.reset_index(drop=True)], axis=1)
    ordered = table.iloc[np.lexsort((~members, -scores))].reset_index(drop=True)
    return ordered if most is None else ordered.head(most)


def write_exposure_table(
    summary: BinaryLabelInferenceAttackSummary,
    path: str | Path,
    about: pd.DataFrame | None = None,
    *,
    most: int | None = 100,
) -> Path:
    """Write the most exposed records as CSV; return the file."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    exposure_table(summary, about, most=most).to_csv(target, index=False)
    return target


def _column(slices: Any, name: str, length: int) -> pd.Series:
    column = pd.Series(np.asarray(slices[name]))
    if len(column) != length:
        raise ConfigError(f"slice {name!r} has {len(column)} values, the summary {length} records")
    return column


def _sorting_key(value: Any) -> tuple[str, Any]:
    number = isinstance(value, (bool, int, float))
    return ("", value) if number else (type(value).__name__, str(value))


def _row(
    summary: BinaryLabelInferenceAttackSummary,
    name: str,
    value: Any,
    chosen: np.ndarray,
    priors: Sequence[float],
    fprs: Sequence[float],
    confidence: float,
) -> dict[str, Any]:
    labels, guesses = summary.labels[chosen], summary.predictions[chosen]
    scores = (guesses if summary.scores is None else summary.scores[chosen]).astype(float)
    members = labels == 1
    num_members, num_others = int(members.sum()), int((~members).sum())
    hits, alarms = int(guesses[members].sum()), int(guesses[~members].sum())
    row: dict[str, Any] = {
        "slice": name,
        "value": value,
        "members": num_members,
        "non_members": num_others,
        "accuracy": metrics.accuracy(labels, guesses) if len(labels) else np.nan,
    }
    _add_rate(row, "precision", hits, hits + alarms, confidence)
    _add_rate(row, "recall", hits, num_members, confidence)
    _add_rate(row, "false_positive_rate", alarms, num_others, confidence)
    both = num_members > 0 and num_others > 0
    nothing = stats.Interval(np.nan, np.nan, np.nan)
    advantage = stats.advantage_interval(
        hits, num_members, alarms, num_others, confidence=confidence
    )
    area = stats.auc_interval(scores[members], scores[~members], confidence=confidence)
    _add_interval(row, "advantage", advantage if both else nothing)
    _add_interval(row, "auc", area if both else nothing)
    for fpr in fprs:
        point = nothing
        if both:
            point = stats.tpr_at_fpr(
                scores[members], scores[~members], fpr, confidence=confidence
            ).tpr
        _add_interval(row, f"tpr_at_fpr_{fpr:g}", point)
    for prior in priors:
        row[f"ppv_at_prior_{prior:g}"] = (
            positive_predictive_value(hits / num_members, alarms / num_others, prior)
            if both
            else np.nan
        )
    return row


def _add_rate(row: dict[str, Any], name: str, k: int, n: int, confidence: float) -> None:
    low, high = stats.clopper_pearson(k, n, confidence)
    value = k / n if n else np.nan
    _add_interval(row, name, stats.Interval(low, high, value))


def _add_interval(row: dict[str, Any], name: str, interval: stats.Interval) -> None:
    row[name] = interval.value
    row[f"{name}_low"] = interval.low
    row[f"{name}_high"] = interval.high
