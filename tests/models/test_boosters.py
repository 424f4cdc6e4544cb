"""Boosters of xgboost and lightgbm, as objects and as files, by stand-ins of the same interface."""

import copy
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas._spec import spec_of
from tapas.attacks import LossMIA
from tapas.audit import load_audit
from tapas.errors import ConfigError
from tapas.models import BoosterModel, as_model
from tapas.threat_models import ModelMIA

X = np.random.default_rng(0).standard_normal((40, 3))


class Matrix:
    """What xgboost's boosters are asked with."""

    def __init__(self, data: Any, feature_names: Any, enable_categorical: bool) -> None:
        of_frame = isinstance(data, pd.DataFrame)
        assert enable_categorical == of_frame
        self.rows = np.asarray(data, dtype=float)
        self.names = list(data.columns) if of_frame else feature_names


class XgboostLike:
    """A linear booster with the doors of ``xgboost.Booster``."""

    def __init__(
        self, weights: Any = None, objective: str = "", names: Any = None, *, model_file: str = ""
    ) -> None:
        if model_file:
            weights, objective = json.loads(Path(model_file).read_text())
        self.weights, self.objective, self.feature_names = np.array(weights), objective, names

    def save_config(self) -> str:
        several = len(self.weights) if self.weights.ndim == 2 else 0
        sizes = {"num_class": str(several)}
        return json.dumps(
            {"learner": {"objective": {"name": self.objective}, "learner_model_param": sizes}}
        )

    def save_raw(self) -> bytearray:
        return bytearray(self.weights.tobytes())

    def predict(self, matrix: Matrix, output_margin: bool = False) -> np.ndarray:
        assert isinstance(matrix, Matrix)
        assert matrix.names == self.feature_names
        found = matrix.rows @ self.weights.T
        if output_margin or self.objective.endswith(("raw", "error", "pairwise")):
            return found
        if self.objective == "multi:softmax":
            return found.argmax(axis=1).astype(float)
        if self.objective == "binary:logistic":
            return 1 / (1 + np.exp(-found))
        return np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)


class LightgbmLike:
    """The same with the doors of ``lightgbm.Booster``."""

    def __init__(self, weights: Any = None, objective: str = "", *, model_file: str = "") -> None:
        if model_file:
            weights, objective = json.loads(Path(model_file).read_text())
        self.weights, self.objective = np.array(weights), objective

    def model_to_string(self, num_iteration: int | None = None) -> str:
        return f"tree\nobjective={self.objective} sigmoid:1\n{self.weights.tolist()}"

    def num_model_per_iteration(self) -> int:
        return len(self.weights) if self.weights.ndim == 2 else 1

    def predict(self, X: Any, raw_score: bool = False) -> np.ndarray:
        found = np.asarray(X, dtype=float) @ self.weights.T
        if self.weights.ndim == 1:
            return 1 / (1 + np.exp(-found))
        return np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    xgboost = SimpleNamespace(Booster=XgboostLike, DMatrix=Matrix)
    lightgbm = SimpleNamespace(Booster=LightgbmLike)
    for name, library in (("xgboost", xgboost), ("lightgbm", lightgbm)):
        monkeypatch.setitem(sys.modules, name, library)  # type: ignore[arg-type]


