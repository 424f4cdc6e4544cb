"""A generator of one's own, beside the audit file that names it."""

from typing import Any

import numpy as np

from tapas.datasets import TabularDataset
from tapas.generators import Generator


class ShuffledColumns(Generator):
    """Shuffles every column on its own, then draws rows.

    Parameters
    ----------
    keep : int
        How many of the first columns stay together.
    """

    def __init__(self, keep: int = 0) -> None:
        super().__init__()
        self.keep = keep

    @property
    def label(self) -> str:
        """Display name."""
        return f"ShuffledColumns(keep={self.keep})"

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        """Keep the data."""
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        """Draw rows of shuffled columns."""
        rng = np.random.default_rng(random_state)
        frame = self.dataset.data.copy()
        for column in frame.columns[self.keep :]:
            frame[column] = rng.permutation(frame[column].to_numpy())
        rows = rng.integers(len(frame), size=num_samples)
        return TabularDataset(frame.iloc[rows].reset_index(drop=True), self.dataset.description)
