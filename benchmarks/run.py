"""One table: documented cases here, in an older toolbox, and as bare numpy, beside their goals.

Run with ``benchmarks/run [OLDER]``, where OLDER is the source folder of a toolbox with the
documented interface (the one that holds ``tapas/``). All figures are CPU seconds (or megabytes) of
this one run; goals were set on another machine, so they are scaled by what the bare sketches take
here and took there. A case that the older toolbox cannot do is left empty.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from documented_cases import best_cpu
from sketches import sketches

HERE = Path(__file__).resolve().parent
# case: goal and limit, in seconds of the machine that the goals were set on
GOALS: dict[str, tuple[float, float | None]] = {
    "closest Hamming 200+200": (0.2, 0.102),
    "KDE 200+200": (0.2, 0.109),
    "200 trials of 1,000 rows": (0.06, 0.039),
    "200 trials of 5,000 rows": (0.2, 0.115),
    "plain report of 20": (2.0, None),
    "ROC report of 20": (0.5, None),
    "bootstrap report of 20": (2.5, None),
    "500+500 Raw trials": (0.6, 0.4),
    "import": (0.5, None),
    "memory": (450.0, None),
    "memory, looked at": (450.0, None),
}


def measured(source: Path, *names: str) -> dict[str, float | None]:
    """Cases in a process of its own with that source on the path."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **one, "PYTHONPATH": str(source)}
    command = [sys.executable, str(HERE / "documented_cases.py"), *names]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    sys.stderr.write(run.stderr[-2_000:])
    return json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else {}


def all_of(source: Path) -> dict[str, float | None]:
    return measured(source) | measured(source, "import") | measured(source, "memory")


def mean_ratio(ratios: list[float]) -> float:
    """Their geometric mean."""
    product = 1.0
    for ratio in ratios:
        product *= ratio ** (1 / len(ratios))
    return product


def cell(value: float | None) -> str:
    return f"{value:10.3f}" if value is not None else f"{'':>10s}"


def main() -> None:
    ours = all_of(HERE.parent / "src")
    older = all_of(Path(sys.argv[1])) if len(sys.argv) > 1 else {}
    limit = {name: best_cpu(sketch) for name, sketch in sketches().items()}
    known = [(limit[name], there) for name, (_, there) in GOALS.items() if there is not None]
    slower = mean_ratio([here / there for here, there in known])
    columns = ("here", "older", "limit", "goal")
    print(f"{'CPU seconds':28s}" + "".join(f"{name:>10s}" for name in columns) + "  met")
    for name, seconds in ours.items():
        goal = GOALS[name][0] * (1 if "memory" in name else slower) if name in GOALS else None
        met = "" if goal is None or seconds is None else "yes" if seconds <= goal else "no"
        figures = (seconds, older.get(name), limit.get(name), goal)
        print(f"{name:28s}" + "".join(cell(figure) for figure in figures) + f"  {met}")
    beside = [there / ours[name] for name, there in older.items() if there and ours.get(name)]
    print(f"\nthis machine takes {slower:.2f}x the time of the one that the goals were set on")
    if beside:
        print(f"geometric mean of {len(beside)} cases: {mean_ratio(beside):.1f}x the older toolbox")
    bare = [ours[name] / seconds for name, seconds in limit.items() if ours.get(name)]
    print(f"geometric mean of {len(bare)} cases: {mean_ratio(bare):.2f}x the bare sketch")


if __name__ == "__main__":
    main()
