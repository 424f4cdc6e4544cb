"""Property inference: which share of a model's training data has a property, such as a class?"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tapas._random import Parts, integer_seed, part_stream, resolve_seed
from tapas._validate import check_count, check_probability
from tapas.compat import AttackDoors, GameThreatModel
from tapas.engine import guarded, told
from tapas.errors import MechanismError, ThreatModelError
from tapas.game import (
    PHASES,
    PROPERTY,
    Address,
    Goal,
    ModelBriefing,
    Observer,
    Phase,
    Release,
    Scorer,
    Setting,
    Trial,
)
from tapas.models import (
    Access,
    Classifier,
    Model,
    Records,
    SklearnTrainer,
    Trainer,
    TrainingPlan,
    as_model,
)
from tapas.results import ShareAnswer
from tapas.threat_models._first_questions import ask_first
from tapas.threat_models._game_defaults import GameDefaults
from tapas.threat_models._model_records import RecordsLike, as_records

_ASKED_MODEL = 2


@dataclass(frozen=True, eq=False)
class PropertySets:
    """Which records models with each of the shares are trained on.

    Attributes
    ----------
    rows : ndarray of int
        Records that models of a phase are trained on.
    marked : ndarray of bool
        Which of all records have the property.
    shares : tuple of float
        Models have them in turn.
    size : int
        Training records of each model.
    seed, phase : int
    """

    rows: np.ndarray
    marked: np.ndarray
    shares: tuple[float, ...]
    size: int
    seed: int
    phase: int

    @property
    def largest(self) -> int:
        """How many records each model is trained on."""
        return self.size

    def mask(self, model: int) -> np.ndarray:
        """Whether each record is in the training set of a model."""
        rng = part_stream(self.seed, Parts.REFERENCE_OTHERS, self.phase, model)
        rows = rng.permutation(self.rows)
        having = round(self.shares[model % len(self.shares)] * self.size)
        marked = self.marked[rows]
        mask = np.zeros(len(self.marked), dtype=bool)
        mask[rows[marked][:having]] = True
        mask[rows[~marked][: self.size - having]] = True
        return mask


@dataclass(frozen=True, eq=False)
class PropertyGame(GameDefaults):
    """Every trial is a model; the secret is which of some shares its training data had."""

    trainer: Trainer
    records: Records
    sets: tuple[PropertySets, PropertySets]
    probes: Records
    access: Access
    seed: int
    data_label: str
    property_label: str
    timeout: float | None = None

    @property
    def label(self) -> str:
        """Display name of the kind of model."""
        return self.trainer.label

    @property
    def goal(self) -> Goal:
        """Whether it is the second of two shares, or which of more."""
        shares = self.sets[0].shares
        return PROPERTY if len(shares) == 2 else Goal("property", values=shares)

    def _identity(self) -> Mapping[str, object]:
        left_out = ("timeout", "data_label", "property_label")
        own = vars(self)
        return {name: own[name] for name in self.__dataclass_fields__ if name not in left_out}

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks."""
        return Setting("ModelPropertyInference", "model", self.goal, access=self.access)

    @property
    def target_labels(self) -> tuple[str, ...]:
        """There is one secret: which of the shares."""
        *others, last = (f"{share:g}" for share in self.sets[0].shares)
        return (f"share of {self.property_label} ({', '.join(others)} or {last})",)

    @property
    def draws_from_globals(self) -> bool:
        """Foreign estimators may."""
        return True

    def trials_at_once(self, phase: Phase) -> int:
        """As many models as the trainer trains in lockstep."""
        return self.trainer.models_at_once

    def within(self, seconds: float | None) -> "PropertyGame":
        """The same game with a time limit for training."""
        return self if seconds == self.timeout else replace(self, timeout=seconds)

    def rounds(self, phase: Phase) -> None:
        """Any number of models."""

    def briefing(self, phase: Phase) -> ModelBriefing:
        """What an attack is told: which records it may ask about."""
        return ModelBriefing(goal=self.goal, targets=self.probes, access=self.access)

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        """Models of all kinds in turn."""
        phase, numbers = addresses[0].phase, [address.index for address in addresses]
        position, drawn = PHASES.index(phase), self._seed_of(addresses[0])
        sets = replace(self.sets[position], seed=drawn)
        seed = integer_seed(part_stream(drawn, Parts.PROPERTY_TRAINING, position))
        plan = TrainingPlan(self.records.X, self.records.y, sets, seed)
        try:
            with guarded(self.timeout):
                models = self.trainer.train_some(plan, numbers)
        except Exception as error:
            raise MechanismError(
                f"training {phase} model {numbers[0]} failed: {type(error).__name__}: {error}",
                phase=phase,
                index=numbers[0],
                seed=self.seed,
                shared=f"training {phase} model {numbers[0]} failed: {told(error)}",
            ) from error
        return [
            Trial(phase, address.index, Release(model), *self.secrets_at(address))
            for address, model in zip(addresses, models, strict=True)
        ]

    def secrets_at(self, address: Address) -> tuple[np.ndarray, int]:
        """Which share the training set of a trial has, and its group."""
        values = self.goal.values
        return np.array([values[address.index % len(values)]]), address.index

    def observation_rng(self, address: Address) -> np.random.Generator:
        """What an observer draws from."""
        position = PHASES.index(address.phase)
        return part_stream(self._seed_of(address), Parts.OBSERVING_SHADOW, position, address.index)

    def _seed_of(self, address: Address) -> int:
        """The game's seed for trials that are remembered; another for each round of fresh ones."""
        if address.round == 0:
            return self.seed
        return integer_seed(part_stream(self.seed, Parts.FRESH_ROUND, address.round))

    def fitting_rng(self) -> np.random.Generator:
        """What an attack draws from when it learns."""
        return part_stream(self.seed, Parts.FITTING)


