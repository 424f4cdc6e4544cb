"""Audits: checked before, resumed after, honest about what failed."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import (
    Attack,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    GroundhogAttack,
    LossMIA,
    TrainableThresholdAttack,
)
from tapas.audit import Audit, StopEarly, Subject
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import ConfigError, TapasWarning
from tapas.generators import Generator, IndependentMarginals, Raw
from tapas.results import AuditRecord, Claim, Dependence, Findings, Gate, decide
from tapas.stats import smallest_area
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ModelMIA,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)

# An attack on the size of releases, which is always the same, sees nothing.
pytestmark = pytest.mark.filterwarnings("ignore:SizeOfRelease gave all:tapas.errors.TapasWarning")


class FailsSometimes(Raw):
    """Raises in about a third of its runs, depending on the seed alone."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        if random_state % 3 == 0:
            raise RuntimeError("out of luck")
        return super().__call__(dataset, num_samples, random_state)


class Sleeps(Raw):
    """Hangs where the seed is divisible by five."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        if random_state % 5 == 0:
            time.sleep(60)
        return super().__call__(dataset, num_samples, random_state)


class Crashes(Attack):
    """Cannot be carried out."""

    label = "Crashes"

    def train(self, threat_model: Any, num_samples: Any = None) -> None:
        raise ValueError("no idea what to do")

    def attack(self, datasets: Any) -> Any:
        return [False] * len(datasets)


class SizeOfRelease(TrainableThresholdAttack):
    """A user's attack that only scores."""

    label = "SizeOfRelease"

    def attack_score(self, datasets: Any) -> Any:
        return [len(dataset) for dataset in datasets]


class ReadsMechanism(Attack):
    """Looks the target up in what a white-box release carries."""

    label = "ReadsMechanism"

    def observe(self, release: Any, briefing: Any, *, rng: Any) -> Any:
        return np.array([[float(t in release.mechanism.dataset)] for t in briefing.targets])[:, 0]

    def decide(self, scores: Any) -> Any:
        return scores > 0.5


def _threat_model(
    generator: Generator | None = None,
    *,
    seed: int = 3,
    targets: int = 2,
    box: type | None = None,
    pairs: bool = True,
) -> TargetedMIA:
    data = load_sample("census", 600, seed=1)
    chosen = data.take(np.arange(targets))
    rest = data.drop_records(np.arange(targets))
    return TargetedMIA(
        AuxiliaryDataKnowledge(rest, num_training_records=50, seed=2),
        chosen,
        (box or BlackBoxKnowledge)(generator or Raw(), 25),
        generate_pairs=pairs,
        seed=seed,
    )


def _audit(threat_model: TargetedMIA | None = None, **options: Any) -> Audit:
    attacks = options.pop("attacks", [ClosestDistanceMIA(), SizeOfRelease("accuracy")])
    sizes = {"num_train": 20, "num_test": 24, **options}
    return Audit(threat_model or _threat_model(), attacks, **sizes)


def _scores(record: AuditRecord) -> list[list[float]]:
    return [s.scores.tolist() for subject in record.subjects for s in subject.summaries]


def test_every_attack_is_judged_on_every_target() -> None:
    record = _audit().run()
    (subject,) = record.subjects
    told = {(s.attack, s.target_id, len(s)) for s in subject.summaries}
    assert told == {
        (label, target, 24)
        for label in ("ClosestDistance(fitting, accuracy)", "SizeOfRelease")
        for target in ("0", "1")
    }
    assert subject.trials == {"train": 20, "test": 24}


def test_an_audit_agrees_with_the_documented_doors() -> None:
    record = _audit().run()
    threat_model = _threat_model()
    by_hand = []
    for one in threat_model:
        for attack in (ClosestDistanceMIA(), SizeOfRelease("accuracy")):
            attack.train(one, num_samples=20)
            by_hand.append(one.test(attack, num_samples=24))
    assert _scores(record) == [summary.scores.tolist() for summary in by_hand]
    guesses = [summary.predictions.tolist() for summary in record.subjects[0].summaries]
    assert guesses == [summary.predictions.tolist() for summary in by_hand]


def test_a_target_that_an_attack_cannot_learn_about_is_the_only_one_that_it_fails_on() -> None:
    # The first three training trials of seed 1 have one secret for the second target.
    record = _audit(
        _threat_model(seed=1, pairs=False), attacks=[ClosestDistanceMIA()], num_train=3
    ).run()
    (subject,) = record.subjects
    (crash,) = subject.crashes
    assert "both secrets" in crash.message
    assert [summary.target_id for summary in subject.summaries] == [
        target for target in ("0", "1") if target != crash.target
    ]


