"""Canaries are unlike any row; vulnerable records are those far from all others."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import (
    DataDescription,
    TabularDataset,
    TabularRecord,
    create_canary,
    load_sample,
    most_isolated,
    rare_combinations,
    record_isolation,
    select_vulnerable_records,
)
from tapas.errors import ConfigError, RecordError, SchemaError

EVERY_KIND: list[tuple[str, Any, list[Any]]] = [
    ("finite", 2, [0, 1, 1]),
    ("finite", ["x", "CANARY"], ["x", "CANARY", None]),
    ("finite/ordered", 3, [0, 1, 2]),
    ("finite/ordered", ["S", "L"], ["S", "L", "S"]),
    ("countable", "integer", [4, 9, 2]),
    ("countable", "string", ["CANARY", "u", "CANARY2"]),
    ("countable/ordered", "integer", [-4, -9, None]),
    ("countable/ordered/least", "integer", [4, 9, 2]),
    ("countable/ordered/least", "string", ["u", "v", "w"]),
    ("countable/ordered", "date", ["2020-01-31", "1999-01-01", None]),
    ("real", "number", [-1.5, -2.5, 0.0]),
    ("real", "datetime", ["2020-01-31T10:00:00", "1999-01-01T00:00:00", None]),
    ("real/non-negative", "number", [0.0, 5.5, 2.0]),
    ("interval", "number", [0.0, 0.5, 0.25]),
    ("interval", "number", [0.0, 1.0, 0.25]),
    ("real", "number", [None, None, None]),
]


@pytest.fixture
def every_kind() -> TabularDataset:
    schema = [
        {"name": f"c{i}", "type": type_, "representation": representation}
        for i, (type_, representation, _) in enumerate(EVERY_KIND)
    ]
    frame = pd.DataFrame({f"c{i}": values for i, (_, _, values) in enumerate(EVERY_KIND)})
    return TabularDataset(frame, DataDescription(schema, "kinds"))


def test_a_canary_differs_from_every_row_in_every_column(every_kind: TabularDataset) -> None:
    extended, canary = create_canary(every_kind)
    assert (extended.table.count_differences(canary.table) == len(EVERY_KIND)).all()
    assert canary.data.notna().all().all()
    assert canary not in extended
    assert canary.id == canary.label == "canary"
    assert canary.data.index.tolist() == ["canary"]
    assert isinstance(canary, TabularRecord)


def test_the_extended_data_has_the_same_rows_and_the_canarys_description(
    every_kind: TabularDataset,
) -> None:
    extended, canary = create_canary(every_kind)
    assert extended.description == canary.description
    assert extended.label == "kinds"
    pd.testing.assert_frame_equal(extended.data, every_kind.data)
    assert len(extended + canary) == 4
    again = TabularDataset(canary.data, canary.description)
    assert again.table.same_values(canary.table)


def test_the_documented_values_of_a_canary(every_kind: TabularDataset) -> None:
    extended, canary = create_canary(every_kind)
    values = canary.data.iloc[0]
    assert values["c0"] == 2
    assert extended.description["c0"]["representation"] == 3
    assert values["c1"] == "CANARY2"
    assert extended.description["c3"]["representation"] == ["S", "L", "CANARY"]
    assert values["c4"] == 10
    assert values["c6"] == -3
    assert values["c9"] == pd.Timestamp("2020-02-01")
    assert values["c10"] == 1.0
    assert values["c13"] == 1.0
    assert 0 < values["c14"] < 1
    assert every_kind.description["c0"]["representation"] == 2


def test_a_canary_can_be_renamed_and_added_to_targets(numbered: TabularDataset) -> None:
    extended, canary = create_canary(numbered)
    canary.set_id(-1)
    target = extended.get_records([3])
    both = target.add_records(canary)
    assert both is not None
    assert both.data.index.tolist() == [3, -1]


def naive_isolation(dataset: TabularDataset, neighbours: int) -> list[float]:
    """From the definition, with loops over rows."""
    rows = []
    coded = [c for c in dataset.description.parsed if c.is_coded]
    number = [c for c in dataset.description.parsed if not c.is_coded]
    frame = dataset.data
    plain = {c.name: dataset.table.column(c.name) for c in number}
    for position in range(len(frame)):
        words = [str(frame[c.name].fillna(frame[c.name].mode()[0]).iloc[position]) for c in coded]
        numbers = []
        for column in number:
            values = plain[column.name]
            low, high = np.nanmin(values), np.nanmax(values)
            value = np.nanmedian(values) if np.isnan(values[position]) else values[position]
            numbers.append((value - low) / ((high - low) or 1))
        rows.append((words, np.array(numbers)))
    total = len(coded) + len(number)

    def distance(one: tuple[Any, Any], two: tuple[Any, Any]) -> float:
        same = sum(a == b for a, b in zip(one[0], two[0], strict=True)) / len(coded)
        norms = np.linalg.norm(one[1]), np.linalg.norm(two[1])
        cosine = float(norms[0] == norms[1]) if 0 in norms else one[1] @ two[1] / np.prod(norms)
        return (len(coded) * (1 - same) + len(number) * (1 - cosine)) / total

    result = []
    for i, row in enumerate(rows):
        distances = sorted(distance(row, other) for j, other in enumerate(rows) if j != i)
        result.append(float(np.mean(distances[:neighbours])))
    return result


@pytest.mark.parametrize("neighbours", [1, 3])
def test_isolation_equals_a_naive_twin(neighbours: int) -> None:
    dataset = load_sample("clinic", rows=60, seed=5)
    isolation = record_isolation(dataset, neighbours)
    np.testing.assert_allclose(isolation, naive_isolation(dataset, neighbours), atol=2e-6)


def test_isolation_knows_categories_alone_and_numbers_alone(mixed: TabularDataset) -> None:
    words = mixed.view(["colour", "size", "flag", "grade"])
    assert record_isolation(words.take(range(4)), 1) == pytest.approx([0.5, 0.75, 0.75, 0.5])
    assert record_isolation(words, 1)[4] == pytest.approx(0.25)  # nothing of it is known
    numbers = mixed.view(["balance", "charge"])
    assert np.isfinite(record_isolation(numbers, 2)).all()


def test_an_outlier_is_the_most_vulnerable_record() -> None:
    dataset = load_sample("census", rows=300, seed=2)
    extended, canary = create_canary(dataset)
    crowd = extended + canary
    chosen = select_vulnerable_records(crowd, 1)
    assert isinstance(chosen, TabularRecord)
    assert canary in chosen
    several = select_vulnerable_records(crowd, 3)
    isolation = record_isolation(crowd)
    expected = np.argsort(-isolation, kind="stable")[:3]
    assert several.data.index.tolist() == crowd.data.index[expected].tolist()


@pytest.mark.parametrize("sample", ["census", "clinic"])
@pytest.mark.parametrize("k", [1, 40, 1500])
def test_the_fast_search_finds_what_comparing_all_pairs_finds(sample: str, k: int) -> None:
    dataset = load_sample(sample, rows=1500, seed=3)
    expected = np.argsort(-record_isolation(dataset), kind="stable")[:k]
    assert most_isolated(dataset, k).tolist() == expected.tolist()


def test_the_fast_search_is_exact_where_no_record_has_near_neighbours() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(1200, 12)))
    dataset = TabularDataset.from_dataframe(frame)
    expected = np.argsort(-record_isolation(dataset), kind="stable")[:30]
    assert most_isolated(dataset, 30).tolist() == expected.tolist()


@pytest.mark.parametrize("rows", [7, 127, 128, 129, 260, 4000])
def test_the_fast_search_is_exact_for_tables_of_every_size(rows: int) -> None:
    """Smaller than a block of sorted rows, one row more, and so many that blocks are not enough."""
    dataset = load_sample("clinic", rows=rows, seed=rows)
    expected = np.argsort(-record_isolation(dataset), kind="stable")[:3]
    assert most_isolated(dataset, 3).tolist() == expected.tolist()


def test_among_copies_the_first_are_taken() -> None:
    dataset = load_sample("census", rows=1, seed=3).take([0] * 900)
    assert most_isolated(dataset, 3).tolist() == [0, 1, 2]


def test_a_record_does_not_stand_out_by_what_is_missing() -> None:
    """Two of 344 penguins have no measurement at all: nobody could recognise them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(40, 5, (344, 4)), columns=list("abcd"))
    frame["species"] = rng.choice(["x", "y", "z"], 344)
    frame["sex"] = rng.choice(["f", "m"], 344)
    frame.loc[[3, 271], ["a", "b", "c", "d", "sex"]] = None
    penguins = TabularDataset.from_dataframe(frame)
    order = np.argsort(-record_isolation(penguins), kind="stable").tolist()
    assert min(order.index(3), order.index(271)) > 172
    assert not {3, 271} & set(most_isolated(penguins, 20).tolist())


