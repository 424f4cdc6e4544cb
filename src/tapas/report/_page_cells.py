"""Cells of a page's tables: what they show, what they sort by, what explains them."""

import math
from dataclasses import dataclass

from tapas.report._page_numbers import between, bound, percent
from tapas.results import Estimate, Finding, Measure, SummaryFacts, rounded_down
from tapas.stats import EpsilonBound

__all__ = [
    "MANY_VALUES",
    "Cell",
    "Mark",
    "best_guess_words",
    "epsilon_cell",
    "estimate_cell",
    "measure_cell",
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


def measure_cell(measure: Measure, finding: Finding, facts: SummaryFacts) -> Cell:
    """Return a measure with its interval; where it is not defined, why."""
    estimate = None if measure.fact is None else facts.measured(measure.fact)
    if estimate is None:
        defined = measure.is_defined_for(finding.summary)
        return Cell("–", title="too few trials or guesses" if defined else MANY_VALUES)
    text, note = between(estimate, share=measure.is_share)
    hint = _hint(measure, finding, estimate)
    return Cell(text, note, sortable(estimate.value), hint, _mark(measure, estimate))


def _hint(measure: Measure, finding: Finding, estimate: Estimate) -> str:
    if measure.name == "accuracy":
        return f"{best_guess_words(finding)} is right in {percent(finding.own.chance)}"
    if measure.name == "precision":
        return f"{percent(finding.own.positive_share)} of the trials are positive"
    if measure.chance is not None and estimate.high < measure.chance:
        return "below guessing: the scores point the wrong way round"
    return ""


def best_guess_words(finding: Finding) -> str:
    """Return what guesses best without the release."""
    if finding.attribute:
        return "the best guess without the release"
    if finding.is_guessed_from_inputs:
        return f"best guess from {finding.own.alone}, without the {finding.own.what}"
    return "guessing"


def _mark(measure: Measure, estimate: Estimate) -> Mark | None:
    ends = [100 * x for x in (estimate.low, estimate.value, estimate.high)]
    drawable = measure.limits == (0.0, 1.0) and not measure.is_share and measure.chance is not None
    if not drawable or not all(map(math.isfinite, ends)):
        return None
    return Mark(ends[0], ends[1], ends[2], 100 * (measure.chance or 0.0))


def estimate_cell(estimate: Estimate, *, share: bool = False) -> Cell:
    """Return a cell that shows an estimate with its interval."""
    text, note = between(estimate, share=share)
    return Cell(text, note, sortable(estimate.value))


def epsilon_cell(found: EpsilonBound | None, why_not: str | None) -> Cell:
    """Return a certificate with its ceiling; where there is none, why."""
    if found is None:
        return Cell("–", title=f"no certificate: {why_not}")
    value, ceiling = float(found), rounded_down(float(found.ceiling))
    return Cell(bound(value), f"of at most {ceiling}", sortable(value), str(found))


def target_text(finding: Finding) -> str:
    """Return the name of a finding's target, with the attribute that was guessed."""
    name = finding.target or "all records"
    return f"{name}: {finding.attribute}" if finding.attribute else name


def sortable(value: float) -> str:
    """Return a number for sorting; infinities at the ends, nothing for NaN."""
    if math.isnan(value):
        return ""
    return repr(float(value)) if math.isfinite(value) else repr(math.copysign(1e308, value))
