import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models import _own_models
from tapas.attacks.models._label_only import LabelOnlyMIA, RightAndMore
from tapas.attacks.models._own_models import FEWEST_RECORDS, NUM_OWN_MODELS, own_certainty
from tapas.game import MEMBERSHIP, Address, Attack, Board, ModelBriefing, Release
from tapas.metrics import auc
from tapas.models import Records, SklearnTrainer, as_model
from tapas.threat_models import ModelMIA

RNG = np.random.default_rng


def hard_and_easy(records: int = 1_200, seed: int = 0) -> tuple:
    """Where the second column is positive the class is a coin, elsewhere the sign of the first."""
    rng = RNG(seed)
    X = rng.standard_normal((records, 6))
    y = np.where(X[:, 1] > 0, rng.random(records) < 0.5, X[:, 0] > 0).astype(int)
    half = records // 2
    return (X[:half], y[:half]), (X[half:], y[half:])


def seen_in_test(threat_model: ModelMIA, attack: Attack) -> np.ndarray:
    """What an attack sees of the audited model."""
    game = threat_model.game
    address = Address(game.seed, "test", 0)
    (trial,) = game.play([address])
    rng = game.observation_rng(address)
    return attack.observe(trial.release, game.briefing("test"), rng=rng)


def certainty(targets: Records, held: Records | None) -> np.ndarray:
    held_codes = None if held is None else held.y
    return own_certainty(targets, targets.y, held, held_codes, targets.encoding())


def test_own_models_never_judge_a_record_that_they_saw() -> None:
    rng = RNG(1)
    records = Records(rng.standard_normal((600, 5)), rng.integers(0, 2, 600))
    held, others = records.take(np.arange(300)), records.take(np.arange(300, 600))
    found = certainty(records, held)
    # Classes are coins: were a held record seen, the forest would be sure of its class.
    assert np.abs(found.mean(axis=0)).max() < 0.2
    assert abs(auc(np.arange(600) < 300, found[:, 1]) - 0.5) < 0.08
    np.testing.assert_array_equal(found[300:], certainty(others, held) + 0.0)


def test_own_models_know_which_records_are_hard() -> None:
    (X, y), (Z, z) = hard_and_easy()
    found = certainty(Records(Z, z), Records(X, y))
    easy = Z[:, 1] < 0
    assert (found[easy].mean(axis=0) > found[~easy].mean(axis=0) + 0.5).all()


def test_own_certainty_does_not_depend_on_the_order_of_the_records() -> None:
    (X, y), (Z, z) = hard_and_easy(400)
    targets, order = Records(Z, z), RNG(2).permutation(len(z))
    found = certainty(targets, Records(X, y))
    shuffled = own_certainty(targets.take(order), z[order], Records(X, y), y, targets.encoding())
    np.testing.assert_allclose(shuffled, found[order], rtol=0, atol=1e-12)


def test_too_few_held_records_say_nothing_and_an_unseen_class_counts_as_unlikely() -> None:
    (X, y), (Z, z) = hard_and_easy(400)
    for held in (None, Records(X, y).take(np.arange(FEWEST_RECORDS - 1))):
        np.testing.assert_array_equal(certainty(Records(Z, z), held), np.zeros((200, 2)))
    found = certainty(Records(Z, np.full(len(z), 2)), Records(X, y))
    assert found.shape == (200, NUM_OWN_MODELS)
    np.testing.assert_allclose(found, np.log(0.01 / 0.99))


def test_own_models_read_part_of_records_of_very_many_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_own_models, "MOST_PLACES", 60)
    classes = np.arange(200) % 2
    X = RNG(3).integers(0, 256, (200, 1_000), dtype=np.uint8)
    X[:, :400] = np.minimum(X[:, :400], 120 + 130 * classes[:, None])
    targets, held = Records(X[:100], classes[:100]), Records(X[100:], classes[100:])
    assert (certainty(targets, held) > 0).mean() > 0.8
    encoding = targets.encoding()
    nothing = np.zeros(NUM_OWN_MODELS)
    monkeypatch.setattr(_own_models, "log_odds_by", lambda *_: nothing)
    tracemalloc.start()
    own_certainty(targets, classes[:100], held, classes[100:], encoding)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * X.nbytes  # all of them as points, once


