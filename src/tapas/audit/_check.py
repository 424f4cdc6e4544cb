"""Find out before any work whether an audit can be carried out."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tapas._random import stream
from tapas.audit._seconds import seconds_per_trial
from tapas.audit._time_to_learn import TimesToLearn
from tapas.compat import AttackDoors, GameThreatModel, needs_of
from tapas.engine import guarded
from tapas.errors import TapasError, WorkersError
from tapas.game import (
    Address,
    Briefing,
    Game,
    ModelBriefing,
    Observer,
    Phase,
    Release,
    TableBriefing,
    Trial,
    unfit,
)
from tapas.models import Model

FEW = 2  # records and rows that a release which exists is looked at by


@dataclass(frozen=True)
class CheckReport:
    """What a check found.

    Attributes
    ----------
    problems : tuple of str
        Why the audit cannot be carried out; empty if it can.
    cautions : tuple of str
        What should be known beforehand.
    seconds_per_trial : float or None
        Time of one trial with all its observations, on one core; imports and other first costs do
        not count.
    seconds_to_learn : float or None
        Time for all attacks to learn about all targets from all training trials, on one core; None
        where trials are not timed.
    untimed : tuple of str
        Attacks whose learning could not be timed, and is not in it.
    """

    problems: tuple[str, ...]
    cautions: tuple[str, ...]
    seconds_per_trial: float | None
    seconds_to_learn: float | None = None
    untimed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the audit can be carried out."""
        return not self.problems

    def timed_like(self, subjects: Sequence["CheckReport"]) -> "CheckReport":
        """With the mean time of a trial of several subjects, and all that is learnt about them."""
        timed = [one for one in subjects if one.seconds_per_trial is not None]
        if self.problems or not timed:
            return self
        trials = [one.seconds_per_trial for one in timed if one.seconds_per_trial is not None]
        return replace(
            self,
            seconds_per_trial=sum(trials) / len(trials),
            seconds_to_learn=sum(one.seconds_to_learn or 0.0 for one in timed),
            untimed=tuple(dict.fromkeys(label for one in timed for label in one.untimed)),
        )


