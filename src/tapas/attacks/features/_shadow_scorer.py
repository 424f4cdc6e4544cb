"""What shadow modelling sees in a release, and how it turns that into guesses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from tapas.attacks.features._set_classifiers import FeatureModel
from tapas.attacks.features._set_features import SetFeature
from tapas.datasets import Dataset
from tapas.errors import IncompatibleAttackError
from tapas.game import Briefing, Release, Value, ValueObserver

__all__ = ["FeatureObserver", "ShadowScorer", "arranged", "position_of", "released_data"]


@dataclass(frozen=True, eq=False)
class FeatureObserver(ValueObserver):
    """Sees features of a release.

    Attributes
    ----------
    features : SetFeature
        With all that they have to learn.
    """

    features: SetFeature

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        return self.features.observe(released_data(release), briefing)


@dataclass(frozen=True, eq=False)
class ShadowScorer:
    """Probability of each secret, by a classifier of features.

    Attributes
    ----------
    model : FeatureModel
    secrets : tuple
        In the order of scores.
    """

    model: FeatureModel
    secrets: tuple[Value, ...]

    def score(self, values: np.ndarray) -> np.ndarray:
        """Probability of the second of two secrets, or of each, per release and target."""
        features = values.reshape(values.shape[0] * values.shape[1], -1)
        found = arranged(self.model.probabilities(features), self.model.classes, self.secrets)
        return found.reshape(*values.shape[:2], *found.shape[1:])

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest secret; of equally likely ones the first that the classifier names."""
        each = np.stack([1 - scores, scores], axis=-1) if scores.ndim == 2 else scores
        columns = np.array([position_of(value, self.secrets) for value in self.model.classes])
        likeliest = columns[np.argmax(each[..., columns], axis=-1)]
        return np.array(self.secrets)[likeliest]


def released_data(release: object) -> Dataset:
    """What was released, given as it is or in a release."""
    # A user's own kind of data is whatever that user's features and classifiers read.
    return cast(Dataset, release.data if isinstance(release, Release) else release)


def arranged(
    probabilities: np.ndarray, classes: Sequence[Value] | np.ndarray, secrets: tuple[Value, ...]
) -> np.ndarray:
    """Columns in the order of the secrets, 0 for one never seen; the second of two alone."""
    found = np.zeros((len(probabilities), len(secrets)))
    for column, value in enumerate(classes):
        found[:, position_of(value, secrets)] = probabilities[:, column]
    return found[:, 1] if len(secrets) == 2 else found


def position_of(value: Value, secrets: tuple[Value, ...]) -> int:
    """Where a secret stands; values that became text in an array are found by their text."""
    for position, known in enumerate(secrets):
        if known == value:
            return position
    texts = [str(known) for known in secrets]
    if str(value) not in texts:
        raise IncompatibleAttackError(
            f"the classifier was trained with the label {value!r}, which is not a possible secret "
            f"({list(secrets)}): train it on this threat model"
        )
    return texts.index(str(value))
