"""A zoo of broken mechanisms: each claims an epsilon and keeps another, as real software has.

They are `KnownMechanism`s: `claimed_epsilon` is what they say, `true_epsilon` what is so, `rates`
the chances of the event that gives them away. An auditor that does not find them is broken itself.
"""

import math

import numpy as np

from tapas._validate import check_count
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.generators import discrete_laplace
from tapas.testing._carriers import (
    blank_record,
    column_counts,
    columns_as_rows,
    count_of,
    rows_of,
)
from tapas.testing._mechanisms import (
    CountMechanism,
    KnownMechanism,
    NoisyHistogram,
    discrete_laplace_tail,
    laplace_tail,
)

ROOM_FOR_NOISE = 10  # noise scales beyond the count, which copies practically never exceed


class WrongSensitivity(NoisyHistogram):
    """A histogram with noise for one changed cell, claimed for neighbours that change two.

    Where a record is *replaced*, one count falls and another rises: the scale must be
    ``2 / epsilon`` and is ``1 / epsilon``.

    Parameters
    ----------
    target : TabularDataset
    epsilon : float
    other : TabularDataset
        The record whose place the target takes.
    num_others : int
        How often it stands in the data when the target does not.
    """

    relation = "replace"
    threshold = 1.0

    def __init__(
        self,
        target: TabularDataset,
        epsilon: float = 1.0,
        *,
        other: TabularDataset,
        num_others: int,
    ) -> None:
        super().__init__(target, epsilon, others=other)
        self.other = TabularDataset.from_table(other.table, other.description)
        self.num_others = check_count(num_others, "num_others", minimum=2)

    def _noisy(
        self, counts: np.ndarray, dataset: TabularDataset, rng: np.random.Generator
    ) -> np.ndarray:
        noise = rng.laplace(scale=1 / self.epsilon, size=len(counts))
        return np.floor(counts + noise).astype(np.int64)

    def _release(self, answer: np.ndarray, num_samples: int) -> TabularDataset:
        room = self.num_others + ROOM_FOR_NOISE / self.epsilon
        if num_samples < room:
            raise ConfigError(
                f"{self.label} needs releases of at least {int(np.ceil(room))} records, so that no "
                f"copy of the other record is cut off; num_samples is {num_samples}"
            )
        return super()._release(answer, num_samples)

    def evidence(self, release: TabularDataset) -> float:
        """1 where the target appears and the other record is rarer than if one were replaced."""
        rarer = count_of(self.other, release) < self.num_others - 1
        return float(rarer and count_of(self.target, release) >= 1)

    @property
    def true_epsilon(self) -> float:
        """Twice the claim."""
        return 2 * self.epsilon

    @property
    def rates(self) -> tuple[float, float]:
        """Both cells must agree."""
        scale = 1 / self.epsilon
        return laplace_tail(0, scale) ** 2, laplace_tail(1, scale) ** 2


class NoiseDividedByRows(NoisyHistogram):
    """Noise meant for shares added to counts: scale ``2 / (n epsilon)`` for n records.

    Parameters
    ----------
    target, epsilon, others
        See `NoisyHistogram`.
    num_rows : int
        The n that the code divides by.
    """

    threshold = 1.0

    def __init__(
        self,
        target: TabularDataset,
        epsilon: float = 1.0,
        others: TabularDataset | None = None,
        *,
        num_rows: int = 100,
    ) -> None:
        super().__init__(target, epsilon, others)
        self.num_rows = check_count(num_rows, "num_rows", minimum=1)

    @property
    def _scale(self) -> float:
        return 2 / (self.num_rows * self.epsilon)

    def _noisy(
        self, counts: np.ndarray, dataset: TabularDataset, rng: np.random.Generator
    ) -> np.ndarray:
        return np.rint(counts + rng.laplace(scale=self._scale, size=len(counts))).astype(np.int64)

    @property
    def true_epsilon(self) -> float:
        """One over the scale."""
        return 1 / self._scale

    @property
    def rates(self) -> tuple[float, float]:
        """Chances of a copy from 1 and from 0."""
        return laplace_tail(-0.5, self._scale), laplace_tail(0.5, self._scale)


class DomainFromData(NoisyHistogram):
    """Counts whatever records it finds: one that is not there can never come out."""

    threshold = 1.0

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> np.ndarray:
        counts = (dataset.table.count_differences(self.records.table) == 0).sum(axis=1)
        noisy = self._noisy(counts, dataset, rng)
        return np.where(counts > 0, noisy, 0)

    @property
    def true_epsilon(self) -> float:
        """No finite epsilon covers an impossible outcome."""
        return math.inf

    @property
    def rates(self) -> tuple[float, float]:
        """Chances of a copy from 1 and from 0."""
        return laplace_tail(-0.5, 1 / self.epsilon), 0.0


