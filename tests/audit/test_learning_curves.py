"""Learning curves: known areas, known gains, and where they stand."""

import re

import numpy as np
import pytest
from scipy.stats import norm

from tapas.attacks import ClosestDistanceMIA, SubsetAttack
from tapas.audit import Audit
from tapas.datasets import load_sample
from tapas.generators import Bootstrap
from tapas.metrics import column_aucs
from tapas.report import AuditPage
from tapas.results import AuditRecord, Estimate, LearningCurve, rounded
from tapas.stats import mean_auc_influences, runs_needed
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA


def drawn(rng: np.random.Generator, shift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of 40 pairs and 6 targets that share what their backgrounds say."""
    positive = np.tile([True, False], 40)[:, None] ^ (rng.random((1, 6)) < 0.5)
    groups = np.arange(80) // 2
    shared = rng.normal(size=(40, 1))[groups]
    return rng.normal(size=(80, 6)) + shared + shift * positive, positive, groups


def test_influences_tell_the_error_of_the_mean_area() -> None:
    found = []
    for seed in range(300):
        scores, positive, groups = drawn(np.random.default_rng(seed), 0.7)
        mean, parts, _ = mean_auc_influences(scores, positive, groups)
        assert mean == pytest.approx(column_aucs(scores, positive).mean())
        found.append((mean, (parts**2).sum()))
    means, variances = np.array(found).T
    assert np.sqrt(variances.mean()) == pytest.approx(means.std(), rel=0.12)


def test_gains_have_the_interval_of_a_difference_on_the_same_trials() -> None:
    inside = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        scores, positive, groups = drawn(rng, 0.0)
        weak, strong = scores + 0.4 * positive, scores + 0.9 * positive
        curve = LearningCurve.measured("a", {50: weak, 100: strong}, positive, groups)
        areas = [norm.cdf(shift / 2) for shift in (0.4, 0.9)]
        inside += curve.gain.low <= areas[1] - areas[0] <= curve.gain.high
    assert inside >= 88


def test_words_say_whether_more_would_help() -> None:
    auc = (Estimate(0.6, 0.55, 0.65), Estimate(0.66, 0.6, 0.7))
    learns = LearningCurve("Subsets", (100, 200), auc, Estimate(0.06, 0.04, 0.08))
    assert learns.forecast == pytest.approx(0.69)
    assert "twice as many would show about 0.69" in learns.words("gen")
    done = LearningCurve("Subsets", (100, 200), auc, Estimate(0.0, -0.01, 0.01))
    assert "would hardly show more" in done.words("gen")
    assert runs_needed(0.9, 0.1, 0.0) < learns.trials_to_certify / 2 < runs_needed(0.55, 0.45, 0.0)
    assert LearningCurve.from_dict(learns.to_dict()).words("gen") == learns.words("gen")
    forecast = re.search(r"about ([0-9,]+) test trials", learns.words("gen"))
    assert forecast is not None
    assert len(forecast[1].replace(",", "").rstrip("0")) <= 2


def test_pairs_are_forecast_to_take_more_trials() -> None:
    rng = np.random.default_rng(0)
    scores, positive, groups = drawn(rng, 0.8)
    of_both = {50: scores, 100: scores}
    pairs = LearningCurve.measured("a", of_both, positive, groups)
    alone = LearningCurve.measured("a", of_both, positive, np.arange(len(groups)))
    assert (pairs.paired, alone.paired) == (True, False)
    assert pairs.trials_to_certify > alone.trials_to_certify
    assert LearningCurve.from_dict(pairs.to_dict()).trials_to_certify == pairs.trials_to_certify


def test_no_number_of_trials_is_told_where_no_leak_is_shown() -> None:
    auc = (Estimate(0.5, 0.47, 0.53), Estimate(0.506, 0.48, 0.53))
    curve = LearningCurve("Subsets", (100, 200), auc, Estimate(0.006, -0.02, 0.03))
    assert "test trials" not in curve.words("gen")


def test_attacks_that_pool_targets_have_a_curve_on_the_page_and_in_the_record() -> None:
    columns = list(load_sample("census", 1).description.columns)[:5]
    data = load_sample("census", 400).view(columns=columns)
    different = np.flatnonzero(~data.data.duplicated(keep=False))[:8].tolist()
    knowledge = AuxiliaryDataKnowledge(
        data.drop_records(different), num_training_records=40, seed=1
    )
    box = BlackBoxKnowledge(Bootstrap(), 40)
    model = TargetedMIA(knowledge, data.take(different), box, seed=1, n_jobs=1)
    attacks = [ClosestDistanceMIA(), SubsetAttack()]
    record = Audit(model, attacks, 48, 30, exposure_map=False).run(n_jobs=1)
    (curve,) = record.subjects[0].learning
    assert (curve.attack, curve.trials) == ("Subsets", (12, 24, 48))
    mine = [one for one in record.subjects[0].summaries if one.attack == "Subsets"]
    areas = [column_aucs(one.scores[:, None], one.labels[:, None])[0] for one in mine]
    assert curve.auc[-1].value == pytest.approx(np.mean(areas))
    again = AuditRecord.from_json(record.to_json())
    assert again.subjects[0].learning[0].to_dict() == curve.to_dict()
    page = AuditPage(again).html()
    assert "Would more trials show more?" in page
    means = set(re.findall(r"Subsets[^.:]* has a mean AUC of ([0-9.]+) ", page))
    assert means == {rounded(curve.auc[-1].value)}
