import numpy as np
import pytest

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators._cart import CartSynthesizer

NAMES = ["p", "q", "r", "s", "t", "u"]


def joint(dataset, size):
    first, second = dataset.table.codes.T
    return np.bincount(first * size + second, minlength=size**2) / len(dataset)


def test_a_dependence_that_no_order_shows_is_reproduced():
    rng = np.random.default_rng(0)
    first = rng.integers(6, size=3000)
    second = np.where(rng.random(3000) < 0.8, np.array([2, 0, 3, 1, 5, 4])[first],
                      rng.integers(6, size=3000))  # fmt: skip
    words = np.array(NAMES, dtype=object)
    schema = [{"name": n, "type": "finite", "representation": NAMES} for n in ("x", "y")]
    data = TabularDataset({"x": words[first], "y": words[second]}, DataDescription(schema))
    release = CartSynthesizer().fit(data, random_state=0).generate(6000, random_state=1)
    assert np.abs(joint(data, 6) - joint(release, 6)).sum() / 2 < 0.05


def test_a_bent_dependence_of_numbers_and_their_gaps_is_reproduced():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 3000)
    y = np.where((x > 0.5) & (rng.random(3000) < 0.9), np.nan, x**2 + 0.05 * rng.normal(size=3000))
    schema = [{"name": n, "type": "real", "representation": "number"} for n in ("x", "y")]
    data = TabularDataset({"x": x, "y": y}, DataDescription(schema))
    frame = CartSynthesizer().fit(data, random_state=0).generate(3000, random_state=1).data
    assert np.nanstd(frame["y"] - frame["x"] ** 2) < 0.1
    assert abs(frame["y"][frame["x"] > 0.5].isna().mean() - 0.9) < 0.05
    assert frame["y"][frame["x"] < 0.4].notna().all()


def test_leaves_hold_at_least_the_records_asked_for():
    fitted = CartSynthesizer(min_leaf=7).fit(load_sample("clinic", rows=300), random_state=0)
    for tree in fitted.trees_.values():
        assert tree.counts[tree.counts > 0].min() >= 7
        assert tree.counts.sum() == 300


def test_values_come_from_the_data():
    data = load_sample("clinic", rows=200)
    release = CartSynthesizer().fit(data, random_state=0).generate(200, random_state=0)
    for name in data.description.columns:
        assert set(release.data[name].dropna()) <= set(data.data[name].dropna())


def test_columns_are_drawn_in_the_order_asked_for():
    data = load_sample("census", rows=100)
    order = data.description.columns[::-1]
    fitted = CartSynthesizer(order=order).fit(data, random_state=0)
    assert tuple(fitted.trees_) == order
    assert fitted.generate(5, random_state=0).description == data.description
    with pytest.raises(ConfigError, match="order must name each column once"):
        CartSynthesizer(order=["Age"]).fit(data)
    with pytest.raises(ConfigError, match="min_leaf"):
        CartSynthesizer(min_leaf=0)
