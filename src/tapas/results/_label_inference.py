"""Summaries of attacks that guess a label, whatever the label stands for."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tapas import metrics
from tapas._validate import check_choice
from tapas.errors import ConfigError
from tapas.results._arrays import RELATIONS, decisions, equal_to, group_ids, score_array
from tapas.results._filenames import file_safe
from tapas.results._summary import AttackSummary

__all__ = ["BinaryLabelInferenceAttackSummary", "LabelInferenceAttackSummary"]


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

    Attributes
    ----------
    labels, predictions, scores, groups
        Read-only arrays; `scores` and `groups` may be None.
    """

    def __init__(
        self,
        labels: Any,
        predictions: Any,
        scores: Any = None,
        *,
        groups: Any = None,
        relation: str | None = None,
    ) -> None:
        self.labels = decisions(labels, "labels")
        self.predictions = decisions(predictions, "predictions")
        if len(self.labels) != len(self.predictions):
            raise ConfigError(
                "labels and predictions must have equal length, "
                f"got {len(self.labels)} and {len(self.predictions)}"
            )
        self.scores = score_array(scores, len(self.labels))
        self.groups = group_ids(groups, len(self.labels))
        self.relation = None if relation is None else check_choice(relation, "relation", RELATIONS)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        facts = [f"{name}={value!r}" for name, value in self._description().items()]
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
        return pd.DataFrame([self._description() | self._metric_values()])

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return file_safe(f"result_labelIA_{postfix}") + ".csv"

    def _description(self) -> dict[str, Any]:
        return {}

    def _metric_values(self) -> dict[str, float]:
        return {"accuracy": self.accuracy}

    def _fields(self) -> dict[str, Any]:
        return {
            "labels": self.labels,
            "predictions": self.predictions,
            "scores": self.scores,
            "groups": self.groups,
            "relation": self.relation,
        }


class BinaryLabelInferenceAttackSummary(LabelInferenceAttackSummary):
    """Outcome of an attack that guesses one of two labels.

    Parameters
    ----------
    labels, predictions, scores, groups, relation
        As in `LabelInferenceAttackSummary`; `scores` has one number per trial,
        higher meaning likelier positive.
    positive_label
        The label that becomes 1; every other one becomes 0.

    Attributes
    ----------
    labels, predictions
        Read-only arrays of 0 and 1.
    """

    def __init__(
        self,
        labels: Any,
        predictions: Any,
        scores: Any = None,
        positive_label: Any = 1,
        *,
        groups: Any = None,
        relation: str | None = None,
    ) -> None:
        LabelInferenceAttackSummary.__init__(
            self, labels, predictions, scores, groups=groups, relation=relation
        )
        self._map_to_binary(positive_label)

    def _map_to_binary(self, positive_label: Any) -> None:
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
        """Area under the ROC curve; decisions serve as scores where there are none."""
        return metrics.auc(self.labels, self._scores_or_decisions())

    @property
    def effective_epsilon(self) -> float:
        """Point estimate, over thresholds, of the epsilon the attack shows; may be infinite.

        It claims no confidence: `tapas.report.EffectiveEpsilonReport` gives a bound.
        """
        if self.scores is None:
            return metrics.effective_epsilon_from_rates(self.tp, self.fp)
        return metrics.effective_epsilon(self.labels, self.scores)

    def tpr_at_fpr(self, fpr: float) -> metrics.OperatingPoint:
        """Largest true positive rate at false positive rate at most `fpr`, not interpolated."""
        return metrics.tpr_at_fpr(self.labels, self._scores_or_decisions(), fpr)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return file_safe(f"BinaryLIAttack_result_{postfix}") + ".csv"

    def resampled_metrics(
        self, num_replicates: int, *, rng: np.random.Generator
    ) -> dict[str, NDArray[np.float64]]:
        """Bootstrap the metrics, drawing dependent trials together."""
        return metrics.resampled_metrics(
            self.labels,
            self.predictions,
            self.scores,
            num_replicates=num_replicates,
            rng=rng,
            groups=self.groups,
        )

    def _scores_or_decisions(self) -> NDArray[Any]:
        return self.predictions if self.scores is None else self.scores

    def _metric_values(self) -> dict[str, float]:
        tpr, fpr = self.tp, self.fp
        without_scores = self.scores is None
        return {
            "accuracy": self.accuracy,
            "true_positive_rate": tpr,
            "false_positive_rate": fpr,
            "mia_advantage": tpr - fpr,
            "privacy_gain": 1 - (tpr - fpr),
            "auc": self.auc,
            "effective_epsilon": metrics.effective_epsilon_from_rates(tpr, fpr)
            if without_scores
            else self.effective_epsilon,
        }
