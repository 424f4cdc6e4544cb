"""What attacks and audits rely on in a game, as checks that anybody can run on theirs."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import cloudpickle
import numpy as np
import pandas as pd

from tapas import attacks as attack_room
from tapas._random import seeded_globals
from tapas._spec import digest_of, spec_of
from tapas._validate import check_count, listing
from tapas.attacks import Attack
from tapas.compat import GameThreatModel, needs_of
from tapas.datasets import TabularDataset
from tapas.engine import Workers, run_tasks
from tapas.game import (
    PHASES,
    Address,
    Game,
    ModelBriefing,
    Phase,
    TableBriefing,
    Trial,
    unfit,
)
from tapas.models import Model
from tapas.testing._check_model import answers
from tapas.testing._every_attack import every_attack
from tapas.testing._promises import Promise, kept_promises

SEED, OTHER_SEED = 11, 12
FRESH_ROUNDS = 3
FAR = 4.0  # standard errors
FEWEST_IN_ORDER = 8  # records whose order could say anything

MakeGame = Callable[[int], GameThreatModel | Game]


def check_game(
    make_game: MakeGame, attacks: Sequence[Attack] | None = None, *, num_trials: int = 6
) -> list[str]:
    """Run every check on a game.

    Parameters
    ----------
    make_game : callable
        ``make_game(seed)`` makes the threat model, or the game that it plays. Whatever else it is
        made of (data, models, mechanisms) is the same each time.
    attacks : sequence of Attack, optional
        Attacks of all kinds, those that the game should refuse among them; by default all of
        `tapas.attacks`.
    num_trials : int
        How many trials of each phase are played, as far as there are as many; several times over.

    Returns
    -------
    list of str
        Names of the promises that are kept.

    Raises
    ------
    BrokenPromiseError
        Names the game, every promise that is broken, and what was seen instead.
    """
    offered = every_attack() if attacks is None else tuple(attacks)
    bench = _Bench(make_game, offered, check_count(num_trials, "num_trials", minimum=2))
    return kept_promises(bench.game.setting.name, _PROMISES, bench)


Stack = tuple[Phase, range]


@dataclass(frozen=True)
class _Seen:
    """All that can be seen of a trial: equal where trials are the same."""

    phase: Phase
    index: int
    group: int
    secrets: tuple[str, ...]
    release: str
    briefing: str
    randomness: float

    def differences(self, other: "_Seen") -> list[str]:
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) != getattr(other, name)]


@dataclass(frozen=True, eq=False)
class _Bench:
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
    def first_time(self) -> dict[Stack, list[_Seen]]:
        """What the trials are, by which all other times are judged."""
        return self.played(self.game)

    def played(
        self, game: Game, stacks: Sequence[Stack] | None = None, *, n_jobs: int = 1, round_: int = 0
    ) -> dict[Stack, list[_Seen]]:
        """What is seen of trials, wherever they are played."""
        found: dict[Stack, list[_Seen]] = {}
        run_tasks(
            _Play(game, round_),
            self.stacks() if stacks is None else stacks,
            receive=found.__setitem__,
            workers=Workers(n_jobs),
        )
        return found

    def differs(self, found: dict[Stack, list[_Seen]]) -> str | None:
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
            yield from _played(self.game, stack)


@dataclass(frozen=True, eq=False)
class _Play:
    """Plays trials and tells what there is to see of them; sent to where they are played."""

    game: Game
    round: int

    def __call__(self, stack: Stack) -> list[_Seen]:
        game, told = self.game, spec_of(self.game.briefing(stack[0])).digest
        played = _played(game, stack, self.round)
        return [
            _Seen(
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


def _played(game: Game, stack: Stack, round_: int = 0) -> Sequence[Trial]:
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


# -- what it is ------------------------------------------------------------------------------


def _names_breach(bench: _Bench) -> str | None:
    game = bench.game
    for name, text in {
        "label": game.label,
        "data_label": game.data_label,
        "the name in setting": game.setting.name,
    }.items():
        if not isinstance(text, str) or not text:
            return f"{name} is {text!r}"
    for position, text in enumerate(game.target_labels):
        if not isinstance(text, str) or not text:
            return f"the label of target {position} is {text!r}"
    return None


def _identity_breach(bench: _Bench) -> str | None:
    game, again, other = bench.game, bench.made(), bench.made(OTHER_SEED)
    if (game.seed, other.seed) != (SEED, OTHER_SEED):
        return f"made with the seeds {SEED} and {OTHER_SEED}, it has {game.seed} and {other.seed}"
    if game.spec.doubts:
        return f"it cannot be told from others: {game.spec.doubts[0]}"
    if again.spec.digest != game.spec.digest:
        return "two that are made alike have different specs"
    if other.spec.digest == game.spec.digest:
        return "another seed gives the same spec"
    for words, twin in {
        "a time limit": game.within(3600.0),
        "playing in threads": game.for_threads(),
    }.items():
        if twin.spec.digest != game.spec.digest:
            return f"{words} makes it another game"
    bench.played(game)
    return None if game.spec.digest == again.spec.digest else "playing it made it another"


def _travel_breach(bench: _Bench) -> str | None:
    arrived = cloudpickle.loads(cloudpickle.dumps(bench.game))
    if arrived.spec.digest != bench.game.spec.digest:
        return "what arrived is another game"
    return bench.differs(bench.played(arrived))


# -- trials are functions of their addresses ---------------------------------------------------


def _repetition_breach(bench: _Bench) -> str | None:
    return bench.differs(bench.played(bench.game)) or bench.differs(bench.played(bench.made()))


def _order_breach(bench: _Bench) -> str | None:
    return bench.differs(bench.played(bench.made(), bench.stacks()[::-1]))


def _processes_breach(bench: _Bench) -> str | None:
    return bench.differs(bench.played(bench.game, n_jobs=2))


def _globals_breach(bench: _Bench) -> str | None:
    for ambient in (1, 2):
        with seeded_globals(ambient):
            breach = bench.differs(bench.played(bench.game))
        if breach is not None:
            return breach
    return None


def _fresh_breach(bench: _Bench) -> str | None:
    endless = [phase for phase in bench.phases if bench.game.rounds(phase) is None]
    for phase in endless:
        stacks = bench.stacks([phase])
        before = [_drawn(bench.first_time[stack]) for stack in stacks]
        for number in range(1, FRESH_ROUNDS + 1):
            fresh = bench.played(bench.game, stacks, round_=number)
            if [_drawn(fresh[stack]) for stack in stacks] != before:
                break
        else:
            return f"the {phase} trials of {FRESH_ROUNDS} other rounds repeat the remembered ones"
    return None


def _drawn(stack: list[_Seen]) -> list[tuple[tuple[str, ...], str]]:
    return [(trial.secrets, trial.release) for trial in stack]


# -- what fits together ------------------------------------------------------------------------


def _rounds_breach(bench: _Bench) -> str | None:
    game, setting = bench.game, bench.game.setting
    if setting.goal != game.goal:
        return f"the goal is {game.goal}, in setting {setting.goal}"
    if setting.training != game.rounds("train"):
        return f"rounds('train') is {game.rounds('train')}, training in setting {setting.training}"
    if setting.test not in (None, game.rounds("test")):
        return f"rounds('test') is {game.rounds('test')}, test in setting {setting.test}"
    if "test" not in bench.phases:
        return "there is no test trial to judge attacks by"
    for phase in bench.phases:
        if game.trials_at_once(phase) < 1:
            return f"{game.trials_at_once(phase)} {phase} trials are played at once"
        for stack in bench.stacks([phase]):
            found = [(trial.phase, trial.index) for trial in _played(game, stack)]
            if found != [(phase, index) for index in stack[1]]:
                return f"asked for the trials {stack} it played {found}"
    return None


def _releases_breach(bench: _Bench) -> str | None:
    kinds = {"table": TabularDataset, "model": Model}
    setting = bench.game.setting
    for phase in bench.phases:
        for trial in bench.trials(phase):
            data = trial.release.data
            if not isinstance(data, kinds[setting.release]):
                return f"{phase} trial {trial.index} released a {type(data).__name__}"
            if (trial.release.mechanism is not None) != setting.mechanism:
                shown = "shows" if trial.release.mechanism is not None else "does not show"
                return f"{phase} trial {trial.index} {shown} the mechanism"
    return None


def _targets_breach(bench: _Bench) -> str | None:
    game, labels = bench.game, len(bench.game.target_labels)
    for phase in bench.phases:
        judged, told = game.judged(phase), game.briefing(phase).num_targets
        if judged.dtype != bool or judged.shape != (told,):
            return f"{told} {phase} targets are told of, judged has shape {judged.shape}"
        if judged.sum() not in ({labels} if phase == "test" else {0, labels}):
            return f"{judged.sum()} of the {phase} targets are judged, {labels} have labels"
        for trial in bench.trials(phase):
            if trial.secrets.shape != (told,):
                return f"{told} {phase} targets have secrets of shape {trial.secrets.shape}"
    if "train" in bench.phases and game.judged("train").any():
        return _different_targets(game)
    return None


def _different_targets(game: Game) -> str | None:
    """Judged targets must be the same ones, in the same order, where they are learnt about."""
    learnt, judged = game.briefing("train"), game.briefing("test")
    rows = np.flatnonzero(game.judged("train"))
    same = True
    if isinstance(learnt, TableBriefing) and isinstance(judged, TableBriefing):
        same = learnt.targets.table.take(rows).same_values(judged.targets.table)
    if isinstance(learnt, ModelBriefing) and isinstance(judged, ModelBriefing):
        known = learnt.targets if game.goal.kind == "property" else learnt.targets.take(rows)
        same = np.array_equal(known.row_keys(), judged.targets.row_keys())
    return None if same else "judged targets that are learnt about are others than those judged"


def _secrets_breach(bench: _Bench) -> str | None:
    values = bench.game.goal.values
    for phase in bench.phases:
        for trial in bench.trials(phase):
            strange = [one for one in trial.secrets.tolist() if values and one not in values]
            if strange:
                return f"{strange[0]!r} is none of {listing(values)}"
    return None


# -- what is told ------------------------------------------------------------------------------


def _masking_breach(bench: _Bench) -> str | None:
    attribute = bench.game.goal.attribute
    for phase in bench.phases if bench.game.goal.kind == "attribute" else ():
        briefing = bench.game.briefing(phase)
        if isinstance(briefing, TableBriefing):
            told = briefing.targets.data[str(attribute)]
        elif isinstance(briefing, ModelBriefing):
            told = pd.Series(briefing.targets.values_of(attribute))
        else:
            return f"a {type(briefing).__name__} has no targets"
        if told.notna().any():
            return f"{phase} targets are told with {listing(told.dropna().unique().tolist())}"
    return None


def _telling_order_breach(bench: _Bench) -> str | None:
    if bench.game.goal.kind != "membership":
        return None
    for phase in bench.phases:
        secrets = next(bench.trials(phase)).secrets.astype(bool)
        judged = bench.game.judged(phase)  # attacks are told which those are
        for words, order in _orders(bench.game, phase).items():
            for chosen in (judged, ~judged):
                far = _distance_from_random(order[chosen], secrets[chosen])
                if far > FAR:
                    return (
                        f"the {words} of {phase} targets tells members from others: {far:.1f} "
                        f"standard errors from what a random order would give"
                    )
    return None


def _orders(game: Game, phase: Phase) -> dict[str, np.ndarray]:
    """Orders in which the targets of a phase are told."""
    briefing = game.briefing(phase)
    found = {"order": np.arange(briefing.num_targets)}
    if isinstance(briefing, TableBriefing):
        labels = pd.to_numeric(pd.Series(briefing.targets.table.index), errors="coerce")
        found["row labels"] = labels.fillna(-1).to_numpy()
    return found


def _distance_from_random(order: np.ndarray, members: np.ndarray) -> float:
    """How far the ranks of members, and the changes between neighbours, are from chance."""
    inside, outside = int(members.sum()), int((~members).sum())
    number = inside + outside
    if min(inside, outside) == 0 or number < FEWEST_IN_ORDER:
        return 0.0
    ranks = pd.Series(order).rank().to_numpy()
    sums = ranks[members].sum() - inside * (number + 1) / 2
    by_rank = sums / np.sqrt(inside * outside * (number + 1) / 12)
    sorted_members = members[np.argsort(order, kind="stable")]
    changes = int((sorted_members[1:] != sorted_members[:-1]).sum())
    expected = 2 * inside * outside / number
    spread = np.sqrt(expected * max(expected - 1, 0.5) / max(number - 1, 1))
    by_change = (changes - expected) / spread
    return float(max(abs(by_rank), abs(by_change)))


def _refusal_breach(bench: _Bench) -> str | None:
    setting = bench.game.setting
    fitting = {type(attack).__name__ for attack in bench.attacks if not _refused(attack, bench)}
    if not fitting:
        return "it refuses every attack"
    for attack in bench.attacks:
        needs = attack.needs
        wrong_release = needs.release not in (None, setting.release)
        wrong_goal = bool(needs.goals) and setting.goal.kind not in needs.goals
        if not wrong_release and not wrong_goal:
            continue
        refused = "; ".join(_refused(attack, bench))
        if not refused:
            return f"{attack.label}, which attacks another thing, is not refused"
        named = {name for name in attack_room.__all__ if re.search(rf"use .*\b{name}\b", refused)}
        if not named:
            return f"it names no attack of tapas.attacks instead of {attack.label}: {refused}"
        if not named & fitting:
            return f"none of the attacks that it names instead of {attack.label} fits: {refused}"
    return None


def _refused(attack: Attack, bench: _Bench) -> list[str]:
    return unfit(needs_of(attack), attack.label, bench.game.setting)


_PROMISES = (
    Promise("names", "it has display names for all that results show", _names_breach),
    Promise(
        "identity", "its spec is equal where it is made alike, and there alone", _identity_breach
    ),
    Promise("repetition", "a trial that is played again is the same", _repetition_breach),
    Promise("order", "a trial does not depend on which were played before", _order_breach),
    Promise("processes", "another process plays the same trials", _processes_breach),
    Promise("global randomness", "its seed decides everything random", _globals_breach),
    Promise("travel", "it can be sent to another process", _travel_breach),
    Promise("fresh rounds", "where trials never end, other rounds are other trials", _fresh_breach),
    Promise("rounds", "it plays the trials that it says there are", _rounds_breach),
    Promise("releases", "it releases what it says", _releases_breach),
    Promise("targets", "targets, labels, secrets and who is judged agree", _targets_breach),
    Promise("secrets", "every secret is one of the values that the goal has", _secrets_breach),
    Promise("masking", "a sensitive value is told of no target", _masking_breach),
    Promise("telling order", "the order of targets says nothing", _telling_order_breach),
    Promise("refusals", "attacks of another kind are told which would fit", _refusal_breach),
)