class OffByOneBudget(KnownMechanism):
    """Asks k questions and gives each ``epsilon / (k - 1)`` instead of ``epsilon / k``.

    The questions: how many records share the target's value in the first, second... column.

    Parameters
    ----------
    target, epsilon
        See `KnownMechanism`.
    queries : int
        k; the target must have a value in that many columns from the first.
    """

    def __init__(self, target: TabularDataset, epsilon: float = 1.0, queries: int = 2) -> None:
        super().__init__(target, epsilon)
        self.queries = check_count(queries, "queries", minimum=2)
        found = column_counts(self.target, self.target, self.queries)
        if len(found) < self.queries or not found.all():
            raise ConfigError(
                f"queries is {self.queries}: the target must have values in as many columns"
            )
        self.threshold = float(self.queries)

    @property
    def _scale(self) -> float:
        return (self.queries - 1) / self.epsilon

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> np.ndarray:
        counts = column_counts(self.target, dataset, self.queries)
        return counts + discrete_laplace(self._scale, self.queries, rng)

    def _release(self, answer: np.ndarray, num_samples: int) -> TabularDataset:
        return columns_as_rows(self.target, answer.tolist(), num_samples)

    def evidence(self, release: TabularDataset) -> float:
        """Number of columns in which the target's value appears."""
        return float((column_counts(self.target, release, self.queries) >= 1).sum())

    @property
    def true_epsilon(self) -> float:
        """What the k questions add up to."""
        return self.queries / self._scale

    @property
    def rates(self) -> tuple[float, float]:
        """All columns must agree."""
        each = discrete_laplace_tail(0, self._scale), discrete_laplace_tail(1, self._scale)
        return each[0] ** self.queries, each[1] ** self.queries

    @property
    def label(self) -> str:
        """Display name."""
        return f"OffByOneBudget(epsilon={self.epsilon:g}, queries={self.queries})"


class OnePartitionForEveryTeacher(CountMechanism):
    """An ensemble whose teachers should see disjoint parts of the data and all see the whole.

    Each teacher votes whether it has seen the target; the number of votes is released with noise
    for one changed vote, but a record changes all of them.

    Parameters
    ----------
    target, epsilon
        See `KnownMechanism`.
    teachers : int
    """

    def __init__(self, target: TabularDataset, epsilon: float = 1.0, teachers: int = 5) -> None:
        super().__init__(target, epsilon)
        self.teachers = check_count(teachers, "teachers", minimum=2)
        self.threshold = float(self.teachers // 2 + 1)

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> int:
        votes = sum(count_of(self.target, part) > 0 for part in [dataset] * self.teachers)
        return votes + int(discrete_laplace(1 / self.epsilon, 1, rng)[0])

    @property
    def true_epsilon(self) -> float:
        """The claim, once for each teacher."""
        return self.teachers * self.epsilon

    @property
    def rates(self) -> tuple[float, float]:
        """Chances of a majority from all votes and from none."""
        majority, scale = int(self.threshold), 1 / self.epsilon
        return (
            discrete_laplace_tail(majority - self.teachers, scale),
            discrete_laplace_tail(majority, scale),
        )


class SizeLeak(KnownMechanism):
    """Hides every value and publishes as many blank records as there are private ones.

    The number of records asked for is ignored.

    Parameters
    ----------
    target, epsilon
        See `KnownMechanism`.
    num_others : int
        Number of private records beside the target, which the attacker is taken to know.
    """

    any_number = True

    def __init__(self, target: TabularDataset, epsilon: float = 1.0, *, num_others: int) -> None:
        super().__init__(target, epsilon)
        self.num_others = check_count(num_others, "num_others")
        self.threshold = float(self.num_others + 1)

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> int:
        return len(dataset)

    def _release(self, answer: int, num_samples: int) -> TabularDataset:
        return rows_of(blank_record(self.target), [answer], None)

    def evidence(self, release: TabularDataset) -> float:
        """Number of records."""
        return float(len(release))

    @property
    def true_epsilon(self) -> float:
        """The size tells for certain."""
        return math.inf

    @property
    def rates(self) -> tuple[float, float]:
        """Always, and never."""
        return 1.0, 0.0
