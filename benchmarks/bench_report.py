"""Time the metrics and the reports beside naive twins, in one run.

Run it with ``python benchmarks/bench_report.py``.
"""

import math
import tempfile
import time
from collections.abc import Callable

import numpy as np

from tapas.metrics import effective_epsilon
from tapas.report import EffectiveEpsilonReport, MIAttackReport, MIAttackSummary
from tapas.stats import select_threshold


def seconds(task: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest of several runs."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


def simulate(
    num_trials: int, seed: int, generator: str = "G", attack: str = "A", target: str = "T"
) -> MIAttackSummary:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, num_trials)
    scores = rng.normal(size=num_trials) + labels
    return MIAttackSummary(labels, scores > 0.5, scores, generator, attack, "D", target)


def naive_effective_epsilon(labels: np.ndarray, scores: np.ndarray) -> float:
    size = len(scores)
    cut = max(1, min(10, size // 10))
    members, others = scores[labels == 1], scores[labels == 0]
    best = -math.inf
    for threshold in np.unique(np.sort(scores)[cut : size - cut]):
        tpr, fpr = np.mean(members >= threshold), np.mean(others >= threshold)
        for above, below in ((tpr, fpr), (1 - fpr, 1 - tpr)):
            if above > 0:
                best = max(best, math.inf if below == 0 else math.log(above / below))
    return best


def naive_bootstrap(summaries: list[MIAttackSummary], replicates: int) -> None:
    rng = np.random.default_rng(0)
    for summary in summaries:
        for _ in range(replicates):
            drawn = rng.integers(len(summary), size=len(summary))
            MIAttackSummary(
                summary.labels[drawn], summary.predictions[drawn], summary.scores[drawn]
            ).get_metrics()


def bootstrap(summaries: list[MIAttackSummary], replicates: int) -> None:
    for seed, summary in enumerate(summaries):
        summary.resampled_metrics(replicates, rng=np.random.default_rng(seed))


def main() -> None:
    """Print one row per task: ours, the naive twin where there is one, and the ratio."""
    rows: list[tuple[str, float, float | None]] = []

    large = simulate(10_000, 0)
    arrays = large.labels, large.scores
    if not math.isclose(effective_epsilon(*arrays), naive_effective_epsilon(*arrays)):
        raise SystemExit("the naive twin disagrees")
    rows.append(
        (
            "effective_epsilon, 10,000 scores",
            seconds(lambda: effective_epsilon(*arrays), 50),
            seconds(lambda: naive_effective_epsilon(*arrays), 1),
        )
    )

    twenty = [simulate(1000, 7 * g + a, f"G{g}", f"A{a}", "T") for g in range(5) for a in range(4)]
    fewer = 10
    rows.append(
        (
            "7 metrics, 1,000 resamples, 20 summaries of 1,000",
            seconds(lambda: bootstrap(twenty, 1000), 3),
            seconds(lambda: naive_bootstrap(twenty, fewer), 1) * 1000 / fewer,
        )
    )

    ten = [simulate(10_000, seed, attack=f"A{seed}") for seed in range(10)]
    rows.append(
        ("select_threshold, 10 summaries of 10,000", seconds(lambda: select_threshold(ten)), None)
    )
    report = EffectiveEpsilonReport(ten)
    rows.append(("EffectiveEpsilonReport, the same", seconds(report.estimate), None))

    with tempfile.TemporaryDirectory() as folder:
        plain = MIAttackReport(twenty)
        resampled = MIAttackReport(twenty, num_bootstrap=1000)

        def six(chosen: MIAttackReport) -> None:
            for _ in range(3):
                chosen.compare("generator", ("dataset", "target_id"), "attack", folder)
                chosen.compare("attack", ("dataset", "target_id"), "generator", folder)

        rows.append(("six comparison plots, 20 summaries", seconds(lambda: six(plain), 2), None))
        rows.append(("the same with intervals", seconds(lambda: six(resampled), 2), None))

    print(f"{'task':52}{'ours':>12}{'naive':>12}{'ratio':>9}")
    for name, ours, naive in rows:
        twin = "" if naive is None else f"{naive * 1e3:9.1f} ms"
        ratio = "" if naive is None else f"{naive / ours:.0f}x"
        print(f"{name:52}{ours * 1e3:9.2f} ms{twin:>12}{ratio:>9}")


if __name__ == "__main__":
    main()
