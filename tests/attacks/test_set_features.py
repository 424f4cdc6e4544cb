"""Set features against plain numpy and pandas twins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapas.attacks.features import _corr_feature
from tapas.attacks.features._corr_feature import CorrSetFeature
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature, StadlerNaiveSetFeature
from tapas.attacks.features._set_features import CombinedSetFeatures, SetFeature
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, SchemaError, TapasWarning

MIXED = DataDescription(
    [
        {"name": "colour", "type": "finite", "representation": ["red", "green", "blue"]},
        {"name": "size", "type": "finite/ordered", "representation": ["S", "M", "L", "XL"]},
        {"name": "ward", "type": "finite", "representation": 2},
        {"name": "visits", "type": "countable/ordered", "representation": "integer"},
        {"name": "share", "type": "interval", "representation": "number"},
        {"name": "cost", "type": "real/non-negative", "representation": "number"},
        {"name": "born", "type": "countable/ordered", "representation": "date"},
        {"name": "seen", "type": "real", "representation": "datetime"},
    ]
)
ONE_NUMBER = DataDescription([{"name": "x", "type": "real", "representation": "number"}])


def mixed(rows=50, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    days = pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, rows), "D")
    moments = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, rows), "s")
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], rows),
            "size": rng.choice(["S", "M", "L", "XL"], rows),
            "ward": rng.integers(0, 2, rows),
            "visits": rng.poisson(3, rows),
            "share": rng.random(rows),
            "cost": rng.lognormal(5, 1, rows),
            "born": days,
            "seen": moments,
        }
    )
    if missing:
        frame = frame.astype(object).mask(rng.random(frame.shape) < missing)
    return TabularDataset(frame, MIXED)


def numbers(values):
    return TabularDataset(pd.DataFrame({"x": values}), ONE_NUMBER)


ALL = [
    NaiveSetFeature(),
    StadlerNaiveSetFeature(),
    HistSetFeature(),
    HistSetFeature(bounds="data"),
    HistSetFeature(bounds="schema", overflow=False),
    CorrSetFeature(),
]


@pytest.mark.parametrize(
    ("rows", "missing"), [(1, 0), (2, 0), (49, 0), (50, 0), (49, 0.3), (50, 0.3)]
)
def test_naive_features_are_means_medians_and_variances_of_the_numeric_form(rows, missing):
    datasets = [mixed(rows, seed, missing) for seed in range(4)]
    for dataset, values in zip(datasets, NaiveSetFeature()(datasets), strict=True):
        matrix = dataset.as_numeric
        twin = [f(matrix, axis=0) for f in (np.nanmean, np.nanmedian, np.nanvar)]
        np.testing.assert_allclose(values, np.concatenate(twin), rtol=1e-9, atol=1e-12)


def test_the_median_of_a_category_held_by_exactly_half_of_the_rows_is_a_half():
    description = DataDescription([{"name": "c", "type": "finite", "representation": 2}])
    dataset = TabularDataset(pd.DataFrame({"c": [0, 1, 1, 0]}), description)
    assert NaiveSetFeature()([dataset])[0, 2:4].tolist() == [0.5, 0.5]


def test_a_column_without_any_number_has_nan_and_no_warning():
    values = NaiveSetFeature()([numbers([np.nan, np.nan]), numbers([])])
    assert np.isnan(values).all()


def test_the_papers_naive_features_name_the_most_and_least_frequent_category():
    description = DataDescription(
        [
            {"name": "c", "type": "finite", "representation": ["a", "b", "c", "d"]},
            {"name": "x", "type": "real", "representation": "number"},
        ]
    )
    frame = pd.DataFrame({"c": ["b", "b", "d", "a", "a", "b"], "x": [1.0, 2, 3, 4, 5, 9]})
    values = StadlerNaiveSetFeature()([TabularDataset(frame, description)])
    expected = [1, 3, 3, 4.0, 3.5, frame["x"].var(ddof=0)]
    np.testing.assert_allclose(values, [expected])


def twin_histogram(dataset, num_bins, ranges):
    """np.histogram and value_counts, column by column."""
    frame, pieces = dataset.copy().data, []
    for column in MIXED.parsed:
        values = frame[column.name]
        if column.values is not None:
            counted = values.value_counts()
            pieces.append([counted.get(value, 0) for value in column.values])
            continue
        present = dataset.table.column(column.name)
        present = present[~np.isnan(present)]
        low, high = ranges[column.name]
        inside = np.histogram(present, bins=num_bins, range=(low, high))[0]
        extras = (present < low).sum(), (present > high).sum(), len(frame) - len(present)
        pieces.append((inside, extras))
    return pieces


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_histograms_of_every_column_kind_follow_numpy_in_schema_order(missing):
    dataset, reference = mixed(80, 1, missing), mixed(200, 2)
    ranges = {}
    for column in MIXED.parsed:
        if column.values is None:
            known = reference.table.column(column.name)
            ranges[column.name] = (known.min(), known.max())
    feature = HistSetFeature(7, "data").fitted_to([reference])
    expected = []
    for column, piece in zip(MIXED.parsed, twin_histogram(dataset, 7, ranges), strict=True):
        if column.values is not None:
            absent = int((dataset.table.column(column.name) == -1).sum())
            expected += [*piece, absent]
        else:
            inside, (below, above, absent) = piece
            expected += [below, *inside, above, absent]
    np.testing.assert_array_equal(feature([dataset])[0], np.array(expected) / 80)
    assert sum(expected) == 80 * len(MIXED)


def test_given_bounds_give_exactly_the_bins_for_reals_and_the_interval_has_its_own():
    description = DataDescription(
        [
            {"name": "x", "type": "real", "representation": "number"},
            {"name": "p", "type": "interval", "representation": "number"},
            {"name": "c", "type": "finite/ordered", "representation": 3},
        ]
    )
    frame = pd.DataFrame({"x": [0.0, 5, 10, 12], "p": [0.0, 0.5, 1.0, 0.2], "c": [2, 2, 0, 2]})
    values = HistSetFeature(2, (0, 10))([TabularDataset(frame, description)])
    assert values.tolist() == [[0.25, 0.5, 0.5, 0.5, 0.25, 0.0, 0.75]]


def test_integers_far_outside_given_bounds_do_not_vanish():
    description = DataDescription([{"name": "n", "type": "countable", "representation": "integer"}])
    dataset = TabularDataset(pd.DataFrame({"n": [0, 1, 7, 9]}), description)
    values = HistSetFeature(2)([dataset])
    assert values.tolist() == [[0.0, 0.25, 0.25, 0.5, 0.0]]  # below, bins, above, missing


@given(
    st.lists(st.floats(-5, 5) | st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0]), min_size=1),
    st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_bins_are_those_of_numpy_also_at_their_edges(values, num_bins):
    found = HistSetFeature(num_bins, (0, 1))([numbers(values)])[0]
    twin = np.histogram(np.array(values), bins=num_bins, range=(0, 1))[0]
    np.testing.assert_array_equal(found, twin / len(values))


def test_ranges_of_the_data_seen_first_are_kept():
    feature = HistSetFeature(2, "data")
    first = feature([numbers([0.0, 10.0])])
    assert first.tolist() == [[0, 0.5, 0.5, 0, 0]]
    assert feature([numbers([100.0, 4.0])]).tolist() == [[0, 0.5, 0, 0.5, 0]]
    assert feature.bounds == "data"


def test_fitting_ranges_leaves_the_feature_as_it_is_and_equal_ranges_are_equal_features():
    feature = HistSetFeature(2, "data")
    fitted = feature.fitted_to([numbers([0.0, 10.0])])
    again = HistSetFeature(2, "data").fitted_to([numbers([10.0, 0.0, 3.0])])
    assert feature.learns
    assert not fitted.learns
    assert fitted == again
    assert hash(fitted) == hash(again)
    assert fitted != feature.fitted_to([numbers([0.0, 11.0])])


def test_bounds_by_schema_keep_the_declared_interval():
    dataset = mixed(30)
    ranges = HistSetFeature(3, "schema").fitted_to([dataset]).bounds
    position = ranges.names.index("share")
    assert (ranges.lows[position], ranges.highs[position]) == (0.0, 1.0)
    cost = dataset.table.column("cost")
    position = ranges.names.index("cost")
    assert (ranges.lows[position], ranges.highs[position]) == (cost.min(), cost.max())


def test_a_constant_or_empty_column_still_has_a_range():
    assert HistSetFeature(2, "data")([numbers([3.0, 3.0])]).tolist() == [[0, 0, 1, 0, 0]]
    assert HistSetFeature(2, "data")([numbers([np.nan])]).tolist() == [[0, 0, 0, 0, 1]]


def test_learnt_ranges_refuse_another_kind_of_table():
    fitted = HistSetFeature(2, "data").fitted_to([numbers([0.0, 1.0])])
    with pytest.raises(SchemaError, match="learnt for the number columns"):
        fitted([mixed(5)])


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), "range", None, (0, 1, 2), (0, np.inf)])
def test_wrong_bounds_are_refused(bounds):
    with pytest.raises(ConfigError, match="bounds must be"):
        HistSetFeature(bounds=bounds)


def test_the_number_of_bins_has_two_spellings():
    assert HistSetFeature(n_bins=4) == HistSetFeature(num_bins=4) == HistSetFeature(4)
    with pytest.raises(ConfigError, match="num_bins"):
        HistSetFeature(0)


@pytest.mark.parametrize("at_once", [1 << 20, 1 << 12])
def test_correlations_are_the_upper_triangle_of_pearsons_matrix(monkeypatch, at_once):
    monkeypatch.setattr(_corr_feature, "BYTES_AT_ONCE", at_once)
    dataset = mixed(300)
    matrix = np.corrcoef(dataset.as_numeric.T)
    twin = matrix[np.triu_indices(len(matrix), 1)]
    np.testing.assert_allclose(CorrSetFeature()([dataset])[0], twin, atol=1e-9)


def test_correlations_of_categories_alone_are_exact():
    rng = np.random.default_rng(0)
    description = DataDescription(
        [{"name": f"c{i}", "type": "finite", "representation": 4} for i in range(5)]
    )
    dataset = TabularDataset(rng.integers(0, 4, (2000, 5)), description)
    matrix = np.corrcoef(dataset.as_numeric.T)
    twin = matrix[np.triu_indices(20, 1)]
    np.testing.assert_allclose(CorrSetFeature()([dataset])[0], twin, atol=1e-12)


def test_a_missing_number_counts_as_the_mean_of_its_column():
    dataset = mixed(60, missing=0.3)
    matrix = dataset.as_numeric
    filled = np.where(np.isnan(matrix), np.nanmean(matrix, axis=0), matrix)
    twin = np.corrcoef(filled.T)[np.triu_indices(matrix.shape[1], 1)]
    np.testing.assert_allclose(CorrSetFeature()([dataset])[0], twin, atol=1e-9)


def test_correlations_of_a_wide_table_are_bounded_and_say_so():
    rng = np.random.default_rng(0)
    description = DataDescription(
        [
            {"name": "many", "type": "finite", "representation": 3000},
            {"name": "x", "type": "real", "representation": "number"},
            {"name": "few", "type": "finite", "representation": 5},
            {"name": "grade", "type": "finite/ordered", "representation": 4},
        ]
    )
    dataset = TabularDataset(rng.integers(0, [3000, 100, 5, 4], (200, 4)), description)
    with pytest.warns(TapasWarning, match="3007 columns .* 512 of them"):
        found = CorrSetFeature()([dataset])[0]
    # The first categories of the widest column, and all else.
    form = dataset.as_numeric[:, [*range(512 - 7), *range(3000, 3007)]]
    with np.errstate(invalid="ignore", divide="ignore"):
        twin = np.nan_to_num(np.corrcoef(form.T))[np.triu_indices(512, 1)]
    np.testing.assert_allclose(found, twin, atol=1e-9)


@pytest.mark.parametrize("constant", [[0.1] * 7, [0.1, np.nan] * 3 + [0.1], [np.nan] * 7])
def test_a_column_that_does_not_vary_is_uncorrelated(constant):
    description = DataDescription(
        [{"name": n, "type": "real", "representation": "number"} for n in "xyz"]
    )
    frame = pd.DataFrame({"x": np.arange(7.0), "y": constant, "z": -2 * np.arange(7.0)})
    values = CorrSetFeature()([TabularDataset(frame, description)])[0]
    np.testing.assert_allclose(values, [0, -1, 0], atol=1e-12)
    assert values[0] == values[2] == 0


def test_features_side_by_side_are_the_features_one_after_the_other():
    datasets = [mixed(30, seed, 0.1) for seed in range(3)]
    together = ALL[0] + ALL[2] + ALL[5]
    expected = np.concatenate([ALL[0](datasets), ALL[2](datasets), ALL[5](datasets)], axis=1)
    np.testing.assert_array_equal(together(datasets), expected)
    assert together.label == "F_Naive+F_Hist(10)+F_Corr"
    assert isinstance(together, CombinedSetFeatures)
    assert together == ALL[0] + (ALL[2] + ALL[5])
    assert hash(together) == hash(ALL[0] + (ALL[2] + ALL[5]))


def test_a_feature_of_ones_own_only_writes_extract():
    class Size(SetFeature):
        def extract(self, datasets):
            return [len(dataset) for dataset in datasets]

    datasets = [mixed(5), mixed(8)]
    both = NaiveSetFeature() + Size()
    assert both(datasets)[:, -1].tolist() == [5, 8]
    assert Size().label == "Unknown SetFeature"
    assert Size()(datasets) == [5, 8]


def test_a_feature_that_returns_the_wrong_shape_is_named():
    class Wrong(SetFeature):
        def extract(self, datasets):
            return np.zeros((len(datasets) + 1, 2))

    with pytest.raises(ConfigError, match="one row per dataset"):
        (NaiveSetFeature() + Wrong())([mixed(5)])


def test_only_features_can_be_added():
    with pytest.raises(TypeError):
        NaiveSetFeature() + 1
    with pytest.raises(ConfigError):
        CombinedSetFeatures(1)
    with pytest.raises(ConfigError):
        CombinedSetFeatures()


@pytest.mark.parametrize("feature", ALL, ids=str)
def test_the_order_of_rows_does_not_matter(feature):
    dataset = mixed(40, missing=0.1)
    shuffled = dataset.take(np.random.default_rng(0).permutation(40))
    fitted = feature.fitted_to([dataset])
    np.testing.assert_allclose(
        fitted([dataset]), fitted([shuffled]), rtol=1e-10, atol=1e-10, equal_nan=True
    )


@pytest.mark.parametrize("feature", ALL, ids=str)
def test_every_release_has_the_same_number_of_features_even_an_empty_one(feature):
    datasets = [mixed(40, missing=0.2), mixed(1), mixed(40).empty()]
    fitted = feature.fitted_to(datasets)
    values = fitted(datasets)
    assert len(values) == 3
    if not isinstance(feature, (NaiveSetFeature, StadlerNaiveSetFeature)):
        assert np.isfinite(values).all()
    assert len(fitted([])) == 0


@pytest.mark.parametrize("feature", ALL, ids=str)
def test_free_text_is_refused_with_advice(feature):
    description = DataDescription(
        [{"name": "note", "type": "countable", "representation": "string"}]
    )
    dataset = TabularDataset(pd.DataFrame({"note": ["a", "b"]}), description)
    with pytest.raises(SchemaError, match="Leave it out"):
        feature([dataset])


@pytest.mark.parametrize("feature", ALL, ids=str)
def test_something_that_is_not_a_table_is_refused(feature):
    with pytest.raises((SchemaError, ConfigError), match="table"):
        feature([object()])
