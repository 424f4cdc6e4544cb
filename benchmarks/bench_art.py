"""Black-box membership inference beside ART, on the same answers, known and judged records.

Run with ``python benchmarks/bench_art.py PYTHON [--rows 4000] [--seed 0]``, where PYTHON is the
interpreter of an environment with the Adversarial Robustness Toolbox (``pip install
adversarial-robustness-toolbox six torch``). Trees, forests, boosting and networks on scikit-learn's
digits and a simulated table: half of the records are known. AUC / TPR at 1 % false positives in %
with 95 % intervals, and CPU seconds to learn and to judge.
"""

import argparse
import time
import warnings

import numpy as np
from same_answers import by_theirs, show
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import BlackBoxMIA, CertaintyMIA
from tapas.threat_models import ModelMIA

THEIRS = """
import json, sys, time
import numpy as np
from art.attacks.inference.membership_inference import MembershipInferenceBlackBox
from art.estimators.classification import BlackBoxClassifier

given = np.load(sys.argv[1])
known, members = given["known_scores"], given["known_members"]
y, judged, judged_y = given["known_y"], given["scores"], given["y"]
classes = known.shape[1]
model = BlackBoxClassifier(lambda x: np.eye(classes)[:1], (1,), classes)
found = {}
for kind in ("rf", "gb", "nn"):
    start = time.process_time()
    attack = MembershipInferenceBlackBox(model, attack_model_type=kind)
    attack.fit(y=y[members], test_y=y[~members], pred=known[members], test_pred=known[~members])
    scores = np.concatenate(
        [
            attack.infer(None, judged_y[part], pred=judged[part], probabilities=True).ravel()
            for part in np.array_split(np.arange(len(judged)), 4)
        ]
    )
    found[kind] = {"seconds": time.process_time() - start, "scores": scores.tolist()}
print(json.dumps(found))
"""


def games(rows: int, seed: int) -> dict[str, tuple]:
    digits = load_digits(return_X_y=True)
    table = make_classification(rows, 50, n_informative=20, n_classes=5, random_state=seed)
    return {
        "digits tree": (*digits, DecisionTreeClassifier(random_state=seed)),
        "digits forest": (*digits, RandomForestClassifier(100, random_state=seed)),
        "digits network": (*digits, MLPClassifier((64,), max_iter=200, random_state=seed)),
        "table tree": (*table, DecisionTreeClassifier(random_state=seed)),
        "table forest": (*table, RandomForestClassifier(100, random_state=seed)),
        "table boosting": (*table, HistGradientBoostingClassifier(random_state=seed)),
    }


def art(python: str, threat_model: ModelMIA) -> dict:
    game = threat_model.game
    assert game.known is not None
    return by_theirs(
        python,
        THEIRS,
        known_scores=game.model.predict_proba(game.known.records.X),
        known_members=game.known.members.astype(bool),
        known_y=game.model.codes_of(game.known.records.y),
        scores=game.model.predict_proba(game.candidates.records.X),
        y=game.model.codes_of(game.candidates.records.y),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for where, (X, y, model) in games(options.rows, options.seed).items():
        inside = np.random.default_rng(options.seed).random(len(X)) < 0.5
        model.fit(X[inside], y[inside])
        sides = (X[inside], y[inside]), (X[~inside], y[~inside])
        threat_model = ModelMIA(model, *sides, seed=options.seed, n_jobs=1)
        members = threat_model.game.candidates.members.astype(bool)
        for kind, theirs in art(options.python, threat_model).items():
            show(where, f"ART {kind}", members, np.array(theirs["scores"]), theirs["seconds"])
        for attack in (BlackBoxMIA("rf"), BlackBoxMIA("gb"), BlackBoxMIA("nn"), CertaintyMIA()):
            start = time.process_time()
            attack.train(threat_model)
            scores = np.asarray(threat_model.test(attack).scores)
            show(where, attack.label, members, scores, time.process_time() - start)


if __name__ == "__main__":
    main()
