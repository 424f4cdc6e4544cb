"""Densities of single columns, and the attacks that read them."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from mixed_tables import membership_briefing, mixed_table, seen

from tapas.attacks import DOMIAS, RecordEnsembleAttack
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


def test_the_ratio_at_an_atom_is_that_of_its_shares() -> None:
    rng = np.random.default_rng(0)
    parts = [np.where(rng.random(8000) < share, 5.0, rng.random(8000)) for share in (0.6, 0.2)]
    first, second = (line(part) for part in parts)
    ratio = ColumnValues.between(first, second).log_ratio(line(np.array([5.0])), first, second)
    assert ratio == pytest.approx([np.log(0.6 / 0.2)], abs=0.1)


def test_shares_of_categories_are_smoothed_by_half_a_record() -> None:
    data = TabularDataset([["a", "b"], ["a", None], ["c", "b"]], MARKS)
    asked = TabularDataset([["a", "b"], ["b", None]], MARKS)
    expected = np.log(np.array([[2.5, 0.5], [2.5, 1.5]]) / (3 + 4 * 0.5))
    assert log_shares(asked, data) == pytest.approx(expected)


@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_the_ratio_of_a_table_to_itself_is_nothing(missing: float) -> None:
    data, targets = mixed_table(40, 1, missing), mixed_table(12, 2, missing)
    ratio = ColumnValues.between(data, data).log_ratio(targets, data, data)
    assert ratio == pytest.approx(np.zeros(12))


def test_the_score_is_the_mean_of_two_ratios_where_there_are_numbers() -> None:
    data, reference, targets = mixed_table(60, 1, 0.1), mixed_table(50, 2, 0.1), mixed_table(9, 3)
    kernel = MixedKernel.between(data, reference, atoms=True)
    together = kernel.log_density(targets, data) - kernel.log_density(targets, reference)
    single = ColumnValues.between(data, reference).log_ratio(targets, data, reference)
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
