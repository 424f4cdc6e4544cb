"""What the attacker wants to learn."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

__all__ = ["MEMBERSHIP", "PROPERTY", "Goal", "Kind", "Relation", "Value"]

Kind = Literal["membership", "attribute", "property", "label"]
Relation = Literal["add/remove", "replace"]
Value = Hashable


@dataclass(frozen=True)
class Goal:
    """A secret, and the values that it may have.

    Attributes
    ----------
    kind : {"membership", "attribute", "property", "label"}
        "label" is a goal of the user's own.
    attribute : object, optional
        Column whose value is the secret: its name, or its position in an array.
    values : tuple
        In the order of scores; of two, the second is positive. Empty where they are not known.
    """

    kind: Kind
    attribute: Hashable | None = None
    values: tuple[Value, ...] = (False, True)

    @property
    def is_binary(self) -> bool:
        """Whether the secret has two values."""
        return len(self.values) == 2


MEMBERSHIP = Goal("membership")
PROPERTY = Goal("property")
