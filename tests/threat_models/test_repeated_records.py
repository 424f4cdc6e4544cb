"""Records that repeat on their own side are no independent ones: each value is judged once."""

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import DOMIAS, CalibratedLossMIA, ClosestDistanceMIA, ConfidenceAIA, LossMIA
from tapas.audit import Audit
from tapas.compat import AttackDoors, GameThreatModel
from tapas.datasets import TabularDataset
from tapas.errors import TargetInDataWarning
from tapas.report import AuditPage
from tapas.results import AttackSummary, Findings, record_facts, summary_facts
from tapas.threat_models import ModelAIA, ModelMIA, ObservedMIA, PredictionsMIA

REPEATED = pytest.mark.filterwarnings("ignore:.*repeat others of their side")
X, Y = make_classification(
    1200, 6, n_informative=4, n_redundant=0, flip_y=0.2, class_sep=1.0, random_state=3
)
INSIDE, OUTSIDE = np.arange(200), np.arange(400, 600)
ELSEWHERE = RandomForestClassifier(20, random_state=0).fit(X[800:], Y[800:])


def repeated(model: object, counts: np.ndarray | int, **options: object) -> ModelMIA:
    """Each record of both sides as often as counted."""
    inside, outside = (np.repeat(side, counts) for side in (INSIDE, OUTSIDE))
    sides = (X[inside], Y[inside]), (X[outside], Y[outside])
    return ModelMIA(model, *sides, seed=1, n_jobs=1, **options)


def outcome(threat_model: GameThreatModel, attack: AttackDoors | None = None) -> AttackSummary:
    attack = attack or LossMIA()
    attack.train(threat_model)
    return threat_model.test(attack)


def binary(values: np.ndarray) -> np.ndarray:
    """The same with a first column of zeros and ones."""
    return np.c_[values[:, 0] > 0, values[:, 1:]].astype(float)


def test_repeats_are_counted_and_each_value_is_known_or_judged_once() -> None:
    with pytest.warns(TargetInDataWarning, match="400 members and 400 non-members repeat others"):
        threat_model = repeated(ELSEWHERE, 3)
    assert threat_model.left_out == (400, 400)
    game = threat_model.game
    keys = np.concatenate([side.records.row_keys() for side in (game.known, game.candidates)])
    assert len(np.unique(keys)) == len(keys) == 400


@REPEATED
@pytest.mark.parametrize("counts", [2, 3, np.where(np.arange(200) < 60, 2, 1)])
def test_a_null_of_repeated_records_is_a_fit_split_without_a_leak(counts: np.ndarray | int) -> None:
    record = Audit(repeated(ELSEWHERE, counts), [LossMIA()]).run(n_jobs=1)
    (facts,) = record_facts(record)
    assert not facts.told_by_inputs
    assert not Findings(record).leaks


@REPEATED
def test_the_leak_of_repeated_records_is_found() -> None:
    for counts in (1, 3):
        trained = np.repeat(INSIDE, counts)
        forest = RandomForestClassifier(30, min_samples_leaf=2 * counts, random_state=0)
        forest.fit(X[trained], Y[trained])
        record = Audit(repeated(forest, counts), [LossMIA()]).run(n_jobs=1)
        assert Findings(record).leaks
        assert not record_facts(record)[0].told_by_inputs


def of_files(seed: int, counts: int) -> ObservedMIA:
    """A release that knows nothing of forty records of each side, each there so often."""
    numbers = np.random.default_rng(seed).normal(size=(240, 3))
    parts = [np.repeat(numbers[some], counts, axis=0) for some in np.split(np.arange(160), 2)]
    tables = [pd.DataFrame(rows, columns=list("xyz")) for rows in (numbers[160:], *parts)]
    return ObservedMIA(*map(TabularDataset.from_dataframe, tables), seed=seed)


@REPEATED
@pytest.mark.parametrize("make", [ClosestDistanceMIA, DOMIAS])
def test_repeats_in_files_neither_tell_who_was_used_nor_make_results_surer(
    make: Callable[[], AttackDoors],
) -> None:
    missed = 0
    for seed in range(60):
        game = of_files(seed, 6)
        summary = outcome(game, make())
        area = summary_facts(summary).auc
        missed += not area.low <= 0.5 <= area.high
        assert len(summary) == len(game.judged_values().drop_duplicates()) > 80
    assert missed <= 7  # 5 %, and two standard deviations


