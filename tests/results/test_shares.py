"""What is said of the share that a model in question is taken to have."""

import numpy as np

from tapas.results import BinaryLabelInferenceAttackSummary, ShareAnswer
from tapas.results._shares import _is_unlike

SHARES = (0.3, 0.7)


def test_a_model_like_the_test_models_is_called_unlike_as_often_as_is_said() -> None:
    rng, labels, runs = np.random.default_rng(0), [0] * 10 + [1] * 20, 1000
    found = 0
    for _ in range(runs):
        scores = rng.normal(size=31)
        summary = BinaryLabelInferenceAttackSummary(labels, labels, scores[:-1])
        found += _is_unlike(summary, SHARES, ShareAnswer("a", 0.7, (scores[-1],)))
    expected = runs * 2 / 21
    assert abs(found - expected) < 4 * np.sqrt(expected)


def test_of_few_test_models_nothing_is_said() -> None:
    summary = BinaryLabelInferenceAttackSummary([0] * 18 + [1], [0] * 18 + [1], np.zeros(19))
    assert not _is_unlike(summary, SHARES, ShareAnswer("a", 0.3, (9.0,)))
