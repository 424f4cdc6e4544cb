"""The SmartNoise adapter, on a stand-in."""

import sys
import types

import numpy as np
import pytest

from tapas.datasets import load_sample
from tapas.errors import MechanismError
from tapas.generators._smartnoise import SmartNoiseGenerator


class StandIn:
    def fit(self, frame, **arguments):
        self.frame, self.arguments = frame, arguments

    def sample(self, n):
        return self.frame.iloc[np.arange(n) % len(self.frame)].reset_index(drop=True)


@pytest.fixture
def created(monkeypatch):
    calls = []

    class Synthesizer:
        @classmethod
        def create(cls, name, epsilon=None, **arguments):
            calls.append((name, epsilon, arguments))
            return StandIn()

    package = types.ModuleType("snsynth")
    package.Synthesizer = Synthesizer
    monkeypatch.setitem(sys.modules, "snsynth", package)
    return calls


def test_columns_are_declared_by_kind_and_come_back(created):
    data = load_sample("clinic", rows=60)
    generator = SmartNoiseGenerator("aim", 2, delta=1e-6, preprocessor_eps=0.5).fit(data)
    assert created == [("aim", 2.0, {"delta": 1e-6})]
    assert generator.label == "SmartNoise aim(epsilon=2, delta=1e-06)"
    given = generator.fitted_.arguments
    assert given["categorical_columns"] == ["sex", "ward", "smoker"]
    assert given["ordinal_columns"] == ["severity"]
    assert "charge" in given["continuous_columns"]
    assert given["preprocessor_eps"] == 0.5
    assert generator.generate(60).table.same_values(data.table)


def test_a_code_of_no_category_is_refused(created, monkeypatch):
    data = load_sample("clinic", rows=60)
    generator = SmartNoiseGenerator().fit(data)
    monkeypatch.setattr(StandIn, "sample", lambda self, n: self.frame.iloc[:n].assign(ward=256))
    with pytest.raises(MechanismError, match="code 256 in row 0 of column 'ward'"):
        generator.generate(20)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "snsynth", None)
    with pytest.raises(MechanismError, match="pip install smartnoise-synth"):
        SmartNoiseGenerator().fit(load_sample("clinic", rows=5))
