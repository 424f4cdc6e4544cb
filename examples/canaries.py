"""Two targets in the same releases: an outlier made for the purpose, and an ordinary record.

Run with ``python examples/canaries.py [FOLDER]``.
"""

import sys
from pathlib import Path

from tapas.attacks import ClosestDistanceMIA, GroundhogAttack
from tapas.datasets import create_canary, load_sample
from tapas.generators import Raw
from tapas.report import MIAttackReport
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "outputs") / "canaries"

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
print(f"\nFigures are in {folder.resolve()}")
