"""Property inference: a classifier that reads the answers of whole models."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import ModelAttack, model_briefing
from tapas.game import Board, Briefing, Needs, Release
from tapas.models import Access, Classifier

LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class PropertyScorer:
    """Probability that the property holds, by a classifier.

    Attributes
    ----------
    classifier : classifier
    """

    classifier: Classifier

    def score(self, values: np.ndarray) -> np.ndarray:
        """Probability that the property holds, (models, 1)."""
        return np.asarray(self.classifier.predict_proba(values[:, 0]))[:, [1]]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Whether the property is likelier than not."""
        return scores >= 0.5


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

    observation_depends_on: ClassVar[tuple[str, ...]] = ()

    def __init__(self, classifier: Classifier | None = None, *, label: str | None = None) -> None:
        super().__init__(label)
        self.classifier = classifier

    @property
    def needs(self) -> Needs:
        """Labels, and models of both kinds to learn from."""
        return Needs("model", ("property",), access=Access.LABELS)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Answers to all probes in one row."""
        model, probes = release.model, model_briefing(briefing).targets
        if model.access.shows(Access.SCORES):
            answers = np.log(np.maximum(model.predict_proba(probes.X), LEAST))
        else:
            answers = np.eye(len(model.classes))[model.predict_codes(probes.X)]
        means = answers.mean(axis=0)
        return np.concatenate([means, answers.ravel()])[None]

    def fit(self, board: Board, *, rng: np.random.Generator) -> PropertyScorer:
        """Train the classifier."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        default = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
        model = default if self.classifier is None else self.classifier
        return PropertyScorer(seeded_clone(model, rng).fit(board.values[:, 0], board.secrets[:, 0]))
