"""Membership from labels alone: records that a model was trained on lie deep inside their class."""

import warnings
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np

from tapas._validate import check_choice, check_count
from tapas.attacks.models._boundary_walk import WalkPlan, boundary_distances, nearest_elsewhere
from tapas.attacks.models._model_attack import ModelThresholdAttack
from tapas.attacks.models._noise_robustness import SCALES, noise_robustness
from tapas.attacks.models._own_models import own_certainty
from tapas.errors import TapasWarning
from tapas.models import Access
from tapas.threat_models import Release
from tapas.threat_models._model_game import ModelNeeds

POOL_RECORDS = 5_000  # more hardly shorten the way to another class
FEWEST_DRAWS = 8  # noisy copies of one strength that a walk leaves queries for, or none
SHORTEST = 1e-6  # below, a distance is as good as none


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
    linear model and a forest trained on other records that the attacker holds. Without
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

    Attributes
    ----------
    failed_ : ndarray of bool
        Of the records scored last: whose boundary was not found, because no record of another
        predicted class is known. They count as at the median distance, and a warning counts them.
    """

    def __init__(
        self,
        method: str = "boundary",
        max_queries: int = 250,
        *,
        calibrate: bool = True,
        criterion: Any = "accuracy",
        label: str | None = None,
    ) -> None:
        self.needs = ModelNeeds(Access.LABELS)
        super().__init__(criterion, label=label)
        self.method = check_choice(method, "method", ("boundary", "noise"))
        self.max_queries = check_count(max_queries, "max_queries", minimum=1 + len(SCALES))
        self.calibrate = calibrate
        self._combiner: Any = None
        self._middle = 0.0
        self.failed_ = np.zeros(0, dtype=bool)

    def _default_label(self) -> str:
        plain = "" if self.calibrate else ", not calibrated"
        return f"LabelOnlyMIA({self.method}, {self.max_queries} queries{plain})"

    @property
    def observation_key(self) -> Hashable:
        """The same for all attacks that walk in the same way."""
        return type(self), self.method, self.max_queries, self._learns_difficulty

    @property
    def _learns_difficulty(self) -> bool:
        return self.calibrate and self.needs.training

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Whether each record is classified right; its distance or robustness; its difficulty."""
        model, targets, held = release.data, briefing.targets, briefing.auxiliary
        codes = model.codes_of(targets.y)
        predicted = model.predict_codes(targets.X)
        about = (model, briefing, codes, predicted)
        draws = self._noisy_copies()
        columns = [predicted == codes]
        if self.method == "boundary":
            columns.append(self._distances(*about, self.max_queries - 1 - draws * len(SCALES), rng))
        if draws:
            columns.append(self._robustness(*about, draws, rng))
        if self._learns_difficulty:
            held_codes = None if held is None else model.codes_of(held.y)
            columns.append(own_certainty(targets, codes, held, held_codes, briefing.encoding))
        return np.column_stack(columns)

    def _noisy_copies(self) -> int:
        """Noisy copies of each strength; a calibrated walk spares a third of its queries."""
        if self.method == "noise":
            return (self.max_queries - 1) // len(SCALES)
        draws = (self.max_queries - 1) // (3 * len(SCALES))
        return draws if self._learns_difficulty and draws >= FEWEST_DRAWS else 0

    def _robustness(
        self,
        model: Any,
        briefing: Any,
        codes: np.ndarray,
        predicted: np.ndarray,
        draws: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Shares of noisy copies classified right, 0 where the record itself is not."""
        encoding, right = briefing.encoding, predicted == codes
        points = encoding.encode(briefing.targets.X)[right]
        shares = np.zeros((len(codes), len(SCALES)))
        ask = _asking(model, encoding)
        shares[right] = noise_robustness(ask, points, codes[right], encoding, draws, rng=rng)
        return shares

    def _distances(
        self,
        model: Any,
        briefing: Any,
        codes: np.ndarray,
        predicted: np.ndarray,
        queries: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Distances to the boundary, 0 where the prediction is wrong, NaN where none is known."""
        encoding, right = briefing.encoding, predicted == codes
        points = encoding.encode(briefing.targets.X)
        starts, pool = self._starts(model, briefing, points, predicted, right)
        found = np.flatnonzero(starts >= 0)
        walked = right.nonzero()[0][found]
        distances = np.where(right, np.nan, 0.0)
        distances[walked] = boundary_distances(
            _asking(model, encoding),
            points[walked],
            predicted[walked],
            pool[starts[found]],
            WalkPlan.within(queries),
            lambda some: encoding.encode(encoding.decode(some)),
            rng=rng,
        )
        return distances

    def _starts(
        self,
        model: Any,
        briefing: Any,
        points: np.ndarray,
        predicted: np.ndarray,
        right: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each record that is classified right, a pool point of another predicted class."""
        pool, pool_codes = points, predicted
        held = briefing.auxiliary
        if held is not None and len(points) < POOL_RECORDS:
            more = held.take(np.arange(min(len(held), POOL_RECORDS - len(points))))
            pool = np.concatenate([points, briefing.encoding.encode(more.X)])
            pool_codes = np.concatenate([predicted, model.predict_codes(more.X)])
        return nearest_elsewhere(points[right], predicted[right], pool, pool_codes), pool

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Learn what each thing observed says, and choose the threshold."""
        self._combiner = None
        if self.method == "boundary":
            known = observations[..., 1][observations[..., 0] > 0]
            finite = known[np.isfinite(known)]
            self._middle = float(np.median(finite)) if len(finite) else 0.0
        if self._learns_difficulty or self.method == "noise":
            members = np.asarray(secrets, dtype=bool)
            self._check_both_kinds(members)
            self._combiner = RightAndMore().fit(self._inputs(observations), members.ravel())
        self._choose_threshold(self._scored(observations)[0], secrets)
        return self

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """Distance, or fitted probability; records that could not be walked count as middling."""
        scores, self.failed_ = self._scored(observations)
        if self.failed_.any():
            warnings.warn(
                f"{int(self.failed_.sum())} of {self.failed_.size} records are classified right "
                f"and no record of another predicted class is known, so their boundary was not "
                f"found; they are scored as middling (see failed_)",
                TapasWarning,
                stacklevel=3,
            )
        return scores

    def _scored(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        failed = np.isnan(observations[..., 1])
        if self._combiner is not None:
            scores = self._combiner.probability(self._inputs(observations))
            return scores.reshape(failed.shape), failed
        if self.method == "noise":
            return observations.mean(axis=-1), failed
        return np.where(failed, self._middle, observations[..., 1]), failed

    def _inputs(self, observations: np.ndarray) -> np.ndarray:
        """What the regression reads, one row per record: distances enter by their logarithm."""
        inputs = observations.reshape(-1, observations.shape[-1]).copy()
        if self.method == "boundary":
            distances = np.where(np.isnan(inputs[:, 1]), self._middle, inputs[:, 1])
            inputs[:, 1] = np.log(np.maximum(distances, SHORTEST))
        return inputs


class RightAndMore:
    """Logistic regression on a first column of 0 and 1, and on the others where it is 1."""

    def fit(self, inputs: np.ndarray, members: np.ndarray) -> Self:
        """Learn from records with known membership."""
        from sklearn.linear_model import LogisticRegression

        right = inputs[inputs[:, 0] > 0, 1:]
        self._centre, self._spread = np.zeros(inputs.shape[1] - 1), np.ones(inputs.shape[1] - 1)
        if len(right):
            self._centre, self._spread = right.mean(axis=0), right.std(axis=0)
            self._spread[self._spread == 0] = 1.0
        self._model = LogisticRegression(max_iter=500).fit(self._prepared(inputs), members)
        return self

    def probability(self, inputs: np.ndarray) -> np.ndarray:
        """Probability that each record is a member."""
        return np.asarray(self._model.predict_proba(self._prepared(inputs))[:, 1])

    def _prepared(self, inputs: np.ndarray) -> np.ndarray:
        more = (inputs[:, 1:] - self._centre) / self._spread
        return np.column_stack([inputs[:, 0], inputs[:, :1] * more])


def _asking(model: Any, encoding: Any) -> Callable[[np.ndarray], np.ndarray]:
    def ask(some: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict_codes(encoding.decode(some)))

    return ask
