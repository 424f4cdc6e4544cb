"""Mechanisms whose epsilon is known exactly: the truth that an auditor is audited with.

Each is a generator that answers a question about one *target* record and writes the answer into a
synthetic table. `evidence` reads it back, and the event ``evidence >= threshold`` is the one by
which the mechanism leaks most (or nearly so), with the true and false positive `rates` given in
closed form for a target whose like is not in the rest of the data.
"""

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy

from tapas._validate import check_count, check_probability, listing
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import ConfigError, MechanismError, NotTrainedError
from tapas.generators import Generator
from tapas.stats import gaussian_epsilon_from_mu
from tapas.testing._carriers import (
    check_target,
    count_of,
    number_as_rows,
    number_from_rows,
    rows_of,
)


class KnownMechanism(Generator):
    """A generator that states what it claims and what is true.

    A subclass writes `_answer`, `_release`, `evidence` and `rates`.

    Parameters
    ----------
    target : TabularDataset
        One record.
    epsilon : float
        What the mechanism claims.

    Attributes
    ----------
    claimed_epsilon, true_epsilon : float
        For neighbours in the sense of `relation`, with `delta`.
    threshold : float
        The event is ``evidence(release) >= threshold``.
    answer_ : object
        What `fit` computed; releases only show it.
    """

    relation = "add/remove"
    delta = 0.0
    threshold = 1.0

    def __init__(self, target: TabularDataset, epsilon: float = 1.0) -> None:
        super().__init__()
        self.target = check_target(target)
        if not 0 < float(epsilon) < math.inf:
            raise ConfigError(f"epsilon must be a positive number, got {epsilon!r}")
        self.epsilon = float(epsilon)

    @property
    def claimed_epsilon(self) -> float:
        """What the mechanism says of itself."""
        return self.epsilon

    @property
    def true_epsilon(self) -> float:
        """What is true."""
        return self.epsilon

    @property
    @abstractmethod
    def rates(self) -> tuple[float, float]:
        """Probability of the event with the target in the data, and without."""

    @abstractmethod
    def evidence(self, release: TabularDataset) -> float:
        """What a release says about the target; higher means in."""

    @abstractmethod
    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> Any:
        """The noisy answer."""

    @abstractmethod
    def _release(self, answer: Any, num_samples: int) -> TabularDataset:
        """The answer written as a table."""

    def fit(self, dataset: Dataset, random_state: Any = None, **kwargs: Any) -> Self:
        """Draw the noisy answer; parameters belong to the constructor."""
        if kwargs:
            raise ConfigError(
                f"{self.label} takes its parameters when it is made; fit got {listing(kwargs)}"
            )
        if not isinstance(dataset, TabularDataset):
            raise MechanismError(f"expected a TabularDataset, got {type(dataset).__name__}")
        self.answer_ = self._answer(dataset, np.random.default_rng(random_state))
        self.trained = True
        return self

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        """Write the answer as a table, in random order."""
        if not self.trained:
            raise NotTrainedError(f"no dataset was given to {self.label}: call fit first")
        release = self._release(self.answer_, check_count(num_samples, "num_samples"))
        rng = np.random.default_rng(random_state)
        return release.take(rng.permutation(len(release)), reset_index=True)

    @property
    def label(self) -> str:
        """Display name."""
        return f"{type(self).__name__}(epsilon={self.epsilon:g})"


class CountMechanism(KnownMechanism):
    """Answers with a whole number, shown as copies of the target."""

    def _release(self, answer: int, num_samples: int) -> TabularDataset:
        return number_as_rows(self.target, answer, num_samples)

    def evidence(self, release: TabularDataset) -> float:
        """The number."""
        return float(number_from_rows(self.target, release))


class RandomizedResponse(CountMechanism):
    """Says whether the target is there, and lies with probability ``1 / (1 + e**epsilon)``."""

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> int:
        present = count_of(self.target, dataset) > 0
        lies = rng.random() < 1 / (1 + math.exp(self.epsilon))
        return int(present != lies)

    @property
    def rates(self) -> tuple[float, float]:
        """The chance of a true answer, and of a lie."""
        lie = 1 / (1 + math.exp(self.epsilon))
        return 1 - lie, lie


