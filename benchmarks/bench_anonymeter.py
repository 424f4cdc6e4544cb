"""CPU per judged record of inference and linkability, beside Anonymeter on the same rows.

Run with ``python benchmarks/bench_anonymeter.py PYTHON [ROWS] [ATTACKS]``, where PYTHON is the
interpreter of an environment that has Anonymeter (``pip install anonymeter``): 30,000 private,
unused and released records of 15 mixed columns by default. Anonymeter draws ATTACKS records of
each side (2,000 by default); ours judges every record that is not known. Both guess one column from
all others, and link every second column with the rest. A ratio is of one run on one machine.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from bench_files import table

from tapas.attacks import InferenceAttack, LinkabilityAttack
from tapas.generators import Smote
from tapas.threat_models import ObservedMIA

THEIRS = """
import json, sys, time
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator

folder, secret, attacks = sys.argv[1], sys.argv[2], int(sys.argv[3])
private, holdout, released = (
    pd.read_csv(f"{folder}/{name}.csv") for name in ("private", "holdout", "released")
)
columns = list(private.columns)


def timed(make):
    start = time.process_time()
    evaluator = make()
    evaluator.evaluate(n_jobs=1)
    taken = time.process_time() - start
    risk = evaluator.risk(confidence_level=0.95)
    return {"seconds": taken, "judged": 2 * attacks, "risk": [risk.value, *risk.ci]}


others = [name for name in columns if name != secret]
found = {}
warm = dict(n_attacks=10, control=holdout)
LinkabilityEvaluator(private, released, (columns[::2], columns[1::2]), **warm).evaluate(n_jobs=1)
found["inference"] = timed(
    lambda: InferenceEvaluator(
        private, released, others, secret, regression=False, n_attacks=attacks, control=holdout
    )
)
found["linkability"] = timed(
    lambda: LinkabilityEvaluator(
        private, released, (columns[::2], columns[1::2]), n_attacks=attacks, control=holdout
    )
)
print(json.dumps(found))
"""


def ours(game: ObservedMIA, secret: str) -> dict[str, dict[str, float]]:
    """CPU of our attacks, by the same names."""
    found = {}
    for name, attack in (
        ("inference", InferenceAttack(secret)),
        ("linkability", LinkabilityAttack()),
    ):
        start = time.process_time()
        summary = game.test(attack)
        taken = time.process_time() - start
        found[name] = {
            "seconds": taken,
            "judged": len(summary),
            "advantage": float(summary.mia_advantage),
        }
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    interpreter = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 30_000
    attacks = int(sys.argv[3]) if len(sys.argv) > 3 else 2_000
    data = table(2 * rows)
    members, others = data.take(range(rows)), data.take(range(rows, 2 * rows))
    released = Smote()(members, rows, random_state=0)
    secret = next(c.name for c in data.description.parsed if c.values is not None)
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("private", members), ("holdout", others), ("released", released)):
            part.data.to_csv(Path(folder) / f"{name}.csv", index=False)
        command = [interpreter, "-W", "ignore", "-c", THEIRS, folder, secret, str(attacks)]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode:
            sys.exit(told.stderr)
    theirs = json.loads(told.stdout.splitlines()[-1])
    mine = ours(ObservedMIA(released, members, others, seed=0), secret)
    print(f"{rows} private, unused and released records; secret {secret!r}")
    for name in ("inference", "linkability"):
        each = [1000 * one[name]["seconds"] / one[name]["judged"] for one in (mine, theirs)]
        low, high = theirs[name]["risk"][1:]
        print(
            f"{name:<12} ours {each[0]:.3f} ms a record (advantage "
            f"{mine[name]['advantage']:.3f}), Anonymeter {each[1]:.3f} ms (risk {low:.3f} to "
            f"{high:.3f}): {each[1] / each[0]:.1f} times"
        )


if __name__ == "__main__":
    main()
