"""LiRA beside SACRO's, on the same answers of the same models.

Run with ``python benchmarks/bench_sacro.py PYTHON [--adult PATH] [--counts 4 16 64] [--seed 0]
[--keep FOLDER]``, where PYTHON is the interpreter of an environment with SACRO-ML (``pip install
sacroml``). Forests, boosting and networks on digits, simulated tables, check-ins and Adult: the
probabilities that the audited model and the reference models give to the true class of every record
go to SACRO's own function in all of its modes. AUC / TPR at 1 % false positives in % with 95 %
intervals.
"""

from same_answers import compare

THEIRS = """
import json, logging, sys, tempfile, time
import numpy as np
from sacroml.attacks.likelihood_attack import LIRAAttack
from sacroml.attacks.utils import logit

logging.disable(logging.CRITICAL)
given = np.load(sys.argv[1])
said, inside, audited = given["said"], given["inside"], given["audited"]
told = np.vectorize(logit)(said)
records = range(said.shape[1])
within = {i: told[inside[:, i], i].tolist() for i in records}
without = {i: told[~inside[:, i], i].tolist() for i in records}
found = {}
for mode in ("offline", "offline-carlini", "online-carlini"):
    for fixed in (False, True):
        attack = LIRAAttack(tempfile.mkdtemp(), write_report=False, mode=mode, fix_variance=fixed)
        attack.n_shadow_models = len(said)
        start = time.process_time()
        labels = np.zeros(len(audited), dtype=int)
        scores, _ = attack._compute_scores(labels, audited[:, None], without, within)
        name = f"{mode}, {'one variance' if fixed else 'own variances'}"
        seconds = time.process_time() - start
        found[name] = {"seconds": seconds, "scores": [member for _, member in scores]}
print(json.dumps(found))
"""


if __name__ == "__main__":
    compare("SACRO", THEIRS)
