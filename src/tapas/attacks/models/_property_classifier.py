"""Property inference: a classifier that reads the answers of whole models."""

from typing import Any, Self

import numpy as np

from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import ModelAttack
from tapas.errors import NotTrainedError
from tapas.models import Access
from tapas.threat_models import Release
from tapas.threat_models._model_game import ModelNeeds

LEAST = 1e-3


class PropertyClassifier(ModelAttack):
    """Learns to tell models trained on data with a property from models trained without.

    Idea: shadow models of both kinds answer the same queries; a classifier reads the answers.

    Needs: scores, or labels where the release shows no more; one query per probe; shadow models of
    both kinds.

    Score: the classifier's probability that the property holds.

    Reference: Ateniese et al. (2015); Ganju et al. (2018).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        Logistic regression on standardised answers by default.
    label : str, optional
    """

    needs = ModelNeeds(Access.LABELS, goal="property")

    def __init__(self, classifier: Any = None, *, label: str | None = None) -> None:
        super().__init__(label)
        self.classifier = classifier
        self._fitted: Any = None

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Answers to all probes in one row."""
        model, probes = release.data, briefing.targets
        if model.access.shows(Access.SCORES):
            answers = np.log(np.maximum(model.predict_proba(probes.X), LEAST))
        else:
            answers = np.eye(len(model.classes))[model.predict_codes(probes.X)]
        means = answers.mean(axis=0)
        return np.concatenate([means, answers.ravel()])[None]

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Train the classifier."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        default = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
        model = default if self.classifier is None else self.classifier
        self._fitted = seeded_clone(model, rng).fit(observations[:, 0], secrets[:, 0])
        return self

    def score(self, observations: np.ndarray) -> np.ndarray:
        """Probability that the property holds."""
        if self._fitted is None:
            raise NotTrainedError(f"{self.label} is not trained yet: call train() first")
        return self._fitted.predict_proba(observations[:, 0])[:, [1]]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Whether the property is likelier than not."""
        return scores >= 0.5
