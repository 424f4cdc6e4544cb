from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators._bayesian_network import BayesianNetwork, _entropy


def coded(columns, sizes):
    schema = [
        {"name": f"c{i}", "type": "finite", "representation": size} for i, size in enumerate(sizes)
    ]
    frame = {f"c{i}": values for i, values in enumerate(columns)}
    return TabularDataset(frame, DataDescription(schema))


def noisy(values, size, rng, keep=0.8):
    return np.where(
        rng.random(len(values)) < keep, values % size, rng.integers(size, size=len(values))
    )


def chain(rows=5000):
    rng = np.random.default_rng(0)
    columns = [rng.integers(4, size=rows)]
    for _ in range(4):
        columns.append(noisy(columns[-1], 4, rng))
    return coded([columns[i] for i in (2, 0, 4, 1, 3)], [4] * 5)


def test_with_one_parent_the_network_is_the_best_tree():
    data = chain()
    fitted = BayesianNetwork(degree=1).fit(data)
    edges = {frozenset((c, p)) for c, parents in fitted.parents_.items() for p in parents}
    # c0..c4 hold steps 2, 0, 4, 1, 3 of the chain.
    assert edges == {frozenset(e) for e in (("c1", "c3"), ("c3", "c0"), ("c0", "c4"), ("c4", "c2"))}


def test_pairs_of_columns_are_reproduced():
    data = chain()
    release = BayesianNetwork(degree=1).fit(data).generate(20_000, random_state=0)
    for i, j in combinations(range(5), 2):
        shares = [
            np.bincount(part.table.codes[:, i] * 4 + part.table.codes[:, j], minlength=16)
            / len(part)
            for part in (data, release)
        ]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.04


def test_two_parents_reproduce_what_no_pair_of_columns_shows():
    rng = np.random.default_rng(0)
    first, second = rng.integers(2, size=(2, 3000))
    data = coded([first, second, first ^ second], [2, 2, 2])
    release = BayesianNetwork(degree=2).fit(data).generate(2000, random_state=0)
    a, b, c = release.table.codes.T
    assert (a ^ b == c).mean() > 0.99


def test_columns_without_ties_have_no_parents():
    rng = np.random.default_rng(1)
    data = coded(rng.integers(5, size=(6, 2000)), [5] * 6)
    assert sum(len(p) for p in BayesianNetwork(degree=3).fit(data).parents_.values()) <= 1
    assert not any(BayesianNetwork(degree=0).fit(chain()).parents_.values())


def test_no_column_has_more_parents_than_the_degree():
    data = load_sample("census", rows=3000)
    for degree in (1, 2, 3):
        tables = BayesianNetwork(degree=degree).fit(data).tables_
        assert max(len(table.parents) for table in tables.values()) <= degree
        drawn = set()
        for name, table in tables.items():
            assert drawn.issuperset(table.parents)
            drawn.add(name)


def test_conditional_tables_are_smoothed_frequencies():
    data = coded([[0, 0, 1, 1, 1, 2] * 60, [0, 0, 1, 1, 0, 1] * 60], [3, 2])
    fitted = BayesianNetwork(degree=1, smoothing=0.5).fit(data)
    child = fitted.tables_["c1"]
    assert child.parents == ("c0",)
    counts = np.array([[120, 0], [60, 120], [0, 60.0]]) + 0.5 * np.array([0.5, 0.5])
    assert np.allclose(child.probabilities, counts / counts.sum(axis=1, keepdims=True))


def test_the_entropies_give_scikit_learns_mutual_information():
    rng = np.random.default_rng(0)
    first = rng.integers(6, size=500)
    second = noisy(first, 4, rng)
    ours = (
        _entropy(np.bincount(first))
        + _entropy(np.bincount(second))
        - _entropy(np.bincount(first * 4 + second))
    )
    assert np.isclose(ours, mutual_info_score(first, second))


def test_correlated_numbers_stay_so():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    frame = {"x": x, "y": 0.9 * x + np.sqrt(0.19) * rng.normal(size=3000)}
    schema = [{"name": n, "type": "real", "representation": "number"} for n in ("x", "y")]
    data = TabularDataset(frame, DataDescription(schema))
    made = BayesianNetwork().fit(data).generate(3000, random_state=0).data
    assert (
        abs(made.corr(method="spearman").iloc[0, 1] - data.data.corr(method="spearman").iloc[0, 1])
        < 0.05
    )


def test_parameters_are_checked():
    with pytest.raises(ConfigError, match="degree"):
        BayesianNetwork(degree=-1)
    with pytest.raises(ConfigError, match="smoothing"):
        BayesianNetwork(smoothing=-0.1)
    with pytest.raises(ConfigError, match="num_bins"):
        BayesianNetwork(num_bins=0)
