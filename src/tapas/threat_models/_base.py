"""What a threat model is."""

from abc import ABC, abstractmethod
from os import PathLike
from typing import Any

from tapas.errors import StoreError


class ThreatModel(ABC):
    """Who attacks what, knowing what: it judges attacks by playing against them."""

    _name: str | None = None

    @abstractmethod
    def test(self, attack: Any, *args: Any, **kwargs: Any) -> Any:
        """Play against an attack and return how it did."""

    def save(self, name: str | PathLike[str] | None = None) -> None:
        """Write the threat model and its trials into the folder `name`.

        Without a name, the one of the last `save` or `load` is used. Saving again adds the trials
        that are new; what another threat model left there is moved to ``name~``.
        """
        from tapas.threat_models._saving import save_threat_model

        target = str(name) if name is not None else self._name
        if target is None:
            raise StoreError("this threat model was never saved: give save() a name")
        save_threat_model(self, target)
        self._name = target

    @classmethod
    def load(cls, name: str | PathLike[str], **foreign: Any) -> Any:
        """Read a threat model that was saved.

        Parameters
        ----------
        name : path
            The folder it was saved in.
        **foreign
            Objects that cannot be stored as data, such as ``generator=`` of a class of your own.
            The error that asks for one names it.
        """
        from tapas.threat_models._saving import load_threat_model

        threat_model = load_threat_model(str(name), foreign)
        if not isinstance(threat_model, cls):
            raise StoreError(
                f"{name} holds a {type(threat_model).__name__}, which is not a {cls.__name__}"
            )
        threat_model._name = str(name)
        return threat_model


class TrainableThreatModel(ThreatModel):
    """A threat model under which the attacker can simulate releases with known secrets."""

    @abstractmethod
    def generate_training_samples(self, num_samples: int) -> tuple[list[Any], list[Any]]:
        """Simulate releases; return them and their secrets."""