@pytest.mark.parametrize("method", ["boundary", "noise"])
def test_calibration_gains_where_some_records_are_harder_than_others(method: str) -> None:
    members, others = hard_and_easy()
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    gained = []
    for calibrate in (False, True):
        attack = LabelOnlyMIA(method, max_queries=60, calibrate=calibrate)
        attack.train(threat_model)
        gained.append(threat_model.test(attack).auc)
    assert gained[1] > gained[0] + 0.01
    # Right half the time on hard records, nearly always on easy ones: likelihood ratios 2 and 1.
    assert gained[1] > 0.66


def test_without_calibration_a_longer_distance_is_a_higher_score() -> None:
    members, others = hard_and_easy(300)
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    attack = LabelOnlyMIA(max_queries=60, calibrate=False)
    attack.train(threat_model)
    scores = threat_model.test(attack).scores
    seen = seen_in_test(threat_model, attack)
    np.testing.assert_array_equal(scores, seen[:, 1])
    np.testing.assert_array_equal(scores > 0, threat_model.judged_records()["correct"])
    assert attack.label == "LabelOnlyMIA(boundary, 60 queries, not calibrated)"


def test_a_fixed_threshold_reads_distances_without_training() -> None:
    members, others = hard_and_easy(300)
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    attack = LabelOnlyMIA(max_queries=200, criterion=("threshold", 0.1))
    attack.train(threat_model)
    summary = threat_model.test(attack)
    np.testing.assert_array_equal(summary.predictions, summary.scores >= 0.1)
    assert seen_in_test(threat_model, attack).shape == (150, 2)


def test_other_columns_count_only_where_the_prediction_is_right() -> None:
    rng = RNG(3)
    right, other = rng.integers(0, 2, 400), rng.standard_normal(400)
    members = (other > 0) & (right > 0)
    learned = RightAndMore.learn(np.column_stack([right, other]), members)
    wrong = learned.probability(np.column_stack([np.zeros(50), np.linspace(-9, 9, 50)]))
    assert np.ptp(wrong) == 0
    rising = learned.probability(np.column_stack([np.ones(50), np.linspace(-3, 3, 50)]))
    assert (np.diff(rising) > 0).all()
    assert rising[-1] > 0.9 > 0.2 > wrong[0]


@pytest.mark.parametrize("method", ["boundary", "noise"])
def test_only_real_categories_are_ever_asked_about(method: str) -> None:
    rng = RNG(4)
    towns = pd.CategoricalDtype(["york", "hull", "leeds"])
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, 200),
            "town": pd.Series(rng.choice(["york", "hull"], 200), dtype=towns),
            "job": rng.choice(["cook", "clerk", "none"], 200),
        }
    )
    records = Records(frame, ((frame["age"] > 40) ^ (frame["town"] == "york")).to_numpy())
    model = SklearnTrainer(DecisionTreeClassifier(), encode=True).train(
        records.X, records.y, rng=rng
    )
    asked: list[pd.DataFrame] = []

    def spied(X: pd.DataFrame) -> np.ndarray:
        asked.append(X)
        return model.predict(X)

    release = Release(as_model(spied, classes=model.classes, outputs="labels"))
    LabelOnlyMIA(method, 200).observe(release, ModelBriefing(MEMBERSHIP, records), rng=rng)
    questions = pd.concat(asked)
    assert len(questions) > 20 * len(records)
    assert questions["town"].dtype == towns
    assert set(questions["town"]) <= {"york", "hull", "leeds"}
    assert set(questions["job"]) <= {"cook", "clerk", "none"}
    assert method == "boundary" or "leeds" in set(questions["town"])


def test_calibration_is_left_out_where_it_does_not_help() -> None:
    # Distances tell members from others; the certainty of own models is noise, of few records.
    found: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(12):
        rng = RNG(seed)
        members = rng.random((1, 1100)) < 0.5
        right = rng.random((1, 1100)) < 0.9
        distance = np.where(right, np.exp(rng.normal(0.6 * members)), 0.0)
        own = 4 * rng.standard_normal((2, 1, 1100))
        values = np.stack([right, distance, *own], axis=-1).astype(float)
        nobody = np.zeros(100, dtype=bool)
        board = Board(values[:, :100], members[:, :100], np.zeros(1, int), MEMBERSHIP, nobody)
        for calibrate, areas in found.items():
            attack = LabelOnlyMIA(max_queries=20, calibrate=calibrate)
            seen = values if calibrate else values[..., :2]
            scorer = attack.fit(replace(board, values=seen[:, :100]), rng=rng)
            areas.append(auc(members[0, 100:], scorer.score(seen[:, 100:])[0]))
    assert np.mean(found[True]) > np.mean(found[False]) - 0.01
    assert min(np.subtract(found[True], found[False])) > -0.06
