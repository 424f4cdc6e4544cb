"""What an audit is about: a mechanism, model or release under a threat model."""

from dataclasses import dataclass
from typing import Literal

from tapas.compat import GameThreatModel
from tapas.errors import ConfigError
from tapas.results import LeftOutColumn

__all__ = ["Subject"]


@dataclass(frozen=True, eq=False)
class Subject:
    """A mechanism, model or release under a threat model, as part of an audit.

    Attributes
    ----------
    threat_model : GameThreatModel
    name : str
        Display name; that of what is attacked by default.
    role : {"audited", "control"}
        Controls (resampled records, independent columns) show where the scale begins and ends.
    left_out_columns : tuple of LeftOutColumn
        Of a released file: how many values it holds of columns that no attack looks at.
    """

    threat_model: GameThreatModel
    name: str = ""
    role: Literal["audited", "control"] = "audited"
    left_out_columns: tuple[LeftOutColumn, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.threat_model, GameThreatModel):
            raise ConfigError(
                f"an audit is about threat models such as TargetedMIA, ModelMIA or ObservedMIA, "
                f"got {type(self.threat_model).__name__}"
            )

    @property
    def label(self) -> str:
        """Display name: the one given, or that of what is attacked."""
        return self.name or self.threat_model.subject_label
