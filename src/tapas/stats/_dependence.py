"""How trials hang together: what every bound and interval must know before it speaks."""

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_choice
from tapas.errors import ConfigError, StatisticsError

__all__ = ["Dependence"]


class Dependence(StrEnum):
    """How the trials of a result depend on each other.

    Attributes
    ----------
    INDEPENDENT
        Each trial has a release of its own.
    PAIRS
        Trials of one group share their background; no two of them have the same secret.
    GROUPS
        Trials of one group depend on each other, some of the same secret.
    ONE_RELEASE
        The trials are records judged in one release or model.
    COINS
        The same, in one release or in few, each record put in or left out by a fair coin of its
        own.
    UNRELATED
        Each trial has a release of its own, but the two worlds differ in more than one record, so
        that nothing about an epsilon follows.
    UNKNOWN
        Nobody says. That is not independence.
    """

    INDEPENDENT = "independent"
    PAIRS = "pairs"
    GROUPS = "groups"
    ONE_RELEASE = "one release"
    COINS = "coins"
    UNRELATED = "unrelated worlds"
    UNKNOWN = "unknown"

    @classmethod
    def stated(
        cls, statement: "str | None", secrets: ArrayLike, groups: ArrayLike | None
    ) -> "Dependence":
        """What is stated, unless the groups contradict it; what they say where nothing is."""
        found = cls.of_groups(secrets, groups)
        if statement is None:
            return found
        chosen = cls(check_choice(statement, "dependence", [str(kind) for kind in cls]))
        if chosen in (cls.PAIRS, cls.GROUPS) and groups is None:
            raise ConfigError(f"dependence {chosen!s} needs groups=, the group of each trial")
        allowed = {
            cls.INDEPENDENT: (cls.INDEPENDENT,),
            cls.UNRELATED: (cls.INDEPENDENT,),
            cls.PAIRS: (cls.INDEPENDENT, cls.PAIRS),
        }
        if found not in allowed.get(chosen, (found,)):
            raise ConfigError(
                f"dependence is stated as {chosen!s}, but the groups say {found!s}; leave it out, "
                "or number the groups anew"
            )
        return chosen

    @classmethod
    def of_groups(cls, secrets: ArrayLike, groups: ArrayLike | None) -> "Dependence":
        """What groups say: equal numbers mark trials that depend on each other, None says none."""
        if groups is None:
            return cls.INDEPENDENT
        distinct, codes = np.unique(np.asarray(groups), return_inverse=True)
        if len(distinct) == len(codes):
            return cls.INDEPENDENT
        worlds = _numbered(np.asarray(secrets))
        if len(np.unique(codes * (1 + worlds.max()) + worlds)) == len(codes):
            return cls.PAIRS
        return cls.ONE_RELEASE if len(distinct) == 1 else cls.GROUPS

    @property
    def is_by_record(self) -> bool:
        """Whether intervals go record by record and describe the release that was judged."""
        return self in (Dependence.ONE_RELEASE, Dependence.COINS)

    @property
    def refusal(self) -> str | None:
        """Why no epsilon can be certified from such trials; None where it can."""
        return _REFUSALS.get(self)

    @property
    def remedy(self) -> str | None:
        """What to do so that an epsilon can be certified; None where one can."""
        return _REMEDIES.get(self)

    @property
    def band_refusal(self) -> str | None:
        """Why no band around a ROC curve holds for such trials; None where one does."""
        if self is Dependence.COINS:
            return "the trials are records of the same release and not independent"
        return None if self is Dependence.UNRELATED else self.refusal

    def refuse(self) -> None:
        """Raise where no epsilon can be certified, with the reason."""
        if self.refusal is not None:
            raise StatisticsError(f"no epsilon can be certified: {self.refusal}; {self.remedy}")


def _numbered(secrets: np.ndarray) -> np.ndarray:
    """Integers that are equal where secrets are."""
    if secrets.dtype.kind == "b":
        return secrets.astype(np.intp)
    known: dict[object, int] = {}
    return np.array([known.setdefault(one, len(known)) for one in secrets.tolist()], dtype=np.intp)


_REFUSALS = {
    Dependence.ONE_RELEASE: "the trials are records of one release or model and not independent",
    Dependence.GROUPS: (
        "the trials share releases, several of them in the same world, and are not independent"
    ),
    Dependence.UNRELATED: "the two worlds differ in more than one record and are no neighbours",
    Dependence.UNKNOWN: "it is not known how the trials depend on each other",
}
_REMEDIES = {
    Dependence.ONE_RELEASE: (
        "play many releases, or decide by a fair coin for each record whether it is put in "
        "(dependence='coins')"
    ),
    Dependence.GROUPS: (
        "keep one trial per group and world, or decide each record by a fair coin "
        "(dependence='coins')"
    ),
    Dependence.UNRELATED: "play membership or an attribute of single records",
    Dependence.UNKNOWN: "say so with dependence=, or with the group of each trial",
}
