"""The generator that hides nothing."""

from typing import Any

import numpy as np

from tapas.datasets import Dataset, RandomSource, TabularDataset
from tapas.errors import NotTrainedError
from tapas.generators._base import Generator
from tapas.generators._tables import log_copies


class Raw(Generator):
    """Publishes a sample of the private records themselves: the worst case to compare with."""

    def __init__(self) -> None:
        super().__init__()
        self.dataset: Any = None

    def fit(self, dataset: Dataset, **kwargs: object) -> None:
        """Keep the dataset."""
        self.dataset = dataset
        self.trained = True

    def generate(
        self, num_samples: int | None = None, random_state: RandomSource = None
    ) -> Dataset:
        """Draw records without replacement, or return all of them if no number is given."""
        if not self.trained:
            raise NotTrainedError("no dataset was given to Raw: call fit(dataset) first")
        if num_samples is None:
            return self.dataset.copy()
        return self.dataset.sample(num_samples, random_state=random_state)

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Log of the share of kept records that equal each record, (records, 1)."""
        return log_copies(dataset.table, self.dataset.table)

    def __call__(  # type: ignore[override]
        self, dataset: Dataset, num_samples: int | None = None, random_state: RandomSource = None
    ) -> Dataset:
        """Fit, then generate."""
        self.fit(dataset)
        return self.generate(num_samples, random_state=random_state)

    @property
    def label(self) -> str:
        """Display name."""
        return "Raw"
