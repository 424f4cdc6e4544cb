"""One row per metric drives tables, reports, bootstraps, facts and gates."""

import math

import numpy as np
import pandas as pd
import pytest

from tapas import stats
from tapas.errors import ConfigError, TapasWarning
from tapas.report import BinaryLabelAttackReport, MIAttackReport
from tapas.results import (
    ALL_METRICS,
    DEFAULT_METRICS,
    GATE_METRICS,
    MEASURES,
    AIAttackSummary,
    AttackSummary,
    Dependence,
    MIAttackSummary,
    estimate,
    summary_facts,
)

BY_NAME = {measure.name: measure for measure in MEASURES}


def membership(size=400, seed=0, kind=MIAttackSummary, **more):
    rng = np.random.default_rng(seed)
    labels = np.arange(size) % 2
    scores = labels + rng.normal(size=size)
    return kind(labels, scores > 0.5, scores, "G", "A", "D", "t", **more)


def test_the_documented_lists_follow_from_the_rows() -> None:
    assert ALL_METRICS == (
        "accuracy",
        "true_positive_rate",
        "false_positive_rate",
        "mia_advantage",
        "privacy_gain",
        "auc",
        "effective_epsilon",
    )
    assert DEFAULT_METRICS == ("accuracy", "privacy_gain", "auc")
    gates = "accuracy accuracy_gain advantage auc auc_gain precision recall tpr_at_fpr epsilon"
    gates += " exposed_people dropped_columns accuracy_gap accuracy_ratio copied_records"
    assert tuple(gates.split()) == GATE_METRICS
    about = ["dataset", "target_id", "generator", "attack"]
    assert list(membership().get_metrics().columns) == [*about, *ALL_METRICS]
    several = AIAttackSummary(["a", "b", "c"], ["a", "b", "b"])
    assert list(several.get_metrics().columns)[5:] == [
        "accuracy",
        "accuracy_gain",
        "balanced_accuracy",
        "macro_auc",
    ]


