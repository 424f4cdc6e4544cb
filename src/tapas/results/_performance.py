"""How well a model does on the records that it was trained on, and on others."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tapas.stats import advantage_interval, clopper_pearson, shared_confidence

__all__ = ["gap_over_all", "performance_table", "ratio_over_all", "with_ratio"]

CONFIDENCE = 0.95


def performance_table(
    truth: np.ndarray,
    predicted: np.ndarray,
    members: np.ndarray,
    subgroups: Mapping[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Return accuracy on members and on others, gap and ratio: all, by class and by subgroup.

    Parameters
    ----------
    truth, predicted : ndarray
        The class of each record, and what the model says.
    members : ndarray of bool
        Whether the model was trained on the record.
    subgroups : mapping of str to ndarray, optional
        Columns by whose values records are told apart.

    Returns
    -------
    DataFrame
        One row per part, ``all`` first; without classes where all records are of one.
        ``precision`` and ``recall`` are about the class among the others, and their means over
        classes in the first row. All intervals of accuracies, gaps and ratios hold together with
        95 % confidence.
    """
    right = np.asarray(predicted == truth, dtype=bool)
    parts = [("all", "all", np.ones(len(right), dtype=bool))]
    classes = {"class": truth} if len(pd.unique(truth)) > 1 else {}
    for name, values in {**classes, **(subgroups or {})}.items():
        known = pd.Series(values, dtype=object)
        different = sorted(pd.unique(known.dropna()), key=str)
        parts += [(name, one, (known == one).to_numpy(dtype=bool)) for one in different]
    level = shared_confidence(CONFIDENCE, 3 * len(parts))
    found = [
        {"slice": name, "value": str(value), **_accuracies(right, members, part, level)}
        for name, value, part in parts
    ]
    table = with_ratio(pd.DataFrame(found))
    outside = ~members
    for column, given in (("precision", predicted), ("recall", truth)):
        of_class = [
            _share(right, outside & (given == value)) if name == "class" else np.nan
            for name, value, _ in parts
        ]
        known = [share for share in of_class if not np.isnan(share)]
        table[column] = [float(np.mean(known)) if known else np.nan, *of_class[1:]]
    return table


def gap_over_all(
    performance: Mapping[str, Sequence[object]], confidence: float
) -> tuple[float, float]:
    """How far the accuracy on all members lies above that on others, at least and at most.

    Parameters
    ----------
    performance : mapping of str to sequence
        Columns of `performance_table`.
    """
    counts = (*_counts(performance, "train"), *_counts(performance, "test"))
    gap = advantage_interval(*counts, confidence=confidence)
    return gap.low, gap.high


def ratio_over_all(
    performance: Mapping[str, Sequence[object]], confidence: float
) -> tuple[float, float]:
    """How many times the accuracy on others that on all members is, at least and at most.

    Exact limits of the two accuracies share the error.
    """
    each = shared_confidence(confidence, 2)
    train, test = (clopper_pearson(*_counts(performance, s), each) for s in ("train", "test"))
    return float(train[0] / test[1]), float(train[1] / test[0]) if test[0] > 0 else math.inf


def with_ratio(performance: Mapping[str, Sequence[object]] | pd.DataFrame) -> pd.DataFrame:
    """Return columns of `performance_table` with the ratio of the accuracies.

    Its ends are those that the ends of both accuracies allow: it holds where they do.
    """
    table = pd.DataFrame(performance)
    ends = (("", "", ""), ("_low", "_low", "_high"), ("_high", "_high", "_low"))
    for end, above, below in ends:
        over = table[f"train_accuracy{above}"].astype(float)
        table[f"ratio{end}"] = over / table[f"test_accuracy{below}"].astype(float)
    return table


def _counts(performance: Mapping[str, Sequence[object]], side: str) -> tuple[int, int]:
    """How many of all records on one side the model is right about, and how many there are."""
    number = int(str(performance[f"{side}_records"][0]))
    return round(float(str(performance[f"{side}_accuracy"][0])) * number) if number else 0, number


def _accuracies(
    right: np.ndarray, members: np.ndarray, part: np.ndarray, confidence: float
) -> dict[str, float]:
    inside, outside = part & members, part & ~members
    row: dict[str, float] = {"train_records": inside.sum(), "test_records": outside.sum()}
    for name, side in (("train_accuracy", inside), ("test_accuracy", outside)):
        low, high = clopper_pearson(int(right[side].sum()), int(side.sum()), confidence)
        row |= {name: _share(right, side), f"{name}_low": float(low), f"{name}_high": float(high)}
    counts = [int(n) for side in (inside, outside) for n in (right[side].sum(), side.sum())]
    gap = advantage_interval(*counts, confidence=confidence)
    return row | {"gap": gap.value, "gap_low": gap.low, "gap_high": gap.high}


def _share(right: np.ndarray, chosen: np.ndarray) -> float:
    return float(right[chosen].mean()) if chosen.any() else float("nan")
