"""A mechanism that fails too often passes nothing, and fails alike wherever it runs."""

import copy
import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import ClosestDistanceMIA, LiRA, LossMIA
from tapas.audit import Audit
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators import Raw
from tapas.results import AuditRecord, Gate, decide
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    Briefing,
    ModelMIA,
    Release,
    TargetedMIA,
)

ANYTHING = Gate("auc", 0.9999)


class Fails(Raw):
    """Raises in one run of four or so, which the seed chooses."""

    error: type[Exception] = RuntimeError

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        if random_state % 4 == 0:
            raise self.error(errno.EIO, "out of luck")
        return super().__call__(dataset, num_samples, random_state)


class FailsOnce(Raw):
    """Fails for want of something that is there the next time."""

    def __init__(self, sign: Path) -> None:
        super().__init__()
        self.sign = str(sign)

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        if not os.path.exists(self.sign):
            Path(self.sign).touch()
            raise OSError(errno.ENOSPC, "disk full")
        return super().__call__(dataset, num_samples, random_state)


class Half(Raw):
    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        return super().__call__(dataset, num_samples // 2, random_state)


class Few(TabularDataset):
    def __len__(self) -> int:
        return 20


def lying(private: TabularDataset, right: TabularDataset) -> Any:
    return Few.from_table(private.table.take(np.arange(5)), private.description)


def described(private: TabularDataset, right: TabularDataset) -> Any:
    """With categories in another order, and words for numbers."""
    schema = copy.deepcopy(private.description.schema)
    for column in schema:
        values = column["representation"]
        column["representation"] = values[::-1] if isinstance(values, list) else "string"
    return TabularDataset(right.data.astype(str), DataDescription(schema))


class Released(Raw):
    """Whatever is made of what would be right."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self.make = make

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        return self.make(dataset, super().__call__(dataset, num_samples, random_state))


class Blank(Raw):
    """As many records as are asked for, and no value in them."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        return pd.DataFrame(np.nan, range(num_samples), list(dataset.description.columns))


@pytest.mark.parametrize(
    ("generator", "words"), [(Released(lying), "and released 5"), (Blank(), "hold a value")]
)
def test_a_release_that_is_not_what_it_says_fails(generator: Raw, words: str) -> None:
    record = audit(generator, 20 if "5" in words else 120).run(n_jobs=1)
    assert words in str(record.stopped)
    assert decide(record).exit_code != 0


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_a_small_release_without_a_value_is_an_outcome_that_passes_nothing() -> None:
    record = audit(Blank()).run(n_jobs=1)
    assert record.complete
    verdict = decide(record)
    assert (verdict.state, verdict.exit_code) == ("inconclusive", 6)
    assert "gave all trials of Raw the same score for target 0" in verdict.outcomes[0].words


def test_a_release_is_read_by_the_description_of_the_private_data() -> None:
    assert told(audit(Released(described)).run(n_jobs=1)) == told(audit(Raw()).run(n_jobs=1))


class SaysSo(Half):
    any_number = True


def audit(generator: Raw, records: int = 20, **options: Any) -> Audit:
    data = load_sample("census", 200, seed=1)
    model = TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=40, seed=2),
        data.take(np.arange(1)),
        BlackBoxKnowledge(generator, records),
        seed=3,
    )
    sizes = {"num_train": 12, "num_test": 40, "gates": [ANYTHING], **options}
    return Audit(model, **{"attacks": [ClosestDistanceMIA()], **sizes})


def told(record: AuditRecord) -> Any:
    (subject,) = record.subjects
    scores = [summary.scores.tolist() for summary in subject.summaries]  # type: ignore[attr-defined]
    return scores, subject.failures, subject.trials, record.stopped, record.complete


@pytest.mark.parametrize("most", [0, 5])
def test_what_stops_a_run_is_the_same_on_one_process_and_on_two(most: int) -> None:
    one, two = (audit(Fails(), max_failures=most).run(n_jobs=jobs) for jobs in (1, 2))
    assert told(one) == told(two)
    assert not one.complete
    assert len(one.subjects[0].failures) == (most + 1 if most else 0)


def test_too_many_failures_pass_no_gate_and_no_run_without_gates() -> None:
    late = audit(Fails(), max_failures=6).run(n_jobs=1)
    assert late.subjects[0].summaries
    assert decide(late).exit_code == 6
    assert "failed too often" in decide(late).outcomes[0].words
    assert decide(late, gates=()).exit_code == 6
    again = AuditRecord.from_json(late.to_json())
    assert decide(again) == decide(late)
    assert decide(audit(Fails(), max_failures=52).run(n_jobs=1)).exit_code == 0


def test_failures_are_counted_over_all_runs_into_a_folder(tmp_path: Path) -> None:
    outcomes = [told(audit(Fails(), max_failures=5).run(tmp_path, n_jobs=1)) for _ in range(3)]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert len(outcomes[0][1]) == 6


def test_what_the_surroundings_broke_is_tried_again(tmp_path: Path) -> None:
    folder, sign = tmp_path / "run", tmp_path / "sign"
    first = audit(FailsOnce(sign), max_failures=1).run(folder, n_jobs=1)
    assert len(first.subjects[0].failures) == 1
    second = audit(FailsOnce(sign), max_failures=1).run(folder, n_jobs=1)
    assert second.subjects[0].failures == ()
    assert told(second) == told(audit(FailsOnce(sign)).run(n_jobs=1))


