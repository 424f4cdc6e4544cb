"""What an attack model reads: probabilities seen from the true class."""

from dataclasses import dataclass

import numpy as np

from tapas.attacks.models._score_statistics import (
    ENTROPY,
    LARGEST,
    MODIFIED,
    PREDICTED,
    REST,
    TRUE,
    clip_for,
    logits,
    statistics_of,
)
from tapas.models import Model, Records

MOST_SORTED = 5
MOST_CLASSES = 30


def prediction_vectors(model: Model, targets: Records) -> np.ndarray:
    """Code of the true class, then the probability of every class: (records, 1 + classes)."""
    probabilities = model.predict_proba(targets.X)
    return np.column_stack([model.codes_of(targets.y), probabilities])


@dataclass(frozen=True, eq=False)
class Scaled:
    """Columns in parts of their spread, at most ten of them.

    Attributes
    ----------
    centre, spread : ndarray
    """

    centre: np.ndarray
    spread: np.ndarray

    @classmethod
    def learn(cls, columns: np.ndarray) -> "Scaled":
        """Learn from the attacker's records."""
        spread = columns.std(axis=0)
        return cls(columns.mean(axis=0), np.where(spread > 1e-12, spread, 1.0))

    def __call__(self, columns: np.ndarray) -> np.ndarray:
        return np.clip((columns - self.centre) / self.spread, -10, 10)


@dataclass(frozen=True, eq=False)
class PredictionFeatures:
    """Turns prediction vectors into standardised inputs of an attack model.

    The loss, logit, margin and entropies with respect to the true class, whether the prediction
    is right, the rank of the logit among records of the same class, the largest probabilities
    in order, and, for few classes, class and probabilities themselves.

    Attributes
    ----------
    clip : float
    ranks : dict
        Sorted logits of each class, and of all under -1.
    scaled : Scaled or None
    """

    clip: float
    ranks: dict[int, np.ndarray]
    scaled: Scaled | None = None

    @classmethod
    def learn(cls, vectors: np.ndarray) -> "PredictionFeatures":
        """Learn ranks and scales from the attacker's records."""
        codes = vectors[:, 0].astype(int)
        statistics = statistics_of(vectors[:, 1:], codes)
        clip = clip_for(statistics)
        values = logits(statistics, clip)
        ranks = {int(code): np.sort(values[codes == code]) for code in np.unique(codes)}
        ranks[-1] = np.sort(values)
        return cls(clip, ranks, Scaled.learn(cls(clip, ranks)(vectors)))

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        raw = self._raw(vectors)
        return raw if self.scaled is None else self.scaled(raw)

    def _raw(self, vectors: np.ndarray) -> np.ndarray:
        probabilities, codes = vectors[:, 1:], vectors[:, 0].astype(int)
        statistics = statistics_of(probabilities, codes)
        values = logits(statistics, self.clip)
        others = probabilities.copy()
        others[np.arange(len(codes)), codes] = 0.0
        columns = [
            np.log(np.maximum(statistics[:, TRUE], self.clip)),
            np.log(np.maximum(statistics[:, REST], self.clip)),
            values,
            statistics[:, TRUE] - others.max(axis=1),
            statistics[:, LARGEST],
            statistics[:, ENTROPY],
            np.maximum(statistics[:, MODIFIED], np.log(self.clip)),
            statistics[:, PREDICTED] == codes,
            self._rank(values, codes),
        ]
        ordered = -np.sort(-others, axis=1)[:, :MOST_SORTED]
        blocks = [np.column_stack(columns), ordered]
        if probabilities.shape[1] <= MOST_CLASSES:
            blocks += [np.eye(probabilities.shape[1])[codes]]
        return np.concatenate(blocks, axis=1)

    def _rank(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Middle rank of each logit among those of its class, in [0, 1]."""
        ranks = np.empty(len(values))
        for code in np.unique(codes):
            of_class = codes == code
            sorted_values = self.ranks.get(int(code), self.ranks[-1])
            low = np.searchsorted(sorted_values, values[of_class], side="left")
            high = np.searchsorted(sorted_values, values[of_class], side="right")
            ranks[of_class] = (low + high) / (2 * len(sorted_values))
        return ranks
