"""What a summary says, each number with the interval it deserves."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas import metrics, stats
from tapas.errors import StatisticsError
from tapas.results._audit_record import AuditRecord
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)

LOW_FPR = 0.01


@dataclass(frozen=True)
class Estimate:
    """A value between the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SummaryFacts:
    """One attack on one target, in numbers.

    Attributes
    ----------
    subject, role, attack, target, generator, dataset : str
        What was attacked, and how.
    trials : int
    chance : float
        Accuracy of guessing.
    accuracy, advantage, auc, tpr_at_low_fpr : Estimate or None
        None where it is not defined (more than two values, one class only).
    epsilon : EpsilonBound or None
        Certificate, threshold chosen on a part of the trials and certified on the rest.
    epsilon_high : float
        Upper end for this attack at its threshold; it says nothing of other attacks.
    """

    subject: str
    role: str
    attack: str
    target: str
    generator: str
    dataset: str
    trials: int
    chance: float
    accuracy: Estimate
    advantage: Estimate | None
    auc: Estimate | None
    tpr_at_low_fpr: Estimate | None
    epsilon: stats.EpsilonBound | None
    epsilon_high: float


def record_facts(record: AuditRecord, *, confidence: float = 0.95) -> list[SummaryFacts]:
    """Facts of every summary of a record; each interval has this confidence on its own."""
    delta = 0.0 if record.claim is None else record.claim.delta
    return [
        summary_facts(summary, subject.name, role=subject.role, confidence=confidence, delta=delta)
        for subject in record.subjects
        for summary in subject.summaries
        if isinstance(summary, LabelInferenceAttackSummary)
    ]


def summary_facts(
    summary: LabelInferenceAttackSummary,
    subject: str = "",
    *,
    role: str = "audited",
    confidence: float = 0.95,
    delta: float = 0.0,
    fpr: float = LOW_FPR,
) -> SummaryFacts:
    """Facts of one summary."""
    labels = np.asarray(summary.labels)
    right = int(np.sum(labels == np.asarray(summary.predictions)))
    accuracy = _share(right, len(labels), confidence)
    about: dict[str, Any] = {
        "subject": subject,
        "role": role,
        "attack": str(getattr(summary, "attack", "")),
        "target": str(getattr(summary, "target_id", "")),
        "generator": str(getattr(summary, "generator", "")),
        "dataset": str(getattr(summary, "dataset", "")),
        "trials": len(labels),
        "chance": _chance(labels),
        "accuracy": accuracy,
    }
    if not isinstance(summary, BinaryLabelInferenceAttackSummary) or len(np.unique(labels)) < 2:
        nothing: dict[str, Any] = dict.fromkeys(("advantage", "auc", "tpr_at_low_fpr", "epsilon"))
        return SummaryFacts(**about, **nothing, epsilon_high=math.inf)
    positive = labels.astype(bool)
    scores = _comparable(summary)
    bound, high = _epsilon(summary, confidence, delta)
    pairs = _pairs(positive, summary.groups)
    if pairs is None:
        advantage = _advantage(positive, summary.predictions, confidence)
        auc = _auc(scores[positive], scores[~positive], confidence)
    else:
        # The two trials of a pair depend on each other, so the worlds are bounded one by one.
        about["accuracy"], advantage = _from_rates(positive, summary.predictions, confidence)
        auc = _auc(scores[pairs[0]], scores[pairs[1]], confidence, paired=True)
    return SummaryFacts(
        **about,
        advantage=advantage,
        auc=auc,
        tpr_at_low_fpr=_low_fpr(positive, scores, fpr, confidence),
        epsilon=bound,
        epsilon_high=high,
    )


def _chance(labels: np.ndarray) -> float:
    """Accuracy of always guessing the commonest secret."""
    if len(labels) == 0:
        return math.nan
    _, counts = np.unique(labels, return_counts=True)
    return float(counts.max() / counts.sum())


