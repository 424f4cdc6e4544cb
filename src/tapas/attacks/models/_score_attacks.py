"""Attacks that compare one number, read from the model's probabilities, with a threshold."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._model_attack import MembershipScorer, ModelThresholdAttack
from tapas.attacks.models._score_statistics import (
    CLASS,
    ENTROPY,
    LARGEST,
    MODIFIED,
    SMALLEST,
    TRUE,
)
from tapas.game import Board

FEW_RECORDS = 10  # of either secret: a class with fewer has no threshold of its own


@dataclass(frozen=True, eq=False)
class StatisticScorer(MembershipScorer):
    """A statistic of each record, relative to the threshold of its class where there is one.

    Attributes
    ----------
    threshold : float
    raw_score : callable
    of_classes : mapping of int to float
        Thresholds of classes that have one of their own.
    """

    raw_score: Callable[[np.ndarray], np.ndarray]
    of_classes: Mapping[int, float]

    def score(self, values: np.ndarray) -> np.ndarray:
        """The raw score, shifted so that the threshold is the same for all classes."""
        raw = self.raw_score(values)
        if not self.of_classes:
            return raw
        codes = values[..., CLASS].astype(int)
        own = np.full(max(codes.max(), *self.of_classes) + 1, self.threshold)
        own[list(self.of_classes)] = list(self.of_classes.values())
        return raw - own[codes] + self.threshold


class StatisticAttack(ModelThresholdAttack):
    """Guesses "member" where one statistic of the model's probabilities is high.

    A subclass writes `raw_score`.

    Parameters
    ----------
    criterion, label
        As in `ModelThresholdAttack`.
    per_class : bool
        Whether each class has a threshold of its own. Scores are then relative to it; a class
        with few known records keeps the global one.
    """

    def __init__(
        self,
        criterion: CriterionLike = "accuracy",
        *,
        per_class: bool = False,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, label=label)
        self.per_class = per_class

    def _default_label(self) -> str:
        classes = ", per class" if self.per_class else ""
        return f"{type(self).__name__}({self.criterion}{classes})"

    @staticmethod
    @abstractmethod
    def raw_score(values: np.ndarray) -> np.ndarray:
        """Score of each observed record, (models, records); higher means likelier a member."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> StatisticScorer:
        """Choose the thresholds on records whose membership is known."""
        if self._fixed_threshold is not None:
            return StatisticScorer(self._fixed_threshold, self.raw_score, {})
        known = board.rehearsal
        raw, members = self.raw_score(known.values), known.secrets.astype(bool)
        threshold = self._chosen_threshold(raw, members)
        of_classes = {}
        if self.per_class:
            codes = known.values[..., CLASS].astype(int)
            of_classes = self._class_thresholds(raw, members, codes)
        return StatisticScorer(threshold, self.raw_score, of_classes)

    def _class_thresholds(
        self, raw: np.ndarray, members: np.ndarray, codes: np.ndarray
    ) -> dict[int, float]:
        return {
            int(code): self.criterion.threshold(raw[codes == code], members[codes == code])
            for code in np.unique(codes)
            if enough_of_both(members[codes == code])
        }


class LossMIA(StatisticAttack):
    """Guesses "member" where the loss of the true class is small.

    Idea: training makes the loss of training records small.

    Needs: scores, one query per record, known records or shadow models for the threshold.

    Score: ln p_y.

    Reference: Yeom, Giacomelli, Fredrikson and Jha (2018).
    """

    @staticmethod
    def raw_score(values: np.ndarray) -> np.ndarray:
        """ln p_y."""
        return np.log(np.maximum(values[..., TRUE], SMALLEST))


class ConfidenceMIA(StatisticAttack):
    """Guesses "member" where the model is sure of its prediction, right or wrong.

    Idea: models are more confident on what they were trained on.

    Needs: scores, one query per record; does not use the true class unless thresholds are per
    class.

    Score: max_c p_c.

    Reference: Salem et al. (2019).
    """

    @staticmethod
    def raw_score(values: np.ndarray) -> np.ndarray:
        """The largest probability."""
        return values[..., LARGEST]


class EntropyMIA(StatisticAttack):
    """Guesses "member" where the prediction has little entropy.

    Idea: as `ConfidenceMIA`, with all probabilities.

    Needs: scores, one query per record; does not use the true class unless thresholds are per
    class.

    Score: sum_c p_c ln p_c.

    Reference: Shokri et al. (2017); Yeom et al. (2018).
    """

    @staticmethod
    def raw_score(values: np.ndarray) -> np.ndarray:
        """Negative entropy."""
        return values[..., ENTROPY]


class ModifiedEntropyMIA(StatisticAttack):
    """Guesses "member" where the entropy with respect to the true class is small.

    Idea: a sure and wrong prediction should look unlike a member, which plain entropy misses.

    Needs: scores, one query per record.

    Score: (1 - p_y) ln p_y + sum over c != y of p_c ln(1 - p_c).

    Reference: Song and Mittal (2021).
    """

    @staticmethod
    def raw_score(values: np.ndarray) -> np.ndarray:
        """Negative modified entropy."""
        return values[..., MODIFIED]


def enough_of_both(members: np.ndarray) -> bool:
    """Whether there are enough members and non-members to learn from."""
    return min(members.sum(), (~members).sum()) >= FEW_RECORDS
