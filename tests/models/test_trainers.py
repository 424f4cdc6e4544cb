"""Shadow models by cloning and by calling."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tapas._random import integer_seed
from tapas.errors import ConfigError, MechanismError
from tapas.models import CallableTrainer, SklearnTrainer, TorchMLPTrainer, TrainingPlan


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no"), rng.random((5, 60)) < 0.5


def test_each_model_is_trained_on_its_own_records(data):
    X, y, masks = data
    models = SklearnTrainer(KNeighborsClassifier(1)).train_many(
        X, y, masks, rng=np.random.default_rng(0), n_jobs=1
    )
    for model, mask in zip(models, masks, strict=True):
        expected = KNeighborsClassifier(1).fit(X[mask], y[mask]).predict(X)
        assert (model.predict(X) == expected).all()


def test_processes_change_no_bit(data):
    X, y, masks = data
    trainer = SklearnTrainer(RandomForestClassifier(4))
    serial, parallel = (
        trainer.train_many(X, y, masks, rng=np.random.default_rng(7), n_jobs=jobs)
        for jobs in (1, 2)
    )
    for one, other in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_model_does_not_depend_on_how_many_are_trained_beside_it(data):
    X, y, masks = data
    trainer = SklearnTrainer(RandomForestClassifier(4))
    many = trainer.train_many(X, y, masks, rng=np.random.default_rng(7), n_jobs=1)
    few = trainer.train_many(X, y, masks[:2], rng=np.random.default_rng(7), n_jobs=1)
    np.testing.assert_array_equal(many[1].predict_proba(X), few[1].predict_proba(X))


def test_models_on_the_same_records_get_seeds_of_their_own(data):
    X, y, _ = data
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(4, random_state=0))
    same = np.ones((2, len(y)), dtype=bool)
    first, second = SklearnTrainer(forest).train_many(X, y, same, rng=np.random.default_rng(0))
    assert (first.predict_proba(X) != second.predict_proba(X)).any()


def test_the_estimator_handed_over_is_not_touched(data):
    X, y, _ = data
    tree = DecisionTreeClassifier(random_state=3)
    SklearnTrainer(tree).train(X, y, rng=np.random.default_rng(0))
    assert not hasattr(tree, "classes_")
    assert tree.random_state == 3


def test_a_class_missing_from_some_records_has_probability_zero(data):
    X, y, masks = data
    y = y.astype(object)
    y[0] = "rare"
    masks = masks.copy()
    masks[:, 0] = [True, False, False, False, False]
    models = SklearnTrainer(DecisionTreeClassifier()).train_many(
        X, y, masks, rng=np.random.default_rng(0), n_jobs=1
    )
    assert all(model.classes.tolist() == ["no", "rare", "yes"] for model in models)
    assert models[0].predict(X[:1]) == ["rare"]
    assert (models[1].predict_proba(X)[:, 1] == 0).all()


class ByNumber(DecisionTreeClassifier):
    """Takes 0, 1, ... as classes only, as classifiers of xgboost do."""

    def fit(self, X, y):
        if set(np.unique(y)) != set(range(len(np.unique(y)))):
            raise ValueError("Invalid classes inferred from unique values of `y`")
        return super().fit(X, y)


@pytest.mark.parametrize("encode", [False, True])
@pytest.mark.parametrize("classes", [["no", "rare", "yes"], [2, 5, 7], [0, 1, 2], [-1.5, 0.0, 1.0]])
def test_classifiers_that_take_numbers_of_classes_only_are_given_these(data, classes, encode):
    X, y, masks = data
    known = np.array(classes, dtype=object if classes[0] == "no" else None)
    labels = known[np.where(y == "yes", 2, 0)]
    labels[0] = known[1]
    masks = masks.copy()
    masks[:, 0] = [True, False, False, False, False]
    trainers = (SklearnTrainer(kind(), encode) for kind in (ByNumber, DecisionTreeClassifier))
    numbered, plain = (
        trainer.train_many(X, labels, masks, rng=np.random.default_rng(0), n_jobs=1)
        for trainer in trainers
    )
    for one, other in zip(numbered, plain, strict=True):
        assert one.classes.tolist() == classes
        assert one.predict(X).tolist() == other.predict(X).tolist()
        assert (one.predict_proba(X)[:, 1] == 0).all() == (one is not numbered[0])


def test_what_fails_by_number_too_says_what_it_said_first(data):
    class Fails(DecisionTreeClassifier):
        def fit(self, X, y):
            raise ValueError(f"cannot learn {y[0]!r}")

    X, y, _ = data
    with pytest.raises(ValueError, match=r"cannot learn .*'(yes|no)'"):
        SklearnTrainer(Fails()).train(X, y, rng=np.random.default_rng(0))


def test_frames_stay_frames(data):
    X, y, masks = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 160))
    model = SklearnTrainer(LogisticRegression()).train_many(
        frame, y, masks, rng=np.random.default_rng(0), n_jobs=1
    )[0]
    assert model.parameters.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_failed_training_names_the_model_and_the_cause(data):
    X, y, masks = data
    masks = masks.copy()
    masks[2] = y == "yes"
    with pytest.raises(MechanismError, match="training model 2 failed: ValueError"):
        SklearnTrainer(LogisticRegression()).train_many(
            X, y, masks, rng=np.random.default_rng(0), n_jobs=1
        )


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (np.ones((2, 59), dtype=bool), r"shape \(models, 60\)"),
        (np.ones((2, 60)), "float64"),
        (np.zeros((2, 60), dtype=bool), "mask 0 marks no record"),
    ],
)
def test_unusable_masks_are_refused(data, masks, message):
    X, y, _ = data
    with pytest.raises(ConfigError, match=message):
        SklearnTrainer(LogisticRegression()).train_many(X, y, masks, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [(LinearRegression(), "regressor"), (LogisticRegression, "the class"), (print, "scikit-learn")],
)
def test_what_cannot_be_cloned_is_refused(estimator, message):
    with pytest.raises(ConfigError, match=message):
        SklearnTrainer(estimator)


def test_a_function_that_returns_a_function_trains_models(data):
    X, y, masks = data

    def train_majority(X, y, seed):
        share = (y == "yes").mean()
        return lambda rows: np.tile([1 - share, share], (len(rows), 1))

    models = CallableTrainer(train_majority).train_many(
        X, y, masks, rng=np.random.default_rng(0), n_jobs=1
    )
    for model, mask in zip(models, masks, strict=True):
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], (y[mask] == "yes").mean())


def test_a_function_that_uses_global_randomness_is_seeded(data):
    X, y, _ = data

    def train_noise(X, y, seed):
        weights = np.random.normal(size=3)  # noqa: NPY002
        return lambda rows: 1 / (1 + np.exp(-rows @ weights))

    trainer = CallableTrainer(train_noise)
    first, second = (trainer.train(X, y, rng=np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_a_function_may_answer_for_classes_that_its_records_lack(data):
    X, y, _ = data
    trainer = CallableTrainer(
        lambda X, y, seed: lambda rows: np.tile([0.2, 0.3, 0.5], (len(rows), 1)),
        classes=("maybe", "no", "yes"),
    )
    assert trainer.train(X, y, rng=np.random.default_rng(0)).predict(X[:1]) == ["yes"]


class Halves:
    """Training sets that are made when they are asked for."""

    largest = 30

    def __init__(self) -> None:
        self.asked: list[int] = []

    def mask(self, model: int) -> np.ndarray:
        self.asked.append(model)
        mask = np.zeros(60, dtype=bool)
        mask[np.random.default_rng(model).permutation(60)[:30]] = True
        return mask


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_stack_trained_anywhere_is_the_same_and_needs_its_own_masks_alone(data, at_once):
    X, y, _ = data
    if at_once == 1:
        trainer = SklearnTrainer(RandomForestClassifier(4))
    else:
        pytest.importorskip("torch", reason="torch is not installed")
        trainer = TorchMLPTrainer((8,), epochs=2, device="cpu", models_at_once=2)
    assert trainer.models_at_once == at_once
    sets = Halves()
    masks = np.stack([sets.mask(model) for model in range(5)])
    rng = np.random.default_rng(7)
    seed = integer_seed(np.random.default_rng(7))
    many = trainer.train_many(X, y, masks, rng=rng, n_jobs=1)
    for first in range(0, 5, at_once):
        keys, sets.asked = range(first, min(first + at_once, 5)), []
        some = trainer.train_some(TrainingPlan(X, y, sets, seed), keys)
        assert sets.asked == list(keys)
        for model, key in zip(some, keys, strict=True):
            np.testing.assert_array_equal(model.predict_proba(X), many[key].predict_proba(X))
