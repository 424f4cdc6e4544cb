"""What a generator is."""

from abc import ABC, abstractmethod
from typing import Any

from tapas.datasets import Dataset, RandomSource, TabularDataset


class Generator(ABC):
    """Learns from a private dataset and makes synthetic ones.

    A subclass writes `fit` and `generate`. Where `fit` or `generate` name a parameter
    ``random_state`` or ``seed``, an audit passes a different one for every run; the global numpy,
    random and torch generators are seeded as well. An audit works on a copy of the generator for
    each run, so state kept from one `fit` cannot reach the next.

    A release of fewer or more records than were asked for counts as a failure, unless
    `any_number` is set on the class or the object.
    """

    UNNAMED = "Unnamed Generator"
    any_number = False
    trained = False

    def __init__(self) -> None:
        self.trained = False

    @abstractmethod
    def fit(self, dataset: Dataset, **kwargs: Any) -> Any:
        """Learn from `dataset`."""

    @abstractmethod
    def generate(self, num_samples: int, random_state: RandomSource = None) -> Dataset:
        """Make `num_samples` synthetic records."""

    def refuse_table(self, dataset: TabularDataset) -> None:  # noqa: B027
        """Refuse a table that cannot be learnt from, by its schema alone: before any trial."""

    def __call__(self, dataset: Dataset, num_samples: int, **kwargs: object) -> Dataset:
        """Fit (with the keyword arguments), then generate."""
        self.fit(dataset, **kwargs)
        return self.generate(num_samples)

    @property
    def label(self) -> str:
        """Display name; a subclass gives its own, as a property or a class attribute."""
        return self.UNNAMED

    def __str__(self) -> str:
        return self.label
