"""A player plays what is missing and nothing else."""

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from toy_games import Mean, Toy, table

from tapas.engine import MemoryStore, Workers
from tapas.errors import MechanismError, ReproducibilityWarning
from tapas.game import (
    Address,
    Briefing,
    Ledger,
    ModelBriefing,
    Player,
    Release,
    Setting,
    StoredLedger,
    Trial,
    TrialPolicy,
)
from tapas.models import Access, CallableModel, Model, QueryBudgetError, Records

HERE = Workers(1)


def numbers(game: Toy) -> list[int]:
    """Which trials were played since the last look."""
    found = [index for _, index, _ in game.played]
    game.played.clear()
    return found


# -- what is missing -----------------------------------------------------------------------------


def test_only_what_is_missing_is_played() -> None:
    game = Toy()
    player = Player(game, workers=HERE)
    assert player.play("train", 3) == [0, 1, 2]
    assert numbers(game) == [0, 1, 2]
    assert player.play("train", 5) == [0, 1, 2, 3, 4]
    assert numbers(game) == [3, 4]
    assert player.play("train", 2) == [0, 1]
    assert player.play("test", 1) == [0]
    assert game.played == [("test", 0, 0)]


def test_a_board_has_the_first_trials_whatever_else_was_played() -> None:
    game = Toy()
    player = Player(game, workers=HERE)
    player.play("train", 6)
    board = player.board(Mean(), "train", 4)
    assert board.values.tolist() == [[0, -1], [1, 0], [2, 1], [3, 2]]
    assert board.secrets.tolist() == [[True, False], [False, True]] * 2
    assert board.groups.tolist() == [0, 0, 1, 1]
    assert board.goal == game.goal
    assert board.judged.tolist() == [True, True]
    assert len(player.board(Mean(), "train", 0)) == 0


def test_another_observer_plays_nothing_where_the_data_is_kept() -> None:
    game = Toy()
    player = Player(game, workers=HERE, policy=TrialPolicy(keep_data=True))
    first, second = Mean(), Mean(2)
    player.board(first, "train", 4)
    assert numbers(game) == [0, 1, 2, 3]
    assert player.board(second, "train", 4).values[:, 0].tolist() == [0, 2, 4, 6]
    assert numbers(game) == []
    assert len(first.seen) == len(second.seen) == 4


def test_another_observer_replays_where_the_data_was_dropped() -> None:
    game = Toy()
    player = Player(game, workers=HERE, policy=TrialPolicy(keep_data=False))
    player.board(Mean(), "train", 3)
    numbers(game)
    assert not player.ledger.has_data("train", 0)
    player.board(Mean(), "train", 3)
    assert numbers(game) == []
    assert player.board(Mean(2), "train", 3).values[:, 0].tolist() == [0, 2, 4]
    assert numbers(game) == [0, 1, 2]


def test_observers_see_each_release_once_and_together() -> None:
    game = Toy()
    player = Player(game, workers=HERE)
    first, second, twin = Mean(), Mean(2), Mean(2)
    player.play("train", 4, [first, second, twin])
    assert numbers(game) == [0, 1, 2, 3]
    assert first.seen == [0, 1, 2, 3]
    assert sorted(second.seen + twin.seen) == [0, 1, 2, 3]
    player.board(twin, "train", 4)
    assert sorted(second.seen + twin.seen) == [0, 1, 2, 3]
    assert numbers(game) == []


def test_trials_come_with_their_releases() -> None:
    game = Toy()
    player = Player(game, workers=HERE, policy=TrialPolicy(keep_data=False))
    player.board(Mean(), "train", 2)
    numbers(game)
    trials = player.trials("train", 3)
    assert [trial.release.table.data["x"].tolist() for trial in trials] == [
        [0] * 3,
        [1] * 3,
        [2] * 3,
    ]
    assert numbers(game) == [0, 1, 2]
    player.trials("train", 3)
    assert numbers(game) == []


def test_releases_with_their_mechanism_are_made_again_to_be_seen() -> None:
    game = Toy(shows_mechanism=True)
    player = Player(game, workers=HERE)
    for _ in range(2):
        trials = player.trials("train", 2)
        assert [trial.release.mechanism for trial in trials] == ["fitted 0", "fitted 1"]
        assert numbers(game) == [0, 1]
    assert player.ledger.trial("train", 0).release.mechanism is None
    player.board(Mean(), "train", 2)
    assert numbers(game) == [0, 1]
    player.board(Mean(), "train", 2)
    assert numbers(game) == []


def test_fresh_rounds_are_other_trials() -> None:
    game = Toy()
    player = Player(game, workers=HERE, round=2)
    assert player.board(Mean(), "test", 2).values[:, 0].tolist() == [200, 201]
    assert game.played == [("test", 0, 2), ("test", 1, 2)]


def test_the_time_limit_reaches_the_game() -> None:
    class Timed(Toy):
        def _play(self, address: Any) -> Trial:
            assert self.seconds == 7.0
            return super()._play(address)

    Player(Timed(), workers=HERE, policy=TrialPolicy(timeout=7.0)).play("train", 2)


