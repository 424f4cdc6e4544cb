"""Summaries of membership and attribute inference: outcomes with a description of the game."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tapas import metrics
from tapas._validate import listing
from tapas.errors import ConfigError
from tapas.results._filenames import file_safe
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)

__all__ = ["AIAttackSummary", "BinaryAIAttackSummary", "MIAttackSummary"]


class _Described(LabelInferenceAttackSummary):
    """A summary that knows what was attacked, how, on which data and about whom."""

    generator: Any
    attack: Any
    dataset: Any
    target_id: Any

    def _describe(self, generator: Any, attack: Any, dataset: Any, target_id: Any) -> None:
        self.generator = generator
        self.attack = attack
        self.dataset = dataset
        self.target_id = target_id

    def _description(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "target_id": self.target_id,
            "generator": self.generator,
            "attack": self.attack,
        }

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | {
            "generator_info": self.generator,
            "attack_info": self.attack,
            "dataset_info": self.dataset,
            "target_id": self.target_id,
        }

    def _filename(self, kind: str, *parts: object) -> str:
        words = [self.dataset, self.attack, self.generator, f"Target{self.target_id}", *parts]
        return file_safe("_".join(str(word) for word in ("result", kind, *words))) + ".csv"


class MIAttackSummary(_Described, BinaryLabelInferenceAttackSummary):
    """Outcome of a membership inference attack on one target.

    Parameters
    ----------
    labels, predictions
        Whether the target was, and was guessed to be, a member.
    scores
        Score of each trial, higher meaning likelier a member; optional.
    generator_info, attack_info, dataset_info, target_id
        Display names of the mechanism, the attack, the data and the target.
    groups, relation
        As in `LabelInferenceAttackSummary`.
    """

    def __init__(
        self,
        labels: Any,
        predictions: Any,
        scores: Any = None,
        generator_info: Any = "",
        attack_info: Any = "",
        dataset_info: Any = "",
        target_id: Any = "",
        *,
        groups: Any = None,
        relation: str | None = None,
    ) -> None:
        BinaryLabelInferenceAttackSummary.__init__(
            self, labels, predictions, scores, True, groups=groups, relation=relation
        )
        self._describe(generator_info, attack_info, dataset_info, target_id)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return self._filename("mia", postfix)


class AIAttackSummary(_Described):
    """Outcome of an attribute inference attack on one target, for any number of values.

    Parameters
    ----------
    labels, predictions
        True and guessed value of each trial.
    scores
        Array of shape (trials, values), higher meaning likelier; optional.
    generator_info, attack_info, dataset_info, target_id
        Display names of the mechanism, the attack, the data and the target.
    sensitive_attribute
        Name of the attribute that is guessed.
    attribute_values
        Its values, in the order of the columns of `scores`. By default the sorted
        values that occur.
    groups, relation
        As in `LabelInferenceAttackSummary`.
    """

    def __init__(
        self,
        labels: Any,
        predictions: Any,
        scores: Any = None,
        generator_info: Any = "",
        attack_info: Any = "",
        dataset_info: Any = "",
        target_id: Any = "",
        sensitive_attribute: Any = "",
        *,
        attribute_values: Sequence[Any] | None = None,
        groups: Any = None,
        relation: str | None = None,
    ) -> None:
        LabelInferenceAttackSummary.__init__(
            self, labels, predictions, scores, groups=groups, relation=relation
        )
        self._describe(generator_info, attack_info, dataset_info, target_id)
        self.sensitive_attribute = sensitive_attribute
        self.attribute_values = self._ordered_values(attribute_values)

    @property
    def per_value_rates(self) -> pd.DataFrame:
        """Rates of each value against the rest: one row per value."""
        rates = metrics.value_rates(self.labels, self.predictions, self.attribute_values)
        return pd.DataFrame(rates._asdict()).rename(columns={"values": "value"})

    @property
    def macro_auc(self) -> float:
        """Mean one-against-rest AUC; decisions serve as scores where there are none."""
        return metrics.macro_auc(self.labels, self.value_scores, self.attribute_values)

    @property
    def value_scores(self) -> NDArray[np.float64]:
        """Scores of shape (trials, values); 1 for the guessed value where there are none."""
        if self.scores is not None and self.scores.ndim == 2:
            return self.scores
        guessed = self.predictions[:, None] == np.asarray(self.attribute_values)
        return guessed.astype(np.float64)

    def resampled_metrics(
        self, num_replicates: int, *, rng: np.random.Generator
    ) -> dict[str, NDArray[np.float64]]:
        """Bootstrap the metrics, drawing dependent trials together."""
        return metrics.resampled_value_metrics(
            self.labels,
            self.predictions,
            self.value_scores,
            self.attribute_values,
            num_replicates=num_replicates,
            rng=rng,
            groups=self.groups,
        )

    def get_header(self) -> list[str]:
        """Return the names of the columns of `get_metrics`."""
        return list(self.get_metrics().columns)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return self._filename("aia", self.sensitive_attribute, postfix)

    def _ordered_values(self, given: Sequence[Any] | None) -> tuple[Any, ...]:
        occurring = np.unique(np.concatenate([self.labels, self.predictions])).tolist()
        values = tuple(occurring if given is None else given)
        columns = (
            self.scores.shape[1] if self.scores is not None and self.scores.ndim == 2 else None
        )
        if columns not in (None, len(values)):
            raise ConfigError(
                f"scores have {columns} columns but {len(values)} values are known; "
                "pass attribute_values=, the values in column order"
            )
        unknown = sorted(set(self.labels.tolist()) - set(values), key=str)
        if unknown:
            raise ConfigError(
                f"attribute_values lacks {listing(unknown)}, which occur as labels; "
                "a guess may be any value, a secret may not"
            )
        return values

    def _description(self) -> dict[str, Any]:
        return super()._description() | {"sensitive_attribute": self.sensitive_attribute}

    def _metric_values(self) -> dict[str, float]:
        return {
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "macro_auc": self.macro_auc,
        }

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | {
            "sensitive_attribute": self.sensitive_attribute,
            "attribute_values": self.attribute_values,
        }


class BinaryAIAttackSummary(_Described, BinaryLabelInferenceAttackSummary):
    """Outcome of an attribute inference attack on one target, for an attribute of two values.

    Parameters
    ----------
    labels, predictions
        True and guessed value of each trial.
    scores
        Score of each trial, higher meaning likelier the positive value; optional.
    generator_info, attack_info, dataset_info, target_id
        Display names of the mechanism, the attack, the data and the target.
    sensitive_attribute
        Name of the attribute that is guessed.
    positive_value
        The value that becomes 1; the other becomes 0.
    groups, relation
        As in `LabelInferenceAttackSummary`.
    """

    def __init__(
        self,
        labels: Any,
        predictions: Any,
        scores: Any = None,
        generator_info: Any = "",
        attack_info: Any = "",
        dataset_info: Any = "",
        target_id: Any = "",
        sensitive_attribute: Any = "",
        positive_value: Any = 1,
        *,
        groups: Any = None,
        relation: str | None = None,
    ) -> None:
        BinaryLabelInferenceAttackSummary.__init__(
            self, labels, predictions, scores, positive_value, groups=groups, relation=relation
        )
        self._describe(generator_info, attack_info, dataset_info, target_id)
        self.sensitive_attribute = sensitive_attribute

    def get_header(self) -> list[str]:
        """Return the names of the columns of `get_metrics`."""
        return list(self.get_metrics().columns)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return self._filename("aia", self.sensitive_attribute, postfix)

    def _description(self) -> dict[str, Any]:
        return super()._description() | {"sensitive_attribute": self.sensitive_attribute}

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | {"sensitive_attribute": self.sensitive_attribute}
