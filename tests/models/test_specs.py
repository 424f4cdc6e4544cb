"""Models, records and trainers are what they do: equal ones have equal specs, others do not."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tapas._spec import spec_of
from tapas.models import (
    CallableTrainer,
    Model,
    OnnxModel,
    Records,
    SklearnTrainer,
    TorchMLPTrainer,
    as_model,
)

X, Y = make_classification(80, 5, random_state=0)


def forest(seed: int = 0) -> Model:
    return as_model(RandomForestClassifier(5, random_state=seed).fit(X, Y))


def digest(thing: object) -> str:
    spec = spec_of(thing)
    assert spec.doubts == ()
    return spec.digest


def test_a_model_is_its_fitted_estimator_whatever_it_was_asked() -> None:
    model, before = forest(), digest(forest())
    model.predict_proba(X)
    assert digest(model) == before
    assert digest(pickle.loads(pickle.dumps(model))) == before  # noqa: S301
    assert digest(forest(1)) != before
    assert digest(as_model(DecisionTreeClassifier(random_state=0).fit(X, Y))) != before


def test_a_view_is_its_model_and_what_it_shows_but_not_its_budget() -> None:
    labels = digest(forest().restricted("labels"))
    assert digest(forest().restricted("labels", budget=3)) == labels
    assert digest(forest().restricted("scores")) != labels
    assert digest(forest(1).restricted("labels")) != labels
    assert digest(forest().aligned([1, 0])) not in (labels, digest(forest()))


def test_perceptrons_and_modules_are_their_weights() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    trainer = TorchMLPTrainer((4,), epochs=1, device="cpu")
    first, again, other = (
        trainer.train(X, Y, rng=np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert digest(first) == digest(again) != digest(other)
    module = torch.nn.Sequential(torch.nn.Linear(5, 2))
    before = digest(as_model(module))
    assert digest(as_model(module)) == before
    with torch.no_grad():
        module[0].bias.add_(1.0)
    assert digest(as_model(module)) != before


def test_an_onnx_model_is_the_content_of_its_file(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    logistic = skl2onnx.to_onnx(LogisticRegression().fit(X, Y), X[:1].astype(np.float32))
    tree = skl2onnx.to_onnx(DecisionTreeClassifier().fit(X, Y), X[:1].astype(np.float32))
    for name, model in (("a", logistic), ("b", logistic), ("c", tree)):
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    first, renamed, other = (digest(OnnxModel(tmp_path / f"{name}.onnx")) for name in "abc")
    assert first == renamed != other


def test_functions_are_models_by_their_code() -> None:
    first, same, other = (
        as_model(function, classes=[0, 1])
        for function in (_half, _half, lambda rows: np.full((len(rows), 2), [0.4, 0.6]))
    )
    assert digest(first) == digest(same) != digest(other)


def _half(rows: np.ndarray) -> np.ndarray:
    return np.full((len(rows), 2), 0.5)


def test_records_are_their_values_types_and_categories() -> None:
    frame = pd.DataFrame({"a": [0, 1], "c": pd.Categorical(["u", "v"], categories=["u", "v"])})
    same = digest(Records(frame, [0, 1]))
    assert digest(Records(frame.copy(), [0, 1])) == same
    changed = [
        Records(frame.iloc[::-1], [0, 1]),
        Records(frame, [1, 0]),
        Records(frame, ["0", "1"]),
        Records(frame.astype({"a": float}), [0, 1]),
        Records(frame.rename(columns={"a": "b"}), [0, 1]),
        Records(frame, [0, 1], categorical=("a",)),
        Records(frame.assign(c=frame["c"].cat.add_categories("w")), [0, 1]),
        Records(frame.assign(c=["u", "v"]), [0, 1]),
        Records(frame.assign(c=np.array([1, "1"], dtype=object)), [0, 1]),
        Records(frame.assign(c=np.array(["1", "1"], dtype=object)), [0, 1]),
        Records(np.array([[0.0, 1], [1, 0]]), [0, 1]),
    ]
    assert len({same, *map(digest, changed)}) == 1 + len(changed)


def test_an_encoding_is_what_was_learnt_whether_it_was_used_or_not() -> None:
    records = Records(X, Y)
    encoding, before = records.encoding(), digest(records.encoding())
    encoding.encode(X)
    assert digest(encoding) == before
    assert digest(Records(X * 3, Y).encoding()) != before


def test_a_trainer_is_its_parameters_and_not_what_it_was_fitted_to() -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=2))
    before = digest(SklearnTrainer(pipeline))
    assert digest(SklearnTrainer(pipeline.fit(X, Y))) == before
    assert digest(SklearnTrainer(pipeline, encode=True)) != before
    assert digest(SklearnTrainer(pipeline.set_params(logisticregression__C=3))) != before
    assert digest(CallableTrainer(_half)) != digest(CallableTrainer(digest))
    pytest.importorskip("torch", reason="torch is not installed")
    cpu = TorchMLPTrainer(device="cpu")
    assert digest(cpu) == digest(TorchMLPTrainer(device="cpu", models_at_once=8))
    assert digest(cpu) != digest(TorchMLPTrainer(device="cpu", models_at_once=4))