# -- trials that are played together -------------------------------------------------------------


def test_stacks_are_played_whole_and_only_what_was_asked_for_is_kept() -> None:
    game = Toy(at_once=4)
    player = Player(game, workers=HERE)
    assert player.play("train", 3) == [0, 1, 2]
    assert numbers(game) == [0, 1, 2, 3]
    assert player.ledger.indices("train") == [0, 1, 2]
    assert player.play("train", 6) == [0, 1, 2, 3, 4, 5]
    assert numbers(game) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert player.play("train", 6) == [0, 1, 2, 3, 4, 5]
    assert numbers(game) == []


def test_the_last_stack_ends_where_the_trials_do() -> None:
    game = Toy(at_once=4, available=6)
    player = Player(game, workers=HERE)
    assert player.play("train", 6) == [0, 1, 2, 3, 4, 5]
    assert numbers(game) == [0, 1, 2, 3, 4, 5]


def test_a_stack_whose_data_is_kept_is_observed_trial_by_trial() -> None:
    game = Toy(at_once=4)
    player = Player(game, workers=HERE)
    player.play("train", 4)
    numbers(game)
    assert player.board(Mean(), "train", 4).values[:, 0].tolist() == [0, 1, 2, 3]
    assert numbers(game) == []


@pytest.mark.parametrize("at_once", [1, 3])
def test_results_do_not_depend_on_workers(at_once: int) -> None:
    here = Player(Toy(at_once=at_once), workers=HERE).board(Mean(), "test", 7)
    away = Player(Toy(at_once=at_once), workers=Workers(2)).board(Mean(), "test", 7)
    assert here.values.tolist() == away.values.tolist()
    assert here.secrets.tolist() == away.secrets.tolist()


# -- failures ------------------------------------------------------------------------------------


def test_a_failure_stops_the_run_and_what_was_finished_is_kept() -> None:
    game = Toy(failing=(2,))
    player = Player(game, workers=HERE)
    with pytest.raises(MechanismError, match="no luck in 2"):
        player.play("train", 4)
    assert player.ledger.indices("train") == [0, 1]
    assert player.ledger.failures("train") == {}


def test_failures_are_left_out_and_not_tried_again() -> None:
    game = Toy(failing=(1, 3))
    player = Player(game, workers=HERE, policy=TrialPolicy(max_failures=2))
    board = player.board(Mean(), "train", 5)
    assert board.values[:, 0].tolist() == [0, 2, 4]
    # What user code says may hold private values: it goes to the log, not into results.
    assert player.ledger.failures("train") == dict.fromkeys((1, 3), "the mechanism failed")
    numbers(game)
    assert player.play("train", 5) == [0, 2, 4]
    assert numbers(game) == []


def test_too_many_failures_of_both_phases_stop_the_run() -> None:
    game = Toy(failing=(1,))
    player = Player(game, workers=HERE, policy=TrialPolicy(max_failures=1))
    assert player.play("train", 3) == [0, 2]
    with pytest.raises(MechanismError, match="2 trials, more than max_failures=1") as caught:
        player.play("test", 3)
    assert (caught.value.phase, caught.value.index, caught.value.seed) == ("test", 1, 5)


def test_a_stack_fails_whole() -> None:
    player = Player(Toy(at_once=2, failing=(3,)), workers=HERE, policy=TrialPolicy(max_failures=2))
    assert player.play("train", 6) == [0, 1, 4, 5]
    assert sorted(player.ledger.failures("train")) == [2, 3]


