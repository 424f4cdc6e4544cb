"""Summaries: documented columns, properties, file names and edge cases."""

import contextlib
import math

import numpy as np
import pandas as pd
import pytest

from tapas.errors import ConfigError, StoreError, TapasWarning
from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    MIAttackSummary,
    file_safe,
)

METRICS = [
    "accuracy",
    "true_positive_rate",
    "false_positive_rate",
    "mia_advantage",
    "privacy_gain",
    "auc",
    "effective_epsilon",
]
ABOUT = ["dataset", "target_id", "generator", "attack"]
LABELS = [1, 1, 1, 0, 0]
GUESSES = [1, 1, 0, 1, 0]
SCORES = [0.9, 0.8, 0.3, 0.7, 0.1]


def membership(**more):
    return MIAttackSummary(LABELS, GUESSES, SCORES, "Raw", "Groundhog", "Texas", 7, **more)


def test_membership_columns_come_in_the_documented_order():
    table = membership().get_metrics()
    assert list(table.columns) == ABOUT + METRICS
    assert table.iloc[0, :4].tolist() == ["Texas", 7, "Raw", "Groundhog"]
    assert len(table) == 1


def test_attribute_columns_name_the_attribute():
    summary = BinaryAIAttackSummary(
        ["M", "F", "F"], ["M", "M", "F"], None, "g", "a", "d", "t", "Sex", positive_value="M"
    )
    assert list(summary.get_metrics().columns) == [*ABOUT, "sensitive_attribute", *METRICS]
    assert summary.get_header() == list(summary.get_metrics().columns)
    np.testing.assert_array_equal(summary.labels, [1, 0, 0])
    np.testing.assert_array_equal(summary.predictions, [1, 1, 0])


def test_properties_equal_hand_counts():
    summary = membership()
    assert summary.accuracy == 3 / 5
    assert summary.tp == summary.recall == 2 / 3
    assert summary.fp == 1 / 2
    assert summary.mia_advantage == pytest.approx(1 / 6)
    assert summary.privacy_gain == pytest.approx(5 / 6)
    assert summary.precision == pytest.approx(2 / 3)
    assert summary.auc == pytest.approx(5 / 6)
    assert summary.tpr_at_fpr(0.1) == (2 / 3, 0.0, 0.8)
    assert summary.effective_epsilon == math.inf
    values = summary.get_metrics().iloc[0]
    assert values["mia_advantage"] == summary.mia_advantage
    assert values["effective_epsilon"] == math.inf


@pytest.mark.parametrize("scores", [None, np.array(None), [None] * 5])
def test_scores_are_optional(scores):
    summary = MIAttackSummary(LABELS, GUESSES, scores)
    assert summary.scores is None
    assert summary.auc == pytest.approx((1 + 2 / 3 - 1 / 2) / 2)
    assert summary.effective_epsilon == pytest.approx(math.log(3 / 2))
    assert list(summary.get_metrics().columns) == ABOUT + METRICS


