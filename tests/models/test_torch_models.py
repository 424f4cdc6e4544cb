"""Torch modules as models."""

import numpy as np
import pandas as pd
import pytest

from tapas.errors import ConfigError, SchemaError
from tapas.models import Access, as_model

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn

X = np.random.default_rng(0).normal(size=(30, 4))


def _logits(outputs: int, *last: "nn.Module") -> "nn.Module":
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, outputs), *last)


def _expected(module: "nn.Module") -> np.ndarray:
    with torch.no_grad():
        return module(torch.tensor(X, dtype=torch.float32)).double().numpy()


def test_logits_become_probabilities():
    module = _logits(3)
    model = as_model(module, ["a", "b", "c"], batch_size=7)
    raw = torch.softmax(torch.tensor(_expected(module)), dim=1).numpy()
    np.testing.assert_allclose(model.predict_proba(X), raw, atol=1e-6)
    assert (model.predict(X) == np.array(["a", "b", "c"])[raw.argmax(axis=1)]).all()
    assert model.parameters is module


@pytest.mark.parametrize("last", [nn.Softmax(dim=1), nn.LogSoftmax(dim=1)])
def test_a_last_layer_of_probabilities_is_recognised(last):
    np.testing.assert_allclose(
        as_model(_logits(3, last)).predict_proba(X),
        as_model(_logits(3)).predict_proba(X),
        atol=1e-6,
    )


def test_probabilities_made_inside_forward_are_recognised():
    class Probabilities(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = _logits(3)

        def forward(self, x):
            return torch.softmax(self.inner(x), dim=1)

    np.testing.assert_allclose(
        as_model(Probabilities()).predict_proba(X), as_model(_logits(3)).predict_proba(X), atol=1e-6
    )


def test_a_single_output_belongs_to_the_second_class():
    plain, squashed = as_model(_logits(1)), as_model(_logits(1, nn.Sigmoid()))
    p = 1 / (1 + np.exp(-_expected(_logits(1))[:, 0]))
    assert plain.classes.tolist() == [0, 1]
    for model in (plain, squashed):
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], p, atol=1e-6)


def test_queries_run_in_evaluation_mode_and_put_the_mode_back():
    module = _logits(2, nn.Dropout(0.9))
    module.train()
    model = as_model(module)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X))
    assert module.training


def test_double_precision_and_frames_are_taken():
    module = _logits(2).double()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = as_model(module)
    np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(X))
    with pytest.raises(SchemaError, match="takes numbers"):
        model.predict(frame.assign(a="text"))


def test_a_module_that_returns_labels_shows_labels():
    class Labels(nn.Module):
        def forward(self, x):
            return (x[:, 0] > 0).long()

    model = as_model(Labels(), [0, 1], outputs="labels")
    assert model.access is Access.LABELS
    assert (model.predict(X) == (X[:, 0] > 0)).all()


def test_a_module_without_linear_layers_needs_classes():
    with pytest.raises(ConfigError, match=r"as_model\(model, classes="):
        as_model(nn.Identity())


def test_a_zero_that_is_slightly_negative_is_still_a_probability():
    class AlmostOneHot(nn.Module):
        def forward(self, x):
            return torch.tensor([[1.0, -1e-7]]).repeat(len(x), 1)

    np.testing.assert_allclose(as_model(AlmostOneHot(), [0, 1]).predict_proba(X)[:, 0], 1.0)
