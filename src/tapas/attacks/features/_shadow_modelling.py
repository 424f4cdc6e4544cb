"""Shadow modelling: learn to tell secrets from simulated releases."""

import copy
from collections.abc import Mapping, Sequence

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks.features._set_classifiers import (
    FeatureBasedSetClassifier,
    FeatureModel,
    SetClassifier,
)
from tapas.attacks.features._set_features import SetFeature
from tapas.attacks.features._shadow_scorer import (
    FeatureObserver,
    ShadowScorer,
    arranged,
    position_of,
    released_data,
)
from tapas.compat import GameThreatModel, ThreatModel, TrainableThreatModel
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError
from tapas.game import (
    Board,
    Briefing,
    MethodObserver,
    Needs,
    Observer,
    Release,
    Samples,
    TableBriefing,
    Value,
    refuse_unfit,
)

__all__ = ["ShadowModellingAttack"]

RELEASES_TO_LEARN_RANGES_FROM = 10
USUAL_TRIALS = 100
_WRITTEN_BY_CLASSIFIERS = ("fit", "predict", "predict_proba")
_LEARNT = ("trained", "_known_model", "_known_classes")


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
        Holds what `train` learnt last.
    trained : bool
        Set it to use a classifier that was fitted directly.
    threat_model : LabelInferenceThreatModel or None
        The one trained on last.
    """

    trained: bool = False
    # What the classifier was fitted to by `train`; another one was fitted directly.
    _known_model: FeatureModel | None = None
    _known_classes: list[Value] | None = None

    def __init__(self, classifier: SetClassifier, label: str | None = None) -> None:
        if not isinstance(classifier, SetClassifier):
            raise ConfigError(
                f"classifier must be a SetClassifier, got {classifier!r}; for a scikit-learn "
                f"classifier use FeatureBasedSetClassifier(features, classifier)"
            )
        self.classifier = classifier
        self._label = label or f"ShadowModelling({classifier.label})"

    # -- core --------------------------------------------------------------------------------

    @property
    def needs(self) -> Needs:
        """Many releases whose secrets are known."""
        return Needs(training=True, many_releases=True)

    def observer(self, briefing: Briefing, samples: Samples) -> Observer:
        """The features, with ranges of the attacker's data or else of some simulated releases."""
        features = self._with_features.features
        if features.learns:
            features = features.fitted_to(_to_learn_from(briefing, samples))
        if type(self).observe is ShadowModellingAttack.observe:
            return FeatureObserver(features)
        return MethodObserver(self._observing(features), self._depends_on())

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Features of the release."""
        features = self._with_features.features
        if features.learns:
            held = _table_held(briefing)
            if held is None:
                raise NotTrainedError(
                    f"{features.label} learns ranges from data and is told of none: use the "
                    f"attack's observer, or give fixed bounds"
                )
            features = features.fitted_to([held])
        return features.observe(released_data(release), briefing)

    def fit(self, board: Board, *, rng: np.random.Generator) -> ShadowScorer:
        """Learn from observed features with known secrets."""
        features = board.values.reshape(*board.values.shape[:2], -1)
        spread = np.broadcast_to(features, (*board.secrets.shape, features.shape[-1]))
        model = self._with_features.learn(
            spread.reshape(board.secrets.size, -1), board.secrets.ravel(), rng=rng
        )
        return ShadowScorer(model, board.goal.values or tuple(model.classes.tolist()))

    # -- doors -------------------------------------------------------------------------------

    @property
    def writes_doors(self) -> bool:
        """Whether a subclass or the classifier is asked, rather than what was observed."""
        return super().writes_doors or self._asks_classifier

    @property
    def learns_from_own_scores(self) -> bool:
        """Scores of a subclass are made of what was learnt from features."""
        return False

    def train(
        self, threat_model: ThreatModel | None = None, num_samples: int | None = USUAL_TRIALS
    ) -> None:
        """Learn from simulated releases; what was learnt before is forgotten.

        Parameters
        ----------
        threat_model : LabelInferenceThreatModel, optional
            By default the one used last.
        num_samples : int or None
            Number of training trials; None uses all that are remembered. Where there is a given
            number of them, at most that many are used unless more are asked for.
        """
        chosen = self.threat_model if threat_model is None else threat_model
        if not isinstance(chosen, TrainableThreatModel):
            raise IncompatibleAttackError(
                f"{self.label} learns from simulated releases: give a threat model that has them, "
                f"such as TargetedMIA, got {chosen!r}"
            )
        self.trained = False
        if num_samples == USUAL_TRIALS and isinstance(chosen, GameThreatModel):
            num_samples = min(num_samples, chosen.game.rounds("train") or num_samples)
        if self._observes:
            super().train(chosen, num_samples)
            self._hand_over()
        else:
            self._train_classifier(chosen, num_samples)
        self.trained = True

    def attack(self, datasets: Sequence[object]) -> np.ndarray:
        """Guess the secret behind each release."""
        self._check_trained()
        if not self._asks_classifier:
            return super().attack(datasets)
        guesses = np.asarray(
            self.classifier.predict([released_data(dataset) for dataset in datasets])
        )
        if not self._observes:
            return guesses
        secrets = self._secrets(self._with_features.classes_.tolist())
        return np.array(secrets)[[position_of(guess, secrets) for guess in guesses]]

    def attack_score(self, datasets: Sequence[object]) -> np.ndarray | None:
        """Probability of the second secret, or of each secret if there are more than two."""
        self._check_trained()
        if not self._asks_classifier:
            return super().attack_score(datasets)
        found = self.classifier.predict_proba([released_data(dataset) for dataset in datasets])
        if found is None:
            return None
        probabilities = np.asarray(found, dtype=float)
        classes = getattr(self.classifier, "classes_", self._known_classes)
        if probabilities.ndim == 1:
            return probabilities
        if classes is None:
            return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
        return arranged(probabilities, classes, self._secrets(classes))

    # -- inside ------------------------------------------------------------------------------

    @property
    def _observes(self) -> bool:
        """Whether the classifier is one of features, with nothing rewritten by a subclass."""
        kind = type(self.classifier)
        return issubclass(kind, FeatureBasedSetClassifier) and all(
            getattr(kind, name) is getattr(FeatureBasedSetClassifier, name)
            for name in _WRITTEN_BY_CLASSIFIERS
        )

    @property
    def _asks_classifier(self) -> bool:
        """Whether the classifier gets whole releases: it is a user's own, or fitted directly."""
        return not self._observes or (self.trained and self._model is not self._known_model)

    @property
    def _with_features(self) -> FeatureBasedSetClassifier:
        if not isinstance(self.classifier, FeatureBasedSetClassifier):
            raise IncompatibleAttackError(
                f"{self.classifier.label} classifies whole datasets and has no features to observe"
            )
        return self.classifier

    @property
    def _model(self) -> FeatureModel | None:
        return self._with_features.model

    def _observing(self, features: SetFeature) -> "ShadowModellingAttack":
        """A copy that observes these features and has learnt nothing."""
        twin = copy.copy(self)
        twin.classifier = self._with_features.with_features(features)
        for name in _LEARNT:
            twin.__dict__.pop(name, None)
        return twin

    def _train_classifier(
        self, threat_model: TrainableThreatModel, num_samples: int | None
    ) -> None:
        """Hand whole releases to a classifier of the user's own."""
        game = self._prepare(threat_model).game
        refuse_unfit(self.needs, self.label, game.setting)
        self.briefing = game.briefing("test")
        releases, labels = threat_model.generate_training_samples(num_samples)
        self.classifier.fit([released_data(release) for release in releases], labels)
        self._known_classes = np.unique(np.array(labels)).tolist()

    def _hand_over(self) -> None:
        """Let the classifier itself classify datasets as the attack does."""
        learnt = self._trained
        observer, scorer = (None, None) if learnt is None else (learnt.observer, learnt.scorer)
        if isinstance(observer, FeatureObserver) and isinstance(scorer, ShadowScorer):
            self._with_features.adopt(observer.features, scorer.model)
        self._known_model = self._model

    def __spec__(self) -> Mapping[str, object]:
        return {name: value for name, value in super().__spec__().items() if name not in _LEARNT}

    def _check_trained(self) -> None:
        if not self.trained:
            raise NotTrainedError(f"{self.label} is not trained yet: call train() first")

    def _secrets(self, classes: Sequence[Value]) -> tuple[Value, ...]:
        """The secrets in the order of scores."""
        told = () if self.briefing is None else self.briefing.goal.values
        return told or tuple(classes)


def _table_held(briefing: Briefing) -> TabularDataset | None:
    """The attacker's data, if it is a table."""
    held = briefing.auxiliary if isinstance(briefing, TableBriefing) else None
    return held if isinstance(held, TabularDataset) else None


def _to_learn_from(briefing: Briefing, samples: Samples) -> list[Dataset]:
    held = _table_held(briefing)
    if held is not None:
        return [held]
    return [released_data(release) for release in samples(RELEASES_TO_LEARN_RANGES_FROM)]
