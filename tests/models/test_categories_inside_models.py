"""Estimators that take numbers only, asked about records with real categories."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import SchemaError
from tapas.models import EncodedModel, OneHotInputs, SklearnTrainer, as_model, records_from_table

SCHEMA = [
    {"name": "age", "type": "countable/ordered/least", "representation": "integer"},
    {"name": "town", "type": "finite", "representation": ["york", "hull", "leeds"]},
    {"name": "grade", "type": "finite/ordered", "representation": ["low", "mid", "high"]},
    {"name": "flag", "type": "finite", "representation": 2},
    {"name": "seen", "type": "countable/ordered", "representation": "date"},
    {"name": "ill", "type": "finite", "representation": ["no", "yes"]},
]


def table(number: int = 300, seed: int = 0) -> TabularDataset:
    rng = np.random.default_rng(seed)
    town = rng.choice(["york", "hull"], number)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, number),
            "town": town,
            "grade": rng.choice(["low", "mid", "high"], number),
            "flag": rng.integers(0, 2, number),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, number), "D"),
            "ill": np.where((town == "york") ^ (rng.random(number) < 0.2), "yes", "no"),
        }
    )
    return TabularDataset(frame, DataDescription(SCHEMA))


def test_a_table_keeps_its_categories_and_shows_numbers_as_floats() -> None:
    records = records_from_table(table(), "ill")
    assert records.columns == ["age", "town", "grade", "flag", "seen"]
    assert records.categorical == ("town", "grade", "flag")
    assert records.X["town"].cat.categories.tolist() == ["york", "hull", "leeds"]
    assert records.X["grade"].cat.ordered
    assert records.X["flag"].cat.categories.tolist() == [0, 1]
    assert (records.X.dtypes[["age", "seen"]] == np.float64).all()
    assert set(records.y) == {"no", "yes"}
    assert records.y.dtype == object
    assert records_from_table(table(), "flag").y.dtype == int


def test_missing_values_stay_missing_and_a_missing_class_is_refused() -> None:
    frame = table(20).data.astype({"age": float})
    frame.loc[3, ["age", "town"]] = np.nan
    holes = TabularDataset(frame, DataDescription(SCHEMA))
    records = records_from_table(holes, "ill")
    assert records.X.isna().sum().sum() == 2
    assert records.X.loc[3, ["age", "town"]].isna().all()
    with pytest.raises(SchemaError, match="1 records have no 'town'"):
        records_from_table(holes, "town")
    with pytest.raises(SchemaError, match="'income' is not a column"):
        records_from_table(holes, "income")


def test_one_hot_inputs_are_the_numeric_view_of_the_table() -> None:
    frame = table(50).data.astype({"age": float})
    frame.loc[7, ["age", "town", "grade"]] = np.nan
    data = TabularDataset(frame, DataDescription(SCHEMA))
    records = records_from_table(data, "ill")
    found = OneHotInputs.learn(records.X)(records.X)
    np.testing.assert_array_equal(found, data.view(exclude_columns=["ill"]).as_numeric)


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(), LogisticRegression(max_iter=5000)])
def test_encoding_inside_the_model_gives_the_model_of_the_encoded_table(estimator: object) -> None:
    data, fresh = table(), table(seed=1)
    records, others = records_from_table(data, "ill"), records_from_table(fresh, "ill")
    inside = SklearnTrainer(estimator, encode=True).train(
        records.X, records.y, rng=np.random.default_rng(0)
    )
    numbers, other_numbers = (
        part.view(exclude_columns=["ill"]).as_numeric for part in (data, fresh)
    )
    outside = SklearnTrainer(estimator).train(numbers, records.y, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(
        inside.predict_proba(others.X), outside.predict_proba(other_numbers)
    )
    assert inside.label == outside.label


def test_the_accuracy_is_that_of_a_one_hot_pipeline() -> None:
    records, others = (records_from_table(table(seed=seed), "ill") for seed in (0, 1))
    columns = ["age", "town", "flag", "seen"]
    marks = OneHotEncoder(handle_unknown="ignore")
    pipeline = make_pipeline(
        make_column_transformer((marks, ["town", "flag"]), remainder="passthrough"),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    ).fit(records.X[columns], records.y)
    model = SklearnTrainer(DecisionTreeClassifier(max_depth=3), encode=True).train(
        records.X[columns], records.y, rng=np.random.default_rng(0)
    )
    expected = (as_model(pipeline).predict(others.X[columns]) == others.y).mean()
    assert (model.predict(others.X[columns]) == others.y).mean() == expected > 0.7


def test_text_that_was_never_seen_marks_nothing() -> None:
    frame = pd.DataFrame({"town": ["york", "hull", "york"], "x": [1.0, 2.0, 3.0]})
    encoding = OneHotInputs.learn(frame)
    np.testing.assert_array_equal(encoding(frame), [[0, 1, 1], [1, 0, 2], [0, 1, 3]])
    strange = frame.assign(town=["leeds", None, "hull"])
    np.testing.assert_array_equal(encoding(strange)[:, :2], [[0, 0], [0, 0], [1, 0]])
    as_categories = frame.assign(town=pd.Categorical(frame["town"], ["york", "leeds", "hull"]))
    np.testing.assert_array_equal(encoding(as_categories), encoding(frame))
    with pytest.raises(SchemaError, match="must have the columns"):
        encoding(frame.drop(columns="x"))


def test_shadow_models_of_declared_categories_are_equally_wide() -> None:
    records = records_from_table(table(60), "ill")
    masks = np.arange(60) % 3 != np.arange(2)[:, None]
    models = SklearnTrainer(LogisticRegression(max_iter=5000), encode=True).train_many(
        records.X, records.y, masks, rng=np.random.default_rng(0), n_jobs=1
    )
    assert [model.parameters.n_features_in_ for model in models] == [8, 8]


def test_a_model_of_numbers_from_elsewhere_can_be_asked_about_categories() -> None:
    data = table()
    records = records_from_table(data, "ill")
    numbers = data.view(exclude_columns=["ill"]).as_numeric
    tree = DecisionTreeClassifier(random_state=0).fit(numbers, records.y)
    model = EncodedModel(as_model(tree), OneHotInputs.learn(records.X))
    np.testing.assert_array_equal(model.predict(records.X), tree.predict(numbers))
    assert model.queries == len(records)
