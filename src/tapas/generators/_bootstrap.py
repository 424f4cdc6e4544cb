"""The control from which everything leaks."""

import numpy as np

from tapas.datasets import EncodedTable
from tapas.generators._table_generator import TableGenerator


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

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        rows = rng.integers(len(self.records_), size=num_samples)
        return self.records_.take(rows, reset_index=True)
