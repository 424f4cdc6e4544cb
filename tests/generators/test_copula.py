from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.generators._copula import CopulaMargin, GaussianCopula

NUMBERS = [{"name": n, "type": "real", "representation": "number"} for n in ("x", "y")]
NAMES = ["p", "q", "r", "s", "t"]


def normal_pair(correlation, rows=4000):
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    return x, correlation * x + np.sqrt(1 - correlation**2) * rng.normal(size=rows)


@pytest.mark.parametrize("correlation", [-0.9, -0.4, 0.0, 0.7])
def test_the_correlation_of_numbers_is_recovered(correlation):
    x, y = normal_pair(correlation)
    data = TabularDataset({"x": np.exp(x), "y": y**3}, DataDescription(NUMBERS))
    fitted = GaussianCopula().fit(data)
    assert abs(fitted.correlation_[0, 1] - correlation) < 0.04
    frame = fitted.generate(4000, random_state=1).data
    assert abs(np.corrcoef(np.log(frame["x"]), np.cbrt(frame["y"]))[0, 1] - correlation) < 0.06


@pytest.mark.parametrize("correlation", [-0.5, 0.6])
def test_the_correlation_behind_coarse_ordered_categories_is_recovered(correlation):
    x, y = normal_pair(correlation, 20_000)
    schema = [
        {"name": "x", "type": "finite/ordered", "representation": 3},
        {"name": "y", "type": "finite/ordered", "representation": 4},
    ]
    codes = {"x": np.searchsorted([-0.5, 0.8], x), "y": np.searchsorted([-1, 0, 1], y)}
    fitted = GaussianCopula().fit(TabularDataset(codes, DataDescription(schema)))
    assert abs(fitted.correlation_[0, 1] - correlation) < 0.05


def test_categories_without_an_order_keep_their_dependence():
    rng = np.random.default_rng(0)
    first = rng.integers(5, size=3000)
    second = np.where(rng.random(3000) < 0.8, (3 * first + 1) % 5, rng.integers(5, size=3000))
    words = np.array(NAMES, dtype=object)
    schema = [{"name": n, "type": "finite", "representation": NAMES} for n in ("x", "y")]
    data = TabularDataset({"x": words[first], "y": words[second]}, DataDescription(schema))
    release = GaussianCopula().fit(data).generate(6000, random_state=1)
    tables = [
        np.histogram2d(*part.table.codes.T, bins=5)[0] / len(part) for part in (data, release)
    ]
    independent = np.outer(tables[0].sum(1), tables[0].sum(0))
    lost = np.abs(tables[0] - independent).sum() / 2
    # One normal variable per column cannot show all of it.
    assert np.abs(tables[0] - tables[1]).sum() / 2 < 0.75 * lost


def test_missing_numbers_keep_their_tie_to_other_columns():
    x, latent = normal_pair(0.7)
    y = np.where(latent > 0.5, np.nan, np.random.default_rng(1).normal(size=4000))
    data = TabularDataset({"x": x, "y": y}, DataDescription(NUMBERS))
    frame = GaussianCopula().fit(data).generate(8000, random_state=0).data
    for made, real in ((frame["x"] > 0, x > 0), (frame["x"] <= 0, x <= 0)):
        assert abs(frame["y"][made].isna().mean() - np.isnan(y[real]).mean()) < 0.04


def test_scores_are_means_of_the_truncated_normal():
    ranks = np.repeat([0, 1, 2], [20, 50, 30])
    scores = CopulaMargin.of(ranks, np.arange(3)).scores()
    cuts = norm.ppf([0, 0.2, 0.7, 1])
    draws = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    expected = [draws[(draws >= a) & (draws < b)].mean() for a, b in pairwise(cuts)]
    assert np.allclose(scores, expected, atol=1e-3)


def test_quantiles_pass_through_the_data_and_keep_frequent_numbers():
    margin = CopulaMargin.of(np.array([0, 1, 1, 1, 1, 1, 1, 2, 3, 4]), np.array([0, 5, 6, 7, 9.0]))
    drawn = margin.quantiles((np.arange(10) + 0.5) / 10, 10)
    assert np.allclose(drawn, [0, 5, 5, 5, 5, 5, 5, 6, 7, 9])
    fine = margin.quantiles(np.linspace(0, 1, 1001), 10)
    assert (np.diff(fine) >= 0).all()
    assert abs((fine == 5).mean() - 0.5) < 0.01


def test_the_correlation_matrix_is_one():
    matrix = GaussianCopula().fit(load_sample("clinic", rows=60)).correlation_
    assert np.allclose(np.diag(matrix), 1)
    assert np.allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] > 0
