from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import DESCRIPTION, mixed_table

from tapas.attacks import (
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    DistanceMetric,
    HammingDistance,
    LocalNeighbourhoodAttack,
    LpDistance,
    MixedDistance,
)
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.attacks.tables._numeric_parts import NumericParts, minkowski_sums
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, SchemaError
from tapas.threat_models import ObservedMIA


def naive_hamming(x: TabularDataset, y: TabularDataset, columns: list[str]) -> np.ndarray:
    left, right = x.data[columns], y.data[columns]
    return np.array(
        [
            [
                sum(
                    not (a == b or (pd.isna(a) and pd.isna(b)))
                    for a, b in zip(one, other, strict=True)
                )
                for other in right.itertuples(index=False)
            ]
            for one in left.itertuples(index=False)
        ]
    ).reshape(len(x), len(y))


def naive_lp(
    x: TabularDataset, y: TabularDataset, p: float, weights: np.ndarray, units: np.ndarray
) -> np.ndarray:
    left, right = x.as_numeric / units, y.as_numeric / units
    result = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            gaps = np.abs(left[i] - right[j])
            one_missing = np.isnan(left[i]) != np.isnan(right[j])
            gaps = np.where(np.isnan(gaps), one_missing, gaps)
            result[i, j] = (weights * gaps**p).sum() ** (1 / p)
    return result


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(0, 9), st.sampled_from([0, 0.3, 1]))
def test_hamming_counts_differing_columns_and_missing_equals_missing(seed, rows, others, missing):
    x, y = mixed_table(rows, seed, missing), mixed_table(others, seed + 1, missing)
    every = list(DESCRIPTION.columns)
    assert np.array_equal(HammingDistance()(x, y), naive_hamming(x, y, every))
    some = ["sex", "cost", "born"]
    assert np.array_equal(HammingDistance(columns=some)(x, y), naive_hamming(x, y, some))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0, 0.3, 1]),
    st.sampled_from([0.5, 1, 2, 3.5]),
    st.booleans(),
    st.booleans(),
)
def test_lp_agrees_with_its_formula_on_the_numeric_form(seed, missing, p, weighted, scaled):
    x, y = mixed_table(4, seed, missing), mixed_table(7, seed + 1, missing)
    width = DESCRIPTION.encoded_dim
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, width) * rng.random(width) if weighted else np.ones(width)
    reference = mixed_table(20, seed + 2)
    numbers = reference.as_numeric
    spread = numbers.max(axis=0) - numbers.min(axis=0)
    units = np.where(spread > 0, spread, 1) if scaled else np.ones(width)
    distance = LpDistance(p, weights if weighted else None, scale=reference if scaled else None)
    assert np.allclose(distance(x, y), naive_lp(x, y, p, weights, units), rtol=1e-12, atol=1e-12)


def test_lp_works_in_blocks_without_changing_its_result(monkeypatch):
    x, y = mixed_table(9, 0, 0.2), mixed_table(11, 1, 0.2)
    whole = LpDistance(2)(x, y)
    monkeypatch.setattr("tapas.attacks.tables._numeric_parts.ENTRIES_AT_ONCE", 23)
    assert np.array_equal(LpDistance(2)(x, y), whole)


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("width", [1, 2, 9, 200])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_columns_at_once_and_one_by_one_give_the_same_bits(p, width, rows, monkeypatch):
    rng = np.random.default_rng(width * rows)
    left, right = (
        NumericParts(10.0 * rng.normal(size=(30, number)), rng.integers(0, 4, (20, number)))
        for number in (rows, width)
    )
    whole = minkowski_sums(left, right, p)
    monkeypatch.setattr("tapas.attacks.tables._numeric_parts.ENTRIES_AT_ONCE", 0)
    assert minkowski_sums(left, right, p).tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    "distance",
    [
        HammingDistance(),
        HammingDistance(columns="cost"),
        LpDistance(1),
        LpDistance(4),
        LpDistance(2, weights=np.random.default_rng(0).random(DESCRIPTION.encoded_dim)),
        0.5 * LpDistance(2) + HammingDistance() * 0.5,
    ],
    ids=lambda distance: distance.label,
)
def test_distances_are_exactly_symmetric_and_zero_only_to_an_equal_record(distance):
    table = mixed_table(25, 3, 0.2)
    matrix = distance(table, table)
    assert np.array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    if "(" not in distance.label:
        assert (matrix + np.eye(len(table)) > 0).all()


def test_large_numbers_do_not_blur_small_differences():
    schema = [{"name": "a", "type": "real", "representation": "number"}]
    table = TabularDataset([[1e9], [1e9 + 1e-3]], DataDescription(schema))
    exact = table.as_numeric[1, 0] - table.as_numeric[0, 0]
    assert LpDistance()(table, table)[0, 1] == exact


def test_sums_and_multiples_of_distances_have_joined_labels():
    x, y = mixed_table(3, 0), mixed_table(4, 1)
    mixed = 0.5 * LpDistance(2) + HammingDistance(columns=("sex", "ward")) * 2
    assert mixed.label == "0.5*L_2+2*Hamming(sex, ward)"
    parts = 0.5 * LpDistance(2)(x, y) + 2 * HammingDistance(("sex", "ward"))(x, y)
    assert np.array_equal(mixed(x, y), parts)
    assert (np.float64(2) * HammingDistance())(x, y).shape == (3, 4)
    with pytest.raises(TypeError):
        HammingDistance() * "2"


