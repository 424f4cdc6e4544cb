"""Who attacks what, knowing what: the games that attacks are judged by."""

from tapas.compat import ThreatModel, TrainableThreatModel
from tapas.game import Briefing, Goal, ModelBriefing, Release, TableBriefing, Trial, TrialPolicy
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeWithLabel,
    AuxiliaryDataKnowledge,
    ExactDataKnowledge,
    QuasiIdentifierKnowledge,
)
from tapas.threat_models._imported import ImportedAIA, ImportedMIA
from tapas.threat_models._label_inference import LabelInferenceThreatModel
from tapas.threat_models._labellers import AIALabeller, MIALabeller
from tapas.threat_models._mechanism_knowledge import (
    AttackerKnowledgeOnGenerator,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)
from tapas.threat_models._mechanism_runs import (
    accepts_seed,
    run_mechanism,
    uses_documented_call,
)
from tapas.threat_models._model_aia import ModelAIA
from tapas.threat_models._model_mia import ModelMIA
from tapas.threat_models._observed import ObservedMIA
from tapas.threat_models._observed_aia import ObservedAIA
from tapas.threat_models._planting import AttributePlanting, MembershipPlanting, Planting
from tapas.threat_models._predictions import PredictionsMIA
from tapas.threat_models._property import ModelPropertyInference
from tapas.threat_models._saving import load_threat_model
from tapas.threat_models._shadow_data import (
    MarginalSynthesis,
    NoisyRecords,
    QuerySynthesis,
    ShadowData,
)
from tapas.threat_models._targeted import CanaryMIA, TargetedAIA, TargetedMIA

ThreatModel._loader = load_threat_model

__all__ = [
    "AIALabeller",
    "AttackerKnowledgeOnData",
    "AttackerKnowledgeOnGenerator",
    "AttackerKnowledgeWithLabel",
    "AttributePlanting",
    "AuxiliaryDataKnowledge",
    "BlackBoxKnowledge",
    "Briefing",
    "CanaryMIA",
    "ExactDataKnowledge",
    "Goal",
    "ImportedAIA",
    "ImportedMIA",
    "LabelInferenceThreatModel",
    "MIALabeller",
    "MarginalSynthesis",
    "MembershipPlanting",
    "ModelAIA",
    "ModelBriefing",
    "ModelMIA",
    "ModelPropertyInference",
    "NoBoxKnowledge",
    "NoisyRecords",
    "ObservedAIA",
    "ObservedMIA",
    "Planting",
    "PredictionsMIA",
    "QuasiIdentifierKnowledge",
    "QuerySynthesis",
    "Release",
    "ShadowData",
    "TableBriefing",
    "TargetedAIA",
    "TargetedMIA",
    "ThreatModel",
    "TrainableThreatModel",
    "Trial",
    "TrialPolicy",
    "UncertainBoxKnowledge",
    "WhiteBoxKnowledge",
    "accepts_seed",
    "run_mechanism",
    "uses_documented_call",
]
