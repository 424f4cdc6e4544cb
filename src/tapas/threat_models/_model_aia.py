"""Attribute inference against a trained model: what was a sensitive input of these records?"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import resolve_seed, stream
from tapas._validate import listing
from tapas.errors import ThreatModelError
from tapas.models import Access, Records, as_model
from tapas.results import AIAttackSummary, BinaryAIAttackSummary
from tapas.threat_models._base import ThreatModel
from tapas.threat_models._label_inference import Observations
from tapas.threat_models._model_game import (
    OBSERVING,
    ModelBriefing,
    ModelNeeds,
    as_records,
    check_access,
    check_attack,
    check_same_columns,
)
from tapas.threat_models._trials import Release


@dataclass(frozen=True, eq=False)
class AttributeBriefing(ModelBriefing):
    """A briefing about a sensitive input of a model.

    Attributes
    ----------
    targets : Records
        The attribute is missing in all of them.
    priors : ndarray
        Probability of each value before the model is asked.
    dtype : object
        Type of the column.
    """

    priors: Any = None
    dtype: Any = None

    def with_value(self, value: Any) -> Any:
        """Inputs of the targets, all with one value of the attribute."""
        return with_value(self.targets.X, self.attribute, value, self.dtype)


class ModelAIA(ThreatModel):
    """Attribute inference: which value of an input did each record have, given its class?

    The attacker knows the other inputs and the true class of the targets, and asks the model about
    every value. What correlations in the population alone reveal is no leak of the model: compare
    with `ImputationAIA`, which never asks it.

    Parameters
    ----------
    model : object
        Anything that `tapas.models.as_model` takes.
    targets : (X, y) or Records
        Records with the attribute as it really was.
    attribute : object
        Column name, or position in an array.
    attribute_values : sequence, optional
        Values that are possible; by default those that occur. With two, the second is positive.
    access : {"scores", "labels", "parameters"}
    population : (X, y) or Records, optional
        Data of the attacker in which the attribute is known.
    priors : sequence of float, optional
        Probability of each value; by default its share in the population, or equal ones.
    seed : int, optional
    label : str
        Display name of the data.
    """

    def __init__(
        self,
        model: Any,
        targets: Any,
        attribute: Any,
        attribute_values: Any = None,
        access: Access | str = "scores",
        population: Any = None,
        priors: Any = None,
        seed: int | None = None,
        *,
        label: str = "records",
    ) -> None:
        self.model = as_model(model)
        self.access = Access.parse(access)
        self.seed = resolve_seed(seed)
        self.label = label
        self.attribute = attribute
        records = as_records(targets, "targets")
        self.model.codes_of(records.y)
        self.population = None if population is None else as_records(population, "population")
        if self.population is not None:
            check_same_columns(self.population, records, "population")
        if attribute not in records.columns:
            raise ThreatModelError(
                f"attribute {attribute!r} is not a column; the columns are "
                f"{listing(records.columns)}"
            )
        self._truth = _column(records, attribute)
        self.attribute_values = self._possible(attribute_values)
        self.priors = self._priors(priors)
        self._targets = records

    def _possible(self, given: Any) -> tuple[Any, ...]:
        values = pd.unique(pd.Series(self._truth).dropna()).tolist() if given is None else given
        possible = tuple(sorted(values, key=str) if given is None else values)
        if len(possible) < 2:
            raise ThreatModelError(
                f"attribute {self.attribute!r} needs at least two values, got {listing(possible)}"
            )
        strange = ~pd.Series(self._truth).isin(possible).to_numpy()
        if strange.any():
            raise ThreatModelError(
                f"{int(strange.sum())} targets have values of {self.attribute!r} that are not in "
                f"attribute_values, the first in row {np.flatnonzero(strange)[0]}"
            )
        return possible

    def _priors(self, given: Any) -> np.ndarray:
        number = len(self.attribute_values)
        if given is not None:
            weights = np.asarray(given, dtype=float)
        elif self.population is None:
            weights = np.full(number, 1 / number)
        else:
            known = pd.Series(_column(self.population, self.attribute))
            counts = np.array([(known == value).sum() for value in self.attribute_values]) + 1.0
            weights = counts / counts.sum()
        fits = weights.shape == (number,) and (weights >= 0).all()
        if not fits or not np.isclose(weights.sum(), 1):
            raise ThreatModelError(
                f"priors must give {number} probabilities that sum to 1, got {given!r}"
            )
        return weights

    def briefing(self) -> AttributeBriefing:
        """What an attack is told: everything about the targets but the attribute."""
        X = self._targets.X
        dtype = X[self.attribute].dtype if self._targets.is_frame else None
        hidden = with_value(X, self.attribute, None, None)
        return AttributeBriefing(
            goal="attribute",
            targets=_Masked(hidden, self._targets.y),
            attribute=self.attribute,
            attribute_values=self.attribute_values,
            auxiliary=self.population,
            access=self.access,
            priors=self.priors,
            dtype=dtype,
        )

    def check(self, attack: Any) -> ModelNeeds:
        """Refuse an attack that this setting does not allow."""
        needs = check_attack(attack, type(self).__name__, "attribute")
        check_access(needs, self.access, attack.label, "LabelOnlyAIA")
        return needs

    def observe(
        self, attack: Any, num_samples: int | None = None, *, training: bool = False
    ) -> Observations:
        """Let an attack observe the model: values (1, targets, attribute values)."""
        self.check(attack)
        view = self.model.restricted(self.access)
        values = attack.observe(Release(view), self.briefing(), rng=stream(self.seed, OBSERVING))
        return Observations(np.asarray(values)[None], self._truth[None], np.zeros(1, dtype=int))

    def test(
        self, attack: Any, num_samples: int | None = None
    ) -> AIAttackSummary | BinaryAIAttackSummary:
        """Attack every target; one entry of the summary per target."""
        attack.briefing = replace(self.briefing(), targets=None)
        observed = self.observe(attack)
        scores = np.asarray(attack.score(observed.values))[0]
        guesses = np.asarray(self.attribute_values)[scores.argmax(axis=1)]
        about: dict[str, Any] = {
            "generator_info": self.model.label,
            "attack_info": attack.label,
            "dataset_info": self.label,
            "target_id": "all",
            "sensitive_attribute": self.attribute,
        }
        if len(self.attribute_values) == 2:
            return BinaryAIAttackSummary(
                self._truth, guesses, scores[:, 1], positive_value=self.attribute_values[1], **about
            )
        return AIAttackSummary(
            self._truth, guesses, scores, attribute_values=self.attribute_values, **about
        )


@dataclass(frozen=True, eq=False)
class _Masked:
    """Targets whose attribute is missing; not records that a model could be asked about."""

    X: Any
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)


def with_value(X: Any, attribute: Any, value: Any, dtype: Any) -> Any:
    """A copy of inputs with one value, or none, in a column."""
    changed = X.copy()
    if isinstance(changed, pd.DataFrame):
        column = pd.Series([value] * len(changed), index=changed.index, dtype=object)
        changed[attribute] = column if dtype is None else column.astype(dtype)
    else:
        changed[:, attribute] = np.nan if value is None else value
    return changed


def _column(records: Records, attribute: Any) -> np.ndarray:
    if records.is_frame:
        return records.X[attribute].to_numpy(dtype=object)
    return records.X[:, attribute]
