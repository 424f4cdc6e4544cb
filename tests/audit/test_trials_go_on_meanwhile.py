"""While one process learns and judges, the others play on; no result depends on it."""

import logging
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit, StopEarly
from tapas.datasets import load_sample
from tapas.engine._process import PROCESSES
from tapas.game import Board, Scorer
from tapas.generators import Raw
from tapas.results import AuditRecord, Claim
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    Briefing,
    Release,
    TargetedMIA,
)

TRAIN, TEST = 10, 60
PATIENCE = 60.0  # seconds for what must happen at all
PEOPLE = load_sample("census", 300)


class Marks(Raw):
    """Leaves a sign of every run of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = str(folder)

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        Path(self.folder, f"{random_state}-{os.getpid()}").touch()
        return super().__call__(dataset, num_samples, random_state)


class Patient(ClosestDistanceMIA):
    """Learns only when more trials were run than it learns from."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = str(folder)

    def fit(self, board: Board, *, rng: np.random.Generator) -> Scorer:
        until = time.monotonic() + PATIENCE
        while len(os.listdir(self.folder)) <= len(board):
            if time.monotonic() > until:
                raise TimeoutError("nothing went on meanwhile")
            time.sleep(0.01)
        return super().fit(board, rng=rng)


class Interrupted(ClosestDistanceMIA):
    """Somebody presses Ctrl-C while it learns, unless there is a sign not to."""

    def __init__(self, sign: Path) -> None:
        super().__init__()
        self.sign = str(sign)

    def fit(self, board: Board, *, rng: np.random.Generator) -> Scorer:
        if not os.path.exists(self.sign):
            raise KeyboardInterrupt
        return super().fit(board, rng=rng)


class OddError(Exception):
    """Another process cannot rebuild it from what it says."""

    def __init__(self, much: str, more: str) -> None:
        super().__init__(f"{much} {more}")


class SeesTooMuch(ClosestDistanceMIA):
    """Cannot look at one release in ten or so."""

    def __init__(self, odd: bool) -> None:
        super().__init__()
        self.odd = odd

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        if rng.random() < 0.1:
            raise OddError("too", "much") if self.odd else ValueError("too much")
        return super().observe(release, briefing, rng=rng)


class Fails(Raw):
    """Raises in one run of ten or so, which the seed chooses."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        if random_state % 10 == 0:
            raise RuntimeError("out of luck")
        return super().__call__(dataset, num_samples, random_state)


def audit(generator: Raw, *attacks: ClosestDistanceMIA, **more: Any) -> Audit:
    knows = AuxiliaryDataKnowledge(PEOPLE.drop_records([0]), num_training_records=40, seed=1)
    game = TargetedMIA(knows, PEOPLE.take([0]), BlackBoxKnowledge(generator, 40), seed=2)
    return Audit(game, attacks or [ClosestDistanceMIA()], TRAIN, TEST, **more)


def told(record: AuditRecord) -> list[object]:
    (subject,) = record.subjects
    scores = [np.asarray(summary.scores).tolist() for summary in subject.summaries]
    return [scores, subject.trials, subject.failures, subject.crashes, record.stopped]


@pytest.mark.parametrize("where", ["own processes", "executor"])
def test_trials_are_played_while_an_attack_learns(where: str, tmp_path: Path) -> None:
    question = audit(Marks(tmp_path), Patient(tmp_path))
    if where == "executor":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            record = question.run(executor=pool)
    else:
        record = question.run(n_jobs=2)
    assert not record.subjects[0].crashes
    assert told(record)[0] == told(audit(Raw()).run(n_jobs=1))[0]
    signs = [name.partition("-") for name in os.listdir(tmp_path)]
    assert len({trial for trial, *_ in signs}) >= TRAIN + TEST


@pytest.mark.parametrize("most", [0, 3, 100])
def test_failures_end_it_at_the_same_trial(most: int) -> None:
    here, there = (audit(Fails(), max_failures=most).run(n_jobs=jobs) for jobs in (1, 2))
    assert told(here) == told(there)
    assert bool(here.stopped) == (most < 100)


@pytest.mark.parametrize("odd", [False, True])
def test_an_attack_that_cannot_look_is_left_out_and_the_others_judge(
    odd: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tapas.failures")
    found = []
    for jobs in (1, 2):
        caplog.clear()
        question = audit(Raw(), SeesTooMuch(odd), ClosestDistanceMIA(label="other"))
        found.append(question.run(n_jobs=jobs))
        assert "too much" in caplog.text
        assert "in observe" in caplog.text  # where it was raised
    assert told(found[0]) == told(found[1])
    (subject,) = found[1].subjects
    (crash,) = subject.crashes
    assert crash.attack == SeesTooMuch(odd).label
    assert crash.message.startswith("OddError at test_" if odd else "ValueError at test_")
    assert {summary.attack for summary in subject.summaries} == {"other"}


def test_trials_end_at_the_same_look(tmp_path: Path) -> None:
    stop = StopEarly(claim=Claim(0.01), every=20)
    found = [
        audit(Raw(), stop_early=stop, claim=Claim(0.01)).run(tmp_path / str(jobs), n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert found[0].stopped
    assert told(found[0]) == told(found[1])


class Bar:
    """Counts what it is told."""

    all: ClassVar[list["Bar"]] = []

    def __init__(self, total: int) -> None:
        self.total, self.done, self.is_closed = total, 0, False
        Bar.all.append(self)

    def update(self, n: int = 1) -> None:
        self.done += n

    def close(self) -> None:
        self.is_closed = True


def test_progress_counts_every_trial() -> None:
    Bar.all.clear()
    audit(Raw()).run(n_jobs=2, progress=Bar)
    (bar,) = Bar.all
    assert bar.done == bar.total == TRAIN + TEST
    assert bar.is_closed


def test_a_run_that_is_interrupted_while_it_learns_goes_on(tmp_path: Path) -> None:
    sign, folder = tmp_path / "sign", tmp_path / "run"
    question = audit(Raw(), Interrupted(sign))
    with pytest.raises(KeyboardInterrupt):
        question.run(folder, n_jobs=2)
    sign.touch()
    assert told(question.run(folder, n_jobs=2))[0] == told(audit(Raw()).run(n_jobs=1))[0]


@pytest.fixture(autouse=True)
def no_process_is_left_at_work() -> Iterator[None]:
    yield
    until = time.monotonic() + PATIENCE
    while PROCESSES._busy and time.monotonic() < until:
        time.sleep(0.01)
    assert not PROCESSES._busy
