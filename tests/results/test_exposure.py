"""Membership metrics by slice, and the table of exposed records."""

import numpy as np
import pandas as pd
import pytest

from tapas import stats
from tapas.errors import ConfigError
from tapas.results import MIAttackSummary, privacy_risk, risk_histogram, spreadsheet_safe
from tapas.results._exposure import (
    exposure_table,
    positive_predictive_value,
    slice_metrics,
    write_exposure_table,
)
from tapas.stats import clopper_pearson


@pytest.fixture
def summary() -> MIAttackSummary:
    rng = np.random.default_rng(0)
    members = np.arange(400) % 2 == 0
    scores = members + rng.standard_normal(400)
    return MIAttackSummary(members, scores >= 0.5, scores)


def test_the_row_of_all_records_repeats_the_summary(summary: MIAttackSummary) -> None:
    row = slice_metrics(summary).iloc[0]
    assert (row["members"], row["non_members"]) == (200, 200)
    assert row["accuracy"] == summary.accuracy
    assert row["precision"] == summary.precision
    assert row["recall"] == summary.recall
    assert row["auc"] == pytest.approx(summary.auc)
    assert row["advantage"] == pytest.approx(summary.mia_advantage)
    for fpr in (0.01, 0.001):
        assert row[f"tpr_at_fpr_{fpr:g}"] == summary.tpr_at_fpr(fpr).tpr
    for name in ("precision", "recall", "advantage", "auc", "tpr_at_fpr_0.01"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    scores, members = summary.scores, summary.labels == 1
    interval = stats.auc_interval(scores[members], scores[~members])
    assert (row["auc_low"], row["auc_high"]) == (interval.low, interval.high)


def test_slices_add_up_and_each_stands_for_itself(summary: MIAttackSummary) -> None:
    group = np.where(np.arange(400) < 100, "x", "y")
    table = slice_metrics(summary, {"group": group, "half": np.arange(400) % 4 < 2})
    assert table["slice"].tolist() == ["all", "group", "group", "half", "half"]
    parts = table[table["slice"] == "group"]
    assert parts["members"].sum() == 200
    alone = MIAttackSummary(summary.labels[:100], summary.predictions[:100], summary.scores[:100])
    first = slice_metrics(alone, None).iloc[0].drop(["slice", "value"])
    pd.testing.assert_series_equal(parts.iloc[0].drop(["slice", "value"]), first, check_names=False)


def test_a_slice_of_one_kind_has_no_comparison(summary: MIAttackSummary) -> None:
    table = slice_metrics(summary, {"member": summary.labels})
    only = table[(table["slice"] == "member") & (table["value"] == 1)].iloc[0]
    assert np.isnan(only["auc"])
    assert np.isnan(only["tpr_at_fpr_0.01"])
    assert only["recall"] == summary.recall
    missing = np.where(summary.labels == 1, np.nan, 1.0)
    assert len(slice_metrics(summary, {"known": missing})) == 2


def test_the_share_of_right_guesses_follows_bayes() -> None:
    assert positive_predictive_value(0.5, 0.01, 0.01) == pytest.approx(0.005 / (0.005 + 0.0099))
    assert positive_predictive_value(0.3, 0.3, 0.1) == pytest.approx(0.1)
    assert np.isnan(positive_predictive_value(0, 0, 0.5))


def test_the_most_exposed_records_come_first(summary: MIAttackSummary, tmp_path: object) -> None:
    about = pd.DataFrame({"name": [f"r{i}" for i in range(400)]})
    table = exposure_table(summary, about)
    assert (np.diff(table["score"]) <= 0).all()
    others = summary.scores[summary.labels == 0]
    for _, row in table.head(20).iterrows():
        assert row["false_positive_rate"] == (others >= row["score"]).mean()
        assert row["false_positive_rate"] < row["false_positive_rate_high"] <= 1
        assert row["name"] == f"r{row['record']}"
        assert row["member"] == summary.labels[row["record"]]
    path = write_exposure_table(summary, tmp_path / "deep" / "exposed.csv", about, most=7)
    assert len(pd.read_csv(path)) == 7


def test_rates_of_all_records_hold_together() -> None:
    """On a null of 200 members and 100 others, the best of all members is covered too."""
    missed = 0
    for seed in range(100):
        scores = np.random.default_rng(seed).random(300)  # true rate of a score: 1 - score
        table = exposure_table(MIAttackSummary(np.arange(300) < 200, scores > 0.5, scores))
        missed += (1 - table["score"] > table["false_positive_rate_high"]).any()
    assert missed <= 12


def test_tables_that_do_not_fit_are_refused(summary: MIAttackSummary) -> None:
    with pytest.raises(ConfigError, match="3 values, the summary 400"):
        slice_metrics(summary, {"group": [1, 2, 3]})
    with pytest.raises(ConfigError, match="about has 1 rows"):
        exposure_table(summary, pd.DataFrame({"a": [1]}))
    with pytest.raises(ConfigError, match="needs scores"):
        exposure_table(MIAttackSummary([True, False], [True, True]))


def test_an_attack_without_scores_still_has_slices() -> None:
    table = slice_metrics(MIAttackSummary([True, False, True, False], [True, False, False, False]))
    assert table["auc"].iloc[0] == pytest.approx(0.75)


def test_privacy_risk_is_what_bayes_says_of_scores() -> None:
    rng = np.random.default_rng(0)
    members = rng.random(8_000) < 0.2  # even odds all the same
    scores = rng.normal(2.0 * members)
    risk = privacy_risk(scores, members)
    exact = 1 / (1 + np.exp(-2 * (scores - 1)))
    assert np.abs(risk - exact).mean() < 0.03
    assert 0 < risk.min() < risk.max() < 1
    nothing = privacy_risk(rng.normal(size=8_000), members)
    assert nothing.mean() == pytest.approx(0.5, abs=0.03)
    assert nothing.std() < 0.1
    counts = risk_histogram(risk, members)
    assert sum(counts["members"]) == members.sum()
    high = sum(counts["members"][7:]) / members.sum(), sum(counts["others"][7:]) / (~members).sum()
    assert high[0] > 3 * high[1]


def test_risks_stand_between_ends_that_hold_the_posterior(summary: MIAttackSummary) -> None:
    table = exposure_table(summary)
    exact = 1 / (1 + np.exp(0.5 - table["score"]))
    assert (table["privacy_risk_low"] <= np.minimum(exact, table["privacy_risk"])).all()
    assert (table["privacy_risk_high"] >= np.maximum(exact, table["privacy_risk"])).all()
    assert 0.5 < table["privacy_risk_low"].iloc[0] < 0.95
    few = exposure_table(MIAttackSummary([1, 0, 1], [1, 0, 1], [0.3, 0.1, 0.2]))
    assert few[["privacy_risk", "privacy_risk_low", "privacy_risk_high"]].isna().all(axis=None)


def test_where_members_score_lower_the_ends_of_risks_do_not_claim_to_know() -> None:
    rng = np.random.default_rng(0)
    members = np.arange(400) % 2 == 0
    table = exposure_table(MIAttackSummary(members, members, rng.normal(size=400) - 3 * members))
    assert (table["privacy_risk_low"] == 0).all()
    assert (table["privacy_risk_high"] == 1).all()


def test_equal_scores_are_ordered_neither_by_the_answer_nor_by_place() -> None:
    scores = np.zeros(1_000)
    members = np.arange(1_000) < 500
    table = exposure_table(MIAttackSummary(members, scores > 0, scores))
    assert (table["same_score"] == 1_000).all()
    for size in (20, 100):
        expected = clopper_pearson(int(table["member"].head(size).sum()), size, 0.99)
        assert expected[0] < 0.5 < expected[1]
    swapped = exposure_table(MIAttackSummary(~members, scores > 0, scores))
    assert swapped["record"].tolist() == table["record"].tolist()
    split = exposure_table(MIAttackSummary(members, scores > 0, (np.arange(1_000) % 4 == 0) * 1.0))
    assert split["same_score"].tolist() == [250] * 250 + [750] * 750
    assert 0.3 < split["member"].head(100).mean() < 0.7


def test_equal_scores_of_a_class_are_not_ordered_by_the_answer() -> None:
    scores, members = np.zeros(600), np.arange(600) < 300
    about = pd.DataFrame({"class": np.arange(600) % 3})
    table = exposure_table(MIAttackSummary(members, members, scores), about, most=50, per="class")
    assert table["class"].tolist() == [0] * 50 + [1] * 50 + [2] * 50
    assert (table.groupby("class")["member"].mean().between(0.2, 0.8)).all()


def test_read_the_other_way_round_every_number_is_that_of_the_reversed_score(
    summary: MIAttackSummary, tmp_path: object
) -> None:
    reversed_ = MIAttackSummary(summary.labels, summary.predictions, -summary.scores)
    about = pd.DataFrame({"class": np.arange(400) % 2})
    plain = exposure_table(summary, about)
    table = exposure_table(reversed_, about, read_reversed=True)
    assert (np.diff(table["score"]) >= 0).all()
    pd.testing.assert_frame_equal(table.assign(score=-table["score"]), plain)
    best = exposure_table(reversed_, about, most=2, per="class", read_reversed=True)
    expected = exposure_table(summary, about, most=2, per="class")
    assert best["record"].tolist() == expected["record"].tolist()
    path = write_exposure_table(reversed_, tmp_path / "a.csv", most=7, read_reversed=True)
    assert pd.read_csv(path)["record"].tolist() == plain["record"].head(7).tolist()


def test_too_few_records_have_no_risk() -> None:
    risk = privacy_risk(np.arange(12.0), np.arange(12) > 5)
    assert np.isnan(risk).all()
    assert sum(risk_histogram(risk, np.arange(12) > 5)["members"]) == 0


def test_the_most_exposed_of_each_class() -> None:
    scores = np.arange(40.0)
    summary = MIAttackSummary(scores > 20, scores > 19, scores)
    about = pd.DataFrame({"class": np.arange(40) % 3})
    table = exposure_table(summary, about, most=2, per="class")
    assert table["class"].tolist() == [0, 0, 1, 1, 2, 2]
    assert table["score"].tolist() == [39, 36, 37, 34, 38, 35]
    with pytest.raises(ConfigError, match="per: 'colour'"):
        exposure_table(summary, about, most=2, per="colour")


def test_a_higher_score_never_has_a_lower_risk_and_equal_scores_have_one() -> None:
    rng = np.random.default_rng(5)
    members = rng.random(400) < 0.5
    scores = (rng.normal(size=400) + members).round(1)
    risk = privacy_risk(scores, members)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(risk[order]) >= 0).all()
    assert len({(score, value) for score, value in zip(scores, risk, strict=True)}) == len(
        np.unique(scores)
    )


def test_text_that_a_spreadsheet_would_run_is_marked_and_nothing_else() -> None:
    given = pd.DataFrame({"a": ["=1+1", "", "plain", "-x", "\tx"], "b": [-1.0, 2, 3, 4, 5]})
    safe = spreadsheet_safe(given)
    assert safe["a"].tolist() == ["'=1+1", "", "plain", "'-x", "'\tx"]
    assert safe["b"].tolist() == given["b"].tolist()
