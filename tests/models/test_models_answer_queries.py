"""Access, counting, batching, and what is refused."""

from functools import partial
from http.client import IncompleteRead, RemoteDisconnected
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from tapas.engine import TimeLimitError
from tapas.errors import ConfigError, MechanismError, SchemaError, TapasError
from tapas.models import (
    Access,
    AccessError,
    EncodedModel,
    Model,
    OneHotInputs,
    QueryBudgetError,
    Shown,
    ShownModel,
    as_model,
)
from tapas.models._outputs import as_probabilities
from tapas.models._retries import ATTEMPTS


def _scores(X: np.ndarray) -> np.ndarray:
    p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
    return np.column_stack([1 - p, p])


def _model(**options: object) -> Model:
    return as_model(_scores, ["no", "yes"], **options)


X = np.linspace(-2, 2, 23)[:, None]


@pytest.mark.parametrize("access", list(Access))
def test_access_is_parsed_from_itself_and_from_its_name(access):
    assert Access.parse(access) is access
    assert Access.parse(access.value) is access


def test_an_unknown_access_is_refused_with_the_list_of_known_ones():
    with pytest.raises(ConfigError, match="'labels', 'scores', 'parameters', got 'logits'"):
        Access.parse("logits")


def test_more_access_shows_all_that_less_access_does():
    assert Access.PARAMETERS.shows(Access.SCORES)
    assert Access.SCORES.shows(Access.LABELS)
    assert not Access.LABELS.shows(Access.SCORES)


def test_every_row_asked_about_is_counted():
    model = _model()
    model.predict_proba(X)
    model.predict(X[:5])
    assert model.queries == 28


def test_a_budget_is_kept_and_nothing_is_asked_beyond_it():
    asked = []

    def spy(rows):
        asked.append(len(rows))
        return _scores(rows)

    view = as_model(spy, [0, 1]).restricted("scores", budget=25)
    view.predict_proba(X)
    with pytest.raises(QueryBudgetError, match="23 queries were asked for, but 2 of the budget"):
        view.predict_proba(X)
    assert asked == [23]
    assert view.remaining == 2


def test_a_view_counts_for_itself_and_the_model_behind_counts_all():
    model = _model()
    first, second = model.restricted("labels"), model.restricted("scores")
    first.predict(X)
    second.predict_proba(X[:3])
    assert (first.queries, second.queries, model.queries) == (23, 3, 26)


def test_labels_only_refuses_scores_and_says_what_fits():
    view = _model().restricted(Access.LABELS)
    assert set(view.predict(X)) == {"no", "yes"}
    with pytest.raises(AccessError, match="shows labels only"):
        view.predict_proba(X)
    assert view.queries == 23


def test_a_view_cannot_be_widened():
    with pytest.raises(AccessError, match="labels only"):
        _model().restricted("labels").restricted("scores")


def test_parameters_are_hidden_unless_the_release_shows_them():
    with pytest.raises(AccessError, match="parameters were asked for"):
        _ = _model().parameters


@pytest.mark.parametrize("batch_size", [1, 7, 23, 1000, None])
def test_answers_do_not_depend_on_the_batch_size(batch_size):
    model = _model(batch_size=batch_size)
    np.testing.assert_array_equal(model.predict_proba(X), _scores(X))
    assert (model.predict(X) == np.where(X[:, 0] > 0, "yes", "no")).all()


def test_answers_do_not_depend_on_the_order_of_records():
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(_model().predict_proba(X[order]), _scores(X)[order])


def test_no_records_give_no_answers_and_cost_nothing():
    model = _model()
    assert model.predict_proba(X[:0]).shape == (0, 2)
    assert model.predict(X[:0]).shape == (0,)
    assert model.queries == 0


def test_one_record_must_be_given_as_a_row():
    with pytest.raises(SchemaError, match=r"x\[None, :\]"):
        _model().predict(X[0])


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        ("not finite", [np.nan, 1.0]),
        (r"outside \[0, 1\]", [-0.5, 1.5]),
        ("not summing to one", [0.5, 0.6]),
    ],
)
def test_wrong_probabilities_are_refused_with_their_row(fault, value):
    def broken(rows):
        scores = _scores(rows)
        scores[rows[:, 0] == X[17, 0]] = value
        return scores

    for batch_size in (5, None):
        model = as_model(broken, [0, 1], batch_size=batch_size)
        with pytest.raises(MechanismError, match=f"{fault} in 1 rows, the first is row 17"):
            model.predict_proba(X)


def _hollow(rows):
    numbers = rows.to_numpy(dtype=float) if isinstance(rows, pd.DataFrame) else rows
    return np.stack([0.5 + 0 * numbers.sum(axis=1), 0.5 - 0 * numbers.sum(axis=1)], axis=1)


