"""tapas check: everything that is wrong at once, and what the work will cost."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tapas.cli._main import run
from tapas.errors import ConfigError


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(capsys: pytest.CaptureFixture[str], **values: Any) -> tuple[int, str, str]:
    """Exit code, output and errors of a check of these values."""
    Path("audit.yaml").write_text(yaml.safe_dump(values))
    code = run(["check", "audit.yaml"])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_wrong_parts_that_do_not_hang_together_are_told_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, errors = check(
        capsys,
        data={"table": "nowhere.csv"},
        generator=["Rawer", {"use": "BayesianNetwork", "parameters": {"degre": 3}}],
        attacks=["Nonsense", "GroundhogAttack", {"use": "DOMIAS", "parameters": {"x": 1}}],
    )
    assert code == 4
    lines = errors.splitlines()
    keys = ("attacks[0]", "attacks[2]", "generator[0]", "generator[1]", "data.table")
    assert len(lines) == len(keys)
    for line, key in zip(lines, keys, strict=True):
        assert line.startswith(f"Error: audit.yaml: {key}: ")


def test_every_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, errors = check(
        capsys,
        data={"table": "private.csv", "holdout": "others.csv"},
        release={"file": "released.csv"},
    )
    assert code == 4
    keys = ("data.table", "data.holdout", "release.file")
    assert [line.split(": ")[2] for line in errors.splitlines()] == list(keys)


def test_an_attack_that_fits_no_subject_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, errors = check(
        capsys,
        data={"sample": "census", "rows": 200, "targets": {"random": 1}},
        generator="Raw",
        attacks=["LossMIA", "RMIA", "ClosestDistanceMIA"],
    )
    assert code == 4
    first, second = errors.splitlines()
    assert "LossMIA" in first
    assert "RMIA" in second


def test_a_model_audit_says_what_its_shadow_models_will_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = check(
        capsys,
        data={"sample": "census", "rows": 200},
        model={
            "use": "sklearn.tree:DecisionTreeClassifier",
            "class_column": "Health",
            "shadows": 4,
        },
        attacks=["LossMIA"],
    )
    assert code == 0
    assert "5 trials of about" in out


def test_a_model_that_cannot_be_trained_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own_trainer.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\n\n\n"
        "class Fickle(DecisionTreeClassifier):\n"
        "    fits = 0\n\n"
        "    def fit(self, X, y, sample_weight=None, check_input=True):\n"
        "        Fickle.fits += 1\n"
        "        if Fickle.fits > 1:\n"
        "            raise ValueError('no more')\n"
        "        return super().fit(X, y, sample_weight, check_input)\n"
    )
    code, _, errors = check(
        capsys,
        data={"sample": "census", "rows": 200},
        model={"use": "own_trainer:Fickle", "class_column": "Health", "shadows": 4},
        attacks=["LossMIA"],
    )
    assert code == 4
    assert "no more" in errors


def test_one_error_holds_all_problems() -> None:
    error = ConfigError("this", "that")
    assert error.problems == ("this", "that")
    assert str(error) == "this; that"


def test_check_says_how_many_targets_are_judged(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = check(
        capsys,
        data={"sample": "census", "rows": 200},
        generator="Raw",
        attacks=["ClosestDistanceMIA"],
    )
    assert code == 0
    assert "Judged: 5 targets of 200 records, in private datasets of 48" in out


def test_check_says_how_many_records_are_judged_and_what_is_not_forecast(
    capsys: pytest.CaptureFixture[str],
) -> None:
    use = "sklearn.tree:DecisionTreeClassifier"
    code, out, _ = check(
        capsys,
        data={"sample": "clinic", "rows": 200},
        model={"use": use, "class_column": "sex", "shadows": 4},
        attacks=["RMIA"],
    )
    assert code == 0
    assert "Judged: 100 of 200 records" in out
    assert "come on top" in out


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {
                "generator": "Raw",
                "attacks": ["ClosestDistanceMIA"],
                "trials": {"train": 10, "test": 200},
            },
            "an AUC of each target rests on 200 scores and is known to about +-0.10 "
            "(95 % over all 5 results together)",
        ),
        (
            {
                "generator": "Raw",
                "attacks": ["ClosestDistanceMIA"],
                "trials": {"train": 10, "test": 6},
            },
            "rests on 6 scores: too few for any interval to exclude guessing",
        ),
        (
            {"model": {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Sex"}},
            "an AUC over the judged records rests on",
        ),
    ],
)
def test_error_bars_are_told_before_the_start(
    values: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {"sample": "census", "rows": 200}
    code, out, errors = check(capsys, data=data, **values)
    assert code == 0, errors
    assert said in out


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ({"column": "Sex"}, "“Sex” that targets have are drawn with equal probabilities"),
        (
            {"column": "Sex", "values": ["female", "male"], "distribution": [0.9, 0.1]},
            "“Sex” that targets have are drawn by probabilities: female 0.9, male 0.1.",
        ),
    ],
)
def test_it_is_said_by_which_probabilities_an_attribute_is_drawn(
    capsys: pytest.CaptureFixture[str], goal: dict[str, Any], words: str
) -> None:
    code, out, _ = check(
        capsys,
        data={"sample": "census", "rows": 60},
        generator={"use": "IndependentMarginals"},
        knowledge={"records": 10},
        goal={"attribute": goal},
        attacks=["ClosestDistanceAIA"],
        trials={"train": 10, "test": 10},
        controls=False,
    )
    assert code == 0
    assert words in out


def test_a_run_says_first_what_a_check_would_have_refused_and_goes_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("telling.py").write_text(
        "from tapas.generators import Raw\n\n\nclass Telling(Raw):\n"
        "    def fit(self, dataset):\n"
        "        print('a trial', flush=True)\n"
        "        return super().fit(dataset)\n"
    )
    values = {
        "data": {"sample": "census", "rows": 200, "targets": {"random": 1}},
        "generator": "telling:Telling",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 20},
        "trials": {"train": 4, "test": 4},
        "controls": False,
        "gates": [{"metric": "exposed_people", "at_most": 0.1}],
    }
    Path("audit.yaml").write_text(yaml.safe_dump(values))
    assert run(["check", "audit.yaml"]) == 4
    (refused,) = (
        line.partition("the audit cannot run: ")[2]
        for line in capfd.readouterr().err.splitlines()
        if line.startswith("Error: ")
    )
    assert "limit auc or tpr_at_fpr instead" in refused
    assert run(["run", "audit.yaml", "--n-jobs", "1", "--quiet"]) == 6
    told = capfd.readouterr().err.splitlines()
    note = f"Note: whatever is found, this audit ends without a pass: {refused}"
    assert told.count(note) == 1
    assert told.index(note) < told.index("a trial")


@pytest.mark.parametrize(
    ("trials", "gates", "said"),
    [
        (6, [{"metric": "auc", "at_most": 0.6}], True),
        (200, [{"metric": "auc", "at_most": 0.6}], False),
        (6, [{"metric": "dropped_columns", "at_most": 3}], False),
        (6, [], False),
    ],
)
def test_a_run_says_first_that_so_few_trials_hardly_decide_its_gates(
    capsys: pytest.CaptureFixture[str], trials: int, gates: list[dict[str, object]], said: bool
) -> None:
    values = {
        "data": {"sample": "census", "rows": 200, "targets": {"random": 1}},
        "generator": "Raw",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 20},
        "trials": {"train": 4, "test": trials},
        "controls": False,
        "gates": gates,
    }
    code, told, _ = check(capsys, **values)
    assert code == 0
    code = run(["run", "audit.yaml", "--n-jobs", "1", "--quiet"])
    notes = [line for line in capsys.readouterr().err.splitlines() if "hardly ever" in line]
    assert len(notes) == said
    if said:
        (expected,) = (line for line in told.splitlines() if line.startswith("Expected"))
        assert notes[0].startswith(f"Note: {expected}. Gates are")
        assert "more test trials (trials.test)" in notes[0]
        assert code == 6
