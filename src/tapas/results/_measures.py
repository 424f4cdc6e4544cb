"""Every metric of a summary, one row each: what it is called, how it is computed and bounded.

Tables, reports, bootstraps, facts, gates and pages take their metrics from `MEASURES`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tapas.metrics import CountedOutcomes
from tapas.results._best_guess import accuracy_gain, accuracy_gain_interval
from tapas.results._over_values import balanced_accuracy_interval, macro_auc_interval
from tapas.results._worlds import Worlds, share
from tapas.stats import Dependence, Interval, auc_gain_interval

if TYPE_CHECKING:
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["ALL_METRICS", "DEFAULT_METRICS", "GATE_METRICS", "LOW_FPR", "MEASURES", "Measure"]

LOW_FPR = 0.01

SecretKind = Literal["label", "binary", "values"]
ANY: tuple[SecretKind, ...] = ("label", "binary", "values")
BINARY: tuple[SecretKind, ...] = ("binary",)
VALUES: tuple[SecretKind, ...] = ("values",)


@dataclass(frozen=True)
class Measure:
    """One metric.

    Attributes
    ----------
    name : str
        As columns of tables and reports call it.
    title, note : str
        As people write it, and what it says in one line.
    point : callable
        The value for a summary, read from the summary so that subclasses may redefine it.
    interval : callable, optional
        ``interval(summary, confidence)``: closed form for independent trials and whole pairs, None
        where it has none; a bootstrap stands in.
    resampled : callable, optional
        The values for resampled trials that were counted; without it each resample is computed by
        `point`.
    limits : pair of float
        Smallest and largest possible value.
    axis : pair of float
        Smallest range that an axis shows.
    chance : float, optional
        Value of an attack that learns nothing.
    kinds, columns : tuple
        Kinds of secret for which it is defined, and for which tables show it by default.
    fact : str, optional
        Name among the facts of a summary, which pages and verdicts show with intervals.
    gate : str, optional
        Name by which a gate may limit it.
    of_records : bool
        Whether tables about the records of one release show it as well.
    beside_inputs : bool
        Whether it needs to be known what the inputs alone tell.
    of_guesses : bool
        Whether it is made of guesses, and not of scores.
    of_attributes : bool
        Whether it is about guessed values only: of an attribute, or of more than two.
    compares_worlds : bool
        Whether it needs trials of both kinds of secret.
    is_share : bool
        Whether people read it as a percentage.
    is_epsilon : bool
        Whether it speaks of the mechanism's epsilon, which dependent trials cannot show.
    at_fpr : callable, optional
        The same measure at another false positive rate.
    turns_about : float, optional
        Where guesses between two secrets are all turned round, a value as far on the other side of
        this one: below it an attack tells as much as above. None where that does not hold.
    turned : callable, optional
        ``turned(summary, confidence)``: the interval of the guesses turned round, where it does not
        follow from `interval`.
    """

    name: str
    title: str
    note: str
    point: Callable[[Any], float]
    interval: Callable[[Any, float], Interval | None] | None = None
    resampled: Callable[[CountedOutcomes], NDArray[np.float64]] | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    axis: tuple[float, float] = (0.0, 1.0)
    chance: float | None = None
    kinds: tuple[SecretKind, ...] = BINARY
    columns: tuple[SecretKind, ...] = ()
    fact: str | None = None
    gate: str | None = None
    of_records: bool = False
    beside_inputs: bool = False
    of_guesses: bool = False
    of_attributes: bool = False
    compares_worlds: bool = False
    is_share: bool = False
    is_epsilon: bool = False
    at_fpr: "Callable[[float], Measure] | None" = None
    turns_about: float | None = None
    turned: Callable[[Any, float], Interval | None] | None = None

    def is_defined_for(self, summary: "LabelInferenceAttackSummary") -> bool:
        """Whether summaries of this kind have it."""
        return self.is_defined_of(
            summary.secret_kind,
            of_attribute=str(summary.sensitive_attribute) != "",
            beside_inputs=summary.inputs_alone is not None,
        )

    def is_defined_of(self, kind: SecretKind, *, of_attribute: bool, beside_inputs: bool) -> bool:
        """Whether such secrets have it: of an attribute or not, with what inputs tell or not."""
        known = beside_inputs or not self.beside_inputs
        guessed = of_attribute or kind == "values" or not self.of_attributes
        return known and guessed and kind in self.kinds

    def is_shown_for(self, summary: "LabelInferenceAttackSummary") -> bool:
        """Whether the table of a summary has it by default.

        That of the records of one release has precision and recall, and no epsilon.
        """
        if summary.dependence is Dependence.ONE_RELEASE:
            if self.is_epsilon:
                return False
            if self.of_records and self.is_defined_for(summary):
                return True
        return summary.secret_kind in self.columns


def _accuracy(summary: "LabelInferenceAttackSummary", confidence: float) -> Interval | None:
    if summary.secret_kind == "binary":
        return Worlds.of(summary).accuracy(confidence)
    if summary.dependence is Dependence.PAIRS:
        return None
    right = int(np.sum(summary.labels == summary.predictions))
    return share(right, len(summary), confidence)


def _of_worlds(
    interval: Callable[[Worlds, float], Interval | None],
) -> Callable[[Any, float], Interval | None]:
    return lambda summary, confidence: interval(Worlds.of(summary), confidence)


def _auc_gain(summary: Any, confidence: float) -> Interval:
    """Where inputs tell nothing it is that of the AUC; it ends where an AUC of 1 does."""
    worlds, inputs = Worlds.of(summary), Worlds.of_inputs(summary)
    way = 1.0 if summary.auc >= 0.5 else -1.0
    area, alone = worlds.area(confidence), inputs.area(confidence)
    if area is not None and len(np.unique(summary.inputs_alone)) == 1:
        return _turned(area, way, -way / 2)
    found = auc_gain_interval(
        (way * worlds.positive, inputs.positive),
        (way * worlds.negative, inputs.negative),
        confidence=confidence,
    )
    most = 1.0 if alone is None else 1 - alone.low
    return found if found.high <= most else type(found)(found.low, most, found.value)


def _turned(interval: Interval, scale: float, shift: float) -> Interval:
    """The interval of ``shift + scale * value``."""
    low, high = sorted(shift + scale * end for end in (interval.low, interval.high))
    return Interval(low, high, shift + scale * interval.value)


def _tpr_at(fpr: float) -> Measure:
    return Measure(
        name="tpr_at_fpr",
        title=f"TPR at {100 * fpr:g}% FPR",
        note=f"Share of secrets found where the attack is surest, with {100 * fpr:g}% false "
        f"alarms; {100 * fpr:g}% is guessing",
        point=lambda summary: summary.tpr_at_fpr(fpr).tpr,
        interval=_of_worlds(lambda worlds, confidence: worlds.found_at(fpr, confidence)),
        chance=fpr,
        fact="tpr_at_low_fpr",
        gate="tpr_at_fpr",
        compares_worlds=True,
        of_records=True,
        is_share=True,
        at_fpr=_tpr_at,
        turned=_of_worlds(lambda worlds, confidence: worlds.lost_at(fpr, confidence)),
    )


MEASURES = (
    Measure(
        name="accuracy",
        title="Accuracy",
        note="Share of trials in which the secret was guessed; anything above guessing is a leak",
        point=lambda summary: summary.accuracy,
        interval=_accuracy,
        resampled=lambda counted: counted.accuracy,
        chance=0.5,
        kinds=ANY,
        columns=ANY,
        fact="accuracy",
        gate="accuracy",
        is_share=True,
        turns_about=0.5,
        of_guesses=True,
    ),
    Measure(
        name="accuracy_gain",
        title="Above the best guess",
        note="Accuracy beyond that of the best guess without the release, which knows how common "
        "each value is and, where they may tell, the other attributes; 0 is no leak",
        point=accuracy_gain,
        interval=accuracy_gain_interval,
        limits=(-1.0, 1.0),
        axis=(0.0, 0.5),
        chance=0.0,
        kinds=("binary", "values"),
        columns=VALUES,
        of_attributes=True,
        fact="accuracy_gain",
        gate="accuracy_gain",
        is_share=True,
        turned=lambda summary, confidence: accuracy_gain_interval(summary, confidence, turned=True),
        of_guesses=True,
    ),
    Measure(
        name="true_positive_rate",
        title="True positive rate",
        note="Share of the positive trials that were guessed positive",
        point=lambda summary: summary.tp,
        interval=_of_worlds(Worlds.rate),
        resampled=lambda counted: counted.true_positive_rate,
        columns=BINARY,
        of_guesses=True,
    ),
    Measure(
        name="false_positive_rate",
        title="False positive rate",
        note="Share of the negative trials that were guessed positive",
        point=lambda summary: summary.fp,
        interval=_of_worlds(Worlds.false_alarms),
        resampled=lambda counted: counted.false_positive_rate,
        columns=BINARY,
        of_guesses=True,
    ),
    Measure(
        name="mia_advantage",
        title="Advantage",
        note="True minus false positive rate of the decisions; 0 is guessing, 1 a complete leak",
        point=lambda summary: summary.mia_advantage,
        interval=_of_worlds(Worlds.advantage),
        resampled=lambda counted: counted.mia_advantage,
        limits=(-1.0, 1.0),
        chance=0.0,
        columns=BINARY,
        compares_worlds=True,
        fact="advantage",
        gate="advantage",
        turns_about=0.0,
        of_guesses=True,
    ),
    Measure(
        name="privacy_gain",
        title="Privacy gain",
        note="One minus the advantage; 1 is no leak",
        point=lambda summary: summary.privacy_gain,
        interval=_of_worlds(lambda w, confidence: _turned(w.advantage(confidence), -1, 1)),
        resampled=lambda counted: 1 - counted.mia_advantage,
        limits=(0.0, 2.0),
        chance=1.0,
        columns=BINARY,
        compares_worlds=True,
        of_guesses=True,
    ),
    Measure(
        name="auc",
        title="AUC",
        note="Chance that a case with the secret is ranked above one without; 0.5 is guessing, 1 a "
        "complete leak",
        point=lambda summary: summary.auc,
        interval=_of_worlds(Worlds.area),
        resampled=lambda counted: counted.auc,
        chance=0.5,
        columns=BINARY,
        compares_worlds=True,
        fact="auc",
        gate="auc",
        turns_about=0.5,
    ),
    Measure(
        name="inputs_auc",
        title="AUC of inputs alone",
        note="What records, their classes and how well these fit tell without model or release; "
        "0.5 where members and others are alike. Above it, they come from different populations",
        point=lambda summary: summary.inputs_auc,
        interval=lambda summary, confidence: Worlds.of_inputs(summary).area(confidence),
        chance=0.5,
        compares_worlds=True,
        beside_inputs=True,
        of_records=True,
        fact="inputs_auc",
    ),
    Measure(
        name="auc_gain",
        title="AUC gain",
        note="AUC beyond what records alone tell: the part of the model or release; 0 is no leak",
        point=lambda summary: summary.auc_gain,
        interval=_auc_gain,
        limits=(-1.0, 1.0),
        axis=(0.0, 0.5),
        chance=0.0,
        compares_worlds=True,
        beside_inputs=True,
        of_records=True,
        fact="auc_gain",
        gate="auc_gain",
    ),
    Measure(
        name="effective_epsilon",
        title="Effective epsilon",
        note="Epsilon that the best threshold seems to show; claims no confidence",
        point=lambda summary: summary.effective_epsilon,
        interval=lambda summary, confidence: Interval(0.0, math.inf, summary.effective_epsilon),
        resampled=lambda counted: counted.effective_epsilon,
        limits=(0.0, math.inf),
        axis=(0.0, 2.0),
        chance=0.0,
        columns=BINARY,
        compares_worlds=True,
        is_epsilon=True,
    ),
    Measure(
        name="balanced_accuracy",
        title="Balanced accuracy",
        note="Mean over the secrets that occur of the share guessed right",
        point=lambda summary: summary.balanced_accuracy,
        interval=balanced_accuracy_interval,
        resampled=lambda counted: counted.balanced_accuracy,
        kinds=ANY,
        columns=VALUES,
        of_guesses=True,
    ),
    Measure(
        name="macro_auc",
        title="Macro AUC",
        note="Mean AUC of each value against the rest",
        point=lambda summary: summary.macro_auc,
        interval=macro_auc_interval,
        resampled=lambda counted: counted.macro_auc,
        chance=0.5,
        kinds=VALUES,
        columns=VALUES,
    ),
    Measure(
        name="precision",
        title="Precision",
        note="Share of the positive guesses that were right; guessing gives the share of positive "
        "trials among all, with which it rises and falls",
        point=lambda summary: summary.precision,
        interval=_of_worlds(Worlds.precision),
        resampled=lambda counted: counted.precision,
        compares_worlds=True,
        fact="precision",
        gate="precision",
        of_records=True,
        is_share=True,
        of_guesses=True,
    ),
    Measure(
        name="recall",
        title="Recall",
        note="Share of the positive trials that were guessed positive (the true positive rate); "
        "says nothing without the precision",
        point=lambda summary: summary.recall,
        interval=_of_worlds(Worlds.rate),
        resampled=lambda counted: counted.true_positive_rate,
        fact="recall",
        gate="recall",
        is_share=True,
        of_records=True,
        of_guesses=True,
    ),
    _tpr_at(LOW_FPR),
)

ALL_METRICS = tuple(measure.name for measure in MEASURES if "binary" in measure.columns)
DEFAULT_METRICS = ("accuracy", "privacy_gain", "auc")
# What gates limit beside metrics, and its range. Epsilon is a bound: it has no value without a
# confidence.
OTHER_LIMITS = {
    "epsilon": (0.0, math.inf),
    "exposed_people": (0.0, 1.0),
    "dropped_columns": (0.0, math.inf),
    "accuracy_gap": (0.0, 1.0),
    "accuracy_ratio": (0.0, math.inf),
    "copied_records": (0.0, math.inf),
}
GATE_METRICS = (*(measure.gate for measure in MEASURES if measure.gate), *OTHER_LIMITS)