@pytest.mark.parametrize("ask", ["predict_proba", "predict"])
def test_answers_that_are_missing_are_counted_beside_the_inputs_that_are(ask):
    inputs = pd.DataFrame({"age": np.arange(30.0), "pay": np.arange(30.0)})
    inputs.loc[[7, 20], "pay"] = np.nan
    for model in (as_model(_hollow, [0, 1]), ShownModel(as_model(_hollow, [0, 1]), Shown(top=1))):
        with pytest.raises(MechanismError, match=r"NaN for 2 of the 30 records .* 7, 20;") as told:
            getattr(model, ask)(inputs)
        assert "missing in column 'pay': fill them in (impute)" in str(told.value)
        assert "logits" not in str(told.value)


def test_columns_are_named_as_they_are_given_where_a_model_sees_them_encoded():
    inputs = pd.DataFrame({"town": ["a", "b", "c"] * 5, "pay": np.arange(15.0)})
    model = EncodedModel(as_model(_hollow, [0, 1]), OneHotInputs.learn(inputs))
    inputs.loc[3, "pay"] = np.nan
    with pytest.raises(MechanismError, match=r"NaN for 1 of the 15 .*missing in column 'pay'"):
        model.predict_proba(inputs)


def test_answers_that_are_missing_though_no_input_is_are_the_model_s_own():
    broken = as_model(lambda rows: np.full((len(rows), 2), np.nan), [0, 1])
    with pytest.raises(MechanismError, match=r"for 23 of the 23 .*no input .*is missing"):
        broken.predict_proba(X)
    with pytest.raises(MechanismError, match="NaN for 23 of the 23"):
        broken.answered(X, len(X), labels=True)
    labels = as_model(lambda rows: np.full(len(rows), np.nan), [0, 1], outputs="labels")
    with pytest.raises(MechanismError, match="NaN for 23 of the 23"):
        labels.predict(X)


def test_a_model_that_fails_says_which_inputs_were_missing():
    inputs = pd.DataFrame({"age": np.arange(30.0), "pay": [np.nan, *np.arange(29.0)]})
    model = as_model(LogisticRegression().fit(inputs.fillna(0), np.arange(30) % 2))
    with pytest.raises(MechanismError, match=r"contains NaN(.|\n)*missing in column 'pay'"):
        model.predict_proba(inputs)


def test_probabilities_of_the_wrong_shape_are_refused():
    with pytest.raises(MechanismError, match=r"3 classes must return .* \(23, 3\).*\(23, 2\)"):
        as_model(_scores, [0, 1, 2]).predict_proba(X)


def test_a_model_that_fails_says_on_which_rows():
    def failing(rows):
        raise RuntimeError("no memory left")

    with pytest.raises(MechanismError, match="failing failed on rows 0 to 22: RuntimeError: no m"):
        as_model(failing, [0, 1]).predict(X)


@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rounded_probabilities_are_accepted(decimals, kind):
    many = np.random.default_rng(0).dirichlet(np.full(10, 0.5), 300)

    def rounded(rows):
        return many[: len(rows)].round(decimals).astype(kind)

    asked = np.zeros((300, 2))
    found = as_model(rounded, range(10)).predict_proba(asked)
    np.testing.assert_allclose(found, many.round(decimals), atol=1e-6)
    assert not np.allclose(found.sum(axis=1), 1, atol=0.5 * 10.0**-decimals)
    told = as_probabilities(many.round(decimals), None, 10)  # not taken for logits
    np.testing.assert_array_equal(told, many.round(decimals))


def test_a_sum_that_rounding_does_not_explain_is_refused():
    shares = np.tile([0.251, 0.252, 0.253], (23, 1))
    with pytest.raises(MechanismError, match="not summing to one"):
        as_model(lambda rows: shares, [0, 1, 2]).predict_proba(X)


class _BusyError(RuntimeError):
    def __init__(self, status, seconds=None):
        super().__init__(f"status {status}")
        headers = {} if seconds is None else {"Retry-After": seconds}
        self.response = SimpleNamespace(status_code=status, headers=headers)


def test_a_busy_service_is_asked_again_and_each_record_counts_once(monkeypatch):
    answers = [_BusyError(429, "2"), _BusyError(503), None]
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)

    def service(rows):
        now = answers.pop(0)
        if now is not None:
            raise now
        return _scores(rows)

    model = as_model(service, [0, 1])
    np.testing.assert_array_equal(model.predict_proba(X), _scores(X))
    assert waited == [2.0, 2.0]
    assert model.queries == len(X)


class _HttpxError(Exception):
    """As httpx has it: no status, and no error of Python's."""


class NetworkError(_HttpxError):
    pass


