"""Shadow data for an attacker who holds no records, or too few (Shokri et al. 2017, V-C)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas._validate import check_count, check_probability
from tapas.errors import KnowledgeError
from tapas.models import Access, Model, RecordEncoding, Records


class ShadowData(ABC):
    """Makes labelled records to train shadow models on.

    A subclass writes `points`, in the space of a `RecordEncoding`; classes are then those that the
    audited model predicts, one query each.
    """

    num_records: int | None
    examples: Any

    def make(
        self, model: Model, known: Records | None, size: int, *, rng: np.random.Generator
    ) -> Records:
        """Return shadow records: twice `size` unless a number was asked for."""
        basis = self._basis(known)
        number = 2 * size if self.num_records is None else self.num_records
        encoding = basis.encoding()
        X = encoding.decode(self.points(model, basis, encoding, number, rng=rng))
        return Records(X, model.predict(X), basis.categorical)

    @abstractmethod
    def points(
        self,
        model: Model,
        basis: Records,
        encoding: RecordEncoding,
        number: int,
        *,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return `number` points, each of which decodes to a record."""

    def _basis(self, known: Records | None) -> Records:
        if self.examples is not None:
            given = self.examples
            return given if isinstance(given, Records) else Records(*given)
        if known is None or len(known) == 0:
            raise KnowledgeError(
                f"{type(self).__name__} needs records that show what inputs look like: give "
                f"examples=(X, y), or a known_share above 0"
            )
        return known


@dataclass(frozen=True, eq=False)
class MarginalSynthesis(ShadowData):
    """Draws every column on its own, from its marginal distribution.

    Attributes
    ----------
    num_records : int, optional
        Twice the audited model's training set by default.
    examples : Records or (X, y), optional
        Where marginals are taken from; by default the records that the attacker knows.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), "statistics-based synthesis".
    """

    num_records: int | None = None
    examples: Any = None

    def points(
        self,
        model: Model,
        basis: Records,
        encoding: RecordEncoding,
        number: int,
        *,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Draw each column from a random example."""
        return _independent_columns(encoding.encode(basis.X), encoding, number, rng)


@dataclass(frozen=True, eq=False)
class NoisyRecords(ShadowData):
    """Real records with part of their columns drawn afresh: data the attacker got, but not well.

    Attributes
    ----------
    share : float
        Share of the values that are replaced by a draw from the column's marginal distribution.
    num_records, examples
        As in `MarginalSynthesis`.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), "noisy real data" (10 or 20 % of the values).
    """

    share: float = 0.1
    num_records: int | None = None
    examples: Any = None

    def __post_init__(self) -> None:
        check_probability(self.share, "share")

    def points(
        self,
        model: Model,
        basis: Records,
        encoding: RecordEncoding,
        number: int,
        *,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Draw examples, then replace some of their values."""
        points = encoding.encode(basis.X)
        rounds = -(-number // len(points))
        rows = np.concatenate([rng.permutation(len(points)) for _ in range(rounds)])[:number]
        noise = _independent_columns(points, encoding, number, rng)
        replaced = rng.random((number, len(encoding.columns))) < self.share
        widths = [column.width for column in encoding.columns]
        return np.where(np.repeat(replaced, widths, axis=1), noise, points[rows])


@dataclass(frozen=True, eq=False)
class QuerySynthesis(ShadowData):
    """Searches, by querying the model, for inputs that it classifies with high confidence.

    Each search starts from a draw of the marginals and walks: some columns are drawn afresh, and
    the step is kept if the model's confidence in the wanted class grows. A walk that is sure
    enough is taken with the probability of that class, as published. All walks go on together.

    Attributes
    ----------
    confidence : float
        The least confidence with which a record is taken.
    rounds : int
        Queries per record that is sought.
    patience : int
        Rounds without progress after which fewer columns are changed.
    num_records, examples
        As in `MarginalSynthesis`.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), algorithm 1.
    """

    confidence: float = 0.2
    rounds: int = 30
    patience: int = 5
    num_records: int | None = None
    examples: Any = None

    def __post_init__(self) -> None:
        check_probability(self.confidence, "confidence")
        check_count(self.rounds, "rounds", minimum=1)
        check_count(self.patience, "patience", minimum=1)

    def points(
        self,
        model: Model,
        basis: Records,
        encoding: RecordEncoding,
        number: int,
        *,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Walk uphill in the model's confidence, all records at once."""
        if not model.access.shows(Access.SCORES):
            raise KnowledgeError(
                "QuerySynthesis follows the model's confidence, but the release shows labels "
                "only: use MarginalSynthesis or NoisyRecords"
            )
        columns = len(encoding.columns)
        widths = [column.width for column in encoding.columns]
        examples = encoding.encode(basis.X)
        wanted = np.arange(number) % len(model.classes)
        rows = np.arange(number)
        best = _independent_columns(examples, encoding, number, rng)
        reached = model.predict_proba(encoding.decode(best))
        sure = reached[rows, wanted]
        changed = np.full(number, columns)
        stuck = np.zeros(number, dtype=int)
        taken = _is_taken(reached, wanted, self.confidence, rng)
        for _ in range(self.rounds - 1):
            fresh = _independent_columns(examples, encoding, number, rng)
            ranks = rng.random((number, columns)).argsort(axis=1).argsort(axis=1)
            moved = np.repeat(ranks < changed[:, None], widths, axis=1)
            trial = np.where(moved & ~taken[:, None], fresh, best)
            reached = model.predict_proba(encoding.decode(trial))
            better = (reached[rows, wanted] >= sure) & ~taken
            best[better], sure[better] = trial[better], reached[rows, wanted][better]
            stuck = np.where(better, 0, stuck + 1)
            slower = stuck >= self.patience
            changed = np.where(slower, np.maximum(1, changed // 2), changed)
            stuck[slower] = 0
            taken |= better & _is_taken(reached, wanted, self.confidence, rng)
        return best


def _is_taken(
    reached: np.ndarray, wanted: np.ndarray, confidence: float, rng: np.random.Generator
) -> np.ndarray:
    sure = reached[np.arange(len(wanted)), wanted]
    likeliest = reached.argmax(axis=1) == wanted
    return likeliest & (sure > confidence) & (rng.random(len(wanted)) < sure)


def _independent_columns(
    points: np.ndarray, encoding: RecordEncoding, number: int, rng: np.random.Generator
) -> np.ndarray:
    """Each column of each row from an example of its own."""
    sources = rng.integers(len(points), size=(number, len(encoding.columns)))
    widths = [column.width for column in encoding.columns]
    return points[np.repeat(sources, widths, axis=1), np.arange(points.shape[1])]
