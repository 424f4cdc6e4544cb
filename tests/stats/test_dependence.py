"""No certificate without independence: every door of the statistics reads what is stated."""

from types import SimpleNamespace

import numpy as np
import pytest

from tapas.errors import ConfigError, StatisticsError
from tapas.stats import (
    Dependence,
    attack_epsilon_high,
    audit_claim,
    certify,
    one_run_epsilon,
    select_threshold,
    shared_confidence,
)

REFUSED = ("one release", "groups", "unknown")


def responses(epsilon: float, size: int = 2000, seed: int = 0, **more: object) -> SimpleNamespace:
    """Fair coins answered by randomized response, whose epsilon is known."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    right = rng.random(size) < 1 / (1 + np.exp(-epsilon))
    guesses = np.where(right, labels, 1 - labels)
    return SimpleNamespace(labels=labels, predictions=guesses, scores=None, **more)


@pytest.mark.parametrize(
    ("secrets", "groups", "expected"),
    [
        ([0, 1, 0, 1], None, "independent"),
        ([0, 1, 0, 1], [4, 2, 3, 1], "independent"),
        ([0, 1, 0, 1], [0, 0, 1, 1], "pairs"),
        (["a", "b", "c", "a"], [0, 0, 0, 1], "pairs"),
        ([0, 1, 0, 1], [0, 0, 0, 0], "one release"),
        ([0, 0, 1, 1], [0, 0, 1, 1], "groups"),
        ([], [], "independent"),
    ],
)
def test_groups_say_how_trials_depend(secrets, groups, expected) -> None:
    assert Dependence.of_groups(secrets, groups) == expected


def test_a_statement_may_not_be_stronger_than_the_groups() -> None:
    for statement in ("independent", "pairs"):
        with pytest.raises(ConfigError, match="groups say one release"):
            Dependence.stated(statement, [0, 1, 0], [0, 0, 0])
    with pytest.raises(ConfigError, match="needs groups="):
        Dependence.stated("groups", [0, 1], None)
    with pytest.raises(ConfigError, match="dependence must be one of"):
        Dependence.stated("perhaps", [0, 1], None)
    assert Dependence.stated("unknown", [0, 1], None) is Dependence.UNKNOWN
    assert Dependence.stated("coins", [0, 1, 0], [0, 0, 0]) is Dependence.COINS


@pytest.mark.parametrize("dependence", REFUSED)
@pytest.mark.parametrize("split", [0.1, None])
def test_dependent_trials_certify_nothing_and_say_why(dependence, split) -> None:
    groups = np.arange(2000) // 10
    one = responses(3.0, dependence=dependence, groups=groups)
    reason = "not known" if dependence == "unknown" else "not independent"
    with pytest.raises(StatisticsError, match=reason):
        audit_claim(one, 1.0, validation_split=split)
    with pytest.raises(StatisticsError, match=reason):
        select_threshold(one)
    choice = select_threshold(responses(3.0))
    with pytest.raises(StatisticsError, match=reason):
        certify(choice, one)


def test_coins_are_certified_by_the_one_run_bound_on_the_decisions_as_given() -> None:
    one = responses(1.0, dependence="coins", groups=np.zeros(2000, dtype=int))
    right = int(np.sum(one.labels == one.predictions))
    expected = one_run_epsilon(2000, 2000, right, delta=1e-6)
    for split in (0.1, None):
        verdict = audit_claim(one, 0.5, 1e-6, validation_split=split)
        assert verdict.bound.value == pytest.approx(expected.value)
        assert verdict.bound.method == "one-run"
        assert verdict.contradicted


def test_several_attacks_on_coins_are_chosen_between_on_records_that_do_not_certify() -> None:
    weak, strong = responses(0.1, dependence="coins"), responses(2.0, dependence="coins")
    choice = select_threshold([weak, strong], validation_split=0.2)
    assert choice.index == 1
    assert choice.remaining.sum() == 1600
    rest = choice.remaining
    right = int(np.sum((strong.labels == strong.predictions)[rest]))
    assert certify(choice, [weak, strong]) == one_run_epsilon(1600, 1600, right)


def test_coins_exceed_the_true_epsilon_in_few_audits() -> None:
    values = [
        float(audit_claim(responses(1.0, 400, seed, dependence="coins"), 0.0).bound)
        for seed in range(300)
    ]
    assert np.mean(np.array(values) > 1.0) < 0.08
    assert np.median(values) > 0.7


def test_bonferroni_covers_attacks_without_choosing_between_them() -> None:
    summaries = [responses(e, seed=i) for i, e in enumerate([0.0, 2.0, 0.0])]
    verdict = audit_claim(summaries, 1.0, across="bonferroni")
    level = shared_confidence(0.95, 3)
    alone = audit_claim(summaries[1], 1.0, confidence=level)
    assert (verdict.index, verdict.bound.value) == (1, alone.bound.value)
    assert verdict.bound.confidence == 0.95
    assert verdict.threshold == alone.threshold


@pytest.mark.parametrize("dependence", ["independent", "coins"])
@pytest.mark.parametrize("epsilon", [-1.5, 0.0, 0.05, 1.0])
def test_the_upper_end_is_never_below_the_lower_one_nor_below_zero(dependence, epsilon) -> None:
    one = responses(epsilon, 300, 3, dependence=dependence)
    choice = select_threshold(one)
    bound = certify(choice, one)
    assert attack_epsilon_high(choice, one, bound) >= float(bound) >= 0


def test_the_upper_end_looks_at_both_directions() -> None:
    labels = np.repeat([1, 0], 1000)
    # Members are never told; of the others a half is: only the complement shows anything.
    scores = np.concatenate([np.ones(1000), np.arange(1000) % 2])
    one = SimpleNamespace(labels=labels, predictions=labels, scores=scores)
    order = np.random.default_rng(0).permutation(2000)
    one = SimpleNamespace(labels=labels[order], predictions=labels[order], scores=scores[order])
    choice = select_threshold(one)
    assert attack_epsilon_high(choice, one, certify(choice, one)) == np.inf


def test_limits_share_the_error() -> None:
    assert shared_confidence(0.95, 1) == 0.95
    assert shared_confidence(0.9, 4) == pytest.approx(0.975)
    with pytest.raises(ConfigError, match="number"):
        shared_confidence(0.95, 0)
