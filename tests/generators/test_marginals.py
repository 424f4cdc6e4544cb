import numpy as np
import pytest

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators._marginals import IndependentMarginals

SCHEMA = [
    {"name": "x", "type": "real", "representation": "number"},
    {"name": "y", "type": "real", "representation": "number"},
    {"name": "c", "type": "finite", "representation": ["u", "v", "w"]},
    {"name": "d", "type": "finite", "representation": ["u", "v", "w"]},
]


def dependent(rows=1000):
    rng = np.random.default_rng(0)
    x, codes = rng.normal(size=rows), rng.integers(3, size=rows)
    words = np.array(["u", "v", "w"], dtype=object)[codes]
    return TabularDataset({"x": x, "y": x, "c": words, "d": words}, DataDescription(SCHEMA))


def test_dependence_is_destroyed():
    release = IndependentMarginals().fit(dependent()).generate(4000, random_state=1)
    frame = release.data
    assert abs(np.corrcoef(frame["x"], frame["y"])[0, 1]) < 0.06
    assert abs((frame["c"] == frame["d"]).mean() - 1 / 3) < 0.04


def test_frequencies_are_those_of_the_data():
    data = load_sample("clinic", rows=300)
    fitted = IndependentMarginals().fit(data)
    ward = data.data["ward"]
    values = data.description["ward"]["representation"]
    expected = [(ward == value).mean() for value in values] + [ward.isna().mean()]
    assert np.allclose(fitted.frequencies_["ward"], expected)
    assert all(np.isclose(f.sum(), 1) for f in fitted.frequencies_.values())


def test_numbers_of_records_are_not_repeated_unless_asked_for():
    data = dependent()
    private = set(data.data["x"])
    binned = IndependentMarginals().fit(data).generate(1000, random_state=0)
    exact = IndependentMarginals(num_bins=None).fit(data).generate(1000, random_state=0)
    assert not private & set(binned.data["x"])
    assert set(exact.data["x"]) <= private


def test_the_number_of_bins_is_checked():
    with pytest.raises(ConfigError, match="num_bins"):
        IndependentMarginals(num_bins=0)
    assert IndependentMarginals(num_bins=5).label == "IndependentMarginals(bins=5)"
