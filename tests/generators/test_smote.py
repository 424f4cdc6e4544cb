import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators import _smote
from tapas.generators._smote import Smote

SCHEMA = [
    {"name": "x", "type": "real", "representation": "number"},
    {"name": "y", "type": "real", "representation": "number"},
    {"name": "c", "type": "finite", "representation": ["left", "right"]},
]


def two_clusters(rows=200):
    rng = np.random.default_rng(0)
    side = np.arange(rows) % 2
    x = side * 100 + rng.normal(size=rows)
    words = np.array(["left", "right"], dtype=object)[side]
    return TabularDataset({"x": x, "y": -x, "c": words}, DataDescription(SCHEMA))


def naive_neighbours(points, count):
    distances = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :count]


def test_neighbours_are_those_of_the_naive_search():
    data = two_clusters()
    points = _smote._places(data.table).astype(np.float64)
    found = Smote(4).fit(data, random_state=0).neighbours_
    assert np.array_equal(np.sort(found), np.sort(naive_neighbours(points, 4)))


@pytest.mark.parametrize("columns", [16, 32, 160, 800])
def test_the_smallest_numbers_are_those_of_a_whole_sort(columns):
    keys = np.random.default_rng(0).permuted(np.tile(np.arange(columns * 1.0), (40, 1)), axis=1)
    for count in (1, 2, 6, 16):
        assert np.array_equal(_smote._smallest(keys, count), np.sort(keys, axis=1)[:, :count])


def test_neighbours_do_not_depend_on_the_number_of_threads():
    data = load_sample("census", rows=400)  # categories alone: many records are equally near
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(Smote().fit(data, random_state=0).neighbours_)
    assert np.array_equal(*found)


def test_records_lie_between_neighbours_of_one_cluster():
    frame = Smote().fit(two_clusters()).generate(500, random_state=0).data
    assert ((frame["x"] < 10) == (frame["c"] == "left")).all()
    assert (frame["x"].between(-5, 5) | frame["x"].between(95, 105)).all()
    assert np.allclose(frame["x"], -frame["y"])


def test_the_most_frequent_category_of_the_neighbours_wins():
    codes = np.array([[0, 1, 1, 0, 1], [2, 2, 2, 0, 1], [0, 0, 1, 1, -1]])
    votes = np.array([_smote._vote(codes, np.random.default_rng(s)) for s in range(50)])
    assert set(votes[:, 0]) == {1}
    assert set(votes[:, 1]) == {2}
    assert set(votes[:, 2]) == {0, 1}


def test_copies_and_large_tables_have_neighbours_too(monkeypatch):
    monkeypatch.setattr(_smote, "LARGEST_SEARCH", 50)
    data = two_clusters(120).take(np.repeat(np.arange(120), 3))
    found = Smote(5).fit(data, random_state=0).neighbours_
    assert found.shape == (360, 5)
    assert len(np.unique(found)) <= 50
    assert not (found == np.arange(360)[:, None]).any()


def test_the_number_of_neighbours_is_checked():
    with pytest.raises(ConfigError, match="num_neighbours"):
        Smote(0)