def check_names(names: Sequence[str], what: str) -> list[str]:
    """Names must be different: results are told apart by them."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    return [f"{what} {name!r} occurs more than once: give each its own label" for name in repeated]


def check_subject(
    threat_model: GameThreatModel,
    attacks: Sequence[AttackDoors],
    num_train: int | None,
    times: TimesToLearn,
    timeout: float | None = None,
    attack_timeout: float | None = None,
) -> CheckReport:
    """Ask whether attacks fit; where tables are released, let them look at one of each phase.

    A model that exists is asked about a few records. Attacks that look at training trials learn
    from some that are made up alike, for the time of it.
    """
    game = threat_model.game
    setting = game.setting
    problems = [
        reason for attack in attacks for reason in unfit(needs_of(attack), attack.label, setting)
    ]
    if game.rounds("train") is None and num_train == 0:
        problems += [
            f"{attack.label} needs training trials, and num_train (trials.train) is 0"
            for attack in attacks
            if attack.needs.training
        ]
    if problems:
        return CheckReport(tuple(dict.fromkeys(problems)), (), None)
    looks = _Looks(threat_model, attacks, timeout, attack_timeout)
    count = game.rounds("train")
    learning = partial(looks.learning, times, (num_train or 0) if count is None else count)
    if setting.release == "model":
        asked = _ask(threat_model, attack_timeout)
        return _train_one(looks, asked, learning) if asked.ok else asked
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        phases: list[Phase] = ["test"] if count == 0 else ["train", "test"]
        seconds = [looks.look(phase, 0) for phase in phases]
        problems += looks.problems
        known: float | None = None
        if game.rounds("test") is None and not problems:
            again: list[Phase] = ["train", "test"] if count is None else ["test"]
            known = seconds_per_trial(
                seconds, lambda number: looks.look(again[number % len(again)], number)
            )
    found = CheckReport(
        tuple(dict.fromkeys(problems)),
        tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        known,
    )
    return found if known is None else learning(found)


def _ask(threat_model: GameThreatModel, timeout: float | None) -> CheckReport:
    """Whether a model that exists answers."""
    try:
        with guarded(timeout):
            caution = threat_model.ask_first(FEW)
    except Exception as error:
        return CheckReport((str(error),), (), None)
    return CheckReport((), () if caution is None else (caution,), None)


def _train_one(
    looks: "_Looks", asked: CheckReport, learning: Callable[[CheckReport], CheckReport]
) -> CheckReport:
    """Whether a shadow model can be trained, and how long one takes."""
    available = looks.game.rounds("train")
    if available == 0:
        return asked
    first = looks.look("train", 0)
    if looks.problems:
        return CheckReport(tuple(looks.problems), asked.cautions, None)
    seconds = seconds_per_trial([first], partial(looks.look, "train"), available)
    found = replace(asked, seconds_per_trial=seconds)
    return found if available == 1 else learning(found)


class _Looks:
    """Attacks look at trials; what they cannot look at is a problem, where tables are released."""

    def __init__(
        self,
        threat_model: GameThreatModel,
        attacks: Sequence[AttackDoors],
        timeout: float | None,
        attack_timeout: float | None,
    ) -> None:
        self.problems: list[str] = []
        self.game, self._limit = threat_model.game.within(timeout), attack_timeout
        self._player = threat_model.player()
        self._of_models = self.game.setting.release == "model"
        self._learn = [one for one in attacks if one.needs.training or one.writes_doors]
        looking = attacks
        if self._of_models:  # shadow models alone are looked at: others count what they are asked
            looking = self._learn if self.game.rounds("train") != 1 else ()
        self._attacks = [attack for attack in looking if not attack.writes_doors]
        self._observers: dict[AttackDoors, Observer] = {}
        self._seen: dict[AttackDoors, list[np.ndarray]] = {}

    def look(self, phase: Phase, index: int) -> float:
        """Play a trial and let every attack look at it; the seconds that this took."""
        game, start = self.game, time.perf_counter()
        try:
            trial = game.play([Address(game.seed, phase, index)])[0]
        except TapasError as error:
            self.problems.append(str(error))
            return time.perf_counter() - start
        seconds = time.perf_counter() - start
        briefing, release = _shown(game, phase, trial)
        for attack in self._attacks:
            try:
                with guarded(self._limit):
                    observer = self._observer(attack)
                    start = time.perf_counter()
                    values = np.asarray(observer(release, briefing, rng=stream(0)))
                    seconds += time.perf_counter() - start
                if phase == "train":
                    self._seen.setdefault(attack, []).append(values)
            except WorkersError:
                raise
            except Exception as error:
                if not self._of_models:  # there, others go on without it
                    self.problems.append(f"{attack.label}: {error}")
        return seconds

    def _observer(self, attack: AttackDoors) -> Observer:
        """How it looks; what it learns for that is learnt once, and is no part of a trial."""
        if attack not in self._observers:
            self._observers[attack] = self._player.observer(attack)
        return self._observers[attack]

    def learning(self, times: TimesToLearn, count: int, found: CheckReport) -> CheckReport:
        """What was found, with what attacks take to learn from `count` training trials."""
        seconds, untimed = 0.0, []
        for attack in self._learn:
            try:
                seconds += times.of(attack, self.game, self._seen[attack], count)
            except WorkersError:
                raise
            except Exception:  # the run is to judge it
                untimed.append(attack.label)
        return replace(found, seconds_to_learn=seconds, untimed=tuple(untimed))


def _shown(game: Game, phase: Phase, trial: Trial) -> tuple[Briefing, Release]:
    """A few records of a release that exists tell as much; models show what they may."""
    briefing, release = game.briefing(phase), trial.release
    if isinstance(release.data, Model) and isinstance(briefing, ModelBriefing):
        return briefing, Release(release.data.restricted(briefing.access), release.mechanism)
    if game.rounds(phase) != 1 or not isinstance(briefing, TableBriefing):
        return briefing, release
    rows = release.table.take(range(min(FEW, len(release.table))))
    return briefing.only(range(min(FEW, briefing.num_targets))), Release(rows)
