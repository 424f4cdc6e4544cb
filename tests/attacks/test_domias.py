"""Attacks that compare one release with reference data."""

from typing import Any

import numpy as np
import pytest
from mixed_tables import (
    DESCRIPTION,
    Deaf,
    key_of,
    membership_briefing,
    membership_game,
    mixed_table,
    observed,
    outlier,
    seen,
)

from tapas.attacks import (
    DOMIAS,
    GenLRA,
    HammingDistance,
    LocalNeighboursWithReference,
    nearest_record_diagnostics,
)
from tapas.attacks.tables._mixed_kernel import MixedKernel
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, SchemaError, StatisticsError
from tapas.game import MEMBERSHIP, Release, Setting, TableBriefing, unfit
from tapas.generators import Raw

BOTH = [DOMIAS(), LocalNeighboursWithReference()]


def look(
    attack: Any, released: TabularDataset, targets: TabularDataset, reference: Any
) -> np.ndarray:
    return seen(attack, membership_briefing(targets, reference), released)


def naive_log_density(
    kernel: MixedKernel, targets: TabularDataset, data: TabularDataset
) -> np.ndarray:
    """The definition, pair by pair and column by column."""
    found = []
    for x in range(len(targets)):
        values = []
        for y in range(len(data)):
            log, coded, number = 0.0, 0, 0
            ones = [column.is_one_hot for column in targets.table.columns]
            for column, one_hot in zip(targets.table.columns, ones, strict=True):
                left = targets.table.column(column.name)[x]
                right = data.table.column(column.name)[y]
                if one_hot:
                    log += (kernel.same if left == right else kernel.other)[coded]
                    coded += 1
                    continue
                missing = [v == -1 if column.is_coded else np.isnan(v) for v in (left, right)]
                place = sum(ones) + number
                log += (kernel.same if missing[0] == missing[1] else kernel.other)[place]
                if not any(missing):
                    log -= 0.5 * ((float(left) - float(right)) / kernel.widths[number]) ** 2
                if kernel.values and left == right and not any(missing):
                    log += kernel.same[len(kernel.same) - len(kernel.values) + number]
                number += 1
            values.append(log)
        found.append(np.logaddexp.reduce(values) - np.log(len(data)))
    return np.array(found)


