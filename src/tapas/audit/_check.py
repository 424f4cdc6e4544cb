"""Find out before any work whether an audit can be carried out."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from tapas._random import stream
from tapas.compat import AttackDoors, GameThreatModel, needs_of
from tapas.engine import guarded
from tapas.errors import TapasError
from tapas.game import Address, Briefing, Game, Phase, Release, TableBriefing, unfit

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
        Time of one trial with all its observations, on one core.
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
    """Ask whether attacks fit; where tables are released, let them look at one of each phase."""
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
        return _train_one(game.within(timeout))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        phases: list[Phase] = ["test"] if game.rounds("train") == 0 else ["train", "test"]
        for phase in phases:
            problems += _look(threat_model, attacks, phase, timeout, attack_timeout)
        seconds = (time.perf_counter() - start) / len(phases)
    return CheckReport(
        tuple(dict.fromkeys(problems)),
        tuple(str(warning.message) for warning in caught),
        seconds if game.rounds("test") is None else None,
    )


def _train_one(game: Game) -> CheckReport:
    """Whether a shadow model can be trained, and how long one takes."""
    if game.rounds("train") == 0:
        return CheckReport((), (), None)
    start = time.perf_counter()
    try:
        game.play([Address(game.seed, "train", 0)])
    except TapasError as error:
        return CheckReport((str(error),), (), None)
    return CheckReport((), (), time.perf_counter() - start)


def _look(
    threat_model: GameThreatModel,
    attacks: Sequence[AttackDoors],
    phase: Phase,
    timeout: float | None,
    attack_timeout: float | None,
) -> list[str]:
    game = threat_model.game.within(timeout)
    try:
        trial = game.play([Address(game.seed, phase, 0)])[0]
    except TapasError as error:
        return [str(error)]
    briefing, release = _few(game, phase, trial.release)
    problems = []
    for attack in attacks:
        if attack.writes_doors:
            continue
        try:
            with guarded(attack_timeout):
                observer = threat_model.player().observer(attack)
                observer(release, briefing, rng=stream(0))
        except Exception as error:
            problems.append(f"{attack.label}: {error}")
    return problems


def _few(game: Game, phase: Phase, release: Release) -> tuple[Briefing, Release]:
    """A few records of a release that exists tell as much, at no cost."""
    briefing = game.briefing(phase)
    if game.rounds(phase) != 1 or not isinstance(briefing, TableBriefing):
        return briefing, release
    rows = release.table.take(range(min(FEW, len(release.table))))
    return briefing.only(range(min(FEW, briefing.num_targets))), Release(rows)
