"""Summaries of attacks that guess a label, whatever the label stands for."""

import copy
import warnings
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self, TypedDict, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tapas import metrics
from tapas._validate import check_choice, check_probability
from tapas.errors import ConfigError, TapasWarning
from tapas.game import Relation, Value
from tapas.results._arrays import RELATIONS, decisions, equal_to, group_ids, score_array
from tapas.results._filenames import file_safe
from tapas.results._measures import MEASURES, SecretKind
from tapas.results._resampling import named_metrics, resampled_metrics
from tapas.results._summary import AttackSummary
from tapas.stats import Dependence

__all__ = ["BinaryLabelInferenceAttackSummary", "LabelInferenceAttackSummary", "TrialFacts"]


class TrialFacts(TypedDict, total=False):
    """What is known of the trials besides their outcomes."""

    groups: ArrayLike | None
    relation: Relation | None
    dependence: Dependence | str | None
    error_share: float
    inputs_alone: ArrayLike | None
    chance: float | None


class About(TrialFacts, total=False):
    """The same, and display names of what was attacked."""

    generator_info: object
    attack_info: object
    dataset_info: object
    target_id: object


class LabelInferenceAttackSummary(AttackSummary):
    """Outcome of an attack that guesses a label.

    Parameters
    ----------
    labels
        True label of each trial.
    predictions
        Guessed label of each trial.
    scores
        Score of each trial (or one column per value); optional.
    groups
        Integer per trial; equal integers mark dependent trials, such as the two of
        a pair. None: all trials are independent.
    relation
        Which neighbours were played, "add/remove" or "replace"; None if unknown.
    dependence
        How trials depend on each other (`Dependence`); None reads it off `groups`.
    error_share
        What part of an error each bound may spend, where results are looked at several times as
        trials are added (`tapas.stats.look_share`).
    inputs_alone
        What the inputs tell of the secret without the release, like `scores`; None if unknown.
    chance
        How often the best guess without the release is right, where the secrets were drawn by known
        probabilities; by default that is estimated from the trials.
    generator_info, attack_info, dataset_info, target_id
        Display names of the mechanism, the attack, the data and the target.

    Attributes
    ----------
    labels, predictions, scores, groups, inputs_alone
        Read-only arrays; the last three may be None.
    dependence : Dependence
    generator, attack, dataset, target_id
        The display names.
    sensitive_attribute
        Name of the attribute that is guessed; empty where none is.
    secret_kind : {"label", "binary", "values"}
        Which measures are defined.
    """

    secret_kind: ClassVar[SecretKind] = "label"
    sensitive_attribute: object = ""

    def __init__(
        self,
        labels: Iterable[object],
        predictions: Iterable[object],
        scores: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        relation: Relation | None = None,
        dependence: Dependence | str | None = None,
        error_share: float = 1.0,
        inputs_alone: ArrayLike | None = None,
        chance: float | None = None,
        generator_info: object = "",
        attack_info: object = "",
        dataset_info: object = "",
        target_id: object = "",
    ) -> None:
        self.labels = decisions(labels, "labels")
        self.predictions = decisions(predictions, "predictions")
        if len(self.labels) != len(self.predictions):
            raise ConfigError(
                "labels and predictions must have equal length, "
                f"got {len(self.labels)} and {len(self.predictions)}"
            )
        self.scores = score_array(scores, len(self.labels))
        self.inputs_alone = score_array(inputs_alone, len(self.labels))
        self.groups = group_ids(groups, len(self.labels))
        self.relation = None if relation is None else check_choice(relation, "relation", RELATIONS)
        self.dependence = Dependence.stated(dependence, self.labels, self.groups)
        self.error_share = check_probability(error_share, "error_share")
        self.chance = None if chance is None else check_probability(chance, "chance")
        self._describe(generator_info, attack_info, dataset_info, target_id)

    def _describe(
        self, generator: object, attack: object, dataset: object, target_id: object
    ) -> None:
        self.generator = generator
        self.attack = attack
        self.dataset = dataset
        self.target_id = target_id

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        facts = [f"{name}={value!r}" for name, value in self.described().items()]
        return f"{type(self).__name__}({', '.join([*facts, f'{len(self)} trials'])})"

    @property
    def accuracy(self) -> float:
        """Share of trials in which the guess was right."""
        return metrics.accuracy(self.labels, self.predictions)

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the labels that occur of the share guessed right."""
        return metrics.balanced_accuracy(self.labels, self.predictions)

    def get_metrics(self) -> pd.DataFrame:
        """Return a data frame of one row: what was attacked, then the metrics."""
        shown = [measure for measure in MEASURES if measure.is_shown_for(self)]
        return pd.DataFrame([self.described() | {m.name: m.point(self) for m in shown}])

    def resampled_metrics(
        self,
        num_replicates: int,
        names: Sequence[str] | None = None,
        *,
        rng: np.random.Generator,
    ) -> dict[str, NDArray[np.float64]]:
        """Bootstrap metrics, those of `get_metrics` by default, drawing dependent trials together.

        NaN where nobody knows how trials depend on each other.
        """
        return resampled_metrics(self, num_replicates, named_metrics(self, names), rng=rng)

    def drawn(self, trials: NDArray[np.intp]) -> Self:
        """The same summary of some of its trials, in that order; one may occur several times."""
        found = copy.copy(self)
        found.labels, found.predictions = self.labels[trials], self.predictions[trials]
        found.scores = None if self.scores is None else self.scores[trials]
        found.groups = None if self.groups is None else self.groups[trials]
        alone = self.inputs_alone
        found.inputs_alone = None if alone is None else alone[trials]
        return found

    def sharing(self, error_share: float) -> Self:
        """The same summary as one of several looks."""
        found = copy.copy(self)
        found.error_share = check_probability(error_share, "error_share")
        return found

    @property
    def has_one_secret(self) -> bool:
        """Whether all trials have the same secret."""
        return len(set(self.labels.tolist())) < 2

    def outcomes(self) -> metrics.Outcomes:
        """Its trials, ready to be counted many times."""
        return metrics.Outcomes(self.labels, self.predictions, self.scores)

    @property
    def num_units(self) -> int:
        """How many trials, or groups of dependent ones, there are; each record of one release."""
        if self.groups is None or self.dependence.is_by_record:
            return len(self)
        return len(np.unique(self.groups))

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return file_safe(f"result_labelIA_{postfix}") + ".csv"

    def _fields(self) -> dict[str, object]:
        alone = {} if self.inputs_alone is None else {"inputs_alone": self.inputs_alone}
        known = {} if self.chance is None else {"chance": self.chance}
        return {
            **alone,
            **known,
            "labels": self.labels,
            "predictions": self.predictions,
            "scores": self.scores,
            "groups": self.groups,
            "relation": self.relation,
            "dependence": str(self.dependence),
            "error_share": self.error_share,
            "generator_info": self.generator,
            "attack_info": self.attack,
            "dataset_info": self.dataset,
            "target_id": self.target_id,
        }


class BinaryLabelInferenceAttackSummary(LabelInferenceAttackSummary):
    """Outcome of an attack that guesses one of two labels.

    Parameters
    ----------
    labels, predictions, scores, groups, relation, dependence
        As in `LabelInferenceAttackSummary`, and the display names; `scores` has one
        number per trial, higher meaning likelier positive.
    positive_label
        The label that becomes 1; every other one becomes 0.

    Attributes
    ----------
    labels, predictions
        Read-only arrays of 0 and 1.
    """

    secret_kind = "binary"

    def __init__(
        self,
        labels: Iterable[object],
        predictions: Iterable[object],
        scores: ArrayLike | None = None,
        positive_label: Value = 1,
        **about: Unpack[About],
    ) -> None:
        LabelInferenceAttackSummary.__init__(self, labels, predictions, scores, **about)
        self._map_to_binary(positive_label)

    def _map_to_binary(self, positive_label: Value) -> None:
        self.positive_label = positive_label
        self.labels = equal_to(self.labels, positive_label)
        self.predictions = equal_to(self.predictions, positive_label)
        if self.scores is not None and self.scores.ndim == 2:
            raise ConfigError(
                "a binary summary needs one score per trial, that of the positive label, "
                f"got shape {self.scores.shape}"
            )

    @property
    def tp(self) -> float:
        """True positive rate: share of the positive trials that were guessed positive."""
        return metrics.true_positive_rate(self.labels, self.predictions)

    @property
    def fp(self) -> float:
        """False positive rate: share of the negative trials that were guessed positive."""
        return metrics.false_positive_rate(self.labels, self.predictions)

    @property
    def recall(self) -> float:
        """The true positive rate under its other name."""
        return self.tp

    @property
    def precision(self) -> float:
        """Share of the positive guesses that were right."""
        return metrics.precision(self.labels, self.predictions)

    @property
    def mia_advantage(self) -> float:
        """True positive rate minus false positive rate, after Stadler et al."""
        return self.tp - self.fp

    @property
    def privacy_gain(self) -> float:
        """One minus the advantage, after Stadler et al."""
        return 1 - self.mia_advantage

    @property
    def auc(self) -> float:
        """Area under the ROC curve; decisions serve as scores where there are none.

        NaN, with a warning, where a score is NaN.
        """
        missing = 0 if self.scores is None else int(np.isnan(self.scores).sum())
        if missing:
            about = f" against target {self.target_id}" if str(self.target_id) else ""
            warnings.warn(
                f"the AUC of {self.attack or 'an attack'}{about} is NaN: {missing} of its "
                f"{len(self)} scores are NaN (intervals count them as the lowest)",
                TapasWarning,
                stacklevel=2,
            )
            return float("nan")
        return metrics.auc(self.labels, self._scores_or_decisions())

    @property
    def inputs_auc(self) -> float:
        """AUC of what the inputs alone tell; NaN where that is not known."""
        if self.inputs_alone is None:
            return float("nan")
        return metrics.auc(self.labels, self.inputs_alone)

    @property
    def auc_gain(self) -> float:
        """AUC, turned round where members rank last, beyond that of the inputs alone."""
        return max(self.auc, 1 - self.auc) - self.inputs_auc

    @property
    def effective_epsilon(self) -> float:
        """Point estimate, over thresholds, of the epsilon the attack shows; may be infinite.

        It claims no confidence: `tapas.report.EffectiveEpsilonReport` gives a bound. NaN where
        trials depend on each other so that they show no epsilon (`dependence`).
        """
        if self.dependence.refusal is not None:
            return float("nan")
        if self.scores is None:
            return metrics.effective_epsilon_from_rates(self.tp, self.fp)
        return metrics.effective_epsilon(self.labels, self.scores)

    def tpr_at_fpr(self, fpr: float) -> metrics.OperatingPoint:
        """Largest true positive rate at false positive rate at most `fpr`, not interpolated."""
        return metrics.tpr_at_fpr(self.labels, self._scores_or_decisions(), fpr)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return file_safe(f"BinaryLIAttack_result_{postfix}") + ".csv"

    def _scores_or_decisions(self) -> NDArray[np.generic]:
        return self.predictions if self.scores is None else self.scores
