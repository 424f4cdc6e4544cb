"""Kills and full disks at any write, flipped bits, races: nothing is lost in silence."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bench_faults.py"


@pytest.mark.parametrize(
    ("kind", "number", "first"),
    [
        ("kills", 4, 57),
        pytest.param("kills", 250, 0, marks=pytest.mark.slow),
        pytest.param("full", 60, 0, marks=pytest.mark.slow),
        pytest.param("flips", 150, 0, marks=pytest.mark.slow),
        pytest.param("races", 30, 0, marks=pytest.mark.slow),
        pytest.param("readers", 1, 0, marks=pytest.mark.slow),
    ],
)
def test_faults_are_told_or_healed(kind: str, number: int, first: int) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: faults are made below Python")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), kind, str(number), str(first)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 silent or crashed" in done.stdout
    if kind != "readers":
        assert "100.0% healed" in done.stdout
