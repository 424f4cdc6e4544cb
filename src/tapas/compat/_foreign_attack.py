"""Attacks that are no subclass of ours: anything with an `attack` method."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from tapas.compat._attack import AttackDoors
from tapas.compat._threat_model import ThreatModel
from tapas.errors import IncompatibleAttackError
from tapas.game import Needs

__all__ = ["AttackLike", "as_attack"]


@runtime_checkable
class Guesses(Protocol):
    """Something that guesses secrets from datasets."""

    def attack(self, datasets: Sequence[object]) -> object:
        """Guess the secret behind each release."""


AttackLike = AttackDoors | Guesses


class ForeignAttack(AttackDoors):
    """The documented methods of somebody else's object."""

    def __init__(self, foreign: Guesses) -> None:
        self.foreign = foreign

    @property
    def label(self) -> str:
        """Its own display name, or that of its class."""
        return str(getattr(self.foreign, "label", type(self.foreign).__name__))

    @property
    def needs(self) -> Needs:
        """Nothing that is known of."""
        return Needs(release=None, training=False)

    def train(self, threat_model: ThreatModel, num_samples: int | None = None) -> None:
        """Train it, if it can be."""
        own = getattr(self.foreign, "train", None)
        if own is not None:
            own(threat_model, num_samples)

    def attack(self, datasets: Sequence[object]) -> np.ndarray:
        """Its guesses."""
        return np.asarray(self.foreign.attack(datasets))

    def attack_score(self, datasets: Sequence[object]) -> np.ndarray | None:
        """Its scores, if it has any."""
        own = getattr(self.foreign, "attack_score", None)
        found = None if own is None else own(datasets)
        return None if found is None else np.asarray(found)


def as_attack(attack: AttackLike) -> AttackDoors:
    """An attack as it is, or somebody else's object behind the documented methods."""
    if isinstance(attack, AttackDoors):
        return attack
    if not isinstance(attack, Guesses):
        raise IncompatibleAttackError(
            f"an attack has a method attack(datasets), got {type(attack).__name__}"
        )
    return ForeignAttack(attack)
