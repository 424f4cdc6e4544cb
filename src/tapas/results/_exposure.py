"""Membership summaries in detail: by slice of the records, and record by record."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import check_probability
from tapas.errors import ConfigError
from tapas.results._estimate import estimate
from tapas.results._exposure_order import most_exposed_first
from tapas.results._label_inference import BinaryLabelInferenceAttackSummary
from tapas.results._measures import MEASURES, Measure
from tapas.results._privacy_risk import privacy_risk, risk_limits
from tapas.results._worlds import Worlds
from tapas.stats import simultaneous_upper_limits

__all__ = [
    "exposure_table",
    "positive_predictive_value",
    "slice_metrics",
    "spreadsheet_safe",
    "write_exposure_table",
]

_SLICED = {
    measure.fact or measure.name: measure
    for measure in MEASURES
    if measure.name in ("precision", "recall", "false_positive_rate", "mia_advantage", "auc")
}
PRIORS = (0.01, 0.1, 0.5)
FPRS = (0.01, 0.001)
_FORMULAS = tuple("=+-@\t\r")


def positive_predictive_value(tpr: float, fpr: float, prior: float) -> float:
    """Share of true members among those guessed members, where a share `prior` are members.

    NaN where nobody is guessed a member.
    """
    hits = check_probability(tpr, "tpr") * check_probability(prior, "prior")
    alarms = check_probability(fpr, "fpr") * (1 - prior)
    return hits / (hits + alarms) if hits + alarms > 0 else float("nan")


def slice_metrics(
    summary: BinaryLabelInferenceAttackSummary,
    slices: Mapping[str, ArrayLike] | pd.DataFrame | None = None,
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
        Of the intervals (columns ending in ``_low`` and ``_high``), which are those of
        `estimate`. Each holds by itself, not all together.

    Returns
    -------
    DataFrame
        One row per slice, ``all`` first. A metric is NaN where a slice has only one kind of
        record.
    """
    at_fprs = {f"tpr_at_fpr_{fpr:g}": _tpr_at(fpr) for fpr in fprs}
    parts: list[tuple[str, object, BinaryLabelInferenceAttackSummary]] = [("all", "all", summary)]
    for name, given in () if slices is None else slices.items():
        column = _column(given, str(name), len(summary))
        for value in sorted(pd.unique(column.dropna()).tolist(), key=_sorting_key):
            chosen = np.flatnonzero((column == value).to_numpy(dtype=bool))
            parts.append((str(name), value, summary.drawn(chosen)))
    return pd.DataFrame(
        [
            {"slice": name, "value": value, **_row(part, _SLICED | at_fprs, priors, confidence)}
            for name, value, part in parts
        ]
    )


