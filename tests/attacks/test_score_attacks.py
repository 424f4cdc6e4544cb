"""Statistics of scores, and attacks on them, against naive twins and models of known leakage."""

import numpy as np
import pytest
from model_boards import RNG, fitted, known, observed, overfitted
from scipy.special import expit, ndtr, softmax
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._quantile import QuantileMIA
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._score_attacks import (
    ConfidenceMIA,
    EntropyMIA,
    LossMIA,
    ModifiedEntropyMIA,
)
from tapas.attacks.models._score_statistics import clip_for, logits, softened, statistics_of
from tapas.errors import NotTrainedError


def test_score_statistics_equal_a_naive_twin() -> None:
    rng = RNG(0)
    probabilities = rng.dirichlet(np.ones(4), 30)
    probabilities[0] = [1, 0, 0, 0]
    codes = rng.integers(0, 4, 30)
    codes[0] = 0
    found = statistics_of(probabilities, codes)
    for row, (p, y) in enumerate(zip(probabilities, codes, strict=True)):
        others = [p[c] for c in range(4) if c != y]
        entropy = sum(v * np.log(v) for v in p if v > 0)
        first = (1 - p[y]) * np.log(p[y]) if p[y] < 1 else 0.0
        modified = first + sum(v * np.log(1 - v) for v in others)
        expected = [y, p[y], sum(others), max(p), entropy, modified, np.argmax(p)]
        expected += [sum(v ** (1 / t) for v in others) for t in (2, 4)]
        np.testing.assert_allclose(found[row], expected, atol=1e-12)


def test_logits_keep_precision_where_a_probability_is_almost_one() -> None:
    probabilities = np.array([[1.0, 1e-30, 1e-25]])
    assert logits(statistics_of(probabilities, np.array([0])), 1e-300)[0] == pytest.approx(
        -np.log(1e-25 + 1e-30)
    )


@pytest.mark.parametrize("temperature", [1, 2, 4])
def test_softened_probabilities_are_a_softmax_over_the_temperature(temperature: int) -> None:
    values = RNG(0).normal(0, 3, (40, 5))
    codes = RNG(1).integers(0, 5, 40)
    found = softened(statistics_of(softmax(values, axis=1), codes), temperature, 1e-12)
    expected = softmax(values / temperature, axis=1)[np.arange(40), codes]
    np.testing.assert_allclose(found, expected)


def test_the_clip_follows_the_steps_of_the_probabilities() -> None:
    forest = np.arange(101) / 100
    steps = statistics_of(np.stack([forest, 1 - forest], axis=1), np.zeros(101, dtype=int))
    assert clip_for(steps) == pytest.approx(0.005)
    few = np.arange(21) / 20
    steps = statistics_of(np.stack([few, 1 - few], axis=1), np.zeros(21, dtype=int))
    assert clip_for(steps) == pytest.approx(0.025)
    tree = statistics_of(np.eye(2), np.zeros(2, dtype=int))
    assert clip_for(tree) == 0.005
    assert clip_for(observed(RNG(0).normal(0, 5, (1, 100)))) < 1e-9


@pytest.mark.parametrize("attack", [LossMIA, ConfidenceMIA, EntropyMIA, ModifiedEntropyMIA])
def test_score_attacks_rank_confident_and_right_records_first(attack: type) -> None:
    rows = observed(np.array([[-1.0, 0.5, 2.0, 6.0]]))
    right = attack().raw_score(rows)[0, 1:]
    assert (np.diff(right) > 0).all()
    if attack in (LossMIA, ModifiedEntropyMIA):
        assert attack().raw_score(rows)[0, 0] < right[0]


def test_thresholds_per_class_beat_a_global_one_where_classes_differ() -> None:
    rng = RNG(1)
    codes = rng.integers(0, 2, 4000)
    members = rng.random(4000) < 0.5
    logit = 6.0 * codes + 1.5 * members + rng.standard_normal(4000) - 3
    p = expit(logit)
    rows = np.where((codes == 0)[:, None], np.stack([p, 1 - p], 1), np.stack([1 - p, p], 1))
    seen = statistics_of(rows, codes)[None]
    learnt, judged = slice(0, 2000), slice(2000, None)
    accuracy = {}
    for per_class in (False, True):
        scorer = fitted(LossMIA(per_class=per_class), known(seen[:, learnt], members[None, learnt]))
        guesses = scorer.decide(scorer.score(seen[:, judged]))[0]
        accuracy[per_class] = (guesses == members[judged]).mean()
    # One threshold serves one class and guesses the other blindly; three standard errors of 2,000
    # records are 0.033.
    best = ndtr(1.5 / 2)
    assert accuracy[True] == pytest.approx(best, abs=0.034)
    assert accuracy[False] == pytest.approx((best + 0.5) / 2, abs=0.034)


def test_a_class_with_few_known_records_keeps_the_global_threshold() -> None:
    rng = RNG(0)
    codes = np.array([0] * 100 + [1] * 4)
    members = np.arange(104) % 2 == 0
    p = rng.random(104)
    rows = np.where((codes == 0)[:, None], np.stack([p, 1 - p], 1), np.stack([1 - p, p], 1))
    scorer = fitted(LossMIA(per_class=True), known(statistics_of(rows, codes)[None], members[None]))
    assert set(scorer.of_classes) == {0}


def test_an_untrained_attack_says_so() -> None:
    members, _ = overfitted()
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    for attack in (LossMIA(), LiRA(), RMIA(), CalibratedLossMIA(), QuantileMIA(), BlackBoxMIA()):
        with pytest.raises(NotTrainedError, match="train"):
            attack.attack_score([model])
