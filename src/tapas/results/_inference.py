"""Summaries of membership and attribute inference: outcomes with a description of the game."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tapas import metrics
from tapas._validate import listing
from tapas.errors import ConfigError
from tapas.game import Value
from tapas.results._arrays import decisions
from tapas.results._best_guess import accuracy_gain, best_guess
from tapas.results._filenames import file_safe
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    TrialFacts,
)

__all__ = ["AIAttackSummary", "BinaryAIAttackSummary", "MIAttackSummary"]


class _Described(LabelInferenceAttackSummary):
    """A summary whose table and files say what was attacked, how, on which data and about whom."""

    def described(self) -> dict[str, object]:
        """What was attacked, as the first columns of tables show it."""
        return {
            "dataset": self.dataset,
            "target_id": self.target_id,
            "generator": self.generator,
            "attack": self.attack,
        }

    def _filename(self, kind: str, *parts: object) -> str:
        words = [self.dataset, self.attack, self.generator, f"Target{self.target_id}", *parts]
        return file_safe("_".join(str(word) for word in ("result", kind, *words))) + ".csv"


class _AboutAttribute(_Described):
    """The same, of an attack that guesses an attribute."""

    def __init__(
        self,
        labels: Iterable[object],
        predictions: Iterable[object],
        scores: ArrayLike | None = None,
        generator_info: object = "",
        attack_info: object = "",
        dataset_info: object = "",
        target_id: object = "",
        sensitive_attribute: object = "",
        positive_value: Value | None = None,
        *,
        attribute_values: Sequence[Value] | None = None,
        **trials: Unpack[TrialFacts],
    ) -> None:
        LabelInferenceAttackSummary.__init__(self, labels, predictions, scores, **trials)
        self._describe(generator_info, attack_info, dataset_info, target_id)
        self.sensitive_attribute = sensitive_attribute
        self._name_values(positive_value, attribute_values)

    @abstractmethod
    def _name_values(
        self, positive_value: Value | None, attribute_values: Sequence[Value] | None
    ) -> None:
        """Take note of the values that the attribute may have."""

    @property
    def best_guess(self) -> float:
        """Accuracy of the best guess without the release, beside which an accuracy is read."""
        return best_guess(self)

    @property
    def accuracy_gain(self) -> float:
        """How far the accuracy is above that."""
        return accuracy_gain(self)

    def get_header(self) -> list[str]:
        """Return the names of the columns of `get_metrics`."""
        return list(self.get_metrics().columns)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return self._filename("aia", self.sensitive_attribute, postfix)

    def described(self) -> dict[str, object]:
        """What was attacked, as the first columns of tables show it."""
        return super().described() | {"sensitive_attribute": self.sensitive_attribute}

    def _fields(self) -> dict[str, object]:
        return super()._fields() | {"sensitive_attribute": self.sensitive_attribute}


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
    groups, relation, dependence
        As in `LabelInferenceAttackSummary`.
    """

    def __init__(
        self,
        labels: Iterable[object],
        predictions: Iterable[object],
        scores: ArrayLike | None = None,
        generator_info: object = "",
        attack_info: object = "",
        dataset_info: object = "",
        target_id: object = "",
        **trials: Unpack[TrialFacts],
    ) -> None:
        BinaryLabelInferenceAttackSummary.__init__(
            self,
            _memberships(labels, "labels"),
            _memberships(predictions, "predictions"),
            scores,
            True,
            **trials,
        )
        self._describe(generator_info, attack_info, dataset_info, target_id)

    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""
        return self._filename("mia", postfix)


def _memberships(values: Iterable[object], name: str) -> NDArray[np.generic]:
    """Booleans, or ones and zeros."""
    given = decisions(values, name)
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ConfigError(
            f"{name} of membership must be True or False (or 1 and 0), got "
            f"{listing(sorted(set(given.tolist()), key=str))}"
        )
    return given


class AIAttackSummary(_AboutAttribute):
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
    groups, relation, dependence
        As in `LabelInferenceAttackSummary`.
    """

    secret_kind = "values"

    def _name_values(
        self, positive_value: Value | None, attribute_values: Sequence[Value] | None
    ) -> None:
        if positive_value is not None:
            raise ConfigError(
                f"no value of {self.sensitive_attribute!r} is the positive one where there may be "
                "many; make a BinaryAIAttackSummary"
            )
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

    def outcomes(self) -> metrics.Outcomes:
        """Its trials, ready to be counted many times."""
        return metrics.Outcomes(
            self.labels, self.predictions, self.value_scores, self.attribute_values
        )

    def _ordered_values(self, given: Sequence[Value] | None) -> tuple[Value, ...]:
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

    def _fields(self) -> dict[str, object]:
        return super()._fields() | {"attribute_values": self.attribute_values}


class BinaryAIAttackSummary(_AboutAttribute, BinaryLabelInferenceAttackSummary):
    """Outcome of an attribute inference attack on one target, for an attribute of two values.

    Parameters
    ----------
    labels, predictions, scores
        True and guessed value of each trial, and its score, higher meaning likelier the
        positive value; optional.
    generator_info, attack_info, dataset_info, target_id, sensitive_attribute
        As in `AIAttackSummary`.
    attribute_values
        The two values, of which the second is positive; optional.
    positive_value
        The value that becomes 1; every other becomes 0. By default the second of
        `attribute_values`, or 1.
    groups, relation, dependence
        As in `LabelInferenceAttackSummary`.
    """

    def _name_values(
        self, positive_value: Value | None, attribute_values: Sequence[Value] | None
    ) -> None:
        if attribute_values is not None and len(attribute_values) != 2:
            raise ConfigError(
                f"an attribute of two values was expected, got {listing(attribute_values)}; make "
                "an AIAttackSummary"
            )
        default = 1 if attribute_values is None else attribute_values[1]
        self._map_to_binary(default if positive_value is None else positive_value)