@pytest.mark.parametrize(
    "error",
    [
        _BusyError(529),  # overloaded, as some services say
        _BusyError(520),
        ConnectionResetError("by peer"),
        TimeoutError("nothing came"),
        URLError(ConnectionRefusedError("nobody there")),
        RemoteDisconnected("no answer"),
        IncompleteRead(b""),
        NetworkError("dropped"),
    ],
)
def test_dropped_connections_and_all_5xx_are_asked_again(monkeypatch, error):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    answers = [error, error, None]

    def service(rows):
        now = answers.pop(0)
        if now is not None:
            raise now
        return _scores(rows)

    np.testing.assert_array_equal(as_model(service, [0, 1]).predict_proba(X), _scores(X))


def test_a_time_limit_of_ours_is_not_waited_out(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("waited"))

    def slow(rows):
        raise TimeLimitError("took too long")

    with pytest.raises(TimeLimitError):
        as_model(slow, [0, 1]).predict_proba(X)


def test_other_errors_of_a_service_and_endless_ones_end_the_query(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    calls = []

    def service(status, rows):
        calls.append(status)
        raise _BusyError(status)

    for status, times in ((404, 1), (429, ATTEMPTS)):
        with pytest.raises(MechanismError, match=f"status {status}"):
            as_model(partial(service, status), [0, 1]).predict_proba(X)
        assert calls.count(status) == times


def test_a_callable_needs_classes():
    with pytest.raises(ConfigError, match=r"as_model\(model, classes=\[\.\.\.\]\)"):
        as_model(_scores)


def test_repeated_classes_are_refused():
    with pytest.raises(SchemaError, match="each class of the model once"):
        as_model(_scores, ["a", "a"])


def test_a_callable_may_return_the_probability_of_the_second_class():
    for shape in ((-1,), (-1, 1)):
        model = as_model(lambda rows, s=shape: _scores(rows)[:, 1].reshape(s), ["no", "yes"])
        np.testing.assert_allclose(model.predict_proba(X), _scores(X))


def test_a_callable_may_return_labels():
    model = as_model(lambda rows: np.where(rows[:, 0] > 0, "yes", "no"), ["no", "yes"])
    assert list(model.predict(X[[0, -1]])) == ["no", "yes"]
    with pytest.raises(MechanismError, match="returned labels"):
        model.predict_proba(X)


def test_numbers_that_may_be_classes_or_probabilities_need_a_word():
    model = as_model(lambda rows: (rows[:, 0] > 0).astype(float), [0.0, 1.0])
    with pytest.raises(ConfigError, match="outputs='labels' or outputs='scores'"):
        model.predict(X)
    named = as_model(lambda rows: (rows[:, 0] > 0).astype(float), [0.0, 1.0], outputs="labels")
    assert named.access is Access.LABELS
    assert list(named.predict(X[[0, -1]])) == [0.0, 1.0]


def test_logits_of_a_callable_become_probabilities_without_overflow():
    extreme = np.array([[-1000.0], [0.0], [1000.0]])
    two = as_model(lambda rows: np.hstack([-rows, rows]), [0, 1], outputs="logits")
    one = as_model(lambda rows: rows[:, 0], [0, 1], outputs="logits")
    expected = [[1, 0], [0.5, 0.5], [0, 1]]
    np.testing.assert_allclose(two.predict_proba(extreme), expected)
    np.testing.assert_allclose(one.predict_proba(extreme), expected)


def test_a_predicted_label_that_is_no_class_is_refused():
    model = as_model(lambda rows: np.full(len(rows), "maybe"), ["no", "yes"])
    with pytest.raises(MechanismError, match="predicted 'maybe' in row 0"):
        model.predict(X)


def test_alignment_reorders_columns_and_gives_unknown_classes_zero():
    aligned = _model().aligned(["yes", "perhaps", "no"])
    np.testing.assert_array_equal(aligned.predict_proba(X)[:, [2, 0]], _scores(X))
    assert (aligned.predict_proba(X)[:, 1] == 0).all()
    assert (aligned.predict(X) == _model().predict(X)).all()
    with pytest.raises(SchemaError, match="'no' are missing"):
        _model().aligned(["yes", "perhaps"])


def test_labels_of_records_are_looked_up_and_unknown_ones_counted():
    model = _model()
    assert model.codes_of(["yes", "no", "yes"]).tolist() == [1, 0, 1]
    with pytest.raises(SchemaError, match=r"1 records .*: 'maybe', the first in row 1"):
        model.codes_of(["yes", "maybe"])


def test_data_frames_pass_through_as_they_are():
    seen = []

    def remember(rows):
        seen.append(list(rows.columns))
        return _scores(rows.to_numpy())

    as_model(remember, [0, 1], batch_size=10).predict(pd.DataFrame({"x": X[:, 0]}))
    assert seen == [["x"]] * 3


def test_something_that_does_not_classify_is_refused():
    with pytest.raises(TapasError, match="got int"):
        as_model(3)
