"""Point estimates of how well an attack did: pure functions of arrays.

None of these numbers claims any confidence; `tapas.stats` gives bounds and intervals.
"""

from tapas.metrics._effective_epsilon import effective_epsilon, effective_epsilon_from_rates
from tapas.metrics._many_values import (
    ValueRates,
    macro_auc,
    resampled_value_metrics,
    value_rates,
)
from tapas.metrics._rates import (
    ConfusionCounts,
    accuracy,
    balanced_accuracy,
    confusion_counts,
    false_positive_rate,
    inference_advantage,
    inference_privacy_gain,
    mia_advantage,
    precision,
    privacy_gain,
    recall,
    true_positive_rate,
)
from tapas.metrics._resampled import (
    ALL_METRICS,
    DEFAULT_METRICS,
    counted_metrics,
    resampled_counts,
    resampled_metrics,
)
from tapas.metrics._roc import OperatingPoint, RocCurve, auc, roc_curve, tpr_at_fpr

__all__ = [
    "ALL_METRICS",
    "DEFAULT_METRICS",
    "ConfusionCounts",
    "OperatingPoint",
    "RocCurve",
    "ValueRates",
    "accuracy",
    "auc",
    "balanced_accuracy",
    "confusion_counts",
    "counted_metrics",
    "effective_epsilon",
    "effective_epsilon_from_rates",
    "false_positive_rate",
    "inference_advantage",
    "inference_privacy_gain",
    "macro_auc",
    "mia_advantage",
    "precision",
    "privacy_gain",
    "recall",
    "resampled_counts",
    "resampled_metrics",
    "resampled_value_metrics",
    "roc_curve",
    "tpr_at_fpr",
    "true_positive_rate",
    "value_rates",
]