def exposure_table(
    summary: BinaryLabelInferenceAttackSummary,
    about: pd.DataFrame | None = None,
    *,
    most: int | None = None,
    per: str | None = None,
    confidence: float = 0.95,
    read_reversed: bool = False,
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
    per
        A column of `about`, such as the class: keep that many rows of each value of it.
    confidence
        Of ``false_positive_rate_high``, and of the interval of ``privacy_risk``.
    read_reversed
        Read the scores the other way round, of an attack that ranks members last: the lowest come
        first, and what is said of higher scores below holds of lower ones.

    Returns
    -------
    DataFrame
        ``record`` (position in the summary), ``member``, ``guessed_member``, ``score``,
        ``same_score`` (how many records have it; their order is drawn by lot, always the same),
        and ``false_positive_rate``: the share of non-members that score at least as high, so that
        a small value means an attacker could single this record out with few false alarms.
        ``false_positive_rate_high`` is its upper end:
        with that confidence those of all records hold together (a Berk-Jones band), so that a share
        of 0 among few non-members is not taken for none. ``privacy_risk`` is the probability of
        membership that follows from the score, at even odds (`privacy_risk`), between
        ``privacy_risk_low`` and ``privacy_risk_high``, which hold for all records together as long
        as a higher score speaks no less for a member (`tapas.stats.rising_limits`).
    """
    if summary.scores is None:
        raise ConfigError("an exposure table needs scores, and this attack gave none")
    scores, members = summary.scores, summary.labels.astype(bool)
    read = -scores if read_reversed else scores
    risks = privacy_risk(read, members)
    risk_low, risk_high = risk_limits(read, members, risks, confidence)
    others = np.sort(read[~members])
    above = len(others) - np.searchsorted(others, read, side="left")
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    table = pd.DataFrame(
        {
            "record": np.arange(len(scores)),
            "member": members,
            "guessed_member": summary.predictions.astype(bool),
            "score": scores,
            "same_score": count[place],
            "false_positive_rate": above / len(others) if len(others) else np.nan,
            "false_positive_rate_high": simultaneous_upper_limits(
                len(others), confidence=confidence
            )[above],
            "privacy_risk": risks,
            "privacy_risk_low": risk_low,
            "privacy_risk_high": risk_high,
        }
    )
    if about is not None:
        if len(about) != len(table):
            raise ConfigError(f"about has {len(about)} rows, the summary {len(table)} records")
        table = pd.concat([table, about.reset_index(drop=True)], axis=1)
    ordered = table.iloc[most_exposed_first(scores, read_reversed)].reset_index(drop=True)
    if most is None:
        return ordered
    if per is None:
        return ordered.head(most)
    if per not in ordered:
        raise ConfigError(f"per: {per!r} is not a column of about")
    return (
        ordered.groupby(per, sort=True, group_keys=False)
        .head(most)
        .sort_values(per, kind="stable", ignore_index=True)
    )


def write_exposure_table(
    summary: BinaryLabelInferenceAttackSummary,
    path: str | Path,
    about: pd.DataFrame | None = None,
    *,
    most: int | None = 100,
    read_reversed: bool = False,
) -> Path:
    """Write the most exposed records as CSV; return the file."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    table = exposure_table(summary, about, most=most, read_reversed=read_reversed)
    spreadsheet_safe(table).to_csv(target, index=False)
    return target


def spreadsheet_safe(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before text that a spreadsheet would run as a formula."""
    return table.map(
        lambda cell: f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULAS) else cell
    )


def _column(given: ArrayLike, name: str, length: int) -> pd.Series:
    column = pd.Series(np.asarray(given))
    if len(column) != length:
        raise ConfigError(f"slice {name!r} has {len(column)} values, the summary {length} records")
    return column


def _sorting_key(value: object) -> tuple[str, float, str]:
    if isinstance(value, (bool, int, float)):
        return "", value, ""
    return type(value).__name__, 0.0, str(value)


def _tpr_at(fpr: float) -> Measure:
    (at_fpr,) = (measure.at_fpr for measure in MEASURES if measure.at_fpr is not None)
    return at_fpr(fpr)


def _row(
    part: BinaryLabelInferenceAttackSummary,
    measures: Mapping[str, Measure],
    priors: Sequence[float],
    confidence: float,
) -> dict[str, float]:
    worlds = Worlds.of(part)
    row: dict[str, float] = {
        "members": worlds.num_positive,
        "non_members": worlds.num_negative,
        "accuracy": part.accuracy if len(part) else np.nan,
    }
    for name, measure in measures.items():
        found = estimate(measure, part, confidence)
        row[name] = np.nan if found is None else found.value
        row[f"{name}_low"] = np.nan if found is None else found.low
        row[f"{name}_high"] = np.nan if found is None else found.high
    both = min(worlds.num_positive, worlds.num_negative) > 0
    for prior in priors:
        row[f"ppv_at_prior_{prior:g}"] = (
            positive_predictive_value(row["recall"], row["false_positive_rate"], prior)
            if both
            else np.nan
        )
    return row
