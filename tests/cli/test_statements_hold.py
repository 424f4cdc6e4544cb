"""Whole audits on the command line: verdicts in JSON and exit codes are wrong as rarely as stated.

A generator of known epsilon is audited by its file, and releases that know nothing of the private
table by `tapas release`. `pytest -m slow -s` prints how often each statement was wrong.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.special import expit

from tapas.cli._main import run
from tapas.report import _page
from tapas.results import AuditRecord, Findings

AUDITS = 2000
CODE = """
import numpy as np
from tapas.datasets import TabularDataset
from tapas.generators import Generator


class Answers(Generator):
    def __init__(self, epsilon):
        super().__init__()
        self.epsilon = epsilon

    def fit(self, dataset, random_state=None):
        inside = (dataset.data["visits"] == 99).any()
        lies = np.random.default_rng(random_state).random() > 1 / (1 + np.exp(-self.epsilon))
        self.says, self.schema = inside ^ lies, dataset.description

    def generate(self, num_samples, random_state=None):
        rows = [["b", 99 if self.says else 5]] + [["a", 5]] * (num_samples - 1)
        return TabularDataset(rows, self.schema)
"""


def limit(runs: int, error: float) -> float:
    return error + 3 * math.sqrt(error * (1 - error) / runs)


def audit_file(place: Path, epsilon: float, stated: float, **trials: object) -> None:
    """An audit of one person whose answer is `epsilon` private; claim and gates say `stated`."""
    (place / "answers.py").write_text(CODE)
    people = pd.DataFrame({"ward": ["b", *"aabaab"], "visits": [99, 1, 2, 3, 4, 5, 6]})
    people.to_csv(place / "people.csv", index=False)
    values = {
        "data": {"table": "people.csv", "targets": {"rows": [0]}},
        "generator": {"use": "answers:Answers", "parameters": {"epsilon": epsilon}, "records": 2},
        "knowledge": {"data": "exact"},
        "attacks": [
            {"use": "ClosestDistanceMIA", "parameters": {"criterion": ["threshold", -1e-9]}}
        ],
        "trials": {"train": 0, "test": 40, **trials},
        "controls": False,
        "claim": {"epsilon": stated},
        "gates": [
            {"metric": "epsilon", "at_most": stated},
            {"metric": "auc", "at_most": float(expit(stated))},
        ],
    }
    (place / "audit.yaml").write_text(yaml.safe_dump(values))


def verdict(*arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON file of a command."""
    code = run([*arguments, "--json", "verdict.json"])
    found = json.loads(Path("verdict.json").read_text())
    assert found["exit_code"] == code
    return code, found


def misses(interval: dict[str, float], value: float) -> int:
    return int(not interval["low"] <= value <= interval["high"])


def wrong_of_run(seed: int, epsilon: float, *changes: str) -> Counter[str]:
    """Which statements about an audit of this epsilon are wrong."""
    options = ["--quiet", "--set", f"seed={seed}", "--folder", f"run{seed}", *changes]
    code, found = verdict("run", "audit.yaml", *options)
    (result,), rate = found["results"], float(expit(epsilon))
    gates = {gate["metric"]: gate["state"] for gate in found["gates"]}
    failed = {name for name, state in gates.items() if state == "fail"}
    contradicted = found["claim"]["state"] == "contradicted"
    assert (code == 1) == (contradicted or bool(failed))
    return Counter(
        {
            "runs": 1,
            "epsilon": int(result["epsilon_over_all"] > epsilon),
            "auc": misses(result["auc"], rate),
            "accuracy": misses(result["accuracy"], rate),
            "advantage": misses(result["advantage"], 2 * rate - 1),
            "epsilon gate": int("epsilon" in failed),
            "auc gate": int("auc" in failed),
            "claim": int(contradicted),
            "exit 1": int(code == 1),
        }
    )


def wrong_of_looks(seed: int, epsilon: float) -> Counter[str]:
    """Which statements are wrong at any of three looks, as trials are added to the folder."""
    looks = [wrong_of_run(seed, epsilon, "--set", f"trials.test={n}") for n in (20, 30, 40)]
    return Counter({name: max(look[name] for look in looks) for name in looks[0]})


def null_files(seed: int, rows: int = 80) -> None:
    """Three tables of one population; the release knows nothing of the others."""
    rng = np.random.default_rng(seed)
    for name in ("private", "holdout", "released"):
        numbers = {f"n{i}": rng.integers(0, 4 + 4 * i, rows) for i in range(3)}
        frame = pd.DataFrame({**numbers, "ward": rng.choice(list("abc"), rows)})
        frame.to_csv(f"{name}.csv", index=False)


