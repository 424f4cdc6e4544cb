"""Every kind of record and of model that people have, through the same audit."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import RMIA, CertaintyMIA, LabelOnlyMIA, LiRA, LossMIA, RuleBasedMIA
from tapas.audit import Audit
from tapas.errors import ConfigError, IncompatibleAttackError, SchemaError
from tapas.models import AccessError, CallableTrainer, Form, Records, Shown, as_model
from tapas.report import AuditPage
from tapas.results import AuditRecord, Findings, exposed_records, record_facts
from tapas.threat_models import ModelMIA

pytestmark = pytest.mark.usefixtures("no_baseline")
SIDE = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2 * SIDE, 5))
Y = (X[:, 0] + 1.5 * RNG.normal(size=2 * SIDE) > 0).astype(int)
INSIDE = np.arange(2 * SIDE) < SIDE
FOREST = RandomForestClassifier(10, random_state=0)


def found(model: object, data: Any, y: np.ndarray, attack: Any, **options: Any) -> float:
    """AUC of an attack on a model that was trained on the first half."""
    sides = [(_rows(data, INSIDE), y[INSIDE]), (_rows(data, ~INSIDE), y[~INSIDE])]
    threat_model = ModelMIA(model, *sides, seed=0, n_jobs=1, **options)
    attack.train(threat_model)
    return threat_model.test(attack).auc


def _rows(data: Any, chosen: np.ndarray) -> Any:
    if isinstance(data, dict):
        return {name: part[chosen] for name, part in data.items()}
    if isinstance(data, tuple):
        return tuple(part[chosen] for part in data)
    return (
        [one for one, use in zip(data, chosen, strict=True) if use]
        if isinstance(data, list)
        else data[chosen]
    )


# -- numbers, and several things at once -----------------------------------------------------------


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
def test_regressors_are_audited_by_their_residuals(outputs: int, frame: bool) -> None:
    data = pd.DataFrame(X, columns=list("abcde")) if frame else X
    y = X[:, :outputs] * 3 + RNG.normal(size=(2 * SIDE, outputs))
    y = y[:, 0] if outputs == 1 else y
    forest = RandomForestRegressor(10, random_state=0).fit(data[INSIDE], y[INSIDE])
    plain = found(forest, data, y, LossMIA())
    residual = np.abs(forest.predict(data) - y).reshape(2 * SIDE, -1) / y[INSIDE].std(axis=0)
    assert plain == pytest.approx(_rank(-residual.mean(axis=1)), abs=0.08)  # on half of them
    assert plain > 0.7
    assert found(forest, data, y, RMIA(), trainer=forest, num_shadows=4) > 0.75
    assert found(forest, data, y, CertaintyMIA()) > 0.7
    with pytest.raises(IncompatibleAttackError, match="LabelOnlyMIA"):
        found(forest, data, y, LabelOnlyMIA("noise", 13))


def _rank(scores: np.ndarray) -> float:
    return float((scores[INSIDE][:, None] > scores[~INSIDE]).mean())


class OfAnyForm:
    """A regressor of images, of several inputs, of sparse rows or of texts."""

    _estimator_type = "regressor"

    def __init__(self, kind: str) -> None:
        self.kind, self.forest = kind, RandomForestRegressor(10, random_state=0)

    def _flat(self, data: Any) -> np.ndarray:
        if self.kind == "images":
            assert data.shape[1:] == (1, 5)
            return data[:, 0]
        if self.kind == "several inputs":
            return np.column_stack([data["a"], data["b"]])
        if self.kind == "sparse":
            assert scipy.sparse.issparse(data)
            return data.toarray()
        return np.array([text.split() for text in data], dtype=float)

    def fit(self, data: Any, y: np.ndarray) -> "OfAnyForm":
        self.forest.fit(self._flat(data), y)
        return self

    def predict(self, data: Any) -> np.ndarray:
        return self.forest.predict(self._flat(data))


FORMS = {
    "images": X[:, None],
    "several inputs": {"a": X[:, :2], "b": X[:, 2:]},
    "sparse": scipy.sparse.csr_matrix(X),
    "texts": [" ".join(map(repr, row)) for row in X.tolist()],
}


@pytest.mark.parametrize("kind", FORMS)
def test_regressors_of_records_in_any_form_are_audited_by_their_residuals(kind: str) -> None:
    y = X[:, 0] + RNG.normal(size=2 * SIDE)
    plain = RandomForestRegressor(10, random_state=0).fit(X[INSIDE], y[INSIDE])
    model = OfAnyForm(kind).fit(_rows(FORMS[kind], INSIDE), y[INSIDE])
    expected = found(plain, X, y, LossMIA())
    assert found(model, FORMS[kind], y, LossMIA()) == pytest.approx(expected, abs=1e-3)
    trainer = CallableTrainer(lambda data, y, seed: OfAnyForm(kind).fit(data, y))
    assert found(model, FORMS[kind], y, RMIA(), trainer=trainer, num_shadows=4) > 0.7


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosters_that_predict_counts_are_regressors(library: str, tmp_path: Path) -> None:
    made = pytest.importorskip(library, reason=f"{library} is not installed")
    y = np.rint(3 * X[:, 0] + RNG.normal(size=2 * SIDE)).astype(int)
    if library == "xgboost":
        booster = made.train({"objective": "reg:squarederror"}, made.DMatrix(X[INSIDE], y[INSIDE]))
    else:
        data = made.Dataset(X[INSIDE], y[INSIDE])
        booster = made.train({"objective": "regression", "verbose": -1}, data)
    expected = found(booster, X, y, LossMIA())
    assert expected > 0.55
    path = tmp_path / {"xgboost": "model.ubj", "lightgbm": "model.txt"}[library]
    booster.save_model(path)
    assert found(path, X, y, LossMIA()) == pytest.approx(expected)


def test_models_of_whole_numbers_say_that_these_are_no_classes() -> None:
    y = np.rint(3 * X[:, 0] + RNG.normal(size=2 * SIDE)).astype(int)
    forest = RandomForestRegressor(10, random_state=0).fit(X[INSIDE], y[INSIDE])
    asked = SimpleNamespace(predict=forest.predict)
    with pytest.raises(ConfigError, match=r"_estimator_type = 'regressor'"):
        found(asked, X, y, LossMIA())
    asked._estimator_type = "regressor"
    assert found(asked, X, y, LossMIA()) > 0.7
    with pytest.raises(SchemaError, match=r"_estimator_type = 'regressor'"):
        found(as_model(asked, [0, 1]), X, y, LossMIA())


def test_pages_say_what_being_right_means_where_numbers_are_predicted() -> None:
    y = X[:, 0] + RNG.normal(size=2 * SIDE) / 4
    inside, others = (X[INSIDE], y[INSIDE]), (X[~INSIDE], y[~INSIDE])
    forest = RandomForestRegressor(10, random_state=0).fit(*inside)
    game = ModelMIA(forest, inside, others, seed=0)
    (subject,) = (record := Audit(game, [LossMIA()]).run(n_jobs=1)).subjects
    within = 0.3 * y[INSIDE].std() * np.log(2)
    assert subject.right_when == f"predicting a number that is off by less than {within:.3g}"
    assert subject.performance is not None
    assert subject.performance["slice"] == ["all"]
    right = np.abs(forest.predict(others[0]) - others[1]) < within
    assert subject.performance["test_accuracy"] == [pytest.approx(right.mean())]
    page = AuditPage(AuditRecord.from_json(record.to_json())).html()
    assert f"Right means here: {subject.right_when}." in page
    assert "class: fits" not in page


NUMBERS = X[:, 0] + np.random.default_rng(5).normal(size=2 * SIDE) / 4


def _of_numbers(**options: Any) -> tuple[RandomForestRegressor, ModelMIA]:
    inside, others = (X[INSIDE], NUMBERS[INSIDE]), (X[~INSIDE], NUMBERS[~INSIDE])
    forest = RandomForestRegressor(10, random_state=0).fit(*inside)
    return forest, ModelMIA(forest, inside, others, seed=0, **options)


def test_predicted_numbers_are_shown_to_so_many_decimals() -> None:
    forest, game = _of_numbers(shown=Shown(decimals=1), trainer=RandomForestRegressor(10))
    about = game.judged_records()
    rows = about["row"] + SIDE * (about["source"] == "non_members")
    np.testing.assert_allclose(about["predicted"], forest.predict(X[rows]).round(1))
    scale = 0.3 * NUMBERS[INSIDE].std()
    seen = game.model.predict_proba(game.game.candidates.records.X)[:, 1]
    np.testing.assert_allclose(seen, np.exp(-about["off_by"] / scale))
    _, shadow = game.shadow_models[0].numbers(game.game.candidates.records.X)  # type: ignore[attr-defined]
    np.testing.assert_allclose(shadow, shadow.round(1))


def test_probabilities_of_several_classes_are_shown_to_so_many_decimals() -> None:
    y = np.column_stack([Y, np.random.default_rng(6).integers(0, 3, 2 * SIDE)])
    model = MultiOutputClassifier(FOREST).fit(X[INSIDE], y[INSIDE])
    sides = (X[INSIDE], y[INSIDE]), (X[~INSIDE], y[~INSIDE])
    game = ModelMIA(model, *sides, shown=Shown(decimals=1), seed=0)
    judged = game.judged_records()
    rows = judged["row"] + SIDE * (judged["source"] == "non_members")
    first, second = model.predict_proba(X)
    together = first[rows, y[rows, 0]].round(1) * second[rows, y[rows, 1]].round(1)
    np.testing.assert_allclose(judged["confidence"], np.sqrt(together), atol=1e-5)
    assert not {"class", "predicted"} & set(judged)


@pytest.mark.parametrize(
    ("options", "asked"),
    [({"access": "labels"}, "access='labels'"), ({"shown": Shown(top=2)}, "shown top=2")],
)
def test_views_by_class_are_refused_where_there_is_no_one_class(
    options: dict[str, Any], asked: str
) -> None:
    with pytest.raises(AccessError, match=f"^{asked} is about classes, and the model predicts num"):
        _of_numbers(**options)
    y = np.column_stack([Y, Y])
    model = MultiOutputClassifier(FOREST).fit(X[INSIDE], y[INSIDE])
    with pytest.raises(AccessError, match=f"^{asked} is about one class, and the model predicts 2"):
        ModelMIA(model, (X[INSIDE], y[INSIDE]), (X[~INSIDE], y[~INSIDE]), **options)


def test_exposed_records_of_regressors_have_numbers_in_place_of_classes() -> None:
    forest, game = _of_numbers()
    about = game.judged_records()
    assert list(about) == ["source", "row", "correct", "true", "predicted", "off_by"]
    members = about[about["source"] == "members"]
    np.testing.assert_allclose(members["true"], NUMBERS[INSIDE][members["row"]])
    np.testing.assert_allclose(members["predicted"], forest.predict(X[INSIDE])[members["row"]])
    near = about["off_by"] < 0.3 * NUMBERS[INSIDE].std() * np.log(2)
    np.testing.assert_array_equal(about["correct"], near)
    record = Audit(game, [LossMIA()]).run(n_jobs=1)
    (exposed,) = exposed_records(Findings(AuditRecord.from_json(record.to_json())))
    assert "off_by" in exposed.table
    assert not {"true", "predicted"} & set(exposed.table)
    assert not {"true", "predicted"} & set(record.audited[0].records)
    assert exposed.per_class.empty
    page = AuditPage(record).html()
    assert "off by" in page
    assert "Values of records are not shown; " in page
    shown = Audit(game, [LossMIA()], show_values=True).run(n_jobs=1)
    (exposed,) = exposed_records(Findings(shown))
    assert {"true", "predicted", "off_by"} < set(exposed.table)
    assert "Answer with classes only" not in page
    several = np.column_stack([NUMBERS, NUMBERS])
    both = RandomForestRegressor(10).fit(X, several)
    told = ModelMIA(both, (X[INSIDE], several[INSIDE]), (X[~INSIDE], several[~INSIDE]), seed=0)
    assert {"true_0", "off_by_1"} < set(told.judged_records())
    (subject,) = Audit(told, [LossMIA()]).run(n_jobs=1).audited
    assert {"off_by_0", "off_by_1"} == {name for name in subject.records if name[-1] in "01"}


def test_pages_say_that_the_class_of_each_listed_record_is_shown() -> None:
    inside, others = (X[INSIDE], Y[INSIDE]), (X[~INSIDE], Y[~INSIDE])
    game = ModelMIA(FOREST.fit(*inside), inside, others, seed=0)
    page = AuditPage(Audit(game, [LossMIA()]).run(n_jobs=1)).html()
    assert "each record shows its class and the one that is predicted, and no other value" in page
    assert "Values of records are not shown" not in page


def test_further_records_of_regressors_are_judged_and_need_numbers() -> None:
    inside, others = (X[:SIDE], NUMBERS[:SIDE]), (X[SIDE:200], NUMBERS[SIDE:200])
    forest = RandomForestRegressor(10, random_state=0).fit(*inside)
    game = ModelMIA(forest, inside, others, seed=0)
    pair = (X[200:], NUMBERS[200:])
    of_pair, of_records = (game.judge(LossMIA(), one).table for one in (pair, Records(*pair)))
    pd.testing.assert_frame_equal(of_pair, of_records)
    missing = np.where(np.arange(40) == 3, np.nan, NUMBERS[200:])
    with pytest.raises(SchemaError, match=r"^records: .* 1 records have none as y, .* row 3: nan"):
        game.judge(LossMIA(), (X[200:], missing))


def test_any_function_of_numbers_is_a_regressor() -> None:
    y = X[:, 0] + RNG.normal(size=2 * SIDE)

    def trained(X: np.ndarray, y: np.ndarray, seed: int) -> object:
        return RandomForestRegressor(10, random_state=seed).fit(X, y)

    forest = trained(X[INSIDE], y[INSIDE], 0)
    only = SimpleNamespace(predict=forest.predict)
    assert found(only, X, y, LossMIA()) > 0.7
    assert found(only, X, y, LiRA(), trainer=CallableTrainer(trained), num_shadows=4) > 0.7
    with pytest.raises(SchemaError, match="1 things are predicted, y has 2"):
        ModelMIA(only, (X, y), (X, np.column_stack([y, y])))


def test_several_classifications_are_audited_together() -> None:
    y = np.column_stack([np.where(Y, "yes", "no"), RNG.choice(["a", "b", "c"], 2 * SIDE)])
    model = MultiOutputClassifier(FOREST).fit(X[INSIDE], y[INSIDE])
    assert found(model, X, y, LossMIA()) > 0.8
    assert found(model, X, y, RMIA(), trainer=model, num_shadows=4) > 0.8


# -- texts, and sparse matrices --------------------------------------------------------------------

WORDS = [f"word{number}" for number in range(60)]
TEXTS = [" ".join(RNG.choice(WORDS, 12)) for _ in range(2 * SIDE)]


@pytest.mark.parametrize("kind", ["list", "series", "array"])
def test_texts_reach_the_model_as_texts(kind: str) -> None:
    model = make_pipeline(CountVectorizer(), FOREST).fit(TEXTS[:SIDE], Y[:SIDE])
    data = {"list": TEXTS, "series": pd.Series(TEXTS), "array": np.array(TEXTS)}[kind]
    plain = found(model, data, Y, LossMIA())
    assert plain > 0.8
    if kind == "list":
        assert found(model, data, Y, RMIA(), trainer=model, num_shadows=4) > 0.8
        assert found(model, data, Y, CertaintyMIA("lr")) > 0.8
        with pytest.raises(IncompatibleAttackError, match="changes the inputs"):
            found(model, data, Y, LabelOnlyMIA("noise", 13))


def test_sparse_records_reach_the_model_as_sparse_rows() -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    model = FOREST.fit(counts[:SIDE], Y[:SIDE])

    def asked(rows: scipy.sparse.csr_matrix) -> np.ndarray:
        assert scipy.sparse.issparse(rows)
        return model.predict_proba(rows)

    dense = found(model, counts.toarray().astype(float), Y, LossMIA())
    function = as_model(asked, [0, 1])
    assert found(function, counts, Y, LossMIA()) == pytest.approx(dense, abs=0.03)
    assert found(model, counts, Y, RMIA(), trainer=model, num_shadows=4) > 0.8
    of_arrays = scipy.sparse.csr_array(counts)
    assert found(model, of_arrays, Y, LossMIA()) == found(model, counts, Y, LossMIA())
    assert found(model, scipy.sparse.csc_array(counts), Y, RMIA(), trainer=model) > 0.8
    record = Audit(_sparse_game(model, counts)).run()
    assert max(facts.auc.value for facts in record_facts(record)) > 0.8


def _sparse_game(model: object, counts: scipy.sparse.csr_matrix) -> ModelMIA:
    return ModelMIA(model, (counts[:SIDE], Y[:SIDE]), (counts[SIDE:], Y[SIDE:]), seed=0)


# -- several inputs, and whole numbers -------------------------------------------------------------


class OfTwo:
    """Takes a dictionary of an image and of token numbers, and nothing else; returns logits."""

    def __init__(self, data: dict[str, np.ndarray], y: np.ndarray) -> None:
        self.tree = DecisionTreeClassifier(random_state=0).fit(self._flat(data), y)

    @staticmethod
    def _flat(data: dict[str, np.ndarray]) -> np.ndarray:
        assert data["image"].shape[1:] == (2, 2)
        assert data["tokens"].dtype == np.int32
        return np.column_stack([data["image"].reshape(-1, 4), data["tokens"]])

    def __call__(self, data: dict[str, np.ndarray]) -> np.ndarray:
        return self.tree.predict_proba(self._flat(data))


TWO = {
    "image": X[:, :4].reshape(-1, 2, 2),
    "tokens": RNG.integers(0, 50, (2 * SIDE, 3)).astype(np.int32),
}


@pytest.mark.parametrize("attack", [LossMIA(), LiRA(), LabelOnlyMIA("noise", 13)])
def test_several_inputs_reach_the_model_as_they_were(attack: Any) -> None:
    model = as_model(OfTwo(_rows(TWO, INSIDE), Y[INSIDE]), [0, 1])
    options = {}
    if isinstance(attack, LiRA):
        options = {
            "trainer": CallableTrainer(lambda data, y, seed: OfTwo(data, y)),
            "num_shadows": 4,
        }
    assert found(model, TWO, Y, attack, **options) > 0.6


def test_a_form_there_and_back_changes_nothing() -> None:
    for data in (TWO, tuple(TWO.values()), TWO["tokens"], TWO["image"]):
        form = Form.of(data)
        back = form(Form.rows(data))
        parts = [data] if isinstance(data, np.ndarray) else list(_values(data))
        found_parts = [back] if isinstance(data, np.ndarray) else list(_values(back))
        for one, other in zip(parts, found_parts, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        assert type(back) is type(data)


def _values(data: Any) -> Any:
    return data.values() if isinstance(data, dict) else data


def test_token_numbers_stay_whole_numbers() -> None:
    tokens = TWO["tokens"]
    tree = DecisionTreeClassifier(random_state=0).fit(tokens[INSIDE], Y[INSIDE])
    table = np.zeros(50)

    def asked(rows: np.ndarray) -> np.ndarray:
        table[rows]  # as an embedding does; fails for anything but whole numbers
        return tree.predict_proba(rows)

    assert found(as_model(asked, [0, 1]), tokens, Y, LabelOnlyMIA("noise", 13)) > 0.6


# -- objects of other libraries, by their interfaces -----------------------------------------------


class KerasLike:
    """Has `predict` and `fit` only, and takes and gives float32."""

    def __init__(self, tree: DecisionTreeClassifier) -> None:
        self.tree = tree

    def predict(self, rows: np.ndarray, verbose: str = "auto") -> np.ndarray:
        return self.tree.predict_proba(rows).astype(np.float32)


class ArrayLike:
    """An array of another library, as JAX returns them."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype)


