"""Figures of a page: ROC curves of the most exposed targets, and comparisons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas.report._comparison import Comparison, draw_comparison
from tapas.report._page_svg import inline_svg
from tapas.report._roc import summary_curves
from tapas.report._roc_figure import Curve, RocStyle, draw_roc
from tapas.results import CONFIDENCE, Estimate, Finding, Findings, SummaryFacts, strongest
from tapas.stats import shared_confidence

__all__ = ["PageFigure", "comparison_figures", "curve_figures", "series_figure"]

_MOST_SUBJECTS = 3
_MOST_CURVES = 4
_MOST_LINES = 16
_MOST_SERIES = 8
_UNKNOWN = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class PageFigure:
    """A figure with the words under it; `svg` is safe to put into a page as it is."""

    title: str
    svg: tuple[str, ...]
    caption: str


def curve_figures(findings: Findings) -> list[PageFigure]:
    """Return linear and log-log ROC curves for the most exposed target of a few subjects."""
    worst = strongest(findings.audited, lambda r: r.own.subject)
    worst = sorted(worst, key=_strength, reverse=True)[:_MOST_SUBJECTS]
    return [
        figure
        for number, result in enumerate(worst)
        if (figure := _curves_of(findings, result, f"roc{number}")) is not None
    ]


def comparison_figures(findings: Findings) -> list[PageFigure]:
    """Return a figure for each of subjects, targets and datasets that are several."""
    figures = []
    for number, (name, plural, results, label) in enumerate(
        (
            ("subject", "subjects", findings.all, _subject),
            ("target", "targets", findings.audited, _target),
            ("dataset", "datasets", findings.all, _dataset),
        )
    ):
        figure = series_figure(
            [(label(r.own) or "(unnamed)", r.own.attack, r) for r in results],
            (name, "attack"),
            f"cmp{number}",
        )
        if figure is None:
            continue
        svg, left_out = figure
        caption = (
            f"One line for each {name}, one marker for each attack; bars are {100 * CONFIDENCE:g}% "
            "intervals, each on its own. Where several results fall on one marker, the strongest "
            "is shown. Further right is worse for privacy."
        )
        if left_out:
            caption += f" {left_out} less exposed {plural} are in the table of results only."
        figures.append(PageFigure(f"By {name}", (svg,), caption))
    return figures


def series_figure(
    placed: Sequence[tuple[str, str, Finding]], names: tuple[str, str], prefix: str
) -> tuple[str, int] | None:
    """Draw results by category and series; return the SVG and how many categories did not fit.

    None where there is one category only.
    """
    best: dict[tuple[str, str], Finding] = {}
    for category, series, result in placed:
        key = (category, series)
        if key not in best or result.strength > best[key].strength:
            best[key] = result
    categories = list(dict.fromkeys(category for category, _ in best))
    if len(categories) < 2:
        return None
    worst = {c: max(r.strength for (name, _), r in best.items() if name == c) for c in categories}
    shown = sorted(categories, key=lambda c: worst[c], reverse=True)[:_MOST_LINES]
    attacks = list(dict.fromkeys(name for _, name in best))[:_MOST_SERIES]
    kept = {k: r for k, r in best.items() if k[0] in shown and k[1] in attacks}
    # Categories are drawn in order of appearance.
    ordered = sorted(kept, key=lambda k: (shown.index(k[0]), attacks.index(k[1])))
    low, value, high = (
        pd.DataFrame([_columns(k, kept[k], names, end) for k in ordered])
        for end in ("low", "value", "high")
    )
    metrics = [m for m in ("accuracy", "auc", "certified_epsilon") if value[m].notna().any()]
    sheet = draw_comparison(
        Comparison(
            rows=pd.concat([low, high]),
            points=value,
            category=names[0],
            series=names[1],
            metrics=metrics,
            title="",
            note="",
            fair=all(abs(r.own.chance - 0.5) < 0.06 for r in kept.values()),
        )
    )
    description = f"Comparison of {', '.join(metrics)} by {names[0]}; the tables hold the numbers."
    figure = sheet.finished(as_text=True)
    return inline_svg(figure, prefix, description.replace("_", " ")), len(categories) - len(shown)


def _columns(
    key: tuple[str, str], result: Finding, names: tuple[str, str], end: str
) -> dict[str, object]:
    facts = result.own
    epsilon = math.nan if facts.epsilon is None else float(facts.epsilon)
    return {
        names[0]: key[0],
        names[1]: key[1],
        "accuracy": _end(facts.accuracy, end),
        "auc": _end(facts.auc or _UNKNOWN, end),
        # A lower bound has no interval.
        "certified_epsilon": epsilon if end == "value" else math.nan,
    }


def _end(estimate: Estimate, end: str) -> float:
    return {"low": estimate.low, "value": estimate.value, "high": estimate.high}[end]


def _strength(result: Finding) -> tuple[float, float]:
    return result.strength


def _subject(facts: SummaryFacts) -> str:
    return facts.subject


def _target(facts: SummaryFacts) -> str:
    return facts.target


def _dataset(facts: SummaryFacts) -> str:
    return facts.dataset


def _curves_of(findings: Findings, worst: Finding, name: str) -> PageFigure | None:
    same = [
        r
        for r in findings.audited
        if (r.own.subject, r.target, r.attribute)
        == (worst.own.subject, worst.target, worst.attribute)
    ]
    same = sorted(same, key=_strength, reverse=True)
    by_result = [summary_curves(r.own.attack, r.summary) for r in same]
    curves = [curve for mine in by_result for curve in mine if _drawable(curve)]
    if not curves:
        return None
    claim = findings.record.claim
    outline = (claim.epsilon,) if claim is not None and 0 < claim.epsilon < math.inf else ()
    target = f", target {worst.target}" if worst.target else ""
    what = f"ROC curves of attacks on {worst.own.subject}{target}"
    pictures = []
    # A secret of several values has a curve for each.
    level = shared_confidence(findings.shared_confidence, max(map(len, by_result)))
    refusal = next((r.own.dependence.band_refusal for r in same), None)
    for log_log in (False, True):
        style = RocStyle(
            eff_epsilon=outline,
            delta=0.0 if claim is None else claim.delta,
            log_log=log_log,
            confidence=level,
        )
        kind = "logarithmic" if log_log else "linear"
        figure = draw_roc(curves[:_MOST_CURVES], style)
        pictures.append(inline_svg(figure, f"{name}{kind[:3]}", f"{what}, {kind} axes"))
    caption = (
        f"{what}: linear axes, and logarithmic axes where small rates show. Curves further up and "
        "left are worse for privacy; the dotted line is guessing. Logarithmic axes show "
        "rates of 0 at their edge."
    )
    if refusal is not None:
        caption += f" There are no bands: {refusal}."
    else:
        caption += (
            f" Bands of all audited results hold together with {100 * CONFIDENCE:g}% confidence"
        )
        caption += (
            ": one that passes the outline contradicts the claimed epsilon." if outline else "."
        )
    if len(curves) > _MOST_CURVES:
        caption += (
            f" The first {_MOST_CURVES} of {len(curves)} curves are shown, strongest attack first."
        )
    return PageFigure(f"{worst.own.subject}{target}", tuple(pictures), caption)


def _drawable(curve: Curve) -> bool:
    return len(np.unique(curve.labels)) == 2
