"""What deep generators tell of the people they learn from: whole audits on a GPU.

Run with ``PYTHONPATH=src python benchmarks/gpu/bench_deep_audit.py``. Needs torch with CUDA; the
table is simulated. 40 targets from one pool of releases of 1,000
records; mean AUC over people (and two standard errors over
people), by attacks that see releases alone, and by one
that sees the fitted networks (of a diffusion model: its loss at eight sizes of noise beside what
models without the person have).
"""

import time
import warnings

import numpy as np

from tapas.attacks import EnsembleAttack, LikelihoodAttack, NearnessAttack, SubsetAttack
from tapas.datasets import load_sample
from tapas.game import Player, fit_scorer
from tapas.generators import TableDiffusion, TableVAE
from tapas.metrics import column_aucs
from tapas.threat_models import AuxiliaryDataKnowledge, TargetedMIA, WhiteBoxKnowledge

RECORDS, TARGETS, TEST = 1000, 40, 128


def audited(kind: type, steps: int, train: int) -> tuple[list[tuple[str, float, float]], float]:
    data = load_sample("census", rows=8000, seed=4)
    people = np.arange(TARGETS)
    knowledge = AuxiliaryDataKnowledge(
        data.drop_records(people), num_training_records=RECORDS, seed=1
    )
    box = WhiteBoxKnowledge(kind(steps=steps, device="cuda"), RECORDS)
    game = TargetedMIA(knowledge, data.take(people), box, seed=2)
    attacks = [LikelihoodAttack(), SubsetAttack(), NearnessAttack(), EnsembleAttack()]
    start, found, player = time.perf_counter(), [], Player(game.game)
    observers = [player.observer(attack) for attack in attacks]
    for phase, count in (("train", train), ("test", TEST)):
        player.play(phase, count, observers)
    for attack, observer in zip(attacks, observers, strict=True):
        scorer = fit_scorer(attack, player.board(observer, "train", train), game.game)
        board = player.board(observer, "test", TEST)
        areas = column_aucs(np.asarray(scorer.score(board.values)), board.secrets == 1)
        off = 2 * float(np.std(areas)) / np.sqrt(len(areas))
        found.append((attack.label, float(np.mean(areas)), off))
    return found, time.perf_counter() - start


def main() -> None:
    warnings.simplefilter("ignore")
    for kind, steps, train in (
        (TableDiffusion, 1000, 32),
        (TableDiffusion, 1000, 128),
        (TableDiffusion, 4000, 128),
        (TableVAE, 1000, 128),
    ):
        found, took = audited(kind, steps, train)
        said = ", ".join(f"{name} {area:.3f} +- {off:.3f}" for name, area, off in found)
        print(f"{kind.__name__}, {steps:,} steps, {train} training fits: {said} ({took:.0f} s)")


if __name__ == "__main__":
    main()
