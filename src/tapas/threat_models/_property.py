"""Property inference: does the training data of a model have a property, such as a class share?"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapas._random import resolve_seed, stream
from tapas._validate import check_count, check_probability
from tapas.engine import Workers
from tapas.errors import ThreatModelError
from tapas.models import Access, Model, Records, SklearnTrainer, Trainer, as_model
from tapas.results import BinaryLabelInferenceAttackSummary
from tapas.threat_models._base import ThreatModel
from tapas.threat_models._label_inference import Observations
from tapas.threat_models._model_game import (
    OBSERVING,
    PLAN,
    SPLIT,
    TRAINING,
    ModelBriefing,
    ModelNeeds,
    as_records,
    check_access,
    check_attack,
)
from tapas.threat_models._trials import Release

PHASES = {True: 0, False: 1}


class ModelPropertyInference(ThreatModel):
    """Which of two shares of the training records have a property?

    Models are trained on data with the one share or the other; the secret of each is whether it
    had the second. The attacker trains models on one part of the population, tests use the other.

    Parameters
    ----------
    trainer : Trainer or scikit-learn classifier
    population : (X, y) or Records
    has_property : callable or array of bool
        Marks the records of the population that have the property: ``has_property(records)``, or
        one boolean each.
    shares : (float, float)
        Share of such records in the training data, without and with the property.
    num_records : int
        Training records of each model.
    access : {"scores", "labels", "parameters"}
    num_probes : int
        Records that the models are asked about; none of them is trained on.
    seed, n_jobs, label
        As in `ModelMIA`.
    """

    def __init__(
        self,
        trainer: Any,
        population: Any,
        has_property: Callable[[Records], Any] | Any,
        shares: tuple[float, float] = (0.3, 0.7),
        num_records: int = 500,
        access: Access | str = "scores",
        num_probes: int = 100,
        seed: int | None = None,
        *,
        n_jobs: int | None = None,
        label: str = "records",
    ) -> None:
        self.trainer: Trainer = trainer if isinstance(trainer, Trainer) else SklearnTrainer(trainer)
        self.seed = resolve_seed(seed)
        self.access = Access.parse(access)
        self.label = label
        self.workers = Workers(n_jobs)
        self.num_records = check_count(num_records, "num_records", minimum=2)
        self.shares = tuple(check_probability(share, "shares") for share in shares)
        if len(self.shares) != 2 or self.shares[0] == self.shares[1]:
            raise ThreatModelError(f"shares must be two different shares, got {shares!r}")
        records = as_records(population, "population")
        marked = has_property(records) if callable(has_property) else has_property
        self._marked = np.asarray(marked, dtype=bool)
        if self._marked.shape != (len(records),):
            raise ThreatModelError(
                f"has_property must give one boolean for each of {len(records)} records, got "
                f"shape {self._marked.shape}"
            )
        self._records = records
        self._split(check_count(num_probes, "num_probes", minimum=1))
        self._observed: dict[Any, Observations] = {}
        self._models: dict[bool, list[Model]] = {True: [], False: []}

    def _split(self, num_probes: int) -> None:
        order = stream(self.seed, SPLIT).permutation(len(self._records))
        self._probes = self._records.take(order[:num_probes])
        rest = order[num_probes:]
        self._parts = {True: rest[::2], False: rest[1::2]}
        wanted = round(max(self.shares) * self.num_records)
        unwanted = self.num_records - round(min(self.shares) * self.num_records)
        for rows in self._parts.values():
            having = int(self._marked[rows].sum())
            if having < wanted or len(rows) - having < unwanted:
                raise ThreatModelError(
                    f"each half of the population must hold {wanted} records with the property "
                    f"and {unwanted} without, got {having} and {len(rows) - having}: give more "
                    f"records, or a smaller num_records"
                )

    def briefing(self) -> ModelBriefing:
        """What an attack is told: which records it may ask about."""
        return ModelBriefing(goal="property", targets=self._probes, access=self.access)

    def check(self, attack: Any) -> ModelNeeds:
        """Refuse an attack that this setting does not allow."""
        needs = check_attack(attack, type(self).__name__, "property")
        check_access(needs, self.access, attack.label, "another access")
        return needs

    def observe(
        self, attack: Any, num_samples: int | None = None, *, training: bool = True
    ) -> Observations:
        """Let an attack observe models with known properties: values (models, 1, ...)."""
        self.check(attack)
        number = check_count(100 if num_samples is None else num_samples, "num_samples", minimum=2)
        models = self._trained(number, training)
        values = [
            attack.observe(
                Release(model.restricted(self.access)),
                self.briefing(),
                rng=stream(self.seed, OBSERVING, PHASES[training], index),
            )
            for index, model in enumerate(models)
        ]
        secrets = np.arange(number) % 2 == 1
        return Observations(np.stack(values), secrets[:, None], np.arange(number))

    def _trained(self, number: int, training: bool) -> list[Model]:
        models = self._models[training]
        if len(models) < number:
            masks = np.stack([self._mask(index, training) for index in range(number)])
            rng = stream(self.seed, TRAINING, PHASES[training])
            records = self._records
            trained = self.trainer.train_many(
                records.X, records.y, masks, rng=rng, n_jobs=self.workers.n_jobs
            )
            self._models[training] = models = trained
        return models[:number]

    def _mask(self, index: int, training: bool) -> np.ndarray:
        rng = stream(self.seed, PLAN, PHASES[training], index)
        rows = rng.permutation(self._parts[training])
        having = round(self.shares[index % 2] * self.num_records)
        marked = self._marked[rows]
        mask = np.zeros(len(self._records), dtype=bool)
        mask[rows[marked][:having]] = True
        mask[rows[~marked][: self.num_records - having]] = True
        return mask

    def test(
        self, attack: Any, num_samples: int | None = None
    ) -> BinaryLabelInferenceAttackSummary:
        """Attack fresh models, half of which have the property; 100 by default."""
        observed = self.observe(attack, num_samples, training=False)
        scores = np.asarray(attack.score(observed.values))
        decisions = np.asarray(attack.decide(scores))
        return BinaryLabelInferenceAttackSummary(
            observed.secrets[:, 0], decisions[:, 0], scores[:, 0], True
        )

    def score_of(self, attack: Any, model: Any) -> float:
        """Score of one model whose training data is not known: high means the second share."""
        view = as_model(model).aligned(self._records.classes).restricted(self.access)
        rng = stream(self.seed, OBSERVING, 2)
        values = np.asarray(attack.observe(Release(view), self.briefing(), rng=rng))
        return float(np.asarray(attack.score(values[None]))[0, 0])
