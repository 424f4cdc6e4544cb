"""scikit-learn estimators and pipelines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tapas.errors import ConfigError, NotTrainedError
from tapas.models import Access, AccessError, as_model


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        DecisionTreeClassifier(random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("binary", [False, True])
def test_a_fitted_estimator_answers_as_itself(data, estimator, binary):
    X, y = data
    y = (y == "high").astype(int) if binary else y
    estimator.fit(X, y)
    model = as_model(estimator, batch_size=50)
    assert model.classes.tolist() == sorted(set(y.tolist()))
    np.testing.assert_array_equal(model.predict_proba(X), estimator.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
    assert model.parameters is estimator


def test_frames_with_categories_and_missing_values_reach_a_pipeline(data):
    X, y = data
    frame = pd.DataFrame({"number": X[:, 0], "town": np.where(X[:, 1] > 0, "york", "hull")})
    frame.loc[3, "town"] = None
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough"
    )
    pipeline = make_pipeline(encoder, LogisticRegression()).fit(frame, y)
    np.testing.assert_array_equal(
        as_model(pipeline, batch_size=7).predict_proba(frame), pipeline.predict_proba(frame)
    )


def test_column_names_are_added_or_dropped_as_the_estimator_was_fitted(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name, by_place = LogisticRegression().fit(frame, y), LogisticRegression().fit(X, y)
    expected = by_place.predict_proba(X)
    np.testing.assert_allclose(as_model(by_name).predict_proba(X), expected)
    np.testing.assert_allclose(as_model(by_place).predict_proba(frame), expected)


def test_an_estimator_without_probabilities_shows_labels_only(data):
    X, y = data
    model = as_model(LinearSVC().fit(X, y))
    assert model.access is Access.LABELS
    assert set(model.predict(X)) <= {"low", "mid", "high"}
    with pytest.raises(AccessError, match="LinearSVC shows labels only"):
        model.predict_proba(X)


def test_an_estimator_that_saw_one_class_is_certain_of_it(data):
    X, _ = data
    tree = DecisionTreeClassifier().fit(X, np.zeros(len(X), dtype=int))
    model = as_model(tree, classes=[0, 1])
    assert (model.predict_proba(X) == [1.0, 0.0]).all()


def test_missing_values_are_left_to_the_estimator(data):
    X, y = data
    X = X.copy()
    X[::5, 1] = np.nan
    boosted = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(as_model(boosted).predict_proba(X), boosted.predict_proba(X))


def test_what_is_not_a_fitted_classifier_is_refused(data):
    X, _ = data
    with pytest.raises(NotTrainedError, match="fit it before"):
        as_model(LogisticRegression())
    with pytest.raises(ConfigError, match="predicts numbers"):
        as_model(LinearRegression().fit(X, X[:, 0]))
    several = DecisionTreeClassifier().fit(X, (X > 0).astype(int))
    with pytest.raises(ConfigError, match="several outputs"):
        as_model(several)