TWO, THREE = [1.0, -2.0, 0.5], [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]
SECOND = 1 / (1 + np.exp(-X @ TWO))
EACH = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("booster", "expected"),
    [
        (XgboostLike(TWO, "binary:logistic"), np.column_stack([1 - SECOND, SECOND])),
        (XgboostLike(TWO, "binary:logitraw"), np.column_stack([1 - SECOND, SECOND])),
        (XgboostLike(THREE, "multi:softprob"), EACH),
        (XgboostLike(THREE, "multi:softmax"), EACH),
        (LightgbmLike(TWO, "binary"), np.column_stack([1 - SECOND, SECOND])),
        (LightgbmLike(THREE, "multiclass"), EACH),
    ],
)
def test_a_booster_says_itself_what_it_predicts(booster: object, expected: np.ndarray) -> None:
    model = as_model(booster)
    assert isinstance(model, BoosterModel)
    assert model.classes.tolist() == [*range(expected.shape[1])]
    np.testing.assert_allclose(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    words = as_model(booster, [f"class {place}" for place in range(expected.shape[1])])
    assert words.predict(X)[0] == f"class {expected[0].argmax()}"


def test_rows_are_called_as_they_were_in_training() -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    named, bare = (XgboostLike(TWO, "binary:logistic", names) for names in (list("abc"), None))
    for booster in (named, bare):
        for rows in (X, frame):
            np.testing.assert_allclose(as_model(booster).predict_proba(rows)[:, 1], SECOND)


def test_a_booster_is_known_by_what_it_would_be_saved_as() -> None:
    for kind, objective in ((XgboostLike, "binary:logistic"), (LightgbmLike, "binary")):
        one, same, other = (as_model(kind(w, objective)) for w in (TWO, TWO, [1.0, 1, 1]))  # type: ignore[operator]
        assert spec_of(one).digest == spec_of(same).digest != spec_of(other).digest
        again = copy.deepcopy(one)
        np.testing.assert_array_equal(again.predict_proba(X), one.predict_proba(X))


def test_other_objectives_are_refused_or_audited_by_their_residuals() -> None:
    ranking = XgboostLike(TWO, "rank:pairwise")
    with pytest.raises(ConfigError, match=r"'rank:pairwise'.*outputs="):
        as_model(ranking)
    np.testing.assert_allclose(as_model(ranking, outputs="logits").predict_proba(X)[:, 1], SECOND)
    y = X @ TWO + np.r_[np.zeros(20), np.ones(20)]
    regressor = XgboostLike(TWO, "reg:squarederror")
    threat_model = ModelMIA(regressor, (X[:20], y[:20]), (X[20:], y[20:]), seed=0)
    attack = LossMIA()
    attack.train(threat_model)
    assert threat_model.test(attack).auc == 1


@pytest.mark.parametrize("name", ["model.json", "model.ubj", "model.txt"])
def test_saved_boosters_are_audited_from_a_file(name: str, tmp_path: Path) -> None:
    objective = "binary" if name.endswith("txt") else "binary:logistic"
    (tmp_path / name).write_text(json.dumps([TWO, objective]))
    np.testing.assert_allclose(as_model(tmp_path / name).predict_proba(X)[:, 1], SECOND)
    table = pd.DataFrame(X, columns=list("abc"))
    table["y"] = np.where(SECOND > 0.5, "yes", "no")
    table[:20].to_csv(tmp_path / "train.csv", index=False)
    table[20:].to_csv(tmp_path / "others.csv", index=False)
    asked = {
        "data": {"table": "train.csv", "holdout": "others.csv"},
        "model": {"file": name, "classes": ["no", "yes"], "class_column": "y"},
        "attacks": ["LossMIA"],
    }
    path = tmp_path / "audit.yaml"
    path.write_text(yaml.safe_dump(asked))
    (subject,) = load_audit(path).run(n_jobs=1).subjects
    assert subject.name == name
    assert subject.performance is not None
    assert subject.performance["test_accuracy"][0] == 1
    asked["model"] = {"use": "sklearn.tree:DecisionTreeClassifier", **asked["model"], "file": None}  # type: ignore[dict-item]
    path.write_text(yaml.safe_dump(asked))
    with pytest.raises(ConfigError, match="classes goes with file"):
        load_audit(path)


class OfCategories(LightgbmLike):
    """Trained on a frame with a column of categories, which it finds by value."""

    pandas_categorical = (("x", "y", "z"),)

    def predict(self, X: Any, raw_score: bool = False) -> np.ndarray:
        codes = X["c"].cat.set_categories(self.pandas_categorical[0]).cat.codes
        return super().predict(X.assign(c=codes), raw_score)


def of_categories(folder: Path) -> Path:
    """An audit of a saved booster on a table with categories."""
    (folder / "model.txt").write_text(json.dumps([[1.0, -2.0], "binary"]))
    table = pd.DataFrame({"a": X[:, 0], "c": np.tile(list("zyyx"), 10)})
    table["y"] = np.tile(["no", "yes"], 20)
    table[:20].to_csv(folder / "train.csv", index=False)
    table[20:].to_csv(folder / "others.csv", index=False)
    model = {"file": "model.txt", "classes": ["no", "yes"], "class_column": "y"}
    asked = {
        "data": {"table": "train.csv", "holdout": "others.csv"},
        "model": model,
        "attacks": ["LossMIA"],
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(asked))
    return path


def test_a_booster_of_categories_is_asked_with_categories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["lightgbm"], "Booster", OfCategories)
    audit = load_audit(of_categories(tmp_path))
    assert audit.check().problems == ()
    (subject,) = audit.subjects
    model: Any = subject.threat_model.model  # type: ignore[attr-defined]
    rows = pd.DataFrame({"a": [0.0, 0.0], "c": pd.Categorical(["z", "x"], ["z", "x"])})
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], 1 / (1 + np.exp([4.0, 0.0])))


def test_a_booster_that_takes_other_columns_is_found_by_a_check(tmp_path: Path) -> None:
    (problem,) = load_audit(of_categories(tmp_path)).check().problems
    assert problem.startswith("model.txt: model.txt failed on rows 0 to 1")


def test_what_xgboost_knows_of_categories_is_read_off_its_columns() -> None:
    booster = XgboostLike(TWO, "binary:logistic")
    for kinds, expected in ((None, False), (["float", "c", "c"], True), (["float"] * 3, False)):
        booster.feature_types = kinds  # type: ignore[attr-defined]
        booster.get_categories = list  # type: ignore[attr-defined]
        assert BoosterModel(booster).knows_categories == expected


def test_files_that_cannot_be_read_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        as_model(tmp_path / "model.ubj")
    (tmp_path / "model.txt").write_text("nonsense")
    with pytest.raises(ConfigError, match=r"is no model of lightgbm"):
        as_model(tmp_path / "model.txt")
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ConfigError, match="pip install lightgbm"):
        as_model(tmp_path / "model.txt")
    with pytest.raises(ConfigError, match=r"\.onnx file, or a booster saved by"):
        as_model(tmp_path / "model.pkl")
