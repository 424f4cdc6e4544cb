"""Whether attacks still gain from more training trials: a picture."""

from collections.abc import Sequence

import numpy as np

from tapas.report._figure import COLOURS, GREY, new_figure
from tapas.report._page_figures import PageFigure
from tapas.report._page_svg import inline_svg
from tapas.results import AuditedSubject, LearningCurve

__all__ = ["learning_figures"]


def learning_figures(subjects: Sequence[AuditedSubject]) -> list[PageFigure]:
    """Mean AUC by number of training trials, for every subject whose attacks learnt again."""
    return [
        _figure(subject.name, subject.learning, f"learning{number}")
        for number, subject in enumerate(subjects)
        if subject.learning
    ]


def _figure(subject: str, curves: Sequence[LearningCurve], name: str) -> PageFigure:
    figure = new_figure(6.4, 3.0)
    axes = figure.add_subplot()
    axes.axhline(0.5, color=GREY, linewidth=1)
    for curve, colour in zip(curves, COLOURS, strict=False):
        values = np.array([[one.value, one.low, one.high] for one in curve.auc]).T
        off = (values[0] - values[1], values[2] - values[0])
        axes.errorbar(curve.trials, values[0], off, color=colour, capsize=3, label=curve.attack)
        ends = [curve.trials[-1], 2 * curve.trials[-1]]
        axes.plot(ends, [values[0][-1], curve.forecast], "--", color=colour)
        axes.plot(ends[1:], [curve.forecast], "o", color=colour, fillstyle="none")
    axes.set_xscale("log", base=2)
    marks = sorted({n for curve in curves for n in (*curve.trials, 2 * curve.trials[-1])})
    axes.set_xticks(marks, [str(mark) for mark in marks])
    axes.set_xlabel("training trials")
    axes.set_ylabel("mean AUC over people")
    axes.legend(frameon=False)
    figure.tight_layout()
    what = f"Mean AUC over people by number of training trials, {subject}"
    caption = (
        f"{what}, with intervals of 95% each. The open circle is the forecast for twice as many: "
        f"half of what the last doubling gained. Guessing is 0.5."
    )
    return PageFigure(subject, (inline_svg(figure, name, what),), caption)
