"""Shadow data for an attacker who holds no records, or too few (Shokri et al. 2017, V-C)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_count, check_probability
from tapas.errors import KnowledgeError
from tapas.models import Access, Inputs, Model, QueryBudgetError, RecordEncoding, Records


@dataclass(frozen=True, eq=False)
class Examples:
    """Records that show what inputs look like.

    Attributes
    ----------
    encoding : RecordEncoding
    points : ndarray
        The records, encoded.
    """

    encoding: RecordEncoding
    points: np.ndarray

    @classmethod
    def of(cls, records: Records) -> "Examples":
        """Learn the encoding from the records."""
        encoding = records.encoding()
        return cls(encoding, encoding.encode(records.X))

    def drawn_by_column(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """Points each column of which comes from an example of its own."""
        sources = rng.integers(len(self.points), size=(number, len(self.encoding.columns)))
        return self.points[self.spread(sources), np.arange(self.points.shape[1])]

    def spread(self, per_column: np.ndarray) -> np.ndarray:
        """What holds for columns, repeated for all places that they take."""
        widths = [column.width for column in self.encoding.columns]
        return np.repeat(per_column, widths, axis=1)


class ShadowData(ABC):
    """Makes labelled records to train shadow models on.

    A subclass writes `points`, in the space of a `RecordEncoding`; classes are then those that the
    audited model predicts, one query each.
    """

    num_records: int | None
    examples: Records | tuple[Inputs, ArrayLike] | None

    def make(
        self, model: Model, known: Records | None, size: int, *, rng: np.random.Generator
    ) -> Records:
        """Return shadow records.

        Parameters
        ----------
        model : Model
            The audited one, as the attacker may ask it; all queries count, and are refused
            together where its budget does not reach.
        known : Records or None
            What the attacker knows of the audited model's data.
        size : int
            Of the audited model's training set.
        rng : Generator
        """
        basis = self._basis(known)
        self._refuse_overspending(model, size)
        examples = Examples.of(basis)
        points = self.points(model, examples, self._number(size), rng=rng)
        X = examples.encoding.decode(points)
        return Records(X, model.predict(X), basis.categorical)

    def queries(self, size: int) -> int:
        """How often `make` asks the audited model: one query for the class of each record."""
        return self._number(size)

    @abstractmethod
    def points(
        self, model: Model, examples: Examples, number: int, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Return `number` points, each of which decodes to a record."""

    def _number(self, size: int) -> int:
        """Twice `size` unless a number was asked for."""
        return 2 * size if self.num_records is None else self.num_records

    def _refuse_overspending(self, model: Model, size: int) -> None:
        needed = self.queries(size)
        if model.remaining is not None and needed > model.remaining:
            raise QueryBudgetError(
                f"{type(self).__name__} asks the audited model {needed} times to make "
                f"{self._number(size)} records, but {model.remaining} of the budget of "
                f"{model.budget} queries are left: {self._cheaper()}, or raise the budget"
            )

    def _cheaper(self) -> str:
        return "set num_records to fewer"

    def _basis(self, known: Records | None) -> Records:
        if self.examples is not None:
            if isinstance(self.examples, Records):
                return self.examples
            X, y = self.examples
            return Records(X, np.asarray(y))
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
    examples: Records | tuple[Inputs, ArrayLike] | None = None

    def points(
        self, model: Model, examples: Examples, number: int, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw each column from a random example."""
        return examples.drawn_by_column(number, rng)


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
    examples: Records | tuple[Inputs, ArrayLike] | None = None

    def __post_init__(self) -> None:
        check_probability(self.share, "share")

    def points(
        self, model: Model, examples: Examples, number: int, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw examples, then replace some of their values."""
        available = len(examples.points)
        rounds = -(-number // available)
        rows = np.concatenate([rng.permutation(available) for _ in range(rounds)])[:number]
        noise = examples.drawn_by_column(number, rng)
        replaced = rng.random((number, len(examples.encoding.columns))) < self.share
        return np.where(examples.spread(replaced), noise, examples.points[rows])


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
    examples: Records | tuple[Inputs, ArrayLike] | None = None

    def __post_init__(self) -> None:
        check_probability(self.confidence, "confidence")
        check_count(self.rounds, "rounds", minimum=1)
        check_count(self.patience, "patience", minimum=1)

    def queries(self, size: int) -> int:
        """How often `make` asks the audited model: in each round, and for the class at the end."""
        return self._number(size) * (self.rounds + 1)

    def _cheaper(self) -> str:
        return "set num_records or rounds to fewer, use MarginalSynthesis"

    def points(
        self, model: Model, examples: Examples, number: int, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Walk uphill in the model's confidence, all records at once."""
        if not model.access.shows(Access.SCORES):
            raise KnowledgeError(
                "QuerySynthesis follows the model's confidence, but the release shows labels "
                "only: use MarginalSynthesis or NoisyRecords"
            )
        columns = len(examples.encoding.columns)
        wanted = np.arange(number) % len(model.classes)
        best = examples.drawn_by_column(number, rng)
        reached = model.predict_proba(examples.encoding.decode(best))
        sure = _of_class(reached, wanted)
        taken = _is_taken(reached, wanted, self.confidence, rng)
        changed, stuck = np.full(number, columns), np.zeros(number, dtype=int)
        for _ in range(self.rounds - 1):
            fresh = examples.drawn_by_column(number, rng)
            ranks = rng.random((number, columns)).argsort(axis=1).argsort(axis=1)
            moved = examples.spread(ranks < changed[:, None])
            trial = np.where(moved & ~taken[:, None], fresh, best)
            reached = model.predict_proba(examples.encoding.decode(trial))
            better = (_of_class(reached, wanted) >= sure) & ~taken
            best[better], sure[better] = trial[better], _of_class(reached, wanted)[better]
            stuck = np.where(better, 0, stuck + 1)
            slower = stuck >= self.patience
            changed = np.where(slower, np.maximum(1, changed // 2), changed)
            stuck[slower] = 0
            taken |= better & _is_taken(reached, wanted, self.confidence, rng)
        return best


def _of_class(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return probabilities[np.arange(len(codes)), codes]


def _is_taken(
    reached: np.ndarray, wanted: np.ndarray, confidence: float, rng: np.random.Generator
) -> np.ndarray:
    sure = _of_class(reached, wanted)
    likeliest = reached.argmax(axis=1) == wanted
    return likeliest & (sure > confidence) & (rng.random(len(wanted)) < sure)