def test_impossible_requests_are_refused(numbered: TabularDataset) -> None:
    with pytest.raises(RecordError, match="100 neighbours"):
        record_isolation(numbered, 100)
    with pytest.raises(ConfigError, match="neighbours"):
        record_isolation(numbered, 0)
    with pytest.raises(RecordError, match="101 records"):
        select_vulnerable_records(numbered, 101)
    with pytest.raises(ConfigError, match="k must be"):
        select_vulnerable_records(numbered, 0)
    text = DataDescription([{"name": "t", "type": "countable", "representation": "string"}])
    with pytest.raises(SchemaError, match="'t'"):
        record_isolation(TabularDataset([["a"], ["b"]], text), 1)


@pytest.mark.parametrize("sample", ["census", "clinic"])
def test_rare_combinations_have_known_values_and_unknown_combinations(sample: str) -> None:
    data = load_sample(sample, 300, seed=1)
    made = rare_combinations(data, 40, random_state=3)
    assert len(made) == 40
    assert made.description == data.description
    for column in data.description.columns:
        assert set(made.data[column]) <= set(data.data[column])
    assert not (data.table.count_differences(made.table) == 0).any()
    assert len(made.data.drop_duplicates()) == 40
    assert made.data.equals(rare_combinations(data, 40, random_state=3).data)
    with pytest.raises(RecordError, match="ask for fewer"):
        rare_combinations(data.view(["Sex" if sample == "census" else "sex"]), 5, random_state=0)
