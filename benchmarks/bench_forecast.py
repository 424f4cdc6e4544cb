"""What `tapas check` forecasts of an audit beside what `tapas run` takes, in seconds of CPU.

Run with ``python benchmarks/bench_forecast.py ADULT_CSV [--only NAME ...]``: audits of UCI Adult
and of simulated people, one process each. Others may share the machine, so that the check is given
a clock of CPU seconds. A run is the whole command with imports, judging, the exposure map and the
page, of which the forecast knows nothing.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FORECAST = """
import time
time.perf_counter = time.process_time
import json, sys, warnings
warnings.simplefilter("ignore")
from tapas.audit import load_audit
audit = load_audit("audit.yaml")
found = audit.check()
assert found.ok, found.problems
print(json.dumps([found.seconds_per_trial * audit.num_trials(), found.seconds_to_learn]))
"""


def of_generator(
    targets: int,
    trials: int = 60,
    records: int = 150,
    generator: str = "IndependentMarginals",
    **more: Any,
) -> dict[str, Any]:
    return {
        "data": {"table": "adult.csv", "targets": {"random": targets}},
        "generator": generator,
        "knowledge": {"records": records},
        "trials": {"train": trials, "test": trials},
        "controls": False,
        **more,
    }


def of_model(use: str, shadows: int) -> dict[str, Any]:
    return {
        "data": {"sample": "census", "rows": 2000},
        "model": {"use": use, "class_column": "Health", "shadows": shadows},
    }


AUDITS = {
    "10 targets": of_generator(10),
    "200 targets": of_generator(200),
    "1,000 targets": of_generator(1000),
    "50 targets and controls, 200 + 200 trials of a Bayesian network": of_generator(
        50, 200, 500, "BayesianNetwork", controls=True
    ),
    "an attribute of 50 targets": of_generator(50, goal={"attribute": {"column": "race"}}),
    "a forest, 64 shadow models": of_model("sklearn.ensemble:RandomForestClassifier", 64),
    "logistic regression, 256 shadow models": of_model(
        "sklearn.linear_model:LogisticRegression", 256
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--only", nargs="+", default=[*AUDITS], choices=[*AUDITS])
    options = parser.parse_args()
    print("| audit | trials | learning | run | run / forecast |")
    print("|---|---|---|---|---|", flush=True)
    for name in options.only:
        trials, learning, took = measure(AUDITS[name], options.table)
        share = took / (trials + learning)
        print(f"| {name} | {trials:.1f} | {learning:.1f} | {took:.1f} | {share:.1f} |", flush=True)


def measure(values: dict[str, Any], table: Path) -> tuple[float, float, float]:
    """Seconds that are forecast for trials and for learning, and those of the run."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "adult.csv").write_bytes(table.read_bytes())
        (folder / "audit.yaml").write_text(json.dumps({**values, "seed": 1}))
        said = started(folder, "-c", FORECAST)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started(folder, "-m", "tapas", "run", "audit.yaml", "--n-jobs", "1", "--quiet")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    trials, learning = json.loads(said.splitlines()[-1])
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return trials, learning, took


def started(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1, 6):  # a run that does not pass is a run
        raise SystemExit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
