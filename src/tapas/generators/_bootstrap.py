"""The control from which everything leaks."""

import numpy as np

from tapas.datasets import EncodedTable, TabularDataset
from tapas.generators._table_generator import TableGenerator
from tapas.generators._tables import log_copies


class Bootstrap(TableGenerator):
    """Publishes private records drawn with replacement.

    Unlike `Raw` it can make more records than it was given, and a given record may be absent:
    from n records to n, with probability 1/e.

    Attributes
    ----------
    records_ : EncodedTable
        The private records.
    """

    accepts_free_text = True

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        self.records_ = table

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Log of the share of private records that equal each record, (records, 1)."""
        return log_copies(dataset.table, self.records_)

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        rows = rng.integers(len(self.records_), size=num_samples)
        return self.records_.take(rows, reset_index=True)
