"""Find out before any work whether an audit can be carried out."""

import copy
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tapas._random import stream
from tapas.errors import TapasError
from tapas.threat_models import LabelInferenceThreatModel, NoBoxKnowledge


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
    threat_model: Any, attacks: Sequence[Any], num_train: int
) -> tuple[list[str], list[str], float]:
    """Play one trial of each phase and let every attack look at it."""
    problems = _refusals(threat_model, attacks)
    if problems:
        return problems, [], 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        for phase in ("test",) if _is_no_box(threat_model) else ("train", "test"):
            problems += _look(threat_model, attacks, phase)
        seconds = time.perf_counter() - start
    if _is_no_box(threat_model) and num_train:
        problems += [
            f"{attack.label} needs training, which a no-box attacker cannot do: use criterion "
            f"('threshold', value)"
            for attack in attacks
            if getattr(attack, "needs_training", False)
        ]
    return list(dict.fromkeys(problems)), [str(warning.message) for warning in caught], seconds


def _refusals(threat_model: Any, attacks: Sequence[Any]) -> list[str]:
    """Attacks that say themselves that they do not fit."""
    problems = []
    for attack in attacks:
        try:
            if hasattr(attack, "_brief"):
                copy.copy(attack)._brief(threat_model)
        except TapasError as error:
            problems.append(str(error))
    return problems


def _look(threat_model: Any, attacks: Sequence[Any], phase: Any) -> list[str]:
    try:
        trial = threat_model.draw_trial(phase, 0)
    except TapasError as error:
        return [str(error)]
    problems = []
    for attack in attacks:
        if not getattr(attack, "uses_observations", False):
            continue
        try:
            attack.observe(trial.release, threat_model.briefing(all_targets=True), rng=stream(0))
        except Exception as error:
            problems.append(f"{attack.label}: {error}")
    return problems


def _is_no_box(threat_model: LabelInferenceThreatModel) -> bool:
    return isinstance(getattr(threat_model, "atk_know_gen", None), NoBoxKnowledge)