def _share(count: int, total: int, confidence: float) -> Estimate:
    if total == 0:
        return Estimate(math.nan, 0.0, 1.0)
    low, high = stats.clopper_pearson(count, total, confidence, "two-sided")
    return Estimate(count / total, float(low), float(high))


def _advantage(positive: np.ndarray, guesses: np.ndarray, confidence: float) -> Estimate:
    guessed = np.asarray(guesses).astype(bool)
    found = stats.advantage_interval(
        int(np.sum(guessed & positive)),
        int(positive.sum()),
        int(np.sum(guessed & ~positive)),
        int((~positive).sum()),
        confidence=confidence,
    )
    return Estimate(found.value, found.low, found.high)


def _pairs(positive: np.ndarray, groups: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Positions of the two trials of each pair, where all trials come in pairs."""
    if groups is None or len(positive) % 2 or len(np.unique(groups)) != len(positive) // 2:
        return None
    order = np.lexsort((~positive, np.asarray(groups))).reshape(-1, 2)
    first, second = order[:, 0], order[:, 1]
    whole = positive[first].all() and not positive[second].any()
    return (first, second) if whole else None


def _from_rates(
    positive: np.ndarray, guesses: np.ndarray, confidence: float
) -> tuple[Estimate, Estimate]:
    """Accuracy and advantage from exact limits of the two rates, whatever their dependence."""
    guessed = np.asarray(guesses).astype(bool)
    each = 1 - (1 - confidence) / 2
    tpr = _share(int(np.sum(guessed & positive)), int(positive.sum()), each)
    fpr = _share(int(np.sum(guessed & ~positive)), int((~positive).sum()), each)
    advantage = Estimate(tpr.value - fpr.value, tpr.low - fpr.high, tpr.high - fpr.low)
    accuracy = Estimate(
        *((1 + end) / 2 for end in (advantage.value, advantage.low, advantage.high))
    )
    return accuracy, advantage


def _auc(
    positive: np.ndarray, negative: np.ndarray, confidence: float, *, paired: bool = False
) -> Estimate | None:
    if min(len(positive), len(negative)) < 2:
        return None
    found = stats.auc_interval(positive, negative, confidence=confidence, paired=paired)
    return Estimate(found.value, found.low, found.high)


def _low_fpr(positive: np.ndarray, scores: np.ndarray, fpr: float, confidence: float) -> Estimate:
    """The threshold looks at the negatives alone, so the TPR keeps its exact interval."""
    point = metrics.tpr_at_fpr(positive, scores, fpr)
    total = int(positive.sum())
    return _share(round(point.tpr * total), total, confidence)


def _comparable(summary: BinaryLabelInferenceAttackSummary) -> np.ndarray:
    """Scores, or guesses where there are none; no score at all counts as the lowest."""
    scores = np.asarray(summary.predictions if summary.scores is None else summary.scores, float)
    return np.where(np.isnan(scores), -np.inf, scores)


def _epsilon(
    summary: BinaryLabelInferenceAttackSummary, confidence: float, delta: float
) -> tuple[stats.EpsilonBound | None, float]:
    try:
        choice = stats.select_threshold(summary, delta=delta)
        bound = stats.certify(choice, summary, confidence=confidence, delta=delta)
    except StatisticsError:
        return None, math.inf
    return bound, _attack_epsilon_high(summary, choice, confidence)


def _attack_epsilon_high(
    summary: BinaryLabelInferenceAttackSummary, choice: stats.ThresholdChoice, confidence: float
) -> float:
    """Largest epsilon that this attack at its threshold may show, both rates at their limits."""
    kept = choice.remaining
    positive = np.asarray(summary.labels).astype(bool)[kept]
    event = _comparable(summary)[kept] >= choice.threshold
    each = 1 - (1 - confidence) / 2
    tp, fp = int(np.sum(event & positive)), int(np.sum(event & ~positive))
    tpr_high = float(stats.clopper_pearson(tp, int(positive.sum()), each, "upper"))
    fpr_low = float(stats.clopper_pearson(fp, int((~positive).sum()), each, "lower"))
    return metrics.effective_epsilon_from_rates(tpr_high, fpr_low)
