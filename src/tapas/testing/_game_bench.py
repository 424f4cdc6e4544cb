"""A game on the bench: what is played of it, and what can be seen of that."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from tapas._spec import digest_of, spec_of
from tapas._validate import listing
from tapas.attacks import Attack
from tapas.compat import GameThreatModel
from tapas.datasets import TabularDataset
from tapas.engine import Workers, run_tasks
from tapas.game import (
    PHASES,
    Address,
    Game,
    ModelBriefing,
    Phase,
    Trial,
)
from tapas.models import Model
from tapas.testing._check_model import answers

SEED, OTHER_SEED = 11, 12
MakeGame = Callable[[int], GameThreatModel | Game]
Stack = tuple[Phase, range]


@dataclass(frozen=True)
class Seen:
    """All that can be seen of a trial: equal where trials are the same."""

    phase: Phase
    index: int
    group: int
    secrets: tuple[str, ...]
    release: str
    briefing: str
    randomness: float

    def differences(self, other: "Seen") -> list[str]:
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) != getattr(other, name)]


@dataclass(frozen=True, eq=False)
class Bench:
    """A game, and what is to be played of it."""

    make_game: MakeGame
    attacks: tuple[Attack, ...]
    num_trials: int

    def made(self, seed: int = SEED) -> Game:
        """A game that was made anew."""
        made = self.make_game(seed)
        return made.game if isinstance(made, GameThreatModel) else made

    @cached_property
    def game(self) -> Game:
        return self.made()

    @cached_property
    def phases(self) -> list[Phase]:
        """Those that have trials."""
        return [phase for phase in PHASES if self.game.rounds(phase) != 0]

    def stacks(self, phases: Sequence[Phase] = PHASES) -> list[Stack]:
        """Trials that are played together, of some phases."""
        found: list[Stack] = []
        for phase in self.phases:
            at_once, last = self.game.trials_at_once(phase), self.game.rounds(phase)
            number = self.num_trials if last is None else min(self.num_trials, last)
            for first in range(0, number if phase in phases else 0, at_once):
                stop = first + at_once if last is None else min(first + at_once, last)
                found.append((phase, range(first, stop)))
        return found

    @cached_property
    def first_time(self) -> dict[Stack, list[Seen]]:
        """What the trials are, by which all other times are judged."""
        return self.played(self.game)

    def played(
        self, game: Game, stacks: Sequence[Stack] | None = None, *, n_jobs: int = 1, round_: int = 0
    ) -> dict[Stack, list[Seen]]:
        """What is seen of trials, wherever they are played."""
        found: dict[Stack, list[Seen]] = {}
        run_tasks(
            _Play(game, round_),
            self.stacks() if stacks is None else stacks,
            receive=found.__setitem__,
            workers=Workers(n_jobs),
        )
        return found

    def differs(self, found: dict[Stack, list[Seen]]) -> str | None:
        """The first trial that is another than the first time, in words."""
        for (phase, indices), before in self.first_time.items():
            for index, was, now in zip(indices, before, found[phase, indices], strict=True):
                parts = was.differences(now)
                if parts:
                    return f"{phase} trial {index} had another {listing(parts)}"
        return None

    def trials(self, phase: Phase) -> Iterator[Trial]:
        """The trials themselves."""
        for stack in self.stacks([phase]):
            yield from played_stack(self.game, stack)


@dataclass(frozen=True, eq=False)
class _Play:
    """Plays trials and tells what there is to see of them; sent to where they are played."""

    game: Game
    round: int

    def __call__(self, stack: Stack) -> list[Seen]:
        game, told = self.game, spec_of(self.game.briefing(stack[0])).digest
        played = played_stack(game, stack, self.round)
        return [
            Seen(
                phase=trial.phase,
                index=trial.index,
                group=int(trial.group),
                secrets=tuple(str(secret) for secret in trial.secrets.tolist()),
                release=_digest(game, trial),
                briefing=told,
                randomness=game.observation_rng(address).random(),
            )
            for address, trial in zip(_addresses(game, stack, self.round), played, strict=True)
        ]


def _addresses(game: Game, stack: Stack, round_: int = 0) -> list[Address]:
    phase, indices = stack
    return [Address(game.seed, phase, index, round_) for index in indices]


def played_stack(game: Game, stack: Stack, round_: int = 0) -> Sequence[Trial]:
    return game.play(_addresses(game, stack, round_))


def _digest(game: Game, trial: Trial) -> str:
    """What a release is: a table by its values, a model by its answers."""
    data = trial.release.data
    if isinstance(data, TabularDataset):
        return data.table.digest()
    briefing = game.briefing(trial.phase)
    if isinstance(data, Model) and isinstance(briefing, ModelBriefing):
        targets = briefing.targets
        if game.goal.attribute is not None:
            targets = targets.with_value(game.goal.attribute, game.goal.values[0])
        return digest_of(answers(data, targets.X).tobytes())
    return spec_of(data).digest
