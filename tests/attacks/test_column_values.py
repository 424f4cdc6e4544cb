"""Densities of single columns, and the attacks that read them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixed_tables import membership_briefing, mixed_table, seen
from sklearn.neighbors import KernelDensity

from tapas.attacks import DOMIAS, Attack, ProbabilityEstimationAttack, RecordEnsembleAttack
from tapas.attacks.tables._column_values import ColumnValues, log_shares
from tapas.attacks.tables._mixed_kernel import MixedKernel
from tapas.attacks.tables._numeric_parts import NumericParts
from tapas.datasets import DataDescription, TabularDataset
from tapas.threat_models import ObservedMIA

LINE = DataDescription([{"name": "x", "type": "real"}], "line")
LINES = DataDescription([{"name": n, "type": "real"} for n in "xyz"], "lines")
MARKS = DataDescription(
    [{"name": n, "type": "finite", "representation": ["a", "b", "c"]} for n in "uv"], "marks"
)


def line(values: np.ndarray) -> TabularDataset:
    return TabularDataset(pd.DataFrame({"x": values}), LINE)


def naive_log_density(columns: ColumnValues, place: int, x: float, data: np.ndarray) -> float:
    present = data[~np.isnan(data)]
    absent = (np.isnan(data).sum() + 0.5) / (len(data) + 1)
    if np.isnan(x):
        return float(np.log(absent))
    reaches = [columns.spreads[place] * 0.5**k for k in range(columns.halvings[place] + 1)]
    parts = [(np.abs(present - x) <= r).sum() / (2 * r) for r in reaches]
    parts.append((present == x).sum() / reaches[-1])
    density = (1 / columns.ranges[place] + np.mean(parts)) / (len(present) + 1)
    return float(np.log(density) + np.log(1 - absent))


@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_densities_of_numbers_are_those_of_the_definition(missing: float) -> None:
    data, reference = mixed_table(23, 1, missing), mixed_table(31, 2, missing)
    targets = mixed_table(9, 3, missing)
    columns = ColumnValues.between(data, reference)
    found = columns.log_densities(targets, data)
    asked, given = NumericParts.of(targets).numbers, NumericParts.of(data).numbers
    assert found.shape == (7, 9)
    for place in range(7):
        expected = [naive_log_density(columns, place, x, given[place]) for x in asked[place]]
        assert found[place] == pytest.approx(expected)


def test_densities_of_evenly_spread_numbers_are_one_on_average() -> None:
    grid = line((np.arange(4000) + 0.5) / 4000)
    columns = ColumnValues.between(grid, grid)
    anywhere = line(np.random.default_rng(0).uniform(0.4, 0.6, 4000))
    mean = np.exp(columns.log_densities(anywhere, grid)[0]).mean()
    # Every cell has its share of records; nothing equals a number that is drawn anew.
    cells = columns.halvings[0] + 1
    assert mean == pytest.approx(cells / (cells + 1), abs=0.03)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_excess_is_the_density_at_a_number_to_that_of_both_tables_in_wider_cells(
    missing: float,
) -> None:
    rng = np.random.default_rng(2)
    data, other, asked = (
        np.where(rng.random(n) < missing, np.nan, rng.normal(size=n)) for n in (50, 20, 9)
    )
    asked[:3] = data[:3]
    columns = ColumnValues.between(line(data), line(other))
    near = replace(columns, halvings=np.minimum(columns.halvings, 8))
    assert columns.halvings[0] > 8
    both = np.concatenate([data, other])
    expected = [
        naive_log_density(columns, 0, x, data) - naive_log_density(near, 0, x, both) for x in asked
    ]
    found = columns.log_excess(line(asked), line(data), line(other))
    assert found == pytest.approx(np.array(expected))


def test_shares_of_categories_are_smoothed_by_half_a_record() -> None:
    data = TabularDataset([["a", "b"], ["a", None], ["c", "b"]], MARKS)
    asked = TabularDataset([["a", "b"], ["b", None]], MARKS)
    expected = np.log(np.array([[2.5, 0.5], [2.5, 1.5]]) / (3 + 4 * 0.5))
    assert log_shares(asked, data) == pytest.approx(expected)


def test_the_score_is_the_mean_of_two_ratios_where_there_are_numbers() -> None:
    data, reference, targets = mixed_table(60, 1, 0.1), mixed_table(50, 2, 0.1), mixed_table(9, 3)
    kernel = MixedKernel.between(data, reference, atoms=True)
    together = kernel.log_density(targets, data) - kernel.log_density(targets, reference)
    single = ColumnValues.between(data, reference).log_excess(targets, data, reference)
    single += (log_shares(targets, data) - log_shares(targets, data + reference)).sum(axis=0)
    expected = np.log((np.exp(together) + np.exp(single)) / 2)
    found = seen(DOMIAS(), membership_briefing(targets, reference), data)
    assert found == pytest.approx(expected)


def test_a_given_bandwidth_or_categories_alone_leave_the_ratio_of_kernel_densities() -> None:
    data, reference, targets = mixed_table(60, 1, 0.1), mixed_table(50, 2, 0.1), mixed_table(9, 3)
    rng = np.random.default_rng(0)
    marks = [TabularDataset(rng.choice(list("abc"), (n, 2)), MARKS) for n in (30, 20, 5)]
    for width, tables in ((0.3, (data, reference, targets)), (None, marks)):
        released, held, asked = tables
        kernel = MixedKernel.between(released, held, width)
        expected = kernel.log_density(asked, released) - kernel.log_density(asked, held)
        found = seen(DOMIAS(bandwidth=width), membership_briefing(asked, held), released)
        np.testing.assert_array_equal(found, expected)


def shuffled(data: TabularDataset, seed: int) -> TabularDataset:
    """Values that the data had, each column by itself: nobody is in it."""
    rng = np.random.default_rng(seed)
    frame = data.data.apply(lambda column: rng.permutation(column.to_numpy()))
    return TabularDataset(frame.sample(len(frame), replace=True, random_state=seed), LINES)


def game_of(mechanism: Callable[[TabularDataset], TabularDataset]) -> ObservedMIA:
    rng = np.random.default_rng(4)
    members, others = (
        TabularDataset(pd.DataFrame(rng.normal(size=(300, 3)), columns=list("xyz")), LINES)
        for _ in range(2)
    )
    return ObservedMIA(mechanism(members), members, others, seed=1)


@pytest.mark.parametrize("attack", [DOMIAS(), RecordEnsembleAttack()], ids=str)
def test_values_that_return_tell_whose_they_were(attack: DOMIAS | RecordEnsembleAttack) -> None:
    game = game_of(lambda members: shuffled(members, 2))
    attack.train(game)
    assert game.test(attack).auc > 0.8
    former = DOMIAS(bandwidth=0.3)
    former.train(game)
    assert game.test(former).auc < 0.65


@pytest.mark.parametrize("attack", [DOMIAS(), RecordEnsembleAttack()], ids=str)
def test_values_of_strangers_tell_nothing(attack: DOMIAS | RecordEnsembleAttack) -> None:
    rng = np.random.default_rng(9)
    fresh = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("xyz"))
    game = game_of(lambda members: TabularDataset(fresh, LINES))
    attack.train(game)
    assert 0.38 < game.test(attack).auc < 0.62


@pytest.mark.parametrize("rows", [30, 400])
def test_scores_do_not_depend_on_who_else_is_asked(rows: int) -> None:
    released, reference, targets = mixed_table(rows, 1), mixed_table(rows, 2), mixed_table(6, 3)
    for attack in (DOMIAS(), RecordEnsembleAttack()):
        together = seen(attack, membership_briefing(targets, reference), released)
        alone = [
            seen(attack, membership_briefing(targets.take([i]), reference), released)[0]
            for i in range(6)
        ]
        assert together == pytest.approx(np.array(alone), rel=1e-9)


def area_beside_few(attack: Attack, seed: int) -> float:
    """The AUC where skewed numbers of members come back, beside a hundred reference records."""
    rng = np.random.default_rng(seed)
    members, others, more = (
        TabularDataset(
            pd.DataFrame(np.exp(rng.normal(size=(n, 3))).round(2), columns=list("xyz")), LINES
        )
        for n in (400, 400, 100)
    )
    game = ObservedMIA(shuffled(members, 2), members, others, reference=more, seed=1)
    attack.train(game)
    return float(game.test(attack).auc)


def test_few_reference_records_are_enough_to_see_values_that_return() -> None:
    """A hundred say little of a density; the numbers that were given back stand out anyway."""
    assert np.mean([area_beside_few(DOMIAS(), seed) for seed in range(3)]) > 0.72
    density = ProbabilityEstimationAttack(KernelDensity(), "accuracy")
    assert np.mean([area_beside_few(density, seed) for seed in range(3)]) < 0.6


def test_a_release_without_rows_near_private_ones_is_seen_among_whole_numbers() -> None:
    """Strangers differ in every column of continuous numbers, so that only gaps can tell."""
    rng = np.random.default_rng(3)
    drawn = {n: np.c_[rng.normal(size=(n, 2)) * 1e4, rng.normal(size=n)] for n in (400, 401, 4000)}
    members, others, fresh = (
        np.c_[rows[:, :2].round(), rows[:, 2].round(2)] for rows in drawn.values()
    )
    unit = fresh.std(axis=0)
    apart = [np.sqrt((((row - members) / unit) ** 2).sum(axis=1)).min() for row in fresh]
    far = fresh[np.array(apart) > 0.35][:400]
    tables = [
        TabularDataset(pd.DataFrame(rows, columns=list("xyz")), LINES)
        for rows in (far, members, others)
    ]
    game = ObservedMIA(*tables, seed=1)
    attack = RecordEnsembleAttack()
    attack.train(game)
    assert len(far) == 400
    assert game.test(attack).auc > 0.6
