"""Audit a generator in one page: is a given record in the private data?

Run with ``python examples/quickstart.py``; it needs no data and ends in a folder of results.
"""

import argparse
from pathlib import Path

import tapas
import tapas.attacks
import tapas.datasets
import tapas.generators
import tapas.report
import tapas.threat_models

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, default="outputs")
folder = parser.parse_args().folder / "quickstart"

# 1. The private data: here a simulated census table. Your own would be
#    tapas.datasets.TabularDataset.read("path/to/table.csv").
data = tapas.datasets.load_sample("census", rows=10_000)

# 2. The record to attack. It leaves the data: each simulation decides whether it is put back.
target = data.get_records([0])
data = data.drop_records([0])

# 3. The mechanism under audit: this one publishes a sample of the private records.
generator = tapas.generators.Raw()

# 4. What the attacker knows: half of the data to experiment with, and how to run the generator.
data_knowledge = tapas.threat_models.AuxiliaryDataKnowledge(
    data, auxiliary_split=0.5, num_training_records=1000, seed=1
)
generator_knowledge = tapas.threat_models.BlackBoxKnowledge(generator, num_synthetic_records=500)

# 5. What the attacker wants: to know whether the target is in.
threat_model = tapas.threat_models.TargetedMIA(
    attacker_knowledge_data=data_knowledge,
    target_record=target,
    attacker_knowledge_generator=generator_knowledge,
    seed=2,
)

# 6. Train an attack on simulations, test it on others.
attack = tapas.attacks.ClosestDistanceMIA(criterion="accuracy")
attack.train(threat_model, num_samples=500)
summary = threat_model.test(attack, num_samples=500)

# 7. Read the result. Half of the private records are published, so a look-up finds the target in
#    half of the releases that hold it, and never in the others: accuracy 3/4.
print(summary.get_metrics().T.to_string(header=False))

summary.write_metrics(str(folder))
tapas.report.ROCReport([summary], suffix="_quickstart").publish(str(folder))
print(f"\nThe metrics and the ROC curve are in {folder.resolve()}")
