"""The whole way on the command line: init, check, run, report, compare."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.results import AuditRecord, decide
from tapas.stats import one_run_epsilon, runs_needed

ROWS = 160


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, where the command runs."""
    monkeypatch.chdir(tmp_path)
    load_sample("census", ROWS).write("people", header=True)
    (tmp_path / "people.json").unlink()
    return tmp_path


def audit_file(place: Path, name: str = "small.yaml", **changes: Any) -> Path:
    values = {
        "data": {"table": "people.csv", "targets": {"random": 1}},
        "generator": "Raw",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 40},
        "trials": {"train": 20, "test": 40},
        "controls": False,
        **changes,
    }
    path = place / name
    path.write_text(yaml.safe_dump(values))
    return path


def the_line(captured: Any) -> str:
    """The one line on stderr."""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1, captured.err
    assert "Traceback" not in captured.err
    return lines[0]


# -- the flow ------------------------------------------------------------------------------------


def test_from_a_table_to_a_comparison(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "people.csv"]) == 0
    assert (place / "audit.schema.json").exists()
    written = yaml.safe_load((place / "audit.yaml").read_text())
    assert written["data"]["table"] == "people.csv"
    # What is written is what people get, but for the number of trials.
    text = (place / "audit.yaml").read_text()
    text = text.replace("train: 200", "train: 10").replace("test: 200", "test: 30")
    lines = text.splitlines()
    (place / "audit.yaml").write_text("\n".join(lines))

    assert run(["check", "audit.yaml"]) == 0
    assert "can run" in capsys.readouterr().out

    code = run(["run", "audit.yaml", "--json", "v.json", "--junit", "v.xml"])
    out = capsys.readouterr().out
    record = AuditRecord.load("audit-run")
    assert code == decide(record).exit_code
    assert "Report: audit-run/report.html" in out
    assert (place / "audit-run" / "report.html").stat().st_size > 1000
    verdict = json.loads((place / "v.json").read_text())
    assert verdict["exit_code"] == code
    assert [gate["state"] for gate in verdict["gates"]] == [
        outcome.state for outcome in decide(record).outcomes
    ]
    suite = ElementTree.parse(place / "v.xml").getroot()
    assert int(suite.get("failures", "0")) == (code == 1)

    (place / "audit-run" / "report.html").unlink()
    assert run(["report", "audit-run"]) == code
    assert (place / "audit-run" / "report.html").exists()

    other = text.replace("seed: 0", "seed: 1")
    lines = other.splitlines()
    (place / "other.yaml").write_text("\n".join(lines))
    run(["run", "other.yaml"])
    capsys.readouterr()
    assert run(["compare", "audit-run", "other-run"]) == 0
    assert "other" in capsys.readouterr().out
    assert list((place / "tapas-comparison").glob("*/comparison.html"))


def test_init_never_overwrites(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "audit.schema.json").write_text("mine")
    assert run(["init", "people.csv"]) == 4
    assert "exists already" in the_line(capsys.readouterr())
    assert not (place / "audit.yaml").exists()
    assert (place / "audit.schema.json").read_text() == "mine"


def test_init_for_a_model_names_the_class(place: Path) -> None:
    arguments = ["--kind", "model", "--class-column", "Sex", "--output", "sub/model.yaml"]
    assert run(["init", "people.csv", *arguments]) == 0
    values = yaml.safe_load((place / "sub" / "model.yaml").read_text())
    assert values["model"]["class_column"] == "Sex"
    assert values["data"]["table"] == "../people.csv"


