"""Median certificate of epsilon at 95 %, ours beside others' formulae on the same scores.

Usage: python benchmarks/bench_power.py [--audits 60] [--sizes 100 1000 10000] [--rows ...]

Exact optimal attacks on mechanisms of known epsilon, with `size` trials per world. The other rows
are written here from the published formulae; "oracle" is told the best threshold and is no method.
Rows marked * hold only for Gaussian mechanisms, rows marked + are credible and not certificates,
and of rows marked ~ it is not proved that they hold.
Where jax-privacy is installed, its own auditor has two rows. The last row says by how much ours is
above (or below) the best of the other rows that are certificates without assumptions.
"""

import argparse
import importlib.util
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from scipy.special import expit, ndtri

from tapas.stats import (
    SequentialEpsilon,
    certificate,
    clopper_pearson,
    epsilon_lower_bound,
    gaussian_epsilon_from_mu,
    max_epsilon_lower_bound,
    one_run_epsilon,
    one_run_gaussian_epsilon,
)
from tapas.stats._bands import roc_counts
from tapas.stats._clopper_pearson import clopper_pearson_epsilon
from tapas.stats._pair_comparison import pair_epsilon

Scores = tuple[np.ndarray, np.ndarray]
ALPHA = 0.05
# Strength mu of the Gaussian mechanism that is (epsilon, 1e-5)-private, by epsilon.
MU = {0.5: 0.1421, 1.0: 0.2681, 2.0: 0.5056, 4.0: 0.9325}


def responses(epsilon: float) -> Callable[[np.random.Generator, int], Scores]:
    rate = float(expit(epsilon))
    return lambda rng, n: ((rng.random(n) < rate) * 1.0, (rng.random(n) < 1 - rate) * 1.0)


def laplace(epsilon: float) -> Callable[[np.random.Generator, int], Scores]:
    return lambda rng, n: (1 + rng.laplace(size=n) / epsilon, rng.laplace(size=n) / epsilon)


def gaussian(epsilon: float) -> Callable[[np.random.Generator, int], Scores]:
    return lambda rng, n: (MU[epsilon] + rng.normal(size=n), rng.normal(size=n))


def rare(rng: np.random.Generator, n: int) -> Scores:
    return np.where(rng.random(n) < 0.05, 10.0, 0.0) + rng.normal(size=n), rng.normal(size=n)


# Name: how scores are drawn, delta, the best threshold.
COLUMNS = {
    **{f"responses {e:g}": (responses(e), 0.0, 0.5) for e in (0.5, 1.0, 2.0, 4.0)},
    **{f"Laplace {e:g}": (laplace(e), 0.0, 1.0) for e in (0.5, 1.0, 2.0, 4.0)},
    **{f"Gaussian {e:g}": (gaussian(e), 1e-5, 1.5 + MU[e] / 2) for e in (0.5, 1.0, 2.0, 4.0)},
    "rare event": (rare, 0.0, 5.0),
}


def summary(scores: Scores) -> SimpleNamespace:
    positive, negative = scores
    labels = np.arange(2 * positive.size) % 2 == 1
    values = np.empty(labels.size)
    values[labels], values[~labels] = positive, negative
    return SimpleNamespace(labels=labels, predictions=values > np.median(values), scores=values)


def ours(scores: Scores, delta: float, _: float) -> float:
    return float(certificate(summary(scores), delta=delta).bound)


def paired(scores: Scores, delta: float, _: float) -> float:
    """The same trials as two of each background: less is certain where backgrounds differ."""
    one = summary(scores)
    one.groups = np.arange(one.labels.size) // 2
    return float(certificate(one, delta=delta).bound)


def as_gaussian(scores: Scores, delta: float, _: float) -> float:
    if delta == 0:
        return np.nan
    return float(certificate(summary(scores), delta=delta, family="gaussian").bound)


def band(scores: Scores, delta: float, _: float) -> float:
    return float(max_epsilon_lower_bound(*scores, delta=delta))


def all_thresholds(scores: Scores, delta: float, _: float) -> float:
    """Clopper-Pearson at every threshold, at the error divided by their number (jax-privacy)."""
    positive, negative = scores
    thresholds, tp, fp = roc_counts(positive, negative)
    alpha = ALPHA / thresholds.size
    found = clopper_pearson_epsilon(
        tp.astype(float), positive.size, fp.astype(float), negative.size, alpha, delta
    )
    return float(found.max())


