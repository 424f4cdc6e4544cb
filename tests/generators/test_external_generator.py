"""The program in examples/ speaks the protocol of GeneratorFromExecutable."""

import subprocess
from pathlib import Path

import pytest

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import MechanismError
from tapas.generators import GeneratorFromExecutable

PROGRAM = Path(__file__).parents[2] / "examples" / "external_generator.py"


@pytest.mark.parametrize("sample", ["census", "clinic"])
def test_the_program_makes_releases_that_follow_the_seed(sample):
    data = load_sample(sample, rows=60)
    generator = GeneratorFromExecutable(str(PROGRAM), "program", timeout=60)
    generator.fit(data)
    first, again, other = (generator.generate(80, random_state=s).table for s in (1, 1, 2))
    assert first.same_values(again)
    assert not first.same_values(other)
    release = first.to_frame()
    for name in data.description.columns:
        assert set(release[name].dropna()) <= set(data.data[name].dropna())


def test_quotes_commas_and_single_empty_cells_survive():
    schema = [{"name": "w", "type": "finite", "representation": ['a, "b"', "c\nd", "é"]}]
    frame = {"w": ['a, "b"', "c\nd", "é", None]}
    generator = GeneratorFromExecutable(str(PROGRAM), timeout=60)
    generator.fit(TabularDataset(frame, DataDescription(schema)))
    made = generator.generate(200, random_state=0).data["w"]
    assert set(made.dropna()) == {'a, "b"', "c\nd", "é"}
    assert 20 < made.isna().sum() < 80


def test_a_program_that_fails_is_quoted():
    done = subprocess.run(
        [str(PROGRAM), "3"], input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no private records" in done.stderr
    generator = GeneratorFromExecutable(str(PROGRAM), "program", timeout=60)
    generator.fit(load_sample("census", rows=5).empty())
    with pytest.raises(MechanismError, match="exit status 1: no private records"):
        generator.generate(3)
