"""Values of a column that no attack looked at, looked up in a release."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from tapas._validate import check_probability

__all__ = ["LeftOutColumn"]


@dataclass(frozen=True)
class LeftOutColumn:
    """How many values of a column that was left out of an audit stand in the release.

    Attributes
    ----------
    name : str
    private, private_released : int
        Distinct values that the private table has and the holdout has not, and how many of them
        the release has; missing ones are none.
    others, others_released : int
        The same of the holdout.
    p_value : float
        How likely such an excess on the private side is by chance (Fisher's exact test; where the
        tables differ in size, repeated values of the larger one are thinned, as records are).
    """

    name: str
    private: int
    private_released: int
    others: int
    others_released: int
    p_value: float

    @property
    def count(self) -> str:
        """How many stand in the release, in words that begin a sentence."""
        held, others = self.private_released, self.others_released
        few = f"All {held:,}" if held == self.private > 1 else f"{held:,} of {self.private:,}"
        stand = "stands" if held == 1 else "stand"
        return (
            f"{few} private values of “{self.name}” {stand} in the release, of {self.others:,} of "
            f"the holdout {f'{others:,}' if others else 'none'}"
        )

    @property
    def words(self) -> str:
        """What that means where chance does not explain it, and what to do about it."""
        means = "the column was left out of the attacks, and gives people away by itself"
        return f"{self.count}: {means}. Take it out of the release, or draw its values anew."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        numbers = ("private", "private_released", "others", "others_released")
        return cls(
            name=str(entry["name"]),
            **{name: int(entry[name]) for name in numbers},
            p_value=check_probability(entry["p_value"], "p_value"),
        )
