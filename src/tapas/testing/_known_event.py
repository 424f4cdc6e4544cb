"""The attack that knows a mechanism's weak spot."""

import numpy as np

from tapas.attacks import TrainableThresholdAttack
from tapas.errors import ConfigError
from tapas.testing._mechanisms import KnownMechanism
from tapas.threat_models import Briefing, Release


class KnownEvent(TrainableThresholdAttack):
    """Membership inference by the event that a known mechanism names.

    Idea
        A mechanism of known epsilon says itself which event is likeliest to give it away; playing
        that event shows whether an audit finds what is there, and no more.
    Needs
        A `KnownMechanism`; no training.
    Score
        ``mechanism.evidence(release)``, compared with ``mechanism.threshold``.
    Reference
        None; it is a test bench.

    Parameters
    ----------
    mechanism : KnownMechanism
    """

    def __init__(self, mechanism: KnownMechanism) -> None:
        if not isinstance(mechanism, KnownMechanism):
            raise ConfigError(f"KnownEvent needs a KnownMechanism, got {type(mechanism).__name__}")
        super().__init__(("threshold", mechanism.threshold))
        self.mechanism = mechanism

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """The evidence."""
        return np.array([self.mechanism.evidence(release.table)])

    @property
    def label(self) -> str:
        """Display name."""
        return f"KnownEvent({self.mechanism.label})"
