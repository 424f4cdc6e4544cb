"""Rows that are copied late are the rows that would have been copied at once."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import DataDescription, TabularDataset

SCHEMA = [
    {"name": "sex", "type": "finite", "representation": ["f", "m"]},
    {"name": "age", "type": "countable/ordered", "representation": "integer"},
    {"name": "note", "type": "countable", "representation": "string"},
]


def table(rows: int, seed: int) -> TabularDataset:
    rng = np.random.default_rng(seed)
    words = [f"w{seed}{number}" for number in rng.integers(0, 9, rows)]
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], rows), "age": rng.integers(0, 99, rows), "note": words}
    )
    return TabularDataset(frame, DataDescription(SCHEMA, "people"))


@pytest.mark.parametrize("seed", range(20))
def test_any_chain_of_gathers_equals_the_same_chain_on_frames(seed):
    rng = np.random.default_rng(seed)
    people, others = table(30, 1), table(4, 2)
    twin, other_frame = people.copy().data, others.copy().data
    for _ in range(5):
        size = len(people)
        step = rng.integers(4)
        if step == 0:
            rows = rng.integers(-size, size, 20)
            people, twin = people.take(rows), twin.iloc[rows]
        elif step == 1:
            rows = rng.integers(0, size, 20)
            people = people.take(rows, reset_index=True)
            twin = twin.iloc[rows].reset_index(drop=True)
        elif step == 2:
            rows = rng.permutation(size + len(others))[:20]
            people = people.splice(others, rows)
            twin = pd.concat([twin, other_frame]).iloc[rows].reset_index(drop=True)
        else:
            people = people.sample(min(15, size), random_state=int(seed))
            twin = twin.sample(min(15, size), random_state=int(seed))
        assert len(people) == len(twin)
    said = people.nbytes
    assert said == people.copy().table.nbytes
    for form in (people.copy(), copy.copy(people), pickle.loads(pickle.dumps(people)), people):  # noqa: S301
        pd.testing.assert_frame_equal(form.data, twin, check_dtype=False)


def test_labels_can_be_dropped_before_and_after_rows_are_copied():
    people = table(10, 1).take([3, 1, 2], reset_index=True).take([2, 0])
    assert people.unlabelled().table.index.tolist() == [0, 1]
    assert people.table.index.tolist() == [2, 0]
    assert people.unlabelled().table.index.tolist() == [0, 1]
    assert people.take([]).table.index.tolist() == []


def test_a_dataset_of_gathered_rows_does_not_follow_changes_of_its_source():
    source = table(6, 1)
    held = source.take([0, 1], reset_index=True)
    before = held.copy().data
    source.drop_records([0], in_place=True)
    source.data["age"] = 0
    pd.testing.assert_frame_equal(held.data, before)
