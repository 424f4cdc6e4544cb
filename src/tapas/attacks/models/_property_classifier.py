"""Property inference: a classifier that reads the answers of whole models."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import ModelAttack, model_briefing
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Briefing, Needs, Release, Value
from tapas.models import Access, Classifier, parameter_summary

LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class PropertyScorer:
    """Probability of each share, by a classifier.

    Attributes
    ----------
    classifier : classifier
        Of positions in `values`.
    values : tuple
        In the order of scores.
    """

    classifier: Classifier
    values: tuple[Value, ...]

    def score(self, values: np.ndarray) -> np.ndarray:
        """Probability of the second of two shares, (models, 1), or of each, (models, 1, shares)."""
        width, learnt = values.shape[-1], getattr(self.classifier, "n_features_in_", None)
        if learnt not in (None, width):
            raise IncompatibleAttackError(
                f"the model shows {width} numbers and those that were learnt from {learnt}: it "
                f"must be of their kind, or be asked for its answers (PropertyClassifier)"
            )
        found = np.zeros((len(values), 1, len(self.values)))
        seen = np.asarray(self.classifier.classes_, dtype=int)
        found[:, 0, seen] = self.classifier.predict_proba(values[:, 0])
        return found[..., 1] if len(self.values) == 2 else found

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest share."""
        codes = scores.argmax(axis=-1) if scores.ndim == 3 else (scores >= 0.5).astype(int)
        return np.array(self.values)[codes]


class PropertyClassifier(ModelAttack):
    """Learns to tell which share of the training data of a model has a property.

    Idea: shadow models with each share answer the same queries; a classifier reads the answers.

    Needs: scores, or labels where the release shows no more; one query per probe; shadow models
    with each share.

    Score: the classifier's probability of the second of two shares, or of each of more.

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
        """Labels, and models with each share to learn from."""
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
        model = self._default_classifier() if self.classifier is None else self.classifier
        values = board.goal.values
        codes = np.argmax(board.secrets[:, :1] == np.array(values), axis=1)
        return PropertyScorer(seeded_clone(model, rng).fit(board.values[:, 0], codes), values)

    def _default_classifier(self) -> Classifier:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))


class WhiteBoxPropertyClassifier(PropertyClassifier):
    """Learns from the parameters of a model which share of its training data has a property.

    Idea: as `PropertyClassifier`, where the release shows parameters. What a forest sends left at
    its splits is how common values are, and a network's weights follow what it was trained on;
    sums over neurons and over trees do not depend on their order.

    Needs: parameters, of a scikit-learn tree, forest or perceptron or of linear layers in torch;
    of pipelines, those of scalers too. Of any other model it reads answers, which tell as much of
    linear ones. Shadow models with each share.

    Score: the classifier's probability of the second of two shares, or of each of more.

    Reference: Ganju et al. (2018) for networks, with sums in place of sorted neurons; trees are
    ours.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        A random forest by default: few of the many parameters tell.
    label : str, optional
    """

    @property
    def needs(self) -> Needs:
        """Parameters, and models with each share to learn from."""
        return replace(super().needs, access=Access.PARAMETERS)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """The parameters in one row."""
        told = parameter_summary(release.model)
        return super().observe(release, briefing, rng=rng) if told is None else told[None]

    def _default_classifier(self) -> Classifier:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(200, max_features=0.3)
