"""The SDV adapter: its joints on a stand-in, and the real package where it is installed."""

import sys
import types

import numpy as np
import pytest

from tapas.datasets import load_sample
from tapas.errors import ConfigError, MechanismError
from tapas.generators._sdv import SDVGenerator


class StandInMetadata:
    @classmethod
    def load_from_dict(cls, content):
        made = cls()
        made.content = content
        return made


class StandInSynthesizer:
    """Starts every sampling from one fixed seed, as SDV does."""

    def __init__(self, metadata, epochs=1):
        self.metadata, self.epochs, self.seed = metadata, epochs, 73251

    def fit(self, data):
        self.given = data

    def _set_random_state(self, seed):
        self.seed = seed

    def sample(self, num_rows):
        frame = self.given["table"] if isinstance(self.given, dict) else self.given
        rows = np.random.default_rng(self.seed).integers(len(frame), size=num_rows)
        made = frame.iloc[rows]
        return {"table": made} if isinstance(self.given, dict) else made


@pytest.fixture(params=["1.38.5", "2.0.0"])
def stand_in(request, monkeypatch):
    package, metadata, single = (
        types.ModuleType(name) for name in ("sdv", "sdv.metadata", "sdv.single_table")
    )
    package.__version__ = request.param
    package.metadata, package.single_table = metadata, single
    metadata.Metadata = StandInMetadata
    single.GaussianCopulaSynthesizer = StandInSynthesizer
    for module in (package, metadata, single):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return request.param


def test_the_table_is_passed_as_each_version_wants_it(stand_in):
    generator = SDVGenerator(epochs=3).fit(load_sample("clinic", rows=30), random_state=0)
    assert isinstance(generator.fitted_.given, dict) == stand_in.startswith("2")
    assert generator.fitted_.epochs == 3
    assert len(generator.generate(12, random_state=0)) == 12
    assert generator.label == "SDV GaussianCopulaSynthesizer(epochs=3)"


def test_metadata_come_from_the_schema(stand_in):
    data = load_sample("clinic", rows=5)
    content = SDVGenerator().fit(data).fitted_.metadata.content
    types_ = {n: c["sdtype"] for n, c in content["tables"]["table"]["columns"].items()}
    assert types_["admitted"] == types_["triage time"] == "datetime"
    assert types_["severity"] == types_["ward"] == types_["smoker"] == "categorical"
    assert types_["age"] == types_["charge"] == "numerical"
    assert list(types_) == list(data.description.columns)


def test_the_fixed_seed_is_replaced_unless_it_is_what_is_audited(stand_in):
    data = load_sample("clinic", rows=50)

    def releases(**options):
        fitted = [SDVGenerator(**options).fit(data, random_state=0) for _ in range(2)]
        return [g.generate(50, random_state=seed).table for seed, g in enumerate(fitted)]

    first, second = releases()
    assert not first.same_values(second)
    first, second = releases(reseed=False)
    assert first.same_values(second)


def test_an_unknown_synthesizer_is_refused_by_name(stand_in):
    with pytest.raises(ConfigError, match="it has GaussianCopulaSynthesizer"):
        SDVGenerator("Nothing").fit(load_sample("clinic", rows=5))


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sdv", None)
    with pytest.raises(MechanismError, match="pip install sdv"):
        SDVGenerator().fit(load_sample("clinic", rows=5))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("sample", ["census", "clinic"])
def test_the_real_package_makes_releases_that_follow_the_seed(sample):
    pytest.importorskip("sdv", reason="the package sdv is not installed")
    data = load_sample(sample, rows=200)

    def release(fit_seed, seed):
        generator = SDVGenerator(repair=True).fit(data, random_state=fit_seed)
        return generator.generate(150, random_state=seed).table

    first, again, other = release(1, 2), release(1, 2), release(1, 3)
    assert len(first) == 150
    assert first.same_values(again)
    assert not first.same_values(other)
    for name in data.description.columns:  # no column is the same in every release
        assert not np.array_equal(first.column(name), other.column(name), equal_nan=True)


@pytest.mark.filterwarnings("default")
def test_the_real_package_repeats_itself_without_a_new_seed():
    pytest.importorskip("sdv", reason="the package sdv is not installed")
    data = load_sample("clinic", rows=150)
    first, second = (
        SDVGenerator(repair=True, reseed=False)
        .fit(data, random_state=seed)
        .generate(50, random_state=seed)
        .table
        for seed in (1, 2)
    )
    assert first.same_values(second)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_real_package_trains_its_networks():
    pytest.importorskip("sdv", reason="the package sdv is not installed")
    data = load_sample("clinic", rows=100)
    generator = SDVGenerator("TVAESynthesizer", repair=True, epochs=1)
    first, again = (
        generator.fit(data, random_state=1).generate(20, random_state=2).table for _ in range(2)
    )
    assert first.same_values(again)
