"""Outcomes of attacks and audits: frozen, with their metrics, readable from disk."""

from tapas.results._audit_record import AuditRecord
from tapas.results._audited_subject import (
    FAILURES,
    LEAKY_CONTROL,
    SAFE_CONTROL,
    AttackCrash,
    AuditedSubject,
    TrialFailure,
)
from tapas.results._changes import Change, RecordComparison, compare_records
from tapas.results._claims import ClaimOutcome, judge_claim
from tapas.results._constant import constant_scores, missing_scores
from tapas.results._copies import Copies
from tapas.results._costs import Cost
from tapas.results._drawn_values import drawn_values_words
from tapas.results._dropped_columns import compared_columns, dropped_columns
from tapas.results._estimate import FEWEST_GROUPS, Estimate, estimate, has_few_groups
from tapas.results._exposed_records import (
    MOST_RECORDS,
    SUBGROUP,
    VALUE,
    ExposedRecords,
    exposed_records,
)
from tapas.results._exposure import (
    exposure_table,
    positive_predictive_value,
    slice_metrics,
    spreadsheet_safe,
    write_exposure_table,
)
from tapas.results._exposure_map import ExposureMap
from tapas.results._exposure_order import most_exposed_first
from tapas.results._facts import SummaryFacts, record_facts, summary_facts
from tapas.results._filenames import file_safe
from tapas.results._findings import CONFIDENCE, Finding, Findings, leak, strongest
from tapas.results._gates import GateOutcome, Verdict, decide, gate_title
from tapas.results._given_away import given_away, given_away_words, left_out_columns
from tapas.results._history import append_verdict, loosened_limits, read_history, repair_history
from tapas.results._inference import AIAttackSummary, BinaryAIAttackSummary, MIAttackSummary
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._learning import LearningCurve
from tapas.results._leaves import Leaves
from tapas.results._left_out_columns import LeftOutColumn
from tapas.results._limits import Claim, Gate, beyond_reach, refuse_idle
from tapas.results._measures import (
    ALL_METRICS,
    DEFAULT_METRICS,
    GATE_METRICS,
    LOW_FPR,
    MEASURES,
    Measure,
)
from tapas.results._people import FEWEST_PEOPLE, People, exposed_people
from tapas.results._performance import performance_table, with_ratio
from tapas.results._privacy_risk import privacy_risk, risk_histogram
from tapas.results._rare_columns import RareColumn
from tapas.results._rounding import (
    hardly_positive,
    rounded,
    rounded_area,
    rounded_down,
    rounded_up,
)
from tapas.results._runs import PAGE_FILES, RunState, end_progress, find_runs, note_progress
from tapas.results._score_table import ScoreTable
from tapas.results._share_answers import PropertyShares, ShareAnswer
from tapas.results._shares import SharesTold, shares_told
from tapas.results._storage import as_plain_list
from tapas.results._summary import AttackSummary
from tapas.results._telling_failures import (
    TellingFailures,
    leaks_beside_failures,
    only_failures_tell,
    telling_failures,
    told_by_failures_alone,
)
from tapas.results._together import gates_words, holds_together, look_words
from tapas.results._unfit_splits import UNFIT_SPLIT, unfit_splits, unseen_inputs
from tapas.results._unknown_records import JudgedRecords, judge_records
from tapas.stats import Dependence

__all__ = [
    "ALL_METRICS",
    "CONFIDENCE",
    "DEFAULT_METRICS",
    "FAILURES",
    "FEWEST_GROUPS",
    "FEWEST_PEOPLE",
    "GATE_METRICS",
    "LEAKY_CONTROL",
    "LOW_FPR",
    "MEASURES",
    "MOST_RECORDS",
    "PAGE_FILES",
    "SAFE_CONTROL",
    "SUBGROUP",
    "UNFIT_SPLIT",
    "VALUE",
    "AIAttackSummary",
    "AttackCrash",
    "AttackSummary",
    "AuditRecord",
    "AuditedSubject",
    "BinaryAIAttackSummary",
    "BinaryLabelInferenceAttackSummary",
    "Change",
    "Claim",
    "ClaimOutcome",
    "Copies",
    "Cost",
    "Dependence",
    "Estimate",
    "ExposedRecords",
    "ExposureMap",
    "Finding",
    "Findings",
    "Gate",
    "GateOutcome",
    "JudgedRecords",
    "LabelInferenceAttackSummary",
    "LearningCurve",
    "Leaves",
    "LeftOutColumn",
    "MIAttackSummary",
    "Measure",
    "People",
    "PropertyShares",
    "RareColumn",
    "RecordComparison",
    "RunState",
    "ScoreTable",
    "ShareAnswer",
    "SharesTold",
    "SummaryFacts",
    "TellingFailures",
    "TrialFailure",
    "Verdict",
    "append_verdict",
    "as_plain_list",
    "beyond_reach",
    "compare_records",
    "compared_columns",
    "constant_scores",
    "decide",
    "drawn_values_words",
    "dropped_columns",
    "end_progress",
    "estimate",
    "exposed_people",
    "exposed_records",
    "exposure_table",
    "file_safe",
    "find_runs",
    "gate_title",
    "gates_words",
    "given_away",
    "given_away_words",
    "hardly_positive",
    "has_few_groups",
    "holds_together",
    "judge_claim",
    "judge_records",
    "leak",
    "leaks_beside_failures",
    "left_out_columns",
    "look_words",
    "loosened_limits",
    "missing_scores",
    "most_exposed_first",
    "note_progress",
    "only_failures_tell",
    "performance_table",
    "positive_predictive_value",
    "privacy_risk",
    "read_history",
    "record_facts",
    "refuse_idle",
    "repair_history",
    "risk_histogram",
    "rounded",
    "rounded_area",
    "rounded_down",
    "rounded_up",
    "shares_told",
    "slice_metrics",
    "spreadsheet_safe",
    "strongest",
    "summary_facts",
    "telling_failures",
    "told_by_failures_alone",
    "unfit_splits",
    "unseen_inputs",
    "with_ratio",
    "write_exposure_table",
]
