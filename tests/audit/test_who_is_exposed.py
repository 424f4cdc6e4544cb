"""Audits of generators and models tell who is exposed, what is near them, and what models say."""

import csv
import io
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceMIA, LiRA, LossMIA
from tapas.audit import Audit
from tapas.audit._about_targets import most_exposed
from tapas.cli._outputs import verdict_values
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Raw
from tapas.report import AuditPage
from tapas.report._page_csv import slices_csv
from tapas.report._page_people import people_csv
from tapas.results import AuditRecord, Gate, MIAttackSummary, decide, exposed_people
from tapas.stats import advantage_interval
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ModelMIA,
    TargetedMIA,
)

TARGETS = [3, 7, 11, 19, 23, 31]


def audit(frame: pd.DataFrame | None = None, **options: object) -> Audit:
    data = load_sample("clinic", 200) if frame is None else TabularDataset.from_dataframe(frame)
    rest = data.drop_records(TARGETS)
    halves = {"aux_data": rest.take(range(97)), "test_data": rest.take(range(97, 194))}
    game = TargetedMIA(
        AuxiliaryDataKnowledge(**halves, num_training_records=40),
        data.take(TARGETS),
        BlackBoxKnowledge(Raw(), num_synthetic_records=40),
        seed=1,
    )
    attacks = [ClosestDistanceMIA(criterion=("threshold", 0))]
    return Audit(game, attacks, 0, 12, title="Who", **options)  # type: ignore[arg-type]


def people(record: AuditRecord) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(people_csv(exposed_people(record)))))


def test_the_most_exposed_targets_are_those_whose_trials_are_ranked_best_either_way() -> None:
    labels = np.arange(40) % 2
    told = {"last": -labels, "middling": labels + 3 * np.cos(np.arange(40)), "none": np.zeros(40)}
    summaries = [
        MIAttackSummary(labels, labels, scores.astype(float), target_id=name)
        for name, scores in told.items()
    ]
    assert next(list(told)[place] for place in most_exposed(summaries, list(told))) == "last"


def test_beside_exposed_people_stand_the_nearest_released_records() -> None:
    record = audit(subgroups=("sex",)).run(n_jobs=1)
    rows = people(record)
    assert len(rows) == len(TARGETS)
    assert {row["agrees_on"] for row in rows} == {"all columns"}
    assert all(float(row["agreed_with"]) > 8 > float(row["agreed_without"]) for row in rows), rows
    (found,) = exposed_people(record)
    assert set(found.parts["slice"]) == {"sex"}
    assert found.parts["people"].sum() <= len(TARGETS)
    assert ((found.parts["low"] <= found.parts["auc"]) & found.parts["auc"].le(1)).all()
    slices = pd.read_csv(io.StringIO(slices_csv([], exposed_people(record))))
    assert list(slices["value"]) == list(found.parts["value"])
    assert slices["auc_low"].tolist() == pytest.approx(found.parts["low"].tolist())
    html = AuditPage(record, ()).html()
    assert "The most exposed people in" in html
    assert "all columns" in html
    said = json.dumps(verdict_values(record, decide(record)), allow_nan=False)
    assert json.loads(said)["people"][0]["most_exposed"][0]["agrees_on"] == "all columns"


def test_the_column_that_makes_people_stand_out_is_named_with_those_that_repeat_it() -> None:
    """Six people of six towns where nobody else lives; a number of the town says the same."""
    rows = np.arange(200)
    at_home = np.isin(rows, TARGETS)
    frame = pd.DataFrame(
        {
            "sex": rows % 2,
            "town": np.where(at_home, [f"hamlet{row}" for row in rows], "city"),
            "district": np.where(at_home, rows + 7000, 1),
            "shift": rows % 5,
        }
    ).astype(str)
    record = audit(frame).run(n_jobs=1)
    again = AuditRecord.from_json(record.to_json())
    (subject,) = again.audited
    rarest = subject.rare_columns[0]
    assert rarest.columns == ("town", "district")
    assert (rarest.held_by, rarest.records) == ((1,) * 5, 200)
    generator = {"question": {"generator": [{"use": "Raw"}], "data": {"drop": ["x"]}}}
    html = unescape(AuditPage(replace(again, **generator), ()).html())
    assert "The values of the 5 most exposed are rarest in “town”" in html
    assert "held by 1 of 200 private records" in html
    assert "“district” says the same" in html
    assert "“town” (“district”: the same, one to one) 1, 1, 1, 1, 1;" in html
    assert "data.drop=[x, town, district]" in html
    assert "gate on dropped_columns" not in html
    inputs = {"data.table": {"dropped": {"x": "named in data.drop"}}}
    asked = {"question": {**generator["question"], "inputs": inputs}}
    limited = replace(again, **asked, gates=(Gate("dropped_columns", 1),))
    html = unescape(AuditPage(limited, ()).html())
    assert "gate on dropped_columns (at most 1) counts that, so it is 3 here" in html
    assert "'gates=[{metric: dropped_columns, at_most: 3}]'" in html
    assert "hamlet" not in html + json.dumps(verdict_values(again, decide(again)))


