"""The contract of a model: kept by every built-in one, broken one promise at a time by others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tapas.errors import TapasError
from tapas.models import Model, SklearnTrainer, TorchMLPTrainer, as_model
from tapas.testing import BrokenPromiseError, check_model

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(40, 4)).astype(np.float32).astype(np.float64)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    kind=pd.Categorical(np.where(X[:, 0] > 0, "this", "that")), flag=X[:, 1] > 0
)
CODES = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
NAMES = np.array(["low", "middle", "high"])[CODES]


def _linear(inputs: np.ndarray) -> np.ndarray:
    weights = np.exp(inputs @ np.array([[1, 0, -1], [0, 1, 0], [1, 1, 0], [0, 0, 1.0]]))
    return weights / weights.sum(axis=1, keepdims=True)


def _label(inputs: np.ndarray) -> np.ndarray:
    return np.array([False, True])[(inputs[:, 0] > 0).astype(int)]


def _torch_model(**options: Any) -> Model:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(8, 3)
    )
    return as_model(layers, **options)


def _mlp_model(inputs: Any) -> Model:
    pytest.importorskip("torch", reason="torch is not installed")
    trainer = TorchMLPTrainer(hidden=(8,), epochs=2, device="cpu")
    return trainer.train(inputs, NAMES, rng=np.random.default_rng(0))


def _onnx_model(folder: Path) -> Model:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx, which writes it, is missing")
    shape = [("x", skl2onnx.common.data_types.FloatTensorType([None, 4]))]
    converted = skl2onnx.convert_sklearn(
        LogisticRegression().fit(X, NAMES), initial_types=shape, options={"zipmap": False}
    )
    path = folder / "model.onnx"
    path.write_bytes(converted.SerializeToString())
    return as_model(path)


def _encoded() -> Model:
    trainer = SklearnTrainer(DecisionTreeClassifier(), encode=True)
    return trainer.train(FRAME, NAMES, rng=np.random.default_rng(0))


BUILT_IN: dict[str, tuple[Callable[[Path], object], Any]] = {
    "an estimator": (lambda _: RandomForestClassifier(5).fit(X, NAMES), X),
    "an estimator of two classes": (lambda _: LogisticRegression().fit(X, CODES > 1), X),
    "an estimator without scores": (lambda _: LinearSVC().fit(X, CODES), X),
    "an estimator behind an encoding": (lambda _: _encoded(), FRAME),
    "a function of scores": (lambda _: as_model(_linear, ["x", "y", "z"], batch_size=7), X),
    "a function of labels": (lambda _: as_model(_label, [False, True], outputs="labels"), X),
    "a perceptron": (lambda _: _mlp_model(X), X),
    "a perceptron of categories": (lambda _: _mlp_model(FRAME), FRAME),
    "a torch module": (lambda _: _torch_model(), X),
    "a torch module of named classes": (lambda _: _torch_model(classes=["x", "y", "z"]), X),
    "an ONNX file": (_onnx_model, X),
    "a restricted view": (lambda _: as_model(_linear, [1, 2, 3]).restricted("labels"), X),
    "an aligned view": (lambda _: as_model(_linear, [1, 2, 3]).aligned([3, 0, 2, 1]), X),
}


@pytest.mark.parametrize("made", BUILT_IN)
def test_every_built_in_model_keeps_every_promise(made: str, tmp_path: Path) -> None:
    make, inputs = BUILT_IN[made]
    assert len(check_model(make(tmp_path), inputs)) == 12


class Linear(Model):
    """Keeps every promise, until a subclass does not."""

    def __init__(self) -> None:
        super().__init__(["x", "y", "z"], access="parameters")

    def _scores(self, X: Any) -> np.ndarray:
        return _linear(X)


class WithoutLabel(Linear):
    label = ""


class Logits(Linear):
    def _scores(self, X: Any) -> np.ndarray:
        return 3 * super()._scores(X)


class OtherLabels(Linear):
    def predict(self, X: Any) -> np.ndarray:
        return np.char.upper(super().predict(X))


class Whim(Linear):
    def _scores(self, X: Any) -> np.ndarray:
        return _linear(X + np.random.default_rng().normal(size=X.shape))


class CentresWhatItGets(Linear):
    def _scores(self, X: Any) -> np.ndarray:
        return _linear(X - X.mean(axis=0))


class ScalesInPlace(Linear):
    def _scores(self, X: Any) -> np.ndarray:
        X *= 2
        return _linear(X)


class DoesNotCount(Linear):
    def _charge(self, number: int) -> None:
        pass


class Generous(Linear):
    def restricted(self, access: Any, budget: int | None = None) -> Model:
        return super().restricted(access, None if budget is None else budget + 10)


class Open(Linear):
    def restricted(self, access: Any, budget: int | None = None) -> Model:
        return super().restricted("parameters", budget)


class Stubborn(Linear):
    def aligned(self, classes: Any) -> Model:
        return self


class Remembers(Linear):
    def _scores(self, X: Any) -> np.ndarray:
        self.last = X
        return _linear(X)


class Immobile(Linear):
    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled")


def test_a_model_of_ones_own_can_keep_every_promise() -> None:
    assert len(check_model(Linear(), X)) == 12


@pytest.mark.parametrize(
    ("model", "promise"),
    [
        (WithoutLabel(), "label"),
        (Logits(), "probabilities"),
        (OtherLabels(), "labels"),
        (Whim(), "repetition"),
        (CentresWhatItGets(), "batches"),
        (ScalesInPlace(), "inputs"),
        (DoesNotCount(), "queries"),
        (Generous(), "budget"),
        (Open(), "access"),
        (Stubborn(), "alignment"),
        (Remembers(), "identity"),
        (Immobile(), "travel"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_broken_promise_is_named(model: Model, promise: str) -> None:
    with pytest.raises(AssertionError, match=f"(?m)^- {promise}: ") as caught:
        check_model(model, X.copy())
    assert isinstance(caught.value, TapasError)


def test_a_model_that_fails_is_reported_with_its_error() -> None:
    def fails(inputs: np.ndarray) -> np.ndarray:
        raise ValueError("no luck today")

    with pytest.raises(BrokenPromiseError, match="ValueError: no luck today"):
        check_model(as_model(fails, [0, 1]), X)
