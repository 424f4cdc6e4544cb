#!/usr/bin/env python3
"""A generator that runs as a program of its own, and an audit of it.

Copy this file next to a generator that lives in another environment, let the first line name
that environment's Python, and rewrite `synthesise`. The program needs nothing but the standard
library: it reads the private records as CSV on standard input and writes as many synthetic ones
as its argument says on standard output. Any language will do in its place.

    external_generator.py 500 < private.csv > synthetic.csv

Run it with ``python examples/external_generator.py`` and no argument to see it audited.
"""

import csv
import os
import random
import sys


def synthesise(records: list[list[str]], num_samples: int, seed: int | None) -> list[list[str]]:
    """Make synthetic records: here, every column is drawn on its own.

    With a generator that wants data frames, this is the place for::

        frame = pandas.DataFrame(records, columns=[...]).astype({...})
        model = Synthesiser(random_state=seed).fit(frame)
        return model.sample(num_samples).to_numpy().tolist()

    A missing value is an empty cell in both directions.
    """
    rng = random.Random(seed)
    columns = [rng.choices(column, k=num_samples) for column in zip(*records)]  # noqa: B905
    return [list(record) for record in zip(*columns)]  # noqa: B905


def run_as_program(num_samples: int) -> None:
    records = [record for record in csv.reader(sys.stdin) if record]
    if not records:
        sys.exit("no private records on standard input")
    text = os.environ.get("TAPAS_SEED")
    made = synthesise(records, num_samples, None if text is None else int(text))
    csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(made)


def audit_this_program() -> None:
    from tapas.attacks import ClosestDistanceMIA, HammingDistance
    from tapas.datasets import load_sample, select_vulnerable_records
    from tapas.generators import GeneratorFromExecutable, Raw
    from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

    data = load_sample("census", rows=2000)
    target = select_vulnerable_records(data, 1)
    data = data.drop_records(target.data.index.to_numpy())
    for generator in (GeneratorFromExecutable(__file__, "columns apart", timeout=60), Raw()):
        threat_model = TargetedMIA(
            AuxiliaryDataKnowledge(data, num_training_records=200, seed=1),
            target,
            BlackBoxKnowledge(generator, num_synthetic_records=200),
            replace_target=True,
            seed=2,
        )
        attack = ClosestDistanceMIA(HammingDistance())
        attack.train(threat_model, num_samples=50)
        summary = threat_model.test(attack, num_samples=50)
        print(f"{generator.label}: accuracy {summary.accuracy:.2f}, AUC {summary.auc:.2f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_as_program(int(sys.argv[1]))
    else:
        audit_this_program()
