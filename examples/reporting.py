"""Every report, made from simulated attacks.

Three generators, three attacks and two targets give eighteen summaries; their scores are
drawn at random, so that the script needs no data and takes seconds. A last part measures
the effective epsilon of a mechanism whose epsilon is known: Laplace noise.

Run it with ``python examples/reporting.py [folder]``; files go to ``./outputs`` by default.
"""

import argparse
from pathlib import Path

import numpy as np

from tapas.report import EffectiveEpsilonReport, MIAttackReport, MIAttackSummary, ROCReport

# How far apart the scores of members and non-members lie, in standard deviations.
LEAKS = {"Raw": 2.0, "Histogram": 1.0, "Noise": 0.0}
STRENGTHS = {"ClosestDistance": 0.5, "LocalNeighbourhood": 0.8, "Groundhog": 1.2}
TARGETS = {"outlier": 1.0, "typical record": 0.4}


def simulate(generator: str, attack: str, target: str, rng: np.random.Generator) -> MIAttackSummary:
    """Pretend to have tested an attack on 1,000 releases, in 500 pairs."""
    labels = np.tile([True, False], 500)
    distance = LEAKS[generator] * STRENGTHS[attack] * TARGETS[target]
    scores = rng.normal(size=1000) + distance * labels
    return MIAttackSummary(
        labels,
        scores >= distance / 2,
        scores,
        generator_info=generator,
        attack_info=attack,
        dataset_info="Simulated",
        target_id=target,
        groups=np.arange(1000) // 2,
        relation="replace",
    )


def laplace_outcomes(epsilon: float, num_trials: int, rng: np.random.Generator) -> MIAttackSummary:
    """Count a dataset with or without the target, and add Laplace noise of scale 1/epsilon."""
    labels = rng.permutation(np.arange(num_trials) % 2)
    noisy_count = labels + rng.laplace(scale=1 / epsilon, size=num_trials)
    return MIAttackSummary(
        labels,
        noisy_count >= 0.5,
        noisy_count,
        generator_info=f"Laplace(ε={epsilon:g})",
        attack_info="Noisy count",
        relation="add/remove",
    )


def laplace_epsilon(epsilon: float, folder: Path) -> str:
    """Measure a Laplace mechanism, write the report, and say what it found."""
    outcomes = laplace_outcomes(epsilon, 10_000, np.random.default_rng(0))
    report = EffectiveEpsilonReport([outcomes], suffix=f"Laplace_{epsilon:g}")
    low, high = report.publish(folder).loc[1, ["epsilon_low", "epsilon_high"]]
    return f"true epsilon {epsilon:g}: at least {low:.3f} shown (this attack: below {high:.3f})"


def point_estimates_of_nothing(summaries: list[MIAttackSummary]) -> str:
    """Say how large the point estimate looks where nothing leaks."""
    found = [summary.effective_epsilon for summary in summaries if summary.generator == "Noise"]
    return (
        "Noise leaks nothing, yet the point estimates of effective epsilon are "
        f"{min(found):.2f} to {max(found):.2f}"
    )


def simulate_all() -> list[MIAttackSummary]:
    """Return one summary for each generator, attack and target."""
    rng = np.random.default_rng(0)
    return [
        simulate(generator, attack, target, rng)
        for generator in LEAKS
        for attack in STRENGTHS
        for target in TARGETS
    ]


def main(folder: Path) -> None:
    """Write all reports under `folder`."""
    summaries = simulate_all()
    for summary in summaries:
        summary.write_metrics(folder / "metrics", postfix="example")

    files = MIAttackReport(summaries, num_bootstrap=1000).publish(folder / "comparisons")
    print(f"{len(files)} comparisons in {folder / 'comparisons'}")

    on_raw = [s for s in summaries if s.generator == "Raw" and s.target_id == "outlier"]
    curves = ROCReport(on_raw, suffix="_Raw", eff_epsilon=2, confidence=0.95, log_log=True)
    by_generator = ROCReport(summaries, disaggregate_by="generator", zooms=[1, 0.1])
    files = curves.publish(folder / "roc") + by_generator.publish(folder / "roc")
    print(f"{len(files)} ROC figures in {folder / 'roc'}")

    report = EffectiveEpsilonReport(on_raw, suffix="Raw")
    table = report.publish(folder / "epsilon")
    print(f"\n{point_estimates_of_nothing(summaries)}")
    print(f"\nRaw, best attack {report.chosen_summary.attack}:\n{table}")

    print("\nLaplace mechanism, 10,000 outcomes, 95 % confidence:")
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        print("  " + laplace_epsilon(epsilon, folder / "epsilon"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default="outputs", help="[outputs]")
    main(parser.parse_args().folder)