def test_a_release_has_as_many_records_as_were_asked_for() -> None:
    record = audit(Half()).run(n_jobs=1)
    assert "was asked for 20 records and released 10" in str(record.stopped)
    assert "any_number = True" in str(record.stopped)
    assert decide(record).exit_code == 5
    assert audit(SaysSo()).run(n_jobs=1).complete


def test_names_that_would_fill_a_page_are_refused() -> None:
    with pytest.raises(ConfigError, match="has 50000 characters"):
        audit(Raw(), title="x" * 50_000)


class Slow(ClosestDistanceMIA):
    """Takes its time in one place, whatever errors it meets."""

    label = "slow"

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def _wait(self, where: str) -> None:
        while self.where == where:
            with suppress(Exception):
                time.sleep(30)

    def observer(self, briefing: Any, samples: Any) -> Any:
        self._wait("observer")
        return super().observer(briefing, samples)

    def observe(self, release: Any, briefing: Any, *, rng: Any) -> Any:
        self._wait("observe")
        return super().observe(release, briefing, rng=rng)

    def fit(self, board: Any, *, rng: Any) -> Any:
        self._wait("fit")
        return super().fit(board, rng=rng)


class SlowDoors:
    """The same by the documented methods."""

    label = "slow"

    def __init__(self, where: str) -> None:
        self.where = where

    def train(self, threat_model: Any, num_samples: int) -> None:
        threat_model.generate_training_samples(num_samples)
        while self.where == "train":
            with suppress(Exception):
                time.sleep(30)

    def attack(self, datasets: Any) -> Any:
        while self.where == "attack":
            with suppress(Exception):
                time.sleep(30)
        return np.zeros(len(datasets))


@pytest.mark.parametrize("where", ["observer", "observe", "fit", "train", "attack"])
def test_an_attack_that_takes_too_long_has_crashed(where: str) -> None:
    slow = SlowDoors if where in ("train", "attack") else Slow
    both = [slow(where), ClosestDistanceMIA()]
    record = audit(Raw(), attacks=both, attack_timeout=0.5).run(n_jobs=1)
    (crash,) = record.subjects[0].crashes
    assert crash.attack == "slow"
    assert "TimeLimitError" in crash.message or "within 0.5 seconds" in crash.message
    assert {one.attack for one in record.subjects[0].summaries} == {both[1].label}
    assert decide(record).exit_code != 0


class Takes(Raw):
    """A while, for every release."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        time.sleep(0.15)
        return super().__call__(dataset, num_samples, random_state)


def test_trials_that_an_attack_asks_for_are_not_counted_against_it() -> None:
    sizes: Any = {"num_train": 4, "num_test": 4, "attack_timeout": 0.3}
    record = audit(Takes(), attacks=[SlowDoors("never")], **sizes).run(n_jobs=1)
    (subject,) = record.subjects
    assert not subject.crashes
    assert [summary.attack for summary in subject.summaries] == ["slow"]


class Deaf(Raw):
    """Cannot be stopped from within."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        while True:
            with suppress(BaseException):
                time.sleep(30)


def test_a_mechanism_that_will_not_stop_is_ended_under_threads_too() -> None:
    with ThreadPoolExecutor(1) as threads:
        record = audit(Deaf(), timeout=0.2).run(executor=threads)
        assert not record.complete
        assert "did not stop when its time was over" in str(record.stopped)
        record = audit(Raw(), timeout=60).run(executor=threads)
    assert told(record) == told(audit(Raw()).run(n_jobs=1))


class EndsItsProcess(ClosestDistanceMIA):
    """Leaves where the release holds the record itself."""

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        seen = super().observe(release, briefing, rng=rng)
        if np.max(seen) == 0:
            os._exit(4)
        return seen


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_attack_that_ends_its_process_is_no_failure_of_the_mechanism(jobs: int) -> None:
    people = load_sample("census", 300)
    knows = AuxiliaryDataKnowledge(people.drop_records([0]), num_training_records=40)
    game = TargetedMIA(knows, people.take([0]), BlackBoxKnowledge(Raw(), 40))
    attacks = [EndsItsProcess(), ClosestDistanceMIA(label="other")]
    audit = Audit(game, attacks, 10, 20, max_failures=30)
    (subject,) = audit.run(n_jobs=jobs, isolated=True).subjects
    assert not subject.failures
    (crash,) = subject.crashes
    assert crash.message == "its process ended (exit status 4)"
    assert [summary.attack for summary in subject.summaries] == ["other"]
    (alone,) = Audit(game, attacks[1:], 10, 20).run(n_jobs=1).subjects
    assert subject.summaries[0].scores.tolist() == alone.summaries[0].scores.tolist()


def test_a_model_that_may_draw_from_globals_is_audited_by_threads_as_alone() -> None:
    X, y = load_digits(return_X_y=True)
    model = RandomForestClassifier(5, random_state=0).fit(X[:200], y[:200])
    sides = (X[:200], y[:200]), (X[200:400], y[200:400])
    game = ModelMIA(model, *sides, trainer=model, num_shadows=4, seed=5)
    audit = Audit(game, [LossMIA(), LiRA()])
    with ThreadPoolExecutor(2) as threads:
        (subject,) = audit.run(executor=threads).subjects
    (alone,) = audit.run(n_jobs=1).subjects
    assert not subject.crashes
    assert [one.scores.tolist() for one in subject.summaries] == [
        one.scores.tolist() for one in alone.summaries
    ]