@REPEATED
def test_equal_targets_of_a_guessed_attribute_count_once() -> None:
    rows = np.repeat(INSIDE, 5)
    sides = [ModelAIA(ELSEWHERE, (binary(X[r]), Y[r]), 0, seed=1) for r in (INSIDE, rows)]
    few, many = (outcome(one, ConfidenceAIA()) for one in sides)
    assert len(few) == len(many) == len(INSIDE)
    assert summary_facts(many).accuracy == summary_facts(few).accuracy
    assert many.get_metrics().equals(few.get_metrics())


@REPEATED
def test_half_of_the_reference_models_are_without_each_repeated_record() -> None:
    tree = DecisionTreeClassifier(random_state=0).fit(X[INSIDE], Y[INSIDE])
    threat_model = repeated(tree, 3, trainer=tree, num_shadows=4)
    attack = CalibratedLossMIA()
    attack.train(threat_model)
    assert threat_model.test(attack).auc > 0.6
    masks = np.stack([threat_model.game._inside(number) for number in range(4)])
    judged = len(threat_model.game.candidates)
    assert (masks[:, :judged].sum(axis=0) == 2).all()


# -- predictions -----------------------------------------------------------------------------------


def said(seed: int, size: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores that say nothing about who was trained on."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet([1, 1, 1], size)
    labels = np.array([rng.choice(3, p=row) for row in scores])
    return scores, labels, rng.random(size) < 0.5


def thrice(parts: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    return [np.concatenate([part] * 3) for part in parts]


def test_rows_of_predictions_that_repeat_are_counted_once() -> None:
    given = thrice(said(0))
    with pytest.warns(TargetInDataWarning, match="repeat others of their side"):
        threat_model = PredictionsMIA(*given, seed=0)
    assert sum(threat_model.left_out) == 1200 - sum(map(len, threat_model.game._sides))
    rows = threat_model.judged_records()["row"]
    judged = given[0][rows]
    assert len(np.unique(judged, axis=0)) == len(judged)
    known = given[0][threat_model.game.known.rows]
    assert not (judged[:, None] == known[None]).all(axis=2).any()


def test_an_audit_of_repeated_predictions_says_how_many_were_left_out() -> None:
    with pytest.warns(TargetInDataWarning):
        threat_model = PredictionsMIA(*thrice(said(1)), seed=0)
    record = Audit(threat_model, [LossMIA()]).run(n_jobs=1)
    assert record.subjects[0].left_out == threat_model.left_out
    assert "because they repeat others of theirs" in AuditPage(record).html()


def test_equal_rows_of_coarse_scores_are_different_records() -> None:
    inside, outside = (X[INSIDE], Y[INSIDE]), (X[OUTSIDE], Y[OUTSIDE])
    models = [
        DecisionTreeClassifier(random_state=0),
        DecisionTreeClassifier(min_samples_leaf=4, random_state=0),
        RandomForestClassifier(10, random_state=0),
        RandomForestClassifier(100, random_state=0),
    ]
    for model in models:
        model.fit(*inside)
        scores = np.concatenate([model.predict_proba(side[0]) for side in (inside, outside)])
        labels = np.concatenate([inside[1], outside[1]])
        threat_model = PredictionsMIA(scores, labels, np.arange(400) < 200, seed=0)
        assert threat_model.left_out == (0, 0)
        rounded = PredictionsMIA(scores.round(2), labels, np.arange(400) < 200, seed=0)
        assert rounded.left_out == (0, 0)
    said_labels = models[0].predict(np.concatenate([inside[0], outside[0]]))
    of_labels = PredictionsMIA(said_labels, labels, np.arange(400) < 200, outputs="labels", seed=0)
    assert of_labels.left_out == (0, 0)


@pytest.mark.slow
@REPEATED
@pytest.mark.parametrize("counts", [3, np.where(np.arange(400) < 120, 2, 1)])
def test_of_two_hundred_nulls_with_repeats_intervals_hold(counts: np.ndarray | int) -> None:
    missed = {0.8: 0, 0.95: 0}
    for seed in range(200):
        parts = [np.repeat(part, counts, axis=0) for part in said(seed)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TargetInDataWarning)
            summary = outcome(PredictionsMIA(*parts, seed=seed))
        for confidence in missed:
            area = summary_facts(summary, confidence=confidence).auc
            missed[confidence] += not area.low <= 0.5 <= area.high
    for confidence, number in missed.items():
        alpha = 1 - confidence
        assert number <= 200 * alpha + 2.5 * np.sqrt(200 * alpha * (1 - alpha)), missed
