"""What does a release tell about one attribute of a known person?

The attribute may have two values or more; the value is drawn anew for every simulation, so what the
attacker could guess from the population does not count as a leak.

Run with ``python examples/attribute_inference.py [FOLDER]``.
"""

import argparse
from pathlib import Path

from sklearn.linear_model import LogisticRegression

from tapas.attacks import (
    ClosestDistanceAIA,
    GroundhogAttack,
    HammingDistance,
    LocalNeighbourhoodAttack,
    SyntheticPredictorAttack,
)
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.report import AIAttackReport, BinaryAIAttackReport
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedAIA

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, default="outputs")
folder = parser.parse_args().folder / "attribute_inference"


data = load_sample("census", rows=4_000)
target, data = data.get_records([7]), data.drop_records([7])
knowledge = AuxiliaryDataKnowledge(data, num_training_records=500, seed=1)

for attribute, values, report in [
    ("Sex", ["female", "male"], BinaryAIAttackReport),
    ("Marital Status", ["single", "married", "divorced"], AIAttackReport),
]:
    threat_model = TargetedAIA(
        attacker_knowledge_data=knowledge,
        target_record=target,
        sensitive_attribute=attribute,
        attribute_values=values,
        attacker_knowledge_generator=BlackBoxKnowledge(Raw(), num_synthetic_records=400),
        seed=2,
    )
    attacks = [
        ClosestDistanceAIA(HammingDistance(), criterion=("threshold", 0.5)),
        LocalNeighbourhoodAttack(HammingDistance(), radius=2),
        SyntheticPredictorAttack(LogisticRegression(max_iter=300), criterion="accuracy"),
        GroundhogAttack(),
    ]
    print(f"{attribute} ({len(values)} values, so guessing gives {1 / len(values):.2f})")
    summaries = []
    for attack in attacks:
        attack.train(threat_model, num_samples=100)
        summaries.append(threat_model.test(attack, num_samples=100))
        print(f"  {attack.label:45s} accuracy {summaries[-1].accuracy:.2f}")
    report(summaries).publish(str(folder / attribute.replace(" ", "_")))
print(f"\nFigures are in {folder.resolve()}")
