"""The documented methods of an attack: train, attack, attack_score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from tapas._random import stream
from tapas.compat._earlier_core import adapt_earlier_fit
from tapas.compat._threat_model import ThreatModel
from tapas.datasets import TabularDataset
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.game import (
    Board,
    Briefing,
    Game,
    ModelBriefing,
    Needs,
    Observer,
    Release,
    Samples,
    Scorer,
)
from tapas.models import as_model

__all__ = ["AttackDoors", "Trained", "TrainingGround", "needs_of"]

_LEARNT = ("threat_model", "briefing", "_trained", "_label")
_DOORS = ("attack", "attack_score")
_CORE = ("observe", "observer")


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gave.

    Attributes
    ----------
    briefing : Briefing
        About those that are judged.
    observer : Observer or None
        None where an attack has only the documented methods.
    scorer : Scorer
    one_target : bool
        Whether it is about one target, whose axis the documented methods leave out.
    """

    briefing: Briefing
    observer: Observer | None
    scorer: Scorer
    one_target: bool


@runtime_checkable
class TrainingGround(Protocol):
    """A threat model that attacks can be trained on."""

    @property
    def game(self) -> Game:
        """What is played."""

    def trained(self, attack: "AttackDoors", num_samples: int | None) -> Trained:
        """Let an attack observe and learn."""


class AttackDoors:
    """The documented methods of an attack, on top of `observer` and `fit`.

    A subclass that writes `attack` or `attack_score` itself is asked by those.
    """

    # Whether one scorer serves all targets, learnt from all of them together.
    pools_targets: ClassVar[bool] = False
    threat_model: ThreatModel | None = None
    briefing: Briefing | None = None
    _trained: Trained | None = None

    # -- what the class that these doors belong to provides ------------------------------------

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    @property
    def needs(self) -> Needs:
        """What the attack cannot do without."""
        return Needs()

    def observer(self, briefing: Briefing, samples: Samples) -> Observer:
        """The map."""
        raise IncompatibleAttackError(f"{self.label} does not observe releases")

    def fit(self, board: Board, *, rng: np.random.Generator) -> Scorer:
        """The reduce."""
        raise IncompatibleAttackError(f"{self.label} does not learn from observations")

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        adapt_earlier_fit(cls)

    # -- doors -------------------------------------------------------------------------------

    def train(self, threat_model: ThreatModel, num_samples: int | None = None) -> None:
        """Learn from trials that the attacker can simulate; what was learnt before is forgotten."""
        self._trained = self._prepare(threat_model).trained(self, num_samples)
        self.briefing = self._trained.briefing

    def attack(self, datasets: Sequence[object]) -> np.ndarray:
        """Guess the secret behind each release."""
        scored = self.attack_score(datasets)
        if scored is None:
            raise IncompatibleAttackError(f"{self.label} neither observes nor scores releases")
        trained, scores = self._require_trained(), np.asarray(scored)
        if not trained.one_target:
            return np.asarray(trained.scorer.decide(scores))
        return np.asarray(trained.scorer.decide(scores[:, None]))[:, 0]

    def attack_score(self, datasets: Sequence[object]) -> np.ndarray | None:
        """Score each release: higher means the positive secret is likelier."""
        if not self.observes:
            return None
        trained = self._require_trained()
        if len(datasets) == 0:
            return np.empty(0)
        seen = [self._seen(trained, given, index) for index, given in enumerate(datasets)]
        scores = np.asarray(trained.scorer.score(np.stack(seen)))
        return scores[:, 0] if trained.one_target else scores

    def _seen(self, trained: Trained, given: object, index: int) -> np.ndarray:
        release = given if isinstance(given, Release) else Release(given)
        if isinstance(trained.briefing, ModelBriefing):
            release = Release(as_model(release.data).restricted(self.needs.access))
        if trained.observer is None:
            raise NotTrainedError(f"{self.label} does not observe releases")
        return np.asarray(trained.observer(release, trained.briefing, rng=_rng(release, index)))

    def _prepare(self, threat_model: ThreatModel) -> TrainingGround:
        """Forget what was learnt, and see that the threat model can be trained on."""
        if not isinstance(threat_model, TrainingGround):
            raise IncompatibleAttackError(
                f"{self.label} needs a LabelInferenceThreatModel such as TargetedMIA or "
                f"TargetedAIA, or a ModelMIA, got {type(threat_model).__name__}"
            )
        self._trained = None
        self.threat_model = threat_model
        return threat_model

    def _require_trained(self) -> Trained:
        if self._trained is None:
            raise NotTrainedError(f"{self.label} is not trained yet: call train() first")
        return self._trained

    # -- which of the two was written --------------------------------------------------------

    @property
    def writes_doors(self) -> bool:
        """Whether a door is the truth, rather than `observe`: it is written nearer to the class."""
        core, door = _depth(type(self), _CORE), _depth(type(self), _DOORS)
        return core is None or (door is not None and door < core)

    @property
    def observes(self) -> bool:
        """Whether the class says how it looks at releases."""
        return _depth(type(self), _CORE) is not None

    @property
    def learns_from_own_scores(self) -> bool:
        """Whether `fit` is given what `attack_score` returns, rather than what was observed."""
        return self.writes_doors

    @property
    def decides_by_door(self) -> bool:
        """Whether guesses come from an `attack` of the class's own."""
        return _depth(type(self), ("attack",)) is not None

    def __getstate__(self) -> dict[str, object]:
        # An attack travels to where releases are made: without the evaluator's data.
        state = dict(self.__dict__)
        for name in ("threat_model", "briefing", "_trained"):
            state.pop(name, None)
        return state

    def __spec__(self) -> Mapping[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in _LEARNT}


def needs_of(attack: AttackDoors) -> Needs:
    """What an attack cannot do without; by its own doors it judges whole releases."""
    return replace(attack.needs, many_releases=True) if attack.writes_doors else attack.needs


def _depth(cls: type, methods: tuple[str, ...]) -> int | None:
    """How far up the class tree one of some methods is first written by a subclass."""
    for depth, ancestor in enumerate(cls.__mro__):
        if ancestor.__dict__.get("_is_base_of_attacks") or ancestor is AttackDoors:
            return None
        if any(method in vars(ancestor) for method in methods):
            return depth
    return None


def _rng(release: Release, index: int) -> np.random.Generator:
    """A stream that follows from a released table, so that the order of releases is no matter."""
    if isinstance(release.data, TabularDataset):
        return stream(0, int(release.data.table.digest()[:8], 16))
    return stream(0, index)