@pytest.mark.parametrize("shown", [False, True])
def test_values_of_people_are_shown_only_where_that_is_allowed(shown: bool) -> None:
    record = AuditRecord.from_json(audit(show_values=shown).run(n_jobs=1).to_json())
    assert any(name.startswith("value of ") for name in people(record)[0]) is shown
    assert any(name.startswith("value of ") for name in record.subjects[0].targets or ()) is shown


def test_pages_about_models_speak_of_training_data() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:100], y[:100])
    game = ModelMIA(tree, (X[:100], y[:100]), (X[100:], y[100:]), seed=0)
    record = Audit(game, [LossMIA()], show_values=True).run(n_jobs=1)
    html = AuditPage(record).html()
    assert "find out which records were in the training data" in html
    assert "treat this page like the training data" in html
    assert not re.search("private (data|table|record)", html)
    html = AuditPage(audit().run(n_jobs=1)).html()
    assert "in the private data" in html
    assert "training data" not in html


def test_releases_that_were_not_kept_are_played_again_and_not_kept_either(tmp_path: Path) -> None:
    kept = audit().run(tmp_path / "kept", n_jobs=1)
    forgotten = audit(keep_data=False).run(tmp_path / "run", n_jobs=1)
    assert people(forgotten) == people(kept)
    assert (_num_kept(tmp_path / "kept"), _num_kept(tmp_path / "run")) == (12, 0)


def test_a_kept_release_that_is_damaged_is_played_again(tmp_path: Path) -> None:
    whole = audit().run(tmp_path, n_jobs=1)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as database, database:
        changed = "UPDATE entries SET content = zeroblob(length(content)) WHERE key LIKE '%/data'"
        assert database.execute(changed).rowcount == 12
    assert people(audit().run(tmp_path, n_jobs=1)) == people(whole)


def _num_kept(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "index.sqlite")) as database:
        found = database.execute("SELECT count(*) FROM entries WHERE key LIKE '%/data'")
        return int(found.fetchone()[0])


def model_audit(trainer: DecisionTreeClassifier | None) -> AuditRecord:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 4)), columns=list("abcd"))
    X.index = pd.Index([f"person {row}" for row in range(240)])
    X["group"] = (np.arange(240) % 3).astype(float)
    y = (X["a"] + rng.normal(size=240) > 0).to_numpy().astype(int)
    inside, outside = slice(0, 120), slice(120, 240)
    model = DecisionTreeClassifier(random_state=0).fit(X[inside], y[inside])
    game = ModelMIA(
        model,
        (X[inside], y[inside]),
        (X[outside], y[outside]),
        trainer=trainer,
        num_shadows=6,
        seed=1,
    )
    gates = (Gate("accuracy_gap", 0.02),)
    attacks = [LiRA()] if trainer is not None else []
    return Audit(game, attacks, subgroups=("group",), gates=gates).run(n_jobs=1)


def test_models_tell_ids_and_what_models_without_the_record_say(tmp_path: Path) -> None:
    record = model_audit(DecisionTreeClassifier())
    AuditPage(record, ()).publish(tmp_path)
    rows = pd.read_csv(tmp_path / "exposure.csv")
    assert rows["id"].str.startswith("person ").all()
    assert (rows["id"].str.removeprefix("person ").astype(int) < 120).eq(rows["member"]).all()
    members = rows[rows["member"]]
    assert members["confidence"].eq(1).all()  # a tree that learnt them by heart
    assert members["confidence_without"].mean() < 0.8
    others = rows[~rows["member"]]
    assert abs((others["confidence"] - others["confidence_without"]).mean()) < 0.15
    assert "confidence without" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_models_tell_their_accuracy_and_a_gate_limits_the_gap(tmp_path: Path) -> None:
    record = AuditRecord.from_json(model_audit(None).to_json())
    AuditPage(record, ()).publish(tmp_path)
    table = pd.read_csv(tmp_path / "performance.csv")
    assert list(table["slice"]) == ["all", "class", "class", "group", "group", "group"]
    whole = table.iloc[0]
    assert whole["train_accuracy"] == 1
    assert whole["test_accuracy"] < 0.9
    assert whole["gap_low"] < whole["gap"] < whole["gap_high"]
    (outcome,) = decide(record).outcomes
    assert outcome.state == "fail"
    wrong = round(120 * (1 - whole["test_accuracy"]))
    assert outcome.low == advantage_interval(120, 120, 120 - wrong, 120, confidence=0.95).low
    assert outcome.low > whole["gap_low"]  # which holds for all rows together
    values = verdict_values(record, decide(record))
    (rows,) = values["performance"].values()
    assert rows[0]["gap"] == pytest.approx(whole["gap"])
    assert rows[0]["ratio"] == pytest.approx(1 / whole["test_accuracy"])
    assert whole["ratio_low"] < whole["ratio"] < whole["ratio_high"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "How well the model does" in page
    assert "is right about 100.0%" in page
