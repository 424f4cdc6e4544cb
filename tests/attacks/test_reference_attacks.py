"""Attacks with reference models against closed forms, naive twins and published figures."""

import numpy as np
import pytest
from model_boards import RNG, fitted, gaussian_game, observed, references
from scipy.special import ndtr, ndtri, softmax
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._reference_attack import masked_moments, rehearsed, without_pair_of
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._score_statistics import logits, statistics_of
from tapas.attacks.models._variance_prior import variance_prior
from tapas.errors import ConfigError
from tapas.metrics import auc
from tapas.threat_models import ModelMIA


def test_masked_moments_equal_a_naive_twin() -> None:
    rng = RNG(0)
    values, chosen = rng.standard_normal((6, 20)), rng.random((6, 20)) < 0.5
    chosen[:, 0] = False
    number, mean, squares = masked_moments(values, chosen)
    for record in range(1, 20):
        own = values[chosen[:, record], record]
        if len(own):
            assert (number[record], mean[record]) == (len(own), pytest.approx(own.mean()))
            assert squares[record] == pytest.approx(((own - own.mean()) ** 2).sum())
    assert mean[0] == pytest.approx(mean[number > 0].mean())


def test_lira_reaches_the_optimal_roc_of_a_gaussian_game() -> None:
    gap = 1.5
    seen, inside, target, members = gaussian_game(6000, 64, 0, gap)
    scorer = fitted(LiRA(variance="pooled"), references(seen, inside))
    scores = scorer.score(target)[0]
    # Neyman-Pearson: the gap in standard deviations fixes the whole curve. The means of 32
    # references each are known to 1/32 of the variance only.
    slope = gap / np.sqrt(1 + 1 / 32)
    assert auc(members, scores) == pytest.approx(ndtr(slope / np.sqrt(2)), abs=0.015)
    for fpr in (0.01, 0.1, 0.3):
        threshold = np.quantile(scores[~members], 1 - fpr)
        optimal = ndtr(slope - ndtri(1 - fpr))
        assert (scores[members] > threshold).mean() == pytest.approx(optimal, abs=0.05)
    guesses = scorer.decide(scores[None])[0]
    assert (guesses == members).mean() == pytest.approx(ndtr(slope / 2), abs=0.02)


def test_reference_attacks_agree_with_their_formulae() -> None:
    seen, inside, target, _ = gaussian_game(50, 8, 3)
    phi, value = logits(seen, 1e-12), logits(target, 1e-12)[0]
    outside_mean = np.array([phi[~inside[:, j], j].mean() for j in range(50)])
    board = references(seen, inside)
    calibrated = fitted(CalibratedLossMIA(clip=1e-12), board).score(target)[0]
    np.testing.assert_allclose(calibrated, value - outside_mean)
    p, q = seen[..., 1], target[0, :, 1]
    mean_in = np.array([p[inside[:, j], j].mean() for j in range(50)])
    mean_out = np.array([p[~inside[:, j], j].mean() for j in range(50)])
    online = fitted(RMIA(gamma=1, temperature=1), board)
    population = online.comparison.population
    ratio = np.log(q / ((mean_in + mean_out) / 2))
    np.testing.assert_array_equal(np.argsort(online.score(target)[0]), np.argsort(ratio))
    share = (ratio[:, None] > population).mean(axis=1)
    np.testing.assert_allclose(online.score(target)[0], share, atol=1 / len(population))
    offline = fitted(RMIA("offline", a=0.6, temperature=1), board)
    ratio = np.log(q / ((1.6 * mean_out + 0.4) / 2))
    np.testing.assert_array_equal(np.argsort(offline.score(target)[0]), np.argsort(ratio))


