"""Attacks on models against closed forms, naive twins and models of known leakage."""

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri, softmax
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._boundary_walk import WalkPlan, boundary_distances, nearest_elsewhere
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._prediction_features import PredictionFeatures
from tapas.attacks.models._quantile import QuantileMIA
from tapas.attacks.models._reference_attack import masked_moments, rehearsed, without_pair_of
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._rule_based import RuleBasedMIA
from tapas.attacks.models._score_attacks import (
    ConfidenceMIA,
    EntropyMIA,
    LossMIA,
    ModifiedEntropyMIA,
)
from tapas.attacks.models._score_statistics import clip_for, logits, softened, statistics_of
from tapas.attacks.models._variance_prior import variance_prior
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError, TapasWarning
from tapas.game import MEMBERSHIP, Address, Attack, Board, Scorer
from tapas.metrics import auc
from tapas.models import as_model
from tapas.threat_models import ModelMIA

RNG = np.random.default_rng


def observed(logit: np.ndarray) -> np.ndarray:
    """Statistics of a binary model with these logits of the true class."""
    probabilities = np.stack([expit(logit.ravel()), expit(-logit.ravel())], axis=1)
    rows = statistics_of(probabilities, np.zeros(logit.size, dtype=int))
    return rows.reshape(*logit.shape, -1)


def known(values: np.ndarray, members: np.ndarray) -> Board:
    """Records that can be learnt from and are not judged, on one model."""
    nobody = np.zeros(members.shape[1], dtype=bool)
    return Board(values, members, np.zeros(len(values), dtype=int), MEMBERSHIP, nobody)


