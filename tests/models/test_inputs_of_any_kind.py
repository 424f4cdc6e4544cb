"""Images, tokens, one-hot classes, data sets, and models that only predict."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import LabelOnlyMIA, LiRA, LossMIA
from tapas.errors import MechanismError, SchemaError
from tapas.models import CallableTrainer, Records, as_model
from tapas.threat_models import ModelMIA

X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400]
IMAGES = X.reshape(-1, 1, 8, 8)
CLASSES = list(range(10))


class OfImages:
    """Refuses anything but images, and has only `predict`, as Keras models do."""

    def __init__(self, images: np.ndarray, y: np.ndarray) -> None:
        self.tree = DecisionTreeClassifier(random_state=0).fit(images.reshape(len(y), -1), y)

    def predict(self, images: np.ndarray) -> np.ndarray:
        assert images.shape[1:] == (1, 8, 8)
        return self.tree.predict_proba(images.reshape(len(images), -1))


def trained(images: np.ndarray, y: np.ndarray, seed: int) -> object:
    return as_model(OfImages(images, y), np.unique(y))


@pytest.mark.parametrize("attack", [LossMIA(), LiRA(), LabelOnlyMIA("noise", 13)])
def test_images_are_audited_as_the_model_takes_them(attack: LossMIA) -> None:
    found = []
    for data in (IMAGES, X):
        model = OfImages(IMAGES[::2], Y[::2])
        asked = as_model(model, CLASSES) if data is IMAGES else model.tree
        trainer = CallableTrainer(trained) if data is IMAGES else DecisionTreeClassifier()
        threat_model = ModelMIA(
            asked,
            (data[::2], Y[::2]),
            (data[1::2], Y[1::2]),
            trainer=trainer if isinstance(attack, LiRA) else None,
            num_shadows=4,
            seed=0,
            n_jobs=1,
        )
        attack.train(threat_model)
        found.append(threat_model.test(attack).auc)
    assert found[0] > 0.55
    if not isinstance(attack, LiRA):  # shadow models are seeded differently
        assert found[0] == found[1]


def test_one_hot_classes_are_classes() -> None:
    records = Records(X, np.eye(10)[Y])
    np.testing.assert_array_equal(records.y, Y)
    with pytest.raises(SchemaError, match="one class label per record"):
        Records(X, np.column_stack([Y, Y]))


def test_data_sets_and_loaders_of_torch_are_records() -> None:
    inside, outside = (
        torch.utils.data.TensorDataset(torch.tensor(IMAGES[part]), torch.tensor(Y[part]))
        for part in (slice(0, None, 2), slice(1, None, 2))
    )
    model = as_model(OfImages(IMAGES[::2], Y[::2]), CLASSES)
    summaries = []
    for sides in (
        (inside, torch.utils.data.DataLoader(outside, batch_size=7)),
        ((IMAGES[::2], Y[::2]), (IMAGES[1::2], Y[1::2])),
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

    def forward(self, rows: torch.Tensor) -> object:
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


def test_a_booster_that_gives_the_second_class_only_is_a_model() -> None:
    booster = SimpleNamespace(predict=lambda rows: 1 / (1 + np.exp(-rows[:, 0])))
    found = as_model(booster, [0, 1]).predict_proba(np.array([[0.0], [2.0]]))
    np.testing.assert_allclose(found[:, 1], [0.5, 1 / (1 + np.exp(-2))])
