"""What a round of the game leaves: the release, and the secrets behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tapas.datasets import TabularDataset
from tapas.errors import IncompatibleAttackError
from tapas.game._address import Phase
from tapas.models import Model

__all__ = ["Release", "Trial"]


@dataclass(frozen=True, eq=False, slots=True)
class Release:
    """What the adversary gets to see.

    Attributes
    ----------
    data : Dataset, Model or object
        The synthetic data, or the trained model; None where it was not kept.
    mechanism : object, optional
        The fitted generator, in a white-box setting.
    identifiers : TabularDataset, optional
        The private records without their sensitive value, where the attacker knows them.
    """

    data: object
    mechanism: object = None
    identifiers: TabularDataset | None = None

    @property
    def table(self) -> TabularDataset:
        """The released table."""
        if not isinstance(self.data, TabularDataset):
            raise IncompatibleAttackError(
                f"the attack reads tables, but {type(self.data).__name__} was released"
            )
        return self.data

    @property
    def model(self) -> Model:
        """The released model."""
        if not isinstance(self.data, Model):
            raise IncompatibleAttackError(
                f"the attack asks models, but {type(self.data).__name__} was released"
            )
        return self.data


@dataclass(frozen=True, eq=False, slots=True)
class Trial:
    """One round: the release, and the secret of every target.

    Attributes
    ----------
    phase, index
        Which round it was.
    release : Release
    secrets : ndarray
        One value per target: membership, or the value of the sensitive attribute.
    group : int
        Trials of the same group share their background and are not independent.
    made_with : mapping
        Versions and platform where it was played or looked at last; empty where nobody noted them.
    """

    phase: Phase
    index: int
    release: Release
    secrets: np.ndarray
    group: int
    made_with: Mapping[str, str] = field(default_factory=dict)
