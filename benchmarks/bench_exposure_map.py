"""Who is most exposed: records that a map of an earlier run ranks first, beside others.

Run with ``python benchmarks/bench_exposure_map.py FOLDER [--table snake] [--generator network]
[--releases 100]``, where FOLDER holds ``snake.parquet`` and ``adult.csv``. A first audit of 50
isolated and 50 random targets makes the map. A second one, with another seed, judges the 20 records
that the map expects most of, the 20 most isolated, the 20 of rarest pairs of values and 20 random
ones in the same new releases; a record of several of these kinds counts in each. Mean
AUC of each kind by the subset attack, with an interval of 95 % over releases.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from bench_strength import GENERATORS, PRIVATE, generator, load

from tapas.attacks import SubsetAttack
from tapas.audit import Audit
from tapas.datasets import TabularDataset, most_isolated, most_rare
from tapas.generators import Generator
from tapas.results import AuditedSubject
from tapas.stats import mean_auc_influences
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

KIND = 20


def audited(
    data: TabularDataset, made: Generator, rows: list[int], releases: int, seed: int
) -> AuditedSubject:
    """The subset attack on some rows of a table."""
    knowledge = AuxiliaryDataKnowledge(
        data.drop_records(rows), num_training_records=PRIVATE, seed=seed
    )
    box = BlackBoxKnowledge(made, PRIVATE)
    model = TargetedMIA(knowledge, data.take(rows), box, seed=seed, n_jobs=1)
    mapped = seed == 1
    record = Audit(model, [SubsetAttack()], releases, releases, exposure_map=mapped).run(n_jobs=1)
    return record.subjects[0]


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", default="snake", choices=["snake", "adult"])
    parser.add_argument("--generator", default="network", choices=[*GENERATORS])
    parser.add_argument("--releases", type=int, default=100, help="of each phase")
    asked = parser.parse_args()
    data, made = load(asked.folder, asked.table), generator(asked.generator, asked.table)
    isolated = most_isolated(data, 50).tolist()
    drawn = np.random.default_rng(0).permutation(len(data)).tolist()
    start = time.process_time()
    first = [*isolated, *[row for row in drawn if row not in isolated][:50]]
    subject = audited(data, made, first, asked.releases, 1)
    found = subject.exposure
    if found is None:
        raise SystemExit(f"the first audit has no map: {subject.unmapped}")
    mapped = [int(label) for label in found.ranked["record"]]
    kinds = {"map": mapped[:KIND], "isolated": isolated[:KIND]}
    kinds["rare"] = most_rare(data, KIND).tolist()
    kinds["random"] = drawn[-KIND:]
    rows = list(dict.fromkeys(row for kind in kinds.values() for row in kind))
    second = audited(data, made, rows, asked.releases, 2)
    scores = np.stack([np.asarray(one.scores, float) for one in second.summaries], axis=1)
    members = np.stack([one.labels.astype(bool) for one in second.summaries], axis=1)
    print(f"{asked.generator}, {asked.table}, {asked.releases} releases; {found.words('the map')}")
    for name, kind in kinds.items():
        mine = [rows.index(row) for row in kind]
        groups = second.summaries[0].groups
        mean, parts, _ = mean_auc_influences(scores[:, mine], members[:, mine], groups)
        off = 1.96 * np.sqrt((parts**2).sum())
        print(f"{name:<10} {mean:.3f} ({mean - off:.3f}-{mean + off:.3f})")
    print(f"{time.process_time() - start:.0f} s CPU")


if __name__ == "__main__":
    main()
