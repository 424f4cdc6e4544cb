"""Images, one-hot classes, and models that only predict."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import LabelOnlyMIA, LiRA, LossMIA
from tapas.errors import ConfigError, SchemaError
from tapas.models import CallableTrainer, Records, as_model
from tapas.threat_models import ModelMIA

pytestmark = pytest.mark.usefixtures("no_baseline")
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


def test_what_does_not_say_its_classes_is_refused_with_the_remedy() -> None:
    model = OfImages(IMAGES[::2], Y[::2])
    sides = (IMAGES[::2], Y[::2]), (IMAGES[1::2], Y[1::2])
    with pytest.raises(ConfigError, match=r"OfImages.*tapas\.models\.as_model\(model, classes="):
        ModelMIA(model, *sides)
    assert ModelMIA(as_model(model, classes=CLASSES), *sides).model.classes.tolist() == CLASSES


def test_one_hot_classes_are_classes() -> None:
    records = Records(X, np.eye(10)[Y])
    np.testing.assert_array_equal(records.y, Y)
    with pytest.raises(SchemaError, match="one class label per record"):
        Records(X, np.column_stack([Y, Y]))


def test_a_booster_that_gives_the_second_class_only_is_a_model() -> None:
    booster = SimpleNamespace(predict=lambda rows: 1 / (1 + np.exp(-rows[:, 0])))
    found = as_model(booster, [0, 1]).predict_proba(np.array([[0.0], [2.0]]))
    np.testing.assert_allclose(found[:, 1], [0.5, 1 / (1 + np.exp(-2))])
