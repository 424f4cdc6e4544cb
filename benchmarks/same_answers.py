"""Other libraries beside ours, on the same answers of the same models.

A benchmark gives the program that another library runs in its own interpreter; what our models say
goes there as arrays, and scores come back.
"""

import argparse
import json
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bench_model_strength import adult, checkins, halves
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from tapas.attacks import RMIA, LiRA, RehearsedMIA
from tapas.attacks.models._score_statistics import REST, TRUE, score_statistics
from tapas.models import Records, SklearnTrainer, TorchMLPTrainer, Trainer
from tapas.stats import auc_interval, tpr_at_fpr_interval
from tapas.threat_models import ModelMIA

Arrays = dict[str, np.ndarray]


def by_theirs(python: str, program: str, **arrays: np.ndarray) -> dict:
    """What `program` prints last, as JSON; it is given the path of the arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.npz"
        np.savez(path, **arrays)
        command = [python, "-W", "ignore", "-c", program, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def show(
    where: str, name: str, members: np.ndarray, scores: np.ndarray, seconds: float | None = None
) -> None:
    """AUC and TPR at 1 % false positives in %, each with its 95 % interval, and CPU seconds."""
    area = auc_interval(scores[members], scores[~members])
    at = tpr_at_fpr_interval(scores[members], scores[~members], 0.01).tpr
    found = f"{area.value:.3f}/{100 * at.value:.1f}"
    ends = f"({area.low:.3f} to {area.high:.3f}/{100 * at.low:.1f} to {100 * at.high:.1f})"
    spent = "" if seconds is None else f"{seconds:6.1f} s"
    print(f"{where:22s} {name:44s} {found:>10s} {ends:32s} {spent}", flush=True)


def games(adult_path: str | None, seed: int) -> Iterator[tuple[str, Records, Trainer]]:
    """Targets: with a GPU, networks are trained there."""
    network = TorchMLPTrainer(epochs=60)
    digits = Records(*load_digits(return_X_y=True))
    yield "digits forest", digits, SklearnTrainer(RandomForestClassifier(50))
    yield "digits network", digits, network
    table = make_classification(3_000, 50, n_informative=20, n_classes=5, random_state=seed)
    boosting = SklearnTrainer(HistGradientBoostingClassifier(max_iter=30))
    yield "3k boosting", Records(*table), boosting
    table = make_classification(20_000, 50, n_informative=20, n_classes=5, random_state=seed)
    yield "20k network", Records(*table), network
    yield "check-ins network", checkins(4_000, seed), network
    if adult_path is not None:
        yield "Adult network", adult(adult_path, 8_000, seed), network


def answers(records: Records, trainer: Trainer, counts: list[int], seed: int) -> Arrays:
    """What reference models (rows) and the audited one give to each record, and our scores.

    "said" and "audited" are probabilities of the true class, "others_said" and "others_audited"
    of all other classes together, which one minus the first would round away.
    """
    inside, outside = halves(records, seed)
    model = trainer.train(inside.X, inside.y, rng=np.random.default_rng(seed))
    threat_model = ModelMIA(
        model,
        inside,
        outside,
        known_share=0,
        trainer=trainer,
        num_shadows=max(counts),
        seed=seed,
        n_jobs=1,
    )
    game = threat_model.game
    board = threat_model.observe(LiRA(), training=True)
    audited = score_statistics(game.model, game.candidates.records)
    found = {
        "said": board.values[:, :, TRUE],
        "others_said": board.values[:, :, REST],
        "inside": board.secrets.astype(bool),
        "audited": audited[:, TRUE],
        "others_audited": audited[:, REST],
        "members": game.candidates.members.astype(bool),
    }
    for count in counts:
        for attack in (LiRA(), RMIA(), RehearsedMIA()):
            attack.train(threat_model, num_samples=count)
            found[f"{count} {attack.label}"] = np.asarray(threat_model.test(attack).scores)
    return found


def kept(path: Path | None, *game) -> Arrays:
    if path is None:
        return answers(*game)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **answers(*game))
    with np.load(path) as found:
        return dict(found)


def compare(name: str, program: str) -> None:
    """Another library's reference attacks beside ours, by the options of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("python", nargs="?", help="without it: ours alone")
    parser.add_argument("--adult")
    parser.add_argument("--counts", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder of answers, used again where they are")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for where, records, trainer in games(options.adult, options.seed):
        game = "-".join(map(str, (*where.split(), *options.counts, "seed", options.seed)))
        path = options.keep and options.keep / f"{game}.npz"
        found = kept(path, records, trainer, options.counts, options.seed)
        members = found["members"]
        for count in options.counts:
            at = f"{where}, {count}"
            if options.python:
                arrays = {part: found[part] for part in ("members", "audited", "others_audited")}
                arrays |= {part: found[part][:count] for part in ("said", "others_said", "inside")}
                for way, result in by_theirs(options.python, program, **arrays).items():
                    scores = np.array(result["scores"])
                    show(at, f"{name} {way}", members, scores, result["seconds"])
            for key, scores in found.items():
                if key.startswith(f"{count} "):
                    show(at, key.removeprefix(f"{count} "), members, scores)
