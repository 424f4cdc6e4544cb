"""Membership from labels alone: records that a model was trained on lie deep inside their class."""

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas._validate import check_choice, check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._label_queries import LabelQueries
from tapas.attacks.models._model_attack import (
    MembershipScorer,
    ModelThresholdAttack,
    model_briefing,
)
from tapas.attacks.models._noise_robustness import SCALES
from tapas.attacks.models._own_models import NUM_OWN_MODELS
from tapas.errors import TapasWarning
from tapas.game import Board, Briefing, Needs, Release
from tapas.metrics import auc
from tapas.models import Access, Classifier

FOLDS = 5
FEWEST_DRAWS = 8  # noisy copies of one strength that a walk leaves queries for, or none
SHORTEST = 1e-6  # below, a distance is as good as none
RIGHT, DISTANCE = 0, 1  # places of what was observed; with noise alone, shares follow at once


@dataclass(frozen=True, eq=False)
class RightAndMore:
    """Logistic regression on a first column of 0 and 1, and on the others where it is 1.

    Attributes
    ----------
    centre, spread : ndarray
        Of the other columns.
    model : classifier
    """

    centre: np.ndarray
    spread: np.ndarray
    model: Classifier

    @classmethod
    def learn(cls, inputs: np.ndarray, members: np.ndarray) -> "RightAndMore":
        """Learn from records with known membership."""
        from sklearn.linear_model import LogisticRegression

        right = inputs[inputs[:, 0] > 0, 1:]
        centre, spread = np.zeros(inputs.shape[1] - 1), np.ones(inputs.shape[1] - 1)
        if len(right):
            centre, spread = right.mean(axis=0), right.std(axis=0)
            spread[spread == 0] = 1.0
        unfitted = cls(centre, spread, LogisticRegression(max_iter=500))
        unfitted.model.fit(unfitted._prepared(inputs), members)
        return unfitted

    def probability(self, inputs: np.ndarray) -> np.ndarray:
        """Probability that each record is a member."""
        return np.asarray(self.model.predict_proba(self._prepared(inputs)))[:, 1]

    def _prepared(self, inputs: np.ndarray) -> np.ndarray:
        more = (inputs[:, 1:] - self.centre) / self.spread
        return np.column_stack([inputs[:, 0], inputs[:, :1] * more])


@dataclass(frozen=True, eq=False)
class LabelScorer(MembershipScorer):
    """Distance, share of noisy copies, or a probability fitted to these.

    Attributes
    ----------
    threshold : float
    walks : bool
        Whether distances were observed.
    middle : float
        The median distance, at which records count that could not be walked from.
    combiner : RightAndMore or None
    used : int, optional
        How many of the observed columns the combiner reads, from the first; all by default.
    """

    walks: bool
    middle: float
    combiner: RightAndMore | None
    used: int | None = None

    def score(self, values: np.ndarray) -> np.ndarray:
        """Score of each record, with a warning that counts those that could not be walked from."""
        failed = LabelOnlyMIA.failed(values)
        if failed.any():
            warnings.warn(
                f"{int(failed.sum())} of {failed.size} records are classified right and no record "
                f"of another predicted class is known, so their boundary was not found; they are "
                f"scored as middling",
                TapasWarning,
                stacklevel=2,
            )
        return self.raw_score(values)

    def raw_score(self, values: np.ndarray) -> np.ndarray:
        """Score of each record."""
        if self.combiner is not None:
            return self.combiner.probability(self.inputs(values)).reshape(values.shape[:-1])
        return self._distances(values) if self.walks else values.mean(axis=-1)

    def inputs(self, values: np.ndarray) -> np.ndarray:
        """What the regression reads, one row per record: distances enter by their logarithm."""
        rows = values.reshape(-1, values.shape[-1]).copy()
        if self.walks:
            rows[:, DISTANCE] = np.log(np.maximum(self._distances(rows), SHORTEST))
        return rows[:, : self.used]

    def _distances(self, values: np.ndarray) -> np.ndarray:
        return np.where(LabelOnlyMIA.failed(values), self.middle, values[..., DISTANCE])


