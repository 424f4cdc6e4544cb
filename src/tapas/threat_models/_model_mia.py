"""Membership inference against a trained model: which records was it trained on?"""

from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import resolve_seed, stream
from tapas._validate import check_count, check_probability
from tapas.engine import TaskFailedError, Workers, run_tasks
from tapas.errors import IncompatibleAttackError, ThreatModelError
from tapas.models import Access, Model, Records, SklearnTrainer, Trainer, as_model
from tapas.results import MIAttackSummary
from tapas.threat_models._base import ThreatModel
from tapas.threat_models._label_inference import Observations
from tapas.threat_models._model_game import (
    LABEL_ATTACKS,
    OBSERVING,
    SHADOW_DATA,
    SINGLE_MODEL_ATTACKS,
    TRAINING,
    Judged,
    ModelBriefing,
    ModelNeeds,
    ObservingTask,
    as_records,
    check_access,
    check_attack,
    check_same_columns,
    comparable,
    split_known,
)
from tapas.threat_models._reference_models import (
    ReferencePlan,
    pool_of_others,
    pool_with_targets,
)
from tapas.threat_models._shadow_data import ShadowData
from tapas.threat_models._trials import Release

# Whose records an attack observes.
KNOWN, JUDGED, POOL = range(3)


class ModelMIA(ThreatModel):
    """Membership inference: was each of these records in the training set of the model?

    The audited model is the one test trial, and every record that is judged is a target of it. The
    attacker learns either from records whose membership is known, or, with a `trainer`, from
    shadow models trained as the audited one was.

    Parameters
    ----------
    model : object
        What is about to be released: anything that `tapas.models.as_model` takes.
    members, non_members : (X, y) or Records
        Records it was trained on, and records it was not. `members` should be the whole training
        set, because shadow models are trained on as many records.
    access : {"scores", "labels", "parameters"}
        What the release shows.
    known_share : float
        Share of both kinds whose membership the attacker knows. They are never judged.
    trainer : Trainer or scikit-learn classifier, optional
        Trains the attacker's shadow models.
    population : (X, y), Records or ShadowData, optional
        More data of the attacker, or how it is made up.
    seed : int, optional
    num_shadows : int
        How many shadow models are trained.
    train_on_targets : bool, optional
        Whether shadow models are trained on halves of the judged records, filled up with other
        data of the attacker, or on the attacker's other data alone. By default they are, unless
        `population` is made up. It needs no knowledge of who is a member.
    budget : int, optional
        How many records each attack may ask the audited model about.
    n_jobs : int, optional
        Number of processes; results do not depend on it.
    label : str
        Display name of the data.

    Warns
    -----
    TargetInDataWarning
        Where non-members are equal to members; they are left out, for they are members in effect.
    """

    def __init__(
        self,
        model: Any,
        members: Any,
        non_members: Any,
        access: Access | str = "scores",
        known_share: float = 0.5,
        trainer: Any = None,
        population: Any = None,
        seed: int | None = None,
        *,
        num_shadows: int = 16,
        train_on_targets: bool | None = None,
        budget: int | None = None,
        n_jobs: int | None = None,
        label: str = "records",
    ) -> None:
        self.model = as_model(model)
        self.access = Access.parse(access)
        self.seed = resolve_seed(seed)
        self.label = label
        self.budget = budget
        self.workers = Workers(n_jobs)
        self.known_share = check_probability(known_share, "known_share")
        self.num_shadows = check_count(num_shadows, "num_shadows", minimum=2)
        self.trainer = _as_trainer(trainer)
        self.model.restricted(self.access)
        members, non_members = self._checked(members, non_members)
        self.num_members = len(members)
        members, non_members = comparable(members, non_members, self.seed)
        self._known, self._judged = split_known(members, non_members, self.known_share, self.seed)
        self._population = population
        if not isinstance(population, (ShadowData, type(None))):
            self._population = as_records(population, "population")
            check_same_columns(self._population, members, "population")
            self.model.codes_of(self._population.y)
        made_up = isinstance(population, ShadowData)
        self.train_on_targets = not made_up if train_on_targets is None else train_on_targets
        self._views: dict[Hashable, Model] = {}
        self._seen: dict[tuple[Hashable, int], Observations] = {}

    def _checked(self, members: Any, non_members: Any) -> tuple[Records, Records]:
        inside, outside = as_records(members, "members"), as_records(non_members, "non_members")
        check_same_columns(outside, inside, "non_members")
        for records in (inside, outside):
            self.model.codes_of(records.y)
        return inside, outside

    # -- what the attacker holds -------------------------------------------------------------

    def briefing(self, *, known: bool = False) -> ModelBriefing:
        """What an attack is told about the judged records, or about the known ones."""
        judged = self._require_known() if known else self._judged
        return self._briefing(judged.records)

    def _briefing(self, targets: Records) -> ModelBriefing:
        return ModelBriefing(
            goal="membership",
            targets=targets,
            auxiliary=self._held,
            encoding=self._encoding,
            access=self.access,
        )

    @cached_property
    def _held(self) -> Records | None:
        """Records of the attacker beside the judged ones."""
        parts = [self._known.records] if self._known is not None else []
        if isinstance(self._population, Records):
            parts.append(self._population)
        return parts[0].concat(*parts[1:]) if parts else None

    @cached_property
    def _encoding(self) -> Any:
        held = self._held
        records = self._judged.records
        return (records if held is None else records.concat(held)).encoding()

    @cached_property
    def _shadow_records(self) -> Records | None:
        """What shadow models are trained on beside the judged records."""
        if isinstance(self._population, ShadowData):
            known = None if self._known is None else self._known.records
            asked = self.model.restricted(self.access)
            rng = stream(self.seed, SHADOW_DATA)
            return self._population.make(asked, known, self.num_members, rng=rng)
        return self._held

    # -- shadow models -----------------------------------------------------------------------

    @cached_property
    def _pool(self) -> tuple[Records, ReferencePlan]:
        """Records that shadow models are trained on, and the plan of who trains on which."""
        others, judged = self._shadow_records, self._judged.records
        about = (self.num_shadows, self.num_members, self.seed)
        if self.train_on_targets:
            return pool_with_targets(judged, others, *about)
        return pool_of_others(others, *about)

    @cached_property
    def shadow_models(self) -> list[Model]:
        """The attacker's models, trained when first asked for."""
        if self.trainer is None:
            raise ThreatModelError("there are no shadow models without a trainer")
        pool, plan = self._pool
        models = self.trainer.train_many(
            pool.X,
            pool.y,
            plan.masks(),
            rng=stream(self.seed, TRAINING),
            n_jobs=self.workers.n_jobs,
        )
        return [model.aligned(self.model.classes) for model in models]

    # -- observing ---------------------------------------------------------------------------

    def observe(
        self, attack: Any, num_samples: int | None = None, *, training: bool = True
    ) -> Observations:
        """Let an attack observe models.

        In training these are the shadow models, or, without a trainer, the audited one on the
        known records: values (models, records, ...). In the test it is the audited model on the
        judged records. `num_samples` limits the number of shadow models.
        """
        self.check(attack)
        if not training:
            return self._on_audited(attack, self._judged, JUDGED)
        if self.trainer is None:
            return self._on_audited(attack, self._require_known(), KNOWN)
        if self.train_on_targets:
            return self.observe_references(attack, num_samples)
        return self._on_shadows(attack, self._pool[0], POOL, num_samples)

    def observe_references(self, attack: Any, num_samples: int | None = None) -> Observations:
        """Let an attack observe the judged records on the shadow models.

        The secrets tell which of them each shadow model was trained on, groups which two models
        were trained on complementary halves. Neither depends on who is a member.
        """
        return self._on_shadows(attack, self._judged.records, JUDGED, num_samples)

    def _on_audited(self, attack: Any, judged: Judged, whose: int) -> Observations:
        key = (attack.observation_key, whose)
        if key not in self._seen:
            values = attack.observe(
                Release(self._view(attack)),
                self._briefing(judged.records),
                rng=stream(self.seed, OBSERVING, whose),
            )
            values = np.asarray(values)[None]
            self._seen[key] = Observations(values, judged.members[None], np.zeros(1, dtype=int))
        # Secrets are looked up anew: what was observed cannot depend on them.
        return replace(self._seen[key], secrets=judged.members[None])

    def _on_shadows(
        self, attack: Any, records: Records, whose: int, num_samples: int | None
    ) -> Observations:
        key = (attack.observation_key, 3 + whose)
        number = self._number_of_shadows(num_samples)
        if key not in self._seen:
            plan = self._pool[1]
            inside = np.zeros((self.num_shadows, len(records)), dtype=bool)
            if self.train_on_targets or whose == POOL:
                inside = plan.masks()[:, : len(records)]
            values = self._map(attack, records, whose)
            self._seen[key] = Observations(values, inside, plan.pairs())
        seen = self._seen[key]
        return Observations(seen.values[:number], seen.secrets[:number], seen.groups[:number])

    def _map(self, attack: Any, records: Records, whose: int) -> np.ndarray:
        views = tuple(model.restricted(self.access) for model in self.shadow_models)
        task = ObservingTask(attack, views, self._briefing(records), self.seed, 3 + whose)
        found: dict[int, np.ndarray] = {}
        try:
            run_tasks(
                task, list(range(len(views))), receive=found.__setitem__, workers=self.workers
            )
        except TaskFailedError as failure:
            raise (failure.__cause__ or failure) from None
        return np.stack([found[index] for index in range(len(views))])

    def _number_of_shadows(self, num_samples: int | None) -> int:
        if num_samples is None:
            return self.num_shadows
        number = check_count(num_samples, "num_samples", minimum=2)
        if number > self.num_shadows:
            raise ThreatModelError(
                f"{number} shadow models were asked for, but the threat model has "
                f"{self.num_shadows}: make it with num_shadows={number}"
            )
        return number

    def _view(self, attack: Any) -> Model:
        """The audited model as the release shows it; each attack has a budget of its own."""
        key = attack.observation_key
        if key not in self._views:
            self._views[key] = self.model.restricted(self.access, self.budget)
        return self._views[key]

    def queries(self, attack: Any) -> int:
        """How many records an attack has asked the audited model about."""
        view = self._views.get(attack.observation_key)
        return 0 if view is None else view.queries

    # -- judging -----------------------------------------------------------------------------

    def check(self, attack: Any) -> ModelNeeds:
        """Refuse an attack that this setting does not allow, and say which would fit."""
        needs = check_attack(attack, type(self).__name__, "membership")
        check_access(needs, self.access, attack.label, LABEL_ATTACKS)
        if needs.references and self.trainer is None:
            raise IncompatibleAttackError(
                f"{attack.label} compares the model with reference models, and there is no "
                f"trainer: give trainer=..., or use {SINGLE_MODEL_ATTACKS}"
            )
        if needs.references > self.num_shadows:
            raise IncompatibleAttackError(
                f"{attack.label} needs at least {needs.references} reference models, there are "
                f"{self.num_shadows}: raise num_shadows, or use CalibratedLossMIA"
            )
        if needs.inside and not self.train_on_targets:
            raise IncompatibleAttackError(
                f"{attack.label} needs reference models trained on the judged records: use "
                f"train_on_targets=True, or mode='offline'"
            )
        if needs.training and self.trainer is None:
            self._require_known(attack.label)
        return needs

    def _require_known(self, label: str = "the attack") -> Judged:
        if self._known is None:
            raise IncompatibleAttackError(
                f"{label} needs records whose membership is known, and known_share="
                f"{self.known_share:g} leaves none: raise it, give a trainer, or use RuleBasedMIA"
            )
        return self._known

    def test(self, attack: Any, num_samples: int | None = None) -> MIAttackSummary:
        """Attack the audited model.

        Returns
        -------
        MIAttackSummary
            One entry per judged record, in the order of `judged_records`.
        """
        observed = self.observe(attack, training=False)
        scores = np.asarray(attack.score(observed.values))
        decisions = np.asarray(attack.decide(scores))
        return MIAttackSummary(
            observed.secrets[0],
            decisions[0],
            scores[0],
            generator_info=self.model.label,
            attack_info=attack.label,
            dataset_info=self.label,
            target_id="all",
        )

    def judged_records(self) -> pd.DataFrame:
        """Who is judged: one row per entry of a summary, for slices and exposure tables.

        Columns: ``source`` ("members" or "non_members") and ``row`` (position there), ``class``
        (the true one), ``predicted`` and ``correct`` (what the model says).
        """
        records, members = self._judged.records, self._judged.members
        predicted = self.model.predict(records.X)
        return pd.DataFrame(
            {
                "source": np.where(members, "members", "non_members"),
                "row": self._judged.rows,
                "class": records.y,
                "predicted": predicted,
                "correct": predicted == records.y,
            }
        )


def _as_trainer(trainer: Any) -> Trainer | None:
    if trainer is None or isinstance(trainer, Trainer):
        return trainer
    return SklearnTrainer(trainer)
