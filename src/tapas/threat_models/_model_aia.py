"""Attribute inference against a trained model: what was a sensitive input of these records?"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._random import Parts, part_stream, resolve_seed
from tapas._validate import listing
from tapas.compat import GameThreatModel
from tapas.errors import ThreatModelError
from tapas.game import Address, Goal, ModelBriefing, Phase, Release, Setting, Trial, Value
from tapas.models import Access, Model, Records, as_model
from tapas.threat_models._first_questions import ask_first
from tapas.threat_models._game_defaults import GameDefaults
from tapas.threat_models._inputs_alone import told_by_inputs
from tapas.threat_models._model_records import (
    RecordsLike,
    as_records,
    check_same_columns,
)
from tapas.threat_models._points import Points


@dataclass(frozen=True, eq=False)
class ModelAttributeGame(GameDefaults):
    """The audited model is the one trial; the attribute of every record is a secret."""

    model: Model
    access: Access
    targets: Records
    attribute: Hashable
    values: tuple[Value, ...]
    population: Records | None
    priors: np.ndarray
    seed: int
    data_label: str
    rows: np.ndarray

    @property
    def label(self) -> str:
        """Display name of the model."""
        return self.model.label

    @property
    def goal(self) -> Goal:
        """The value of the attribute."""
        return Goal("attribute", self.attribute, self.values)

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks."""
        return Setting(
            name="ModelAIA",
            release="model",
            goal=self.goal,
            training=0,
            test=1,
            auxiliary=self.population is not None,
            access=self.access,
        )

    @property
    def target_labels(self) -> tuple[str, ...]:
        """Positions of the targets among those that were given."""
        return tuple(str(row) for row in self.rows)

    def rounds(self, phase: Phase) -> int:
        """One model, and none to learn from."""
        return 1 if phase == "test" else 0

    def briefing(self, phase: Phase) -> ModelBriefing:
        """What an attack is told: everything about the targets but the attribute."""
        return ModelBriefing(
            goal=self.goal,
            targets=self.targets.without_value(self.attribute),
            auxiliary=self.population,
            access=self.access,
            priors=self.priors,
        )

    @cached_property
    def inputs_alone(self) -> np.ndarray | None:
        """How well the value is guessed without the model, from targets and population."""
        records = self.targets if self.population is None else self.targets.concat(self.population)
        truth = pd.Index(records.values_of(self.attribute), dtype=object)
        codes = pd.Index(list(self.values), dtype=object).get_indexer(truth)
        known = codes >= 0
        rng = part_stream(self.seed, Parts.INPUTS_ALONE)
        others = records.drop(self.attribute).take(known)
        told = told_by_inputs(Points([others]), codes[known], len(self.values), rng=rng)
        if told is None:
            return None
        told = told[: len(self.targets)]
        return told[:, 1] if len(self.values) == 2 else told

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        """The model, and what the attribute really was."""
        truth = self.targets.values_of(self.attribute)
        return [Trial(at.phase, at.index, Release(self.model), truth, 0) for at in addresses]

    def observation_rng(self, address: Address) -> np.random.Generator:
        """What an observer draws from."""
        return part_stream(self.seed, Parts.OBSERVING_ATTRIBUTE)

    def fitting_rng(self) -> np.random.Generator:
        """What an attack draws from when it learns."""
        return part_stream(self.seed, Parts.FITTING)


class ModelAIA(GameThreatModel):
    """Attribute inference: which value of an input did each record have, given its class?

    The attacker knows the other inputs and the true class of the targets, and asks the model about
    every value. What correlations in the population alone reveal is no leak of the model: compare
    with `ImputationAIA`, which never asks it.

    Parameters
    ----------
    model : object
        Anything that `tapas.models.as_model` takes.
    targets : (X, y) or Records
        Records with the attribute as it really was. Those where it is missing are left out, and
        so are those that equal an earlier one.
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
        model: object,
        targets: RecordsLike,
        attribute: Hashable,
        attribute_values: Sequence[Value] | None = None,
        access: Access | str = "scores",
        population: RecordsLike | None = None,
        priors: ArrayLike | None = None,
        seed: int | None = None,
        *,
        label: str = "records",
    ) -> None:
        super().__init__(n_jobs=1)
        audited, records = as_model(model), as_records(targets, "targets")
        audited.codes_of(records.y)
        held = None if population is None else as_records(population, "population")
        if held is not None:
            check_same_columns(held, records, "population")
        if attribute not in records.columns:
            raise ThreatModelError(
                f"attribute {attribute!r} is not a column; the columns are "
                f"{listing(records.columns)}"
            )
        truth = records.values_of(attribute)
        values = _possible_values(truth, attribute_values, attribute)
        # Equal ones are no independent ones: each counts once.
        first = np.unique(records.row_keys(), return_index=True)[1]
        rows = np.intersect1d(np.flatnonzero(pd.Series(truth).notna()), first)
        self._game = ModelAttributeGame(
            model=audited,
            access=Access.parse(access),
            targets=records.take(rows),
            attribute=attribute,
            values=values,
            population=held,
            priors=_priors(priors, values, held, attribute),
            seed=resolve_seed(seed),
            data_label=label,
            rows=rows,
        )

    @property
    def game(self) -> ModelAttributeGame:
        """What is played."""
        return self._game

    def ask_first(self, number: int) -> str | None:
        """Ask the model about a few targets, as they are."""
        return ask_first(self._game.model, self._game.access, self._game.targets, number)

    @property
    def attribute_values(self) -> tuple[Value, ...]:
        """Values that the attribute may take."""
        return self._game.values

    @property
    def priors(self) -> np.ndarray:
        """Probability of each value before the model is asked."""
        return self._game.priors


def _possible_values(
    truth: np.ndarray, given: Sequence[Value] | None, attribute: Hashable
) -> tuple[Value, ...]:
    if given is None:
        occurring = pd.unique(pd.Series(truth).dropna()).tolist()
        possible = tuple(sorted(occurring, key=str))
    else:
        possible = tuple(given)
    if len(possible) < 2:
        raise ThreatModelError(
            f"attribute {attribute!r} needs at least two values, got {listing(possible)}"
        )
    known = pd.Series(truth)
    strange = (known.notna() & ~known.isin(possible)).to_numpy()
    if strange.any():
        first = int(np.argmax(strange))
        raise ThreatModelError(
            f"{int(strange.sum())} targets have values of {attribute!r} that are not in "
            f"attribute_values, the first {truth[first]!r} in row {first}: list it too, or leave "
            f"those targets out"
        )
    return possible


def _priors(
    given: ArrayLike | None,
    values: tuple[Value, ...],
    population: Records | None,
    attribute: Hashable,
) -> np.ndarray:
    number = len(values)
    if given is not None:
        weights = np.asarray(given, dtype=float)
    elif population is None:
        weights = np.full(number, 1 / number)
    else:
        known = pd.Series(population.values_of(attribute))
        counts = np.array([(known == value).sum() for value in values]) + 1.0
        weights = counts / counts.sum()
    fits = weights.shape == (number,) and (weights >= 0).all()
    if not fits or not np.isclose(weights.sum(), 1):
        raise ThreatModelError(
            f"priors must give {number} probabilities that sum to 1, got {given!r}"
        )
    return weights
