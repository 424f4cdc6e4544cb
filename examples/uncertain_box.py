"""An attacker who does not know the generator's parameter, and one who does.

The generator publishes a noisy histogram of one column; the attacker knows the method but not how
much noise it adds.

Run with ``python examples/uncertain_box.py``.
"""

import numpy as np

from tapas.attacks import GroundhogAttack
from tapas.datasets import TabularDataset, create_canary, load_sample
from tapas.generators import Generator
from tapas.threat_models import (
    BlackBoxKnowledge,
    ExactDataKnowledge,
    TargetedMIA,
    UncertainBoxKnowledge,
)


class NoisyHistogram(Generator):
    """Draws records from a histogram with Laplace noise; `epsilon` comes with each call."""

    def fit(self, dataset, epsilon=1.0):
        self.description = dataset.description
        counts = np.bincount(
            dataset.data.iloc[:, 0].astype(int), minlength=self.description[0]["representation"]
        )
        noisy = np.maximum(counts + np.random.laplace(scale=1 / epsilon, size=len(counts)), 0)
        self.shares = noisy / noisy.sum()

    def generate(self, num_samples):
        values = np.random.choice(len(self.shares), size=num_samples, p=self.shares)
        return TabularDataset(values.reshape(-1, 1), self.description)

    @property
    def label(self):
        return "NoisyHistogram"


severity = load_sample("clinic", rows=100).view(["severity"])
data, target = create_canary(severity)

for name, knowledge in [
    ("knows epsilon", UncertainBoxKnowledge(NoisyHistogram(), 2_000, lambda: {"epsilon": 1.0})),
    (
        "thinks 0.1 to 10",
        UncertainBoxKnowledge(
            NoisyHistogram(),
            2_000,
            prior=lambda: {"epsilon": 10 ** np.random.uniform(-1, 1)},
            final_parameters={"epsilon": 1.0},
        ),
    ),
    ("runs the default", BlackBoxKnowledge(NoisyHistogram(), 2_000)),
]:
    threat_model = TargetedMIA(ExactDataKnowledge(data), target, knowledge, seed=1)
    attack = GroundhogAttack()
    attack.train(threat_model, num_samples=300)
    summary = threat_model.test(attack, num_samples=300)
    print(f"attacker {name:18s} accuracy {summary.accuracy:.2f}  AUC {summary.auc:.2f}")