class ModelPropertyInference(GameThreatModel):
    """Which share of the training records has a property: this one or that, or which of several?

    Models are trained on data with each of the shares in turn; the secret of each is which it had:
    whether the second, where there are two. The attacker trains models on one part of the
    population, tests use the other.

    Parameters
    ----------
    trainer : Trainer or scikit-learn classifier
    population : (X, y) or Records
    has_property : callable or array of bool
        Marks the records of the population that have the property: ``has_property(records)``, or
        one boolean each.
    shares : sequence of float
        Share of such records in the training data: without and with the property, or any number
        of shares.
    num_records : int
        Training records of each model.
    access : {"scores", "labels", "parameters"}
    num_probes : int
        Records that the models are asked about; none of them is trained on.
    seed, n_jobs, executor, label
        As in `ModelMIA`.
    property_label : str
        How results call the property.
    model : object, optional
        A model in question, whose training data is not known: audits say which share it has.
        Anything that `tapas.models.as_model` takes.

    Attributes
    ----------
    in_question : Model or None
        That model, as the release shows it.
    """

    default_trials = 100

    def __init__(
        self,
        trainer: Trainer | Classifier,
        population: RecordsLike,
        has_property: Callable[[Records], ArrayLike] | ArrayLike,
        shares: Sequence[float] = (0.3, 0.7),
        num_records: int = 500,
        access: Access | str = "scores",
        num_probes: int = 100,
        seed: int | None = None,
        *,
        n_jobs: int | None = None,
        executor: Executor | None = None,
        label: str = "records",
        property_label: str = "the property",
        model: object = None,
    ) -> None:
        super().__init__(n_jobs=n_jobs, executor=executor)
        seed = resolve_seed(seed)
        records = as_records(population, "population")
        marked = _marked(records, has_property)
        size = check_count(num_records, "num_records", minimum=2)
        probed = check_count(num_probes, "num_probes", minimum=1)
        order = part_stream(seed, Parts.AUXILIARY_SPLIT).permutation(len(records))
        rest = order[probed:]
        wanted = _checked_shares(shares, size)
        sets = [
            PropertySets(rows, marked, wanted, size, seed, phase)
            for phase, rows in enumerate((rest[::2], rest[1::2]))
        ]
        for one in sets:
            _check_enough(one)
        self._game = PropertyGame(
            trainer=trainer if isinstance(trainer, Trainer) else SklearnTrainer(trainer),
            records=records,
            sets=(sets[0], sets[1]),
            probes=records.take(order[:probed]),
            access=Access.parse(access),
            seed=seed,
            data_label=label,
            property_label=property_label,
        )
        self.in_question = None if model is None else self._seen(model)

    @property
    def game(self) -> PropertyGame:
        """What is played."""
        return self._game

    def ask_first(self, number: int) -> str | None:
        """Ask the model in question, if there is one, about a few of the records of attacks."""
        if self.in_question is None:
            return None
        return ask_first(self.in_question, self._game.access, self._game.probes, number)

    def share_of(self, attack: AttackDoors, model: object) -> ShareAnswer:
        """Which share a model whose training data is not known is taken to have, with scores."""
        trained = attack._require_trained()
        observer = trained.observer or self.player().observer(attack)
        return self.answer(attack.label, observer, trained.scorer, self._seen(model))

    def score_of(self, attack: AttackDoors, model: object) -> float | np.ndarray:
        """Score of such a model: high means the second share. Of more shares, a score for each."""
        scores = self.share_of(attack, model).scores
        return scores[0] if len(scores) == 1 else np.array(scores)

    def answer(self, attack: str, observer: Observer, scorer: Scorer, model: Model) -> ShareAnswer:
        """What was learnt (`scorer`) says of a model."""
        game = self._game
        rng = part_stream(game.seed, Parts.OBSERVING_AUDITED, _ASKED_MODEL)
        seen = np.asarray(observer(Release(model), game.briefing("test"), rng=rng))
        scores = np.asarray(scorer.score(seen[None]))
        decided = game.goal.values.index(np.asarray(scorer.decide(scores))[0, 0])
        told = tuple(map(float, np.atleast_1d(scores[0, 0])))
        return ShareAnswer(attack, game.sets[0].shares[decided], told)

    def _seen(self, model: object) -> Model:
        """A model as the release shows it."""
        return as_model(model).aligned(self._game.records.classes).restricted(self._game.access)


def _marked(
    records: Records, has_property: Callable[[Records], ArrayLike] | ArrayLike
) -> np.ndarray:
    given = has_property(records) if callable(has_property) else has_property
    marked = np.asarray(given, dtype=bool)
    if marked.shape != (len(records),):
        raise ThreatModelError(
            f"has_property must give one boolean for each of {len(records)} records, got shape "
            f"{marked.shape}"
        )
    return marked


def _checked_shares(shares: Sequence[float], size: int) -> tuple[float, ...]:
    checked = tuple(check_probability(share, "shares") for share in shares)
    if len({round(share * size) for share in checked}) < max(2, len(checked)):
        raise ThreatModelError(
            f"shares must be two or more that give different numbers of {size} records, got "
            f"{shares!r}"
        )
    return checked


def _check_enough(sets: PropertySets) -> None:
    wanted = round(max(sets.shares) * sets.size)
    unwanted = sets.size - round(min(sets.shares) * sets.size)
    having = int(sets.marked[sets.rows].sum())
    if having < wanted or len(sets.rows) - having < unwanted:
        raise ThreatModelError(
            f"each half of the population must hold {wanted} records with the property and "
            f"{unwanted} without, got {having} and {len(sets.rows) - having}: give more records, "
            f"or a smaller num_records"
        )
