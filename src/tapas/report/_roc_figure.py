"""ROC curves of several attacks in one figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapas import metrics, stats
from tapas.report._figure import COLOURS, GREY, new_figure, tips, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curve", "RocStyle", "draw_roc"]

_DASHES = ("-", "--", "-.", ":")
# Fewer thresholds than this are decisions without scores: points rather than a curve.
_FEW = 5
_MOST_CORNERS = 300
_OUTLINES = ((0, (5, 2)), (0, (2, 1.5)), (0, (8, 2, 1.5, 2)), (0, (1, 1)))


@dataclass(frozen=True, eq=False)
class Curve:
    """Secrets and scores of one attack, under the name the legend shows.

    `no_band` says why no band holds around it, None where one does. `error_share` is what part of
    the error this look at its trials has.
    """

    name: str
    labels: NDArray[np.generic]
    scores: NDArray[np.float64]
    no_band: str | None = None
    error_share: float = 1.0


@dataclass(frozen=True)
class RocStyle:
    """What a ROC figure shows besides its curves.

    Attributes
    ----------
    title
        Text above the figure.
    eff_epsilon
        Values of epsilon whose privacy region is outlined.
    delta
        The delta of those regions.
    zoom
        Side of the corner that is shown; 1 shows the whole curve.
    low_corner
        Whether the corner is the one at (0, 0), or the one at (1, 1).
    log_log
        Whether both axes are logarithmic.
    confidence
        Level of the simultaneous band around each curve; None draws no band.
    """

    title: str = ""
    eff_epsilon: tuple[float, ...] = ()
    delta: float = 0.0
    zoom: float = 1.0
    low_corner: bool = True
    log_log: bool = False
    confidence: float | None = None


def draw_roc(curves: Sequence[Curve], style: RocStyle) -> "Figure":
    """Draw the curves, the diagonal of guessing, and the outlines of epsilon."""
    beside = len(curves) > 4
    figure = new_figure(8.9 if beside else 5.6, 5.6 + (0.3 if style.title else 0))
    axes = figure.add_axes(_place(figure, beside, bool(style.title)))
    floor = _floor(curves)
    line = np.geomspace(floor, 1, 200) if style.log_log else np.array([0.0, 1.0])
    axes.plot(line, line, color=GREY, linestyle=":", linewidth=1.2, label="guessing")
    for index, epsilon in enumerate(style.eff_epsilon):
        _draw_region(axes, epsilon, _OUTLINES[index % len(_OUTLINES)], style, floor)
    for index, curve in enumerate(curves):
        _draw_curve(axes, curve, index, style, floor)
    _set_axes(axes, style, floor)
    if style.title:
        figure.suptitle(wrapped(style.title, 60, 2), fontsize=11, fontweight="bold", y=0.985)
    legend = {"frameon": False} if beside else {"framealpha": 0.85, "edgecolor": "none"}
    spot = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)} if beside else {"loc": "best"}
    level = style.confidence if any(curve.no_band is None for curve in curves) else None
    axes.legend(
        fontsize=8.5,
        title=None if level is None else f"shaded: {100 * level:g} % band, whole curve",
        title_fontsize=8,
        **legend,
        **spot,
    )
    return figure


def _place(figure: "Figure", beside: bool, titled: bool) -> tuple[float, float, float, float]:
    width, height = figure.get_size_inches()
    side = height - 0.8 - (0.3 if titled else 0)
    return 0.75 / width, 0.6 / height, (side if beside else width - 0.95) / width, side / height


def _draw_curve(axes: "Axes", curve: Curve, index: int, style: RocStyle, floor: float) -> None:
    colour = COLOURS[index % len(COLOURS)]
    dashes = _DASHES[(index // len(COLOURS)) % len(_DASHES)]
    roc = metrics.roc_curve(curve.labels, curve.scores)
    name = wrapped(curve.name, 32, 3)
    if not (roc.num_positive and roc.num_negative):
        axes.plot([], [], color=colour, linestyle=dashes, label=f"{name}\n(one class only)")
        return
    fpr, tpr = np.append(0.0, roc.fpr), np.append(0.0, roc.tpr)
    area = metrics.auc(curve.labels, curve.scores)
    if style.confidence is not None and curve.no_band is None:
        _draw_band(axes, curve, colour, style.confidence, style, floor)
    if style.log_log:
        fpr, tpr = np.maximum(fpr, floor), np.maximum(tpr, floor)
    if style.log_log and len(roc.thresholds) < _FEW:
        kind: dict[str, Any] = {"marker": "o", "linestyle": ""}
    else:
        kind = {"linestyle": dashes}
    axes.plot(
        fpr,
        tpr,
        color=colour,
        **kind,
        linewidth=1.7,
        # Thresholds between two scores do not exist, so a log axis must not bend the segments.
        drawstyle="steps-post" if style.log_log else "default",
        label=f"{name} (AUC {area:.2f})",
        zorder=3,
        gid=tips([f"{curve.name}: AUC {area:.2f}"]),
    )


def _draw_band(
    axes: "Axes", curve: Curve, colour: str, confidence: float, style: RocStyle, floor: float
) -> None:
    band = stats.roc_band(
        curve.scores[curve.labels == 1],
        curve.scores[curve.labels == 0],
        confidence=stats.shared_confidence(confidence, 1, curve.error_share),
    )
    if style.log_log and len(band.thresholds) < _FEW:
        return
    starts, stops = _blocks(len(band.thresholds))
    corners = np.column_stack(
        [
            np.concatenate([[0.0], band.fpr_high[stops], [1.0], band.fpr_low[starts][::-1]]),
            np.concatenate([[0.0], band.tpr_low[starts], [1.0], band.tpr_high[stops][::-1]]),
        ]
    )
    # Each corner lies right and below, or left and above, of a point of the curve, and so do
    # the lines between corners: the outline holds for the curve as it is drawn.
    axes.fill(
        *np.maximum(corners, floor if style.log_log else 0.0).T,
        color=colour,
        alpha=0.15,
        linewidth=0,
        zorder=1,
        gid=tips([f"{curve.name}: {100 * confidence:g} % band"]),
    )


def _blocks(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and last of neighbouring thresholds drawn as one corner.

    All four limits grow along the thresholds, so the band of a block is a little wider than
    those of its members, never narrower.
    """
    edges = np.unique(np.linspace(0, count, min(count, _MOST_CORNERS) + 1).astype(np.intp))
    return edges[:-1], edges[1:] - 1


