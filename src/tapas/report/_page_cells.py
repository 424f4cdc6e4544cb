"""Cells of a page's tables: what they show, what they sort by, what explains them."""

import math
from dataclasses import dataclass

from tapas.report._page_numbers import between, bound, down, percent
from tapas.report._page_reading import Result
from tapas.results import Estimate

__all__ = [
    "MANY_VALUES",
    "Cell",
    "Mark",
    "accuracy_cell",
    "area_cell",
    "epsilon_cell",
    "estimate_cell",
    "sortable",
    "target_text",
]

MANY_VALUES = "not defined: the secret has more than two values"


@dataclass(frozen=True)
class Mark:
    """An interval drawn as a small bar: ends and value on a scale from 0 to 100."""

    low: float
    value: float
    high: float
    middle: float


@dataclass(frozen=True)
class Cell:
    """One cell: text, a smaller note, the value to sort by, an explanation and a bar."""

    text: str
    note: str = ""
    sort: str = ""
    title: str = ""
    mark: Mark | None = None
    kind: str = "number"


def accuracy_cell(result: Result, estimate: Estimate) -> Cell:
    """Return accuracy, with what guessing would give as its explanation."""
    text, note = between(estimate, share=True)
    title = f"guessing is right in {percent(result.own.chance)}"
    return Cell(text, note, sortable(estimate.value), title)


def area_cell(estimate: Estimate | None, why: str) -> Cell:
    """Return an AUC with its interval as a bar; `why` explains where there is none."""
    if estimate is None:
        return Cell("–", title=why)
    text, note = between(estimate)
    ends = [100 * x for x in (estimate.low, estimate.value, estimate.high)]
    known = all(map(math.isfinite, ends))
    mark = Mark(ends[0], ends[1], ends[2], 50.0) if known else None
    wrong = "below guessing: the scores point the wrong way round" if estimate.high < 0.5 else ""
    return Cell(text, note, sortable(estimate.value), wrong, mark)


def estimate_cell(estimate: Estimate | None, why: str = "", *, share: bool = False) -> Cell:
    """Return a cell that shows an estimate with its interval."""
    if estimate is None:
        return Cell("–", title=why)
    text, note = between(estimate, share=share)
    return Cell(text, note, sortable(estimate.value))


def epsilon_cell(result: Result, *, shared: bool = False) -> Cell:
    """Return a certificate with its ceiling; where there is none, why."""
    facts = result.shared if shared else result.own
    if facts.epsilon is None:
        if not result.binary:
            return Cell("–", title=MANY_VALUES)
        why = "trials depend on each other" if result.pooled else "too few trials"
        return Cell("–", title=f"no certificate: {why}")
    value = float(facts.epsilon)
    ceiling = down(float(facts.epsilon.ceiling))
    return Cell(bound(value), f"of at most {ceiling}", sortable(value), str(facts.epsilon))


def target_text(result: Result) -> str:
    """Return the name of a result's target, with the attribute that was guessed."""
    name = result.target or "all records"
    return f"{name}: {result.attribute}" if result.attribute else name


def sortable(value: float) -> str:
    """Return a number for sorting; infinities at the ends, nothing for NaN."""
    if math.isnan(value):
        return ""
    return repr(float(value)) if math.isfinite(value) else repr(math.copysign(1e308, value))
