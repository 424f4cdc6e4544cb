"""What a ledger writes it reads again, of whatever type; what is damaged is played again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_games import DESCRIPTION, Mean, Toy, table

from tapas.datasets import DataDescription, TabularDataset
from tapas.engine import Entry, FolderStore, Store, Workers
from tapas.errors import StoreError
from tapas.game import Observation, Player, Release, StoredLedger, Trial, as_array


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with FolderStore(tmp_path / "store") as opened:
        yield opened


def trial(secrets: Any, index: int = 0, data: Any = None) -> Trial:
    return Trial("train", index, Release(data), as_array(tuple(secrets)), 7)


VALUES = {
    "booleans": (False, True),
    "text": ("good", "fair", "bad"),
    "integers": (3, 1, 2),
    "floats": (0.25, -7.5),
    "mixed": ("one", 1, 2.5, None),
    "text and numbers": ("1", 1),
}


@pytest.mark.parametrize("known", [True, False], ids=["values known", "values unknown"])
@pytest.mark.parametrize("kind", VALUES)
def test_secrets_stay_what_they_are(store: Store, kind: str, known: bool) -> None:
    values = VALUES[kind]
    secrets = [values[-1], *values]
    StoredLedger(store, "g", values if known else ()).keep(trial(secrets))
    found = StoredLedger(store, "g", values if known else ()).trial("train", 0)
    assert found.secrets.tolist() == secrets
    assert [type(one) for one in found.secrets.tolist()] == [type(one) for one in secrets]
    assert found.secrets.dtype == trial(secrets).secrets.dtype
    assert (found.phase, found.index, found.group) == ("train", 0, 7)


def test_observations_and_queries_are_read_again(store: Store) -> None:
    first = StoredLedger(store, "g", (False, True))
    deep = np.arange(12.0).reshape(2, 3, 2)
    first.keep(trial([True, False]), {"a": Observation(deep, 5), "b": Observation(deep[:1])})
    first.keep(trial([True, False]), {"c": Observation(np.array([np.nan, np.inf]), 2)})
    first.keep(trial([False, True], 1), {"a": Observation(deep, 6)})
    again = StoredLedger(store, "g", (False, True))
    for ledger in (first, again):
        asked = {key: ledger.queries(key, "train") for key in "abc"}
        assert asked == {"a": 11, "b": 0, "c": 2}
        assert ledger.queries("a", "test") == 0
        assert np.array_equal(ledger.observations("a", "train")[0], deep)
        assert ledger.observations("b", "train")[0].shape == (1, 3, 2)
        assert sorted(ledger.observations("a", "train")) == [0, 1]
        np.testing.assert_array_equal(ledger.observations("c", "train")[0], [np.nan, np.inf])
        assert ledger.observations("a", "test") == {}


def test_tables_are_on_disk_and_not_in_memory(store: Store) -> None:
    data = table(1.5, np.nan, 3)
    first = StoredLedger(store, "g", (False, True), DESCRIPTION)
    first.keep(trial([True], data=data))
    again = StoredLedger(store, "g", (False, True), DESCRIPTION)
    for ledger in (first, again):
        assert ledger.has_data("train", 0)
        assert ledger.outline("train", 0).release.data is None
        found = ledger.trial("train", 0).release.data
        assert isinstance(found, TabularDataset)
        assert found.table.same_values(data.table)


def test_data_of_another_kind_is_not_kept(store: Store) -> None:
    other = TabularDataset([["a"]], DataDescription([{"name": "y", "type": "finite"}], "other"))
    ledger = StoredLedger(store, "g", (False, True), DESCRIPTION)
    for index, data in enumerate((None, [1, 2, 3], other)):
        ledger.keep(trial([True], index, data))
        assert not ledger.has_data("train", index)
    assert StoredLedger(store, "g", (False, True), DESCRIPTION).indices("train") == [0, 1, 2]


def test_failures_are_remembered(store: Store) -> None:
    StoredLedger(store, "g").keep_failure("test", 3, "no luck")
    again = StoredLedger(store, "g")
    assert again.failures("test") == {3: "no luck"}
    assert again.failures("train") == {}
    assert not again.has_trial("test", 3)


def test_games_under_different_names_do_not_meet(store: Store) -> None:
    StoredLedger(store, "games/a").keep(trial(["x"]))
    StoredLedger(store, "games/ab").keep_failure("train", 0, "no luck")
    assert StoredLedger(store, "games/a").failures("train") == {}
    assert StoredLedger(store, "games/b").indices("train") == []


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"group": 1, "secrets": [9, 9]},
        {"group": None, "secrets": [0, 1]},
        {"group": 1, "secrets": "nonsense"},
    ],
)
def test_an_entry_that_makes_no_sense_is_dropped(
    store: Store, notes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    store.save("g/train/000000/trial", Entry(notes=notes))
    assert StoredLedger(store, "g", (False, True)).indices("train") == []
    assert "played again" in caplog.text
    assert "g/train/000000/trial" not in store


@pytest.mark.parametrize("part", ["data", "seen", "all"])
def test_what_is_damaged_is_played_again_with_the_same_result(
    tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.engine._folder_store.LARGEST_INLINE", 0)
    game = Toy()

    def board(factor: float) -> Any:
        with FolderStore(tmp_path) as store:
            ledger = StoredLedger(store, "g", (False, True), DESCRIPTION)
            return Player(game, ledger, workers=Workers(1)).board(Mean(factor), "train", 3)

    expected = board(1)
    game.played.clear()
    with FolderStore(tmp_path) as store:
        keys = [key for key in store.keys("g/train/000001/") if part == "all" or f"/{part}" in key]
        assert keys
        for key in keys:
            (name,) = store._rows("SELECT file FROM entries WHERE key = ?", key)[0]
            file = tmp_path / "entries" / name
            file.write_bytes(file.read_bytes()[:-20] + b"x" * 20)
    again = board(1)
    assert again.values.tolist() == expected.values.tolist()
    assert again.secrets.tolist() == expected.secrets.tolist()
    assert board(2).values[:, 0].tolist() == [0, 2, 4]
    assert {index for _, index, _ in game.played} == {1}
    game.played.clear()
    assert board(2).values[:, 0].tolist() == [0, 2, 4]
    assert board(3).values[:, 0].tolist() == [0, 3, 6]
    assert game.played == []


@pytest.mark.parametrize("number", ["999999999999", "9" * 5000, "0", "-1", "first", ""])
def test_a_look_of_an_impossible_number_is_refused(store: Store, number: str) -> None:
    store.save(f"g/look/{number}", Entry(notes={"num_trials": 10, "by": ""}))
    with pytest.raises(StoreError, match="not the number of a look"):
        StoredLedger(store, "g")
