"""Values of records guessed from one release: only the excess over records not used counts."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceAIA, ClosestDistanceMIA, SyntheticPredictorAttack
from tapas.audit import Audit, audit_from_values
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import IncompatibleAttackError, ThreatModelError
from tapas.game import Goal
from tapas.report import AuditPage
from tapas.threat_models import ObservedAIA

COLUMN = "Sex"


def pools(*sizes: int, seed: int = 0) -> list[TabularDataset]:
    data = load_sample("census", sum(sizes), seed=seed)
    order = np.random.default_rng(seed).permutation(len(data))
    return [data.take(rows) for rows in np.split(order, np.cumsum(sizes)[:-1])]


def observed(*tables: TabularDataset, column: str = COLUMN, **given: Any) -> ObservedAIA:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ObservedAIA(*tables, column, seed=1, **given)


def test_what_counts_is_whether_right_guesses_tell_who_was_used() -> None:
    private, holdout = pools(300, 300)
    game = observed(private, private, holdout)
    attack = ClosestDistanceAIA()
    attack.train(game)
    summary = game.test(attack)
    board = game.game.play([])
    assert board == []
    inside, outside = game.judged_sides
    guesses = {
        side: summary.predictions[summary.labels.astype(bool) == member]
        for side, member in (("in", True), ("out", False))
    }
    assert len(guesses["in"]) == len(inside)
    assert len(guesses["out"]) == len(outside)
    # The release is the private table: who was used is found in it, others are guessed at.
    assert guesses["in"].mean() > 0.95
    assert 0.3 < guesses["out"].mean() < 0.9
    assert summary.get_metrics()["mia_advantage"].iloc[0] == pytest.approx(
        guesses["in"].mean() - guesses["out"].mean()
    )


def test_the_value_that_is_guessed_is_never_told() -> None:
    private, holdout = pools(60, 60)
    game = observed(private, private, holdout).game
    assert game.goal == Goal("attribute", COLUMN, tuple(game.goal.values))
    for phase in ("train", "test"):
        told = game.briefing(phase).targets.data[COLUMN]
        assert told.isna().all()


@pytest.mark.parametrize("column", [COLUMN, "Health"])
def test_nothing_leaks_where_the_release_is_of_others(column: str) -> None:
    found = []
    for seed in range(12):
        released, private, holdout = pools(250, 250, 120, seed=seed)
        game = observed(released, private, holdout, column=column)
        for attack in (
            ClosestDistanceAIA(),
            SyntheticPredictorAttack(DecisionTreeClassifier(), "accuracy"),
        ):
            attack.train(game)
            found.append(game.test(attack).get_metrics()["mia_advantage"].iloc[0])
    error = np.std(found, ddof=1) / np.sqrt(len(found) / 2)
    assert abs(np.mean(found)) < 3 * error


def test_rows_are_those_of_the_tables_given_and_missing_values_are_not_judged() -> None:
    private, holdout = pools(80, 80)
    frame = private.data.copy()
    frame.loc[frame.index[::4], COLUMN] = None
    with_gaps = TabularDataset(frame, private.description)
    game = observed(private, with_gaps, holdout)
    about = game.judged_records()
    rows = about.loc[about["source"] == "members", "row"].to_numpy()
    assert len(rows) > 10
    assert (rows % 4 != 0).all()
    values = game.judged_values()[about["source"] == "members"]
    pd.testing.assert_frame_equal(
        values.reset_index(drop=True), with_gaps.data.iloc[rows].reset_index(drop=True)
    )


def test_wrong_questions_are_refused() -> None:
    private, holdout = pools(30, 30)
    with pytest.raises(ThreatModelError, match="'Nonsense' must be a column"):
        observed(private, private, holdout, column="Nonsense")
    with pytest.raises(IncompatibleAttackError):
        observed(private, private, holdout).test(ClosestDistanceMIA())


def test_it_reaches_audits_audit_files_and_the_page(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in zip(("private", "holdout"), pools(120, 120), strict=True):
        table.data.to_csv(f"{name}.csv", index=False)
    values = {
        "data": {"table": "private.csv", "holdout": "holdout.csv"},
        "release": {"file": "private.csv"},
        "goal": {"attribute": {"column": COLUMN}},
        "controls": False,
        "gates": [{"metric": "advantage", "at_most": 0.1}],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        audit = audit_from_values(values, "test")
        assert isinstance(audit, Audit)
        assert [attack.label for attack in audit.attacks][1] == "Predictor"
        record = audit.run(n_jobs=1)
    page = AuditPage(record)
    assert page.words[0].startswith("Fail")
    html = page.html()
    assert f"whether “{COLUMN}” is guessed right" in html
    assert "Passing these checks proves nothing" in html
    nearness = record.subjects[0].nearness
    assert nearness is not None
    low = nearness["members"]["nearer_low"]
    assert low is not None
    assert low > 0.5