def naive_rmia(
    asked: np.ndarray, references: np.ndarray, inside: np.ndarray, codes: np.ndarray, a: float
) -> np.ndarray:
    """Offline, with temperature 2 and gamma 2, record by record and pair by pair.

    References come in pairs on complementary halves, one after the other; a record outside a
    reference stands for the population, judged by all references but that pair.
    """

    def confidence(probabilities: np.ndarray, record: int) -> float:
        return softmax(np.log(probabilities) / 2)[codes[record]]

    def ratio(probabilities: np.ndarray, record: int, models: list[int]) -> float:
        outside = [
            confidence(references[model, record], record)
            for model in models
            if not inside[model, record]
        ]
        both_worlds = ((1 + a) * np.mean(outside) + (1 - a)) / 2
        return confidence(probabilities, record) / both_worlds

    number, records = inside.shape
    population = [
        ratio(references[model, z], z, [m for m in range(number) if m // 2 != model // 2])
        for model in range(number)
        for z in range(records)
        if not inside[model, z]
    ]
    scores = []
    for x in range(records):
        own = ratio(asked[x], x, list(range(number)))
        beaten = sum(own / other > 2 for other in population)
        scores.append((beaten + 0.5 + np.arctan(np.log(own)) / np.pi) / (len(population) + 1))
    return np.array(scores)


@pytest.mark.parametrize("a", [0.0, 0.4, 1.0])
def test_offline_rmia_as_published_equals_a_naive_twin(a: float) -> None:
    rng = RNG(6)
    number, records, classes = 8, 30, 4
    half = rng.random((number // 2, records)) < 0.5
    inside = np.stack([half, ~half], axis=1).reshape(number, records)
    codes = rng.integers(0, classes, records)
    found = rng.normal(size=(number + 1, records, classes))
    members = np.vstack([inside, rng.random((1, records)) < 0.5])
    found[..., np.arange(records), codes] += 3 * members
    probabilities = softmax(found, axis=-1)
    statistics = np.stack([statistics_of(one, codes) for one in probabilities])
    board = references(statistics[:-1], inside)
    scorer = fitted(RMIA("offline", gamma=2, a=a, temperature=2, clip=1e-12), board)
    expected = naive_rmia(probabilities[-1], probabilities[:-1], inside, codes, a)
    assert np.ptp(expected) > 0.2
    np.testing.assert_allclose(scorer.score(statistics[-1:])[0], expected, rtol=1e-10)


def test_lira_variances_agree_with_their_formulae() -> None:
    from scipy.stats import norm, t

    seen, inside, target, _ = gaussian_game(40, 8, 4)
    board = references(seen, inside)
    phi, value = logits(seen, 1e-12), logits(target, 1e-12)[0]

    def parts(chosen: np.ndarray) -> tuple:
        own = [phi[chosen[:, j], j] for j in range(40)]
        squares = np.array([((o - o.mean()) ** 2).sum() for o in own])
        pooled = squares.sum() / sum(len(o) - 1 for o in own)
        return np.array([o.mean() for o in own]), squares, pooled

    def density(kind: str, chosen: np.ndarray) -> np.ndarray:
        mean, squares, pooled = parts(chosen)
        if kind == "pooled":
            return norm.logpdf(value, mean, np.sqrt(pooled))
        if kind == "per-record":
            return norm.logpdf(value, mean, np.sqrt(squares / 3))
        sigma = np.sqrt((4 * pooled + squares) / 7)
        return t.logpdf(value, 7, mean, sigma * np.sqrt(1 + 1 / 4))

    for kind in ("pooled", "per-record", "shrunk"):
        scorer = fitted(LiRA(variance=kind, clip=1e-12), board)
        expected = density(kind, inside) - density(kind, ~inside)
        np.testing.assert_allclose(scorer.score(target)[0], expected, rtol=1e-6)
    mean, _, pooled = parts(~inside)
    offline = fitted(LiRA("offline", "pooled", clip=1e-12), board)
    np.testing.assert_allclose(
        offline.score(target)[0], norm.logcdf(value, mean, np.sqrt(pooled)), rtol=1e-6
    )


def test_lira_shrinks_variances_as_much_as_they_agree() -> None:
    rng = RNG(0)
    weight, common = 6.0, 2.5
    variances = weight * common / rng.chisquare(weight, 20_000)
    squares = variances * rng.chisquare(7, 20_000)
    found = variance_prior(squares, np.full(20_000, 7))
    assert found == pytest.approx((weight, common), rel=0.1)
    alike = variance_prior(common * rng.chisquare(7, 20_000), np.full(20_000, 7))
    assert alike[0] > 100
    assert alike[1] == pytest.approx(common, rel=0.05)
    assert variance_prior(np.zeros(3), np.zeros(3))[1] > 0


@pytest.mark.parametrize(("number", "favoured"), [(4, "shrunk"), (16, "agreed")])
def test_lira_takes_the_variance_that_rehearsals_favour(number: int, favoured: str) -> None:
    rng = RNG(2)
    inside = rng.random((number // 2, 800)) < 0.5
    inside = np.stack([inside, ~inside], axis=1).reshape(number, 800)
    noise = rng.normal(size=(number + 1, 800)) * np.where(rng.random(800) < 0.7, 0.05, 2.0)
    seen, target = observed(noise[:-1] + 1.5 * inside), observed(noise[-1:])
    scores = {
        kind: fitted(LiRA(variance=kind, clip=1e-12), references(seen, inside)).score(target)
        for kind in ("auto", "shrunk", "agreed")
    }
    np.testing.assert_array_equal(scores["auto"], scores[favoured])
    assert (scores["shrunk"] != scores["agreed"]).any()


@pytest.mark.parametrize(("references_", "spread"), [(4, 0.0), (16, 0.7), (64, 0.7)])
def test_lira_is_never_far_from_the_best_variance(references_: int, spread: float) -> None:
    found: dict[str, list] = {"auto": [], "pooled": [], "per-record": [], "shrunk": []}
    for seed in range(2):
        rng = RNG(seed)
        inside = rng.random((references_ // 2, 1500)) < 0.5
        inside = np.stack([inside, ~inside], axis=1).reshape(references_, 1500)
        noise = rng.standard_t(5, (references_ + 1, 1500)) * np.exp(rng.normal(0, spread, 1500))
        members = rng.random(1500) < 0.5
        seen, target = observed(noise[:-1] + 1.5 * inside), observed(noise[-1:] + 1.5 * members)
        for kind, values in found.items():
            scorer = fitted(LiRA(variance=kind, clip=1e-12), references(seen, inside))
            values.append(auc(members, scorer.score(target)[0]))
    means = {kind: np.mean(values) for kind, values in found.items()}
    assert means["auto"] > max(means.values()) - 0.005


def test_offline_lira_still_ranks_records_far_above_the_outside_mean() -> None:
    seen = observed(RNG(0).normal(0, 0.5, (8, 30)))
    inside = np.tile(np.arange(8) % 2 == 0, (30, 1)).T
    scorer = fitted(LiRA("offline"), references(seen, inside))
    far = scorer.score(observed(np.linspace(1, 12, 30)[None] + np.zeros((1, 30))))
    assert (np.diff(np.argsort(far[0])) >= -29).all()
    assert len(np.unique(far)) == 30


def test_with_few_references_rmia_and_shrunk_lira_beat_per_record_variances() -> None:
    found: dict[str, list[float]] = {"own": [], "shrunk": [], "rmia": []}
    for seed in range(3):
        seen, inside, target, members = gaussian_game(2000, 4, seed)
        for name, attack in (
            ("own", LiRA(variance="per-record")),
            ("shrunk", LiRA(variance="shrunk")),
            ("rmia", RMIA()),
        ):
            scorer = fitted(attack, references(seen, inside))
            found[name].append(auc(members, scorer.score(target)[0]))
    assert np.mean(found["shrunk"]) > np.mean(found["own"]) + 0.02
    assert np.mean(found["rmia"]) > 0.6


def test_leaving_the_complement_out_keeps_rehearsals_honest() -> None:
    # Models that ignore their data: rehearsing with the complement would still tell who is inside.
    rng = RNG(0)
    inside = rng.random((2, 4000)) < 0.5
    inside = np.stack([inside, ~inside], axis=1).reshape(4, 4000)
    board = references(observed(rng.standard_normal((4, 4000))), inside)
    rest = without_pair_of(board, 1)
    np.testing.assert_array_equal(rest.values, board.values[2:])
    scores, members = rehearsed(fitted(LiRA(), board).comparison, board)
    assert abs(auc(members.ravel(), scores.ravel()) - 0.5) < 0.02


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ConfigError, match="clip"):
        LiRA(clip=0.7)
    with pytest.raises(ConfigError, match="mode"):
        LiRA("sometimes")
    with pytest.raises(ConfigError, match="gamma"):
        RMIA(gamma=0)
    with pytest.raises(ConfigError, match="attack_model"):
        BlackBoxMIA("svm")
    with pytest.raises(ConfigError, match="attack_model"):
        BlackBoxMIA(RandomForestClassifier)
    with pytest.raises(ConfigError, match="method"):
        LabelOnlyMIA("walk")


def test_reference_attacks_break_the_digits_forest() -> None:
    X, y = load_digits(return_X_y=True)
    order = RNG(0).permutation(len(y))
    X, y = X[order], y[order]
    forest = RandomForestClassifier(100, random_state=0).fit(X[:898], y[:898])
    sides = (X[:898], y[:898]), (X[898:], y[898:])
    threat_model = ModelMIA(forest, *sides, trainer=forest, num_shadows=8, seed=0, n_jobs=1)
    for attack in (CalibratedLossMIA(), LiRA(), RMIA()):
        attack.train(threat_model)
        summary = threat_model.test(attack)
        assert summary.auc > 0.9, attack.label
        assert summary.accuracy > 0.8, attack.label


@pytest.mark.parametrize("mode", ["online", "offline"])
@pytest.mark.parametrize("variance", ["auto", "pooled", "per-record", "shrunk", "agreed"])
def test_four_references_give_decisions_as_good_as_the_scores(mode: str, variance: str) -> None:
    seen, inside, target, members = gaussian_game(3000, 4, 0, gap=3)
    scorer = fitted(LiRA(mode, variance), references(seen, inside))
    scores = scorer.score(target)
    best = max(((scores[0] >= one) == members).mean() for one in scores[0])
    assert (scorer.decide(scores)[0] == members).mean() > best - 0.02
