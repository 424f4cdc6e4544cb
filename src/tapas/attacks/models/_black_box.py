"""The attack model: a classifier that reads the audited model's probabilities."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas._validate import check_choice
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import (
    MembershipScorer,
    ModelThresholdAttack,
    model_briefing,
)
from tapas.attacks.models._prediction_features import PredictionFeatures, prediction_vectors
from tapas.attacks.models._score_attacks import enough_of_both
from tapas.errors import ConfigError
from tapas.game import Board, Briefing, Needs, Release
from tapas.models import Access, Classifier

ATTACK_MODELS = ("nn", "rf", "gb", "lr")
MOST_ROWS = 20_000  # an attack model learns nothing more from more
ALL_CLASSES = -1


@dataclass(frozen=True, eq=False)
class AttackModelScorer(MembershipScorer):
    """Probability of membership by an attack model.

    Attributes
    ----------
    threshold : float
    features : callable
        Turns what was observed into inputs.
    models : mapping of int to classifier
        The attack model of each class that has its own, and the one for all others under -1.
    """

    features: Callable[[np.ndarray], np.ndarray]
    models: Mapping[int, Classifier]

    def score(self, values: np.ndarray) -> np.ndarray:
        """Probability of membership."""
        rows = values.reshape(-1, values.shape[-1])
        inputs, codes = self.features(rows), rows[:, 0].astype(int)
        scores = membership_probability(self.models[ALL_CLASSES], inputs)
        for code, model in self.models.items():
            of_class = codes == code
            if of_class.any():
                scores[of_class] = membership_probability(model, inputs[of_class])
        return scores.reshape(values.shape[:-1])


class BlackBoxMIA(ModelThresholdAttack):
    """Learns to tell the model's answers on members from its answers on non-members.

    Idea: a classifier is trained on (probabilities, true class) of records whose membership is
    known: known records on the audited model, or every record on shadow models.

    Needs: scores, one query per record, known records or shadow models.

    Score: the attack model's probability of membership.

    Reference: Shokri, Stronati, Song and Shmatikov (2017).

    Parameters
    ----------
    attack_model : {"nn", "rf", "gb", "lr"} or scikit-learn classifier
        A neural network, a random forest, gradient boosting, or logistic regression.
    per_class : bool
        One attack model per class, where a class has enough records; otherwise the class is an
        input of the one attack model.
    criterion, label
        As in `ModelThresholdAttack`.
    """

    observation_depends_on: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        attack_model: str | Classifier = "nn",
        *,
        per_class: bool = False,
        criterion: CriterionLike = ("threshold", 0.5),
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, label=label)
        if isinstance(attack_model, str):
            check_choice(attack_model, "attack_model", ATTACK_MODELS)
        elif isinstance(attack_model, type) or not hasattr(attack_model, "fit"):
            raise ConfigError(
                f"attack_model must be one of {', '.join(ATTACK_MODELS)} or a scikit-learn "
                f"classifier, got {attack_model!r}"
            )
        self.attack_model = attack_model
        self.by_class = per_class

    def _default_label(self) -> str:
        name = self.attack_model
        name = name if isinstance(name, str) else type(name).__name__
        return f"{type(self).__name__}({name}{', per class' if self.by_class else ''})"

    @property
    def needs(self) -> Needs:
        """Scores, and known records or shadow models, whatever fixes the threshold."""
        return Needs("model", ("membership",), access=Access.SCORES)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """The true class and all probabilities of each record."""
        return prediction_vectors(release.model, model_briefing(briefing).targets)

    def fit(self, board: Board, *, rng: np.random.Generator) -> AttackModelScorer:
        """Train the attack model, one for all classes and maybe one for each."""
        known = board.rehearsal
        members = known.secrets.astype(bool).ravel()
        rows = known.values.reshape(-1, known.values.shape[-1])
        if len(rows) > MOST_ROWS:
            chosen = rng.permutation(len(rows))[:MOST_ROWS]
            rows, members = rows[chosen], members[chosen]
        self._refuse_one_kind(members)
        features = self._features(rows)
        models = self._attack_models(features(rows), rows[:, 0].astype(int), members, rng)
        if self._fixed_threshold is not None:
            return AttackModelScorer(self._fixed_threshold, features, models)
        scorer = AttackModelScorer(np.nan, features, models)
        return replace(scorer, threshold=self._chosen_threshold(scorer.score(rows), members))

    def _features(self, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return PredictionFeatures.learn(rows)

    def _attack_models(
        self, inputs: np.ndarray, codes: np.ndarray, members: np.ndarray, rng: np.random.Generator
    ) -> dict[int, Classifier]:
        models = {ALL_CLASSES: self._fitted(inputs, members, rng)}
        for code in np.unique(codes) if self.by_class else ():
            of_class = codes == code
            if enough_of_both(members[of_class]):
                models[int(code)] = self._fitted(inputs[of_class], members[of_class], rng)
        return models

    def _fitted(
        self, inputs: np.ndarray, members: np.ndarray, rng: np.random.Generator
    ) -> Classifier:
        import threadpoolctl

        model = seeded_clone(self._unfitted(len(inputs)), rng)
        with warnings.catch_warnings(), threadpoolctl.threadpool_limits(1):
            # A network that stops at its number of passes has learnt enough here.
            warnings.filterwarnings("ignore", message=".*Maximum iterations.*")
            warnings.filterwarnings("ignore", message=".*failed to converge.*")
            return model.fit(inputs, members)

    def _unfitted(self, num_rows: int) -> Classifier:
        if not isinstance(self.attack_model, str):
            return self.attack_model
        if self.attack_model == "nn":
            return _network(num_rows)
        if self.attack_model == "rf":
            from sklearn.ensemble import RandomForestClassifier

            return RandomForestClassifier(
                100, min_samples_leaf=_leaf(num_rows), max_features="sqrt", max_samples=0.5
            )
        if self.attack_model == "gb":
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(
                max_iter=60,
                learning_rate=0.05,
                max_leaf_nodes=8,
                min_samples_leaf=_leaf(num_rows),
                early_stopping=False,
            )
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=0.1, max_iter=300)


def _network(num_rows: int) -> Classifier:
    """Small networks with a strong penalty, averaged: known records are few."""
    from sklearn.ensemble import BaggingClassifier
    from sklearn.neural_network import MLPClassifier

    passes = int(np.clip(40_000 // max(num_rows, 1), 6, 40))
    network = MLPClassifier(
        (32,),
        alpha=0.1,
        batch_size=64 if num_rows < 2_000 else 256,
        learning_rate_init=5e-3,
        max_iter=passes,
    )
    return BaggingClassifier(network, n_estimators=3, bootstrap=False)


def _leaf(num_rows: int) -> int:
    return int(np.clip(num_rows // 100, 10, 50))


def membership_probability(model: Classifier, inputs: np.ndarray) -> np.ndarray:
    """Probability of the class True, wherever its column stands."""
    column = int(np.flatnonzero(np.asarray(model.classes_) == 1)[0])
    return np.asarray(model.predict_proba(inputs))[:, column].copy()
