"""Regressors from an audit file, through the commands."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas.cli._main import run
from tapas.results import AuditRecord

HERE = "people.csv"


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Prices that follow from a category and a number, and noise to be learnt by heart."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"ward": rng.choice(["a", "b", "c"], 240), "age": rng.normal(50, 9, 240)})
    frame.loc[::17, "age"] = np.nan
    frame["since"] = pd.date_range("2020-01-01", periods=240).astype(str)
    frame["price €"] = (frame["ward"] == "a") * 20 + rng.normal(100, 15, 240).round(3)
    monkeypatch.chdir(tmp_path)
    frame.to_csv(HERE, index=False)
    return frame


def test_init_writes_a_regressor_that_memorises_and_is_found_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["init", HERE, "--kind", "model", "--class-column", "price €"]) == 0
    asked = yaml.safe_load(Path("audit.yaml").read_text())
    assert asked["model"]["use"] == "sklearn.ensemble:RandomForestRegressor"
    asked["model"] |= {"use": "sklearn.tree:DecisionTreeRegressor", "shadows": 4}
    asked["attacks"] = ["LossMIA", "LiRA"]
    Path("audit.yaml").write_text(yaml.safe_dump(asked))
    assert run(["check", "audit.yaml"]) == 0
    assert run(["run", "audit.yaml", "--quiet"]) == 1
    (subject,) = AuditRecord.load("audit-run").subjects
    assert len(subject.summaries) == 2
    assert subject.name == "DecisionTreeRegressor"
    assert subject.right_when.startswith("predicting a number that is off by less than")
    assert min(one.auc for one in subject.summaries) > 0.8


@pytest.mark.parametrize(
    ("column", "goal", "said"),
    [
        (
            "ward",
            {"membership": {}},
            "'ward' holds others: name a classifier, or a column of numbers",
        ),
        ("price €", {"attribute": {"column": "ward"}}, "goal.attribute: a regressor is audited"),
    ],
)
def test_what_a_regressor_cannot_do_is_refused(
    column: str, goal: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"use": "sklearn.tree:DecisionTreeRegressor", "class_column": column}
    values = {"data": {"table": HERE}, "model": model, "goal": goal}
    Path("audit.yaml").write_text(yaml.safe_dump(values))
    assert run(["check", "audit.yaml"]) == 4
    assert said in " ".join(capsys.readouterr().err.split())


def test_records_of_unknown_membership_are_judged(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    table.iloc[:200].to_csv(HERE, index=False)
    table.iloc[200:].to_csv("asked.csv", index=False)
    model = {"use": "sklearn.tree:DecisionTreeRegressor", "class_column": "price €", "shadows": 0}
    Path("audit.yaml").write_text(yaml.safe_dump({"data": {"table": HERE}, "model": model}))
    assert run(["judge", "audit.yaml", "asked.csv"]) == 0
    assert len(pd.read_csv("asked-judged.csv")) == 40
    assert "of 40 records are judged to be members" in capsys.readouterr().out
    table.iloc[200:].assign(**{"price €": "much"}).to_csv("asked.csv", index=False)
    assert run(["judge", "audit.yaml", "asked.csv"]) == 4
    assert "price €" in capsys.readouterr().err


def test_init_refuses_to_predict_a_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", HERE, "--kind", "model", "--class-column", "since"]) == 4
    assert "'since' holds dates, which no classifier" in capsys.readouterr().err