def test_equal_distances_are_equal_values():
    scale = mixed_table(5)
    assert LpDistance(2) == LpDistance(2) != LpDistance(1)
    assert hash(LpDistance(1, [1, 2])) == hash(LpDistance(1, [1, 2]))
    assert LpDistance(scale=scale) == LpDistance(scale=scale) != LpDistance(scale=mixed_table(5))
    assert HammingDistance(("a",)) == HammingDistance(columns=["a"])


def test_wrong_use_is_refused_with_advice():
    x, y = mixed_table(2), mixed_table(2)
    with pytest.raises(ConfigError, match="p must be greater than 0"):
        LpDistance(0)
    with pytest.raises(ConfigError, match="non-negative"):
        LpDistance(2, weights=[-1, 2])
    with pytest.raises(ConfigError, match="one entry per numeric column"):
        LpDistance(2, weights=[1, 2])(x, y)
    with pytest.raises(SchemaError, match="no column 'sx'"):
        HammingDistance(columns=["sx"])(x, y)
    with pytest.raises(AssertionError, match="one description"):
        HammingDistance()(x, y.view(["sex"]))


def test_free_text_counts_for_hamming_and_is_refused_by_lp_with_advice():
    schema = [{"name": "word", "type": "countable", "representation": "string"}]
    description = DataDescription(schema)
    x = TabularDataset(pd.DataFrame({"word": ["b", "c"]}), description)
    y = TabularDataset(pd.DataFrame({"word": ["a", "b", None]}), description)
    assert HammingDistance()(x, y).tolist() == [[1, 0, 1], [1, 1, 1]]
    with pytest.raises(SchemaError, match="exclude_columns"):
        LpDistance()(x, y)


def test_a_distance_of_ones_own_takes_a_few_lines():
    class AgeGap(DistanceMetric):
        def __call__(self, x, y):
            return np.abs(x.as_numeric[:, [9]] - y.as_numeric[:, 9])

    x = mixed_table(3)
    assert (AgeGap() + AgeGap()).label == "AgeGap+AgeGap"
    assert np.array_equal((2 * AgeGap())(x, x), (AgeGap() + AgeGap())(x, x))


def naive_mixed(x: TabularDataset, y: TabularDataset) -> np.ndarray:
    """Column by column, from the definition."""
    squares = y.table.count_differences(x.table).astype(float)
    left, right = x.numeric(), y.numeric()
    place = 0
    for column in y.description.parsed:
        if column.is_one_hot:
            place += len(column.values or ())
            continue
        mine, theirs = left[:, place], right[:, place]
        mean, unit = np.nanmean(theirs), np.nanstd(theirs) or 1.0
        gaps = np.nan_to_num((mine - mean) / unit)[:, None] - np.nan_to_num((theirs - mean) / unit)
        squares += gaps**2
        place += 1
    return np.sqrt(squares)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_mixed_distance_and_its_search_agree_with_the_definition(missing):
    x, y = mixed_table(40, 1, missing), mixed_table(300, 2, missing)
    expected = naive_mixed(x, y)
    np.testing.assert_allclose(MixedDistance()(x, y), expected, atol=1e-12)
    np.testing.assert_allclose(MixedDistance().nearest(x, y), expected.min(axis=1), atol=1e-6)
    distances, found = MixedSpace.of(y).nearest(x, y, 3)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :3], atol=1e-6)
    np.testing.assert_allclose(distances, np.take_along_axis(expected, found, axis=1), atol=1e-12)
    assert MixedDistance().nearest(y.take([7]), y).tolist() == [0.0]
    assert np.isinf(MixedDistance().nearest(x, y.empty())).all()


def test_by_default_continuous_columns_are_not_compared_for_equality():
    """With 1 % noise every value differs: Hamming is blind, the nearest record is not."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 6))
    schema = DataDescription([{"name": name, "type": "real"} for name in "abcdef"])
    members, others = (
        TabularDataset(values[half], schema) for half in (range(100), range(100, 200))
    )
    noisy = TabularDataset(values[:100] + 0.01 * rng.normal(size=(100, 6)), schema)
    game = ObservedMIA(noisy, members, others, seed=0)
    auc = {}
    for attack in (ClosestDistanceMIA(), ClosestDistanceMIA(HammingDistance())):
        attack.train(game)
        auc[attack.label] = game.test(attack).auc
    assert auc["ClosestDistance(fitting, accuracy)"] == 1.0
    assert auc["ClosestDistance(Hamming, accuracy)"] == 0.5


def test_categories_alone_are_compared_by_hamming_by_default():
    x, y = (load_sample("census", 60, seed=seed) for seed in (1, 2))
    expected = HammingDistance().nearest(x, y)
    assert ClosestDistanceMIA().distance.nearest(x, y).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", [ClosestDistanceMIA, ClosestDistanceAIA, LocalNeighbourhoodAttack])
def test_what_is_no_distance_is_refused_with_how_to_name_one(kind: Any) -> None:
    others = {"radius": 1} if kind is LocalNeighbourhoodAttack else {}
    with pytest.raises(ConfigError, match="use: HammingDistance"):
        kind(distance="HammingDistance", **others)


@pytest.mark.parametrize("kind", [LpDistance, MixedDistance])
def test_what_is_no_table_is_refused_as_a_scale(kind: Any) -> None:
    with pytest.raises(ConfigError, match="scale must be a TabularDataset"):
        kind(scale=True)