class LaplaceCount(CountMechanism):
    """Number of records equal to the target, plus Laplace noise of scale 1/epsilon, floored."""

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> int:
        noise = rng.laplace(scale=1 / self.epsilon)
        return math.floor(count_of(self.target, dataset) + noise)

    @property
    def rates(self) -> tuple[float, float]:
        """Chances of an answer of at least 1 from 1 and from 0."""
        return laplace_tail(0, 1 / self.epsilon), laplace_tail(1, 1 / self.epsilon)


class GaussianCount(CountMechanism):
    """Number of records equal to the target, plus Gaussian noise for (epsilon, delta), floored.

    The standard deviation `sigma` is the smallest that suffices (Balle and Wang 2018); 3.73 for
    epsilon 1 and delta 1e-5. Single events show little of a Gaussian's epsilon.
    """

    def __init__(self, target: TabularDataset, epsilon: float = 1.0, delta: float = 1e-5) -> None:
        super().__init__(target, epsilon)
        self.delta = check_probability(delta, "delta", open_interval=True)
        self.sigma = _gaussian_sigma(self.epsilon, self.delta)

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> int:
        return math.floor(count_of(self.target, dataset) + rng.normal(scale=self.sigma))

    @property
    def rates(self) -> tuple[float, float]:
        """Chances of an answer of at least 1 from 1 and from 0."""
        return 0.5, float(scipy.special.ndtr(-1 / self.sigma))

    @property
    def label(self) -> str:
        """Display name."""
        return f"GaussianCount(epsilon={self.epsilon:g}, delta={self.delta:g})"


class NoisyHistogram(KnownMechanism):
    """Counts some public records, adds Laplace noise, and emits the rounded numbers of copies.

    Parameters
    ----------
    target : TabularDataset
        One record.
    epsilon : float
    others : TabularDataset, optional
        Further records that are counted; all are public. Records of the private data that are
        neither the target nor among these leave no trace.
    """

    threshold = 2.0

    def __init__(
        self,
        target: TabularDataset,
        epsilon: float = 1.0,
        others: TabularDataset | None = None,
    ) -> None:
        super().__init__(target, epsilon)
        self.records = self.target if others is None else self.target + others

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> np.ndarray:
        counts = (dataset.table.count_differences(self.records.table) == 0).sum(axis=1)
        return self._noisy(counts, dataset, rng)

    def _noisy(
        self, counts: np.ndarray, dataset: TabularDataset, rng: np.random.Generator
    ) -> np.ndarray:
        noise = rng.laplace(scale=1 / self.epsilon, size=len(counts))
        return np.rint(counts + noise).astype(np.int64)

    def _release(self, answer: np.ndarray, num_samples: int) -> TabularDataset:
        return rows_of(self.records, answer.tolist(), num_samples)

    def evidence(self, release: TabularDataset) -> float:
        """Number of copies of the target."""
        return float(count_of(self.target, release))

    @property
    def rates(self) -> tuple[float, float]:
        """Chances of two copies or more from 1 and from 0."""
        scale = 1 / self.epsilon
        return laplace_tail(0.5, scale), laplace_tail(1.5, scale)


def laplace_tail(value: float, scale: float) -> float:
    """Probability that Laplace noise is at least `value`."""
    half = math.exp(-abs(value) / scale) / 2
    return half if value >= 0 else 1 - half


def discrete_laplace_tail(value: int, scale: float) -> float:
    """Probability that discrete Laplace noise is at least `value`."""
    if value <= 0:
        return 1 - discrete_laplace_tail(1 - value, scale)
    return math.exp(-value / scale) / (1 + math.exp(-1 / scale))


def _gaussian_sigma(epsilon: float, delta: float) -> float:
    def excess(log_sigma: float) -> float:
        return float(gaussian_epsilon_from_mu(math.exp(-log_sigma), delta)) - epsilon

    return math.exp(scipy.optimize.brentq(excess, -8, 20))
