"""Boards are cut by target and by release without mixing anything up."""

from typing import Any

import numpy as np
import pytest
from toy_games import Toy

from tapas.game import MEMBERSHIP, Board, Goal, Setting, judge, learning_parts


def board(judged: list[bool], *, releases: int = 4, shared: bool = False) -> Board:
    """Observations that say where they stand: release * 10 + target."""
    targets = len(judged)
    cells = np.arange(releases)[:, None] * 10 + np.arange(targets)
    return Board(
        values=cells[:, :1] if shared else cells,
        secrets=cells % 2 == 0,
        groups=np.arange(releases) // 2,
        goal=MEMBERSHIP,
        judged=np.array(judged),
    )


def test_one_target_is_a_column() -> None:
    whole = board([True, True, True])
    part = whole.of_target(1)
    assert part.values.tolist() == [[1], [11], [21], [31]]
    assert part.secrets.tolist() == [[False]] * 4
    assert part.groups.tolist() == [0, 0, 1, 1]
    assert (part.num_targets, len(part)) == (1, 4)
    assert whole.num_targets == 3


def test_observations_that_all_targets_share_stay_whole() -> None:
    part = board([True, True, True], shared=True).of_targets(np.array([False, True, True]))
    assert part.values.tolist() == [[0], [10], [20], [30]]
    assert part.secrets.shape == (4, 2)
    assert part.of_target(1).values.tolist() == part.values.tolist()


def test_a_single_target_is_not_taken_for_a_shared_observation() -> None:
    part = board([True]).of_targets(np.array([], dtype=int))
    assert part.values.shape == part.secrets.shape == (4, 0)


def test_further_axes_go_along() -> None:
    whole = board([True, True])
    deep = Board(
        np.stack([whole.values, -whole.values], axis=-1),
        whole.secrets,
        whole.groups,
        whole.goal,
        whole.judged,
    )
    assert deep.of_target(1).values.tolist() == [[[1, -1]], [[11, -11]], [[21, -21]], [[31, -31]]]


def test_some_releases_keep_their_groups() -> None:
    part = board([True, False]).of_releases(np.array([0, 3]))
    assert part.values.tolist() == [[0, 1], [30, 31]]
    assert part.groups.tolist() == [0, 1]
    assert part.judged.tolist() == [True, False]
    assert len(board([True]).of_releases(slice(1, 3))) == 2


def test_references_are_the_judged_and_rehearsal_the_others() -> None:
    mixed = board([True, False, True, False])
    assert not mixed.is_about_judged
    assert mixed.references.values[0].tolist() == [0, 2]
    assert mixed.rehearsal.values[0].tolist() == [1, 3]
    assert mixed.references.is_about_judged
    assert not mixed.rehearsal.judged.any()


def test_without_others_the_judged_are_rehearsed_on() -> None:
    whole = board([True, True])
    assert whole.is_about_judged
    assert whole.references is whole
    assert whole.rehearsal is whole


def test_shared_observations_serve_references_and_rehearsal() -> None:
    mixed = board([True, False, False], shared=True)
    assert mixed.references.values.tolist() == mixed.rehearsal.values.tolist()
    assert (mixed.references.num_targets, mixed.rehearsal.num_targets) == (1, 2)


def test_an_empty_board_has_a_goal_and_nothing_else() -> None:
    goal = Goal("attribute", "Sex", ("female", "male"))
    empty = Board.empty(goal)
    assert (len(empty), empty.num_targets, empty.goal) == (0, 0, goal)


# -- learning and judging ------------------------------------------------------------------------


class Learns:
    """As much of an attack as is asked how it learns."""

    def __init__(self, pools_targets: bool) -> None:
        self.pools_targets = pools_targets


@pytest.mark.parametrize("pools", [False, True])
@pytest.mark.parametrize("offers", [{}, {"coins": True}, {"test": 1}, {"test": 2}], ids=str)
def test_targets_are_learnt_one_by_one_unless_something_joins_them(
    pools: bool, offers: dict[str, Any]
) -> None:
    class Game(Toy):
        @property
        def setting(self) -> Setting:
            return Setting("Toy", "table", MEMBERSHIP, **offers)

    parts = learning_parts(Learns(pools), Game(targets=3))  # type: ignore[arg-type]
    if pools or offers in ({"coins": True}, {"test": 1}):
        assert parts == [slice(None)]
    else:
        assert parts == [slice(0, 1), slice(1, 2), slice(2, 3)]


def test_judging_scores_every_cell_and_decides_by_the_score() -> None:
    class Scorer:
        def score(self, values: np.ndarray) -> np.ndarray:
            return -values

        def decide(self, scores: np.ndarray) -> np.ndarray:
            return scores < -15

    asked = board([True, True])
    said = judge(Scorer(), asked)
    assert said.board is asked
    assert said.scores is not None
    assert said.scores.tolist() == (-asked.values).tolist()
    assert said.decisions.tolist() == [[False, False], [False, False], [True, True], [True, True]]


def test_what_is_the_same_for_all_targets_is_judged_for_each() -> None:
    class Scorer:
        def score(self, values: np.ndarray) -> np.ndarray:
            return values

        def decide(self, scores: np.ndarray) -> np.ndarray:
            return scores > 0

    asked = board([True, True, True], shared=True)
    said = judge(Scorer(), asked)
    assert said.scores is not None
    assert said.scores.shape == said.decisions.shape == asked.secrets.shape
    assert (said.scores == asked.values).all()
