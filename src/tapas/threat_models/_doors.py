"""Judge any attack: one that observes and scores, or one that writes the documented methods."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Judged:
    """Outcome of a test: one entry per trial."""

    secrets: np.ndarray
    decisions: np.ndarray
    scores: np.ndarray | None
    groups: np.ndarray


def judge(threat_model: Any, attack: Any, num_samples: int | None, ignore_memory: bool) -> Judged:
    """Play test trials against an attack; every release is scored exactly once."""
    if getattr(attack, "uses_observations", False):
        return _judge_observer(threat_model, attack, num_samples, ignore_memory)
    return _judge_by_doors(threat_model, attack, num_samples, ignore_memory)


def _judge_observer(
    threat_model: Any, attack: Any, num_samples: int | None, ignore_memory: bool
) -> Judged:
    if getattr(attack, "briefing", None) is None:
        attack._brief(threat_model)  # trained by other means than train()
    observed = threat_model.observe(
        attack, num_samples, training=False, ignore_memory=ignore_memory
    )
    scores = np.asarray(attack.score(observed.values))
    decisions = np.asarray(attack.decide(scores))
    return Judged(observed.secrets[:, 0], decisions[:, 0], scores[:, 0], observed.groups)


def _judge_by_doors(
    threat_model: Any, attack: Any, num_samples: int | None, ignore_memory: bool
) -> Judged:
    releases, secrets, groups = threat_model._samples(num_samples, False, ignore_memory)
    scores = attack.attack_score(releases) if hasattr(attack, "attack_score") else None
    if getattr(attack, "decides_from_scores", False):
        decisions = attack.decide(np.asarray(scores)[:, None])[:, 0]
    else:
        decisions = attack.attack(releases)
    return Judged(
        np.array(secrets),
        np.asarray(decisions),
        None if scores is None else np.asarray(scores),
        groups,
    )
