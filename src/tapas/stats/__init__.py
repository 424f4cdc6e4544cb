"""Bounds and intervals: every number here states its confidence, its method and its limits.

Point estimates without a confidence live in `tapas.metrics`.
"""

from tapas.stats._auc import auc_interval
from tapas.stats._auc_columns import (
    column_auc_errors,
    column_auc_limits,
    mean_auc_influences,
    rank_sum_p_values,
)
from tapas.stats._auc_gain import auc_gain_interval
from tapas.stats._bands import (
    RocBand,
    max_epsilon_lower_bound,
    roc_band,
    simultaneous_upper_limits,
)
from tapas.stats._bound import EpsilonBound
from tapas.stats._claim import ClaimVerdict, audit_claim
from tapas.stats._claim_power import claim_power
from tapas.stats._dependence import Dependence
from tapas.stats._epsilon import epsilon_lower_bound
from tapas.stats._excess import excess_p_value, least_excess
from tapas.stats._gaussian import gaussian_epsilon_from_mu
from tapas.stats._intervals import (
    Interval,
    advantage_interval,
    clopper_pearson,
)
from tapas.stats._multiplicity import holm, look_share, shared_confidence, shared_p_values
from tapas.stats._one_run import one_run_epsilon, one_run_gaussian_epsilon
from tapas.stats._operating_point import (
    OperatingInterval,
    negatives_needed,
    tpr_at_fpr_interval,
)
from tapas.stats._planner import runs_needed, smallest_area, smallest_leak
from tapas.stats._portfolio import Certificate, certificate
from tapas.stats._power import audit_power
from tapas.stats._resampled import percentile_interval, resampled_counts
from tapas.stats._rising_limits import rising_limits
from tapas.stats._selection import (
    ThresholdChoice,
    attack_epsilon_high,
    certify,
    select_threshold,
)
from tapas.stats._sequential import SequentialEpsilon
from tapas.stats._top_scores import TopScores, top_scores
from tapas.stats._venn_abers import venn_abers

__all__ = [
    "Certificate",
    "ClaimVerdict",
    "Dependence",
    "EpsilonBound",
    "Interval",
    "OperatingInterval",
    "RocBand",
    "SequentialEpsilon",
    "ThresholdChoice",
    "TopScores",
    "advantage_interval",
    "attack_epsilon_high",
    "auc_gain_interval",
    "auc_interval",
    "audit_claim",
    "audit_power",
    "certificate",
    "certify",
    "claim_power",
    "clopper_pearson",
    "column_auc_errors",
    "column_auc_limits",
    "epsilon_lower_bound",
    "excess_p_value",
    "gaussian_epsilon_from_mu",
    "holm",
    "least_excess",
    "look_share",
    "max_epsilon_lower_bound",
    "mean_auc_influences",
    "negatives_needed",
    "one_run_epsilon",
    "one_run_gaussian_epsilon",
    "percentile_interval",
    "rank_sum_p_values",
    "resampled_counts",
    "rising_limits",
    "roc_band",
    "runs_needed",
    "select_threshold",
    "shared_confidence",
    "shared_p_values",
    "simultaneous_upper_limits",
    "smallest_area",
    "smallest_leak",
    "top_scores",
    "tpr_at_fpr_interval",
    "venn_abers",
]
