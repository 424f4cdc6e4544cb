"""Selection on one part, certification on the other."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tapas.errors import ConfigError, StatisticsError
from tapas.stats import certify, epsilon_lower_bound, select_threshold


def summary(labels, scores, predictions=None, **more):
    labels = np.asarray(labels)
    guesses = labels if predictions is None else predictions
    return SimpleNamespace(labels=labels, scores=scores, predictions=guesses, **more)


def laplace(rng, n, epsilon=1.0, **more):
    labels = rng.integers(0, 2, n)
    return summary(labels, labels + rng.laplace(scale=1 / epsilon, size=n), **more)


def naive_selection(summaries, split, delta):
    """One Clopper-Pearson call per attack, threshold and direction."""
    best = (-math.inf, None, None)
    for index, one in enumerate(summaries):
        first = int(split * len(one.labels))
        labels, scores = np.asarray(one.labels)[:first], one.scores[:first]
        for threshold in np.unique(scores):
            event = scores >= threshold
            bound = epsilon_lower_bound(
                int((event & (labels == 1)).sum()),
                int((labels == 1).sum()),
                int((event & (labels == 0)).sum()),
                int((labels == 0).sum()),
                confidence=0.9,
                delta=delta,
            )
            best = max(best, (bound.value, index, threshold))
    return best


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_selection_equals_a_loop_over_attacks_and_thresholds(delta):
    rng = np.random.default_rng(0)
    summaries = [laplace(rng, 400, epsilon) for epsilon in (0.2, 2.0, 1.0)]
    choice = select_threshold(summaries, validation_split=0.5, delta=delta)
    value, index, threshold = naive_selection(summaries, 0.5, delta)
    assert choice.estimate == pytest.approx(value)
    assert (choice.index, choice.threshold) == (index, threshold)


def test_certificate_is_clopper_pearson_on_the_trials_not_seen():
    one = laplace(np.random.default_rng(1), 500, 2.0)
    choice = select_threshold(one, validation_split=0.2)
    assert choice.remaining.sum() == 400
    assert not choice.remaining[:100].any()
    labels, event = one.labels[100:], one.scores[100:] >= choice.threshold
    twin = epsilon_lower_bound(
        event[labels == 1].sum(), (labels == 1).sum(), event[labels == 0].sum(), (labels == 0).sum()
    )
    assert certify(choice, one) == twin


def test_choice_does_not_change_with_the_trials_it_may_not_see():
    one = laplace(np.random.default_rng(2), 300)
    choice = select_threshold(one, validation_split=0.3)
    other = summary(one.labels, np.where(choice.remaining, -one.scores, one.scores))
    again = select_threshold(other, validation_split=0.3)
    assert (again.threshold, again.direction) == (choice.threshold, choice.direction)


def test_groups_are_never_divided():
    rng = np.random.default_rng(3)
    labels = np.tile([0, 1], 50)
    groups = rng.permutation(50).repeat(2)
    one = summary(labels, labels + rng.normal(size=100), groups=groups)
    choice = select_threshold(one, validation_split=0.25)
    assert set(groups[choice.remaining]).isdisjoint(groups[~choice.remaining])
    assert (~choice.remaining).sum() == 24


def test_groups_far_apart_stay_together_too():
    groups = np.concatenate([np.arange(20), np.arange(20)])
    labels = np.repeat([0, 1], 20)
    choice = select_threshold(summary(labels, labels.astype(float), groups=groups))
    assert set(groups[choice.remaining]).isdisjoint(groups[~choice.remaining])


def test_inverse_direction_is_found_where_the_complement_tells():
    # No member scores below 0; a third of the others do: TNR / FNR is what leaks.
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 2000)
    low = (labels == 0) & (rng.random(2000) < 0.3)
    scores = np.where(low, -1.0, 1.0) * rng.random(2000)
    choice = select_threshold(summary(labels, scores))
    assert choice.direction == "inverse"
    assert certify(choice, summary(labels, scores)).value > 2
    mirrored = select_threshold(summary(1 - labels, -scores))
    assert mirrored.direction == "direct"


def test_predictions_serve_where_scores_are_absent():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 1000)
    predictions = np.where(rng.random(1000) < 0.9, labels, 1 - labels)
    one = summary(labels, None, predictions=predictions)
    choice = select_threshold(one)
    assert choice.threshold == 1.0
    assert certify(choice, one).value > 1.5


@pytest.mark.parametrize("heuristic", ["cp", "ratio"])
def test_labels_sorted_by_world_still_leave_both_worlds_to_choose_from(heuristic):
    labels = np.repeat([0, 1], 200)
    scores = labels + np.random.default_rng(6).normal(scale=0.2, size=400)
    one = summary(labels, scores)
    choice = select_threshold(one, heuristic=heuristic)
    assert 0 < labels[~choice.remaining].mean() < 1
    assert certify(choice, one).value > 2


@pytest.mark.parametrize("heuristic", ["cp", "ratio"])
@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([0, 1], [0.0, 1.0]),
        ([1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4]),
        ([0, 0, 0], [1.0, 1.0, 1.0]),
        ([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], [1.0] * 12),
        ([0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 9.0]),
    ],
)
def test_tiny_tied_and_one_sided_trials_give_zero_and_no_crash(labels, scores, heuristic):
    one = summary(labels, np.asarray(scores))
    choice = select_threshold(one, heuristic=heuristic)
    assert choice.remaining.any()
    assert certify(choice, one).value == 0.0


def test_infinite_scores_are_thresholds_like_others():
    labels = np.tile([0, 1], 100)
    one = summary(labels, np.where(labels == 1, np.inf, -np.inf))
    choice = select_threshold(one)
    assert choice.threshold == math.inf
    assert certify(choice, one).value == certify(choice, one).ceiling


def test_ratio_does_not_chase_events_seen_once():
    rng = np.random.default_rng(7)
    one = laplace(rng, 2000)
    choice = select_threshold(one, validation_split=0.5, heuristic="ratio")
    seen = one.scores[~choice.remaining]
    side = seen >= choice.threshold if choice.direction == "direct" else seen < choice.threshold
    assert side.sum() >= 10


def test_attacks_with_fewer_trials_do_not_leak_through_longer_ones():
    rng = np.random.default_rng(8)
    short, long = laplace(rng, 100), laplace(rng, 1000, 4.0)
    choice = select_threshold([short, long])
    assert choice.index == 1
    assert (~choice.remaining).sum() == 10


def test_too_few_trials_and_bad_input_are_refused_with_a_remedy():
    with pytest.raises(StatisticsError, match="run more trials"):
        select_threshold(summary([1], np.array([0.5])))
    with pytest.raises(StatisticsError, match="at least one summary"):
        select_threshold([])
    with pytest.raises(StatisticsError, match="map the positive value to 1"):
        select_threshold(summary(["yes", "no"], np.array([0.5, 0.1])))
    with pytest.raises(StatisticsError, match="one length"):
        select_threshold(summary([0, 1, 1], np.array([0.5, 0.1])))
    with pytest.raises(ConfigError, match="validation_split"):
        select_threshold(summary([0, 1], np.array([0.5, 0.1])), validation_split=1.0)
    with pytest.raises(ConfigError, match="heuristic"):
        select_threshold(summary([0, 1], np.array([0.5, 0.1])), heuristic="luck")


def test_choice_must_be_certified_on_its_own_summaries():
    one = laplace(np.random.default_rng(9), 50)
    choice = select_threshold(one)
    with pytest.raises(StatisticsError, match="selected from"):
        certify(choice, laplace(np.random.default_rng(9), 60))


def test_pairs_are_certified_by_clopper_pearson_only():
    labels = np.tile([0, 1], 100)
    one = summary(labels, labels.astype(float), groups=np.arange(100).repeat(2))
    choice = select_threshold(one)
    assert certify(choice, one).value > 3
    with pytest.raises(StatisticsError, match="unpaired"):
        certify(choice, one, method="buehler")


def test_pooled_targets_of_one_release_are_refused():
    labels = np.tile([0, 1], 100)
    one = summary(labels, labels.astype(float), groups=np.arange(20).repeat(10))
    with pytest.raises(StatisticsError, match="not independent"):
        select_threshold(one)
    choice = select_threshold(summary(labels, labels.astype(float)))
    with pytest.raises(StatisticsError, match="not independent"):
        certify(choice, one)


def test_relation_of_the_summary_is_recorded():
    one = laplace(np.random.default_rng(10), 100, relation="add/remove")
    choice = select_threshold(one)
    assert certify(choice, one).relation == "add/remove"
    assert certify(choice, one, relation="replace").relation == "replace"


def test_an_event_that_tells_nothing_is_not_chosen_where_no_bound_is_in_sight():
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(40):
        one = laplace(rng, 2_000, 0.1)
        choice = select_threshold(one)
        shares.append(np.mean(one.scores >= choice.threshold))
    assert np.mean((np.array(shares) < 0.01) | (np.array(shares) > 0.99)) < 0.1
