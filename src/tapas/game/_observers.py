"""Observers that follow from a value or from a method."""

from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from tapas._spec import Spec, digest_of, spec_of
from tapas.game._briefing import Briefing
from tapas.game._release import Release

__all__ = ["MethodObserver", "ValueObserver"]


class ValueObserver:
    """An observer that is what its fields say; a frozen dataclass that writes `__call__`."""

    @property
    def key(self) -> str:
        """Digest of the class, its code and its fields, as they are now."""
        return _key(self, spec_of(self))


class Observing(Protocol):
    """Something with a method that looks at releases."""

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """What is seen: a row per target, or one row where targets play no part."""


@dataclass(frozen=True, eq=False)
class MethodObserver:
    """Observes by the method of an attack.

    Attributes
    ----------
    attack : Observing
    depends_on : tuple of str or None
        Attributes of the attack that what it sees depends on; None is all of them.
    """

    attack: Observing
    depends_on: tuple[str, ...] | None = None

    @property
    def key(self) -> str:
        """Digest of the code and of what it depends on, as they are now."""
        if self.depends_on is None:
            return _key(self, spec_of(self.attack))
        method, own = spec_of(type(self.attack).observe), spec_of(type(self.attack)).source
        parts = [getattr(self.attack, name) for name in self.depends_on]
        return _key(self, method, Spec("own classes", {"source": own}), *map(spec_of, parts))

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        return np.asarray(self.attack.observe(release, briefing, rng=rng))


_doubtful: WeakKeyDictionary[object, str] = WeakKeyDictionary()


def _key(observer: object, *specs: Spec) -> str:
    """Equal where the specs are; where one has a doubt, that of no other observer."""
    digest = digest_of([spec.digest for spec in specs])
    if not any(spec.doubts for spec in specs):
        return digest
    return f"{digest}-{_doubtful.setdefault(observer, uuid4().hex)}"