@pytest.mark.parametrize("name", [m.name for m in MEASURES if "binary" in m.kinds])
@pytest.mark.parametrize("dependence", ["independent", "pairs", "groups", "one release", "coins"])
def test_every_measure_lies_between_the_ends_of_its_interval(name, dependence) -> None:
    groups = {"pairs": np.arange(400) // 2, "groups": np.arange(400) // 8}.get(dependence)
    alone = np.random.default_rng(1).normal(np.arange(400) % 2 / 3)
    summary = membership(groups=groups, dependence=dependence, inputs_alone=alone)
    summary.sensitive_attribute = "sex" if BY_NAME[name].of_attributes else ""
    found = estimate(BY_NAME[name], summary, 0.95)
    if name == "effective_epsilon":
        assert found is None or (found.low, found.high) == (0.0, math.inf)
        return
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(BY_NAME[name].point(summary))


def test_trials_of_unknown_dependence_have_no_interval() -> None:
    found = estimate(BY_NAME["mia_advantage"], membership(dependence="unknown"), 0.95)
    assert (found.low, found.high) == (-1.0, 1.0)


def missed(runs: int, draw, truth: dict[str, float], confidence: float = 0.95) -> dict[str, float]:
    """How often intervals of such summaries do not hold the truth."""
    rng, found = np.random.default_rng(0), dict.fromkeys(truth, 0)
    for _ in range(runs):
        summary = draw(rng)
        for name, value in truth.items():
            ends = estimate(BY_NAME[name], summary, confidence)
            found[name] += not ends.low <= value <= ends.high
    return {name: count / runs for name, count in found.items()}


def test_intervals_of_few_groups_hold() -> None:
    groups, labels = np.repeat(np.arange(20), 10), np.arange(200) % 2

    def draw(rng):
        scores = rng.normal(size=200) + rng.normal(size=20)[groups] * labels
        return MIAttackSummary(labels, scores > 0, scores, groups=groups)

    found = missed(150, draw, {"auc": 0.5, "accuracy": 0.5})
    assert max(found.values()) <= 0.1  # 5 % and three standard errors
    few = MIAttackSummary(labels[:100], labels[:100], groups=groups[:100])
    ends = estimate(BY_NAME["accuracy"], few, 0.95)
    assert (ends.low, ends.high) == (0.0, 1.0)


def test_means_over_values_hold_where_some_values_are_rare() -> None:
    """Three trials of a value, all of them guessed, say little; drawn again they say it surely."""
    shares = np.array([0.94, 0.03, 0.03])

    def draw(rng):
        values = np.concatenate([[0, 1, 2], rng.choice(3, 97, p=shares)])
        guesses = np.where(rng.random(100) < 0.9, values, (values + 1) % 3)
        return AIAttackSummary(values, guesses, np.eye(3)[guesses], attribute_values=[0, 1, 2])

    assert missed(300, draw, {"balanced_accuracy": 0.9})["balanced_accuracy"] <= 0.05
    summary = draw(np.random.default_rng(1))
    for name in ("balanced_accuracy", "macro_auc"):
        ends = estimate(BY_NAME[name], summary, 0.95)
        assert ends.value == pytest.approx(BY_NAME[name].point(summary))
        assert 0 <= ends.low < ends.value < ends.high <= 1
        assert ends.high - ends.low > 0.3


def test_groups_widen_intervals_and_few_of_them_leave_none() -> None:
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 200)
    right = np.repeat(rng.integers(0, 2, 40), 10)
    guesses = np.where(right, labels, 1 - labels)
    free = estimate(BY_NAME["accuracy"], MIAttackSummary(labels, guesses), 0.95)
    tied = MIAttackSummary(labels, guesses, groups=np.arange(400) // 10)
    wide = estimate(BY_NAME["accuracy"], tied, 0.95)
    assert wide.high - wide.low > 2 * (free.high - free.low)
    few = MIAttackSummary(labels, guesses, groups=np.arange(400) // 100)
    assert estimate(BY_NAME["accuracy"], few, 0.95).low == 0.0


def test_resamples_that_all_agree_do_not_make_an_interval_of_no_width() -> None:
    labels = np.tile([0, 1], 100)
    perfect = MIAttackSummary(labels, labels, groups=np.arange(200) // 10)
    found = estimate(BY_NAME["accuracy"], perfect, 0.95)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(stats.clopper_pearson(20, 20, 0.95)[0])


def test_broken_pairs_are_still_pairs() -> None:
    summary = membership(groups=np.arange(400) // 2)
    broken = summary.drawn(np.arange(1, 400))
    assert broken.dependence is Dependence.PAIRS
    whole, part = (summary_facts(s) for s in (summary, broken))
    assert part.accuracy.low == pytest.approx(whole.accuracy.low, abs=0.02)
    assert part.auc.low == pytest.approx(whole.auc.low, abs=0.03)


@pytest.mark.parametrize("dependence", ["one release", "coins"])
def test_records_of_one_release_are_drawn_one_by_one(dependence) -> None:
    summary = membership(groups=np.zeros(400, dtype=int), dependence=dependence)
    report = MIAttackReport([summary], num_bootstrap=300)
    spread = report.attacks_data["accuracy"].std()
    value = summary.accuracy
    assert spread == pytest.approx(math.sqrt(value * (1 - value) / 400), rel=0.2)
    shows_epsilon = report.attacks_data["effective_epsilon"].notna().any()
    assert shows_epsilon == (dependence == "coins")


def test_a_report_says_that_such_bars_describe_one_release(tmp_path) -> None:
    summary = membership(dependence="one release")
    assert "that release" in MIAttackReport([summary], num_bootstrap=5)._note()
    assert "that release" not in MIAttackReport([membership()], num_bootstrap=5)._note()


def test_trials_of_unknown_dependence_are_not_drawn_again() -> None:
    with pytest.warns(TapasWarning, match="not known how they depend"):
        report = MIAttackReport([membership(dependence="unknown")], num_bootstrap=5)
    assert report.attacks_data["accuracy"].isna().all()
    assert report.point_estimates["accuracy"].notna().all()


@pytest.mark.parametrize("num_bootstrap", [None, 20])
@pytest.mark.parametrize("name", ["precision", "recall", "balanced_accuracy", "tpr_at_fpr"])
def test_reports_accept_every_measure_by_name(name, num_bootstrap, tmp_path) -> None:
    report = MIAttackReport([membership()], metrics=[name], num_bootstrap=num_bootstrap)
    assert report.point_estimates[name][0] == pytest.approx(BY_NAME[name].point(membership()))
    assert len(report.attacks_data) == (num_bootstrap or 1)
    assert report.attacks_data[name].notna().all()
    report.metrics = ["accuracy", "precision"]
    assert len(report.compare("attack", ["dataset", "generator"], "target_id", tmp_path)) == 1


def test_a_measure_that_no_summary_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="macro_auc"):
        MIAttackReport([membership()], metrics=["macro_auc"])
    with pytest.raises(ConfigError, match="'precision'"):
        MIAttackReport([membership()], metrics=["nonsense"])


class Costly(MIAttackSummary):
    """A summary whose accuracy is counted in money, with a column of its own."""

    @property
    def accuracy(self):
        return 10 * super().accuracy

    def get_metrics(self):
        return super().get_metrics().assign(regret=1 - self.tp, remark="dear")


def test_a_bootstrap_honours_what_a_subclass_redefines_and_adds() -> None:
    summary = membership(kind=Costly)
    report = BinaryLabelAttackReport([summary], metrics=["accuracy", "regret"], num_bootstrap=60)
    drawn, point = report.attacks_data, report.point_estimates
    assert drawn["accuracy"].min() < point["accuracy"][0] < drawn["accuracy"].max()
    assert drawn["regret"].min() < point["regret"][0] < drawn["regret"].max()
    assert "remark" not in drawn


def test_facts_honour_what_a_subclass_redefines() -> None:
    facts = summary_facts(membership(kind=Costly))
    assert facts.accuracy.value == pytest.approx(10 * membership().accuracy)
    assert 6 < facts.accuracy.low < facts.accuracy.value < facts.accuracy.high


def test_equal_seeds_give_equal_replicates_and_extra_measures_the_same_draws() -> None:
    one, two = (
        MIAttackReport([membership()], num_bootstrap=9, seed=4).attacks_data for _ in range(2)
    )
    pd.testing.assert_frame_equal(one, two)
    more = MIAttackReport([membership()], ["recall"], num_bootstrap=9, seed=4).attacks_data
    np.testing.assert_allclose(more["recall"], one["true_positive_rate"])


def test_a_foreign_summary_cannot_be_resampled_and_says_why() -> None:
    class Own(AttackSummary):
        def get_metrics(self):
            return pd.DataFrame({"accuracy": [0.5]})

        def get_metric_filename(self, postfix=""):
            return "own.csv"

    assert MIAttackReport([Own()]).point_estimates["accuracy"][0] == 0.5
    with pytest.raises(ConfigError, match="does not say how to resample"):
        MIAttackReport([Own()], num_bootstrap=3)
