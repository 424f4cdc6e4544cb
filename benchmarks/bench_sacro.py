"""LiRA beside SACRO's, on the same answers of the same models.

Run with ``python benchmarks/bench_sacro.py PYTHON [--adult PATH] [--counts 4 16 64] [--seed 0]``,
where PYTHON is the interpreter of an environment with SACRO-ML (``pip install sacroml``). Forests,
boosting and networks on digits, simulated tables, check-ins and Adult: the probabilities that the
audited model and the reference models give to the true class of every record go to SACRO's own
function in all of its modes. AUC / TPR at 1 % false positives in %.
"""

import argparse
import json
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bench_art import show
from bench_model_strength import adult, checkins, halves
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from tapas.attacks import RMIA, LiRA, RehearsedMIA
from tapas.attacks.models._score_statistics import TRUE, score_statistics
from tapas.models import Records, SklearnTrainer, TorchMLPTrainer, Trainer
from tapas.threat_models import ModelMIA

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


def games(adult_path: str | None, seed: int) -> Iterator[tuple[str, Records, Trainer]]:
    """Targets: with a GPU, networks are trained there."""
    network = TorchMLPTrainer(epochs=60)
    digits = Records(*load_digits(return_X_y=True))
    yield "digits forest", digits, SklearnTrainer(RandomForestClassifier(50))
    yield "digits network", digits, network
    table = make_classification(3_000, 50, n_informative=20, n_classes=5, random_state=seed)
    yield (
        "3k boosting",
        Records(*table),
        SklearnTrainer(HistGradientBoostingClassifier(max_iter=30)),
    )
    table = make_classification(20_000, 50, n_informative=20, n_classes=5, random_state=seed)
    yield "20k network", Records(*table), network
    yield "check-ins network", checkins(4_000, seed), network
    if adult_path is not None:
        yield "Adult network", adult(adult_path, 8_000, seed), network


def by_theirs(python: str, threat_model: ModelMIA, count: int) -> dict:
    board = threat_model.observe(LiRA(), training=True)
    game = threat_model.game
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.npz"
        np.savez(
            path,
            said=board.values[:count, :, TRUE],
            inside=board.secrets[:count].astype(bool),
            audited=score_statistics(game.model, game.candidates.records)[:, TRUE],
        )
        command = [python, "-W", "ignore", "-c", THEIRS, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("--adult")
    parser.add_argument("--counts", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for where, records, trainer in games(options.adult, options.seed):
        inside, outside = halves(records, options.seed)
        model = trainer.train(inside.X, inside.y, rng=np.random.default_rng(options.seed))
        threat_model = ModelMIA(
            model,
            inside,
            outside,
            known_share=0,
            trainer=trainer,
            num_shadows=max(options.counts),
            seed=options.seed,
            n_jobs=1,
        )
        members = threat_model.game.candidates.members.astype(bool)
        for count in options.counts:
            at = f"{where}, {count}"
            for mode, theirs in by_theirs(options.python, threat_model, count).items():
                show(at, f"SACRO {mode}", members, np.array(theirs["scores"]), theirs["seconds"])
            for attack in (LiRA(), RMIA(), RehearsedMIA()):
                attack.train(threat_model, num_samples=count)
                scores = np.asarray(threat_model.test(attack).scores)
                show(at, attack.label, members, scores, 0.0)


if __name__ == "__main__":
    main()
