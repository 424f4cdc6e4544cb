"""`tapas view`: every run below a folder, on this machine only, and nothing else."""

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
import yaml

from tapas.cli._main import run
from tapas.cli._view import serve
from tapas.datasets import load_sample
from tapas.report import record_page, run_page, target_page
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    MIAttackSummary,
    find_runs,
    note_progress,
)

HOSTILE = "<script>alert(1)</script>"


def audit(folder: Path, limit: float) -> None:
    table = folder.with_name("people.csv")
    load_sample("clinic", 60).data.to_csv(table, index=False)
    values = {
        "data": {"table": table.name, "targets": {"random": 1}, "drop": ["ward"]},
        "generator": "Bootstrap",
        "attacks": ["ClosestDistanceMIA"],
        "controls": False,
        "trials": {"train": 4, "test": 4},
        "gates": [{"metric": "dropped_columns", "at_most": limit}],
    }
    file = folder.with_suffix(".yaml")
    file.write_text(yaml.safe_dump(values))
    run(["run", str(file), "--folder", str(folder), "--quiet", "--n-jobs", "1"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    audit(root / "first", 0.0)
    audit(root / "first", 1.0)
    going = root / "going"
    going.mkdir()
    (going / "question.json").write_text("{}")
    note_progress(going, 30, 120, time.time() - 10, ["After 8 trials: nothing"])
    bad = root / HOSTILE.replace("/", "_")
    bad.mkdir()
    (bad / "question.json").write_text("{}")
    (bad / "history.jsonl").write_text("nonsense\n")
    return root


@pytest.fixture
def port(runs: Path) -> Iterator[int]:
    server = serve(runs, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def ask(port: int, path: str, method: str = "GET", host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_runs_are_found_with_their_verdicts_and_progress(runs: Path) -> None:
    found = {one.name: one for one in find_runs(runs)}
    assert found["first"].state == "pass"
    assert [entry["state"] for entry in found["first"].verdicts] == ["fail", "pass"]
    going = found["going"]
    assert (going.state, going.done, going.total) == ("running", 30, 120)
    assert going.seconds_left == pytest.approx(30, rel=0.1)
    assert going.so_far == ("After 8 trials: nothing",)
    assert "line 1 was changed" in found["<script>alert(1)<_script>"].problem


def test_a_finished_run_is_not_going_on(runs: Path) -> None:
    assert not (runs / "first" / "progress.json").exists()


def test_a_run_that_says_nothing_any_more_is_not_finished(tmp_path: Path) -> None:
    (tmp_path / "question.json").write_text("{}")
    old = {"done": 1, "total": 9, "started": 0.0, "updated": 100.0}
    (tmp_path / "progress.json").write_text(json.dumps(old))
    assert [one.state for one in find_runs(tmp_path)] == ["not finished"]


def test_the_list_shows_all_and_leads_to_each_page(port: int) -> None:
    status, page = ask(port, "/")
    assert status == 200
    assert "30 of 120 trials" in page
    assert 'id="follow"' in page
    assert "limit 0: fail" in page
    assert "limit 1: pass" in page
    assert HOSTILE.split("/")[0] not in page.split("</style>")[1].split("<script>")[0]
    assert ask(port, "/first/report.html")[0] == 200
    assert '<svg class="trend"' in page


def test_a_run_leads_to_its_targets_and_these_to_their_trials(port: int) -> None:
    status, page = ask(port, "/first/")
    assert status == 200
    assert "report.html" in page
    links = re.findall(r'href="(\?subject=[^"]+)"', page)
    assert len(links) == 1
    status, target = ask(port, "/first/" + unescape(links[0]))
    assert status == 200
    assert target.count("<tr>") == 1 + 1 + 1 + 4 + 1 + len(re.findall("data-name=.What", target))
    assert "ClosestDistance" in target
    for wrong in ("?subject=x&target=y", "?subject=Bootstrap&record=0", "?record=zero"):
        assert ask(port, f"/first/{wrong}")[0] == 404
    assert ask(port, "/nowhere/")[0] == 404


def test_records_of_a_release_have_pages_of_their_own() -> None:
    members = np.arange(40) % 2 == 0
    scores = members + np.linspace(0, 0.9, 40)
    summary = MIAttackSummary(
        members, scores > 1, scores, "G", "Loss", "D", "all", dependence="one release"
    )
    about = {"source": ["members", "non_members"] * 20, "row": list(range(40))}
    subject = AuditedSubject("S <b>", "audited", (summary,), records=about)
    record = AuditRecord("Audit", {}, "f" * 32, 1, (subject,))
    links = re.findall(r'href="\?([^"]+record=[^"]+)"', run_page(record, "run"))
    assert len(links) == 40
    first = dict(parse_qsl(unescape(links[0])))
    page = record_page(record, "run", first["subject"], int(first["record"]))
    assert page is not None
    assert "1 of 40" in page
    assert "<b>" not in page.partition("</style>")[2]
    assert record_page(record, "run", "S <b>", 40) is None
    assert target_page(record, "run", "S <b>", "all") is not None


def test_a_long_run_tells_what_it_has_found_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tapas.audit import _subject_run
    from tapas.results import _runs

    told: list[list[str]] = []
    write = _runs.write_text
    monkeypatch.setattr(_subject_run, "WORTH_TELLING", -1.0)

    def noted(path: Path, text: str) -> None:
        told.append(json.loads(text)["so_far"])
        write(path, text)

    monkeypatch.setattr(_runs, "write_text", noted)
    audit(tmp_path / "slow", 1.0)
    said = [lines for lines in told if lines]
    assert len(said) == 2  # one trial alone shows nothing
    assert [line[0].partition(" of ")[0] for line in said] == [
        "After 2 test trials",
        "After 3 test trials",
    ]
    monkeypatch.undo()
    audit(tmp_path / "quick", 1.0)
    slow, quick = (AuditRecord.load(tmp_path / name) for name in ("slow", "quick"))
    for one, other in zip(slow.subjects[0].summaries, quick.subjects[0].summaries, strict=True):
        assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    "path", ["/first/record.json", "/../first/report.html", "/first/../../x", "/going/report.html"]
)
def test_nothing_else_is_served(port: int, path: str) -> None:
    assert ask(port, path)[0] == 404


def test_only_this_machine_by_its_own_name_may_ask(port: int) -> None:
    assert ask(port, "/", host="evil.example")[0] == 403
    assert ask(port, "/", method="POST")[0] == 501


def test_a_port_in_use_is_told_in_one_line(
    port: int, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["view", str(runs), "--port", str(port)]) == 4
    assert "cannot be used" in capsys.readouterr().err
