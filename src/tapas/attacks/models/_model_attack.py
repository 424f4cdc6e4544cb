"""What attacks on trained models have in common: they ask the model, then decide by a threshold."""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from tapas._random import stream
from tapas.attacks._base import Attack
from tapas.attacks._criteria import Criterion
from tapas.attacks.models._score_statistics import CLASS, score_statistics
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.models import as_model
from tapas.threat_models import Release
from tapas.threat_models._model_game import FITTING, ModelNeeds

FEW_RECORDS = 10  # of either secret: a class with fewer has no threshold of its own


class ModelAttack(Attack):
    """An attack on the records that a model was trained on.

    A subclass writes `observe` (asks the model; one row per record), `fit` and `score`.
    """

    needs: ModelNeeds = ModelNeeds()

    def __init__(self, label: str | None = None) -> None:
        self._label = label

    @property
    def label(self) -> str:
        """Display name."""
        return self._label or self._default_label()

    def _default_label(self) -> str:
        return type(self).__name__

    def train(self, threat_model: Any, num_samples: int | None = None) -> None:
        """Learn from the known records, or from the shadow models of the threat model.

        `num_samples` limits the number of shadow models. What was learnt before is forgotten.
        """
        self._brief(threat_model)
        if not self.needs.training:
            return
        observed = threat_model.observe(self, num_samples, training=True)
        self.fit(observed.values, observed.secrets, rng=self._fitting_rng(threat_model))

    def attack_score(self, datasets: Sequence[Any]) -> np.ndarray:
        """Score the judged records on other models: (models, records)."""
        if self.briefing is None:
            raise NotTrainedError(f"{self.label} knows no records yet: call train() first")
        seen = [
            self.observe(
                Release(as_model(model).restricted(self.needs.access)),
                self.briefing,
                rng=stream(0, index),
            )
            for index, model in enumerate(datasets)
        ]
        return np.asarray(self.score(np.stack(seen)))

    def attack(self, datasets: Sequence[Any]) -> np.ndarray:
        """Guess who of the judged records other models were trained on: (models, records)."""
        return np.asarray(self.decide(self.attack_score(datasets)))

    def _brief(self, threat_model: Any) -> None:
        if not hasattr(threat_model, "check") or not hasattr(threat_model, "briefing"):
            raise IncompatibleAttackError(
                f"{self.label} attacks trained models and needs a ModelMIA, got "
                f"{type(threat_model).__name__}"
            )
        threat_model.check(self)
        self.threat_model = threat_model
        self.briefing = threat_model.briefing()

    def _fitting_rng(self, threat_model: Any) -> np.random.Generator:
        return stream(threat_model.seed, FITTING)


class ModelThresholdAttack(ModelAttack):
    """Guesses "member" where a score of the record reaches a threshold.

    A subclass writes `raw_score`, higher meaning likelier a member, and `observe` where the
    statistics of the model's probabilities are not what it looks at.

    Parameters
    ----------
    criterion : str or tuple
        How the threshold is chosen: "accuracy", ("tp", rate), ("fp", rate), or
        ("threshold", value), which needs no training.
    per_class : bool
        Whether each class has a threshold of its own. Scores are then relative to it; a class
        with few known records keeps the global one.
    label : str, optional
    """

    def __init__(
        self, criterion: Any = "accuracy", *, per_class: bool = False, label: str | None = None
    ) -> None:
        super().__init__(label)
        self.criterion = Criterion.parse(criterion)
        self.per_class = per_class
        self._thresholds: dict[int, float] = {}
        self._threshold: float | None = self._given_threshold()
        if self._threshold is not None:
            self.needs = ModelNeeds(self.needs.access, training=False)

    def _default_label(self) -> str:
        classes = ", per class" if self.per_class else ""
        return f"{type(self).__name__}({self.criterion}{classes})"

    def _given_threshold(self) -> float | None:
        return self.criterion.value if self.criterion.kind == "threshold" else None

    @abstractmethod
    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """Score of each observed record, (models, records)."""

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Ask the model for the probabilities of every record once."""
        return score_statistics(release.data, briefing.targets)

    @property
    def observation_key(self) -> Hashable:
        """All attacks that read these statistics share them."""
        return "score statistics"

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Choose the thresholds on records whose membership is known."""
        raw = self.raw_score(observations)
        self._choose_threshold(raw, secrets)
        self._thresholds = {}
        if self.per_class and self._given_threshold() is None:
            classes = observations[..., CLASS].astype(int)
            for code in np.unique(classes):
                of_class = classes == code
                members = secrets[of_class]
                if min(members.sum(), (~members).sum()) >= FEW_RECORDS:
                    self._thresholds[int(code)] = self.criterion.threshold(raw[of_class], members)
        return self

    def score(self, observations: np.ndarray) -> np.ndarray:
        """The raw score, relative to the threshold of the record's class where there is one."""
        raw = self.raw_score(observations)
        if not self._thresholds or self._threshold is None:
            return raw
        codes = observations[..., CLASS].astype(int)
        own = np.full(max(codes.max(), *self._thresholds) + 1, self._threshold)
        own[list(self._thresholds)] = list(self._thresholds.values())
        return raw - own[codes] + self._threshold

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Member where the score reaches the threshold."""
        if self._threshold is None:
            raise NotTrainedError(f"{self.label} has no threshold yet: call train() first")
        return scores >= self._threshold

    def _choose_threshold(self, scores: np.ndarray, secrets: np.ndarray) -> None:
        """Choose the global threshold from scores with known secrets."""
        if self._given_threshold() is None:
            self._check_both_kinds(secrets)
        members = np.asarray(secrets, dtype=bool)
        self._threshold = self.criterion.threshold(scores.ravel(), members.ravel())

    def _check_both_kinds(self, secrets: np.ndarray) -> None:
        if secrets.all() or not secrets.any():
            raise IncompatibleAttackError(
                f"{self.label} needs both members and non-members to learn from, got "
                f"{secrets.size} records of one kind"
            )
