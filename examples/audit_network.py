"""Audit a torch network with reference models that are trained many at once.

Run with ``python examples/audit_network.py``; it needs the extra ``torch``.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer

from tapas.attacks import RMIA, LabelOnlyMIA, LiRA, LossMIA
from tapas.models import TorchMLPTrainer, as_model
from tapas.threat_models import ModelMIA

try:
    import torch
except ImportError:
    sys.exit("This example needs torch: pip install 'tapas-privacy[torch]'")

# 1. Any torch module that returns one logit per class. This one is trained until it overfits.
X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
order = np.random.default_rng(0).permutation(len(y))
half = len(y) // 2
members = (X[order[:half]], y[order[:half]])
non_members = (X[order[half:]], y[order[half:]])

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(30, 128), torch.nn.ReLU(), torch.nn.Linear(128, 2))
inputs = torch.tensor(members[0], dtype=torch.float32)
targets = torch.tensor(members[1])
optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
for _ in range(300):
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(network(inputs), targets).backward()
    optimiser.step()

# 2. The release shows probabilities; the attacker trains 32 networks of the same shape at once.
model = as_model(network, classes=[0, 1], outputs="logits")
threat_model = ModelMIA(
    model,
    members,
    non_members,
    known_share=0.2,
    trainer=TorchMLPTrainer(hidden=(128,), epochs=100),
    num_shadows=32,
    seed=1,
)
for attack in (LossMIA(), LiRA(), RMIA()):
    attack.train(threat_model)
    summary = threat_model.test(attack)
    print(f"{attack.label:36s} AUC {summary.auc:.3f}, accuracy {summary.accuracy:.3f}")

# 3. The same network behind an interface that answers with labels only.
labels = ModelMIA(model, members, non_members, access="labels", known_share=0.5, seed=1)
attack = LabelOnlyMIA(max_queries=250)
attack.train(labels)
summary = labels.test(attack)
print(f"{attack.label:36s} AUC {summary.auc:.3f}, {labels.queries(attack)} queries")
