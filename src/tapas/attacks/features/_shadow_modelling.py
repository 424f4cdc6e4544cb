"""Shadow modelling: learn to tell secrets from simulated releases."""

import copy
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from tapas._random import stream
from tapas.attacks._base import Attack
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError
from tapas.threat_models import Briefing, NoBoxKnowledge, Release

RELEASES_TO_LEARN_RANGES_FROM = 10
_WRITTEN_BY_CLASSIFIERS = ("fit", "predict", "predict_proba")


class ShadowModellingAttack(Attack):
    """Membership or attribute inference by a classifier of whole releases.

    Idea
        Simulate the mechanism on data for which the secret is known, and train a classifier to
        infer the secret from the release.
    Needs
        Training trials: at least a black box.
    Score
        Probability of the second secret (True; the second attribute value), or of each value in
        the order of `attribute_values` if there are more than two.
    Reference
        Stadler, Oprisanu and Troncoso (2022), "Synthetic data: anonymisation groundhog day",
        arXiv:2011.07018.

    Parameters
    ----------
    classifier : SetClassifier
        One with features observes them where releases are made and learns one model per target.
    label : str, optional

    Attributes
    ----------
    classifier : SetClassifier
    trained : bool
    threat_model : LabelInferenceThreatModel or None
        The one trained on last.
    """

    def __init__(self, classifier: SetClassifier, label: str | None = None) -> None:
        if not isinstance(classifier, SetClassifier):
            raise ConfigError(
                f"classifier must be a SetClassifier, got {classifier!r}; for a scikit-learn "
                f"classifier use FeatureBasedSetClassifier(features, classifier)"
            )
        self.classifier: Any = classifier
        self.trained = False
        self._label = label or f"ShadowModelling({classifier.label})"
        self._classes: list[Any] | None = None
        # Where several targets are learnt together, each has a classifier of its own.
        self._per_target: list[Any] = []

    # -- core --------------------------------------------------------------------------------

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Features of the release."""
        return self.classifier.observe(release.data, briefing)

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Learn from observed features; what was learnt before is forgotten."""
        targets = secrets.shape[1]
        self._per_target = [copy.copy(self.classifier) for _ in range(targets - 1)]
        for target, classifier in enumerate(self._classifiers()):
            seen = observations[:, min(target, observations.shape[1] - 1)]
            classifier.fit_features(seen, secrets[:, target], rng=rng)
        self.trained = True
        return self

    def score(self, observations: np.ndarray) -> np.ndarray:
        """Probability of the second secret, or of each, per trial and target."""
        self._check_trained()
        classifiers, seen = self._classifiers(), observations.shape[1]
        targets = max(len(classifiers), seen)
        scores = []
        for target in range(targets):
            classifier = classifiers[min(target, len(classifiers) - 1)]
            probabilities = classifier.probabilities(observations[:, min(target, seen - 1)])
            scores.append(self._arranged(probabilities, list(classifier.classes_)))
        return np.stack(scores, axis=1)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest secret; of equally likely ones the first that the classifier names."""
        self._check_trained()
        classifiers = self._classifiers()
        each = np.stack([1 - scores, scores], axis=-1) if scores.ndim == 2 else scores
        guesses = []
        for target in range(each.shape[1]):
            classes = classifiers[min(target, len(classifiers) - 1)].classes_
            order = self._order(list(classes))
            columns = np.array([_position(order, value) for value in classes])
            likeliest = columns[np.argmax(each[:, target, columns], axis=1)]
            guesses.append(np.array(order)[likeliest])
        return np.stack(guesses, axis=1)

    @property
    def observation_key(self) -> Hashable:
        """Attacks with equal features observe the same."""
        if not self._observes:
            return self
        classifier = self.classifier
        features = classifier.features_ if classifier.learnt_elsewhere else classifier.features
        key = (type(self).observe, type(classifier).observe, features)
        try:
            hash(key)
        except TypeError:
            return self
        return key

    # -- doors -------------------------------------------------------------------------------

    def train(self, threat_model: Any = None, num_samples: int | None = 100) -> None:
        """Learn from simulated releases; what was learnt before is forgotten.

        Parameters
        ----------
        threat_model : LabelInferenceThreatModel, optional
            By default the one used last.
        num_samples : int or None
            Number of training trials; None uses all that are remembered.
        """
        threat_model = self.threat_model if threat_model is None else threat_model
        self._brief(threat_model)
        if isinstance(threat_model.atk_know_gen, NoBoxKnowledge):
            raise IncompatibleAttackError(
                f"{self.label} needs training trials, which a no-box attacker cannot make: use "
                f"an attack with criterion ('threshold', value)"
            )
        self.trained, self._classes, self._per_target = False, None, []
        if self._observes:
            self._prepare_features(threat_model, num_samples)
            observed = threat_model.observe(self, num_samples, training=True)
            self.fit(observed.values, observed.secrets, rng=stream(threat_model.seed))
        else:
            releases, labels = threat_model.generate_training_samples(num_samples)
            self.classifier.fit([_data(release) for release in releases], labels)
            self._classes = np.unique(np.array(labels)).tolist()
        self.trained = True

    def attack(self, datasets: Sequence[Any]) -> np.ndarray:
        """Guess the secret behind each release."""
        self._check_trained()
        if not self._observes:
            return np.asarray(self.classifier.predict([_data(dataset) for dataset in datasets]))
        return self.decide(np.asarray(self.attack_score(datasets))[:, None])[:, 0]

    def attack_score(self, datasets: Sequence[Any]) -> Any:
        """Probability of the second secret, or of each secret if there are more than two."""
        self._check_trained()
        if self._observes:
            self._forget_other_features()
            briefing = self.briefing or Briefing(goal="label")
            return self.score(self._observed(datasets, briefing))[:, 0]
        found = self.classifier.predict_proba([_data(dataset) for dataset in datasets])
        if found is None:
            return None
        probabilities = np.asarray(found, dtype=float)
        if probabilities.ndim == 1:
            return probabilities
        classes = getattr(self.classifier, "classes_", self._classes)
        if classes is None:
            return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
        return self._arranged(probabilities, list(classes))

    @property
    def uses_observations(self) -> bool:
        """Whether releases are observed, rather than handed to a user's classifier or method."""
        return self._observes and super().uses_observations

    @property
    def label(self) -> str:
        """Display name."""
        return self._label

    # -- inside ------------------------------------------------------------------------------

    @property
    def _observes(self) -> bool:
        """Whether the classifier is one of features, with nothing rewritten by a subclass."""
        kind = type(self.classifier)
        return issubclass(kind, FeatureBasedSetClassifier) and all(
            getattr(kind, name) is getattr(FeatureBasedSetClassifier, name)
            for name in _WRITTEN_BY_CLASSIFIERS
        )

    def _classifiers(self) -> list[Any]:
        return [self.classifier, *self._per_target]

    def _check_trained(self) -> None:
        if not self.trained:
            raise NotTrainedError(f"{self.label} is not trained yet: call train() first")

    def _prepare_features(self, threat_model: Any, num_samples: int | None) -> None:
        """Let features learn ranges from the attacker's data, or from some simulated releases."""
        reference: list[Any] = [self.briefing.auxiliary]  # type: ignore[union-attr]
        elsewhere = not isinstance(reference[0], TabularDataset)
        if self.classifier.features.learns and elsewhere:
            wanted = RELEASES_TO_LEARN_RANGES_FROM
            count = wanted if num_samples is None else min(wanted, num_samples)
            releases, _ = threat_model.generate_training_samples(count)
            reference = [_data(release) for release in releases]
        self.classifier.prepare(reference, elsewhere=elsewhere)

    def _forget_other_features(self) -> None:
        """Drop what the doors observed with features that a later fit has replaced."""
        features = self.classifier.ready_features(self.briefing)
        if self.__dict__.get("_observed_features") != features:
            self.__dict__.pop("_observations", None)
        self._observed_features = features

    def _order(self, classes: list[Any]) -> list[Any]:
        """The secrets in the order of scores."""
        goal = "label" if self.briefing is None else self.briefing.goal
        if goal == "membership":
            return [False, True]
        if goal == "attribute":
            return list(self.briefing.attribute_values)  # type: ignore[union-attr]
        return classes

    def _arranged(self, probabilities: np.ndarray, classes: list[Any]) -> np.ndarray:
        """Columns in the order of the secrets, 0 for one never seen; the second of two alone."""
        order = self._order(classes)
        arranged = np.zeros((len(probabilities), len(order)))
        for column, value in enumerate(classes):
            arranged[:, _position(order, value)] = probabilities[:, column]
        return arranged[:, 1] if len(order) == 2 else arranged


def _data(release: Any) -> Any:
    return release.data if isinstance(release, Release) else release


def _position(order: list[Any], value: Any) -> int:
    """Where a secret stands; values that became text in an array are found by their text."""
    for position, known in enumerate(order):
        if known == value:
            return position
    texts = [str(known) for known in order]
    if str(value) not in texts:
        raise IncompatibleAttackError(
            f"the classifier was trained with the label {value!r}, which is not a possible secret "
            f"({order}): train it on this threat model"
        )
    return texts.index(str(value))
