"""Report of ROC curves."""

import logging
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_probability, listing
from tapas.errors import ConfigError, TapasWarning
from tapas.report._base import OutputNames, Report
from tapas.report._figure import plain, save
from tapas.report._roc_figure import Curve, RocStyle, draw_roc
from tapas.results import AIAttackSummary, Dependence, LabelInferenceAttackSummary

__all__ = ["ROCReport", "plot_roc_curve", "summary_curves"]

_LOG = logging.getLogger(__name__)
_COLUMNS: dict[str, Callable[[LabelInferenceAttackSummary], object]] = {
    "attack": lambda summary: summary.attack,
    "generator": lambda summary: summary.generator,
    "dataset": lambda summary: summary.dataset,
    "target_id": lambda summary: summary.target_id,
    "sensitive_attribute": lambda summary: summary.sensitive_attribute,
}


class ROCReport(Report):
    """Draw the ROC curve of each attack; best for attacks under one threat model.

    Parameters
    ----------
    attack_summaries
        Summaries of attacks. One without scores is drawn from its decisions; one
        with more than two values gets a one-against-rest curve for each value.
    suffix
        Text added to the file name and shown as the title.
    disaggregate_by
        Column ("attack", "generator", "dataset", "target_id") with one figure
        per value; None draws all curves in one.
    curve_label
        Column whose value names each curve.
    eff_epsilon
        A number or several: the outline of the region that such an epsilon allows.
    zooms
        Sides of the corners to show, 1 being the whole curve; each smaller one
        gives a figure of the corner near (0, 0) and one of that near (1, 1).
    log_log
        Also draw the whole curve on logarithmic axes, where small rates show.
    confidence
        Level of a simultaneous band around each curve; None draws none. Curves of trials
        that depend on each other get none, with a warning.
    delta
        The delta of the outlines.
    """

    def __init__(
        self,
        attack_summaries: Sequence[LabelInferenceAttackSummary],
        suffix: str = "",
        disaggregate_by: str | None = None,
        curve_label: str = "attack",
        eff_epsilon: float | Sequence[float] | None = None,
        zooms: Sequence[float] = (1,),
        *,
        log_log: bool = False,
        confidence: float | None = None,
        delta: float = 0.0,
    ) -> None:
        self.attack_summaries = list(attack_summaries)
        if not self.attack_summaries:
            raise ConfigError("a report needs at least one summary, got none")
        self.suffix = suffix
        self.disaggregate_by = disaggregate_by
        self.curve_label = curve_label
        self.eff_epsilon = _epsilons(eff_epsilon)
        self.zooms = [zooms] if isinstance(zooms, (int, float)) else list(zooms)
        for zoom in self.zooms:
            if check_probability(zoom, "a zoom") == 0:
                raise ConfigError("a zoom must be above 0 and at most 1, got 0")
        self.log_log = log_log
        self.confidence = (
            None
            if confidence is None
            else check_probability(confidence, "confidence", open_interval=True)
        )
        self.delta = check_probability(delta, "delta")
        self._outputs = OutputNames()

    def publish(self, filepath: str | Path) -> list[Path]:
        """Draw the figures into the folder `filepath` and return the files written."""
        files = []
        for value, summaries in self._figures():
            curves = _curves(summaries, self.curve_label)
            self._warn_of_missing_bands(curves)
            ending = "" if value is None else f"_{self.disaggregate_by}={value}"
            shown = "" if value is None else f"{self.disaggregate_by} {value}"
            words = (plain(self.suffix).strip("_ "), plain(shown))
            title = " – ".join(word for word in words if word)
            for name, view in self._views():
                style = RocStyle(
                    title=title,
                    eff_epsilon=self.eff_epsilon,
                    delta=self.delta,
                    confidence=self.confidence,
                    **view,
                )
                stem = f"ROC_curve{self.suffix}{name}{ending}"
                path = self._outputs.path(filepath, stem, ".png", (name, value))
                files.append(save(draw_roc(curves, style), path))
        _LOG.info("%d figures written to %s", len(files), filepath)
        return files

    def _warn_of_missing_bands(self, curves: list[Curve]) -> None:
        reasons = {curve.no_band: curve.name for curve in curves if curve.no_band is not None}
        for reason, name in reasons.items() if self.confidence is not None else ():
            warnings.warn(f"{name} is drawn without a band: {reason}", TapasWarning, stacklevel=3)

    def _figures(self) -> list[tuple[Hashable, list[LabelInferenceAttackSummary]]]:
        if self.disaggregate_by is None:
            return [(None, self.attack_summaries)]
        figures: dict[Hashable, list[LabelInferenceAttackSummary]] = {}
        for summary in self.attack_summaries:
            figures.setdefault(_label(summary, self.disaggregate_by), []).append(summary)
        return list(figures.items())

    def _views(self) -> list[tuple[str, dict[str, Any]]]:
        views: list[tuple[str, dict[str, Any]]] = []
        for zoom in self.zooms:
            if zoom == 1:
                views.append(("", {}))
            else:
                views.append((f"_zoom={zoom}_low", {"zoom": zoom, "low_corner": True}))
                views.append((f"_zoom={zoom}_high", {"zoom": zoom, "low_corner": False}))
        return [*views, ("_loglog", {"log_log": True})] if self.log_log else views


