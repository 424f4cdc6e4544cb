"""Parts that a saved threat model was loaded without: they say what is missing when asked for."""

from dataclasses import dataclass
from typing import NoReturn

from tapas.datasets import Dataset
from tapas.errors import KnowledgeError, MechanismError
from tapas.threat_models._data_knowledge import AttackerKnowledgeOnData


@dataclass(frozen=True)
class AbsentGenerator:
    """A generator that is code and was not stored.

    Attributes
    ----------
    label : str
        Its display name.
    where : str
        The folder that the threat model was loaded from.
    keyword : str
        How it is handed in.
    """

    label: str
    where: str
    keyword: str = "generator"

    def fit(self, dataset: Dataset, **parameters: object) -> NoReturn:
        """Say what is missing."""
        raise MechanismError(
            f"{self.where} was loaded without its generator {self.label!r}, so no new trial can "
            f"be played: pass it in, load(name, {self.keyword}=...). The trials that were saved "
            f"can be used"
        )

    def generate(self, num_samples: int | None, random_state: int | None = None) -> NoReturn:
        """Say what is missing."""
        raise MechanismError(f"{self.where} was loaded without its generator")


@dataclass(frozen=True)
class AbsentPrior:
    """A prior over parameters that is code and was not stored."""

    where: str

    def __call__(self) -> NoReturn:
        raise MechanismError(
            f"{self.where} was loaded without its prior, so no new trial can be played: pass it "
            f"in, load(name, prior=...)"
        )


class AbsentData(AttackerKnowledgeOnData):
    """Data knowledge that is code and was not stored."""

    def __init__(self, label: str, where: str) -> None:
        self._label = label
        self._where = where

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[Dataset]:
        """Say what is missing."""
        raise KnowledgeError(
            f"{self._where} was loaded without its data knowledge, so no new trial can be played: "
            f"pass it in, load(name, attacker_knowledge_data=...)"
        )
