"""Attacks that compare a score with a threshold."""

from collections.abc import Hashable
from typing import Any, ClassVar, Self

import numpy as np

from tapas._random import stream
from tapas._validate import listing
from tapas.attacks._base import Attack
from tapas.attacks._criteria import Criterion
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.threat_models import Briefing, NoBoxKnowledge

_THREAT_MODELS = {"membership": "TargetedMIA", "attribute": "TargetedAIA"}


class TrainableThresholdAttack(Attack):
    """Guesses the positive secret wherever a score reaches a threshold.

    A subclass writes the score: either `observe` (one number per target) or the door
    `attack_score`. Where a secret has more than two values, the score has one entry per value
    and the guess is the value with the highest.

    Parameters
    ----------
    criterion : str or tuple
        "accuracy"; ("tp", rate) or ("fp", rate) for a true or false positive rate near a value;
        ("threshold", value), which needs no training. A third entry names the positive label,
        the secret that high scores stand for.
    """

    # What an attack can infer; empty means anything. Scores of an attack that says so stand for
    # membership, or for the last value of the attribute.
    goals: ClassVar[tuple[str, ...]] = ()

    def __init__(self, criterion: Any = "accuracy") -> None:
        self.criterion = Criterion.parse(criterion)
        self.target_criterion = self.criterion.kind
        self.target_value = self.criterion.value
        self.positive_label: Any = self.criterion.positive_label
        self.negative_label: Any = None
        self._threshold: float | None = self._fixed_threshold()

    def train(self, threat_model: Any, num_samples: int | None = None, **kwargs: Any) -> None:
        """Choose the threshold on trials that the attacker can simulate.

        What was learnt before is forgotten. With criterion "threshold" no trial is needed.
        """
        self._brief(threat_model)
        if self.briefing is not None:
            self._check_goal(self.briefing)
        self._train_attack_score(threat_model, num_samples, **kwargs)
        self.positive_label, self.negative_label = self.criterion.positive_label, None
        self._threshold = self._fixed_threshold()
        if self.criterion.kind == "threshold":
            self._name_labels(self._possible_secrets())
            return
        if isinstance(threat_model.atk_know_gen, NoBoxKnowledge):
            raise IncompatibleAttackError(
                f"{self.label} needs training trials, which a no-box attacker cannot make: use "
                f"criterion ('threshold', value)"
            )
        if self.uses_observations:
            observed = threat_model.observe(self, num_samples, training=True)
            values, secrets = observed.values, observed.secrets
        else:
            releases, labels = threat_model.generate_training_samples(num_samples)
            values, secrets = np.asarray(self.attack_score(releases))[:, None], np.array(labels)
            secrets = secrets[:, None]
        self.fit(values, secrets, rng=stream(threat_model.seed))

    def _train_attack_score(
        self, threat_model: Any, num_samples: int | None, **kwargs: Any
    ) -> None:
        """For subclasses whose score itself is trained."""

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Choose the threshold from scored trials with known secrets."""
        self._name_labels(self._possible_secrets() or sorted(set(secrets.ravel().tolist())))
        scores = self.score(observations)
        if scores.ndim == 2:
            positive = secrets == self.positive_label
            if self.criterion.kind != "threshold" and (positive.all() or not positive.any()):
                raise IncompatibleAttackError(
                    f"{self.label} needs training trials with both secrets, got "
                    f"{positive.size} trials with only one of them: ask for more trials"
                )
            self._threshold = self.criterion.threshold(scores.ravel(), positive.ravel())
        return self

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The positive label where the score reaches the threshold, or the likeliest value."""
        if scores.ndim == 3:
            return np.array(self._possible_secrets())[np.argmax(scores, axis=-1)]
        if self._threshold is None or self.positive_label is None:
            raise NotTrainedError(f"{self.label} has no threshold yet: call train() first")
        return np.where(scores >= self._threshold, self.positive_label, self.negative_label)

    def _check_goal(self, briefing: Briefing) -> None:
        """Refuse a threat model that asks for something else than this attack infers."""
        if not self.goals:
            return
        if briefing.goal not in self.goals or briefing.targets is None:
            wanted = " or ".join(_THREAT_MODELS[goal] for goal in self.goals)
            raise IncompatibleAttackError(
                f"{self.label} infers {' or '.join(self.goals)} and needs a {wanted}, got a threat "
                f"model about {briefing.goal!r}"
            )

    def _shared_key(self, *parts: Hashable) -> Hashable:
        """A key for attacks of this class that observe the same; one that cannot be shared if
        a user's part has no hash."""
        try:
            hash(parts)
        except TypeError:
            return self
        return type(self), *parts

    @property
    def needs_training(self) -> bool:
        """Unless the threshold is given."""
        return self.criterion.kind != "threshold"

    def _fixed_threshold(self) -> float | None:
        return self.criterion.value if self.criterion.kind == "threshold" else None

    def _possible_secrets(self) -> list[Any]:
        """The values a secret may have, where the briefing says so."""
        if self.briefing is None:
            return []
        if self.briefing.goal == "membership":
            return [False, True]
        return list(self.briefing.attribute_values)

    def _name_labels(self, possible: list[Any]) -> None:
        """The positive label is the one asked for, else the last; the other is negative."""
        if not possible:
            possible = [False, True]
        if len(possible) > 2:
            return
        if len(possible) < 2:
            raise IncompatibleAttackError(
                f"{self.label} needs training trials with both secrets, got only "
                f"{listing(possible)}: ask for more trials"
            )
        if self.positive_label is None:
            self.positive_label = possible[-1]
        others = [secret for secret in possible if secret != self.positive_label]
        if len(others) != 1:
            raise IncompatibleAttackError(
                f"the positive label {self.positive_label!r} of criterion {self.criterion} is not "
                f"one of {listing(possible)}"
            )
        if self.goals and self.positive_label != possible[-1]:
            raise IncompatibleAttackError(
                f"high scores of {self.label} stand for {possible[-1]!r}, so the positive label "
                f"of criterion {self.criterion} cannot be {self.positive_label!r}: leave it out "
                f"or, for an attribute, put it last in attribute_values"
            )
        self.negative_label = others[0]
