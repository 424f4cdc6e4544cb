"""Observers see every target, in chunks where tables are large; wrong shapes are refused."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from toy_games import Mean, Toy, table

from tapas.errors import IncompatibleAttackError
from tapas.game import (
    MEMBERSHIP,
    Address,
    Briefing,
    Goal,
    MethodObserver,
    ModelBriefing,
    Release,
    TableBriefing,
    ValueObserver,
)
from tapas.game._tasks import TrialTask, observe_release
from tapas.models import CallableModel, Records

BRIEFING = TableBriefing(MEMBERSHIP, table(*range(5)))


def observed(observer: Any, release: Any = None, briefing: Briefing = BRIEFING) -> np.ndarray:
    given = Release(table(1, 2, 3) if release is None else release)
    return observe_release(observer, given, briefing, lambda: np.random.default_rng(1))


@pytest.mark.parametrize("answer", [np.zeros(5), np.zeros((5, 3)), np.zeros(1), np.zeros((1, 4))])
def test_a_row_per_target_or_one_for_all_is_accepted(answer: np.ndarray) -> None:
    assert observed(lambda *_, rng: answer).shape == answer.shape
    assert observed(lambda *_, rng: answer.tolist()).shape == answer.shape


@pytest.mark.parametrize("answer", [0.5, np.zeros(4), np.zeros((2, 5)), np.zeros(0)])
def test_other_shapes_are_refused_with_what_was_expected(answer: Any) -> None:
    with pytest.raises(IncompatibleAttackError, match=r"each of 5 targets, or one row.*got shape"):
        observed(lambda *_, rng: answer)


def test_the_number_of_secrets_counts_where_there_are_no_records() -> None:
    assert observed(lambda *_, rng: [1, 2], [7], Briefing(Goal("label"), num_labels=2)).shape == (
        2,
    )
    with pytest.raises(IncompatibleAttackError, match="3 targets"):
        observed(lambda *_, rng: [1, 2], [7], Briefing(Goal("label"), num_labels=3))


def test_targets_go_in_chunks_that_draw_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def noisy(release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        sizes.append(len(briefing.targets))
        return briefing.targets.data["x"].to_numpy() + rng.random()

    whole = observed(noisy)
    monkeypatch.setattr("tapas.game._tasks.LARGEST_CHUNK", 2 * 3)
    parts = observed(noisy)
    assert sizes == [5, 2, 2, 1]
    assert parts.tolist() == whole.tolist()
    monkeypatch.setattr("tapas.game._tasks.LARGEST_CHUNK", 1)
    assert observed(noisy).tolist() == whole.tolist()
    assert sizes[4:] == [1] * 5
    assert observed(noisy, table()).shape == (5,)


def test_only_tables_go_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapas.game._tasks.LARGEST_CHUNK", 1)
    seen: list[int] = []

    def count(release: Release, briefing: Any, *, rng: Any) -> np.ndarray:
        seen.append(briefing.num_targets)
        return np.zeros(briefing.num_targets)

    observed(count, [1, 2, 3])
    model = CallableModel(lambda X: np.full((len(X), 2), 0.5), [0, 1])
    observed(count, model, ModelBriefing(MEMBERSHIP, Records(np.zeros((4, 1)), np.zeros(4))))
    assert seen == [5, 4]


def test_an_observation_that_is_the_same_for_all_targets_is_made_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tapas.game._tasks.LARGEST_CHUNK", 2 * 3)
    assert observed(lambda *_, rng: np.array([4.0])).tolist() == [4.0]


def test_an_observer_needs_a_briefing() -> None:
    game = Toy()
    task = TrialTask(game, Address(game.seed, "train", 0), (Mean(),), budgets=(None,))
    with pytest.raises(IncompatibleAttackError, match="briefing"):
        task.finish(game.play([Address(game.seed, "train", 0)])[0])


# -- observers by value and by method ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scaled(ValueObserver):
    factor: float

    def __call__(self, release: Release, briefing: Briefing, *, rng: Any) -> np.ndarray:
        return np.full(briefing.num_targets, self.factor)


def test_an_observer_is_what_its_fields_say() -> None:
    assert Scaled(1.0).key == Scaled(1.0).key
    assert Scaled(1.0).key != Scaled(2.0).key


class Looks:
    def __init__(self, width: float, label: str = "") -> None:
        self.width = width
        self._label = label

    def observe(self, release: Any, briefing: Briefing, *, rng: Any) -> np.ndarray:
        return np.full(briefing.num_targets, self.width)


def test_a_method_is_known_by_all_that_its_object_is() -> None:
    assert MethodObserver(Looks(1)).key == MethodObserver(Looks(1)).key
    assert MethodObserver(Looks(1)).key != MethodObserver(Looks(2)).key
    assert MethodObserver(Looks(1)).key != MethodObserver(Looks(1, "other")).key
    assert observed(MethodObserver(Looks(3))).tolist() == [3] * 5


def test_a_method_is_known_by_what_it_depends_on_where_that_is_said() -> None:
    def key(looks: Looks) -> str:
        return MethodObserver(looks, ("width",)).key

    assert key(Looks(1)) == key(Looks(1, "other"))
    assert key(Looks(1)) != key(Looks(2))


def test_a_helper_that_a_subclass_writes_is_part_of_what_it_sees() -> None:
    class Helped(Looks):
        def _helper(self) -> int:
            return 1

    class Otherwise(Looks):
        def _helper(self) -> int:
            return 2

    keys = {MethodObserver(cls(1), ("width",)).key for cls in (Looks, Helped, Otherwise)}
    assert len(keys) == 3


def test_what_cannot_be_compared_is_never_taken_for_equal() -> None:
    locked = Looks(1)
    locked.lock = threading.Lock()  # type: ignore[attr-defined]
    observer = MethodObserver(locked)
    assert observer.key == observer.key
    assert observer.key != MethodObserver(locked).key
    assert Scaled(locked).key != Scaled(locked).key  # type: ignore[arg-type]
