"""Earlier import path of the attacker's knowledge."""

from tapas.engine import Silent as SilentIterator
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeWithLabel,
    AuxiliaryDataKnowledge,
    ExactDataKnowledge,
)
from tapas.threat_models._label_inference import LabelInferenceThreatModel
from tapas.threat_models._mechanism_knowledge import (
    AttackerKnowledgeOnGenerator,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)

__all__ = [
    "AttackerKnowledgeOnData",
    "AttackerKnowledgeOnGenerator",
    "AttackerKnowledgeWithLabel",
    "AuxiliaryDataKnowledge",
    "BlackBoxKnowledge",
    "ExactDataKnowledge",
    "LabelInferenceThreatModel",
    "NoBoxKnowledge",
    "SilentIterator",
    "UncertainBoxKnowledge",
    "WhiteBoxKnowledge",
]
