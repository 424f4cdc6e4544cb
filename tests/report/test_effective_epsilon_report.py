"""Effective epsilon: the bound holds on mechanisms of known epsilon, and says what it chose."""

import json
import logging
import math

import numpy as np
import pandas as pd
import pytest

from tapas import stats
from tapas.errors import ConfigError, StatisticsError, TapasWarning
from tapas.report import AIAttackSummary, EffectiveEpsilonReport, MIAttackSummary
from tapas.results import file_safe


def laplace(epsilon, trials=1000, seed=0, attack="Laplace", **more):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(trials) % 2)
    scores = labels + rng.laplace(scale=1 / epsilon, size=trials)
    return MIAttackSummary(labels, scores > 0.5, scores, "M", attack, "D", "0", **more)


def useless(trials=1000, seed=9):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(trials) % 2)
    return MIAttackSummary(labels, labels, rng.normal(size=trials), attack_info="useless")


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("heuristic", ["cp", "ratio"])
def test_the_bound_stays_below_the_epsilon_of_a_laplace_mechanism(epsilon, heuristic, tmp_path):
    report = EffectiveEpsilonReport([laplace(epsilon)], heuristic=heuristic)
    table = report.publish(tmp_path)
    assert table.shape == (3, 3)
    assert list(table.columns) == ["confidence", "epsilon_low", "epsilon_high"]
    assert table["confidence"].tolist() == [0.9, 0.95, 0.99]
    assert table["epsilon_low"].iloc[-1] <= epsilon
    assert table["epsilon_low"].is_monotonic_decreasing
    assert (table["epsilon_high"] >= table["epsilon_low"]).all()


def test_ten_thousand_outcomes_show_most_of_epsilon_one(tmp_path):
    table = EffectiveEpsilonReport([laplace(1, 10_000, seed=1)]).publish(tmp_path)
    assert 0.7 < table["epsilon_low"][1] < 1


def test_the_table_is_written_with_its_index(tmp_path):
    report = EffectiveEpsilonReport([laplace(1)], suffix="a/b")
    table = report.publish(tmp_path / "new")
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    stem = file_safe("effective_epsilon_a/b")
    assert names == [f"{stem}.csv", f"{stem}_details.json"]
    read = pd.read_csv(tmp_path / "new" / names[0], index_col=0)
    pd.testing.assert_frame_equal(read, table)
    EffectiveEpsilonReport([laplace(1)]).publish(tmp_path)
    assert (tmp_path / "effective_epsilon.csv").exists()


def test_a_single_level_is_allowed():
    table = EffectiveEpsilonReport([laplace(1)], confidence_levels=0.95).estimate()
    assert table["confidence"].tolist() == [0.95]


def test_the_better_attack_is_chosen_and_named(tmp_path, caplog, capsys):
    report = EffectiveEpsilonReport([useless(), laplace(3), useless(seed=8)], validation_split=0.3)
    assert report.choice is None
    with caplog.at_level(logging.INFO, logger="tapas"):
        report.publish(tmp_path)
    assert report.choice.index == 1
    assert report.chosen_summary.attack == "Laplace"
    assert report.direction in ("direct", "inverse")
    assert "chosen: Laplace" in caplog.text
    assert capsys.readouterr().out == ""
    details = json.loads((tmp_path / "effective_epsilon_details.json").read_text())
    assert details["choice"]["attack"] == "Laplace"
    assert details["choice"]["threshold"] == report.threshold
    assert details["bounds"][1]["epsilon_low"] == report.bounds[1].value
    assert "attack only" in details["note"]


def test_the_bound_is_that_of_the_outcomes_not_used_to_choose():
    summary = laplace(2)
    report = EffectiveEpsilonReport([summary], validation_split=0.25, method="clopper-pearson")
    table = report.estimate()
    left = report.choice.remaining
    assert left.sum() == 750
    event = summary.scores[left] >= report.threshold
    labels = summary.labels[left]
    bound = stats.epsilon_lower_bound(
        np.sum(event & (labels == 1)),
        np.sum(labels == 1),
        np.sum(event & (labels == 0)),
        np.sum(labels == 0),
        confidence=0.95,
    )
    assert table["epsilon_low"][1] == bound.value


def test_the_upper_end_is_that_of_the_attack_and_infinite_where_a_count_is_zero():
    labels = np.tile([1, 0], 500)
    perfect = EffectiveEpsilonReport([MIAttackSummary(labels, labels, labels)]).estimate()
    assert np.isinf(perfect["epsilon_high"]).all()
    assert (perfect["epsilon_low"] > 4).all()
    rng = np.random.default_rng(3)
    answers = np.where(rng.random(1000) < 0.75, labels, 1 - labels)
    table = EffectiveEpsilonReport([MIAttackSummary(labels, answers)]).estimate()
    assert (table["epsilon_low"] < math.log(3)).all()
    assert (table["epsilon_high"] > math.log(3)).all()


def test_scores_of_the_wrong_sign_show_as_much():
    summary = laplace(3)
    inverted = MIAttackSummary(1 - summary.labels, summary.predictions, -summary.scores)
    low = [
        EffectiveEpsilonReport([s], confidence_levels=0.95).estimate()["epsilon_low"][0]
        for s in (summary, inverted)
    ]
    assert low[1] > 0.5 * low[0] > 0


def test_delta_lowers_the_bound():
    levels = [
        EffectiveEpsilonReport([laplace(3)], delta=delta).estimate()["epsilon_low"][0]
        for delta in (0, 0.05)
    ]
    assert levels[1] < levels[0]