# -- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "slow", "kept"), [(3, 99.0, True), (20000, 99.0, False), (20000, 0.0, True)]
)
def test_without_a_rule_small_tables_and_what_was_slow_to_make_are_kept(
    rows: int, slow: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.game._tasks.SLOW_TRIAL", slow)
    game = Toy(rows=rows)
    player = Player(game, workers=HERE, policy=TrialPolicy(keep_data=None))
    player.board(Mean(), "train", 2)
    assert player.ledger.has_data("train", 0) is kept
    numbers(game)
    player.board(Mean(2), "train", 2)
    assert numbers(game) == ([] if kept else [0, 1])


def test_a_stored_ledger_goes_on_where_another_player_was() -> None:
    store = MemoryStore()

    def player(game: Toy) -> Player:
        ledger = StoredLedger(store, "games/toy", (False, True), table().description)
        return Player(game, ledger, workers=HERE, policy=TrialPolicy(max_failures=1))

    first, second = Toy(failing=(2,)), Toy(failing=(2,))
    expected = player(first).board(Mean(), "train", 4)
    board = player(second).board(Mean(), "train", 5)
    assert numbers(second) == [4]
    assert board.values[:3].tolist() == expected.values.tolist()
    assert board.secrets[:3].tolist() == expected.secrets.tolist()
    assert player(second).board(Mean(3), "train", 5).values[:, 0].tolist() == [0, 3, 9, 12]
    assert numbers(second) == []


# -- what an attack is told first ----------------------------------------------------------------


def test_an_observer_may_learn_from_simulated_releases_first() -> None:
    class Attack:
        def observer(self, briefing: Briefing, samples: Any) -> Any:
            assert briefing.num_targets == 2
            releases = samples(3)
            return Mean(float(np.mean([release.table.data["x"].mean() for release in releases])))

    game = Toy(available=2)
    observer = Player(game, workers=HERE).observer(Attack())  # type: ignore[arg-type]
    assert isinstance(observer, Mean)
    assert observer.factor == 0.5
    assert numbers(game) == [0, 1]


# -- models and their budgets --------------------------------------------------------------------


class ToyModels(Toy):
    """Releases one model that exists already, or as many as one likes."""

    budget: int | None = 10
    spent: int = 2

    @property
    def setting(self) -> Setting:
        return Setting("Toy", "model", self.goal, budget=self.budget, spent=self.spent)

    def briefing(self, phase: Any) -> ModelBriefing:
        return ModelBriefing(
            self.goal, Records(np.zeros((3, 1)), np.zeros(3)), access=Access.LABELS
        )

    def _play(self, address: Any) -> Trial:
        model = CallableModel(lambda X: np.tile([0.25, 0.75], (len(X), 1)), [0.0, 1.0])
        return Trial(address.phase, address.index, Release(model), np.array([True] * 3), 0)


class Asks:
    """Asks a model about some records."""

    def __init__(self, number: int, key: str = "asks") -> None:
        self.number, self.key = number, key

    def __call__(self, release: Release, briefing: Briefing, *, rng: Any) -> np.ndarray:
        model = release.model
        assert isinstance(model, Model)
        assert model.access is Access.LABELS
        return np.full(3, model.predict(np.zeros((self.number, 1)))[:1].sum())


def test_queries_of_a_model_that_exists_are_counted_and_limited() -> None:
    player = Player(ToyModels(available=1), workers=HERE)
    for _ in range(2):
        player.board(Asks(6), "test", 1)
        assert player.ledger.queries("asks", "test") == 6
        assert player.queries(Asks(6)) == 6 + 2
    with pytest.raises(QueryBudgetError, match="3 queries were asked for, but 2"):
        player.board(Asks(3), "train", 1)
    player.board(Asks(2), "train", 1)
    assert player.queries(Asks(2)) == 8 + 2
    with pytest.raises(QueryBudgetError):
        player.board(Asks(9, "other"), "train", 1)
    player.board(Asks(8, "other"), "train", 1)


def test_models_that_the_attacker_trains_may_be_asked_at_will() -> None:
    player = Player(ToyModels(), workers=HERE)
    assert len(player.board(Asks(50), "train", 3)) == 3
    assert player.ledger.queries("asks", "train") == 150
    assert player.queries(Asks(50)) == 2


def test_a_ledger_counts_rounds_and_forgets_mechanisms() -> None:
    ledger = Ledger()
    assert [ledger.next_round() for _ in range(3)] == [1, 2, 3]
    ledger.keep(Trial("train", 4, Release(table(1), "fitted"), np.array([True]), 2))
    assert ledger.trial("train", 4).release.mechanism is None
    assert ledger.indices("train") == [4]
    assert ledger.has_data("train", 4)
    ledger.keep(Trial("train", 4, Release(None), np.array([True]), 2))
    assert ledger.has_data("train", 4)


# -- the probe -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Probed(Toy):
    """Says where it is probed, and within how many seconds; or ends the process."""

    home: int = 0
    ends: bool = False

    def caution(self, address: Address) -> str | None:
        if self.ends and os.getpid() != self.home:
            os._exit(0)
        return f"{'here' if os.getpid() == self.home else 'apart'} within {self.seconds}"


@pytest.mark.parametrize(
    ("workers", "policy", "where"),
    [
        (HERE, TrialPolicy(), "here within None"),
        (Workers(1, isolated=True), TrialPolicy(), "apart within None"),
        (Workers(2), TrialPolicy(), "apart within None"),
        (HERE, TrialPolicy(timeout=30), "apart within 30"),
        (HERE, TrialPolicy(attack_timeout=30), "apart within None"),
    ],
)
def test_a_probe_runs_where_trials_run(workers: Workers, policy: TrialPolicy, where: str) -> None:
    with pytest.warns(ReproducibilityWarning, match=f"^{where}$") as told:
        Player(Probed(home=os.getpid()), workers=workers, policy=policy).play("train", 12)
    assert len(told) == 1


@pytest.mark.parametrize("fault", [MechanismError("no luck"), OSError("no file"), SystemExit(0)])
def test_a_probe_that_fails_shows_nothing(
    fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(game: Toy, address: Address) -> str | None:
        raise fault

    monkeypatch.setattr(Toy, "caution", fails)
    assert len(Player(Toy(), workers=HERE).play("train", 12)) == 12


def test_a_probe_that_ends_its_process_shows_nothing() -> None:
    player = Player(Probed(home=os.getpid(), ends=True), workers=Workers(1, isolated=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(player.play("train", 12)) == 12
