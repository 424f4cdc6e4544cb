"""Trained classifiers as releases: what they show, how they are queried, how they are trained."""

from tapas.models._access import Access, AccessError
from tapas.models._adapt import as_model
from tapas.models._boosters import BoosterModel
from tapas.models._callable import CallableModel
from tapas.models._classes import as_labels, distinct_labels
from tapas.models._encoding import RecordEncoding
from tapas.models._estimators import Classifier
from tapas.models._inputs import Inputs
from tapas.models._listed import Listing, is_sparse, is_texts
from tapas.models._mlp import MLPModel
from tapas.models._mlp_trainer import TorchMLPTrainer
from tapas.models._model import Model, QueryBudgetError
from tapas.models._module_trainer import TorchTrainer
from tapas.models._one_hot import OneHotInputs
from tapas.models._onnx import OnnxModel
from tapas.models._own_models import log_odds_by, own_models
from tapas.models._parameters import parameter_summary
from tapas.models._recorded import RecordedModel, RecordedModels
from tapas.models._records import Records
from tapas.models._regressor_files import RegressorFile
from tapas.models._regressor_trainer import RegressorTrainer, encoded_trainer
from tapas.models._remote import RemoteModel
from tapas.models._residuals import (
    FITS,
    ResidualModel,
    ResidualTrainer,
    classes_of_several,
    predicts_numbers,
    with_targets,
)
from tapas.models._shaped import Form, ShapedTrainer
from tapas.models._shown import Shown, ShownModel, ShownTrainer
from tapas.models._sklearn import SklearnModel
from tapas.models._sklearn_trainer import SklearnTrainer
from tapas.models._table_records import records_from_table
from tapas.models._torch import TorchModel
from tapas.models._trainer import CallableTrainer, Trainer
from tapas.models._training_plan import TrainingPlan
from tapas.models._training_sets import TrainingSets
from tapas.models._trees import DecisionTree, DecisionTrees, decision_trees
from tapas.models._views import EncodedModel, ReformedModel, ReformedTrainer

__all__ = [
    "FITS",
    "Access",
    "AccessError",
    "BoosterModel",
    "CallableModel",
    "CallableTrainer",
    "Classifier",
    "DecisionTree",
    "DecisionTrees",
    "EncodedModel",
    "Form",
    "Inputs",
    "Listing",
    "MLPModel",
    "Model",
    "OneHotInputs",
    "OnnxModel",
    "QueryBudgetError",
    "RecordEncoding",
    "RecordedModel",
    "RecordedModels",
    "Records",
    "ReformedModel",
    "ReformedTrainer",
    "RegressorFile",
    "RegressorTrainer",
    "RemoteModel",
    "ResidualModel",
    "ResidualTrainer",
    "ShapedTrainer",
    "Shown",
    "ShownModel",
    "ShownTrainer",
    "SklearnModel",
    "SklearnTrainer",
    "TorchMLPTrainer",
    "TorchModel",
    "TorchTrainer",
    "Trainer",
    "TrainingPlan",
    "TrainingSets",
    "as_labels",
    "as_model",
    "classes_of_several",
    "decision_trees",
    "distinct_labels",
    "encoded_trainer",
    "is_sparse",
    "is_texts",
    "log_odds_by",
    "own_models",
    "parameter_summary",
    "predicts_numbers",
    "records_from_table",
    "with_targets",
]
