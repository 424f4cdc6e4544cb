"""What a released model shows to whoever holds it."""

from enum import Enum

from tapas.errors import ConfigError, TapasError


class AccessError(TapasError, RuntimeError):
    """A model was asked for something that its release does not show."""


class Access(Enum):
    """What may be read from a released model; each level shows all that the ones below it do.

    Attributes
    ----------
    LABELS
        The predicted class only.
    SCORES
        The probability of every class.
    PARAMETERS
        The fitted object itself.
    """

    LABELS = "labels"
    SCORES = "scores"
    PARAMETERS = "parameters"

    @classmethod
    def parse(cls, value: "Access | str") -> "Access":
        """Return the access that `value` (an `Access` or its name) stands for."""
        if isinstance(value, cls):
            return value
        for access in cls:
            if value == access.value:
                return access
        names = ", ".join(repr(access.value) for access in cls)
        raise ConfigError(f"access must be one of {names}, got {value!r}")

    def shows(self, other: "Access") -> bool:
        """Whether whoever has this access can also read what `other` shows."""
        order = list(Access)
        return order.index(self) >= order.index(other)
