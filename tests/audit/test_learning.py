"""Attacks that learn about each target by itself learn the same on several processes."""

import threading
from typing import Any

import numpy as np
import pytest
from whole_audits import BACKGROUND, Guess, Noise

from tapas.audit import Audit, _learning
from tapas.datasets import TabularDataset
from tapas.game import Board
from tapas.results import AuditRecord
from tapas.threat_models import BlackBoxKnowledge, ExactDataKnowledge, TargetedMIA

TARGETS = 5


class Picky(Guess):
    """Learns nothing about whoever is named in too few trials."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> Any:
        if board.secrets.sum() < self.number:
            raise ValueError("too few members")
        return super().fit(board, rng=rng)

    @property
    def label(self) -> str:
        return "Picky"


class Bound(Guess):
    """What it learns cannot be sent to another process."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> Any:
        scorer = super().fit(board, rng=rng)
        object.__setattr__(scorer, "lock", threading.Lock())
        return scorer

    @property
    def label(self) -> str:
        return "Bound"


def audited(n_jobs: int) -> AuditRecord:
    rows = [["rare", 3, 1, 0.75 + number / 1000] for number in range(TARGETS)]
    people = TabularDataset(rows, BACKGROUND.description)
    box = BlackBoxKnowledge(Noise(), 2)
    game = TargetedMIA(ExactDataKnowledge(BACKGROUND), people, box, seed=1)
    return Audit(game, [Picky(9), Bound(0)], 20, 10).run(n_jobs=n_jobs)


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_learning_in_processes_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = audited(1)
    monkeypatch.setattr(_learning, "WORTH_PROCESSES", -1.0)
    together = audited(2)
    assert together.subjects[0].crashes == alone.subjects[0].crashes
    assert {crash.attack for crash in alone.subjects[0].crashes} == {"Picky"}
    found = [record.subjects[0].summaries for record in (alone, together)]
    assert len(found[0]) == len(found[1]) == 2 * TARGETS - len(alone.subjects[0].crashes)
    for one, other in zip(*found, strict=True):
        assert one.attack == other.attack
        assert (one.scores == other.scores).all()
