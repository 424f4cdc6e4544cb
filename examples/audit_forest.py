"""Audit a scikit-learn forest: which records was it trained on, and who is most exposed?

Run with ``python examples/audit_forest.py [FOLDER]``; it needs no data and takes some seconds.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import BlackBoxMIA, LiRA, LossMIA, RuleBasedMIA
from tapas.results import slice_metrics, write_exposure_table
from tapas.threat_models import ModelMIA

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, default="outputs")
folder = parser.parse_args().folder / "audit_forest"

# 1. The model about to be released, the records it was trained on, and records it was not.
X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order], y[order]
members, non_members = (X[:900], y[:900]), (X[900:], y[900:])
forest = RandomForestClassifier(100, random_state=0).fit(*members)
print(f"accuracy: {forest.score(*members):.3f} on members, {forest.score(*non_members):.3f} else")

# 2. An attacker who knows half of the records of each kind, and sees probabilities.
known = ModelMIA(forest, members, non_members, access="scores", known_share=0.5, seed=1)
for attack in (RuleBasedMIA(), LossMIA(), BlackBoxMIA("nn")):
    attack.train(known)
    summary = known.test(attack)
    print(f"{attack.label:32s} AUC {summary.auc:.3f}, accuracy {summary.accuracy:.3f}")

# 3. An attacker who can train forests like this one.
shadows = ModelMIA(
    forest, members, non_members, known_share=0.5, trainer=forest, num_shadows=16, seed=1
)
attack = LiRA()
attack.train(shadows)
summary = shadows.test(attack)
print(f"{attack.label:32s} AUC {summary.auc:.3f}, accuracy {summary.accuracy:.3f}")

# 4. Where it leaks: by class and by whether the forest is right, with 95 % intervals.
about = shadows.judged_records()
table = slice_metrics(summary, about[["correct", "class"]])
columns = ["slice", "value", "members", "auc", "auc_low", "auc_high", "tpr_at_fpr_0.01"]
print(table[columns].round(3).to_string(index=False))

# 5. Whose records are most exposed.
print("most exposed records:", write_exposure_table(summary, folder / "exposed.csv", about))
