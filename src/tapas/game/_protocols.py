"""The joint: what a game, an attack, an observer and a scorer are to each other."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from tapas._spec import Spec
from tapas.datasets import TabularDataset
from tapas.game._address import Address, Phase
from tapas.game._board import Board
from tapas.game._briefing import Briefing
from tapas.game._goal import Goal, Relation
from tapas.game._needs import Needs, Setting
from tapas.game._release import Release, Trial

__all__ = [
    "Attack",
    "CountsRightGuesses",
    "DrawsValues",
    "Game",
    "LearnsEach",
    "Observer",
    "PlaysConcurrently",
    "Samples",
    "Scorer",
    "TargetedScorer",
    "TellsLikelihood",
    "TellsMembers",
    "TellsSecrets",
]

# Some releases that the attacker can simulate: so many of them.
Samples = Callable[[int], Sequence[Release]]


class Observer(Protocol):
    """Looks at one release: the map.

    Runs where the release is made.
    """

    @property
    def key(self) -> str:
        """Equal for observers that see the same; differs wherever they may not."""

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """What is seen: a row per target, or one row where targets play no part."""


class Scorer(Protocol):
    """What an attack has learnt: the end of the reduce."""

    def score(self, values: np.ndarray) -> np.ndarray:
        """Score per release and target (and value, if there are more than two)."""

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Guess per release and target."""


@runtime_checkable
class TargetedScorer(Scorer, Protocol):
    """A scorer that learnt something about each target beside what all of them share."""

    def of_targets(self, chosen: slice) -> Scorer:
        """The scorer of some of the targets."""


@runtime_checkable
class Attack(Protocol):
    """A map over releases and a reduce over what was observed; neither changes the attack."""

    @property
    def label(self) -> str:
        """Display name."""

    @property
    def needs(self) -> Needs:
        """What the attack cannot do without."""

    @property
    def pools_targets(self) -> bool:
        """Whether one scorer serves all targets, learnt from all of them together."""

    def observer(self, briefing: Briefing, samples: Samples) -> Observer:
        """The map, with whatever it must learn first (ranges, queries) learnt once."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> Scorer:
        """Learn from what was observed; an attack that needs no training gets an empty board."""


@runtime_checkable
class LearnsEach(Protocol):
    """An attack that can learn about many targets, each by itself, in one go."""

    def fit_each(self, board: Board, *, rng: np.random.Generator) -> Scorer | None:
        """What `fit` would learn about each target; None where each is to be asked for."""


class Game(Protocol):
    """Who attacks what, knowing what: a pure function from addresses to trials."""

    @property
    def label(self) -> str:
        """Display name of the mechanism, model or release."""

    @property
    def data_label(self) -> str:
        """Display name of the private data."""

    @property
    def seed(self) -> int:
        """Everything random follows from it."""

    @property
    def spec(self) -> Spec:
        """Identity: games with equal specs play equal trials."""

    @property
    def goal(self) -> Goal:
        """What is to be learnt."""

    @property
    def relation(self) -> Relation | None:
        """Which neighbours are played."""

    @property
    def inputs_alone(self) -> np.ndarray | None:
        """What the judged targets tell of their secrets without any release, if that is known."""

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks."""

    @property
    def target_labels(self) -> tuple[str, ...]:
        """Display names of those that attacks are judged by."""

    def trials_at_once(self, phase: Phase) -> int:
        """How many consecutive trials are played together."""

    @property
    def draws_from_globals(self) -> bool:
        """Whether trials use the global random generators, which threads would share."""

    def for_threads(self) -> "Game":
        """The same game where other threads see the global generators: they are left alone."""

    def within(self, seconds: float | None) -> "Game":
        """The same game, a run of whose mechanism fails if it takes longer."""

    def rounds(self, phase: Phase) -> int | None:
        """How many trials there are: None is any number, 1 a release that exists already."""

    def briefing(self, phase: Phase) -> Briefing:
        """What an attack is told in a phase."""

    def judged(self, phase: Phase) -> np.ndarray:
        """Which targets of the phase are those that attacks are judged by."""

    def play(self, addresses: Sequence[Address]) -> Sequence[Trial]:
        """The trials at consecutive addresses; depends on nothing else."""

    def caution(self, address: Address) -> str | None:
        """What a probe at an address shows that users should know of, such as an ignored seed."""

    def observation_rng(self, address: Address) -> np.random.Generator:
        """What an observer draws from in a trial."""

    def fitting_rng(self) -> np.random.Generator:
        """What an attack draws from when it learns."""


@runtime_checkable
class PlaysConcurrently(Protocol):
    """A game whose mechanism may wait, so that several trials can be under way at once."""

    @property
    def waits(self) -> bool:
        """Whether the mechanism is a coroutine."""

    async def play_concurrently(self, address: Address) -> Trial:
        """The trial at an address, giving way to others while the mechanism waits."""


@runtime_checkable
class DrawsValues(Protocol):
    """A game that may draw values of an attribute by known probabilities, whoever it is about."""

    @property
    def commonest_share(self) -> float | None:
        """Probability of the likeliest value, which is as often right as any guess without the
        release can be; None where values are as they are."""


@runtime_checkable
class TellsSecrets(Protocol):
    """A game that knows the secrets of a trial without running the mechanism."""

    def secrets_at(self, address: Address) -> tuple[np.ndarray, int]:
        """The secret of every target at an address, and the group of the trial."""


@runtime_checkable
class TellsMembers(Protocol):
    """A game whose private datasets are drawn from a table, so that any record may be in."""

    def members(
        self, phase: Phase, indices: Sequence[int]
    ) -> tuple[TabularDataset, np.ndarray] | None:
        """The table, and who is in the private data of some trials, (trials, records).

        None where private data is not drawn from a table, or all of it is always in.
        """

    def private_records(self) -> TabularDataset | None:
        """All records that private data is made of, targets among them, where that is known."""


@runtime_checkable
class TellsLikelihood(Protocol):
    """A mechanism that tells how likely it finds records, once it is fitted."""

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Numbers whose sum is the log-likelihood of each record, (records, factors)."""


@runtime_checkable
class CountsRightGuesses(Protocol):
    """A game about values of records that were used, with others as baseline."""

    @property
    def right_guesses_of(self) -> np.ndarray | None:
        """Who of the judged was used; None where the secret itself is what counts."""
