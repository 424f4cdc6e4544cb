"""A control that keeps no record whole: every column on its own, which on small tables tells."""

import numpy as np

from tapas._validate import check_count
from tapas.datasets import EncodedTable, TabularDataset
from tapas.generators._discretise import Bins
from tapas.generators._table_generator import TableGenerator, table_like
from tapas.generators._tables import log_shares


class IndependentMarginals(TableGenerator):
    """Draws every column independently of the others.

    A category is drawn with the frequency it has in the data, missing values included. A number
    is drawn from a histogram of about equally full bins, uniformly within its bin, so that a
    record's own numbers are not repeated; numbers that are frequent keep a bin of their own.

    Parameters
    ----------
    num_bins : int or None
        Bins of a number column. None draws the numbers of the data themselves.

    Attributes
    ----------
    frequencies_ : dict of ndarray
        For each column the frequency of each category or bin, in order; missing comes last.
    bins_ : dict of Bins
        For each number column.
    """

    accepts_free_text = True

    def __init__(self, num_bins: int | None = 20) -> None:
        super().__init__()
        if num_bins is not None:
            check_count(num_bins, "num_bins", minimum=1)
        self.num_bins = num_bins

    @property
    def label(self) -> str:
        """Display name."""
        return "IndependentMarginals" + ("" if self.num_bins == 20 else f"(bins={self.num_bins})")

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        self.schema_ = table.take([])
        self.frequencies_: dict[str, np.ndarray] = {}
        self.bins_: dict[str, Bins] = {}
        for position, column in enumerate(table.coded_columns()):
            self.frequencies_[column.name] = _frequencies(table.codes[:, position])
        for position, column in enumerate(table.number_columns()):
            values = table.numbers[:, position]
            bins = Bins.from_data(
                values, self.num_bins or len(values), whole=column.kind in ("integer", "date")
            )
            self.bins_[column.name] = bins
            self.frequencies_[column.name] = _frequencies(bins.encode(values))

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Log probability of each column, (records, columns)."""
        found = []
        for column in dataset.table.columns:
            values, shares = dataset.table.column(column.name), self.frequencies_[column.name]
            codes = values if column.is_coded else self.bins_[column.name].encode(values)
            # Missing, -1, comes last; a category above the last that occurs has no share.
            padded = np.append(shares[:-1], [0.0, shares[-1]])
            place = np.where(codes == -1, -1, np.minimum(codes, len(shares) - 1))
            found.append(log_shares(padded[place.astype(int)], self.num_records_))
        return np.stack(found, axis=1)

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        codes = [
            _draw_codes(self.frequencies_[column.name], num_samples, rng)
            for column in self.schema_.coded_columns()
        ]
        numbers = [
            self.bins_[column.name].draw(
                _draw_codes(self.frequencies_[column.name], num_samples, rng), rng
            )
            for column in self.schema_.number_columns()
        ]
        return table_like(self.schema_, codes, numbers, num_samples)


def _frequencies(codes: np.ndarray) -> np.ndarray:
    """Frequency of the codes 0, 1, ..., and last of -1."""
    counts = np.bincount(codes.astype(np.int64) + 1)
    return np.append(counts[1:], counts[0]) / len(codes)


def _draw_codes(frequencies: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    cumulative = np.cumsum(frequencies)
    drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.where(drawn == len(frequencies) - 1, -1, drawn)