class CatBoostLike(ClassifierMixin, BaseEstimator):
    """Predicts classes as a column, and knows no `random_state`, as CatBoost does."""

    def __init__(self, depth: int = 8) -> None:
        self.depth = depth

    def fit(self, X: np.ndarray, y: np.ndarray) -> "CatBoostLike":
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tree_.predict(X)[:, None]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.tree_.predict_proba(X)


def test_objects_of_other_libraries_are_models() -> None:
    tree = DecisionTreeClassifier(random_state=0).fit(X[INSIDE], Y[INSIDE])
    expected = found(tree, X, Y, LossMIA())
    keras = as_model(KerasLike(tree), [0, 1])
    jax = as_model(lambda rows: ArrayLike(tree.predict_proba(rows)), [0, 1])
    lightgbm = as_model(
        SimpleNamespace(predict=lambda rows: tree.predict_proba(rows)[:, 1]), [0, 1]
    )
    for model in (keras, jax, lightgbm):
        assert found(model, X, Y, LossMIA()) == pytest.approx(expected)
    cat = CatBoostLike().fit(X[INSIDE], Y[INSIDE])
    assert found(cat, X, Y, RMIA(), trainer=cat, num_shadows=4) > 0.7


# -- the libraries themselves, where they are installed --------------------------------------------


