"""Counting queries against loops over data frames."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from mixed_tables import attribute_briefing, membership_briefing
from sklearn.ensemble import RandomForestClassifier

from tapas._spec import spec_of
from tapas.attacks import FeatureBasedSetClassifier, ShadowModellingAttack
from tapas.attacks.features._agreements import bits_of
from tapas.attacks.features._conjunctions import count_conjunctions
from tapas.attacks.features._query_feature import (
    RandomTargetedQueryFeature,
    draw_subsets,
)
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, SchemaError
from tapas.game import Briefing, Goal
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedAIA

TABLE = DataDescription(
    [
        {"name": "colour", "type": "finite", "representation": ["red", "green", "blue"]},
        {"name": "size", "type": "finite/ordered", "representation": 3},
        {"name": "visits", "type": "countable/ordered", "representation": "integer"},
        {"name": "note", "type": "countable", "representation": "string"},
        {"name": "cost", "type": "real", "representation": "number"},
        {"name": "share", "type": "interval", "representation": "number"},
    ]
)
EQUALS = ("colour", "size", "visits", "note")


def table(rows=200, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], rows),
            "size": rng.integers(0, 3, rows),
            "visits": rng.integers(0, 4, rows),
            "note": rng.choice(["x", "y", f"only in {seed}"], rows),
            "cost": rng.integers(0, 20, rows) / 2,
            "share": rng.integers(0, 11, rows) / 10,
        }
    ).astype(object)
    return TabularDataset(frame.mask(rng.random(frame.shape) < missing), TABLE)


def same(values, wanted):
    return values.isna() if pd.isna(wanted) else values == wanted


def looped_counts(feature, dataset, target, masked=None):
    """One query and one column at a time."""
    frame, wanted = dataset.copy().data, target.copy().data.iloc[0]
    plan = feature._plan(target, masked)
    counts = []
    for query, conditions in zip(plan.queries, plan.conditions, strict=True):
        agrees = pd.Series(True, index=frame.index)
        for position, condition in zip(query, conditions, strict=True):
            name = frame.columns[position]
            values, value = frame[name], wanted[name]
            if name in EQUALS or pd.isna(value):
                agrees &= same(values, value)
            elif condition % 2:
                agrees &= values.astype(float) >= value
            else:
                agrees &= values.astype(float) <= value
        counts.append(int(agrees.sum()))
    return counts


@pytest.mark.parametrize("order", [1, 2, 4, 6])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_counts_are_those_of_a_loop_over_rows(order, row):
    target = table(3, seed=5, missing=0.3).get_records([row])
    feature = RandomTargetedQueryFeature(target, order, 15, seed=row)
    datasets = [table(200, seed) for seed in range(2)]
    expected = [looped_counts(feature, dataset, target) for dataset in datasets]
    found = feature(datasets)
    assert found.dtype == float
    assert found.tolist() == expected


def test_a_query_on_all_columns_counts_copies_of_the_target():
    dataset = table(50, missing=0.0).view(exclude_columns=["cost", "share"])
    target = dataset.get_records([7])
    copies = dataset.take([*range(50), 7, 7])
    feature = RandomTargetedQueryFeature(target, 4, 1)
    assert feature([copies])[0, 0] == (copies.table.count_differences(target.table) == 0).sum()


def test_integers_written_as_text_match():
    description = DataDescription([{"name": "n", "type": "countable", "representation": "integer"}])
    target = TabularDataset(pd.DataFrame({"n": ["3"]}), description)
    data = TabularDataset(pd.DataFrame({"n": [3, 4, 3]}), description)
    assert RandomTargetedQueryFeature(target, 1, 1)([data]).tolist() == [[2.0]]


def test_both_sides_of_a_continuous_column_are_drawn():
    target = table(1, missing=0.0)
    feature = RandomTargetedQueryFeature(target, 5, 6, seed=1)
    sides = feature._plan(target, None).conditions % 2
    assert {0, 1} == set(sides.ravel().tolist())


def test_bins_replace_exact_numbers():
    description = DataDescription(
        [
            {"name": "x", "type": "real", "representation": "number"},
            {"name": "n", "type": "countable", "representation": "integer"},
        ]
    )
    frame = pd.DataFrame({"x": [0.0, 2.4, 2.6, 10.0, np.nan], "n": [0, 3, 9, 100, 4]})
    data = TabularDataset(frame, description)
    target = TabularDataset(pd.DataFrame({"x": [2.0], "n": [7]}), description)
    feature = RandomTargetedQueryFeature(target, 1, 2, num_bins=4)
    assert feature.learns
    assert feature([data]).tolist() == [[2.0, 4.0]]
    # Ranges are kept: outer bins are open, and other data does not move them.
    outside = TabularDataset(pd.DataFrame({"x": [-50.0, 2.0], "n": [-9, 999]}), description)
    assert feature([outside]).tolist() == [[2.0, 1.0]]
    fitted = feature.fitted_to([data])
    assert not fitted.learns
    assert fitted([outside]).tolist() == [[2.0, 1.0]]


@pytest.mark.parametrize(
    ("size", "order", "number"),
    [(17, 3, 500), (17, 3, 679), (60, 10, 2000), (300, 150, 50), (2000, 2, 3000), (5, 5, 1)],
)
def test_subsets_are_different_ascending_and_as_many_as_asked_for(size, order, number):
    subsets = draw_subsets(size, order, number, np.random.default_rng(0))
    assert subsets.shape == (min(number, comb(size, order)), order)
    assert len(np.unique(subsets, axis=0)) == len(subsets)
    assert (np.diff(subsets, axis=1) > 0).all()
    assert subsets.min() >= 0
    assert subsets.max() < size


def test_subsets_are_drawn_evenly():
    subsets = draw_subsets(30, 3, 900, np.random.default_rng(0))
    times = np.bincount(subsets.ravel(), minlength=30)
    # Each column is in 90 of 900 subsets on average; four standard deviations.
    assert np.abs(times - 90).max() < 4 * np.sqrt(900 * 0.1 * 0.9)


def test_all_subsets_are_used_where_fewer_exist():
    feature = RandomTargetedQueryFeature(table(1), order=1, number=20)
    assert sorted(feature.queries) == [(0,), (1,), (2,), (3,), (4,), (5,)]
    assert feature.number == 20


def test_queries_follow_from_the_seed():
    target = table(1)
    first, second, other = (
        RandomTargetedQueryFeature(target, 3, 10, seed=seed) for seed in (1, 1, 2)
    )
    assert first.queries == second.queries != other.queries
    assert first == second != other
    drawn = RandomTargetedQueryFeature(target, 3, 10)
    assert RandomTargetedQueryFeature(target, 3, 10, seed=drawn.seed).queries == drawn.queries


def test_a_feature_is_what_its_parameters_say_whatever_it_has_seen():
    feature = RandomTargetedQueryFeature(table(1), 2, 5, 4, seed=1)
    before = spec_of(feature)
    feature([table(9)])
    assert spec_of(feature) == before == spec_of(RandomTargetedQueryFeature(table(1), 2, 5, 4, 1))
    others = [
        RandomTargetedQueryFeature(table(1, seed=2), 2, 5, 4, 1),
        RandomTargetedQueryFeature(table(1), 3, 5, 4, 1),
        RandomTargetedQueryFeature(table(1), 2, 5, 4, 2),
        RandomTargetedQueryFeature(table(1), 2, 5, 4, 1, ("size", "cost")),
        feature.fitted_to([table(9)]),
    ]
    assert len({before.digest, *(spec_of(other).digest for other in others)}) == 6


def test_the_documented_attributes_are_there():
    target = table(4, missing=0.0).get_records([2])
    feature = RandomTargetedQueryFeature(target, order=2, number=5)
    assert feature.target is target
    assert list(feature.target_values) == list(target.copy().data.iloc[0])
    assert (feature.order, feature.number, len(feature.queries)) == (2, 5, 5)
    assert feature.label == "RandomQueries(2, 5)"
    assert RandomTargetedQueryFeature(None, 2, 5).queries is None


def test_many_targets_are_counted_at_once_as_one_by_one():
    targets, dataset = table(7, seed=3, missing=0.2), table(130)
    together = RandomTargetedQueryFeature(None, 2, 12, seed=4)
    found = together.observe(dataset, membership_briefing(targets))
    for row, counts in enumerate(found):
        alone = RandomTargetedQueryFeature(targets.get_records([row]), 2, 12, seed=4)
        assert counts.tolist() == alone([dataset])[0].tolist()


def test_the_value_that_the_target_is_recorded_with_is_never_read():
    targets, dataset = table(2), table(100)
    briefing = attribute_briefing(targets, "colour", ("red", "green"))
    free = RandomTargetedQueryFeature(None, 2, 30, seed=0).observe(dataset, briefing)
    assert free.shape == (2, 2 * comb(5, 2))
    for value in ("red", "blue", None):
        recorded = TabularDataset.from_table(
            targets.table.take([0]).with_value("colour", value), TABLE
        )
        given = RandomTargetedQueryFeature(recorded, 2, 30, seed=0)
        assert given.observe(dataset, briefing).tolist() == free[:1].tolist()


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("colour", ("blue", "red")),
        ("size", (2, 0, 1)),
        ("visits", (3, 0)),
        ("note", ("y", "only in 1", "x")),
        ("share", (0.5, 0.1, 0.2)),
    ],
)
def test_in_attribute_inference_records_with_each_value_are_counted(attribute, values):
    targets, dataset = table(3, seed=5, missing=0.2), table(300, seed=1)
    feature = RandomTargetedQueryFeature(None, 2, 8, seed=3)
    found = feature.observe(dataset, attribute_briefing(targets, attribute, values))
    frame = dataset.copy().data
    for row, counts in enumerate(found):
        expected = []
        for value in values:
            having = dataset.take(np.flatnonzero(frame[attribute] == value))
            expected += looped_counts(feature, having, targets.get_records([row]), attribute)
        assert counts.tolist() == expected
    assert found.sum() > 0


@pytest.mark.parametrize("column", ["Sex", "Industry"])
@pytest.mark.parametrize("given", [False, True])
def test_a_value_is_inferred_as_often_as_the_target_is_copied(column, given):
    data = load_sample("census", 600, seed=0)
    target, values = data.get_records([7]), list(data.description[column]["representation"])
    threat_model = TargetedAIA(
        AuxiliaryDataKnowledge(data.drop_records([7]), num_training_records=60, seed=0),
        target,
        column,
        values,
        BlackBoxKnowledge(Raw(), num_synthetic_records=30),
        seed=0,
        n_jobs=1,
    )
    queries = RandomTargetedQueryFeature(target if given else None, 3, 100, seed=1)
    attack = ShadowModellingAttack(FeatureBasedSetClassifier(queries, RandomForestClassifier(25)))
    attack.train(threat_model, num_samples=300)
    summary = threat_model.test(attack, num_samples=300)
    # Half of the rows are released; where the target is not, any value is as likely.
    expected = 0.5 + 0.5 / len(values)
    assert abs(summary.accuracy - expected) < 3 * np.sqrt(expected * (1 - expected) / 300)


def test_all_is_inferred_from_full_copies():
    rows = table(40, missing=0.0)
    target = rows.get_records([0])
    briefing = attribute_briefing(target, "colour", ("red", "green"))
    feature = RandomTargetedQueryFeature(None, 5, 1)
    for value, expected in (("red", [1, 0]), ("green", [0, 1]), ("blue", [0, 0])):
        variant = TabularDataset.from_table(target.table.with_value("colour", value), TABLE)
        seen = feature.observe(variant, briefing)
        assert seen.tolist() == [expected]


def test_only_the_chosen_columns_are_asked_about():
    feature = RandomTargetedQueryFeature(table(1), 1, 9, columns=["size", "cost"])
    assert sorted(feature.queries) == [(1,), (4,)]
    with pytest.raises(ConfigError, match="no column 'weight'"):
        RandomTargetedQueryFeature(table(1), 1, 9, columns=["weight"])


def test_an_order_above_the_number_of_columns_is_refused():
    with pytest.raises(ConfigError, match="queries of order 7"):
        RandomTargetedQueryFeature(table(1), 7, 5)
    feature = RandomTargetedQueryFeature(table(1), 6, 1)
    with pytest.raises(ConfigError, match="only 5 to ask about"):
        feature.observe(table(5), attribute_briefing(table(1), "colour", ("red", "blue")))


@pytest.mark.parametrize(
    "wrong", [{"order": 0}, {"number": 0}, {"num_bins": 0}, {"target": table(2)}, {"target": 3}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ConfigError):
        RandomTargetedQueryFeature(**{"target": table(1), "order": 1, "number": 1, **wrong})


def test_without_a_target_there_is_nothing_to_extract():
    with pytest.raises(ConfigError, match="no target"):
        RandomTargetedQueryFeature(None, 1, 1)([table(3)])
    with pytest.raises(ConfigError, match="names none"):
        RandomTargetedQueryFeature(None, 1, 1).observe(table(3), Briefing(Goal("label", values=())))


def test_data_of_another_description_is_refused():
    feature = RandomTargetedQueryFeature(table(1), 1, 1)
    with pytest.raises(SchemaError, match="different descriptions"):
        feature([table(3).view(["cost"])])
    with pytest.raises(SchemaError, match="rows of tables"):
        feature([object()])


def test_an_empty_release_agrees_with_nobody():
    feature = RandomTargetedQueryFeature(table(1), 2, 5)
    assert feature([table(3).empty()]).tolist() == [[0.0] * 5]
    assert feature([]).shape == (0, 5)


@pytest.mark.parametrize("number", [3, 8, 15, 16, 17])
@pytest.mark.parametrize("rows", [40, 1000])
def test_all_conjunctions_are_counted_at_once_as_they_are_one_by_one(
    number: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(number)
    meets = rng.random((number, 3, rows)) < rng.uniform(0.3, 1, (number, 1, 1))
    bits = np.stack([bits_of(each) for each in meets])
    sets = rng.random((3_000, number)) < rng.uniform(0.1, 1, (3_000, 1))
    sets = np.unique(sets[sets.any(axis=1)], axis=0)
    conditions = [
        np.array([np.flatnonzero(one) for one in sets[sets.sum(axis=1) == order]])
        for order in range(1, number + 1)
    ]
    conditions = [some for some in conditions if len(some)]
    naive = [
        [meets[query, record].all(axis=0).sum() for some in conditions for query in some]
        for record in range(3)
    ]
    found = count_conjunctions(bits, *conditions)
    assert found.tolist() == naive
    monkeypatch.setattr("tapas.attacks.features._conjunctions.MOST_CONDITIONS", 0)
    assert count_conjunctions(bits, *conditions).tolist() == naive
    monkeypatch.setattr("tapas.attacks.features._conjunctions.MOST_CONDITIONS", 16)
    monkeypatch.setattr("tapas.attacks.features._conjunctions.MOST_CELLS", 1)
    monkeypatch.setattr(
        "tapas.attacks.features._conjunctions._is_faster_at_once", lambda *sizes: True
    )
    assert count_conjunctions(bits, *conditions).tolist() == naive


def test_bits_are_counted_alike_with_and_without_the_newer_numpy_function(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.random((2, 6, 128)) < 0.7
    bits = np.packbits(rows, axis=2).view(np.uint64).transpose(1, 2, 0)
    conditions = rng.integers(0, 6, (40, 3))
    expected = [[rows[t][query].all(axis=0).sum() for query in conditions] for t in range(2)]
    assert count_conjunctions(bits, conditions).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert count_conjunctions(bits, conditions).tolist() == expected
