"""kill -9 at random moments, go on, and get what an unbroken run gets."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from tapas.cli._main import run

AUDIT = """\
data: {sample: census, rows: 160, targets: {random: 2}}
generator: slow_for_killing:Slow
attacks: [ClosestDistanceMIA]
knowledge: {records: 40}
trials: {train: 20, test: 20}
controls: false
"""
SLOW = """\
import time
from tapas.generators import Raw


class Slow(Raw):
    label = "Slow"

    def __call__(self, *arguments, **more):
        time.sleep(0.02)
        return super().__call__(*arguments, **more)
"""


def _trials(folder: Path) -> int:
    try:
        place = f"file:{folder / 'index.sqlite'}?mode=ro"
        with closing(sqlite3.connect(place, uri=True)) as index:
            return int(index.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.Error:
        return 0


def _kill_after(place: Path, folder: Path, trials: int, n_jobs: int) -> None:
    command = [sys.executable, "-m", "tapas.cli", "run", "audit.yaml"]
    process = subprocess.Popen(
        [*command, "--folder", folder.name, "--n-jobs", str(n_jobs)],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for _ in range(6000):
        if _trials(folder) >= trials or process.poll() is not None:
            break
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_runs_end_like_unbroken_ones(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    (tmp_path / "slow_for_killing.py").write_text(SLOW)
    chance = random.Random(os.urandom(8))
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    moments = sorted(chance.sample(range(1, 38), 3))
    for trials, n_jobs in zip(moments, (1, 2, 1), strict=True):
        _kill_after(tmp_path, broken, trials, n_jobs)
    kept = _trials(broken)
    assert kept >= moments[0], moments
    for folder in (broken, whole):
        assert run(["run", str(tmp_path / "audit.yaml"), "--folder", str(folder)]) == 0
    records = [json.loads((f / "record.json").read_text()) for f in (broken, whole)]
    assert records[0]["subjects"] == records[1]["subjects"], moments
    assert records[0]["fingerprint"] == records[1]["fingerprint"]
