"""Eight generators, five attacks, exposed and ordinary targets: one page.

Run with ``python examples/compare_generators.py [FOLDER] [TRIALS]``. With the default of 60 trials
it takes about a minute; with 400 the intervals are narrow enough to rank the generators. A second
run into the same folder goes on where the first one ended.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import (
    ClosestDistanceMIA,
    FeatureBasedSetClassifier,
    GroundhogAttack,
    LocalNeighbourhoodAttack,
    LpDistance,
    RandomTargetedQueryFeature,
    ShadowModellingAttack,
)
from tapas.audit import Audit, Subject
from tapas.datasets import load_sample, record_isolation
from tapas.generators import (
    MST,
    BayesianNetwork,
    Bootstrap,
    CartSynthesizer,
    GaussianCopula,
    IndependentMarginals,
    NoisyMarginals,
    Smote,
)
from tapas.report import AuditPage
from tapas.results import record_facts
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

GENERATORS = [
    (Bootstrap(), "control"),
    (IndependentMarginals(), "control"),
    (Smote(), "audited"),
    (CartSynthesizer(), "audited"),
    (BayesianNetwork(), "audited"),
    (GaussianCopula(), "audited"),
    (MST(epsilon=1.0, delta=1e-5), "audited"),
    (NoisyMarginals(epsilon=0.1), "audited"),
]


def attacks() -> list:
    return [
        ClosestDistanceMIA(criterion="accuracy"),
        ClosestDistanceMIA(LpDistance(1), criterion="accuracy"),
        LocalNeighbourhoodAttack(radius=2, criterion="accuracy"),
        GroundhogAttack(),
        ShadowModellingAttack(
            FeatureBasedSetClassifier(
                RandomTargetedQueryFeature(None, order=3, number=200, seed=0),
                RandomForestClassifier(),
            ),
            label="200 queries",
        ),
    ]


def main(folder: Path, trials: int) -> None:
    data = load_sample("census", rows=6_000)
    isolation = record_isolation(data)
    exposed = np.argsort(-isolation)[:2]
    ordinary = np.argsort(np.abs(isolation - np.median(isolation)), kind="stable")[:2]
    chosen = np.concatenate([exposed, ordinary])
    targets = data.take(chosen)
    rest = data.drop_records(chosen)
    subjects = [
        Subject(
            TargetedMIA(
                AuxiliaryDataKnowledge(rest, num_training_records=300, seed=1),
                targets,
                BlackBoxKnowledge(generator, num_synthetic_records=300),
                replace_target=True,
                seed=2,
            ),
            name=generator.label,
            role=role,
        )
        for generator, role in GENERATORS
    ]
    record = Audit(subjects, attacks(), trials, trials, title="Eight generators compared").run(
        folder
    )
    print(
        f"{'generator':34s} {'best attack on an exposed target':>44s} {'on an ordinary one':>30s}"
    )
    # The best of five attacks and two targets is picked out, so each interval is that much wider.
    every = record_facts(record, confidence=1 - 0.05 / 10)
    for subject in record.subjects:
        line = f"{subject.name:34s}"
        for targets_of in (exposed, ordinary):
            names = {str(position) for position in targets_of}
            facts = [f for f in every if f.subject == subject.name]
            best = max((f for f in facts if f.target in names), key=lambda f: f.auc.value)
            words = f"AUC {best.auc.value:.2f} [{best.auc.low:.2f}, {best.auc.high:.2f}]"
            line += f" {best.attack[:20] + ' ' + words:>44s}"
        print(line)
    for path in AuditPage(record).publish(folder):
        print(f"\nThe page is {Path(path).resolve()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default="outputs/compare_generators")
    parser.add_argument("trials", nargs="?", type=int, default=60)
    given = parser.parse_args()
    main(given.folder, given.trials)
