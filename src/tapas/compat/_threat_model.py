"""What a threat model is, by the documented spelling."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tapas.errors import StoreError

if TYPE_CHECKING:
    from tapas.compat._attack import AttackDoors

__all__ = ["ThreatModel", "TrainableThreatModel"]


class ThreatModel(ABC):
    """Who attacks what, knowing what: it judges attacks by playing against them."""

    _name: str | None = None
    # Reads what `save` of a class that can be saved wrote; set by the room that has such classes.
    _loader: ClassVar[Callable[[str, Mapping[str, object]], "ThreatModel"] | None] = None

    @abstractmethod
    def test(self, attack: "AttackDoors", *args: Any, **kwargs: Any) -> object:
        """Play against an attack and return how it did."""

    def save(self, name: str | PathLike[str] | None = None) -> None:
        """Write the threat model and its trials into the folder `name`.

        Without a name, the one of the last `save` or `load` is used. Saving again adds the trials
        that are new; nothing in the folder is ever deleted.
        """
        target = str(name) if name is not None else self._name
        if target is None:
            raise StoreError("this threat model was never saved: give save() a name")
        self._save(target)
        self._name = target

    def _save(self, name: str) -> None:
        raise StoreError(f"a {type(self).__name__} cannot be saved")

    @classmethod
    def load(cls, name: str | PathLike[str], **foreign: object) -> Self:
        """Read a threat model that was saved.

        Parameters
        ----------
        name : path
            The folder it was saved in.
        **foreign
            Objects that cannot be stored as data, such as ``generator=`` of a class of your own.
            Without them, trials that were saved can be used, and a new one says what is missing.
        """
        if ThreatModel._loader is None:
            raise StoreError(f"a {cls.__name__} cannot be loaded")
        threat_model = ThreatModel._loader(str(name), foreign)
        if not isinstance(threat_model, cls):
            raise StoreError(
                f"{name} holds a {type(threat_model).__name__}, which is not a {cls.__name__}"
            )
        threat_model._name = str(name)
        return threat_model


class TrainableThreatModel(ThreatModel):
    """A threat model under which the attacker can simulate releases with known secrets."""

    @abstractmethod
    def generate_training_samples(
        self, num_samples: int | None = None
    ) -> tuple[list[object], list[object]]:
        """Simulate releases; return them and their secrets."""
