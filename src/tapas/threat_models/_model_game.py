"""The game of membership in a trained model: one audited model, and shadow models like it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
import pandas as pd

from tapas._random import Parts, integer_seed, part_stream
from tapas.engine import guarded, told
from tapas.errors import MechanismError, ThreatModelError
from tapas.game import (
    MEMBERSHIP,
    Address,
    Candidates,
    Goal,
    ModelBriefing,
    Phase,
    Relation,
    Release,
    Setting,
    Trial,
)
from tapas.models import (
    Access,
    DecisionTrees,
    Model,
    RecordEncoding,
    Records,
    Trainer,
    TrainingPlan,
    decision_trees,
)
from tapas.results import Leaves, performance_table
from tapas.threat_models._fit_of_answers import answers_of
from tapas.threat_models._game_defaults import GameDefaults, names_of
from tapas.threat_models._inputs_alone import told_by_inputs
from tapas.threat_models._leaf_contents import leaf_contents
from tapas.threat_models._points import Points
from tapas.threat_models._reference_models import (
    ReferencePlan,
    pool_of_others,
    pool_with_targets,
)
from tapas.threat_models._shadow_data import ShadowData

# Whose records are observed, in the addresses of random streams.
_KNOWN, _JUDGED, _POOL = range(3)
_SHADOWS = 3


@dataclass(frozen=True, eq=False)
class ModelMembershipGame(GameDefaults):
    """The audited model is the one test trial; each shadow model is a training trial.

    Attributes
    ----------
    model : Model
    access : Access
    known, candidates : Candidates
        Records whose membership the attacker knows, and those that are judged.
    population : Records, ShadowData or None
    trainer : Trainer or None
    num_shadows, num_members : int
        How many shadow models there are, and how many records each is trained on.
    train_on_targets : bool
    budget : int or None
    seed : int
    data_label : str
    timeout : float or None
    inputs : {"", "read", "change"}
        What attacks can do with the inputs of records.
    coins : bool
        Whether each judged record was decided by a coin of its own.
    image : tuple of int or None
        The shape of each record, where records are images laid out as rows.
    """

    model: Model
    access: Access
    known: Candidates[Records] | None
    candidates: Candidates[Records]
    population: Records | ShadowData | None
    trainer: Trainer | None
    num_shadows: int
    num_members: int
    train_on_targets: bool
    budget: int | None
    seed: int
    data_label: str
    timeout: float | None = None
    inputs: Literal["", "read", "change"] = "change"
    coins: bool = False
    image: tuple[int, ...] | None = None

    # -- what it is --------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """Display name of the model."""
        return self.model.label

    @property
    def relation(self) -> Relation | None:
        """With or without a record, where a coin decided that."""
        return "add/remove" if self.coins else None

    @property
    def goal(self) -> Goal:
        """Membership."""
        return MEMBERSHIP

    def _identity(self) -> Mapping[str, object]:
        left_out = {"budget", "timeout", "data_label", "inputs", "coins", "image"}
        if self.trainer is None or self.trainer.models_at_once == 1:
            # Each shadow model is trained by itself: how many there are makes no difference.
            left_out.add("num_shadows")
        fields = set(self.__dataclass_fields__) - left_out
        return {name: value for name, value in vars(self).items() if name in fields}

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks."""
        return Setting(
            name="ModelMIA",
            release="model",
            goal=self.goal,
            training=self.rounds("train"),
            test=1,
            access=self.access,
            references=0 if self.trainer is None else self.num_shadows,
            inside=self.train_on_targets,
            budget=self.budget,
            spent=self.queries_spent,
            inputs=self.inputs,
            coins=self.coins,
            trees=self._trees is not None,
            known=(0, 0) if self.known is None else self.known.of_each_side,
        )

    @property
    def _trees(self) -> DecisionTrees | None:
        shown = self.access is Access.PARAMETERS and self.inputs == "change"
        return decision_trees(self.model) if shown else None

    @cached_property
    def target_labels(self) -> tuple[str, ...]:
        """Where the judged records came from."""
        return names_of(self.candidates.members, self.candidates.rows)

    @property
    def draws_from_globals(self) -> bool:
        """Foreign estimators may."""
        return True

    def trials_at_once(self, phase: Phase) -> int:
        """As many shadow models as the trainer trains in lockstep."""
        return 1 if self.trainer is None or phase == "test" else self.trainer.models_at_once

    def within(self, seconds: float | None) -> "ModelMembershipGame":
        """The same game with a time limit for training each stack of shadow models."""
        return self if seconds == self.timeout else replace(self, timeout=seconds)

    def rounds(self, phase: Phase) -> int:
        """One audited model; as many shadow models as there are."""
        if phase == "test":
            return 1
        if self.trainer is not None:
            return self.num_shadows
        return 0 if self.known is None else 1

    def asking_about(self, more: Records) -> Self:
        """The same game about further records, nobody knowing whether they are members."""
        judged = self.candidates
        together = Candidates(
            judged.records.concat(more),
            np.append(judged.members, np.zeros(len(more), dtype=bool)),
            np.append(judged.rows, np.arange(len(more))),
        )
        return replace(self, candidates=together)

    # -- what the attacker holds -------------------------------------------------------------

    def briefing(self, phase: Phase) -> ModelBriefing:
        """What an attack is told about the records that it observes."""
        return ModelBriefing(
            goal=self.goal,
            targets=self._observed(phase),
            auxiliary=self._held,
            encoding=self._encoding,
            access=self.access,
            image=self.image,
        )

    def judged(self, phase: Phase) -> np.ndarray:
        """The judged records come first; others serve for learning only."""
        number = 0 if phase == "train" and self.trainer is None else len(self.candidates)
        return np.arange(len(self._observed(phase))) < number

    def _observed(self, phase: Phase) -> Records:
        if phase == "test":
            return self.candidates.records
        if self.trainer is None:
            return self._learnt_from.records
        judged = self.candidates.records
        return judged if self.train_on_targets else judged.concat(self._pool[0])

    @property
    def _learnt_from(self) -> Candidates[Records]:
        if self.known is None:
            raise ThreatModelError("no record is known to be a member or not: raise known_share")
        return self.known

    @cached_property
    def _held(self) -> Records | None:
        """Records of the attacker beside the judged ones."""
        parts = [] if self.known is None else [self.known.records]
        if isinstance(self.population, Records):
            parts.append(self.population)
        return parts[0].concat(*parts[1:]) if parts else None

    @cached_property
    def _encoding(self) -> RecordEncoding:
        records = self.candidates.records
        return records.encoding() if self._held is None else records.encoding(self._held)

    @cached_property
    def inputs_alone(self) -> np.ndarray | None:
        """How well members are told from others without the model, by all records there are.

        By inputs, what should be predicted, and how well this fits.
        """
        if self.coins:
            return None  # a coin made the two sides alike
        rng = part_stream(self.seed, Parts.INPUTS_ALONE)
        points = Points([side.records for side in self._sides])
        answers = answers_of(points, self.model)
        told = told_by_inputs(points, self._members, 2, answers=answers, rng=rng)
        return None if told is None else told[: len(self.candidates), 1]

    @property
    def _members(self) -> np.ndarray:
        """Whether the records of both sides are members: 1 or 0."""
        return np.concatenate([side.members for side in self._sides]).astype(int)

    @property
    def _sides(self) -> list[Candidates[Records]]:
        """All records whose membership is known to us, the judged first."""
        return [self.candidates] if self.known is None else [self.candidates, self.known]

    def about_judged(self) -> pd.DataFrame:
        """Where each judged record came from, its class, and what the model says."""
        judged = self.candidates
        predicted = self.model.predict(judged.records.X)
        about = pd.DataFrame(
            {
                "source": np.where(judged.members, "members", "non_members"),
                "row": judged.rows,
                "class": judged.records.y,
                "predicted": predicted,
                "correct": predicted == judged.records.y,
            }
        )
        if self.access.shows(Access.SCORES):
            probabilities = self.model.predict_proba(judged.records.X)
            codes = self.model.codes_of(judged.records.y)
            about["confidence"] = probabilities[np.arange(len(codes)), codes].astype(float)
        return about

    def performance(self, subgroups: Sequence[str]) -> pd.DataFrame:
        """How well the model does on members and on others: all, by class and by subgroup."""
        sides = [side.records for side in self._sides]
        parts = {name: np.concatenate([one.values_of(name) for one in sides]) for name in subgroups}
        predicted = np.concatenate([self.model.predict(one.X) for one in sides])
        labels = np.concatenate([one.y for one in sides])
        return performance_table(labels, predicted, self._members.astype(bool), parts)

    def leaves(self, names: Sequence[str], fewest: int) -> Leaves | None:
        """What the leaves of the model hold of members, by name; None where it shows no trees."""
        found = self._trees
        return None if found is None else leaf_contents(found, self._sides, names, fewest)

    # -- shadow models -----------------------------------------------------------------------

    @property
    def queries_spent(self) -> int:
        """How many records the model is asked about to make shadow data up."""
        if self.trainer is None or not isinstance(self.population, ShadowData):
            return 0
        return self.population.queries(self.num_members)

    @cached_property
    def _shadow_records(self) -> Records | None:
        """What shadow models are trained on beside the judged records."""
        if not isinstance(self.population, ShadowData):
            return self._held
        known = None if self.known is None else self.known.records
        asked = self.model.restricted(self.access, self.budget)
        rng = part_stream(self.seed, Parts.SHADOW_DATA)
        return self.population.make(asked, known, self.num_members, rng=rng)

    @cached_property
    def _pool(self) -> tuple[Records, ReferencePlan]:
        """Records that shadow models are trained on, and the plan of who trains on which."""
        others, judged = self._shadow_records, self.candidates.records
        about = (self.num_shadows, self.num_members, self.seed)
        if self.train_on_targets:
            return pool_with_targets(judged, others, *about)
        return pool_of_others(others, *about)

    @cached_property
    def _training_seed(self) -> int:
        return integer_seed(part_stream(self.seed, Parts.SHADOW_TRAINING))

    # -- playing -----------------------------------------------------------------------------

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        """The audited model, or shadow models that are trained together."""
        first = addresses[0]
        if first.phase == "test" or self.trainer is None:
            side = self.candidates if first.phase == "test" else self._learnt_from
            return [Trial(first.phase, 0, Release(self.model), side.members, 0)]
        numbers = [address.index for address in addresses]
        return [
            Trial("train", number, Release(model), self._inside(number), self._group(number))
            for number, model in zip(numbers, self._trained(numbers), strict=True)
        ]

    def _trained(self, numbers: list[int]) -> list[Model]:
        if self.trainer is None:
            raise ThreatModelError("there are no shadow models without a trainer")
        pool, sets = self._pool
        plan = TrainingPlan(pool.X, pool.y, sets, self._training_seed)
        try:
            with guarded(self.timeout):
                models = self.trainer.train_some(plan, numbers)
        except Exception as error:
            raise MechanismError(
                f"training shadow model {numbers[0]} failed: {type(error).__name__}: {error}",
                phase="train",
                index=numbers[0],
                seed=self.seed,
                shared=f"training shadow model {numbers[0]} failed: {told(error)}",
            ) from error
        return [model.aligned(self.model.classes) for model in models]

    def _group(self, number: int) -> int:
        """The pair of a shadow model: two on opposite halves of the targets."""
        return number // 2

    def _inside(self, number: int) -> np.ndarray:
        """Which of the observed records a shadow model is trained on."""
        mask = self._pool[1].mask(number)
        if self.train_on_targets:
            return mask[: len(self.candidates)]
        return np.concatenate([np.zeros(len(self.candidates), dtype=bool), mask])

    def observation_rng(self, address: Address) -> np.random.Generator:
        """What an observer draws from."""
        if address.phase == "test":
            return part_stream(self.seed, Parts.OBSERVING_AUDITED, _JUDGED)
        if self.trainer is None:
            return part_stream(self.seed, Parts.OBSERVING_AUDITED, _KNOWN)
        whose = _SHADOWS + (_JUDGED if self.train_on_targets else _POOL)
        return part_stream(self.seed, Parts.OBSERVING_SHADOW, whose, address.index)

    def fitting_rng(self) -> np.random.Generator:
        """What an attack draws from when it learns."""
        return part_stream(self.seed, Parts.FITTING)
