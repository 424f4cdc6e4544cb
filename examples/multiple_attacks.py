"""Eight attacks on the same target, side by side.

Run with ``python examples/multiple_attacks.py [FOLDER]``.
"""

import argparse
from pathlib import Path

from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KernelDensity

from tapas.attacks import (
    ClosestDistanceMIA,
    FeatureBasedSetClassifier,
    GroundhogAttack,
    HammingDistance,
    LocalNeighbourhoodAttack,
    LpDistance,
    NaiveSetFeature,
    ProbabilityEstimationAttack,
    RandomTargetedQueryFeature,
    ShadowModellingAttack,
)
from tapas.datasets import load_sample, select_vulnerable_records
from tapas.generators import Raw
from tapas.report import EffectiveEpsilonReport, MIAttackReport, ROCReport
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, default="outputs")
folder = parser.parse_args().folder / "multiple_attacks"


data = load_sample("census", rows=4_000)
target = select_vulnerable_records(data, 1)
data = data.drop_records([target.id])

threat_model = TargetedMIA(
    attacker_knowledge_data=AuxiliaryDataKnowledge(data, num_training_records=500, seed=1),
    target_record=target,
    attacker_knowledge_generator=BlackBoxKnowledge(Raw(), num_synthetic_records=300),
    seed=2,
)

attacks = [
    ClosestDistanceMIA(HammingDistance(), criterion=("threshold", 0), label="look-up"),
    ClosestDistanceMIA(HammingDistance(), criterion="accuracy"),
    ClosestDistanceMIA(LpDistance(2), criterion=("tp", 0.5)),
    LocalNeighbourhoodAttack(HammingDistance(), radius=3, criterion="accuracy"),
    ProbabilityEstimationAttack(KernelDensity(bandwidth=0.5), criterion="accuracy"),
    ShadowModellingAttack(
        FeatureBasedSetClassifier(NaiveSetFeature(), RandomForestClassifier(random_state=0)),
        label="Naive features, forest",
    ),
    ShadowModellingAttack(
        FeatureBasedSetClassifier(
            RandomTargetedQueryFeature(target, order=3, number=200, seed=0),
            RandomForestClassifier(random_state=0),
        ),
        label="200 queries, forest",
    ),
    GroundhogAttack(),
]

summaries = []
for attack in attacks:
    attack.train(threat_model, num_samples=200)
    summary = threat_model.test(attack, num_samples=200)
    summaries.append(summary)
    print(f"{attack.label:45s} accuracy {summary.accuracy:.2f}  AUC {summary.auc:.2f}")

MIAttackReport(summaries, num_bootstrap=500).publish(str(folder))
ROCReport(summaries, zooms=[1, 0.2]).publish(str(folder))
print(EffectiveEpsilonReport(summaries).publish(str(folder)).to_string(index=False))
print(f"\nFigures are in {folder.resolve()}")
