"""What an attack is: a map over releases and a reduce over what was observed."""

from abc import ABC
from collections.abc import Hashable, Sequence
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from tapas._random import stream
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.threat_models import Briefing, LabelInferenceThreatModel, Release

_DOORS = ("attack", "attack_score")


class Attack(ABC):  # noqa: B024 - either the core or the doors are written, so none is abstract
    """Guesses secrets from releases.

    Write either the core or the doors.

    *Core*: `observe` looks at one release and returns a small array for each target; it runs
    where the release is made, in parallel, and its results are remembered. `fit` learns from
    observations with known secrets, `score` turns observations into scores (higher = likelier),
    `decide` turns scores into guesses.

    *Doors*: `train`, `attack` and, if there is a score, `attack_score`, on lists of datasets.
    """

    threat_model: Any = None
    briefing: Briefing | None = None

    # -- core --------------------------------------------------------------------------------

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Look at one release.

        Returns
        -------
        ndarray
            First axis: the targets of the briefing, or length 1 where what is observed does not
            depend on the target.
        """
        raise IncompatibleAttackError(f"{self.label} does not observe releases")

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Learn from observations (trials, targets, ...) and secrets (trials, targets)."""
        return self

    def score(self, observations: np.ndarray) -> np.ndarray:
        """Score per trial and target (and value, if there are more than two)."""
        return observations

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Guess per trial and target."""
        raise IncompatibleAttackError(f"{self.label} has scores but no rule to decide by")

    @property
    def needs_training(self) -> bool:
        """Whether trials with known secrets must be seen before an attack."""
        return _depth(type(self), "fit") is not None

    @property
    def observation_key(self) -> Hashable:
        """Attacks with equal keys observe the same; the work is then done once."""
        return self

    # -- doors -------------------------------------------------------------------------------

    def train(self, threat_model: Any, num_samples: int | None = None) -> Any:
        """Learn from trials that the attacker can simulate."""
        self._brief(threat_model)
        observed = threat_model.observe(self, num_samples, training=True)
        self.fit(observed.values, observed.secrets, rng=stream(threat_model.seed))

    def attack(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """Guess the secret behind each release."""
        scores = np.asarray(self.attack_score(datasets))
        return np.asarray(self.decide(scores[:, None]))[:, 0]

    def attack_score(self, datasets: Sequence[Dataset]) -> Any:
        """Score each release: higher means the positive secret is likelier."""
        if _depth(type(self), "observe") is None:
            return None
        if self.briefing is None:
            raise NotTrainedError(f"{self.label} knows no target yet: call train() first")
        if len(datasets) == 0:
            return np.empty(0)
        return np.asarray(self.score(self._observed(datasets, self.briefing)))[:, 0]

    @property
    def label(self) -> str:
        """Display name."""
        return "Unnamed Attack"

    def __str__(self) -> str:
        return self.label

    # -- which of the two was written --------------------------------------------------------

    @property
    def uses_observations(self) -> bool:
        """Whether `observe` is the truth, rather than a door written by a subclass of it."""
        core = _depth(type(self), "observe")
        return core is not None and all(
            (door := _depth(type(self), name)) is None or core <= door for name in _DOORS
        )

    @property
    def decides_from_scores(self) -> bool:
        """Whether guesses follow from `attack_score` by `decide`."""
        return _depth(type(self), "attack") is None

    def _brief(self, threat_model: Any) -> None:
        if not isinstance(threat_model, LabelInferenceThreatModel):
            raise IncompatibleAttackError(
                f"{self.label} infers labels and needs a LabelInferenceThreatModel such as "
                f"TargetedMIA or TargetedAIA, got {type(threat_model).__name__}"
            )
        self.threat_model = threat_model
        self.briefing = threat_model.briefing()
        self.__dict__.pop("_observations", None)

    def _observed(self, datasets: Sequence[Any], briefing: Briefing) -> np.ndarray:
        """Observe each dataset; one that was observed before costs nothing."""
        observed = self.__dict__.setdefault("_observations", {})
        known = observed.setdefault(self.observation_key, WeakKeyDictionary())
        values = []
        for index, dataset in enumerate(datasets):
            release = dataset if isinstance(dataset, Release) else Release(dataset)
            # Tables never change, datasets may: what was seen belongs to the table.
            key = dataset.table if isinstance(dataset, TabularDataset) else release
            if key not in known:
                known[key] = np.asarray(self.observe(release, briefing, rng=stream(0, index)))
            values.append(known[key])
        return np.stack(values)

    def __getstate__(self) -> dict[str, Any]:
        # An attack travels to where releases are made: without the evaluator's data.
        left_behind = ("threat_model", "_observations")
        return {name: value for name, value in self.__dict__.items() if name not in left_behind}


def _depth(cls: type, method: str) -> int | None:
    """How far up the class tree a method is first written; None if only `Attack` has it."""
    for depth, ancestor in enumerate(cls.__mro__):
        if ancestor is Attack:
            return None
        if method in vars(ancestor):
            return depth
    return None
