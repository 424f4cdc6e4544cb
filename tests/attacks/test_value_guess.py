"""Guesses among several values against Bayes' rule and against the prior."""

import numpy as np
import pytest
from scipy.special import softmax

from tapas.attacks._value_guess import ValueGuess

SHARES = np.array([0.9, 0.07, 0.03])


def drawn(scale: float, trials: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Scores of which the true value's logits stand `scale` above the others, and who is true."""
    rng = np.random.default_rng(0)
    true = np.eye(3, dtype=bool)[rng.choice(3, trials, p=SHARES)]
    return rng.normal(size=(trials, 3)) + scale * true, true


def test_the_guess_is_that_of_bayes_rule() -> None:
    # Normal scores with means 0 and 2 have 2 logits for each unit.
    scores, true = drawn(2.0)
    guess = ValueGuess.learnt(scores, true)
    assert guess.scale == pytest.approx(2, rel=0.05)
    np.testing.assert_allclose(np.exp(guess.log_shares), SHARES, atol=0.01)
    best = softmax(2 * scores + np.log(SHARES), axis=1).argmax(axis=1)
    assert np.mean(guess(scores) == best) > 0.995
    assert np.mean(true[np.arange(len(true)), guess(scores)]) > 0.9 + 0.01


def test_scores_that_tell_nothing_leave_the_most_common_value() -> None:
    scores, true = drawn(0.0, 300)
    assert (ValueGuess.learnt(scores, true)(scores) == 0).all()
    assert (ValueGuess.learnt(np.zeros((9, 3)), true[:9])(scores) == 0).all()
    assert (ValueGuess.learnt(-drawn(2.0)[0], drawn(2.0)[1])(scores) == 0).all()


def test_scores_that_tell_all_are_followed() -> None:
    true = np.eye(3, dtype=bool)[np.arange(90) % 3 * (np.arange(90) % 9 == 0)]
    guess = ValueGuess.learnt(true.astype(float), true)
    assert (guess(true.astype(float)) == true.argmax(axis=1)).all()
    assert np.isfinite(guess.scale)
