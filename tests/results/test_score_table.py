"""One result in four shapes; summaries are views of it and say how their trials depend."""

import numpy as np
import pytest

from tapas.errors import ConfigError
from tapas.game import MEMBERSHIP, PROPERTY, Goal
from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    MIAttackSummary,
    ScoreTable,
)


def table(releases, targets, goal=MEMBERSHIP, **more):
    rng = np.random.default_rng(releases * 10 + targets)
    values = np.array(goal.values or ("p", "q"))
    shape = (releases, targets)
    depth = () if len(values) == 2 else (len(values),)
    options = {
        "scores": rng.normal(size=shape + depth),
        "decisions": values[rng.integers(0, len(values), shape)],
        "secrets": values[rng.integers(0, len(values), shape)],
        "groups": np.arange(releases),
        "targets": tuple(f"t{j}" for j in range(targets)),
        "goal": goal,
        "relation": "replace",
        "mechanism": "M",
        "attack": "A",
        "data": "D",
    }
    return ScoreTable(**options | more)


def test_many_releases_give_one_summary_per_target() -> None:
    found = table(6, 3)
    assert [s.target_id for s in found.summaries()] == ["t0", "t1", "t2"]
    one = found.of_target(1)
    assert isinstance(one, MIAttackSummary)
    np.testing.assert_array_equal(one.scores, found.scores[:, 1])
    np.testing.assert_array_equal(one.labels, found.secrets[:, 1].astype(int))
    assert (one.generator, one.attack, one.dataset, one.relation) == ("M", "A", "D", "replace")
    assert {s.dependence for s in found.summaries()} == {"independent"}


def test_pairs_of_releases_stay_pairs() -> None:
    secrets = np.tile([[True], [False]], (3, 2))
    found = table(6, 2, secrets=secrets, groups=np.arange(6) // 2)
    assert {s.dependence for s in found.summaries()} == {"pairs"}
    assert found.of_target(0).groups.tolist() == [0, 0, 1, 1, 2, 2]


def test_one_release_of_many_records_is_one_summary() -> None:
    found = table(1, 5)
    (one,) = found.summaries()
    assert (one.target_id, one.dependence, len(one)) == ("all", "one release", 5)
    np.testing.assert_array_equal(one.scores, found.scores[0])
    assert found.of_target(2).dependence == "independent"


def test_coins_are_stated_where_records_share_a_release() -> None:
    for releases in (1, 3):
        (together,) = table(releases, 5, coins=True).summaries()
        assert (together.dependence, len(together)) == ("coins", 5 * releases)
    assert table(3, 5, coins=True).pooled().dependence == "coins"
    assert table(3, 5, coins=True).of_target(0).dependence == "independent"


def test_pooled_cells_of_several_releases_depend_in_groups() -> None:
    found = table(3, 4)
    pooled = found.pooled()
    assert pooled.dependence == "groups"
    assert pooled.groups.tolist() == np.repeat([0, 1, 2], 4).tolist()
    np.testing.assert_array_equal(pooled.labels, found.secrets.astype(int).reshape(-1))
    assert table(3, 1).pooled().target_id == "t0"


def test_a_single_cell_and_no_release_are_shapes_too() -> None:
    assert len(table(1, 1).summaries()[0]) == 1
    (empty,) = table(0, 1).summaries()
    assert (len(empty), empty.dependence) == (0, "independent")


SEX = Goal("attribute", "sex", ("F", "M"))
JOB = Goal("attribute", "job", ("x", "y", "z"))


def test_an_attribute_of_two_values_counts_the_second_as_positive() -> None:
    found = table(8, 1, SEX)
    one = found.of_target(0)
    assert isinstance(one, BinaryAIAttackSummary)
    np.testing.assert_array_equal(one.labels, (found.secrets[:, 0] == "M").astype(int))
    assert one.sensitive_attribute == "sex"
    deep = table(8, 1, SEX, scores=np.arange(16.0).reshape(8, 1, 2))
    assert deep.of_target(0).scores.tolist() == list(range(1, 16, 2))


def test_an_attribute_of_many_values_keeps_a_score_for_each() -> None:
    found = table(8, 2, JOB)
    one = found.of_target(1)
    assert isinstance(one, AIAttackSummary)
    assert one.attribute_values == ("x", "y", "z")
    np.testing.assert_array_equal(one.scores, found.scores[:, 1])
    pooled = found.pooled()
    np.testing.assert_array_equal(pooled.scores, found.scores.reshape(16, 3))


def test_values_that_are_not_known_are_those_that_occur() -> None:
    found = table(8, 1, Goal("attribute", "job", ()), scores=None)
    assert set(found.of_target(0).attribute_values) <= {"p", "q"}


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        (PROPERTY, BinaryLabelInferenceAttackSummary),
        (Goal("label"), BinaryLabelInferenceAttackSummary),
        (Goal("label", values=("a", "b")), LabelInferenceAttackSummary),
        (Goal("label", values=("a", "b", "c")), LabelInferenceAttackSummary),
    ],
)
def test_properties_and_labels_of_ones_own(goal, kind) -> None:
    found = table(8, 1, goal).of_target(0)
    assert type(found) is kind
    assert found.attack == "A"
    again = AttackSummary.from_json(found.to_json())
    assert (again.attack, again.accuracy) == ("A", found.accuracy)


def test_scores_may_be_missing() -> None:
    found = table(4, 2, scores=None)
    assert found.of_target(0).scores is None
    assert found.pooled().scores is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"decisions": np.zeros((4, 3))}, r"decisions must have one row per release.*\(4, 2\)"),
        ({"secrets": np.zeros(4)}, "secrets must have one row per release"),
        ({"groups": np.zeros((4, 2), dtype=int)}, "groups must be one integer per release"),
        ({"groups": np.linspace(0, 1, 4)}, "groups must be one integer per release"),
        ({"scores": np.zeros((4, 2, 5))}, "scores must have shape"),
        ({"scores": np.zeros((3, 2))}, "scores must have shape"),
    ],
)
def test_what_does_not_fit_is_refused(more, words) -> None:
    with pytest.raises(ConfigError, match=words):
        table(4, 2, **more)


def test_a_target_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="2 targets"):
        table(4, 2).of_target(2)
