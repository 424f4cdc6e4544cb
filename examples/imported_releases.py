"""Releases that were made elsewhere: a folder of tables, and a table of who was in which.

Run with ``python examples/imported_releases.py [FOLDER]``. The first half plays the one who runs
the generator, on whatever machine and in whatever language; the second half audits the files.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from tapas.attacks import ClosestDistanceMIA, GroundhogAttack
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample, select_vulnerable_records
from tapas.generators import Smote
from tapas.report import AuditPage
from tapas.threat_models import ImportedMIA

RECORDS, TRAINING, TEST = 200, 60, 60


def make_releases(population: TabularDataset, targets: TabularDataset, folder: Path) -> Path:
    """Run a generator many times; note for each release which of the targets were in."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(TRAINING + TEST):
        private = population.sample(RECORDS, random_state=rng)
        member = rng.random(len(targets)) < 0.5  # a fair coin for each target
        for position in np.flatnonzero(member):
            private = private.add_records(targets.get_records([int(position)]))
        generator = Smote()
        generator.fit(private, random_state=rng)
        release = generator.generate(RECORDS, random_state=rng)
        name = f"release-{number:03d}.csv"
        (folder / name).write_text(release.write_to_string(), encoding="utf-8")
        phase = "train" if number < TRAINING else "test"
        labels = dict(zip(map(str, targets.data.index), member.astype(int), strict=True))
        rows.append({"file": name, "phase": phase, **labels})
    pd.DataFrame(rows).to_csv(folder / "labels.csv", index=False)
    return folder / "labels.csv"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = load_sample("census", rows=2_000)
    targets = select_vulnerable_records(data, 2)
    population = data.drop_records(targets.data.index.to_numpy())
    labels = make_releases(population, targets, folder)
    print(f"{labels} begins with\n{labels.read_text(encoding='utf-8')[:120]}...\n")

    # From here on nothing is run. Each row of the labels is a trial; the targets are its columns.
    threat_model = ImportedMIA(
        folder,
        labels,
        targets,
        relation="add/remove",  # which neighbours were played: it is part of what a bound says
        auxiliary=population,  # what the attacker holds
        independent=True,  # each release was made from private data of its own
        label="somebody's generator",
        seed=2,
    )
    for one_target in threat_model:
        for attack in (ClosestDistanceMIA(), GroundhogAttack()):
            attack.train(one_target, num_samples=TRAINING)
            summary = one_target.test(attack)
            print(f"target {summary.target_id:5s} {attack.label:40s} AUC {summary.auc:.2f}")

    # The same as an audit, with its page.
    record = Audit(threat_model, [ClosestDistanceMIA(), GroundhogAttack()]).run(folder / "run")
    print("\nReport:", AuditPage(record).publish(folder)[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default="outputs")
    main(parser.parse_args().folder / "imported_releases")
