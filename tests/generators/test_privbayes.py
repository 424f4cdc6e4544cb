"""PrivBayes: private structure, private tables."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators._privbayes import SCORE_SENSITIVITY, Node, PrivBayes
from tapas.testing import check_generator

SIZES = (3, 2, 4)
DESCRIPTION = DataDescription(
    [{"name": f"c{i}", "type": "finite", "representation": k} for i, k in enumerate(SIZES)]
)
ROWS = st.lists(st.tuples(*(st.integers(0, k - 1) for k in SIZES)), max_size=25)


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


def naive_score(cells, node):
    """Half the L1 distance from independence, by a loop over the rows."""
    rows = [(tuple(int(cells[p, i]) for p in node.parents), int(cells[node.column, i]))
            for i in range(cells.shape[1])]  # fmt: skip
    n = len(rows)
    joint = {pair: rows.count(pair) for pair in rows}
    parents = {p: sum(1 for q, _ in rows if q == p) for p, _ in rows}
    values = {x: sum(1 for _, y in rows if y == x) for _, x in rows}
    return (
        sum(
            abs(joint.get((p, x), 0) - a * b / n)
            for p, a in parents.items()
            for x, b in values.items()
        )
        / 2
    )


@given(rows=ROWS, extra=st.tuples(*(st.integers(0, k - 1) for k in SIZES)))
@settings(max_examples=150, deadline=None)
def test_one_more_record_changes_a_score_by_at_most_its_sensitivity(rows, extra):
    generator = PrivBayes(1.0, missing=False).fit(TabularDataset(rows, DESCRIPTION), 0)
    for node in (Node(0, (1,)), Node(2, (0, 1)), Node(1, (0, 2))):
        without = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        with_it = np.array([*rows, extra], dtype=np.int64).T
        before, after = (generator._score(cells, node) for cells in (without, with_it))
        assert abs(after - before) <= SCORE_SENSITIVITY
        assert after == math.floor(naive_score(with_it, node) + 1e-9)


def test_the_sensitivity_is_nearly_reached():
    generator = PrivBayes(1.0, missing=False)
    generator.fit(TabularDataset([], DESCRIPTION), 0)
    rows = np.zeros((3, 1_000), dtype=np.int64)
    with_it = np.concatenate([rows, [[1], [1], [1]]], axis=1)
    with_two = np.concatenate([with_it, [[1], [1], [1]]], axis=1)
    scores = [naive_score(cells, Node(0, (1,))) for cells in (rows[:, :300], with_it, with_two)]
    assert 1.9 < scores[1] - scores[0] < 2
    assert generator._score(with_it, Node(0, (1,))) == 1


def test_it_keeps_every_promise_of_a_generator():
    check_generator(PrivBayes(1.0))
    check_generator(PrivBayes(1.0, degree=1), chain(60, 0))


def test_a_chain_is_found_and_its_dependence_kept():
    data = chain(5_000, 1)
    generator = PrivBayes(2.0, degree=1).fit(data, random_state=0)
    made = generator.generate(5_000, random_state=1)
    own, copy = (np.corrcoef(d.numeric()[:, 1::2].T) for d in (data, made))
    links = [{node.column, *node.parents} for node in generator.network_ if node.parents]
    assert links.count({1, 2}) == 1
    for i, j in pairwise(range(5)):
        assert copy[i, j] == pytest.approx(own[i, j], abs=0.1)


def test_the_network_is_an_order_in_which_parents_come_first():
    data = load_sample("census", rows=2_000, seed=0)
    generator = PrivBayes(5.0, degree=2).fit(data, random_state=2)
    seen = set()
    for node in generator.network_:
        assert set(node.parents) <= seen
        assert len(node.parents) <= 2
        seen.add(node.column)
    assert seen == set(range(13))


def test_the_budget_is_divided_and_adds_up():
    generator = PrivBayes(0.7).fit(chain(50, 0), random_state=0)
    assert math.fsum(s.amount for s in generator.budget_.spends) == pytest.approx(0.7)
    assert generator.budget_.of("structure") == pytest.approx(0.35 * 0.7)
    alone = PrivBayes(0.7, degree=0).fit(chain(50, 0), random_state=0)
    assert alone.budget_.of("tables") == pytest.approx(0.7)


def test_the_noise_of_the_tables_has_its_scale():
    description = DataDescription(
        [{"name": str(i), "type": "finite", "representation": 3_000} for i in range(2)]
    )
    generator = PrivBayes(1.0, missing=False).fit(TabularDataset([], description), random_state=0)
    share = math.exp(-0.6 / 2)
    noise = np.concatenate([counts.ravel() for counts in generator.counts_])
    assert noise.var() == pytest.approx(2 * share / (1 - share) ** 2, rel=0.1)


def test_a_table_too_noisy_to_be_useful_is_not_used():
    data = chain(30, 0)
    assert not any(node.parents for node in PrivBayes(0.01).fit(data, 0).network_)


def test_few_candidates_are_a_random_part_of_all():
    data = chain(300, 0, columns=8)
    generator = PrivBayes(3.0, degree=3, max_candidates=5).fit(data, random_state=0)
    assert len(generator.network_) == 8


@pytest.mark.parametrize("rows", [0, 1])
def test_tiny_tables_work(rows):
    generator = PrivBayes(1.0).fit(chain(5, 0).take(range(rows)), random_state=0)
    assert len(generator.generate(4, random_state=0)) == 4
    assert len(generator.generate(0)) == 0


def test_one_column_is_its_noisy_histogram():
    data = chain(200, 0, columns=1)
    generator = PrivBayes(1e6).fit(data, random_state=0)
    assert generator.counts_[0].sum() == 200


def test_parameters_are_checked():
    with pytest.raises(ConfigError, match="degree"):
        PrivBayes(1.0, degree=-1)
    with pytest.raises(ConfigError, match="usefulness"):
        PrivBayes(1.0, usefulness=0)
    assert PrivBayes(1.0, 3).label == "PrivBayes(epsilon=1, degree=3)"
