"""Who attacks what, knowing what: the games that attacks are judged by."""

from tapas.threat_models._base import ThreatModel, TrainableThreatModel
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeWithLabel,
    AuxiliaryDataKnowledge,
    ExactDataKnowledge,
)
from tapas.threat_models._goals import AttributeGoal, Goal, MembershipGoal
from tapas.threat_models._label_inference import LabelInferenceThreatModel, Observations
from tapas.threat_models._labellers import AIALabeller, MIALabeller
from tapas.threat_models._mechanism_knowledge import (
    AttackerKnowledgeOnGenerator,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)
from tapas.threat_models._targeted import TargetedAIA, TargetedMIA
from tapas.threat_models._trials import Briefing, Release, Trial

__all__ = [
    "AIALabeller",
    "AttackerKnowledgeOnData",
    "AttackerKnowledgeOnGenerator",
    "AttackerKnowledgeWithLabel",
    "AttributeGoal",
    "AuxiliaryDataKnowledge",
    "BlackBoxKnowledge",
    "Briefing",
    "ExactDataKnowledge",
    "Goal",
    "LabelInferenceThreatModel",
    "MIALabeller",
    "MembershipGoal",
    "NoBoxKnowledge",
    "Observations",
    "Release",
    "TargetedAIA",
    "TargetedMIA",
    "ThreatModel",
    "TrainableThreatModel",
    "Trial",
    "UncertainBoxKnowledge",
    "WhiteBoxKnowledge",
]
