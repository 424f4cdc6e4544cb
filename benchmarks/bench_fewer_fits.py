"""How many fits an attack needs: one pool for everybody beside fits for each person alone.

Run with ``python benchmarks/bench_fewer_fits.py FOLDER [--table snake] [--generator network]
[--private 1000] [--many 512] [--few 32 64] [--judged 200]``, where FOLDER holds ``snake.parquet``,
``adult.csv`` and ``texas.csv`` with ``texas.json``. Attacks alone learn about each of 50
people by themselves, from `many` training releases; pooled ones learn from `few` releases about
all of them. All are judged by the same releases: mean AUC on 25 vulnerable / 25 random
people, with an interval of 95 % over releases.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bench_strength import cell, game, generator, load

from tapas.attacks import (
    Attack,
    ClosestDistanceMIA,
    EnsembleAttack,
    GroundhogAttack,
    SubsetAttack,
)
from tapas.audit import Audit
from tapas.datasets import TabularDataset
from tapas.generators import Generator, TableVAE
from tapas.results import AttackSummary
from tapas.threat_models import TargetedMIA

GENERATORS = ("network", "cart", "copula", "smote", "vae")


class SubsetsAlone(SubsetAttack):
    """Learns about one person from what was released about that person."""

    pools_targets = False


def made(name: str, table: str) -> Generator:
    """One of `GENERATORS`; the deep one memorises small tables."""
    return TableVAE(hidden=(128, 128), steps=600) if name == "vae" else generator(name, table)


def told(summaries: Sequence[AttackSummary]) -> str:
    """The cell of one attack on all people."""
    scores, members = (
        np.stack([np.asarray(getattr(one, what)) for one in summaries], axis=1)
        for what in ("scores", "labels")
    )
    return cell(scores.astype(float), members.astype(bool), summaries[0].groups)


def judged(asked: TargetedMIA, attack: Attack, fits: int, rounds: int, folder: str) -> str:
    """What an attack finds after some fits; the folder keeps those that were made."""
    (subject,) = Audit(asked, [attack], fits, rounds).run(folder, n_jobs=1).subjects
    return told(subject.summaries)


def main(arguments: Sequence[str] | None = None) -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", default="snake", choices=["snake", "adult", "texas"])
    parser.add_argument("--generator", default="network", choices=GENERATORS)
    parser.add_argument("--private", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=512)
    parser.add_argument("--few", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--judged", type=int, default=200)
    asked = parser.parse_args(arguments)
    data: TabularDataset = load(asked.folder, asked.table)
    mechanism = made(asked.generator, asked.table)
    start = time.process_time()
    threat_model = game(data, mechanism, seed=3, private=asked.private)
    print(f"{asked.table}, {asked.generator}, private tables of {asked.private} records")
    alone = (
        ClosestDistanceMIA(label="ClosestDistanceMIA"),
        GroundhogAttack(label="GroundhogAttack"),
        SubsetsAlone(label="SubsetAttack"),
    )
    pool = (SubsetAttack(label="SubsetAttack"), EnsembleAttack(label="EnsembleAttack"))
    asks = [(attack, "alone", asked.many) for attack in alone]
    asks += [(attack, "pooled", few) for few in asked.few for attack in pool]
    with tempfile.TemporaryDirectory() as folder:
        for attack, way, fits in asks:
            said = judged(threat_model, attack, fits, asked.judged, folder)
            print(f"{attack.label:<20s} {way:<7s} {fits:>4d} fits  {said}", flush=True)
    print(f"CPU {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