def _name(result: dict[str, Any]) -> str:
    return str(result["attack"]).partition("(")[0]


def wrong_of_release(seed: int, copied: int = 0) -> Counter[str]:
    """Which statements about a release are wrong, of which `copied` records are private ones."""
    null_files(seed)
    if copied:
        private = pd.read_csv("private.csv")
        pd.concat([private[:copied], pd.read_csv("released.csv")[copied:]]).to_csv(
            "released.csv", index=False
        )
    attacks = [f"--attack={name}" for name in ("ClosestDistanceMIA", "DOMIAS")]
    options = ["--no-controls", "--max-auc", "0.5", "--folder", f"files{seed}", "--seed", str(seed)]
    code, found = verdict(
        "release", "private.csv", "holdout.csv", "released.csv", *attacks, *options
    )
    failed = {gate["metric"] for gate in found["gates"] if gate["state"] == "fail"}
    assert (code == 1) == bool(failed)
    (copies,) = found["copies"]
    return Counter(
        {
            "runs": 1,
            **{f"AUC of {_name(one)}": misses(one["auc"], 0.5) for one in found["results"]},
            "auc gate": int("auc" in failed),
            "copies gate": int("copied_records" in failed),
            "copies": int(copies["p_value"] <= 0.05),
            "near copies": int(copies["near_p_value"] <= 0.05),
            "copies beyond chance": int(copies["beyond_chance"]),
            "leak": int(Findings(AuditRecord.load(f"files{seed}")).leaks),
        }
    )


def told(kind: str, runs: int, one: Callable[[int], Counter[str]]) -> Counter[str]:
    found = Counter[str]()
    for seed in range(runs):
        found.update(one(seed))
    print(f"{kind}: wrong in {runs} runs: {dict(found)}")  # noqa: T201
    return found


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They state nothing, and take most of the time."""
    monkeypatch.setattr(_page, "curve_figures", lambda findings: [])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # Neither the module of another test nor the folder that it was found in.
    monkeypatch.delitem(sys.modules, "answers", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def test_wrong_statements_are_counted(place: Path) -> None:
    audit_file(place, epsilon=8.0, stated=0.1)
    found = wrong_of_run(0, 0.1)
    assert min(found.values()) == 1
    found = wrong_of_release(0, copied=40)
    assert found["AUC of ClosestDistance"] == found["auc gate"] == 1
    assert found["copies"] == found["copies beyond chance"] == found["leak"] == 1


def test_what_ends_trials_early_decides_the_claim_and_the_exit_code(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit_file(place, epsilon=3.0, stated=1.0, test=200, stop_early={"every": 20})
    code, found = verdict("run", "audit.yaml", "--quiet")
    assert code == 1
    assert "contradicted the claimed epsilon 1" in found["stopped"]
    assert found["claim"]["state"] == "contradicted"
    (result,) = found["results"]
    assert result["trials"] < 200
    # Of two gates.
    assert "any of these 2 may do so in up to 10%" in found["gates_words"]
    assert f"  {found['gates_words']}\n" in capsys.readouterr().out


def test_trials_added_to_the_folder_are_another_look(place: Path) -> None:
    audit_file(place, epsilon=1.0, stated=1.0)
    assert wrong_of_looks(0, 1.0)["epsilon"] == 0
    told = json.loads(Path("verdict.json").read_text())["holds_together"]
    assert any("looked at more than once" in said for said in told)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("kind", ["once", "stopping early", "three looks"])
@pytest.mark.parametrize("epsilon", [1.0, 1e-9])
def test_statements_about_a_generator(place: Path, epsilon: float, kind: str) -> None:
    early = {"stop_early": {"every": 10}} if kind == "stopping early" else {}
    audit_file(place, epsilon, epsilon, **early)
    wrong = wrong_of_looks if kind == "three looks" else wrong_of_run
    found = told(f"epsilon {epsilon:g}, {kind}", AUDITS, lambda seed: wrong(seed, epsilon))
    exits = found.pop("exit 1")
    # The first look has all of the error, later ones a tenth of it together.
    error = 0.055 if kind == "three looks" else 0.05
    most = max(count for name, count in found.items() if name != "runs")
    assert most <= AUDITS * limit(AUDITS, error)
    # Either of two: what is said of epsilon, and the gate of the AUC.
    assert exits <= AUDITS * limit(AUDITS, 2 * error)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("without_pictures")
def test_statements_about_releases_that_know_nothing(place: Path) -> None:
    found = told("releases", AUDITS, wrong_of_release)
    wrong = {name: count for name, count in found.items() if name != "runs"}
    assert len(wrong) == 8
    assert max(wrong.values()) <= AUDITS * limit(AUDITS, 0.05)