def test_one_class_gives_nan_with_a_warning_and_no_crash():
    summary = MIAttackSummary([1, 1, 1, 1], [1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
    with pytest.warns(TapasWarning):
        values = summary.get_metrics().iloc[0]
    assert values["auc"] == 0.5
    assert values["true_positive_rate"] == 0.75
    assert math.isnan(values["false_positive_rate"])
    assert math.isnan(values["effective_epsilon"])


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_tiny_samples_never_crash(size):
    labels = [True, False, True][:size]
    with pytest.warns(TapasWarning) if size < 3 else contextlib.nullcontext():
        table = MIAttackSummary(labels, labels, [0.9, 0.1, 0.8][:size]).get_metrics()
    assert len(table) == 1


@pytest.mark.parametrize(
    "labels", [[True, False], [1, 0], np.array([1.0, 0.0]), pd.Series([True, False]), (True, False)]
)
def test_any_spelling_of_membership_becomes_zero_and_one(labels):
    summary = MIAttackSummary(labels, labels)
    np.testing.assert_array_equal(summary.labels, [1, 0])
    assert summary.accuracy == 1


def test_every_label_but_the_positive_one_is_negative():
    summary = BinaryLabelInferenceAttackSummary([2, 1, 0], [2, 2, 1], positive_label=2)
    np.testing.assert_array_equal(summary.labels, [1, 0, 0])
    np.testing.assert_array_equal(summary.predictions, [1, 1, 0])


def test_mixed_value_types_are_told_apart():
    summary = BinaryAIAttackSummary(["1", "2"], ["1", "1"], positive_value=np.str_("1"))
    np.testing.assert_array_equal(summary.labels, [1, 0])
    np.testing.assert_array_equal(
        BinaryAIAttackSummary(["1", "2"], ["1", "1"], positive_value=1).labels, [0, 0]
    )


def test_arrays_are_read_only_copies():
    scores = np.array(SCORES)
    summary = MIAttackSummary(LABELS, GUESSES, scores, groups=[0, 0, 1, 1, 2])
    scores[0] = -1
    assert summary.scores[0] == 0.9
    for array in (summary.labels, summary.predictions, summary.scores, summary.groups):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3


def test_groups_and_relation_are_kept_and_checked():
    summary = membership(groups=[0, 0, 1, 1, 2], relation="replace")
    assert summary.groups.tolist() == [0, 0, 1, 1, 2]
    assert summary.relation == "replace"
    with pytest.raises(ConfigError, match="one integer per trial"):
        membership(groups=[0, 1])
    with pytest.raises(ConfigError, match="one integer per trial"):
        membership(groups=[0.5] * 5)
    with pytest.raises(ConfigError, match="add/remove"):
        membership(relation="swap")


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="equal length"):
        MIAttackSummary([1, 0], [1])
    with pytest.raises(ConfigError, match="per trial"):
        MIAttackSummary([1, 0], [1, 0], [0.5])
    with pytest.raises(ConfigError, match="one score per trial"):
        MIAttackSummary([1, 0], [1, 0], [[0.5, 0.5], [0.1, 0.9]])


def test_a_single_score_column_is_accepted():
    assert MIAttackSummary([1, 0], [1, 0], [[0.5], [0.1]]).scores.shape == (2,)


def test_label_inference_has_accuracy_alone():
    summary = LabelInferenceAttackSummary(["x", "y"], ["x", "x"])
    assert summary.get_metrics().to_dict("list") == {"accuracy": [0.5]}
    assert summary.get_metric_filename(3) == "result_labelIA_3.csv"
    assert isinstance(summary, AttackSummary)


def test_many_values_have_balanced_accuracy_rates_and_macro_auc():
    scores = np.eye(3)[[0, 1, 2, 1]] + 0.1
    summary = AIAttackSummary(
        ["c", "a", "b", "b"],
        ["c", "a", "b", "a"],
        scores,
        "g",
        "a",
        "d",
        "t",
        "Region",
        attribute_values=["c", "a", "b"],
    )
    values = summary.get_metrics().iloc[0]
    assert list(summary.get_metrics().columns) == [
        *ABOUT,
        "sensitive_attribute",
        "accuracy",
        "accuracy_gain",
        "balanced_accuracy",
        "macro_auc",
    ]
    assert values["accuracy"] == 0.75
    assert values["balanced_accuracy"] == pytest.approx(2.5 / 3)
    assert values["macro_auc"] == pytest.approx((1 + 5 / 6 + 3 / 4) / 3)
    rates = summary.per_value_rates.set_index("value")
    assert rates.loc["b", "true_positive_rate"] == 0.5
    assert rates.loc["a", "false_positive_rate"] == pytest.approx(1 / 3)


def test_many_values_without_scores_use_the_decisions():
    assert AIAttackSummary(["a", "b", "c"], ["a", "b", "c"]).macro_auc == 1


def test_score_columns_must_fit_the_values():
    with pytest.raises(ConfigError, match="attribute_values"):
        AIAttackSummary(["a", "b"], ["a", "b"], np.zeros((2, 3)))
    with pytest.raises(ConfigError, match="lacks"):
        AIAttackSummary(["a", "z"], ["a", "b"], attribute_values=["a", "b"])


def test_a_guess_that_is_no_value_is_just_wrong():
    summary = AIAttackSummary(["a", "b"], ["a", "z"], np.eye(2), attribute_values=["a", "b"])
    assert summary.accuracy == summary.balanced_accuracy == 0.5
    assert summary.macro_auc == 1


def test_a_summary_of_ones_own_needs_only_the_two_documented_methods(tmp_path):
    class Own(AttackSummary):
        def get_metrics(self):
            return pd.DataFrame({"beauty": [1.0]})

        def get_metric_filename(self, postfix=""):
            return f"own{postfix}.csv"

    assert Own().write_metrics(tmp_path, "_1").read_text() == "beauty\n1.0\n"
    with pytest.raises(StoreError, match="rebuild"):
        Own().to_json()


def test_file_names_are_the_documented_ones():
    assert membership().get_metric_filename("x") == "result_mia_Texas_Groundhog_Raw_Target7_x.csv"
    attribute = AIAttackSummary(["a"], ["a"], None, "Raw", "A(b, c)", "Texas [AUX]", "t 1", "Sex")
    assert (
        attribute.get_metric_filename() == "result_aia_Texas [AUX]_A(b, c)_Raw_Targett 1_Sex_.csv"
    )
    binary = BinaryLabelInferenceAttackSummary(LABELS, GUESSES)
    assert binary.get_metric_filename(10) == "BinaryLIAttack_result_10.csv"


def test_metrics_are_written_without_index_into_a_new_folder(tmp_path):
    path = membership().write_metrics(str(tmp_path / "new" / "folder"), postfix=10)
    assert path.name == "result_mia_Texas_Groundhog_Raw_Target7_10.csv"
    table = pd.read_csv(path)
    assert list(table.columns) == ABOUT + METRICS
    assert table["auc"][0] == pytest.approx(5 / 6)


def test_unsafe_labels_make_safe_files_in_the_folder_itself(tmp_path):
    summary = MIAttackSummary(
        LABELS, GUESSES, None, "a/b", "..\\c:*?", "d\n<e>|", "\x00" + "é" * 300
    )
    path = summary.write_metrics(tmp_path)
    assert path.parent == tmp_path
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert len(path.name.encode()) < 255


def test_safe_names_are_left_alone():
    for name in ("MST($\varepsilon$=1)".replace("\v", "v"), "a b, (c) [d] = 1.5%", "é"):
        assert file_safe(name) == name
    assert file_safe("x" * 300) != file_safe("x" * 299 + "y")


def test_notebook_table_escapes_labels():
    html = MIAttackSummary(LABELS, GUESSES, None, "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "0.6" in html


def test_repr_says_what_was_attacked():
    assert repr(membership()) == (
        "MIAttackSummary(dataset='Texas', target_id=7, generator='Raw', "
        "attack='Groundhog', 5 trials)"
    )


@pytest.mark.parametrize("labels", [[0, 2, 1], ["in", "out", "in"], [0.5, 1.0, 0.0]])
def test_memberships_are_true_or_false(labels: list[object]) -> None:
    with pytest.raises(ConfigError, match="labels of membership must be True or False"):
        MIAttackSummary(labels, [1, 0, 1])
    with pytest.raises(ConfigError, match="predictions of membership"):
        MIAttackSummary([1, 0, 1], labels)
