"""Reports of metrics: documented files, safe names, and points that are what they say."""

import logging
import subprocess
import sys
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import Line2D

from tapas.errors import ConfigError, TapasWarning
from tapas.report import (
    ALL_METRICS,
    DEFAULT_METRICS,
    AIAttackReport,
    AIAttackSummary,
    BinaryAIAttackReport,
    BinaryAIAttackSummary,
    BinaryLabelAttackReport,
    BinaryLabelInferenceAttackSummary,
    MIAttackReport,
    MIAttackSummary,
    Report,
    _comparison,
    _comparison_files,
)
from tapas.report._comparison import Comparison, draw_comparison
from tapas.report._figure import new_figure, plain, wrapped
from tapas.report._lettering import Lettering
from tapas.report._panel_points import gather
from tapas.report.utils import axis_ranges, metric_comparison_plots, set_style
from tapas.results import MEASURES, estimate

FIXED = ("dataset", "attack")
LABELS = np.tile([True, False], 20)


def summary(generator="Raw", attack="Groundhog", dataset="Texas", target="0", seed=0, **more):
    scores = np.random.default_rng(seed).normal(size=40) + LABELS
    return MIAttackSummary(LABELS, scores > 0.5, scores, generator, attack, dataset, target, **more)


def many_valued(generator="Raw", attribute="Region", seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 40)
    scores = rng.normal(size=(40, 3)) + np.eye(3)[codes]
    values = np.array(["a", "b", "c"])
    return AIAttackSummary(
        values[codes],
        values[scores.argmax(axis=1)],
        scores,
        generator,
        "Predictor",
        "Census",
        "7",
        attribute,
    )


def grid(generators=3, attacks=2, targets=4):
    return [
        summary(f"G{g}", f"A{a}", "Texas", str(t), seed=17 * g + 5 * a + t)
        for g in range(generators)
        for a in range(attacks)
        for t in range(targets)
    ]


def test_publish_writes_exactly_the_twenty_documented_files(tmp_path):
    report = MIAttackReport(grid(), metrics=["accuracy", "auc"])
    files = report.publish(tmp_path / "new" / "folder")
    written = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert written == {path.name for path in files}
    assert len(files) == len(written) == 20
    expected = {
        "generatorsComparison_DatasetTexas_AttackA0.png",
        "attacksComparison_DatasetTexas_AttackG2.png",
        "datasetsComparison_DatasetA1_AttackG0.png",
        "target_idsComparison_DatasetTexas_AttackA1.png",
        "target_idsComparison_DatasetTexas_AttackG1.png",
        "generatorsComparison_DatasetTexas_Attack3.png",
    }
    assert expected <= written


def test_publish_logs_and_prints_nothing(tmp_path, capsys, caplog):
    with caplog.at_level(logging.INFO, logger="tapas"):
        MIAttackReport([summary()], metrics="auc").publish(tmp_path)
    assert capsys.readouterr().out == ""
    assert "6 figures written" in caplog.text


def test_all_metrics_are_drawn_by_default_and_may_be_reassigned(tmp_path):
    report = BinaryLabelAttackReport([summary()])
    assert tuple(report.metrics) == tuple(ALL_METRICS)
    assert isinstance(report, Report)
    report.metrics = ["auc"]
    (path,) = report.compare("generator", FIXED, "target_id", tmp_path)
    assert path.exists()
    report.metrics = ["beauty"]
    with pytest.raises(ConfigError, match="beauty"):
        report.compare("generator", FIXED, "target_id", tmp_path)


def test_attacks_data_has_one_row_per_summary_in_documented_columns():
    report = MIAttackReport(grid(2, 1, 1), metrics=DEFAULT_METRICS)
    about = ["dataset", "target_id", "generator", "attack"]
    assert list(report.attacks_data.columns) == about + list(ALL_METRICS)
    assert list(report.attacks_data.index) == [0, 1]


def test_bootstrap_gives_one_row_per_resample_around_the_point():
    report = MIAttackReport(grid(2, 1, 1), num_bootstrap=200)
    assert len(report.attacks_data) == 400
    assert report.attacks_data.index.is_unique
    first = report.attacks_data[report.attacks_data["generator"] == "G0"]
    point = report.point_estimates["accuracy"][0]
    assert first["accuracy"].mean() == pytest.approx(point, abs=0.03)
    again = MIAttackReport(grid(2, 1, 1), num_bootstrap=200)
    pd.testing.assert_frame_equal(report.attacks_data, again.attacks_data)