def _draw_region(axes: "Axes", epsilon: float, dashes: Any, style: RocStyle, floor: float) -> None:
    fpr = np.linspace(0, 1, 1001)
    if style.log_log:
        fpr = np.geomspace(floor, 1, 1001)
    tpr = np.minimum(
        np.exp(epsilon) * fpr + style.delta, 1 - np.exp(-epsilon) * (1 - style.delta - fpr)
    )
    label = f"ε = {epsilon:g}" + (f", δ = {style.delta:g}" if style.delta else "")
    axes.plot(
        fpr, np.minimum(tpr, 1), color=GREY, linestyle=dashes, linewidth=1.3, label=label, zorder=2
    )


def _set_axes(axes: "Axes", style: RocStyle, floor: float) -> None:
    if style.log_log:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(floor, 1.1)
        axes.set_ylim(floor, 1.1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda rate, _: f"{rate:g}")
    else:
        start = 0.0 if style.low_corner else 1 - style.zoom
        margin = 0.01 * style.zoom
        axes.set_xlim(start - margin, start + style.zoom + margin)
        axes.set_ylim(start - margin, start + style.zoom + margin)
    axes.set_xlabel("False positive rate", fontsize=9.5)
    axes.set_ylabel("True positive rate", fontsize=9.5)
    axes.tick_params(labelsize=8.5)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _floor(curves: Sequence[Curve]) -> float:
    """Return the smallest rate that a logarithmic axis shows: half a trial."""
    largest = max((len(curve.labels) for curve in curves), default=100)
    return float(10.0 ** np.floor(np.log10(1 / max(largest, 10))))
