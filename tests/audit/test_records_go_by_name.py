"""Where the audit file names the column that labels records, they go by it everywhere."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas.audit import judge_file, load_audit
from tapas.cli._main import run
from tapas.errors import TapasWarning
from tapas.threat_models import PredictionsMIA

MODEL = {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Health", "shadows": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    people = pd.DataFrame(rng.normal(size=(200, 2)), columns=["Age", "Height"])
    people["Health"] = rng.choice(["good", "bad"], 200)
    people.insert(0, "pid", [f"=P{row}" for row in range(200)])
    rows = {"train": range(80), "others": range(80, 160), "asked": [0, *range(160, 200)]}
    for name, part in rows.items():
        people.iloc[list(part)].to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def written(folder: Path, **content: object) -> Path:
    data = {"table": "train.csv", "read": {"index": "pid"}} | content.pop("data", {})  # type: ignore[operator]
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump({"data": data, "attacks": ["LossMIA"], **content}))
    return path


def test_judged_records_are_called_as_their_file_calls_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(folder, data={"holdout": "others.csv"}, model=MODEL)
    with pytest.warns(TapasWarning) as told:
        judged = judge_file(path, folder / "asked.csv")
    assert any("(=P0) are among the members" in str(one.message) for one in told)
    assert judged.table["id"].tolist() == ["=P0", *(f"=P{row}" for row in range(160, 200))]
    assert run(["judge", str(path), str(folder / "asked.csv")]) == 0
    assert pd.read_csv(folder / "asked-judged.csv")["id"].iloc[1] == "'=P160"
    assert "=P0" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_canaries_are_called_as_the_table_calls_them(folder: Path) -> None:
    path = written(folder, data={"targets": {"random": 40}}, goal="canaries", model=MODEL)
    model = load_audit(path).subjects[0].threat_model
    about, values = model.judged_records(), model.judged_values()
    people = pd.read_csv(folder / "train.csv", index_col="pid")
    assert about["id"].str.startswith("=P").all()
    assert people.loc[about["id"], "Age"].tolist() == values["Age"].tolist()


def predictions(number: int = 160) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    scores = rng.random(number)
    members = [None if row < 10 else row % 2 for row in range(number)]
    names = [f"Q{row}" for row in range(number)]
    columns = {"member": members, "label": rng.integers(0, 2, number), "p_1": scores}
    return pd.DataFrame(columns, index=names).rename_axis("pid")


def test_records_of_predictions_are_called_as_the_table_calls_them(folder: Path) -> None:
    frame = predictions()
    frame.to_csv(folder / "said.csv")
    path = written(folder, data={"table": "said.csv"}, predictions={})
    about = load_audit(path).subjects[0].threat_model.judged_records()
    assert about["id"].tolist() == [f"Q{row}" for row in about["row"]]
    assert judge_file(path).table["id"].tolist() == [f"Q{row}" for row in range(10)]
    bare = PredictionsMIA.from_frame(frame.reset_index(drop=True), seed=0)
    assert "id" not in bare.judged_records()
