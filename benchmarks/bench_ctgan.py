"""What canaries certify of a slow generator from ten fits, beside what many shadow fits show.

Run with ``python benchmarks/bench_ctgan.py [--model TVAE] [--epochs 150] [--rows 200] [--fits 10
50 100]`` where the package ctgan is installed. 100 rare combinations of values are canaries, each
in or out by a coin in every fit; half of the fits train the ensemble, half are judged. Fits are
shared: more of them begin with the same. Epsilon is certified at 95 % from all judged fits.
"""

import argparse
import time
import warnings

from tapas.attacks import ClosestDistanceMIA, EnsembleAttack
from tapas.audit import Audit
from tapas.datasets import load_sample, rare_combinations
from tapas.generators import CTGANGenerator
from tapas.results import summary_facts
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, CanaryMIA

CANARIES = 100


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="TVAE", choices=["TVAE", "CTGAN"])
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--fits", type=int, nargs="+", default=[10, 50, 100])
    asked = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    data = load_sample("census", 10 * asked.rows)
    shape = {"pac": 1} if asked.model == "CTGAN" else {}
    generator = CTGANGenerator(asked.model, epochs=asked.epochs, batch_size=100, **shape)
    game = CanaryMIA(
        AuxiliaryDataKnowledge(data, num_training_records=asked.rows, seed=0),
        rare_combinations(data, CANARIES, random_state=0),
        BlackBoxKnowledge(generator, asked.rows),
        seed=1,
        n_jobs=1,
    )
    print(f"{generator.label}, {asked.rows} records and half of {CANARIES} canaries")
    for fits in asked.fits:
        start = time.process_time()
        attacks = [ClosestDistanceMIA(label="closest"), EnsembleAttack(label="ensemble")]
        (subject,) = Audit(game, attacks, fits // 2, fits - fits // 2).run(n_jobs=1).subjects
        for summary in subject.summaries:
            facts = summary_facts(summary)
            low = 0.0 if facts.epsilon is None else float(facts.epsilon.value)
            words = f"AUC {facts.auc.value:.3f}  epsilon >= {low:.2f}"
            taken = time.process_time() - start
            print(f"{fits:>4} fits  {summary.attack:<10} {words}  ({taken:.0f} s CPU)", flush=True)


if __name__ == "__main__":
    main()
