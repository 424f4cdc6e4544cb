"""What torch brings: data sets, loaders, token numbers, modules that return more than scores."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import LossMIA
from tapas.errors import MechanismError
from tapas.models import Records, as_model
from tapas.threat_models import ModelMIA

torch = pytest.importorskip("torch", reason="torch is not installed")

X, Y = (part[:400] for part in load_digits(return_X_y=True))


def test_data_sets_and_loaders_of_torch_are_records() -> None:
    inside, outside = (
        torch.utils.data.TensorDataset(torch.tensor(X[part]), torch.tensor(Y[part]))
        for part in (slice(0, None, 2), slice(1, None, 2))
    )
    model = as_model(DecisionTreeClassifier(random_state=0).fit(X[::2], Y[::2]))
    summaries = []
    for sides in (
        (inside, torch.utils.data.DataLoader(outside, batch_size=7)),
        ((X[::2], Y[::2]), (X[1::2], Y[1::2])),
    ):
        attack = LossMIA()
        threat_model = ModelMIA(model, *sides, seed=0)
        attack.train(threat_model)
        summaries.append(threat_model.test(attack))
    np.testing.assert_array_equal(summaries[0].scores, summaries[1].scores)


class Wrapped(torch.nn.Module):
    def __init__(self, way: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.way, self.layer = way, torch.nn.Linear(3, 2)

    def forward(self, rows: "torch.Tensor") -> object:
        found = self.layer(rows)
        return {
            "tensor": found,
            "tuple": (found, rows),
            "mapping": {"hidden": rows, "logits": found},
            "object": SimpleNamespace(logits=found),
            "nothing": "found",
        }[self.way]


def test_the_first_output_or_the_logits_of_a_module_are_read() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3))
    expected = as_model(Wrapped("tensor")).predict_proba(rows)
    for way in ("tuple", "mapping", "object"):
        np.testing.assert_array_equal(as_model(Wrapped(way)).predict_proba(rows), expected)
    with pytest.raises(MechanismError, match="must return a tensor"):
        as_model(Wrapped("nothing")).predict_proba(rows)


def test_token_numbers_stay_whole() -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Embedding(50, 4), torch.nn.Flatten(), torch.nn.Linear(24, 3)
    )
    tokens = np.random.default_rng(0).integers(0, 50, (7, 6))
    found = as_model(module).predict_proba(Records(tokens, np.zeros(7, int)).X)
    with torch.no_grad():
        expected = torch.softmax(module(torch.tensor(tokens)).double(), 1).numpy()
    np.testing.assert_allclose(found, expected)


class OfTwoInputs(torch.nn.Module):
    """Takes token numbers and numbers, in order or by name."""

    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(20, 3)
        self.last = torch.nn.Linear(7, 2)

    def forward(self, tokens: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        return self.last(torch.cat([self.words(tokens).mean(dim=1), numbers], dim=1))


@pytest.mark.parametrize("by_name", [False, True])
def test_modules_of_several_inputs(by_name: bool) -> None:
    rng = np.random.default_rng(0)
    tokens, numbers = rng.integers(0, 20, (80, 5)), rng.normal(size=(80, 4))
    module = OfTwoInputs()
    data = {"tokens": tokens, "numbers": numbers} if by_name else (tokens, numbers)
    parts = [
        {name: part[rows] for name, part in data.items()}
        if isinstance(data, dict)
        else tuple(part[rows] for part in data)
        for rows in (slice(0, 40), slice(40, 80))
    ]
    y = rng.integers(0, 2, 80)
    threat_model = ModelMIA(module, (parts[0], y[:40]), (parts[1], y[40:]), seed=0)
    rows = np.concatenate([tokens, numbers], axis=1)
    with torch.no_grad():
        expected = module(torch.as_tensor(tokens), torch.as_tensor(numbers).float()).softmax(dim=1)
    np.testing.assert_allclose(threat_model.model.predict_proba(rows), expected, atol=1e-6)
