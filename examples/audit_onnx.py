"""Audit a model of which only an ONNX file exists.

Run with ``python examples/audit_onnx.py [MODEL.onnx]``; it needs the extra ``onnx``. Without a file
it exports a small tree first, which needs skl2onnx as well.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import BlackBoxMIA, LabelOnlyMIA, RuleBasedMIA
from tapas.models import as_model
from tapas.threat_models import ModelMIA

try:
    import onnxruntime  # noqa: F401 - what reads the file
except ImportError:
    sys.exit("This example needs onnxruntime: pip install 'tapas-privacy[onnx]'")

X, y = load_wine(return_X_y=True)
X = X.astype(np.float32).astype(np.float64)  # the file works in single precision
order = np.random.default_rng(0).permutation(len(y))
members = (X[order[:89]], y[order[:89]])
non_members = (X[order[89:]], y[order[89:]])

if len(sys.argv) > 1:
    path = Path(sys.argv[1])
else:
    try:
        from skl2onnx import to_onnx
    except ImportError:
        sys.exit("Give the path of an .onnx file, or install skl2onnx to export one")
    tree = DecisionTreeClassifier(random_state=0).fit(*members)
    path = Path(tempfile.mkdtemp()) / "tree.onnx"
    exported = to_onnx(tree, members[0][:1].astype(np.float32), options={"zipmap": False})
    path.write_bytes(exported.SerializeToString())

model = as_model(path)
print(f"{path.name}: classes {model.classes.tolist()}, shows {model.access.value}")
for access, attacks in (
    ("scores", (RuleBasedMIA(), BlackBoxMIA("rf"))),
    ("labels", (LabelOnlyMIA("noise", 97),)),
):
    threat_model = ModelMIA(model, members, non_members, access=access, known_share=0.5, seed=1)
    for attack in attacks:
        attack.train(threat_model)
        summary = threat_model.test(attack)
        print(f"{access:7s} {attack.label:34s} AUC {summary.auc:.3f}")