def test_a_finished_run_is_read_back_and_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _audit().run(tmp_path)

    class Forbidden(Raw):
        def generate(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("played again")

    monkeypatch.setattr(Raw, "generate", Forbidden.generate)
    again = _audit().run(tmp_path)
    assert _scores(again) == _scores(first)
    assert AuditRecord.load(tmp_path).fingerprint == first.fingerprint


def test_a_run_is_the_same_with_and_without_a_store(tmp_path: Path) -> None:
    assert _scores(_audit().run()) == _scores(_audit().run(tmp_path))


def test_another_game_in_the_folder_is_played_anew_and_one_line_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = _audit().run(tmp_path)
    other = _audit(_threat_model(seed=4)).run(tmp_path)
    (line,) = caplog.messages
    assert "belong to another game (seed: stored 3, asked 4" in line
    assert _scores(other) == _scores(_audit(_threat_model(seed=4)).run())
    assert AuditRecord.load(tmp_path).fingerprint == other.fingerprint
    kept = tmp_path / f"record-{first.fingerprint[:8]}.json"
    assert AuditRecord.load(kept).fingerprint == first.fingerprint


def test_a_damaged_trial_is_played_again(tmp_path: Path) -> None:
    first = _audit().run(tmp_path)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as database, database:
        changed = database.execute(
            "UPDATE entries SET content = x'00' WHERE key LIKE '%/00000_/%' AND file IS NULL"
        ).rowcount
    assert changed > 0
    assert _scores(_audit().run(tmp_path)) == _scores(first)


def test_released_data_is_kept_only_if_asked_for(tmp_path: Path) -> None:
    sizes = {}
    for keep in (False, True):
        folder = tmp_path / str(keep)
        _audit(attacks=[ClosestDistanceMIA()], keep_data=keep).run(folder)
        with closing(sqlite3.connect(folder / "index.sqlite")) as database, database:
            (sizes[keep],) = database.execute(
                "SELECT count(*) FROM entries WHERE key LIKE '%/data'"
            ).fetchone()
    assert sizes == {False: 0, True: 44}


KILLED = """
    import sys
    sys.path.insert(0, {tests!r})
    from test_audits import _audit, _threat_model, ClosestDistanceMIA, Slow
    _audit(_threat_model(Slow()), attacks=[ClosestDistanceMIA()]).run({folder!r}, n_jobs={jobs})
"""


class Slow(Raw):
    """Takes a moment, so that a run can be killed in the middle."""

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        time.sleep(0.05)
        return super().__call__(dataset, num_samples, random_state)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_resumes_to_the_same_bits(tmp_path: Path, jobs: int) -> None:
    whole = _audit(_threat_model(Slow()), attacks=[ClosestDistanceMIA()]).run(n_jobs=1)
    folder = tmp_path / "run"
    script = textwrap.dedent(
        KILLED.format(tests=str(Path(__file__).parent), folder=str(folder), jobs=jobs)
    )
    rng = np.random.default_rng(jobs)
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
        deadline = time.monotonic() + 60
        before = _entries(folder)
        while _entries(folder) < before + 3 and process.poll() is None:
            assert time.monotonic() < deadline, "the run made no progress"
            time.sleep(0.02)
        time.sleep(float(rng.uniform(0, 0.1)))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 < _entries(folder) < 44
    resumed = _audit(_threat_model(Slow()), attacks=[ClosestDistanceMIA()]).run(folder, n_jobs=1)
    assert _scores(resumed) == _scores(whole)


def _entries(folder: Path) -> int:
    try:
        index = f"file:{folder / 'index.sqlite'}?mode=ro"
        with closing(sqlite3.connect(index, uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_failing_trials_are_recorded_counted_and_judged(tmp_path: Path) -> None:
    audit = _audit(_threat_model(FailsSometimes()), max_failures=40)
    record = audit.run(tmp_path)
    (subject,) = record.subjects
    assert 5 <= len(subject.failures) <= 30
    assert "RuntimeError at test_audits.py:" in subject.failures[0].message
    failed = {phase: sum(f.phase == phase for f in subject.failures) for phase in ("train", "test")}
    assert subject.trials == {"train": 20 - failed["train"], "test": 24 - failed["test"]}
    judged = {(len(one), one.dependence is Dependence.UNKNOWN) for one in subject.summaries}
    assert judged == {(24, False), (subject.trials["test"], True)}  # the second has its own doors
    again = _audit(_threat_model(FailsSometimes()), max_failures=40).run(tmp_path)
    assert again.subjects[0].failures == subject.failures
    assert _scores(again) == _scores(record)


def test_too_many_failures_stop_the_run_with_what_it_has() -> None:
    record = _audit(_threat_model(FailsSometimes()), max_failures=2).run(n_jobs=1)
    assert record.stopped is not None
    assert "more than max_failures=2" in record.stopped
    assert len(record.subjects[0].failures) == 3


def test_a_trial_that_hangs_is_a_failure() -> None:
    start = time.monotonic()
    record = _audit(
        _threat_model(Sleeps()), num_train=4, num_test=8, max_failures=12, timeout=0.2
    ).run(n_jobs=1)
    assert record.subjects[0].failures
    assert "did not finish within 0.2 seconds" in record.subjects[0].failures[0].message
    assert time.monotonic() - start < 50


def test_a_crashing_attack_is_reported_and_the_others_go_on() -> None:
    record = _audit(attacks=[Crashes(), ClosestDistanceMIA()]).run()
    (subject,) = record.subjects
    assert [crash.attack for crash in subject.crashes] == ["Crashes", "Crashes"]
    assert subject.crashes[0].message.startswith("ValueError at test_audits.py:")
    assert len(subject.summaries) == 2


def test_white_box_attacks_see_the_mechanism(tmp_path: Path) -> None:
    record = _audit(_threat_model(box=WhiteBoxKnowledge), attacks=[ReadsMechanism()]).run(tmp_path)
    assert all(summary.accuracy == 1 for summary in record.subjects[0].summaries)


def test_a_check_finds_every_problem_before_any_work() -> None:
    broken = _audit(
        _threat_model(box=NoBoxKnowledge),
        attacks=[ClosestDistanceMIA(), ClosestDistanceMIA(), ClosestDistanceMIA(label="other")],
    )
    report = broken.check()
    assert not report.ok
    assert any("occurs more than once" in problem for problem in report.problems)


def test_a_sound_audit_passes_its_check_with_a_time_estimate() -> None:
    report = _audit().check()
    assert report.ok
    assert report.seconds_per_trial is not None


def test_a_check_passes_on_warnings_of_the_threat_model() -> None:
    data = load_sample("census", 300)
    with pytest.warns(UserWarning, match="also in the data"):
        threat_model = TargetedMIA(
            AuxiliaryDataKnowledge(data, num_training_records=20, seed=0),
            data.get_records([0]),
            BlackBoxKnowledge(Raw(), 10),
            seed=1,
        )
    assert _audit(threat_model).check().ok


def test_a_contradicted_claim_stops_the_trials_early() -> None:
    audit = _audit(
        _threat_model(targets=1),
        attacks=[ClosestDistanceMIA(criterion=("threshold", 0))],
        num_test=400,
        stop_early=StopEarly(claim=Claim(0.1), every=20),
    )
    record = audit.run()
    assert record.stopped is not None
    assert "contradicted the claimed epsilon 0.1" in record.stopped
    assert record.subjects[0].trials["test"] < 400


def test_a_true_claim_does_not_stop_the_trials() -> None:
    class Ignores(Generator):
        def fit(self, dataset: TabularDataset, **_: Any) -> None:
            self.description = dataset.description

        def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
            public = load_sample("census", 200, seed=99)
            return public.sample(num_samples, random_state=random_state)

    audit = _audit(
        _threat_model(Ignores(), targets=1),
        attacks=[ClosestDistanceMIA()],
        num_test=60,
        stop_early=StopEarly(claim=Claim(0.5), every=20),
    )
    assert audit.run().stopped is None


def test_controls_are_told_apart_and_gates_look_past_them() -> None:
    audited = Subject(_threat_model(), name="ours")
    control = Subject(_threat_model(), name="copy", role="control")
    record = _audit([audited, control], gates=[Gate("accuracy", 0.9)]).run()
    assert [subject.name for subject in record.audited] == ["ours"]


def test_an_audit_needs_something_to_do() -> None:
    with pytest.raises(ConfigError, match="at least one threat model"):
        Audit([], [ClosestDistanceMIA()], 10, 10)


def test_an_audit_that_names_no_attack_has_the_documented_and_the_strongest() -> None:
    labels = [type(attack).__name__ for attack in Audit(_threat_model(), (), 10, 10).attacks]
    assert labels == ["ClosestDistanceMIA", "GroundhogAttack", "EnsembleAttack"]


def test_features_that_learn_ranges_follow_each_subject_alone(tmp_path: Path) -> None:
    def subject(rows: int, name: str) -> Subject:
        data = load_sample("clinic", rows, seed=rows)
        return Subject(
            TargetedMIA(
                AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=40, seed=1),
                data.get_records([0]),
                BlackBoxKnowledge(Raw(), 20),
                seed=2,
            ),
            name=name,
        )

    def groundhog() -> GroundhogAttack:
        return GroundhogAttack(model=RandomForestClassifier(10, random_state=0))

    both = Audit([subject(200, "a"), subject(400, "b")], [groundhog()], 20, 20).run(tmp_path)
    alone = Audit(subject(400, "b"), [groundhog()], 20, 20).run()
    assert not both.subjects[1].crashes
    np.testing.assert_array_equal(
        both.subjects[1].summaries[0].scores, alone.subjects[0].summaries[0].scores
    )


def test_a_check_names_attacks_and_gates_that_do_not_fit() -> None:
    no_box = _audit(_threat_model(box=NoBoxKnowledge), attacks=[ClosestDistanceMIA()])
    assert any("needs training trials" in problem for problem in no_box.check().problems)
    fixed = _audit(
        _threat_model(box=NoBoxKnowledge),
        attacks=[ClosestDistanceMIA(criterion=("threshold", 0))],
    )
    assert fixed.check().ok
    on_models = _audit(attacks=[LossMIA()])
    (problem,) = on_models.check().problems
    assert "attacks models, but TargetedMIA is about a table: use ClosestDistanceMIA" in problem
    data = load_sample("census", 300)
    many = TargetedAIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=20, seed=0),
        data.get_records([0]),
        "Health",
        ["good", "fair", "bad"],
        BlackBoxKnowledge(Raw(), 10),
        seed=1,
    )
    gated = _audit(many, attacks=[ClosestDistanceAIA()], gates=[Gate("auc", 0.6)])
    assert any("limit accuracy_gain instead" in problem for problem in gated.check().problems)
    with pytest.warns(TapasWarning, match="without a pass: .*limit accuracy_gain instead"):
        record = gated.run()
    (outcome,) = decide(record).outcomes
    assert outcome.state == "inconclusive"
    assert "limit accuracy_gain instead" in outcome.words
    raw, gain = decide(record, [Gate("accuracy", 0.9), Gate("accuracy_gain", 0.6)]).outcomes
    assert raw.state == "inconclusive"
    assert "are right without the release): limit accuracy_gain instead" in raw.words
    assert gain.words.startswith("Above the best guess between")


