"""Records whose pairs of values are rare."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from tapas.datasets import (
    DataDescription,
    TabularDataset,
    load_sample,
    most_rare,
    record_rarity,
)
from tapas.errors import RecordError


def table(frame: pd.DataFrame) -> TabularDataset:
    return TabularDataset(frame, DataDescription.infer(frame))


def named(codes: np.ndarray) -> list[str]:
    return [f"value {code}" for code in codes]


@pytest.mark.parametrize("categories", [3, 40])
def test_rarity_sums_mutual_information_over_those_who_share_a_pair(categories: int) -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, categories, 150)
    second = (first + rng.integers(0, 2, 150)) % categories
    third = np.where(rng.random(150) < 0.1, None, named(rng.integers(0, 3, 150)))
    frame = pd.DataFrame({"a": named(first), "b": named(second), "c": third})
    values = frame.fillna("missing")
    expected = np.zeros(150)
    for one, other in combinations(values, 2):
        share = values.groupby([one, other])[one].transform("size").to_numpy()
        expected += mutual_info_score(values[one], values[other]) / share
    np.testing.assert_allclose(record_rarity(table(frame)), expected)


def test_numbers_are_rare_by_bins_of_as_many_records() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 2_000).astype(float)
    pension = np.where(age > 65, "yes", "no")
    frame = pd.DataFrame({"age": age, "wage": rng.lognormal(size=2_000), "pension": pension})
    frame.loc[7, ["age", "pension"]] = [23.0, "yes"]
    frame.loc[8, "age"] = np.nan
    rarest = most_rare(table(frame), 2).tolist()
    assert sorted(rarest) == [7, 8]
    stretched = frame.assign(wage=np.exp(frame["wage"]), age=frame["age"] * 3 + 1)
    np.testing.assert_allclose(record_rarity(table(frame)), record_rarity(table(stretched)))


def test_columns_that_tell_nothing_of_each_other_make_nobody_rare() -> None:
    every = [(a, b) for a in "xyz" for b in "uvw"]
    frame = pd.DataFrame(every * 4, columns=["a", "b"])
    np.testing.assert_allclose(record_rarity(table(frame)), 0, atol=1e-9)
    assert most_rare(table(frame), 3).tolist() == [0, 1, 2]


def test_few_different_numbers_are_values_each() -> None:
    rng = np.random.default_rng(3)
    rooms = rng.integers(1, 7, 400).astype(float)
    rooms[17] = 9
    frame = pd.DataFrame({"rooms": rooms, "size": named(rooms > 4)})
    categories = frame.assign(rooms=named(frame["rooms"].to_numpy()))
    np.testing.assert_allclose(record_rarity(table(frame)), record_rarity(table(categories)))
    assert most_rare(table(frame), 1).tolist() == [17]


def test_order_of_rows_and_columns_does_not_matter() -> None:
    data = load_sample("clinic", 300)
    rarity = record_rarity(data)
    rows = np.random.default_rng(2).permutation(300)
    np.testing.assert_allclose(record_rarity(data.take(rows)), rarity[rows])
    assert set(most_rare(data.take(rows), 300)) == set(range(300))


def test_more_records_than_there_are_cannot_be_the_rarest() -> None:
    with pytest.raises(RecordError, match="21 records were asked for, the dataset has 20"):
        most_rare(load_sample("census", 20), 21)
