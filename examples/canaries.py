"""Two targets in the same releases, then two hundred in a single run of the generator.

Run with ``python examples/canaries.py [FOLDER]``.
"""

import argparse
from pathlib import Path

from tapas.attacks import ClosestDistanceMIA, GroundhogAttack
from tapas.datasets import create_canary, load_sample
from tapas.generators import Raw
from tapas.report import MIAttackReport
from tapas.stats import audit_claim
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ExactDataKnowledge,
    TargetedMIA,
)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, default="outputs")
folder = parser.parse_args().folder / "canaries"


# 1. An outlier made for the purpose, and an ordinary record, over many releases.
# The canary differs from every row in every column; the data gains a schema that admits it.
data, canary = create_canary(load_sample("clinic", rows=3_000))
targets = data.get_records([0]).add_records(canary)
data = data.drop_records([0])

threat_model = TargetedMIA(
    attacker_knowledge_data=AuxiliaryDataKnowledge(data, num_training_records=300, seed=1),
    target_record=targets,
    attacker_knowledge_generator=BlackBoxKnowledge(Raw(), num_synthetic_records=150),
    replace_target=True,
    seed=2,
)

summaries = []
for one_target in threat_model:
    for attack in (ClosestDistanceMIA(), GroundhogAttack()):
        attack.train(one_target, num_samples=200)
        summary = one_target.test(attack, num_samples=200)
        summaries.append(summary)
        print(f"target {summary.target_id:8s} {attack.label:40s} AUC {summary.auc:.2f}")

MIAttackReport(summaries).publish(str(folder))
print(f"\nFigures are in {folder.resolve()}\n")

# 2. Two hundred records, each put in by a coin of its own, in one run of the generator. All are
# judged together, and how many coins were guessed bounds epsilon from below.
records = load_sample("clinic", rows=1_000)
canaries, others = records.take(range(200)), records.take(range(200, 1_000))
one_run = CanaryMIA(
    ExactDataKnowledge(others),
    canaries,
    BlackBoxKnowledge(Raw(), num_synthetic_records=600),
    replace_target=True,
    seed=3,
)
lookup = ClosestDistanceMIA(criterion=("threshold", 0))  # is there an exact copy in the release?
summary = one_run.test(lookup, num_samples=1)
print(f"{len(summary)} canaries in one release, {summary.accuracy:.0%} of the coins guessed")
print(audit_claim([summary], epsilon=1.0).words)
