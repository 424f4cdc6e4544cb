"""The reference attack that is learnt: what reference models show, weighed by rehearsal."""

from dataclasses import dataclass

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._black_box import membership_probability
from tapas.attacks.models._reference_attack import (
    REHEARSALS,
    Comparison,
    ReferenceAttack,
    boards_of,
    masked_moments,
    without_pair_of,
)
from tapas.attacks.models._score_statistics import (
    TEMPERATURES,
    Clip,
    logits,
    softened,
)
from tapas.attacks.models._several_queries import of_each_query
from tapas.game import Board
from tapas.models import Classifier

MOST_ROWS = 60_000  # that are learnt from
PRIOR_WEIGHT = 4.0  # observations that the pooled variance counts for


@dataclass(frozen=True)
class ReferenceStatistics:
    """What reference models tell about each record: the inputs of `LearntComparison`.

    Attributes
    ----------
    clip : float
    inside : bool
        Whether some references were trained on the records.
    """

    clip: float
    inside: bool

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        """The statistics of records on some models, (models, records, statistics).

        With several queries, those of the first and the mean over all.
        """
        each = zip(of_each_query(values), boards_of(references), strict=True)
        found = [self._of_query(seen, board) for seen, board in each]
        if len(found) == 1:
            return found[0]
        return np.concatenate([found[0], np.mean(found, axis=0)], axis=-1)

    def _of_query(self, values: np.ndarray, references: Board) -> np.ndarray:
        found, seen = logits(values, self.clip), logits(references.values, self.clip)
        without = ~references.secrets
        mean_out, spread_out = _moments(seen, without)
        columns = [found, found - mean_out, (found - mean_out) / spread_out]
        columns += [np.broadcast_to(one, found.shape) for one in (mean_out, np.log(spread_out))]
        if self.inside:
            mean_in, spread_in = _moments(seen, references.secrets)
            columns.append((found - mean_in) / spread_in)
            shared = (mean_in, np.log(spread_in), mean_in - mean_out)
            columns += [np.broadcast_to(one, found.shape) for one in shared]
        for temperature in TEMPERATURES:
            likelihoods = softened(references.values, temperature, self.clip)
            mean = masked_moments(likelihoods, without)[1]
            if self.inside:
                mean = (mean + masked_moments(likelihoods, references.secrets)[1]) / 2
            columns.append(np.log(softened(values, temperature, self.clip)) - np.log(mean))
        return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False)
class LearntComparison:
    """Probability of membership by what was learnt in rehearsal.

    Attributes
    ----------
    statistics : ReferenceStatistics
    model : classifier
    """

    statistics: ReferenceStatistics
    model: Classifier

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        inputs = self.statistics(values, references)
        rows = inputs.reshape(-1, inputs.shape[-1])
        return membership_probability(self.model, rows).reshape(inputs.shape[:-1])


class RehearsedMIA(ReferenceAttack):
    """Learns, by attacking reference models, how to read what they tell about a record.

    Idea: each reference model is attacked by means of the others, its complement left out. Who was
    inside is known there, so a classifier learns how much the likelihood ratio, the population
    ratio, the difference from models without the record and its spread each say, for this kind of
    model and these records; then it is applied to the audited model.

    Needs: scores, one query per record, and 4 or more reference models.

    Score: probability of membership by gradient boosting on the logit, its means and standard
    deviations over references with and without the record, the distances from these, and RMIA's
    log ratios at temperatures 1, 2 and 4.

    Reference: Carlini et al. (2022) and Zarifzadeh et al. (2024) for what is read; rehearsal
    weighs it.

    Parameters
    ----------
    criterion, clip, queries, label
        As in `ReferenceAttack`. A threshold that is to be chosen is chosen by predictions for
        reference models that the classifier did not learn from.
    """

    def __init__(
        self,
        criterion: CriterionLike = ("threshold", 0.5),
        *,
        clip: Clip = "auto",
        queries: int = 1,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, clip=clip, queries=queries, label=label)

    def _default_label(self) -> str:
        return "RehearsedMIA"

    def comparison(self, board: Board, clip: float) -> LearntComparison:
        """Learnt from all references that are rehearsed on."""
        statistics = ReferenceStatistics(clip, bool(board.references.secrets.any()))
        return LearntComparison(statistics, _learnt(*_rehearsals(statistics, board.rehearsal)))

    def _compared(self, board: Board, clip: float) -> LearntComparison:
        return self.comparison(board, clip)

    def _rehearsed(self, comparison: Comparison, board: Board) -> tuple[np.ndarray, np.ndarray]:
        """Predictions for each half of the references, learnt from the other."""
        if not isinstance(comparison, LearntComparison):
            return super()._rehearsed(comparison, board)
        inputs, inside = _rehearsals(comparison.statistics, board.rehearsal)
        scores = np.empty(inside.shape)
        half = len(inside) // 4 * 2  # two of a pair stay together
        for part in (slice(None, half), slice(half, None)):
            rest = np.ones(len(inside), dtype=bool)
            rest[part] = False
            model = _learnt(inputs[rest], inside[rest])
            rows = inputs[part].reshape(-1, inputs.shape[-1])
            scores[part] = membership_probability(model, rows).reshape(inside[part].shape)
        return scores, inside


def _moments(values: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each record, the latter shrunk to the pooled one."""
    number, mean, squares = masked_moments(values, chosen)
    freedom = np.maximum(number - 1, 0)
    pooled = max(squares.sum() / max(freedom.sum(), 1), 1e-6)
    return mean, np.sqrt((PRIOR_WEIGHT * pooled + squares) / (PRIOR_WEIGHT + freedom))


def _rehearsals(statistics: ReferenceStatistics, references: Board) -> tuple[np.ndarray, ...]:
    """Statistics of each reference that is attacked by means of the others, and who is inside."""
    models = range(min(len(references), REHEARSALS))
    inputs = [
        statistics(references.values[[model]], without_pair_of(references, model))[0]
        for model in models
    ]
    return np.stack(inputs), references.secrets[: len(inputs)]


def _learnt(inputs: np.ndarray, inside: np.ndarray) -> Classifier:
    import threadpoolctl
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.08,
        max_leaf_nodes=16,
        min_samples_leaf=50,
        early_stopping=False,
        random_state=0,
    )
    every = -(-inside.size // MOST_ROWS)
    rows = inputs.reshape(-1, inputs.shape[-1])[::every]
    with threadpoolctl.threadpool_limits(1):
        return model.fit(rows, inside.ravel()[::every])
