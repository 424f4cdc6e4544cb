"""Find out before any work whether an audit can be carried out."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from tapas._random import stream
from tapas.audit._seconds import seconds_per_trial
from tapas.compat import AttackDoors, GameThreatModel, needs_of
from tapas.engine import guarded
from tapas.errors import TapasError, WorkersError
from tapas.game import Address, Briefing, Game, Observer, Phase, Release, TableBriefing, unfit

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
    """

    problems: tuple[str, ...]
    cautions: tuple[str, ...]
    seconds_per_trial: float | None

    @property
    def ok(self) -> bool:
        """Whether the audit can be carried out."""
        return not self.problems


def check_names(names: Sequence[str], what: str) -> list[str]:
    """Names must be different: results are told apart by them."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    return [f"{what} {name!r} occurs more than once: give each its own label" for name in repeated]


def check_subject(
    threat_model: GameThreatModel,
    attacks: Sequence[AttackDoors],
    num_train: int | None,
    timeout: float | None = None,
    attack_timeout: float | None = None,
) -> CheckReport:
    """Ask whether attacks fit; where tables are released, let them look at one of each phase.

    A model that exists is asked about a few records.
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
    if setting.release == "model":
        asked = _ask(threat_model, attack_timeout)
        return _train_one(game.within(timeout), asked) if asked.ok else asked
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        looks = _Looks(threat_model, attacks, timeout, attack_timeout)
        phases: list[Phase] = ["test"] if game.rounds("train") == 0 else ["train", "test"]
        seconds = [looks.look(phase, 0) for phase in phases]
        problems += looks.problems
        open_ended = game.rounds("test") is None and not problems
        known = seconds_per_trial(seconds, partial(looks.look, "test")) if open_ended else None
    return CheckReport(
        tuple(dict.fromkeys(problems)),
        tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        known,
    )


def _ask(threat_model: GameThreatModel, timeout: float | None) -> CheckReport:
    """Whether a model that exists answers."""
    try:
        with guarded(timeout):
            caution = threat_model.ask_first(FEW)
    except Exception as error:
        return CheckReport((str(error),), (), None)
    return CheckReport((), () if caution is None else (caution,), None)


def _train_one(game: Game, asked: CheckReport) -> CheckReport:
    """Whether a shadow model can be trained, and how long one takes."""
    if game.rounds("train") == 0:
        return asked

    def train(index: int) -> float:
        start = time.perf_counter()
        game.play([Address(game.seed, "train", index)])
        return time.perf_counter() - start

    try:
        first = train(0)
    except TapasError as error:
        return CheckReport((str(error),), asked.cautions, None)
    seconds = seconds_per_trial([first], train, game.rounds("train"))
    return replace(asked, seconds_per_trial=seconds)


class _Looks:
    """Attacks look at trials; what they cannot look at is a problem."""

    def __init__(
        self,
        threat_model: GameThreatModel,
        attacks: Sequence[AttackDoors],
        timeout: float | None,
        attack_timeout: float | None,
    ) -> None:
        self.problems: list[str] = []
        self._game, self._limit = threat_model.game.within(timeout), attack_timeout
        self._player = threat_model.player()
        self._attacks = [attack for attack in attacks if not attack.writes_doors]
        self._observers: dict[AttackDoors, Observer] = {}

    def look(self, phase: Phase, index: int) -> float:
        """Play a trial and let every attack look at it; the seconds that this took."""
        game, start = self._game, time.perf_counter()
        try:
            trial = game.play([Address(game.seed, phase, index)])[0]
        except TapasError as error:
            self.problems.append(str(error))
            return time.perf_counter() - start
        seconds = time.perf_counter() - start
        briefing, release = _few(game, phase, trial.release)
        for attack in self._attacks:
            try:
                with guarded(self._limit):
                    observer = self._observer(attack)
                    start = time.perf_counter()
                    observer(release, briefing, rng=stream(0))
                    seconds += time.perf_counter() - start
            except WorkersError:
                raise
            except Exception as error:
                self.problems.append(f"{attack.label}: {error}")
        return seconds

    def _observer(self, attack: AttackDoors) -> Observer:
        """How it looks; what it learns for that is learnt once, and is no part of a trial."""
        if attack not in self._observers:
            self._observers[attack] = self._player.observer(attack)
        return self._observers[attack]


def _few(game: Game, phase: Phase, release: Release) -> tuple[Briefing, Release]:
    """A few records of a release that exists tell as much, at no cost."""
    briefing = game.briefing(phase)
    if game.rounds(phase) != 1 or not isinstance(briefing, TableBriefing):
        return briefing, release
    rows = release.table.take(range(min(FEW, len(release.table))))
    return briefing.only(range(min(FEW, briefing.num_targets))), Release(rows)
