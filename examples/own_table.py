"""The quick start on a table of your own: a CSV file with dates, numbers and missing values.

Run with ``python examples/own_table.py [TABLE.csv]``. Without a file it writes one first.
"""

import sys
from pathlib import Path

from tapas.attacks import ClosestDistanceMIA, HammingDistance, LpDistance
from tapas.datasets import TabularDataset, load_sample, select_vulnerable_records
from tapas.generators import Generator
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA


class ShuffledColumns(Generator):
    """A generator of your own: draws every column on its own."""

    def fit(self, dataset, **kwargs):
        self.dataset = dataset

    def generate(self, num_samples, random_state=None):
        frame = self.dataset.data
        columns = {
            name: frame[name].sample(num_samples, replace=True, random_state=random_state + i)
            for i, name in enumerate(frame.columns)
        }
        return TabularDataset(
            {name: values.to_numpy() for name, values in columns.items()},
            self.dataset.description,
        )

    @property
    def label(self):
        return "shuffled columns"


def main(path: Path) -> None:
    data = TabularDataset.read(path, label=path.stem)
    print(f"{data}\n{data.description.explain()}\n")

    # Attack the five records that are least like any other, and find what a fair coin would.
    targets = select_vulnerable_records(data, 5)
    data = data.drop_records(targets.data.index.to_numpy())
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(data, num_training_records=500, seed=1),
        targets,
        BlackBoxKnowledge(ShuffledColumns(), num_synthetic_records=500),
        replace_target=True,
        seed=2,
    )
    for one_target in threat_model:
        for distance in (HammingDistance(), LpDistance(2, scale=data)):
            attack = ClosestDistanceMIA(distance)
            attack.train(one_target, num_samples=200)
            summary = one_target.test(attack, num_samples=200)
            print(
                f"record {summary.target_id}: {summary.attack} "
                f"accuracy {summary.accuracy:.2f}, AUC {summary.auc:.2f}"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        example = Path("outputs") / "clinic.csv"
        example.parent.mkdir(exist_ok=True)
        example.write_text(load_sample("clinic", rows=4000).write_to_string())
        main(example)
