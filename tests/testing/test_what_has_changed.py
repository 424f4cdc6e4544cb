"""What has changed since a run is not taken over from it."""

import importlib
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from outcomes import LogsReleases, Refuses, bits, lines, summaries, table_audit
from small_games import Public

from tapas.attacks import (
    ClosestDistanceMIA,
    TrainableThresholdAttack,
)
from tapas.datasets import TabularDataset
from tapas.game import Release, TableBriefing
from tapas.generators import Generator

# A tree is as sure of everybody: attacks on its confidence see nothing, and the audit says so.
pytestmark = pytest.mark.filterwarnings("ignore:.* gave all trials of")


class KeepsSome(Public):
    """Copies as many private records as a parameter says that is nobody's business."""

    def __init__(self, keep: int) -> None:
        super().__init__()
        self._keep = keep

    def fit(self, dataset: Any, **_: Any) -> None:
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        drawn = super().generate(num_samples - self._keep, random_state)
        return self.dataset.take(range(self._keep), reset_index=True) + drawn


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING, logger="tapas")
    return lambda: [entry.getMessage() for entry in caplog.records]


def test_a_private_parameter_makes_another_generator(
    tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    attack = ClosestDistanceMIA()
    table_audit(KeepsSome(0), [attack]).run(tmp_path, n_jobs=1)
    table_audit(KeepsSome(0), [attack]).run(tmp_path, executor=Refuses())
    assert said() == []
    found = table_audit(KeepsSome(12), [attack]).run(tmp_path, n_jobs=1)
    fresh = table_audit(KeepsSome(12), [attack]).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))
    (line,) = said()
    assert "another game" in line
    assert "_keep: stored 0, asked 12" in line


OWN_GENERATOR = """
from tapas.generators import Raw

class Own(Raw):
    label = "Own"

    def generate(self, num_samples, random_state=None):
        return super().generate({size}, random_state)
"""


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Writes a generator into a module of the user's own, again and again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(size: str) -> Generator:
        (tmp_path / "own_generator.py").write_text(OWN_GENERATOR.format(size=size))
        sys.modules.pop("own_generator", None)
        importlib.invalidate_caches()
        module: ModuleType = importlib.import_module("own_generator")
        made: Generator = module.Own()
        return made

    yield write
    sys.modules.pop("own_generator", None)


def test_edited_code_makes_another_generator(
    tmp_path: Path, edited: Callable[[str], Any], said: Callable[[], list[str]]
) -> None:
    attack, store = ClosestDistanceMIA(), tmp_path / "store"
    table_audit(edited("num_samples"), [attack]).run(store, n_jobs=1)
    table_audit(edited("num_samples"), [attack]).run(store, executor=Refuses())
    assert said() == []
    found = table_audit(edited("num_samples // 2"), [attack]).run(store, n_jobs=1)
    fresh = table_audit(edited("num_samples // 2"), [attack]).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))
    (line,) = said()
    assert "another game" in line
    assert "source" in line


class Counts(TrainableThresholdAttack):
    """Counts released records that share some columns with the target."""

    label = "Counts"

    def __init__(self, columns: int) -> None:
        super().__init__()
        self._columns = columns

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        assert isinstance(briefing, TableBriefing)
        columns = [column.name for column in briefing.targets.table.columns][: self._columns]
        other = release.table.table.select(columns)
        differences = other.count_differences(briefing.targets.table.select(columns))
        return (differences == 0).sum(axis=1).astype(float)


def test_a_private_parameter_makes_another_attack(
    tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    log = tmp_path / "log"
    store = tmp_path / "store"
    table_audit(LogsReleases(log), [Counts(1)]).run(store, n_jobs=1)
    table_audit(LogsReleases(log), [Counts(1)]).run(store, executor=Refuses())
    assert said() == []
    found = table_audit(LogsReleases(log), [Counts(5)]).run(store, n_jobs=1)
    fresh = table_audit(LogsReleases(tmp_path / "other"), [Counts(5)]).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))
    assert lines(log) == 12  # releases are looked at again, not made again
    (line,) = said()
    assert "Counts has changed" in line
    assert "_columns: stored 1, asked 5" in line
