"""Is a claimed epsilon contradicted?"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tapas.errors import ConfigError, StatisticsError
from tapas.results import AIAttackSummary
from tapas.stats import audit_claim, certificate, claim_power, epsilon_lower_bound


def responses(rng, n, epsilon):
    """Randomized response of known epsilon, with a second attack that guesses blindly."""
    labels = rng.integers(0, 2, n)
    honest = rng.random(n) < math.exp(epsilon) / (1 + math.exp(epsilon))
    answer = np.where(honest, labels, 1 - labels)
    scores = (answer + rng.random(n) / 10, rng.random(n))
    return [SimpleNamespace(labels=labels, predictions=answer, scores=s) for s in scores]


@pytest.mark.parametrize("split", [0.1, None])
def test_false_claims_are_contradicted_and_true_ones_not(split):
    summaries = responses(np.random.default_rng(1), 4000, 2.0)
    verdict = audit_claim(summaries, 1.0, validation_split=split)
    assert verdict.contradicted
    assert verdict.index == 0
    assert 1.0 < verdict.bound.value < 2.0
    assert verdict.words.startswith("The claim of epsilon 1 is contradicted: epsilon >= 1.")
    honest = audit_claim(summaries, 2.0, validation_split=split)
    assert not honest.contradicted
    assert "does not prove it" in honest.words
    assert (verdict.threshold is None) == (split is None)


def test_a_secret_of_three_values_has_no_claim_and_what_has_one_is_named():
    labels = np.tile(["flu", "copd", "cancer"], 10)
    summary = AIAttackSummary(labels, labels, sensitive_attribute="diagnosis")
    with pytest.raises(StatisticsError, match=r"more than two values.*attribute_values"):
        audit_claim([summary], 1.0)


def test_claims_above_the_ceiling_are_said_to_need_more_trials():
    verdict = audit_claim(responses(np.random.default_rng(1), 100, 1.0), 8.0)
    assert not verdict.contradicted
    assert "Run more trials" in verdict.words


def test_delta_is_part_of_the_claim():
    summaries = responses(np.random.default_rng(2), 2000, 1.0)
    assert audit_claim(summaries, 0.3).contradicted
    lenient = audit_claim(summaries, 0.3, 0.5)
    assert not lenient.contradicted
    assert "at delta 0.5" in lenient.words


def test_credible_bounds_never_contradict():
    summaries = responses(np.random.default_rng(3), 2000, 2.0)
    verdict = audit_claim(summaries, 0.5, method="bayes")
    assert verdict.bound.value > 0.5
    assert not verdict.contradicted


def test_pooled_targets_are_refused_with_and_without_a_split():
    summaries = responses(np.random.default_rng(4), 100, 2.0)
    for one in summaries:
        one.groups = np.arange(5).repeat(20)
    for split in (0.2, None):
        with pytest.raises(StatisticsError, match="not independent"):
            audit_claim(summaries, 1.0, validation_split=split)


def test_negative_claims_are_refused():
    with pytest.raises(StatisticsError, match="at least 0"):
        audit_claim(responses(np.random.default_rng(5), 100, 1.0), -1.0)


def test_who_has_no_score_counts_as_the_lowest():
    rng = np.random.default_rng(0)
    member = np.arange(400) % 2 == 0
    scores = rng.normal(size=400)
    scores[member & (rng.random(400) < 0.6)] = np.nan
    one = SimpleNamespace(labels=member, predictions=np.zeros(400), scores=scores)
    lowest = np.where(np.isnan(scores), -np.inf, scores)
    twin = SimpleNamespace(labels=member, predictions=np.zeros(400), scores=lowest)
    found = audit_claim(one, 0.5)
    assert found.contradicted
    assert found.bound == audit_claim(twin, 0.5).bound


def test_a_misspelled_family_or_method_is_told_with_those_there_are():
    labels = np.arange(40) % 2
    one = SimpleNamespace(labels=labels, predictions=labels, scores=labels * 1.0)
    doors = [
        lambda family: certificate(one, family=family),
        lambda family: audit_claim(one, 1.0, family=family),
        lambda family: audit_claim(one, 1.0, family=family, method="buehler"),
        lambda family: audit_claim(one, 1.0, family=family, validation_split=None),
        lambda family: epsilon_lower_bound(9, 10, 1, 10, family=family),
        lambda family: claim_power(1.0, 100, family=family),
    ]
    for door in doors:
        for wrong in ("gausian", "laplace"):
            with pytest.raises(StatisticsError, match=f"'gaussian', or None .* got '{wrong}'"):
                door(wrong)
    for split in (0.1, None):
        with pytest.raises(ConfigError, match="'portfolio', 'clopper-pearson'"):
            audit_claim(one, 1.0, method="buhler", validation_split=split)