class LabelOnlyMIA(ModelThresholdAttack):
    """Guesses "member" where much must be changed before the model changes its mind.

    Idea: training pushes the decision boundary away from training records. The distance is found
    by label queries alone: from the nearest record of another predicted class back towards the
    record, then along the boundary (as HopSkipJump does). Noise is the cheaper variant: how many
    noisy copies are still classified right, at six strengths; a walk of some length spends a third
    of its queries on them too. Both are set against how hard the record is: to be right, or far
    from the boundary, means little where any model would be. That is read off small models of the
    attacker's own and costs no query.

    Needs: labels; `max_queries` queries per record; known records or shadow models.

    Score: the probability of membership by a logistic regression on whether the prediction is
    right, the log distance, the shares of noisy copies, and the log odds of the true class by a
    linear model and a forest trained on other records that the attacker holds; the log odds, or the
    regression itself, are left out where records that were not learnt from show that they do not
    help. Without
    `calibrate`, or with a fixed threshold, "boundary" scores 0 where the prediction is wrong, else
    the distance in standard deviations of the columns (a changed category counts one); "noise"
    leaves the log odds out, and with a fixed threshold scores the mean of the shares.

    Reference: Choquette-Choo, Tramer, Carlini and Papernot (2021); Chen, Jordan and Wainwright
    (2020) for the walk; Watson, Guo, Cormode and Sablayrolles (2022) for calibration.

    Parameters
    ----------
    method : {"boundary", "noise"}
    max_queries : int
        Label queries per record.
    calibrate : bool
        Whether the difficulty of the record is taken into account.
    criterion, label
        As in `ModelThresholdAttack`.

    Warns
    -----
    TapasWarning
        Where the boundary of some records was not found, because no record of another predicted
        class is known. They count as at the median distance; `failed` tells which they are.
    """

    observation_depends_on: ClassVar[tuple[str, ...]] = (
        "method",
        "max_queries",
        "learns_difficulty",
    )

    def __init__(
        self,
        method: str = "boundary",
        max_queries: int = 250,
        *,
        calibrate: bool = True,
        criterion: CriterionLike = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, label=label)
        self.method = check_choice(method, "method", ("boundary", "noise"))
        self.max_queries = check_count(max_queries, "max_queries", minimum=1 + len(SCALES))
        self.calibrate = calibrate

    def _default_label(self) -> str:
        plain = "" if self.calibrate else ", not calibrated"
        return f"LabelOnlyMIA({self.method}, {self.max_queries} queries{plain})"

    @property
    def needs(self) -> Needs:
        """Labels, and known records or shadow models unless the threshold is given."""
        return replace(super().needs, access=Access.LABELS, inputs="change")

    @property
    def learns_difficulty(self) -> bool:
        """Whether the difficulty of records is observed and learnt from."""
        return self.calibrate and self._fixed_threshold is None

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Whether each record is classified right; its distance or robustness; its difficulty."""
        asked = LabelQueries.about(release.model, model_briefing(briefing))
        draws = self._noisy_copies()
        columns = [asked.right]
        if self.method == "boundary":
            columns.append(asked.distances(self.max_queries - 1 - draws * len(SCALES), rng))
        if draws:
            columns.append(asked.robustness(draws, rng))
        if self.learns_difficulty:
            columns.append(asked.difficulty())
        return np.column_stack(columns)

    def _noisy_copies(self) -> int:
        """Noisy copies of each strength; a calibrated walk spares a third of its queries."""
        if self.method == "noise":
            return (self.max_queries - 1) // len(SCALES)
        draws = (self.max_queries - 1) // (3 * len(SCALES))
        return draws if self.learns_difficulty and draws >= FEWEST_DRAWS else 0

    @staticmethod
    def failed(values: np.ndarray) -> np.ndarray:
        """Whose boundary was not found, of records that were observed."""
        return np.isnan(values[..., DISTANCE])

    def fit(self, board: Board, *, rng: np.random.Generator) -> LabelScorer:
        """Learn what each thing observed says, and choose the threshold."""
        walks = self.method == "boundary"
        if self._fixed_threshold is not None:
            return LabelScorer(self._fixed_threshold, walks, 0.0, None)
        known = board.rehearsal
        members = known.secrets.astype(bool)
        scorer = LabelScorer(np.nan, walks, _median_distance(known.values) if walks else 0.0, None)
        if self.learns_difficulty or not walks:
            self._refuse_one_kind(members)
            scorer = self._combined(scorer, known.values, members)
        threshold = self._chosen_threshold(scorer.raw_score(known.values), members)
        return replace(scorer, threshold=threshold)

    def _combined(self, plain: LabelScorer, values: np.ndarray, members: np.ndarray) -> LabelScorer:
        """The regression that tells most of records it did not learn from, if it beats none."""
        number = values.shape[-1]
        used = [number, number - NUM_OWN_MODELS] if self.learns_difficulty else [number]
        tried = [replace(plain, used=columns) for columns in used]
        told = {one: _cross_fitted_auc(one.inputs(values), members) for one in tried}
        best = max(tried, key=told.__getitem__)
        if (
            self.learns_difficulty
            and auc(members.ravel(), plain.raw_score(values).ravel()) > told[best]
        ):
            return plain
        return replace(best, combiner=RightAndMore.learn(best.inputs(values), members.ravel()))


def _cross_fitted_auc(inputs: np.ndarray, members: np.ndarray) -> float:
    """AUC of the regression, each record judged by one that did not learn from it."""
    folds = np.tile(np.arange(members.shape[-1]) % FOLDS, members.size // members.shape[-1])
    truth, scores = members.ravel(), np.full(members.size, 0.5)
    for fold in range(FOLDS):
        rest = folds != fold
        if truth[rest].any() and not truth[rest].all() and not rest.all():
            scores[~rest] = RightAndMore.learn(inputs[rest], truth[rest]).probability(inputs[~rest])
    return auc(truth, scores)


def _median_distance(values: np.ndarray) -> float:
    """Of the records that are classified right."""
    distances = values[..., DISTANCE][values[..., RIGHT] > 0]
    found = distances[np.isfinite(distances)]
    return float(np.median(found)) if len(found) else 0.0