def plot_roc_curve(
    data: Iterable[tuple[ArrayLike, ArrayLike]],
    names: Iterable[str],
    title: str,
    output_path: str | Path,
    suffix: str = "",
    eff_epsilon: float | Sequence[float] | None = None,
    zoom_in: float = 1,
    low_corner: bool = True,
) -> Path:
    """Draw ROC curves of pairs (labels, scores) into ``ROC_curve{suffix}.png``.

    Parameters
    ----------
    data, names
        Labels (0/1) and scores of each curve, and its name.
    title
        Text above the figure.
    output_path
        Folder for the figure, made if needed.
    suffix
        Text added to the file name.
    eff_epsilon, zoom_in, low_corner
        As in `ROCReport`: outlines, size of the corner shown, and which corner.
    """
    curves = [
        Curve(str(name), np.asarray(labels).astype(int), np.asarray(scores, dtype=np.float64))
        for (labels, scores), name in zip(data, names, strict=True)
    ]
    style = RocStyle(
        title=title or "",
        eff_epsilon=_epsilons(eff_epsilon),
        zoom=check_probability(zoom_in, "zoom_in"),
        low_corner=low_corner,
    )
    path = OutputNames().path(output_path, f"ROC_curve{suffix}", ".png", None)
    return save(draw_roc(curves, style), path)


def _curves(summaries: list[LabelInferenceAttackSummary], column: str) -> list[Curve]:
    return [
        curve
        for name, summary in zip(_names(summaries, column), summaries, strict=True)
        for curve in summary_curves(name, summary)
    ]


def summary_curves(name: str, summary: LabelInferenceAttackSummary) -> list[Curve]:
    no_band, share = summary.dependence.band_refusal, summary.error_share
    if isinstance(summary, AIAttackSummary):
        if no_band is None and summary.dependence is Dependence.PAIRS:
            no_band = "trials of one background lie on the same side of a value and its rest"
        return [
            Curve(f"{name}: {value}", (summary.labels == value).astype(int), column, no_band, share)
            for value, column in zip(summary.attribute_values, summary.value_scores.T, strict=True)
        ]
    scores = np.asarray(summary.predictions if summary.scores is None else summary.scores, float)
    # A trial without a score is never guessed positive, at any threshold.
    comparable = np.where(np.isnan(scores), -np.inf, scores)
    return [Curve(name, summary.labels, comparable, no_band, share)]


def _names(summaries: list[LabelInferenceAttackSummary], column: str) -> list[str]:
    """Name each curve by `column`, and by whatever else tells equal names apart."""
    names = [plain(_label(summary, column)) for summary in summaries]
    for other in (c for c in _COLUMNS if c != column):
        values = [plain(_COLUMNS[other](summary)) for summary in summaries]
        alike: dict[str, set[str]] = {}
        for name, value in zip(names, values, strict=True):
            alike.setdefault(name, set()).add(value)
        names = [
            f"{name}, {value}" if value and len(alike[name]) > 1 else name
            for name, value in zip(names, values, strict=True)
        ]
    return names


def _label(summary: LabelInferenceAttackSummary, column: str) -> Hashable:
    if column not in _COLUMNS:
        raise ConfigError(f"summaries have no {column!r}; choose one of {listing(_COLUMNS)}")
    return str(_COLUMNS[column](summary))


def _epsilons(value: float | Sequence[float] | None) -> tuple[float, ...]:
    if value is None:
        return ()
    values = tuple(float(v) for v in np.atleast_1d(np.asarray(value, dtype=np.float64)))
    if any(not v > 0 for v in values):
        raise ConfigError(f"eff_epsilon must be positive, got {value!r}")
    return values