@pytest.mark.parametrize("atoms", [False, True])
@pytest.mark.parametrize("few", [0, 16])
def test_densities_are_those_of_the_definition(
    few: int, atoms: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.attacks.tables._mixed_kernel.FEW_CATEGORIES", few)
    monkeypatch.setattr("tapas.attacks.tables._mixed_kernel.PAIRS_AT_ONCE", 40)
    data, reference = mixed_table(17, 1, missing=0.2), mixed_table(13, 2, missing=0.2)
    targets = mixed_table(7, 3, missing=0.2)
    kernel = MixedKernel.between(data, reference, atoms=atoms)
    assert len(kernel.values) == (7 if atoms else 0)
    expected = naive_log_density(kernel, targets, data)
    assert kernel.log_density(targets, data) == pytest.approx(expected, rel=1e-9)


def test_an_atom_weighs_as_much_as_its_value_is_rare_among_its_neighbours() -> None:
    description = DataDescription([{"name": "x", "type": "real"}], "line")
    heap, spread = np.zeros(1000), np.arange(1000.0)
    for values, expected in ((heap, np.log(2)), (spread, None)):
        data = TabularDataset(values[:, None], description)
        kernel = MixedKernel.between(data, data, 0.5, atoms=True)
        if expected is None:
            # Two uniform numbers and a Gaussian of half of their standard deviation.
            width = 0.5 / np.sqrt(12)
            near = width * np.sqrt(2 * np.pi) - 2 * width**2 * (1 - np.exp(-0.5 / width**2))
            expected = np.log1p(near * 1000)
        assert kernel.same[-1] == pytest.approx(expected, rel=2e-3)
        assert kernel.other[-1] == 0


def test_the_kernel_of_a_category_sums_to_one() -> None:
    description = DataDescription(
        [{"name": "c", "type": "finite", "representation": ["a", "b", "c"]}], "one"
    )
    data = TabularDataset([["a"], ["a"], ["b"]], description)
    every = TabularDataset([["a"], ["b"], ["c"], [None]], description)
    kernel = MixedKernel.between(data, data, 0.5)
    assert np.exp(kernel.log_density(every, data)).sum() == pytest.approx(1)


def test_the_ratio_is_zero_where_the_release_is_the_reference() -> None:
    data = mixed_table(40, 1, missing=0.1)
    assert look(DOMIAS(bandwidth=0.3), data, mixed_table(9, 2), data) == pytest.approx(0)
    shares = look(LocalNeighboursWithReference(), data, mixed_table(9, 2), data)
    assert shares == pytest.approx(0.5)


@pytest.mark.parametrize("attack", BOTH, ids=str)
def test_copied_records_score_higher_than_others(attack: Any) -> None:
    released, reference = mixed_table(60, 1), mixed_table(60, 2)
    scores = look(attack, released, released + mixed_table(60, 9), reference)
    assert scores[:60].mean() > scores[60:].mean()


def test_neighbours_count_shares_of_both_tables_and_ties() -> None:
    description = DataDescription([{"name": "x", "type": "real"}], "line")
    released = TabularDataset([[0.0], [1.0], [10.0], [20.0]], description)
    reference = TabularDataset([[1.0], [30.0]], description)
    target = TabularDataset([[0.0]], description)
    # Nearest two: 0 and then 1, which both tables have: 2 of 4 and 1 of 2.
    score = look(LocalNeighboursWithReference(2), released, target, reference)
    assert score == pytest.approx([0.5 / (0.5 + 0.5)])
    score = look(LocalNeighboursWithReference(1), released, target, reference)
    assert score == pytest.approx([1.0])
    score = look(LocalNeighboursWithReference(100), released, target, reference)
    assert score == pytest.approx([0.5])


@pytest.mark.parametrize("attack", BOTH, ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_scores_are_numbers_whatever_is_missing(attack: Any, missing: float) -> None:
    scores = look(
        attack, mixed_table(30, 1, missing), mixed_table(8, 2, missing), mixed_table(30, 3, missing)
    )
    assert scores.shape == (8,)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("attack", BOTH, ids=str)
def test_constant_columns_and_single_rows_have_a_score(attack: Any) -> None:
    one = mixed_table(1, 1)
    same = one.take([0] * 5)
    assert np.isfinite(look(attack, one, mixed_table(4, 2), same)).all()
    assert np.isfinite(look(attack, same, outlier(), one)).all()


@pytest.mark.parametrize("attack", BOTH, ids=str)
def test_an_empty_release_scores_lowest(attack: Any) -> None:
    data = mixed_table(5, 1)
    assert (look(attack, data.empty(), data, data) == -np.inf).all()


@pytest.mark.parametrize("attack", BOTH, ids=str)
def test_without_reference_data_the_attack_is_refused(attack: Any) -> None:
    data = mixed_table(5, 1)
    for nothing in (None, data.empty()):
        with pytest.raises(IncompatibleAttackError, match="reference"):
            look(attack, data, data, nothing)
    assert attack.needs.auxiliary
    assert unfit(attack.needs, attack.label, Setting("Game", "table", MEMBERSHIP, auxiliary=False))
    assert not unfit(attack.needs, attack.label, Setting("Game", "table", MEMBERSHIP))


@pytest.mark.parametrize("attack", BOTH, ids=str)
def test_free_text_is_refused_with_advice(attack: Any) -> None:
    described = DataDescription(
        [*DESCRIPTION.schema, {"name": "note", "type": "countable", "representation": "string"}],
        "with text",
    )
    frame = mixed_table(4, 1).data.assign(note=["a", "b", "c", "d"])
    data = TabularDataset(frame, described)
    with pytest.raises(SchemaError, match="Leave it out"):
        look(attack, data, data, data)


@pytest.mark.parametrize("attack", BOTH, ids=str)
def test_a_score_does_not_depend_on_the_other_targets(attack: Any) -> None:
    released, reference, targets = mixed_table(50, 1), mixed_table(30, 2), mixed_table(6, 3)
    together = look(attack, released, targets, reference)
    alone = [look(attack, released, targets.take([i]), reference)[0] for i in range(6)]
    assert together == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("attack", [DOMIAS(), LocalNeighboursWithReference(1)], ids=str)
def test_trained_on_trials_it_finds_an_outlier_and_nothing_where_nothing_leaks(attack: Any) -> None:
    leaky = membership_game(outlier(), Raw(), seed=3)
    attack.train(leaky, num_samples=40)
    assert leaky.test(attack, num_samples=60).accuracy > 0.75
    safe = membership_game(outlier(), Deaf(), seed=3)
    attack.train(safe, num_samples=40)
    assert abs(safe.test(attack, num_samples=60).accuracy - 0.5) < 0.3


def test_attacks_with_equal_parameters_share_observations() -> None:
    assert key_of(DOMIAS()) == key_of(DOMIAS(("fp", 0.1)))
    assert key_of(DOMIAS()) != key_of(DOMIAS(bandwidth=0.2))
    near = LocalNeighboursWithReference
    assert key_of(near(3, HammingDistance())) == key_of(near(3, HammingDistance()))
    assert key_of(near(3)) != key_of(near(3, HammingDistance()))
    assert key_of(near(3)) != key_of(near(4))
    game = membership_game(outlier())
    data = mixed_table(30, 4)
    assert observed(near(3, HammingDistance()), game, data).shape == (1,)


@pytest.mark.parametrize("width", [0, -1, 1.5, True, "wide", float("nan")])
def test_a_bandwidth_that_makes_no_sense_is_refused(width: Any) -> None:
    with pytest.raises(ConfigError, match="bandwidth"):
        DOMIAS(bandwidth=width)
    with pytest.raises(ValueError, match="k must be"):
        LocalNeighboursWithReference(0)


# -- diagnostics ---------------------------------------------------------------------------------


def test_diagnostics_are_those_of_the_definition() -> None:
    description = DataDescription([{"name": "x", "type": "real"}], "line")
    released = TabularDataset([[0.0], [3.0], [9.0]], description)
    inside = TabularDataset([[0.0], [4.0]], description)
    outside = TabularDataset([[8.0], [10.0]], description)
    found = nearest_record_diagnostics(released, inside, outside, seed=0)
    unit = np.std([0, 4, 8, 10])  # distances 0, 1, 5 against 8, 5, 1
    assert found.loc["members", "dcr_50"] == pytest.approx(1 / unit)
    assert found.loc["non_members", "dcr_50"] == pytest.approx(5 / unit)
    assert found.loc["members", "nndr_50"] == pytest.approx(1 / 3)
    assert found["nearer"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert "proves nothing" in found.attrs["note"]


@pytest.mark.parametrize("sizes", [(900, 200), (200, 900)])
def test_diagnostics_of_unrelated_rows_favour_nobody(sizes: tuple[int, int]) -> None:
    tables = mixed_table(sizes[0], 1, 0.1), mixed_table(sizes[1], 2, 0.1)
    found = nearest_record_diagnostics(mixed_table(300, 3, 0.1), *tables, seed=0)
    assert found.loc["members", "nearer_low"] < 0.5 < found.loc["members", "nearer_high"]
    copied = nearest_record_diagnostics(tables[0], *tables, seed=0)
    assert copied.loc["members", "nearer_low"] > 0.5


def test_diagnostics_of_ties_and_of_nothing_are_not_a_number() -> None:
    data = mixed_table(10, 1)
    for released in (data, data.empty()):
        found = nearest_record_diagnostics(released, data, data, HammingDistance(), seed=0)
        assert found["nearer"].isna().all()
        assert found["nearer_low"].tolist() == [0, 0]
    with pytest.raises(StatisticsError, match="at least 2"):
        nearest_record_diagnostics(data, data, data.take([0]))
    with pytest.raises(SchemaError, match="one description"):
        nearest_record_diagnostics(data, data, data.view(["sex"]))


def test_densities_of_many_records_are_those_of_full_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, targets = mixed_table(300, 1, 0.1), mixed_table(40, 2, 0.1)
    kernel = MixedKernel.between(data, targets)
    exact = kernel.log_density(targets, data)
    monkeypatch.setattr("tapas.attacks.tables._mixed_kernel.MANY_RECORDS", 100)
    coarse = kernel.log_density(targets, data)
    assert not np.array_equal(coarse, exact)
    np.testing.assert_allclose(coarse, exact, atol=1e-3)
    monkeypatch.setattr("tapas.attacks.tables._mixed_kernel.FEW_WIDTHS", 0.1)
    np.testing.assert_array_equal(kernel.log_density(targets, data), exact)


def test_local_likelihood_ratios_are_those_of_densities_with_and_without_the_target() -> None:
    released, reference = mixed_table(60, 1, 0.1), mixed_table(50, 2, 0.1)
    targets = mixed_table(7, 3, 0.1)
    attack = GenLRA(k=60)
    briefing = TableBriefing(MEMBERSHIP, targets, reference)
    found = attack.observe(Release(released), briefing, rng=np.random.default_rng(0))
    kernel = MixedKernel.between(released, reference)
    for position in range(7):
        enlarged = reference + targets.take([position])
        ratio = kernel.log_density(released, enlarged) - kernel.log_density(released, reference)
        # All released records are looked at, and densities are means of 51 and of 50.
        expected = ratio.sum() + 60 * np.log(51 / 50)
        assert found[position] == pytest.approx(expected)
    nobody = attack.observe(Release(released.empty()), briefing, rng=np.random.default_rng(0))
    assert not nobody.any()
