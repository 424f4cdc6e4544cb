"""Audits that were killed, or get more attacks and trials, play only what is missing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outcomes import LogsReleases, bits, lines, summaries, table_audit
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import (
    BlackBoxMIA,
    ClosestDistanceMIA,
    EntropyMIA,
    GroundhogAttack,
    LiRA,
    LossMIA,
)
from tapas.audit import Audit
from tapas.models import Model, SklearnTrainer
from tapas.threat_models import (
    ModelMIA,
)

# A tree is as sure of everybody: attacks on its confidence see nothing, and the audit says so.
pytestmark = pytest.mark.filterwarnings("ignore:.* gave all trials of")


@dataclass(frozen=True)
class LogsTraining(SklearnTrainer):
    """Adds a line to a file for every model that it trains."""

    log: Path = Path()

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        with self.log.open("a") as file:
            file.write("trained\n")
        return super().train(X, y, rng=rng)


def interrupted_after(number: int) -> type:
    class Impatient:
        """Progress that ends with somebody pressing Control-C."""

        left = number

        def __init__(self, **_: Any) -> None:
            pass

        def update(self, n: int = 1) -> None:
            Impatient.left -= n
            if Impatient.left == 0:
                raise KeyboardInterrupt

        def close(self) -> None:
            pass

    return Impatient


SHADOWS = 8


def shadow_audit(log: Path) -> Audit:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, size=80)
    forest = RandomForestClassifier(4, bootstrap=False, max_features=1)
    threat_model = ModelMIA(
        RandomForestClassifier(4, bootstrap=False, random_state=0).fit(X[:40], y[:40]),
        (X[:40], y[:40]),
        (X[40:], y[40:]),
        trainer=LogsTraining(forest, log=log),
        num_shadows=SHADOWS,
        seed=3,
    )
    return Audit(threat_model, [LossMIA(), LiRA()])


@pytest.mark.parametrize("after", [1, 5, SHADOWS])
def test_a_model_audit_that_is_killed_goes_on_and_trains_only_what_is_missing(
    after: int, tmp_path: Path
) -> None:
    unbroken = bits(summaries(shadow_audit(tmp_path / "unbroken").run(n_jobs=1)))
    assert lines(tmp_path / "unbroken") == SHADOWS
    log, store = tmp_path / "broken", tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        shadow_audit(log).run(store, progress=interrupted_after(after), n_jobs=1)
    assert lines(log) == after
    assert bits(summaries(shadow_audit(log).run(store, n_jobs=1))) == unbroken
    assert lines(log) == SHADOWS


def test_an_attack_that_looks_at_the_same_of_a_model_trains_none_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = shadow_audit(log)
    first.run(tmp_path / "store", n_jobs=1)
    more = Audit(first.threat_model, [*first.attacks, LiRA("offline"), EntropyMIA()])
    assert len(summaries(more.run(tmp_path / "store", n_jobs=1))) == 4
    assert lines(log) == SHADOWS


def test_an_attack_that_looks_at_models_differently_has_them_trained_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = shadow_audit(log)
    first.run(tmp_path / "store", n_jobs=1)
    more = Audit(first.threat_model, [*first.attacks, BlackBoxMIA("lr")])
    more.run(tmp_path / "store", n_jobs=1)
    assert lines(log) == 2 * SHADOWS


def test_an_audit_that_is_killed_inside_a_trial_goes_on_as_if_unbroken(tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    log.with_suffix(".stop").touch()
    with pytest.raises(KeyboardInterrupt):
        table_audit(LogsReleases(log), [ClosestDistanceMIA()]).run(store, n_jobs=1)
    log.with_suffix(".stop").unlink()
    found = table_audit(LogsReleases(log), [ClosestDistanceMIA()]).run(store, n_jobs=1)
    assert lines(log) == 12 + 1  # the trial that was under way is played again
    unbroken = table_audit(LogsReleases(tmp_path / "other"), [ClosestDistanceMIA()])
    assert bits(summaries(found)) == bits(summaries(unbroken.run(n_jobs=1)))


def test_more_attacks_and_more_trials_play_only_what_is_missing(tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    first = [ClosestDistanceMIA()]
    table_audit(LogsReleases(log), first).run(store, n_jobs=1)
    assert lines(log) == 12
    second = [ClosestDistanceMIA(), GroundhogAttack(model=RandomForestClassifier(5))]
    table_audit(LogsReleases(log), second).run(store, n_jobs=1)
    assert lines(log) == 12
    found = table_audit(LogsReleases(log), second, 9).run(store, n_jobs=1)
    assert lines(log) == 15
    fresh = table_audit(LogsReleases(tmp_path / "other"), second, 9).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))


def test_without_the_releases_another_attack_plays_the_trials_again(tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    attacks = [ClosestDistanceMIA(), GroundhogAttack(model=RandomForestClassifier(5))]
    for some in (attacks[:1], attacks):
        table_audit(LogsReleases(log), some, keep_data=False).run(store, n_jobs=1)
    # Each run plays 12, and two once more: the page says what was released near the target.
    assert lines(log) == 2 * (12 + 2)
