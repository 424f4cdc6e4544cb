"""The figures on the evaluation page are those that the example prints."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evaluation.md"
EXAMPLE = ROOT / "examples" / "reporting.py"

pytestmark = pytest.mark.skipif(
    not (PAGE.exists() and EXAMPLE.exists()), reason="the page and the example are not here"
)


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("reporting_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_quotes_the_bound_that_the_example_prints(example, tmp_path):
    assert example.laplace_epsilon(1.0, tmp_path) in PAGE.read_text(encoding="utf-8")


def test_the_page_quotes_the_point_estimates_that_the_example_prints(example):
    line = example.point_estimates_of_nothing(example.simulate_all())
    low, _, high = line.split()[-3:]
    assert f"between {low} and {high}" in " ".join(PAGE.read_text(encoding="utf-8").split())
