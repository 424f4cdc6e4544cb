"""Games on a table of people, and features that tell what they saw, for shadow modelling."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks.features._set_features import SetFeature
from tapas.datasets import DataDescription, TabularDataset
from tapas.generators import Generator, Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)

RNG = np.random.default_rng
COLOURS = ["red", "green", "blue"]
PEOPLE = DataDescription(
    [
        {"name": "colour", "type": "finite", "representation": COLOURS},
        {"name": "height", "type": "real", "representation": "number"},
        {"name": "ward", "type": "finite", "representation": 4},
    ]
)


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(COLOURS[:2], rows),
            "height": rng.normal(170, 10, rows),
            "ward": rng.integers(0, 3, rows),
        }
    )
    return TabularDataset(frame, PEOPLE)


def giants(rows=1):
    frame = pd.DataFrame({"colour": "red", "height": 400.0 + 50 * np.arange(rows), "ward": 3})
    return TabularDataset(frame, PEOPLE)


class Blind(Generator):
    """Ignores its input."""

    def fit(self, dataset):
        self.trained = True

    def generate(self, num_samples, random_state=None):
        return people(num_samples, random_state)


def mia(generator=None, targets=None, rows=20, seed=1, **options):
    return TargetedMIA(
        AuxiliaryDataKnowledge(people(), num_training_records=rows, seed=0),
        giants() if targets is None else targets,
        BlackBoxKnowledge(generator or Raw(), num_synthetic_records=rows),
        replace_target=True,
        seed=seed,
        n_jobs=1,
        **options,
    )


def aia(values, generator=None, rows=10, seed=1, **options):
    return TargetedAIA(
        AuxiliaryDataKnowledge(people(), num_training_records=rows, seed=0),
        giants(),
        "colour",
        values,
        BlackBoxKnowledge(generator or Raw(), num_synthetic_records=rows),
        seed=seed,
        n_jobs=1,
        **options,
    )


class Tally:
    """Counts; a number in the class itself would be part of what the feature is."""

    number = 0


EXTRACTED = Tally()


class Spotted(SetFeature):
    """Share of each colour among giants: what attribute inference needs here."""

    def extract(self, datasets):
        EXTRACTED.number += len(datasets)
        rows = []
        for dataset in datasets:
            giant = dataset.table.column("height") > 300
            codes = dataset.table.column("colour")
            rows.append([(giant & (codes == code)).sum() for code in range(3)])
        return np.array(rows)


def forest(features=None, **options):
    features = NaiveSetFeature() if features is None else features
    return FeatureBasedSetClassifier(
        features, RandomForestClassifier(20, max_features=None, **options)
    )


def auc(scores, positive):
    higher = scores[positive][:, None] - scores[~positive]
    return np.mean((higher > 0) + (higher == 0) / 2)


# -- truth ------------------------------------------------------------------------------------


class Tallest(SetClassifier):
    """A user's own classifier, without features."""

    def fit(self, datasets, labels):
        self.limit = 300

    def predict(self, datasets):
        return np.array([dataset.data["height"].max() > self.limit for dataset in datasets])

    def predict_proba(self, datasets):
        positive = self.predict(datasets).astype(float)
        return np.stack([1 - positive, positive], axis=1)
