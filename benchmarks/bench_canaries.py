"""Which canaries certify most: real records, isolated ones, or rare combinations.

Run with ``python benchmarks/bench_canaries.py``: a few fits of each generator on 1,000 simulated
records, 100 of them canaries, each in or out by a coin; the AUC over all canaries, and the epsilon
that the test fits certify together at 95 %.
"""

import warnings

import numpy as np

from tapas.attacks import EnsembleAttack
from tapas.datasets import TabularDataset, load_sample, most_isolated, rare_combinations
from tapas.generators import BayesianNetwork, CartSynthesizer, Generator, IndependentMarginals, Raw
from tapas.results import summary_facts
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, CanaryMIA

ROWS, CANARIES, TRAIN, TEST = 1000, 100, 20, 10


def designs(data: TabularDataset) -> dict[str, tuple[TabularDataset, TabularDataset]]:
    """Canaries of each kind, and the data without them."""
    drawn = np.random.default_rng(0).permutation(len(data))[:CANARIES]
    found = {
        "real records": _taken_out(data, drawn),
        "most isolated records": _taken_out(data, most_isolated(data, CANARIES)),
    }
    return found | {"rare combinations": (rare_combinations(data, CANARIES, random_state=0), data)}


def _taken_out(data: TabularDataset, rows: np.ndarray) -> tuple[TabularDataset, TabularDataset]:
    targets = data.take(rows)
    copies = (data.table.count_differences(targets.table) == 0).any(axis=0)
    return targets, data.take(np.flatnonzero(~copies))


def generators() -> list[Generator]:
    return [Raw(), CartSynthesizer(), BayesianNetwork(), IndependentMarginals()]


def main() -> None:
    warnings.simplefilter("ignore")
    data = load_sample("census", 6000)
    for generator in generators():
        for name, (canaries, rest) in designs(data).items():
            game = CanaryMIA(
                AuxiliaryDataKnowledge(rest, num_training_records=ROWS, seed=0),
                canaries,
                BlackBoxKnowledge(generator, ROWS),
                seed=1,
                n_jobs=1,
            )
            attack = EnsembleAttack()
            attack.train(game, TRAIN)
            facts = summary_facts(game.test(attack, TEST))
            low = 0.0 if facts.epsilon is None else float(facts.epsilon.value)
            words = f"AUC {facts.auc.value:.3f}  epsilon >= {low:.2f}"
            print(f"{generator.label:<28} {name:<24} {words}", flush=True)


if __name__ == "__main__":
    main()
