"""ROC figures: documented file names, every kind of summary, and outlines in the right place."""

import math

import numpy as np
import pytest

from tapas import stats
from tapas.errors import ConfigError
from tapas.report import AIAttackSummary, MIAttackSummary, ROCReport
from tapas.report._roc import _curves
from tapas.report._roc_figure import Curve, RocStyle, draw_roc
from tapas.report.utils import plot_roc_curve
from tapas.results import file_safe

LABELS = np.tile([1, 0], 50)
SCORES = np.random.default_rng(0).normal(size=100) + LABELS


def summary(attack="A", generator="G", scores=SCORES, labels=LABELS, target="0"):
    return MIAttackSummary(labels, np.asarray(LABELS), scores, generator, attack, "D", target)


def lines(figure):
    return {line.get_label(): line for line in figure.axes[0].get_lines()}


def test_one_file_holds_all_curves_by_default(tmp_path):
    files = ROCReport([summary("A"), summary("B")]).publish(tmp_path / "new")
    assert [path.name for path in files] == ["ROC_curve.png"]
    assert files[0].exists()


def test_zooms_suffix_and_disaggregation_name_the_files(tmp_path):
    report = ROCReport(
        [summary(generator="G"), summary(generator="H/1")],
        suffix="_MST($\\varepsilon = 10$)",
        disaggregate_by="generator",
        eff_epsilon=2,
        zooms=[1, 0.1],
    )
    names = [path.name for path in report.publish(tmp_path)]
    assert names == [
        file_safe(f"ROC_curve_MST($\\varepsilon = 10$){view}_generator={value}") + ".png"
        for value in ("G", "H/1")
        for view in ("", "_zoom=0.1_low", "_zoom=0.1_high")
    ]
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())


def test_colliding_values_keep_their_own_files(tmp_path):
    report = ROCReport(
        [summary(generator="a/b"), summary(generator="a_b")], disaggregate_by="generator"
    )
    assert len(set(report.publish(tmp_path))) == 2
    assert report.publish(tmp_path) == report.publish(tmp_path)


def test_log_axes_are_an_extra_file(tmp_path):
    files = ROCReport([summary()], log_log=True, confidence=0.95, eff_epsilon=1).publish(tmp_path)
    assert [path.name for path in files] == ["ROC_curve.png", "ROC_curve_loglog.png"]


def test_summaries_without_scores_or_with_one_class_are_drawn(tmp_path):
    cases = [
        summary("no scores", scores=None),
        summary("one class", labels=np.ones(100, dtype=int)),
        summary("missing", scores=np.where(np.arange(100) < 5, np.nan, SCORES)),
        summary("infinite", scores=np.where(np.arange(100) < 5, -np.inf, SCORES)),
    ]
    report = ROCReport(cases, confidence=0.9, log_log=True)
    assert len(report.publish(tmp_path)) == 2


def test_many_values_have_one_curve_each():
    values = np.array(["a", "b", "c"])
    codes = np.arange(30) % 3
    many = AIAttackSummary(values[codes], values[codes], np.eye(3)[codes], attack_info="P")
    curves = _curves([many], "attack")
    assert [curve.name for curve in curves] == ["P: a", "P: b", "P: c"]
    figure = draw_roc(curves, RocStyle())
    assert "P: b (AUC 1.00)" in lines(figure)


def test_equal_names_are_told_apart_by_what_differs():
    same = [summary("A", "G"), summary("A", "H"), summary("B", "G")]
    assert [curve.name for curve in _curves(same, "attack")] == ["A, G", "A, H", "B"]


def test_the_curve_starts_at_the_origin_and_ends_at_one():
    line = lines(draw_roc([Curve("c", LABELS, SCORES)], RocStyle()))
    drawn = next(line[name] for name in line if name.startswith("c ("))
    fpr, tpr = drawn.get_data()
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert len(fpr) == 101


def test_outlines_are_the_frontier_of_epsilon_and_delta():
    style = RocStyle(eff_epsilon=(1.0,), delta=0.01)
    outline = lines(draw_roc([Curve("c", LABELS, SCORES)], style))["ε = 1, δ = 0.01"]
    fpr, tpr = outline.get_data()
    expected = np.minimum(math.e * fpr + 0.01, 1 - (1 - 0.01 - fpr) / math.e)
    np.testing.assert_allclose(tpr, np.minimum(expected, 1))


def test_the_band_encloses_the_curve():
    figure = draw_roc([Curve("c", LABELS, SCORES)], RocStyle(confidence=0.95))
    (patch,) = figure.axes[0].patches
    band = stats.roc_band(SCORES[LABELS == 1], SCORES[LABELS == 0], confidence=0.95)
    inside = patch.get_path().contains_points(
        np.column_stack([band.fpr, band.tpr])[10:90], radius=1e-9
    )
    assert inside.all()
    again = draw_roc([Curve("c", LABELS, SCORES, error_share=0.05)], RocStyle(confidence=0.95))
    (wider,) = again.axes[0].patches
    area = [one.get_path().get_extents().bounds for one in (patch, wider)]
    corners = patch.get_path().vertices[10:90]
    assert wider.get_path().contains_points(corners, radius=1e-9).mean() > 0.9, area


def test_corners_are_shown_near_zero_and_near_one():
    for low, expected in ((True, (0.0, 0.1)), (False, (0.9, 1.0))):
        figure = draw_roc([Curve("c", LABELS, SCORES)], RocStyle(zoom=0.1, low_corner=low))
        assert figure.axes[0].get_xlim() == pytest.approx(expected, abs=0.002)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"zooms": [0]}, "above 0"),
        ({"zooms": [2]}, "between 0 and 1"),
        ({"eff_epsilon": -1}, "positive"),
        ({"confidence": 1}, "strictly between"),
    ],
)
def test_wrong_options_are_refused(arguments, words):
    with pytest.raises(ConfigError, match=words):
        ROCReport([summary()], **arguments)


def test_unknown_columns_and_no_summaries_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="'planet'"):
        ROCReport([summary()], curve_label="planet").publish(tmp_path)
    with pytest.raises(ConfigError, match="at least one"):
        ROCReport([])


def test_old_function_draws_pairs_of_arrays(tmp_path):
    plot_roc_curve(
        [(LABELS, SCORES), (LABELS.astype(bool), -SCORES)],
        ["a", "b"],
        "title",
        str(tmp_path / "x"),
        suffix="_s",
        eff_epsilon=1.5,
        zoom_in=0.3,
        low_corner=False,
    )
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["ROC_curve_s.png"]
