"""What a question about a property leaves: the shares, and what is said of a model in question."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

__all__ = ["PropertyShares", "ShareAnswer"]


@dataclass(frozen=True)
class ShareAnswer:
    """Which share an attack takes a model to have, whose training data is not known.

    Attributes
    ----------
    attack : str
    share : float
        The one that it decides for.
    scores : tuple of float
        For each share; of two, for the second.
    """

    attack: str
    share: float
    scores: tuple[float, ...]


@dataclass(frozen=True)
class PropertyShares:
    """The shares of a property that models were trained with.

    Attributes
    ----------
    shares : tuple of float
    answers : tuple of ShareAnswer
        About the model in question, by attack; empty where there is none.
    """

    shares: tuple[float, ...]
    answers: tuple[ShareAnswer, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        shares = tuple(map(float, entry["shares"]))
        answers = tuple(
            ShareAnswer(str(one["attack"]), float(one["share"]), tuple(map(float, one["scores"])))
            for one in entry["answers"]
        )
        if len(shares) < 2 or any(one.share not in shares for one in answers):
            raise ValueError(f"answers must be one of two shares or more, got {shares}")
        return cls(shares, answers)