def references(values: np.ndarray, inside: np.ndarray) -> Board:
    """The judged records on models that come in complementary pairs."""
    everybody = np.ones(inside.shape[1], dtype=bool)
    return Board(values, inside, np.arange(len(values)) // 2, MEMBERSHIP, everybody)


def fitted(attack: Attack, board: Board) -> Scorer:
    before = dict(vars(attack))
    scorer = attack.fit(board, rng=RNG(0))
    assert vars(attack) == before
    return scorer


def seen_in_test(threat_model: ModelMIA, attack: Attack) -> np.ndarray:
    """What an attack sees of the audited model."""
    game = threat_model.game
    address = Address(game.seed, "test", 0)
    (trial,) = game.play([address])
    rng = game.observation_rng(address)
    return attack.observe(trial.release, game.briefing("test"), rng=rng)[None]


def gaussian_game(
    records: int, references: int, seed: int, gap: float = 1.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Logits are normal around a mean of each record's own, shifted by `gap` for members."""
    rng = RNG(seed)
    difficulty = rng.normal(0, 3, records)
    inside = rng.random((references // 2, records)) < 0.5
    inside = np.stack([inside, ~inside], axis=1).reshape(references, records)
    seen = difficulty + gap * inside + rng.standard_normal((references, records))
    members = rng.random(records) < 0.5
    target = difficulty + gap * members + rng.standard_normal(records)
    return observed(seen), inside, observed(target[None]), members


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


# -- reference models ------------------------------------------------------------------------


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


# -- attack models ---------------------------------------------------------------------------


def overfitted(records: int = 800, seed: int = 0) -> tuple:
    rng = RNG(seed)
    X = rng.standard_normal((records, 10))
    y = ((X[:, 0] > 0) ^ (rng.random(records) < 0.3)).astype(int)
    half = records // 2
    return (X[:half], y[:half]), (X[half:], y[half:])


@pytest.mark.parametrize("kind", ["nn", "rf", "gb", "lr"])
@pytest.mark.parametrize("per_class", [False, True])
def test_no_attack_model_is_blind_to_a_right_prediction(kind: str, per_class: bool) -> None:
    members, others = overfitted()
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, seed=0)
    attack = BlackBoxMIA(kind, per_class=per_class)
    attack.train(threat_model)
    gap = (1 - model.score(*others)) / 2
    assert threat_model.test(attack).auc > 0.5 + gap - 0.06


def test_any_classifier_can_be_the_attack_model_and_training_again_forgets() -> None:
    members, others = overfitted()
    forest = RandomForestClassifier(30, random_state=0).fit(*members)
    threat_model = ModelMIA(forest, members, others, seed=0)
    attack = BlackBoxMIA(DecisionTreeClassifier(max_depth=3), criterion="accuracy")
    attack.train(threat_model)
    loss = LossMIA()
    loss.train(threat_model)
    # A tree of depth three has eight scores at most, so it may fall a little behind.
    assert threat_model.test(attack).auc > threat_model.test(loss).auc - 0.05
    once = threat_model.test(attack).scores
    attack.train(threat_model)
    np.testing.assert_array_equal(once, threat_model.test(attack).scores)
    assert attack.label == "BlackBoxMIA(DecisionTreeClassifier)"


def test_attack_models_learn_from_shadow_models_alone() -> None:
    members, others = overfitted()
    forest = RandomForestClassifier(20, random_state=0).fit(*members)
    threat_model = ModelMIA(
        forest, members, others, known_share=0, trainer=forest, num_shadows=4, seed=0
    )
    for attack in (BlackBoxMIA("lr"), LossMIA(), QuantileMIA()):
        attack.train(threat_model)
        assert threat_model.test(attack).auc > 0.85


def test_a_trained_attack_scores_other_models_too() -> None:
    members, others = overfitted()
    forest = RandomForestClassifier(20, random_state=0).fit(*members)
    threat_model = ModelMIA(forest, members, others, seed=0)
    for attack in (RuleBasedMIA(), LossMIA(), BlackBoxMIA("lr")):
        attack.train(threat_model)
        summary = threat_model.test(attack)
        twice = attack.attack_score([forest, forest])
        np.testing.assert_allclose(twice, np.stack([summary.scores] * 2))
        np.testing.assert_array_equal(attack.attack([forest])[0], summary.predictions == 1)


def test_prediction_features_are_finite_for_extreme_and_many_classes() -> None:
    rng = RNG(0)
    vectors = np.column_stack([rng.integers(0, 60, 200), np.eye(60)[rng.integers(0, 60, 200)]])
    features = PredictionFeatures.learn(vectors)
    assert np.isfinite(features(vectors)).all()
    assert features(vectors).shape[1] < 30


def test_an_attack_needs_members_and_non_members_to_learn_from() -> None:
    rows = observed(np.zeros((1, 20)))
    board = references(np.repeat(rows, 4, axis=0), np.ones((4, 20), dtype=bool))
    for attack in (LossMIA(), CalibratedLossMIA()):
        with pytest.raises(IncompatibleAttackError, match="both members and non-members"):
            fitted(attack, board)
    with pytest.raises(IncompatibleAttackError, match="at least 4 reference models, got 2"):
        fitted(LiRA(), board.of_releases(slice(2)))


def test_attacks_learn_from_records_that_are_not_judged_and_judge_by_those_that_are() -> None:
    seen, inside, target, _ = gaussian_game(60, 8, 5)
    judged = np.arange(60) < 20
    board = Board(seen, inside & ~judged, np.arange(8) // 2, MEMBERSHIP, judged)
    for attack in (LossMIA(), QuantileMIA()):
        alone = fitted(attack, known(seen[:, ~judged], inside[:, ~judged]))
        assert fitted(attack, board).threshold == alone.threshold
    scorer = fitted(LiRA("offline", "pooled", clip=1e-9), board)
    pool = references(seen[:, ~judged], inside[:, ~judged])
    assert scorer.threshold == fitted(LiRA("offline", "pooled", clip=1e-9), pool).threshold
    assert scorer.references.num_targets == 20
    assert not scorer.references.secrets.any()
    assert scorer.score(target[:, :20]).shape == (1, 20)


def test_attacks_that_look_at_the_same_share_what_they_see() -> None:
    def key(attack: Attack) -> str:
        return attack.observer(None, lambda number: []).key

    statistics = {key(attack) for attack in (LossMIA(), EntropyMIA(("fp", 0.1)), LiRA(), RMIA())}
    vectors = {key(BlackBoxMIA(kind)) for kind in ("nn", "lr")}
    walks = {key(LabelOnlyMIA(criterion=kind)) for kind in ("accuracy", ("tp", 0.5))}
    others = {key(RuleBasedMIA()), key(QuantileMIA()), key(LabelOnlyMIA("noise"))}
    shorter = {key(LabelOnlyMIA(max_queries=50)), key(LabelOnlyMIA(calibrate=False))}
    assert [len(keys) for keys in (statistics, vectors, walks, others, shorter)] == [1, 1, 1, 3, 2]
    assert len(statistics | vectors | walks | others | shorter) == 8


# -- labels only -----------------------------------------------------------------------------


def test_distances_to_a_plane_are_found_within_a_tenth() -> None:
    rng = RNG(0)
    normal = rng.standard_normal(8)
    normal /= np.linalg.norm(normal)
    points = rng.standard_normal((200, 8)) * 2
    true = np.abs(points @ normal - 0.5)

    def ask(some: np.ndarray) -> np.ndarray:
        return (some @ normal > 0.5).astype(int)

    codes = ask(points)
    starts = points[nearest_elsewhere(points, codes, points, codes)]
    plan = WalkPlan.within(600)
    assert plan.queries <= 600
    found = boundary_distances(ask, points, codes, starts, plan, lambda x: x, rng=RNG(1))
    assert (found >= true - 1e-9).all()
    assert np.median(found / true) < 1.1


def test_nearest_points_of_another_class_equal_a_naive_twin() -> None:
    rng = RNG(0)
    points, pool = rng.standard_normal((40, 3)), rng.standard_normal((60, 3))
    codes, pool_codes = rng.integers(0, 3, 40), rng.integers(0, 3, 60)
    found = nearest_elsewhere(points, codes, pool, pool_codes)
    for point, code, position in zip(points, codes, found, strict=True):
        distances = np.linalg.norm(pool - point, axis=1)
        distances[pool_codes == code] = np.inf
        assert position == distances.argmin()
    assert (nearest_elsewhere(points, np.zeros(40), pool, np.zeros(60)) == -1).all()


def test_a_boundary_that_cannot_be_found_is_reported_and_counted_as_neither() -> None:
    members, others = overfitted(200)
    model = as_model(lambda X: np.zeros(len(X), dtype=int), classes=[0, 1], outputs="labels")
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    attack = LabelOnlyMIA(max_queries=50)
    attack.train(threat_model)
    with pytest.warns(TapasWarning, match="boundary was not found"):
        summary = threat_model.test(attack)
    right = threat_model.judged_records()["correct"].to_numpy()
    failed = LabelOnlyMIA.failed(seen_in_test(threat_model, attack))
    np.testing.assert_array_equal(failed[0], right)
    assert np.isfinite(summary.scores).all()


@pytest.mark.parametrize("method", ["boundary", "noise"])
def test_label_only_attacks_keep_to_their_queries(method: str) -> None:
    members, others = overfitted(300)
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    attack = LabelOnlyMIA(method, max_queries=100)
    attack.train(threat_model)
    summary = threat_model.test(attack)
    # The pool of starting points costs one query a record beside.
    assert threat_model.queries(attack) <= 300 * 101 + 300
    assert summary.auc > 0.6


# -- published figures -----------------------------------------------------------------------


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