def test_boosters_of_sparse_records_say_labels() -> None:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    rows = scipy.sparse.csr_matrix(X)
    booster = xgboost.train(
        {"objective": "binary:logistic"}, xgboost.DMatrix(rows[:SIDE], Y[:SIDE])
    )
    sides = ((rows[:SIDE], Y[:SIDE]), (rows[SIDE:], Y[SIDE:]))
    attack = RuleBasedMIA()
    threat_model = ModelMIA(booster, *sides, access="labels", seed=0)
    attack.train(threat_model)
    assert threat_model.test(attack).auc > 0.5


def test_what_says_its_classes_need_not_predict() -> None:
    model = FOREST.fit(X[INSIDE], Y[INSIDE])
    scorer = SimpleNamespace(classes_=model.classes_, predict_proba=model.predict_proba)
    assert found(scorer, X, Y, LossMIA()) == found(model, X, Y, LossMIA())


def test_boosters_of_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    matrix = xgboost.DMatrix(X[INSIDE], label=Y[INSIDE])
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 6}, matrix, 30)
    assert found(as_model(booster, [0, 1]), X, Y, LossMIA()) > 0.7
    several = Y + (X[:, 1] > 0)
    matrix = xgboost.DMatrix(X[INSIDE], label=several[INSIDE])
    booster = xgboost.train({"objective": "multi:softprob", "num_class": 3}, matrix, 30)
    assert found(as_model(booster, [0, 1, 2]), X, several, LossMIA()) > 0.7
    trainer = xgboost.XGBClassifier(n_estimators=20)
    assert (
        found(trainer.fit(X[INSIDE], Y[INSIDE]), X, Y, RMIA(), trainer=trainer, num_shadows=4) > 0.7
    )


def test_boosters_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    data = lightgbm.Dataset(X[INSIDE], label=Y[INSIDE])
    options = {"objective": "binary", "min_data_in_leaf": 2, "verbose": -1}
    booster = lightgbm.train(options, data, 40)
    assert found(as_model(booster, [0, 1]), X, Y, LossMIA()) > 0.7


def test_catboost_is_a_model_and_a_trainer() -> None:
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    model = catboost.CatBoostClassifier(iterations=30, verbose=False, allow_writing_files=False)
    words = np.where(Y, "yes", "no")
    model.fit(X[INSIDE], words[INSIDE])
    assert found(model, X, words, LossMIA()) > 0.6
    assert found(model, X, words, RMIA(), trainer=model, num_shadows=4) > 0.6


def test_catboost_with_columns_of_categories_is_a_trainer() -> None:
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    towns = pd.DataFrame({"town": RNG.choice(["York", "Hull"], 2 * SIDE), "number": X[:, 0]})
    model = catboost.CatBoostClassifier(
        iterations=30, verbose=False, allow_writing_files=False, cat_features=["town"]
    )
    model.fit(towns[INSIDE], Y[INSIDE])
    assert found(model, towns, Y, RMIA(), trainer=model, num_shadows=4) > 0.6
