"""Who attacks what, knowing what: the games that attacks are judged by."""

from tapas.threat_models._base import ThreatModel, TrainableThreatModel
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeWithLabel,
    AuxiliaryDataKnowledge,
    ExactDataKnowledge,
)
from tapas.threat_models._goals import AttributeGoal, Goal, MembershipGoal
from tapas.threat_models._label_inference import (
    LabelInferenceThreatModel,
    Observations,
    TrialPolicy,
)
from tapas.threat_models._labellers import AIALabeller, MIALabeller
from tapas.threat_models._ledger import Ledger
from tapas.threat_models._mechanism_knowledge import (
    AttackerKnowledgeOnGenerator,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)
from tapas.threat_models._model_aia import ModelAIA
from tapas.threat_models._model_game import ModelBriefing, ModelNeeds
from tapas.threat_models._model_mia import ModelMIA
from tapas.threat_models._observed import ObservedMIA
from tapas.threat_models._property import ModelPropertyInference
from tapas.threat_models._shadow_data import (
    MarginalSynthesis,
    NoisyRecords,
    QuerySynthesis,
    ShadowData,
)
from tapas.threat_models._stored_ledger import StoredLedger
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
    "Ledger",
    "MIALabeller",
    "MarginalSynthesis",
    "MembershipGoal",
    "ModelAIA",
    "ModelBriefing",
    "ModelMIA",
    "ModelNeeds",
    "ModelPropertyInference",
    "NoBoxKnowledge",
    "NoisyRecords",
    "Observations",
    "ObservedMIA",
    "QuerySynthesis",
    "Release",
    "ShadowData",
    "StoredLedger",
    "TargetedAIA",
    "TargetedMIA",
    "ThreatModel",
    "TrainableThreatModel",
    "Trial",
    "TrialPolicy",
    "UncertainBoxKnowledge",
    "WhiteBoxKnowledge",
]