def test_the_tighter_method_gives_no_less_and_refuses_pairs():
    summary = laplace(1)
    plain, tight = (
        EffectiveEpsilonReport([summary], confidence_levels=0.95, method=method).estimate()
        for method in ("clopper-pearson", "buehler")
    )
    assert tight["epsilon_low"][0] >= plain["epsilon_low"][0]
    labels = np.tile([1, 0], 200)
    paired = MIAttackSummary(labels, labels, labels, groups=np.arange(400) // 2)
    with pytest.raises(StatisticsError):
        EffectiveEpsilonReport([paired], method="buehler").estimate()


def test_pairs_are_not_divided_between_choice_and_bound():
    labels = np.tile([1, 0], 55)
    rng = np.random.default_rng(0)
    paired = MIAttackSummary(
        labels, labels, labels + rng.normal(size=110), groups=np.arange(110) // 2
    )
    report = EffectiveEpsilonReport([paired], validation_split=0.3)
    report.estimate()
    left = report.choice.remaining.reshape(-1, 2)
    assert (left[:, 0] == left[:, 1]).all()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"groups": np.arange(100) // 10}, "share releases"),
        ({"groups": np.zeros(100, dtype=int)}, "records of one release"),
        ({"dependence": "one release"}, "records of one release"),
        ({"dependence": "unknown"}, "not known how"),
    ],
)
def test_dependent_trials_show_no_epsilon_and_say_why(more, reason):
    labels = np.tile([1, 0], 50)
    summary = MIAttackSummary(labels, labels, labels, **more)
    with pytest.warns(TapasWarning, match=reason):
        table = EffectiveEpsilonReport([summary]).estimate()
    assert (table["epsilon_low"] == 0).all()
    assert np.isinf(table["epsilon_high"]).all()


def test_coins_show_the_one_run_epsilon():
    labels = np.random.default_rng(0).integers(0, 2, 1000)
    summary = MIAttackSummary(labels, labels, labels, dependence="coins")
    report = EffectiveEpsilonReport([summary], confidence_levels=0.95, delta=1e-5)
    table = report.estimate()
    expected = stats.one_run_epsilon(1000, 1000, 1000, delta=1e-5)
    assert table["epsilon_low"].tolist() == pytest.approx([expected.value])
    assert report.bounds[0].method == "one-run"
    assert report.details()["choice"]["counts"]["tp"] == labels.sum()


@pytest.mark.parametrize(
    "summary",
    [
        MIAttackSummary([1], [1], [0.5]),
        MIAttackSummary([], [], []),
        MIAttackSummary([1] * 50, [1] * 50, range(50)),
        MIAttackSummary([1, 0], [1, 0], [1, 0], groups=[0, 0]),
    ],
)
def test_too_few_trials_show_nothing_and_say_so(summary, tmp_path):
    with pytest.warns(TapasWarning, match="no epsilon can be shown"):
        table = EffectiveEpsilonReport([summary]).publish(tmp_path)
    assert (table["epsilon_low"] == 0).all()
    assert np.isinf(table["epsilon_high"]).all()
    assert (tmp_path / "effective_epsilon.csv").exists()


@pytest.mark.parametrize("trials", [2, 3, 5, 12])
def test_small_samples_never_crash(trials):
    labels = np.arange(trials) % 2
    table = EffectiveEpsilonReport([MIAttackSummary(labels, labels, labels)]).estimate()
    assert table.shape == (3, 3)
    assert (table["epsilon_low"] >= 0).all()


def test_wrong_options_are_refused():
    with pytest.raises(ConfigError, match="heuristic"):
        EffectiveEpsilonReport([laplace(1)], heuristic="best")
    with pytest.raises(ConfigError, match="validation_split"):
        EffectiveEpsilonReport([laplace(1)], validation_split=1.5)
    with pytest.raises(ConfigError, match="confidence level"):
        EffectiveEpsilonReport([laplace(1)], confidence_levels=(0.9, 95))
    with pytest.raises(ConfigError, match="at least one"):
        EffectiveEpsilonReport([])
    with pytest.raises(ConfigError, match="two worlds"):
        EffectiveEpsilonReport([AIAttackSummary(["a"], ["a"])])


@pytest.mark.slow
def test_coverage_after_selection_on_a_laplace_mechanism():
    repeats, exceeded = 400, 0
    for seed in range(repeats):
        summaries = [laplace(1, 400, seed=2 * seed), laplace(1, 400, seed=2 * seed + 1)]
        report = EffectiveEpsilonReport(summaries, confidence_levels=0.9, validation_split=0.3)
        exceeded += report.estimate()["epsilon_low"][0] > 1
    assert exceeded <= 0.1 * repeats + 3 * math.sqrt(0.09 * repeats)


def test_without_a_split_nothing_is_chosen_and_a_band_bounds_over_all_thresholds(tmp_path):
    rng = np.random.default_rng(4)
    labels = np.arange(600) % 2
    several = [
        MIAttackSummary(labels, scores > 1, scores, "G", name)
        for name, scores in (
            ("A", 2.0 * labels + rng.normal(size=600)),
            ("B", rng.normal(size=600)),
        )
    ]
    report = EffectiveEpsilonReport(several, None, 0.95)
    table = report.publish(tmp_path)
    twin = stats.max_epsilon_lower_bound(
        several[0].scores[labels == 1], several[0].scores[labels == 0], confidence=0.975
    )
    assert table["epsilon_low"].tolist() == [float(twin)]
    assert table["epsilon_high"].tolist() == [np.inf]
    assert report.choice is None
    details = report.details()
    assert details["choice"] is None
    assert details["bounds"][0]["method"] == "berk-jones band"
