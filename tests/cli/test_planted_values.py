"""Ten thousand private values: none is in what is shared."""

import re
import string
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas.cli._main import run

ROWS, NUMBERS, CATEGORIES, TEXTS, DATES = 100, 45, 35, 15, 5
WORD, DIGITS = 11, 8
CODE = """
import os

from tapas.attacks import ClosestDistanceMIA
from tapas.errors import MechanismError, SchemaError
from tapas.generators import Raw

ERRORS = (ValueError, MechanismError, SchemaError, KeyError, SystemExit, RuntimeError)


class Quotes(Raw):
    def __call__(self, dataset, num_samples=None, random_state=None):
        row = dataset.data.iloc[random_state % len(dataset)]
        print(row.to_dict())
        os.write(1, str(row.to_dict()).encode())
        if random_state % 3 == 0:
            raise ERRORS[random_state % len(ERRORS)](str(row.to_dict()))
        if random_state % 7 == 0:
            return dataset.data.rename(columns=lambda name: str(row.iloc[0]) + name)
        return super().__call__(dataset, num_samples, random_state)


class QuotesToo(ClosestDistanceMIA):
    def fit(self, board, *, rng):
        targets = board.briefing.targets.data
        raise KeyError(str(targets.iloc[0].to_dict()))
"""


def private_table() -> pd.DataFrame:
    """As many different values as cells, in columns of every kind."""
    rng = np.random.default_rng(0)
    letters = np.array(list(string.ascii_lowercase))

    def words() -> list[str]:
        return ["".join(rng.choice(letters, WORD)) for _ in range(ROWS)]

    columns: dict[str, object] = {}
    for number in range(NUMBERS):
        whole = rng.choice(9 * 10 ** (DIGITS - 1), ROWS, replace=False) + 10 ** (DIGITS - 1)
        columns[f"n{number}"] = whole if number % 2 else whole + 0.5
    for number in range(CATEGORIES):
        columns[f"c{number}"] = words()
    for number in range(TEXTS):
        columns[f"t{number}"] = [" ".join(pair) for pair in zip(words(), words(), strict=True)]
    for number in range(DATES):
        days = rng.choice(200_000, ROWS, replace=False)
        columns[f"d{number}"] = pd.Timestamp("1700-01-01") + pd.to_timedelta(days, unit="D")
    return pd.DataFrame(columns)


def planted(frame: pd.DataFrame) -> tuple[set[str], set[str], set[str]]:
    """Words, whole parts of numbers, and days of a table."""
    cells = [str(cell) for name in frame for cell in frame[name]]
    return (
        {word for cell in cells for word in re.findall(rf"[a-z]{{{WORD}}}", cell)},
        {number for cell in cells for number in re.findall(rf"^\d{{{DIGITS}}}", cell)},
        {cell[:10] for name in frame if name.startswith("d") for cell in frame[name].astype(str)},
    )


def found(text: str, private: tuple[set[str], set[str], set[str]]) -> set[str]:
    """Private values in a text, also inside of longer runs of letters or digits."""
    plain = re.sub(r"(?<=\d)[,_ ](?=\d{3})", "", text)
    runs = [
        *re.findall(rf"[a-z]{{{WORD},}}", plain),
        *re.findall(rf"\d{{{DIGITS},}}", plain),
    ]
    windows = {
        run[start : start + size]
        for run in runs
        for size in (WORD, DIGITS)
        for start in range(len(run) - size + 1)
    }
    days = set(re.findall(r"\d{4}-\d\d-\d\d", plain))
    return (windows & (private[0] | private[1])) | (days & private[2])


@pytest.fixture
def private(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[set[str], set[str], set[str]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "quotes_all", raising=False)
    (tmp_path / "quotes_all.py").write_text(CODE)
    every = 1 if kind == "generator" else 3  # the others meet a third of each kind of column
    frame = private_table().iloc[:, ::every]
    frame.to_csv("people.csv", index=False)
    frame.iloc[:50].to_csv("private.csv", index=False)
    frame.iloc[50:].to_csv("holdout.csv", index=False)
    frame.iloc[20:70].to_csv("released.csv", index=False)
    values = planted(frame)
    assert sum(map(len, values)) >= 10_000 / every
    return values


def shared(folder: Path) -> dict[str, str]:
    """All files that may be shared, whether or not they were looked at first."""
    local = ("errors.log", "index.sqlite")
    files = [path for path in folder.iterdir() if path.is_file() and path.name not in local]
    return {path.name: path.read_text() for path in [*files, Path("v.json"), Path("v.xml")]}


AUDITS: dict[str, dict[str, object]] = {
    "generator": {
        "data": {"table": "people.csv", "targets": {"random": 3}},
        "generator": "quotes_all:Quotes",
        "attacks": ["ClosestDistanceMIA", {"use": "quotes_all:QuotesToo", "label": "too"}],
        "knowledge": {"records": 20},
        "trials": {"train": 4, "test": 12, "max_failures": 16},
        "controls": False,
        "gates": [{"metric": "auc", "at_most": 0.7}],
    },
    "attribute": {
        "data": {"table": "people.csv", "targets": {"random": 2}},
        "generator": "Raw",
        "goal": {"attribute": {"column": "c0"}},
        "attacks": ["ClosestDistanceAIA"],
        "knowledge": {"records": 20},
        "trials": {"train": 4, "test": 8},
        "controls": False,
    },
    "model": {
        "data": {"table": "people.csv"},
        "model": {
            "use": "sklearn.tree:DecisionTreeClassifier",
            "class_column": "half",
            "shadows": 0,
        },
        "attacks": ["LossMIA"],
    },
}


@pytest.mark.parametrize("kind", [*AUDITS, "files"])
def test_no_private_value_is_in_what_is_shared(
    kind: str,
    private: tuple[set[str], set[str], set[str]],
    capfd: pytest.CaptureFixture[str],
) -> None:
    outputs = ["--json", "v.json", "--junit", "v.xml"]
    if kind == "files":
        command = ["release", "private.csv", "holdout.csv", "released.csv", "--no-controls"]
        command += ["--attack", "ClosestDistanceMIA", "--folder", "run", *outputs]
    else:
        if kind == "model":
            frame = pd.read_csv("people.csv")
            frame = frame.drop(columns=[name for name in frame if name[0] in "ct"][3:])
            frame["half"] = np.arange(len(frame)) % 2
            frame.to_csv("people.csv", index=False)
        Path("audit.yaml").write_text(yaml.safe_dump(AUDITS[kind]))
        command = ["run", "audit.yaml", "--folder", "run", "--n-jobs", "1", "--quiet", *outputs]
    if kind == "attribute":
        # What is asked is which of these an attacker guesses: they are named in the answer.
        private[0].difference_update(pd.read_csv("people.csv")["c0"])
    code = run(command)
    assert code in (0, 1, 5, 6), capfd.readouterr().err
    texts = {"standard output": capfd.readouterr().out, **shared(Path("run"))}
    assert {"report.html", "record.json", "history.jsonl", "v.json", "v.xml"} <= set(texts)
    leaked = {name: sorted(values)[:3] for name in texts if (values := found(texts[name], private))}
    assert not leaked
    if kind == "generator":
        assert found((Path("run") / "errors.log").read_text(), private)
