"""What a client remembers of trials, and of what is to be played, takes little memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from toy_games import Mean, Toy

from tapas.attacks import RMIA, ClosestDistanceMIA, LiRA
from tapas.datasets import DataDescription, TabularDataset
from tapas.engine import Workers
from tapas.game import Ledger, Observation, Player, Release, Trial
from tapas.game._rows import Rows
from tapas.game._work_list import WorkList
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ModelMIA,
    TargetedMIA,
)

RNG = np.random.default_rng
FIT = DecisionTreeClassifier.fit

SHAPES = st.sampled_from([np.zeros(2), np.zeros(2), np.zeros((2, 1)), np.zeros(2, dtype=int)])


def trial(index: int, data: object = None) -> Trial:
    return Trial("test", index, Release(data), np.array([index % 2 == 0]), index // 2, {"a": "1"})


@given(kept=st.lists(st.tuples(st.integers(0, 3_000), SHAPES, st.integers(-9, 9)), max_size=12))
def test_rows_are_a_mapping_of_arrays(kept: list[tuple[int, np.ndarray, int]]) -> None:
    rows, twin = Rows(), {}
    for number, like, value in kept:
        twin[number] = like + value
        rows.keep(number, twin[number])
    assert list(rows) == sorted(twin)
    assert len(rows) == len(twin)
    for number, row in twin.items():
        assert number in rows
        assert rows[number].dtype == row.dtype
        np.testing.assert_array_equal(rows[number], row)
    assert not any(number in rows for number in {5, 2_000} - set(twin))
    for count in (0, 7, 1_500, 4_000):
        held = np.flatnonzero(rows.held(count)).tolist()
        assert held == [number for number in sorted(twin) if number < count]
    if len({row.shape for row in twin.values()}) == 1:
        found = rows.at(list(twin))
        np.testing.assert_array_equal(found, np.stack(list(twin.values())))
        assert found.dtype == np.stack(list(twin.values())).dtype


@pytest.mark.parametrize("secret", ["long enough", None, 1.5, True])
def test_secrets_of_any_type_come_back(secret: object) -> None:
    ledger = Ledger()
    for index, one in enumerate(["no", secret]):
        ledger.keep(Trial("train", index, Release(None), np.array([one]), index))
    assert ledger.outline("train", 1).secrets.tolist() == [secret]
    assert ledger.outline("train", 0).secrets.tolist() == ["no"]


def test_a_trial_takes_little_more_memory_than_its_numbers() -> None:
    ledger, number = Ledger(), 8_192
    tracemalloc.start()
    for index in range(number):
        ledger.keep(trial(index), {"seen": Observation(np.array([0.5]), 0)})
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / number < 40  # a secret, a score, a group, and which versions it was made with
    assert ledger.groups("test", [5, 4, 1]).tolist() == [2, 2, 0]
    assert ledger.secrets("test", [0, 1]).tolist() == [[True], [False]]


def test_releases_are_loaded_when_their_turn_comes() -> None:
    asked = []

    def remembered(index: int) -> Trial:
        asked.append(index)
        return trial(index, None if index == 4 else "a release")

    work = WorkList(remembered, np.array([1, 4, 7]), np.array([1, 3]), 2, 7)
    assert len(work) == 5
    assert not asked
    assert [item.indices for item in work] == [(1,), (2, 3), (4, 5), (6,), (7,)]
    assert [len(item.trials) for item in work[2:]] == [0, 0, 1]
    assert asked == [1, 4, 7, 4, 7]


def test_tables_that_would_fill_the_memory_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapas.game._playing.MOST_HELD", 10_000)
    game = Toy(rows=100)  # of 800 bytes, and what is about them
    player = Player(game, workers=Workers(1))
    player.play("test", 40, [Mean(1.0)])
    held = [index for index in range(40) if player.ledger.has_data("test", index)]
    assert held == [*range(6)]
    board, games_played = player.board(Mean(2.0), "test", 40), len(game.played)
    assert np.array_equal(board.values[:, 0], 2 * player.board(Mean(1.0), "test", 40).values[:, 0])
    assert games_played == 40 + 40 - len(held)
    releases = [trial.release.table for trial in player.trials("test", 40)]
    assert [len(release) for release in releases] == [100] * 40, "who asks for tables has them all"


def raw_game(people: int, wide: int) -> TargetedMIA:
    frame = pd.DataFrame(RNG(0).normal(size=(people, wide)), columns=[f"c{i}" for i in range(wide)])
    table = TabularDataset(frame, DataDescription.infer(frame, "people"))
    rest = AuxiliaryDataKnowledge(table.drop_records([0]), 0.5, num_training_records=500)
    return TargetedMIA(rest, table.get_records([0]), BlackBoxKnowledge(Raw(), 500), seed=0)


def test_releases_of_real_records_are_remembered_by_name_though_attacks_looked_at_them() -> None:
    played, number, wide = raw_game(2_001, 20), 60, 20
    tracemalloc.start()
    played.generate_training_samples(number)
    ClosestDistanceMIA().train(played, num_samples=number)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 0.25 * number * 500 * wide * 8
    counted = played.player().ledger.held
    assert counted > number * 500 * wide * 8, "as if they were copied"
    first, again = (played.generate_training_samples(number)[0] for _ in range(2))
    assert [one.table.digest() for one in first] == [one.table.digest() for one in again]


@pytest.mark.parametrize("most", [0, 1 << 29])
def test_models_that_would_fill_the_memory_are_not_held(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.game._playing.MOST_HELD", most)
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    tree = DecisionTreeClassifier(random_state=0).fit(X[:30], y[:30])
    game = ModelMIA(
        tree, (X[:30], y[:30]), (X[30:], y[30:]), trainer=tree, num_shadows=32, seed=0, n_jobs=1
    )
    fitted = []
    monkeypatch.setattr(
        DecisionTreeClassifier, "fit", lambda *given: fitted.append(1) or FIT(*given)
    )
    for attack in (LiRA(), RMIA(), LiRA(queries=2)):
        attack.train(game)
        assert np.isfinite(game.test(attack).auc)
    assert len(fitted) == (32 if most else 64), "held models are asked by the next attack"
