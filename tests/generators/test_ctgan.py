"""The CTGAN adapter: its joints on a stand-in, and the real package where it is installed."""

import sys
import types

import numpy as np
import pytest

from tapas.datasets import load_sample
from tapas.errors import ConfigError, MechanismError
from tapas.generators._ctgan import CTGANGenerator


class StandIn:
    def __init__(self, epochs=300):
        self.epochs = epochs

    def set_random_state(self, seed):
        self.rng = np.random.default_rng(seed)

    def fit(self, frame, discrete_columns):
        assert not frame.isna().any(axis=None)
        self.frame, self.discrete = frame, discrete_columns

    def sample(self, n):
        made = self.frame.iloc[self.rng.integers(len(self.frame), size=n)].reset_index(drop=True)
        numbers = [name for name in made if name not in self.discrete]
        made[numbers] += self.rng.normal(0, 0.3, (n, len(numbers)))  # networks do not round
        return made


@pytest.fixture
def stand_in(monkeypatch):
    package = types.ModuleType("ctgan")
    package.CTGAN = package.TVAE = StandIn
    monkeypatch.setitem(sys.modules, "ctgan", package)


@pytest.mark.parametrize("model", ["CTGAN", "TVAE"])
def test_mixed_tables_with_gaps_come_back_within_the_schema(stand_in, model):
    data = load_sample("clinic", rows=300)
    generator = CTGANGenerator(model, epochs=2).fit(data, random_state=0)
    release = generator.generate(400, random_state=1)
    assert len(release) == 400
    frame, real = release.data, data.data
    assert np.array_equal(frame["age"], np.round(frame["age"]))
    assert frame["charge"].min() >= 0
    assert frame["readmission risk"].between(0, 1).all()
    for name in ("charge", "ward", "temperature", "smoker", "triage time"):
        assert abs(frame[name].isna().mean() - real[name].isna().mean()) < 0.1
    assert generator.label == f"{model}(epochs=2)"


def test_seeds_decide_what_is_sampled(stand_in):
    generator = CTGANGenerator().fit(load_sample("clinic", rows=50), random_state=0)
    first, again, other = (generator.generate(50, random_state=s).table for s in (1, 1, 2))
    assert first.same_values(again)
    assert not first.same_values(other)


@pytest.mark.parametrize("code", [6, 256, -2])
def test_a_code_of_no_category_is_refused(stand_in, monkeypatch, code):
    def sample(self, n):
        return self.frame.iloc[:n].assign(value4=[code, *self.frame["value4"][1:n]])

    monkeypatch.setattr(StandIn, "sample", sample)
    generator = CTGANGenerator().fit(load_sample("clinic", rows=50), random_state=0)
    with pytest.raises(MechanismError, match=f"code {code} in row 0 of column 'ward'"):
        generator.generate(20, random_state=1)


def test_wrong_models_and_missing_packages_are_named(monkeypatch):
    with pytest.raises(ConfigError, match="'CTGAN', 'TVAE'"):
        CTGANGenerator("GAN")
    monkeypatch.setitem(sys.modules, "ctgan", None)
    with pytest.raises(MechanismError, match="pip install ctgan"):
        CTGANGenerator().fit(load_sample("clinic", rows=5))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("model", ["CTGAN", "TVAE"])
def test_the_real_package_makes_releases_that_follow_the_seed(model):
    pytest.importorskip("ctgan", reason="the package ctgan is not installed")
    data = load_sample("clinic", rows=120)

    def release(seed):
        generator = CTGANGenerator(model, epochs=1).fit(data, random_state=5)
        return generator.generate(60, random_state=seed).table

    first, again, other = release(1), release(1), release(2)
    assert len(first) == 60
    assert first.same_values(again)
    assert not first.same_values(other)
