"""Probabilities from scores: against the closed form, the naive twin, and nothing to find."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from tapas.errors import StatisticsError
from tapas.stats import venn_abers


def _gaussian_scores(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.random(number) < 0.5
    return rng.normal(2.0 * labels), labels


@pytest.mark.parametrize("prior", [0.5, 0.05])
def test_probabilities_are_those_of_bayes(prior: float) -> None:
    scores, labels = _gaussian_scores(0, 20_000)
    asked = np.linspace(-1.0, 3.0, 41)
    probability, low, high = venn_abers(scores, labels, asked, prior=prior)
    # N(2, 1) against N(0, 1): log odds are 2 (s - 1), plus those of the prior
    exact = 1 / (1 + (1 - prior) / prior * np.exp(-2 * (asked - 1)))
    assert np.abs(probability - exact).max() < 0.1
    assert np.abs(probability - exact).mean() < 0.015
    assert (low <= probability).all()
    assert (probability <= high).all()


def test_ends_are_those_of_isotonic_regression_with_the_score_added() -> None:
    scores, labels = _gaussian_scores(1, 60)
    scores = scores.round(1)  # with ties
    asked = np.concatenate([scores[:5], [-9.0, 0.123, 9.0]])
    _, low, high = venn_abers(scores, labels, asked)
    for value, *ends in zip(asked, low, high, strict=True):
        for label, end in enumerate(ends):
            twin = IsotonicRegression().fit(np.append(scores, value), np.append(labels, label))
            assert end == pytest.approx(twin.predict([value])[0])


def test_scores_that_say_nothing_leave_the_prior() -> None:
    rng = np.random.default_rng(2)
    labels = rng.random(4_000) < 0.5
    probability, _, _ = venn_abers(rng.normal(size=4_000), labels, rng.normal(size=500), prior=0.2)
    assert probability.mean() == pytest.approx(0.2, abs=0.02)
    assert ((probability > 0.12) & (probability < 0.3)).mean() > 0.9


def test_one_label_is_refused() -> None:
    with pytest.raises(StatisticsError, match="both labels"):
        venn_abers([0.0, 1.0], [True, True], [0.5])
