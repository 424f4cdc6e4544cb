"""MST: a private tree of two-way tables."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators._accounting import epsilon_from_rho
from tapas.generators._mst import MST
from tapas.generators._tree import consistent_marginals, fit_to_marginals, walk
from tapas.testing import check_generator

SIZES = (3, 2, 4)
DESCRIPTION = DataDescription(
    [{"name": f"c{i}", "type": "finite", "representation": k} for i, k in enumerate(SIZES)]
)
RECORD = st.tuples(*(st.integers(0, k - 1) for k in SIZES))


def chain(rows, seed, columns=5, keep=0.9):
    """Binary columns in which each mostly repeats the one before."""
    rng = np.random.default_rng(seed)
    values = [rng.integers(0, 2, rows)]
    for _ in range(columns - 1):
        values.append(np.where(rng.random(rows) < keep, values[-1], 1 - values[-1]))
    description = DataDescription(
        [{"name": f"c{i}", "type": "finite", "representation": 2} for i in range(columns)]
    )
    return TabularDataset(np.stack(values, axis=1), description)


@given(rows=st.lists(RECORD, max_size=25), extra=RECORD, seed=st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_one_more_record_changes_a_dependence_by_at_most_one(rows, extra, seed):
    generator = MST(1.0, missing=False).fit(TabularDataset(rows, DESCRIPTION), seed)
    rng = np.random.default_rng(seed)
    one_way = [rng.random(size) * 20 for size in SIZES]
    without = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    with_it = np.array([*rows, extra], dtype=np.int64).T
    for pair in ((0, 1), (0, 2), (1, 2)):
        before, after = (generator._dependence(c, one_way, pair) for c in (without, with_it))
        assert abs(after - before) <= 1


def test_it_keeps_every_promise_of_a_generator():
    check_generator(MST(1.0))
    check_generator(MST(1.0), chain(60, 0))


def test_the_tree_of_a_chain_is_the_chain():
    generator = MST(3.0).fit(chain(5_000, 1), random_state=0)
    assert sorted(generator.edges_) == list(pairwise(range(5)))


def test_dependence_along_the_tree_is_kept():
    data = chain(5_000, 2)
    made = MST(3.0).fit(data, random_state=0).generate(5_000, random_state=1)
    own, copy = (np.corrcoef(d.numeric()[:, 1::2].T) for d in (data, made))
    assert np.abs(own - copy).max() < 0.1


def test_tables_agree_with_the_marginals_of_their_columns():
    generator = MST(1.0).fit(load_sample("census", rows=500), random_state=0)
    for (i, j), table in generator.tables_.items():
        assert table.sum(axis=1) == pytest.approx(generator.marginals_[i], abs=1e-9)
        assert table.sum(axis=0) == pytest.approx(generator.marginals_[j], abs=1e-9)


def test_the_budget_implies_epsilon_and_delta_and_is_divided_in_three():
    generator = MST(0.8, 1e-5).fit(chain(50, 0), random_state=0)
    assert epsilon_from_rho(generator.budget_.total, 1e-5) <= 0.8
    spent = math.fsum(spend.amount for spend in generator.budget_.spends)
    assert spent == pytest.approx(generator.rho_)
    assert len(generator.budget_.spends) == 3


def test_the_noise_has_the_variance_that_was_accounted_for():
    description = DataDescription(
        [{"name": str(i), "type": "finite", "representation": 300} for i in range(3)]
    )
    generator = MST(1.0, 1e-6, missing=False).fit(TabularDataset([], description), random_state=0)
    share = generator.rho_ / 3
    ones = np.concatenate(generator.one_way_counts_)
    twos = np.concatenate([table.ravel() for table in generator.two_way_counts_.values()])
    assert ones.dtype == twos.dtype == np.int64
    assert ones.var() == pytest.approx(3 / (2 * share), rel=0.2)
    assert twos.var() == pytest.approx(2 / (2 * share), rel=0.02)


def test_pairs_with_too_many_cells_are_never_joined():
    generator = MST(1.0, max_cells=8, missing=False).fit(
        TabularDataset([(0, 1, 2)] * 30, DESCRIPTION), random_state=0
    )
    assert sorted(generator.edges_) == [(0, 1), (1, 2)]
    alone = MST(1.0, max_cells=1).fit(chain(30, 0), random_state=0)
    assert alone.edges_ == []
    assert [spend.purpose for spend in alone.budget_.spends] == ["one-way counts"]
    assert len(alone.generate(7)) == 7


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_tiny_tables_work(rows, columns):
    generator = MST(1.0).fit(chain(5, 0, columns).take(range(rows)), random_state=0)
    assert len(generator.generate(4, random_state=0)) == 4
    assert len(generator.generate(0)) == 0


def test_mixed_columns_with_missing_values_come_back_in_kind():
    bounds = {
        "admitted": ("2023-01-01", "2024-12-31"),
        "triage time": ("2023-01-01", "2025-01-01"),
        "age": (0, 110),
        "length of stay": (0, 60),
        "charge": (0, 50_000),
        "temperature": (34, 42),
    }
    check_generator(MST(1.0, bounds=bounds, bins=6), load_sample("clinic", rows=80, seed=1))


def test_noisy_marginals_are_averaged_by_their_precision():
    one_way = [np.array([30.0, 10.0]), np.array([5.0, 35.0])]
    two_way = {(0, 1): np.array([[4.0, 20.0], [0.0, 16.0]])}
    merged = consistent_marginals(one_way, two_way, (1.0, 2.0))
    # A sum over two cells of variance 2 has variance 4: weights 1 and 1/4. All agree on 40 rows.
    assert merged[0] == pytest.approx([(30 + 24 / 4) / 50, (10 + 16 / 4) / 50])
    assert merged[1] == pytest.approx([(5 + 4 / 4) / 50, (35 + 36 / 4) / 50])


def test_fitting_reaches_the_marginals_from_any_noise():
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.normal(0, 10, (4, 6))
        rows, columns = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(6))
        joint = fit_to_marginals(counts, rows, columns)
        assert joint.min() >= 0
        assert joint.sum(axis=0) == pytest.approx(columns, abs=1e-9)
        assert joint.sum(axis=1) == pytest.approx(rows, abs=1e-9)


def test_a_walk_visits_parents_first_and_every_part_of_a_forest():
    visits = list(walk(5, [(3, 1), (1, 4)]))
    assert visits[0] == (0, None)
    assert (2, None) in visits
    seen = set()
    for column, parent in visits:
        assert parent is None or parent in seen
        seen.add(column)
    assert seen == set(range(5))


def test_delta_must_lie_between_zero_and_one():
    with pytest.raises(ConfigError, match="delta"):
        MST(1.0, 0.0)
    assert MST(1.0, 1e-5).label == "MST(epsilon=1, delta=1e-05)"