def test_init_for_a_model_takes_its_holdout(place: Path) -> None:
    people = (place / "people.csv").read_text()
    header, *_ = people.splitlines()
    (place / "others.csv").write_text(f"{header}\n" + "\n".join(people.splitlines()[-30:]))
    assert run(["init", "people.csv", "--kind", "model", "--holdout", "others.csv"]) == 0
    assert yaml.safe_load((place / "audit.yaml").read_text())["data"]["holdout"] == "others.csv"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--released", "r.csv"], "--released goes with --kind files, not with --kind generator"),
        (["--kind", "model", "--released", "r.csv"], "--released goes with --kind files"),
        (["--holdout", "h.csv"], "--holdout goes with --kind files or --kind model"),
        (["--kind", "files", "--class-column", "Sex"], "--class-column goes with --kind model"),
    ],
)
def test_init_refuses_options_of_another_kind(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(["init", "people.csv", *arguments]) == 4
    assert said in the_line(capsys.readouterr())
    assert not (place / "audit.yaml").exists()


def test_init_names_the_map_of_the_run_that_comes_first(place: Path) -> None:
    assert run(["init", "people.csv", "--output", "mine.yaml"]) == 0
    assert '#   map: "mine-run/exposure-map.csv"' in (place / "mine.yaml").read_text()


def test_hostile_names_pass_through(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = ["<script>alert(1)</script>", "a\"b'c", "x/../y", "=cmd|' /C calc'!A1", "l1\nl2"]
    rows = [[f"<b>{i % 3}</b>", f"'{i % 4}\"", f"/{i % 2}", f"=1+{i % 5}", f"\n{i}{{{{x}}}}"]
            for i in range(60)]  # fmt: skip
    quoted = "\n".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [header, *rows]
    )
    (place / "😈: [x].csv").write_text(quoted)
    assert run(["init", "😈: [x].csv", "--output", "evil.yaml"]) == 0
    text = (place / "evil.yaml").read_text().replace("vulnerable: 2", "rows: [0, 7]")
    text = text.replace("train: 200", "train: 4").replace("test: 200", "test: 20")
    text = text.replace('"Privacy audit"', '"<img src=x onerror=alert(1)> \\" & \\u0001"')
    lines = text.splitlines()
    (place / "evil.yaml").write_text("\n".join(lines))
    assert run(["run", "evil.yaml", "--junit", "v.xml", "--json", "v.json"]) in (0, 1, 6)
    page = (place / "evil-run" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    ElementTree.parse(place / "v.xml")
    assert json.loads((place / "v.json").read_text())["title"].startswith("<img")


def test_gates_decide_the_exit_code(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def gated(metric: str, at_most: float) -> int:
        gates = [{"metric": metric, "at_most": at_most}]
        return run(["run", str(audit_file(place, gates=gates)), "--folder", "run"])

    # The limits are no part of the question, so one run is judged by all of them.
    assert gated("auc", 0.6) == 1
    assert gated("auc", 1.0) == 4  # can never fail
    assert gated("dropped_columns", 0) == 0
    assert gated("epsilon", 2.5) == 6
    assert run(["report", "run"]) == 6


def test_another_question_in_the_folder_is_played_anew_and_nothing_is_lost(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(["run", str(audit_file(place)), "--folder", "run"]) == 0
    first = AuditRecord.load("run")
    assert run(["run", str(audit_file(place, seed=9)), "--folder", "run"]) == 0
    assert any("belong to another game" in line for line in caplog.messages)
    assert AuditRecord.load("run").seed == 9
    kept = AuditRecord.load(Path("run") / f"record-{first.fingerprint[:8]}.json")
    assert kept.to_json() == first.to_json()


@pytest.mark.slow
def test_the_demo_writes_pages_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo"]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path / "tapas-demo") in out
    assert (tmp_path / "tapas-demo" / "generator-run" / "report.html").exists()
    # The second time everything is there already.
    assert run(["demo"]) == 0


# -- things that go wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command"),
        (["run"], "Missing argument"),
        (["run", "--nonsense", "x"], "No such option"),
        (["run", "missing.yaml"], "missing.yaml cannot be read"),
        (["report", "missing"], "there is no finished audit at missing"),
        (["compare", "one"], "at least two"),
        (["init", "missing.csv"], "missing.csv"),
        (["plan"], "--epsilon"),
        (["run", "small.yaml", "--cluster", "tcp://127.0.0.1:1", "--n-jobs", "x"], "n-jobs"),
    ],
)
def test_wrong_use_is_one_line_and_four(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(arguments) == 4
    assert words in the_line(capsys.readouterr())


def test_places_that_cannot_be_written_are_one_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(audit_file(place))
    assert run(["run", path, "--folder", "people.csv/run"]) == 4
    assert "people.csv" in the_line(capsys.readouterr())
    if Path("/proc/self").exists():
        assert run(["run", path, "--folder", "/proc/tapas-run"]) == 4
        assert "/proc/tapas-run" in the_line(capsys.readouterr())
    if Path("/dev/full").exists():
        assert run(["run", path, "--json", "/dev/full"]) == 4
        assert "space" in the_line(capsys.readouterr())


def test_an_internal_error_is_three_with_a_hint(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("tapas.audit.load_audit", broken)
    assert run(["check", "x.yaml"]) == 3
    line = the_line(capsys.readouterr())
    assert "ZeroDivisionError: oh no" in line
    assert "--debug" in line
    with pytest.raises(ZeroDivisionError):
        run(["check", "x.yaml", "--debug"])


def test_an_attack_that_does_not_fit_is_found_by_check(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = audit_file(place, goal={"attribute": {"column": "Sex"}})
    assert run(["check", str(path)]) == 4
    assert "cannot run" in the_line(capsys.readouterr())


def test_a_generator_that_always_fails_means_that_nothing_ran(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "from tapas.generators import Raw\n\n\nclass Broken(Raw):\n    label = 'Broken'\n"
    code += "    def __call__(self, *a, **k):\n        raise RuntimeError('<no>')\n"
    (place / "broken_for_cli.py").write_text(code)
    path = audit_file(place, generator="broken_for_cli:Broken")
    assert run(["run", str(path), "--junit", "v.xml"]) == 5
    assert ElementTree.parse(place / "v.xml").getroot().get("errors") == "1"


# -- listing and planning ------------------------------------------------------------------------


def test_help_and_list_name_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    for name in ("demo", "init", "check", "run", "report", "compare", "list", "plan"):
        assert name in capsys.readouterr().out or run([name, "--help"]) == 0
    capsys.readouterr()
    assert run(["list"]) == 0
    out = capsys.readouterr().out
    assert "ClosestDistanceMIA" in out
    assert "mechanism: white-box" in out
    assert "TrainableThresholdAttack" not in out
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "tapas audit file"


def test_plan_counts_trials_and_time(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--epsilon", "1", "--tpr", "1", "--fpr", "0"]) == 0
    assert " 16 trials" in capsys.readouterr().out
    path = audit_file(place, claim={"epsilon": 0.5})
    assert run(["plan", str(path)]) == 0
    out = capsys.readouterr().out
    assert "epsilon 0.5" in out
    assert "plays 40 test trials" in out
    assert "one trial takes about" in out


def test_plans_of_pairs_ask_for_more_trials(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {}
    for pairs in (True, False):
        goal = {"membership": {"pairs": pairs}}
        path = audit_file(place, goal=goal, claim={"epsilon": 0.5})
        assert run(["plan", str(path)]) == 0
        out = capsys.readouterr().out
        asked[pairs] = [int(n.replace(",", "")) for n in re.findall(r"([0-9,]+) trials,", out)]
        assert ("in pairs of one background" in out) == pairs
        method = "portfolio of pairs" if pairs else "portfolio"
        rates = (1.0, 0.0), (0.9, 0.01), (0.5, 0.01), (0.6, 0.3)
        assert asked[pairs] == [2 * runs_needed(*one, 0.5, method=method) for one in rates]
    assert all(more > fewer for more, fewer in zip(asked[True], asked[False], strict=True))


def test_plans_of_canaries_are_about_their_number(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trials = {"train": 4, "test": 1}
    data = {"table": "people.csv", "targets": {"random": 12}}
    path = audit_file(place, goal="canaries", data=data, trials=trials, claim={"epsilon": 1})
    assert run(["plan", str(path)]) == 0
    out = capsys.readouterr().out
    assert "many targets, and not many trials" in out
    assert "right about 95%" in out
    assert "16 canaries" in out
    most = one_run_epsilon(12, 12, 12).value
    assert f"judges 12: a perfect attack would certify {most:.2f}" in out
    assert "test trials" not in out


def test_a_single_trial_ends_in_a_page(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gates = [{"metric": "tpr_at_fpr", "fpr": 0.01, "at_most": 0.5}]
    path = audit_file(place, trials={"train": 20, "test": 1}, gates=gates)
    assert run(["run", str(path), "--quiet", "--folder", str(place / "one")]) == 6
    assert (place / "one" / "report.html").is_file()
    assert "tpr_at_fpr is not defined" in capsys.readouterr().out


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from tapas.cli._main import run; run(['--help']); "
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'pydantic', 'yaml', 'rich'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- real processes ------------------------------------------------------------------------------


def start(place: Path, *arguments: str, **more: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tapas.cli", *arguments],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


def trials_in(folder: Path) -> int:
    try:
        place = f"file:{folder / 'index.sqlite'}?mode=ro"
        with closing(sqlite3.connect(place, uri=True)) as index:
            return int(index.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.Error:
        return 0


def wait_for_trials(process: "subprocess.Popen[str]", folder: Path, number: int) -> None:
    for _ in range(6000):
        if trials_in(folder) >= number or process.poll() is not None:
            return
        time.sleep(0.01)


def test_an_interrupted_run_says_how_to_go_on_and_does(place: Path) -> None:
    code = "import time\nfrom tapas.generators import Raw\n\n\nclass Slow(Raw):\n"
    code += "    label = 'Slow'\n    def __call__(self, *a, **k):\n        time.sleep(0.03)\n"
    code += "        return super().__call__(*a, **k)\n"
    (place / "slow_for_cli.py").write_text(code)
    path = audit_file(place, generator="slow_for_cli:Slow")
    process = start(place, "run", path.name, "--n-jobs", "1")
    wait_for_trials(process, place / "small-run", 5)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "type: tapas run small.yaml --n-jobs 1" in err
    assert "Traceback" not in err
    assert not (place / "small-run" / "record.json").exists()
    assert run(["run", str(path)]) == 0
    assert AuditRecord.load(place / "small-run").subjects[0].trials == {"train": 20, "test": 40}


@pytest.mark.parametrize("command", ["run", "release", "check"])
def test_an_interruption_before_the_first_trial_says_what_is_kept(
    command: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tapas.audit.load_audit", interrupt)
    monkeypatch.setattr("tapas.audit.audit_from_values", interrupt)
    words = {"run": ["a b.yaml"], "check": ["a b.yaml"], "release": ["p.csv", "h.csv", "r.csv"]}
    assert run([command, *words[command]]) == 2
    said = capsys.readouterr().err
    assert "Interrupted." in said
    again = {"run": "type: tapas run 'a b.yaml'", "release": "type: tapas release p.csv h.csv"}
    assert again.get(command, "Interrupted.") in said
    assert ("are kept" in said) == (command != "check")


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(place: Path) -> None:
    resource = pytest.importorskip("resource")
    path = audit_file(place)

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    process = start(place, "run", path.name, "--n-jobs", "1", preexec_fn=small_files)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert len(err.strip().splitlines()) == 1
    assert "small-run" in err
    assert run(["run", str(path)]) == 0