def test_a_run_that_stopped_says_why_nothing_was_judged() -> None:
    class Always(Raw):
        def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
            raise RuntimeError("out of memory")

    verdict = decide(_audit(_threat_model(Always())).run(n_jobs=1))
    assert verdict.exit_code == 5
    assert "RuntimeError at test_audits.py:" in verdict.words


def test_a_forecast_says_fits_hours_and_error_bars() -> None:
    audit = replace(_audit(), num_train=100, num_test=400)
    told = audit.forecast()
    assert (told.fits, told.scores) == (500 * len(audit.subjects), 400)
    checked = audit.check()
    assert checked.seconds_per_trial is not None
    hours = audit.forecast(checked).cpu_hours
    assert hours == pytest.approx(checked.seconds_per_trial * told.fits / 3600)
    # The standard error of an AUC of one half is the root of (n + m + 1) / (12 n m).
    assert told.results == 4  # two attacks, two targets
    reach = norm.ppf(1 - 0.05 / 4 / 2)
    assert told.auc_error == pytest.approx(reach * np.sqrt(401 / 12) / 200, rel=0.05)
    assert told.smallest_auc > 0.5 + told.auc_error
    assert told.paired
    some = replace(audit, num_test=40).forecast()
    level = 1 - 0.05 / 4
    assert some.auc_error == smallest_area(20, 20, confidence=level, power=0.5, paired=True) - 0.5
    assert some.auc_error > 1.96 * np.sqrt(41 / 12) / 20
    few = replace(audit, num_test=2).forecast()
    assert (few.auc_error, few.smallest_auc) == (np.inf, None)


def test_a_forecast_is_of_the_intervals_that_hold_together() -> None:
    """It was of one result by itself, and narrower than those of any audit of several."""
    model = _threat_model(IndependentMarginals(), targets=4)
    audit = _audit(model, attacks=[ClosestDistanceMIA()], num_train=20, num_test=160)
    found = [one.shared.auc for one in Findings(audit.run()).audited]
    off = np.median([(one.high - one.low) / 2 for one in found if one is not None])
    assert audit.forecast().auc_error == pytest.approx(off, rel=0.1)


def test_a_forecast_allows_for_looking_before_all_trials_are_played() -> None:
    audit = replace(_audit(), num_test=400)
    claimed = replace(audit, claim=Claim(1.0))
    assert claimed.forecast().auc_error > audit.forecast().auc_error


def test_records_of_one_release_are_one_result_of_each_attack() -> None:
    x, y = np.random.default_rng(0).normal(size=(80, 2)), np.tile([0, 1], 40)
    model = RandomForestClassifier(5, random_state=0).fit(x[:40], y[:40])
    audit = Audit(ModelMIA(model, (x[:40], y[:40]), (x[40:], y[40:])), [LossMIA()])
    assert audit.forecast().results == 1