def hull_corners(scores: Scores, delta: float, _: float) -> float:
    """The same over corners of the hull of the curve alone, as jax-privacy counts thresholds.

    How many they are follows from the scores that also bound, so the level is not proved.
    """
    positive, negative = scores
    _, tp, fp = roc_counts(positive, negative)
    corners = [(0, 0)]
    for point in zip(fp.tolist(), tp.tolist(), strict=True):
        while len(corners) > 1 and not _bends_down(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    alarms, hits = np.array(corners, dtype=float).T
    alpha = ALPHA / len(corners)
    found = clopper_pearson_epsilon(hits, positive.size, alarms, negative.size, alpha, delta)
    return float(found.max())


def _bends_down(first: tuple[int, int], middle: tuple[int, int], last: tuple[int, int]) -> bool:
    (x, y), (u, v), (w, z) = first, middle, last
    return (v - y) * (w - u) > (z - v) * (u - x)


def right_halves(scores: Scores) -> tuple[int, int]:
    """Right guesses where the upper half is guessed in, ties broken by coins; and all guesses."""
    one = summary(scores)
    order = np.lexsort((np.random.default_rng(0).random(one.labels.size), one.scores))
    guessed = np.zeros(one.labels.size, dtype=bool)
    guessed[order[one.labels.size // 2 :]] = True
    return int(np.sum(guessed == one.labels)), one.labels.size


def one_run(scores: Scores, delta: float, _: float) -> float:
    """Steinke et al. (2023): every trial a canary."""
    right, size = right_halves(scores)
    return float(one_run_epsilon(size, size, right, delta=delta))


def one_run_as_gaussian(scores: Scores, delta: float, _: float) -> float:
    """Mahloujifar et al. (2024), for Gaussian trade-off curves."""
    if delta == 0:
        return np.nan
    right, size = right_halves(scores)
    return float(one_run_gaussian_epsilon(size, size, right, delta=delta))


def bits_as_gaussian(scores: Scores, delta: float, _: float) -> float:
    """Xiang et al. (2025): a bit is guessed rightly with chance 1 - min (x + f(x)) / 2 at most."""
    if delta == 0:
        return np.nan
    low = float(clopper_pearson(*right_halves(scores), 1 - ALPHA, "lower"))
    return float(gaussian_epsilon_from_mu(2 * float(ndtri(max(low, 0.5))), delta))


def compared(scores: Scores, delta: float, _: float) -> float:
    positive, negative = scores
    coins = np.random.default_rng(0).random(positive.size) < 0.5
    wins = (positive > negative) | ((positive == negative) & coins)
    return pair_epsilon(int(wins.sum()), positive.size, ALPHA, delta)


def sequential(scores: Scores, delta: float, threshold: float) -> float:
    right = scores[0] >= threshold, scores[1] < threshold
    return float(SequentialEpsilon(delta=delta).update_pair(*right).bound)


def at_oracle(method: str) -> Callable[[Scores, float, float], float]:
    def bound(scores: Scores, delta: float, threshold: float) -> float:
        positive, negative = (int(np.sum(world >= threshold)) for world in scores)
        size = scores[0].size
        return float(
            epsilon_lower_bound(positive, size, negative, size, delta=delta, method=method)
        )

    return bound


def jax_privacy(auditor: str) -> Callable[[Scores, float, float], float]:
    def bound(scores: Scores, delta: float, _: float) -> float:
        from jax_privacy.auditing import CanaryScoreAuditor

        found = CanaryScoreAuditor(*scores)
        if auditor == "one run":
            return float(found.epsilon_one_run(ALPHA, delta)) if delta > 0 else np.nan
        return float(found.epsilon_clopper_pearson(ALPHA, delta, one_sided=False))

    return bound


ROWS: dict[str, Callable[[Scores, float, float], float]] = {
    "tapas, default": ours,
    "tapas, default, trials in pairs": paired,
    "tapas, family gaussian *": as_gaussian,
    "band over all thresholds": band,
    "Bonferroni over thresholds": all_thresholds,
    "Bonferroni over hull corners (jax-privacy's) ~": hull_corners,
    "one run, all guesses": one_run,
    "one run, all guesses, f-DP (Mahloujifar et al.) *": one_run_as_gaussian,
    "one run, all guesses, f-DP (Xiang et al.) *": bits_as_gaussian,
    "pair comparison": compared,
    "sequential, oracle threshold": sequential,
    "Bayes, oracle threshold +": at_oracle("bayes"),
    "Clopper-Pearson, oracle": at_oracle("clopper-pearson"),
    "Buehler, oracle": at_oracle("buehler"),
}

if importlib.util.find_spec("jax_privacy") is not None:
    for auditor in ("Clopper-Pearson, Bonferroni", "one run"):
        ROWS[f"jax-privacy, {auditor}"] = jax_privacy(auditor)


def is_rival(row: str) -> bool:
    """Whether a row is another certificate that nobody tells anything."""
    return not row.startswith("tapas") and not row.endswith(("*", "+", "~")) and "oracle" not in row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=60)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--columns", nargs="+", default=list(COLUMNS))
    parser.add_argument("--rows", nargs="+", default=list(ROWS))
    options = parser.parse_args()
    for size in options.sizes:
        print(f"\n{size} trials per world, median of {options.audits} audits\n")
        print("| method | " + " | ".join(options.columns) + " |")
        print("|---" * (1 + len(options.columns)) + "|")
        draws = {}
        for name in options.columns:
            rng = np.random.default_rng(1)
            draws[name] = [COLUMNS[name][0](rng, size) for _ in range(options.audits)]
        medians: dict[str, list[float]] = {}
        for row in options.rows:
            method, cells, medians[row] = ROWS[row], [], []
            for name in options.columns:
                _, delta, threshold = COLUMNS[name]
                found = [method(scores, delta, threshold) for scores in draws[name]]
                value = float(np.median(found))
                medians[row].append(value)
                cells.append("" if np.isnan(value) else f"{value:.3f}")
            print(f"| {row} | " + " | ".join(cells) + " |", flush=True)
        best = np.nanmax([medians[row] for row in medians if is_rival(row)], axis=0)
        gains = np.array(medians["tapas, default"]) - best
        said = [
            f"{100 * gain / top:+.0f} %" if top > 0 else ""
            for gain, top in zip(gains, best, strict=True)
        ]
        print("| ours beside the best of the others | " + " | ".join(said) + " |", flush=True)


if __name__ == "__main__":
    main()