def test_bootstrap_draws_pairs_together():
    guesses = LABELS.copy()
    guesses[:16] = ~guesses[:16]
    paired = MIAttackSummary(LABELS, guesses, groups=np.arange(40) // 2)
    data = MIAttackReport([paired], num_bootstrap=50).attacks_data
    np.testing.assert_allclose(data["true_positive_rate"] + data["false_positive_rate"], 1)


def test_a_data_frame_of_metrics_is_still_read_but_cannot_be_resampled(tmp_path):
    frame = pd.concat([s.get_metrics() for s in grid(2, 1, 1)])
    with pytest.warns(PendingDeprecationWarning):
        report = MIAttackReport(frame, metrics=["auc"])
    assert list(report.attacks_data.index) == [0, 1]
    assert report.compare("generator", FIXED, "target_id", tmp_path)
    with pytest.raises(AssertionError, match="num_bootstrap"):
        MIAttackReport(frame, num_bootstrap=5)


def test_no_summaries_are_refused():
    with pytest.raises(ConfigError, match="at least one summary"):
        MIAttackReport([])


def test_labels_cannot_leave_the_folder_or_overwrite_each_other(tmp_path):
    labels = ["a/b", "a_b", "a\\b", "A_B", "../up", "x" * 300, "$", "$\\frac{$"]
    report = MIAttackReport([summary(attack=label) for label in labels], metrics=["auc"])
    files = report.compare("generator", FIXED, "target_id", tmp_path / "here")
    assert len({path.name.casefold() for path in files}) == len(labels)
    assert all(path.parent == tmp_path / "here" and path.exists() for path in files)
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    endings = [path.name.partition("_Attack")[2] for path in files[:4]]
    assert [endings[1], endings[3]] == ["a_b.png", "A_B_2.png"], "safe labels keep their names"
    assert all(ending.startswith("a_b-") for ending in (endings[0], endings[2]))
    other = MIAttackReport([summary(attack="a?b")], metrics=["auc"])
    (again,) = other.compare("generator", FIXED, "target_id", tmp_path / "here")
    assert again not in files, "another report does not overwrite it either"


def test_equal_labels_of_attack_and_generator_keep_both_figures(tmp_path):
    report = MIAttackReport([summary(generator="X", attack="X", target="X")], metrics=["auc"])
    files = report.publish(tmp_path)
    assert len(set(files)) == len(list(tmp_path.iterdir())) == 6
    assert report.publish(tmp_path) == files, "publishing again replaces the same files"


def test_membership_and_attribute_summaries_mix(tmp_path):
    attribute = BinaryAIAttackSummary(
        ["M", "F"] * 20, ["M", "M"] * 20, None, "Raw", "A", "Texas", "0", "Sex", "M"
    )
    for kind in (MIAttackReport, AIAttackReport, BinaryAIAttackReport):
        report = kind([summary(), attribute], metrics=["accuracy"])
        assert len(report.compare("attack", ("dataset", "generator"), "target_id", tmp_path)) == 1


def test_many_valued_attributes_are_drawn_with_their_own_metrics(tmp_path):
    report = AIAttackReport([many_valued("G"), many_valued("H", seed=1)], num_bootstrap=20)
    assert report.metrics == ["accuracy", "accuracy_gain", "balanced_accuracy", "macro_auc"]
    assert report.compare("generator", FIXED, "target_id", tmp_path)
    mixed = AIAttackReport([many_valued(), summary()])
    assert len(mixed.compare("generator", FIXED, "target_id", tmp_path)) == 2


def test_different_attributes_of_one_target_stay_apart(tmp_path):
    report = AIAttackReport([many_valued(attribute="Sex"), many_valued(attribute="Age")])
    files = report.compare("generator", ("dataset", "target_id"), "attack", tmp_path)
    assert [path.name for path in files] == [
        "generatorsComparison_DatasetCensus_Attack7 (Sex).png",
        "generatorsComparison_DatasetCensus_Attack7 (Age).png",
    ]


@pytest.mark.parametrize("info", ["", "_info"])
@pytest.mark.parametrize("with_scores", [False, True])
def test_outcomes_can_be_given_as_dictionaries(info, with_scores):
    attack = {
        "labels": [1, 0, 1, 0],
        "predictions": [1, 0, 0, 0],
        f"generator{info}": "G",
        f"attack{info}": "A",
        f"dataset{info}": "D",
        "target_id": "T",
    }
    if with_scores:
        attack["scores"] = [0.9, 0.1, 0.2, 0.3]
    report = MIAttackReport.load_summary_statistics([attack], metrics=["accuracy"])
    row = report.attacks_data.iloc[0]
    assert row[["generator", "attack", "dataset", "target_id"]].tolist() == ["G", "A", "D", "T"]
    assert row["accuracy"] == 0.75
    assert list(report.metrics) == ["accuracy"]


def test_dictionaries_of_attributes_may_have_many_values():
    attack = {"labels": ["a", "b", "c"], "predictions": ["a", "b", "b"], "generator": "G"}
    report = AIAttackReport.load_summary_statistics([attack])
    assert report.attacks_data["accuracy"][0] == pytest.approx(2 / 3)
    binary = AIAttackReport.load_summary_statistics([attack | {"positive_value": "a"}])
    assert "auc" in binary.attacks_data


def test_a_dictionary_without_labels_is_refused():
    with pytest.raises(ConfigError, match="labels"):
        MIAttackReport.load_summary_statistics([{"predictions": [1]}])


def test_unknown_columns_are_refused_with_those_that_exist(tmp_path):
    report = MIAttackReport([summary()], metrics=["auc"])
    with pytest.raises(ConfigError, match="'planet'"):
        report.compare("planet", FIXED, "target_id", tmp_path)
    with pytest.raises(ConfigError, match="two columns"):
        report.compare("generator", ["dataset"], "target_id", tmp_path)


def test_summaries_without_description_are_drawn(tmp_path):
    report = BinaryLabelAttackReport([BinaryLabelInferenceAttackSummary(LABELS, LABELS)])
    assert len(report.compare("generator", FIXED, "target_id", tmp_path)) == 1


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_undefined_and_infinite_values_are_drawn_without_warning(tmp_path):
    one_class = MIAttackSummary([1] * 6, [1, 0] * 3, range(6), "one class", "A", "Texas", "0")
    perfect = MIAttackSummary(LABELS, LABELS, LABELS, "perfect", "A", "Texas", "0")
    tiny = MIAttackSummary([1, 0], [1, 0], [1.0, 0.0], "tiny", "A", "Texas", "0")
    report = MIAttackReport([one_class, perfect, tiny], num_bootstrap=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert report.compare("generator", FIXED, "target_id", tmp_path)
    nothing = MIAttackReport([one_class], metrics=["effective_epsilon"])
    assert nothing.compare("generator", FIXED, "target_id", tmp_path)


def test_one_class_summaries_warn_when_the_report_is_made():
    with pytest.warns(TapasWarning):
        MIAttackReport([MIAttackSummary([1, 1], [1, 0])])


def test_points_are_the_estimates_and_bars_the_percentiles():
    rows = pd.DataFrame({"g": ["a"] * 101 + ["b"] * 3, "t": ["x"] * 104})
    rows["m"] = [*np.arange(101.0), np.nan, np.inf, 1.0]
    points = pd.DataFrame({"g": ["a", "b"], "t": ["x", "x"], "m": [7.0, np.nan]})
    first, second = gather(rows, points, ("g", "t"), (["a", "b"], ["x"]), "m")
    assert first == (0, 0, 7.0, 2.0, 98.0)
    assert second[:2] == (1, 0)
    assert np.isnan(second.value)
    assert second[3:] == (1.0, np.inf)


@pytest.mark.parametrize("metric", ["tpr_at_fpr", "auc", "accuracy"])
def test_bars_of_single_results_are_the_intervals_of_their_trials(metric, monkeypatch, tmp_path):
    """Resampling misses one rate in five at 1 % false alarms, and all agree where all are right."""
    drawn = []
    monkeypatch.setattr(
        _comparison, "gather", lambda *given: drawn.append(gather(*given)) or drawn[-1]
    )
    labels = np.arange(60) % 2 == 0
    perfect = MIAttackSummary(labels, labels, labels * 1.0, "G", "A", "D", "0")
    report = MIAttackReport([perfect], metrics=[metric, "effective_epsilon"], num_bootstrap=20)
    report.compare("generator", FIXED, "target_id", tmp_path)
    (point,), (epsilon,) = drawn
    (measure,) = (one for one in MEASURES if one.name == metric)
    found = estimate(measure, perfect, 0.95)
    assert (point.low, point.high) == (found.low, found.high)
    assert point.low < 1
    assert np.isnan(epsilon.low)


@pytest.mark.parametrize(("groups", "barred"), [(2, False), (19, False), (20, True)])
def test_few_groups_of_trials_have_words_in_place_of_a_bar(groups, barred, monkeypatch, tmp_path):
    drawn, notes, real = [], [], _comparison_files.draw_comparison
    monkeypatch.setattr(
        _comparison, "gather", lambda *given: drawn.append(gather(*given)) or drawn[-1]
    )
    monkeypatch.setattr(
        _comparison_files, "draw_comparison", lambda one: notes.append(one.note) or real(one)
    )
    labels, scores = np.arange(120) % 2 == 0, np.random.default_rng(0).normal(size=120)
    in_groups = [
        MIAttackSummary(
            labels, scores > 0, scores, "G", "A", "D", str(target), groups=np.arange(120) % groups
        )
        for target in range(2)
    ]
    assert {one.dependence for one in in_groups} == {"groups"}
    report = MIAttackReport(in_groups, metrics=["auc", "accuracy"], num_bootstrap=20)
    report.compare("generator", FIXED, "target_id", tmp_path)
    assert len(drawn) == 2
    assert all(np.isnan(point.low) != barred for points in drawn for point in points)
    assert all(("fewer than 20 groups there is no bar" in note) != barred for note in notes)


def test_accuracies_of_guessed_values_stand_beside_the_best_guess(monkeypatch, tmp_path):
    """Nine in ten have the value: an accuracy of .9 is what anybody has who looks at nothing."""
    seen = []
    real = _comparison_files.draw_comparison
    monkeypatch.setattr(
        _comparison_files, "draw_comparison", lambda one: seen.append(one) or real(one)
    )
    labels = np.arange(100) % 10 > 0
    rare = BinaryAIAttackSummary(
        labels, np.ones(100, bool), None, "G", "A", "D", "0", "Sex", positive_value=True
    )
    assert (rare.best_guess, rare.accuracy_gain) == (0.9, 0)
    report = BinaryAIAttackReport([rare])
    assert report.metrics[:2] == ["accuracy", "accuracy_gain"]
    report.compare("generator", FIXED, "target_id", tmp_path)
    assert (seen[0].nothing_learnt("accuracy"), seen[0].nothing_learnt("accuracy_gain")) == (
        None,
        0,
    )
    MIAttackReport([summary()]).compare("generator", FIXED, "target_id", tmp_path)
    assert seen[1].nothing_learnt("accuracy") == 0.5
    few = MIAttackSummary(np.arange(50) < 5, np.arange(50) < 7, None, dependence="one release")
    MIAttackReport([few], metrics=["accuracy"]).compare("generator", FIXED, "target_id", tmp_path)
    assert seen[2].nothing_learnt("accuracy") is None


def test_rows_without_resamples_show_their_mean_and_spread():
    rows = pd.DataFrame({"g": ["a"] * 3, "t": ["x"] * 3, "m": [1.0, 2.0, 3.0]})
    (cell,) = gather(rows, None, ("g", "t"), (["a"], ["x"]), "m")
    assert cell == (0, 0, 2.0, 1.0, 3.0)
    (alone,) = gather(rows[:1], None, ("g", "t"), (["a"], ["x"]), "m")
    assert alone.value == 1.0
    assert np.isnan(alone.low)


def test_each_metric_has_its_panel_and_infinity_its_tick():
    rows = pd.DataFrame({"g": ["a", "b"], "t": ["x", "x"], "auc": [0.5, 0.6]})
    rows["effective_epsilon"] = [1.0, np.inf]
    sheet = draw_comparison(
        Comparison(rows, None, "g", "t", ["auc", "effective_epsilon"], "title", "note")
    )
    at = {one.text: (one.x, one.y) for one in sheet.written}
    assert at["AUC"][0] < at["Effective epsilon"][0] < at["∞"][0]
    assert at["AUC"][1] == at["Effective epsilon"][1] > at["a"][1] > at["b"][1] > at["∞"][1]


@pytest.mark.parametrize("up", ["top", "center", "baseline", "bottom"])
@pytest.mark.parametrize("across", ["left", "center", "right"])
def test_letters_stand_where_matplotlib_puts_them(across, up):
    figure = new_figure(2, 2)
    written = figure.text(0.5, 0.5, "lxp", fontsize=40, ha=across, va=up)
    box = written.get_window_extent(figure.canvas.get_renderer()).get_points() / figure.dpi
    (path,) = Lettering(1.0, 1.0, "lxp", 40, across, up).outlines()
    corners = [path.vertices.min(axis=0), path.vertices.max(axis=0)]
    np.testing.assert_allclose(corners, box, atol=0.06)


def test_lines_of_letters_follow_each_other_and_empty_ones_are_left_out():
    first, second = Lettering(1.0, 1.0, "lp\n\nlp", 36).outlines()
    np.testing.assert_allclose(first.vertices - second.vertices, [[0, 1.2]] * len(first.vertices))


def test_points_stand_over_their_values():
    rows = pd.DataFrame({"g": ["a", "b"], "t": ["x", "x"], "auc": [0.25, 0.75]})
    sheet = draw_comparison(Comparison(rows, None, "g", "t", ["auc"], "", ""))
    at = {one.text: (one.x, one.y) for one in sheet.written}
    points, _ = (
        line
        for line in sheet.figure.artists
        if isinstance(line, Line2D) and line.get_marker() == "o"
    )
    np.testing.assert_allclose(points.get_xdata(), [at["0.25"][0], at["0.75"][0]])
    np.testing.assert_allclose(points.get_ydata(), [at["a"][1], at["b"][1]])


def test_drawing_changes_no_global_state(tmp_path):
    before = dict(mpl.rcParams)
    MIAttackReport([summary()], metrics=["auc"]).publish(tmp_path)
    set_style()
    assert dict(mpl.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


@pytest.mark.parametrize("text", ["MST($\\varepsilon = 10$)", "cost $5", "a\nb", "x"])
def test_readable_text_is_kept(text):
    assert plain(text).replace("\\$", "$") == text.replace("\n", " ")


@pytest.mark.parametrize("text", ["$\\nonsense{$", "$$", "$\\frac{1}$ and $", "$a$ $b{$"])
def test_unreadable_formulae_become_literal_text(text, tmp_path):
    report = MIAttackReport([summary(generator=text, attack=text, target=text)], metrics=["auc"])
    assert report.compare("generator", FIXED, "target_id", tmp_path)


def test_long_names_are_broken_after_punctuation_and_keep_their_ends():
    assert (
        wrapped("ClosestDistance(Hamming, accuracy)", 22) == "ClosestDistance(\nHamming, accuracy)"
    )
    assert wrapped("short") == "short"
    first, second = (wrapped("generator " * 20 + end, 22, 2) for end in "12")
    assert first != second
    assert len(first.split("\n")) == 2
    assert wrapped("a b $x + y$ c", 3).count("$") == 2


def test_old_function_draws_the_same_figures(tmp_path):
    data = MIAttackReport(grid(2, 2, 1)).attacks_data
    metric_comparison_plots(data, "generator", list(FIXED), ["auc"], "target_id", str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "generatorsComparison_DatasetTexas_AttackA0.png",
        "generatorsComparison_DatasetTexas_AttackA1.png",
    }
    assert set(ALL_METRICS) <= set(axis_ranges)


def test_importing_the_reports_does_not_import_matplotlib():
    code = "import sys, tapas.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_old_addresses_are_the_same_objects():
    from tapas.report import attack_summary, report

    assert attack_summary.MIAttackSummary is MIAttackSummary
    assert report.MIAttackReport is MIAttackReport
    assert report.Report is Report


@pytest.mark.parametrize(
    ("report", "made"),
    [
        (MIAttackReport, lambda: summary(groups=np.zeros(40, dtype=int))),
        (BinaryLabelAttackReport, lambda: summary(dependence="one release")),
        (
            BinaryAIAttackReport,
            lambda: BinaryAIAttackSummary(
                np.where(LABELS, "a", "b"),
                np.where(np.arange(40) % 3 == 0, "a", "b"),
                np.random.default_rng(1).normal(size=40) + LABELS,
                attribute_values=["b", "a"],
                positive_value="a",
                groups=np.zeros(40, dtype=int),
            ),
        ),
        (
            AIAttackReport,
            lambda: AIAttackSummary(
                np.repeat(["a", "b", "c", "a"], 10),
                np.tile(["a", "b", "c", "c"], 10),
                groups=np.zeros(40, dtype=int),
            ),
        ),
    ],
)
def test_one_group_is_drawn_record_by_record_and_has_a_width(report, made):
    drawn = report([made()], num_bootstrap=200).attacks_data
    assert drawn["accuracy"].std() > 0.02
    assert "auc" not in drawn or drawn["auc"].std() > 0.02
