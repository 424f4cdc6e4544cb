"""Gaussian copula for tables of numbers and categories."""

from dataclasses import dataclass

import numpy as np

from tapas.datasets import Column, EncodedTable, TabularDataset
from tapas.generators._discretise import decimals_of, rounded
from tapas.generators._states import association_order, from_columns, to_states
from tapas.generators._table_generator import TableGenerator
from tapas.generators._tables import log_shares

BINS_FOR_ORDERING = 10
SMALLEST_EIGENVALUE = 1e-6


@dataclass(frozen=True, eq=False)
class CopulaMargin:
    """Values of one latent variable in order, and where each one's interval of [0, 1] ends.

    Attributes
    ----------
    values : ndarray
        Codes, distinct numbers, or 0 and 1 for "is there" and "is missing".
    ends : ndarray
        Cumulative frequencies.
    """

    values: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, ranks: np.ndarray, values: np.ndarray) -> "CopulaMargin":
        """From the rank of each record's value among `values`; -1 where it has none."""
        counts = np.bincount(ranks[ranks >= 0], minlength=len(values))
        ends = np.cumsum(counts) / max(counts.sum(), 1)
        if len(ends):
            ends[-1] = 1.0
        return cls(values, ends)

    def scores(self) -> np.ndarray:
        """Mean of a standard normal variable within each value's interval."""
        from scipy.special import ndtri

        width = np.diff(self.ends, prepend=0.0)
        density = np.exp(-(ndtri(self.ends) ** 2) / 2) / np.sqrt(2 * np.pi)
        drop = -np.diff(density, prepend=0.0)
        return np.divide(drop, width, out=np.zeros_like(drop), where=width > 0)

    def seen(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Share of each value, 0 where it did not occur, and its normal score (the nearest's)."""
        shares, scores = np.zeros(len(values)), np.zeros(len(values))
        order = np.argsort(self.values, kind="stable")
        present = ~np.isnan(values)
        if len(order) == 0 or not present.any():
            return shares, scores
        place = np.searchsorted(self.values[order], values[present])
        rank = order[np.minimum(place, len(order) - 1)]
        equal = self.values[rank] == values[present]
        shares[present] = np.where(equal, np.diff(self.ends, prepend=0.0)[rank], 0.0)
        scores[present] = self.scores()[rank]
        return shares, scores

    def pick(self, uniforms: np.ndarray) -> np.ndarray:
        """The value in whose interval each number lies."""
        where = np.searchsorted(self.ends, uniforms, side="right")
        return self.values[np.minimum(where, len(self.values) - 1)]

    def quantiles(self, uniforms: np.ndarray, num_records: int) -> np.ndarray:
        """Like `pick`, but sliding between neighbouring values over the width of one record."""
        half = 0.5 / num_records
        starts = np.append(0.0, self.ends[:-1])
        knots = np.stack([starts + half, np.maximum(self.ends - half, starts + half)], axis=1)
        return np.interp(uniforms, knots.ravel(), np.repeat(self.values, 2))


class GaussianCopula(TableGenerator):
    """Joins the marginal distributions of the data through correlated normal variables.

    A number goes to its normal score and comes back through the empirical quantiles. A category
    takes an interval of the normal variable as wide as its frequency; categories without a
    declared order are put in the one that shows most of their ties to the other columns. A
    missing category is a category; whether a number is missing is a variable of its own.
    Correlations are of the mean scores within intervals, corrected for the coarseness of the
    intervals and shrunk towards 0 where they are no larger than chance.

    Attributes
    ----------
    correlation_ : ndarray
        Of the latent variables: one per column in schema order, then one per number column with
        missing values.
    margins_ : dict of CopulaMargin
        For each column.
    missing_margins_ : dict of CopulaMargin
        For each number column with missing values.

    References
    ----------
    Nelsen (2006), "An introduction to copulas"; Patki, Wedge, Veeramachaneni (2016), "The
    synthetic data vault".
    """

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        self.schema_ = table.take([])
        self.margins_: dict[str, CopulaMargin] = {}
        self.missing_margins_: dict[str, CopulaMargin] = {}
        self.decimals_: dict[str, int | None] = {}
        ranks = self._rank_columns(table)
        for column in table.number_columns():
            missing = np.isnan(table.column(column.name))
            if missing.any():
                margin = CopulaMargin.of(missing.astype(np.int64), np.array([0, 1]))
                self.missing_margins_[column.name] = margin
                ranks.append(missing.astype(np.int64))
        margins = [*self.margins_.values(), *self.missing_margins_.values()]
        scores = [
            np.append(margin.scores(), 0.0)[rank]
            for margin, rank in zip(margins, ranks, strict=True)
        ]
        self.correlation_ = _latent_correlation(np.stack(scores, axis=1))

    def _rank_columns(self, table: EncodedTable) -> list[np.ndarray]:
        """Set the margins; return the rank of every record's value in each column."""
        spaces, states = to_states(table, BINS_FOR_ORDERING)
        sizes = [len(space) for space in spaces]
        ranks = []
        for position, (column, space) in enumerate(zip(table.columns, spaces, strict=True)):
            if not column.is_coded:
                rank, values = ranked_numbers(table.column(column.name))
                self.decimals_[column.name] = decimals_of_column(column, values)
            else:
                order = np.arange(len(space))
                if column.kind == "category":
                    others = [i for i in range(len(spaces)) if i != position]
                    order = association_order(
                        states[position],
                        len(space),
                        [states[i] for i in others],
                        [sizes[i] for i in others],
                    )
                rank, values = np.argsort(order)[states[position]], space.levels[order]
            self.margins_[column.name] = CopulaMargin.of(rank, values)
            ranks.append(rank)
        return ranks

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Log share of each column's value, and the log density of the copula at all of them."""
        margins, scores = [], []
        for column in dataset.table.columns:
            margin, values = self.margins_[column.name], dataset.table.column(column.name)
            shares, normal = margin.seen(values)
            margins.append(log_shares(shares, self.num_records_))
            scores.append(normal)
        normals = np.stack(scores, axis=1)
        joint = self.correlation_[: len(scores), : len(scores)]
        gain = np.linalg.inv(joint) - np.eye(len(scores))
        density = -0.5 * (np.einsum("ki,ij,kj->k", normals, gain, normals))
        density -= 0.5 * np.linalg.slogdet(joint)[1]
        return np.stack([*margins, density], axis=1)

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        from scipy.special import ndtr

        factor = np.linalg.cholesky(self.correlation_)
        # Not a BLAS product: its last bits depend on the number of threads.
        normals = np.einsum("ij,kj->ki", rng.standard_normal((num_samples, len(factor))), factor)
        uniforms = ndtr(normals)
        missing = dict(zip(self.missing_margins_, uniforms[len(self.margins_) :], strict=True))
        values = [
            self._values(column, uniform, missing.get(column.name))
            for column, uniform in zip(self.schema_.columns, uniforms, strict=False)
        ]
        return from_columns(self.schema_, values, num_samples)

    def _values(
        self, column: Column, uniforms: np.ndarray, missing: np.ndarray | None
    ) -> np.ndarray:
        margin = self.margins_[column.name]
        if column.is_coded:
            return margin.pick(uniforms)
        if len(margin.values) == 0:
            return np.full(len(uniforms), np.nan)
        numbers = margin.quantiles(uniforms, self.num_records_)
        numbers = rounded(numbers, self.decimals_[column.name])
        if missing is None:
            return numbers
        return np.where(self.missing_margins_[column.name].pick(missing) == 1, np.nan, numbers)


def ranked_numbers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    present = ~np.isnan(values)
    distinct, ranks = np.unique(values[present], return_inverse=True)
    rank = np.full(len(values), -1)
    rank[present] = ranks
    return rank, distinct


def decimals_of_column(column: Column, values: np.ndarray) -> int | None:
    return 0 if column.kind in ("integer", "date") else decimals_of(values)


def _latent_correlation(scores: np.ndarray) -> np.ndarray:
    """Correlation of the normal variables whose coarsened means are the scores.

    To first order in r the covariance of two mean scores is r v w, with v and w their variances.
    """
    rows = len(scores)
    covariance = np.einsum("ki,kj->ij", scores, scores) / rows
    variance = np.diag(covariance)
    product = np.outer(variance, variance)
    known = product > 1e-12
    strength = np.divide(covariance**2, np.sqrt(product), out=np.zeros_like(product), where=known)
    shrink = np.maximum(0.0, 1 - 1 / np.maximum(rows * strength, 1e-12))
    raw = np.divide(covariance, product, out=np.zeros_like(product), where=known)
    correlation = np.clip(raw * shrink, -0.999, 0.999)
    np.fill_diagonal(correlation, 1.0)
    return _nearest_correlation(correlation)


def _nearest_correlation(matrix: np.ndarray) -> np.ndarray:
    """Lift the eigenvalues of a symmetric matrix above zero and restore its unit diagonal."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= SMALLEST_EIGENVALUE:
        return matrix
    lifted = (vectors * np.maximum(values, SMALLEST_EIGENVALUE)) @ vectors.T
    scale = np.sqrt(np.diag(lifted))
    correlation = lifted / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    return (correlation + correlation.T) / 2
