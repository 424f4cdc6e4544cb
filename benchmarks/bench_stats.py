"""Statistics over whole arrays against a call per threshold, in one run.

``python benchmarks/bench_stats.py``
"""

import math
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from scipy import stats as reference

from tapas.metrics import Outcomes
from tapas.stats import (
    auc_interval,
    epsilon_lower_bound,
    max_epsilon_lower_bound,
    resampled_counts,
    select_threshold,
)
from tapas.stats._bands import band_table, roc_counts


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def naive_maximum(positive: np.ndarray, negative: np.ndarray, thresholds: np.ndarray) -> float:
    """One pass over the scores and two interval calls per threshold."""
    best = 0.0
    for threshold in thresholds:
        tp, fp = int((positive >= threshold).sum()), int((negative >= threshold).sum())
        hits = reference.binomtest(tp, positive.size).proportion_ci(0.95, method="exact")
        alarms = reference.binomtest(fp, negative.size).proportion_ci(0.95, method="exact")
        if hits.low > 0:
            best = max(best, math.log(hits.low / alarms.high))
        if alarms.high < 1:
            best = max(best, math.log((1 - alarms.high) / (1 - hits.low)))
    return best


def whole_array_maximum(positive: np.ndarray, negative: np.ndarray) -> float:
    _, tp, fp = roc_counts(positive, negative)
    return float(epsilon_lower_bound(tp, positive.size, fp, negative.size).value.max())


def naive_auc(positive: np.ndarray, negative: np.ndarray) -> float:
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    return float(wins.mean(axis=1).var(ddof=1) + wins.mean(axis=0).var(ddof=1))


def naive_bootstrap(labels: np.ndarray, scores: np.ndarray, resamples: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(resamples):
        draw = rng.integers(0, labels.size, labels.size)
        y, s = labels[draw], scores[draw]
        auc_interval(s[y == 1], s[y == 0])


def counted_bootstrap(labels: np.ndarray, scores: np.ndarray, resamples: int) -> np.ndarray:
    outcomes = Outcomes(labels, labels, scores)
    drawn = resampled_counts(len(labels), resamples, rng=np.random.default_rng(0))
    return np.concatenate([outcomes.counted(weights).auc for weights in drawn])


def main() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (10, 10_000))
    scores = labels + rng.laplace(size=labels.shape)
    summaries = [
        SimpleNamespace(labels=y, predictions=y, scores=s)
        for y, s in zip(labels, scores, strict=True)
    ]
    positive, negative = scores[0][labels[0] == 1], scores[0][labels[0] == 0]
    few = rng.choice(scores[0], 200, replace=False)
    share = scores[0].size / few.size

    naive = seconds(lambda: naive_maximum(positive, negative, few), 1) * share
    whole = seconds(lambda: whole_array_maximum(positive, negative))
    pairs = seconds(lambda: naive_auc(positive, negative), 1)
    ranks = seconds(lambda: auc_interval(positive, negative))
    one, two = labels[0][:1000], scores[0][:1000]
    loop = seconds(lambda: naive_bootstrap(one, two, 200), 1)
    counts = seconds(lambda: counted_bootstrap(one, two, 200))
    print(f"{'task':<52}{'naive s':>10}{'ours s':>10}{'ratio':>9}")
    for task, slow, fast in (
        ("E1 at 10,000 thresholds (naive: 200, scaled up)", naive, whole),
        ("DeLong on 10,000 scores (naive: all pairs)", pairs, ranks),
        ("bootstrap of AUC, 200 resamples of 1,000", loop, counts),
    ):
        print(f"{task:<52}{slow:>10.4f}{fast:>10.4f}{slow / fast:>9.0f}")

    print(f"\n{'time alone':<52}{'s':>10}")
    for split in (0.1, 0.5):
        spent = seconds(lambda split=split: select_threshold(summaries, validation_split=split))
        print(f"{f'selection, 10 x 10,000 scores, split {split}':<52}{spent:>10.4f}")
    band_table.cache_clear()
    cold = seconds(lambda: max_epsilon_lower_bound(positive, negative), 1)
    warm = seconds(lambda: max_epsilon_lower_bound(positive, negative))
    print(f"{'Berk-Jones bound over thresholds, first call':<52}{cold:>10.4f}")
    print(f"{'Berk-Jones bound over thresholds, next calls':<52}{warm:>10.4f}")
    for n in (1000, 10_000):
        work = (round(0.73 * n), n, round(0.27 * n), n)
        spent = seconds(lambda work=work: epsilon_lower_bound(*work, method="buehler"), 1)
        print(f"{f'E2 with its ceiling, n = {n:,} per world':<52}{spent:>10.4f}")


if __name__ == "__main__":
    main()
