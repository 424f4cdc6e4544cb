"""Regressors from an audit file, through the commands."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.tree import DecisionTreeRegressor

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


def saved(table: pd.DataFrame, *, whole: bool = False) -> None:
    """A tree that knows its records by heart, in an ONNX file, beside the two halves of a table."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx, which writes the file, is missing")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    numbers = np.random.default_rng(1).normal(size=(240, 3)).astype(np.float32)
    frame = pd.DataFrame(numbers, columns=["x", "y", "z"])
    frame["price"] = (table["price €"] // 1).astype(int) if whole else table["price €"]
    tree = DecisionTreeRegressor(random_state=0).fit(numbers[:120], frame["price"][:120])
    file = skl2onnx.to_onnx(tree, np.zeros((1, 3), np.float32))
    Path("model.onnx").write_bytes(file.SerializeToString())
    frame[:120].to_csv("inside.csv", index=False)
    frame[120:].to_csv("outside.csv", index=False)


def asked(**model: object) -> None:
    values = {
        "data": {"table": "inside.csv", "holdout": "outside.csv"},
        "model": {"file": "model.onnx", "class_column": "price", **model},
        "attacks": ["LossMIA"],
    }
    Path("audit.yaml").write_text(yaml.safe_dump(values))


def test_a_file_of_one_number_beside_real_numbers_is_a_regressor(table: pd.DataFrame) -> None:
    saved(table)
    asked()
    assert run(["run", "audit.yaml", "--quiet"]) == 0
    (subject,) = AuditRecord.load("audit-run").subjects
    assert subject.name == "model.onnx"
    assert subject.right_when.startswith("predicting a number that is off by less than")
    assert subject.summaries[0].auc > 0.9


def test_a_file_beside_whole_numbers_is_one_where_the_trainer_says_so(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(table, whole=True)
    asked()
    assert run(["check", "audit.yaml"]) == 4
    said = " ".join(capsys.readouterr().err.split())
    assert "(in an audit file: the regressor as model.trainer, beside model.file)" in said
    asked(trainer={"use": "sklearn.tree:DecisionTreeRegressor"}, shadows=0)
    assert run(["run", "audit.yaml", "--quiet"]) == 0
    assert AuditRecord.load("audit-run").subjects[0].summaries[0].auc > 0.9


def test_a_saved_booster_of_numbers_is_a_regressor(table: pd.DataFrame) -> None:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    numbers = np.random.default_rng(1).normal(size=(240, 3))
    frame = pd.DataFrame(numbers, columns=["x", "y", "z"]).assign(price=table["price €"])
    matrix = xgboost.DMatrix(numbers[:120], label=frame["price"][:120])
    xgboost.train({"max_depth": 8, "eta": 0.5, "seed": 0}, matrix, 40).save_model("booster.json")
    frame[:120].to_csv("inside.csv", index=False)
    frame[120:].to_csv("outside.csv", index=False)
    asked(file="booster.json")
    assert run(["run", "audit.yaml", "--quiet"]) == 0
    (subject,) = AuditRecord.load("audit-run").subjects
    assert subject.name == "booster.json"
    assert subject.summaries[0].auc > 0.9
