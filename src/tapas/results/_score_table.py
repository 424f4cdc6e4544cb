"""The one result of an attack: scores, decisions and secrets of releases x targets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tapas.errors import ConfigError
from tapas.game import (
    MEMBERSHIP,
    CountsRightGuesses,
    DrawsValues,
    Game,
    Goal,
    Judgement,
    Relation,
    Value,
)
from tapas.results._inference import AIAttackSummary, BinaryAIAttackSummary, MIAttackSummary
from tapas.results._label_inference import (
    About,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.stats import Dependence

__all__ = ["ALL_TARGETS", "ScoreTable"]

ALL_TARGETS = "all"


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """What an attack said of each target in each release, beside what was true.

    Summaries are views of it, and their dependence follows from its shape: the targets of one
    release depend on each other, the releases of one group share their background.

    Attributes
    ----------
    scores : ndarray, (releases, targets) or (releases, targets, values), or None
        Higher means likelier; the last axis has the order of ``goal.values``.
    decisions, secrets : ndarray, (releases, targets)
        Guessed and true values.
    groups : ndarray of int, (releases,)
        Equal numbers mark releases that share their background.
    targets : tuple of str
        Display names.
    goal : Goal
    relation : {"add/remove", "replace"}, optional
        Which neighbours were played.
    mechanism, attack, data : str
        Display names.
    coins : bool
        Whether each target was put into each release by a fair coin of its own.
    inputs_alone : ndarray, (targets,) or (targets, values), optional
        What the inputs tell of each secret without the release, where there is one release.
    chance : float, optional
        How often the best guess without the release is right, where secrets were drawn so.
    """

    scores: np.ndarray | None
    decisions: np.ndarray
    secrets: np.ndarray
    groups: np.ndarray
    targets: tuple[str, ...]
    goal: Goal
    relation: Relation | None = None
    mechanism: str = ""
    attack: str = ""
    data: str = ""
    coins: bool = False
    inputs_alone: np.ndarray | None = None
    chance: float | None = None

    @classmethod
    def of_game(
        cls, game: Game, attack: str, targets: slice, judged: Sequence[Judgement]
    ) -> "ScoreTable":
        """What an attack said of some targets of a game, in one go or look by look."""
        scores = [one.scores for one in judged if one.scores is not None]
        table = cls(
            scores=np.concatenate(scores) if len(scores) == len(judged) else None,
            decisions=np.concatenate([one.decisions for one in judged]),
            secrets=np.concatenate([one.board.secrets for one in judged]),
            groups=np.concatenate([one.board.groups for one in judged]),
            targets=game.target_labels[targets],
            goal=game.goal,
            relation=game.relation,
            mechanism=game.label,
            attack=attack,
            data=game.data_label,
            coins=game.setting.coins,
            inputs_alone=game.inputs_alone,
            chance=game.commonest_share if isinstance(game, DrawsValues) else None,
        )
        used = game.right_guesses_of if isinstance(game, CountsRightGuesses) else None
        return table if used is None else table._of_right_guesses(used[targets])

    def _of_right_guesses(self, used: np.ndarray) -> "ScoreTable":
        """Whether a right guess tells records that were used from others."""
        right = self.decisions == self.secrets
        return replace(
            self,
            scores=right.astype(float),
            decisions=right,
            secrets=np.broadcast_to(used, right.shape),
            goal=MEMBERSHIP,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "decisions", np.asarray(self.decisions))
        object.__setattr__(self, "secrets", np.asarray(self.secrets))
        object.__setattr__(self, "groups", np.asarray(self.groups))
        object.__setattr__(self, "targets", tuple(self.targets))
        shape = (len(self.groups), len(self.targets))
        for name, array in (("decisions", self.decisions), ("secrets", self.secrets)):
            if array.shape != shape:
                raise ConfigError(
                    f"{name} must have one row per release and one column per target, {shape}, "
                    f"got shape {array.shape}"
                )
        if self.groups.ndim != 1 or (self.groups.size and self.groups.dtype.kind not in "iu"):
            raise ConfigError(
                "groups must be one integer per release, got shape "
                f"{self.groups.shape} of {self.groups.dtype}"
            )
        object.__setattr__(self, "scores", self._checked_scores(shape))

    @property
    def num_releases(self) -> int:
        """How many releases were attacked."""
        return len(self.groups)

    def with_failures(
        self, places: np.ndarray, secrets: np.ndarray, groups: np.ndarray, guesses: np.ndarray
    ) -> "ScoreTable":
        """The same with releases that never came: an outcome that an attacker sees like any other.

        Parameters
        ----------
        places : ndarray of int
            Before which of the releases each of them belongs.
        secrets, groups : ndarray
            What was true, (failures, targets) and (failures,).
        guesses : ndarray of object, (targets,)
            What a failure is taken for, for each target; None where it says nothing. It then has
            the lowest score of all; the highest where it is taken for the positive secret.
        """
        silent = np.array([self._negative if one is None else one for one in guesses])
        rows = np.tile(silent.astype(self.decisions.dtype), (len(places), 1))
        scores = self.scores
        if scores is not None:
            told = np.array([one is not None and one != self._negative for one in guesses])
            lowest = np.where(told, np.inf, -np.inf)
            shape = (len(places), *scores.shape[1:])
            if scores.ndim == 3:
                lowest = np.full(shape[1:], -np.inf)
                for column, value in enumerate(self.goal.values):
                    lowest[:, column][np.array([one == value for one in guesses])] = np.inf
            scores = np.insert(scores, places, np.broadcast_to(lowest, shape), axis=0)
        return replace(
            self,
            scores=scores,
            decisions=np.insert(self.decisions, places, rows, axis=0),
            secrets=np.insert(self.secrets, places, secrets, axis=0),
            groups=np.insert(self.groups, places, groups),
        )

    @property
    def _negative(self) -> Value:
        return self.goal.values[0] if self.goal.values else False

    def of_target(self, position: int) -> LabelInferenceAttackSummary:
        """The summary of one target: a trial for each release."""
        if not 0 <= position < len(self.targets):
            raise ConfigError(f"there are {len(self.targets)} targets, got position {position}")
        scores = None if self.scores is None else self.scores[:, position]
        return self._summary(
            self.secrets[:, position],
            self.decisions[:, position],
            scores,
            groups=self.groups,
            dependence=Dependence.UNRELATED if self.goal.kind == "property" else None,
            target_id=self.targets[position],
        )

    def pooled(self) -> LabelInferenceAttackSummary:
        """One summary of all cells, release by release."""
        if len(self.targets) == 1:
            return self.of_target(0)
        scores = self.scores
        if scores is not None:
            scores = scores.reshape(self.secrets.size, *scores.shape[2:])
        return self._summary(
            self.secrets.reshape(-1),
            self.decisions.reshape(-1),
            scores,
            groups=np.repeat(self.groups, len(self.targets)),
            dependence=self._pooled_dependence(),
            target_id=ALL_TARGETS,
        )

    def summaries(self) -> tuple[LabelInferenceAttackSummary, ...]:
        """One per target; one of all together where they share one release, or are coins."""
        if self.coins or (self.num_releases == 1 and len(self.targets) > 1):
            return (self.pooled(),)
        return tuple(self.of_target(position) for position in range(len(self.targets)))

    def _pooled_dependence(self) -> Dependence:
        if self.coins:
            return Dependence.COINS
        return Dependence.ONE_RELEASE if self.num_releases == 1 else Dependence.GROUPS

    def _checked_scores(self, shape: tuple[int, int]) -> np.ndarray | None:
        if self.scores is None:
            return None
        scores = np.asarray(self.scores, dtype=np.float64)
        values = len(self.goal.values)
        if scores.shape == shape:
            return scores
        if scores.ndim != 3 or scores.shape[:2] != shape or values not in (0, scores.shape[2]):
            last = f" or {(*shape, values)}" if values else " and at most one more axis"
            raise ConfigError(
                f"scores must have shape {shape}{last}, one cell per release and target, got "
                f"{scores.shape}"
            )
        return scores[:, :, 1] if self._is_binary else scores

    @property
    def _is_binary(self) -> bool:
        if self.goal.kind in ("attribute", "property"):
            return self.goal.is_binary
        return self.goal.kind != "label" or self._is_boolean

    @property
    def _is_boolean(self) -> bool:
        values = self.goal.values or tuple(np.unique(self.secrets).tolist())
        return len(values) <= 2 and all(isinstance(value, bool) for value in values)

    def _summary(
        self,
        secrets: np.ndarray,
        decisions: np.ndarray,
        scores: np.ndarray | None,
        *,
        groups: np.ndarray,
        dependence: Dependence | None,
        target_id: str,
    ) -> LabelInferenceAttackSummary:
        # Of one release, where a summary covers all of its targets.
        alone = self.inputs_alone if dependence is Dependence.ONE_RELEASE else None
        about: About = {
            "groups": groups,
            "relation": self.relation,
            "dependence": dependence,
            "generator_info": self.mechanism,
            "attack_info": self.attack,
            "dataset_info": self.data,
            "target_id": target_id,
            "inputs_alone": alone,
            "chance": self.chance,
        }
        outcomes = (secrets, decisions, scores)
        if self.goal.kind == "membership":
            return MIAttackSummary(*outcomes, **about)
        if self.goal.kind == "attribute" or (self.goal.kind == "property" and not self._is_binary):
            values = self.goal.values or None
            attribute = BinaryAIAttackSummary if self._is_binary else AIAttackSummary
            return attribute(
                *outcomes,
                sensitive_attribute="" if self.goal.attribute is None else self.goal.attribute,
                attribute_values=values,
                **about,
            )
        if self._is_binary:
            return BinaryLabelInferenceAttackSummary(*outcomes, True, **about)
        return LabelInferenceAttackSummary(*outcomes, **about)
