"""The script that tests every Python and set of dependencies knows what these are."""

import sys
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_dependency_has_a_lower_bound_that_the_oldest_set_names() -> None:
    loader = SourceFileLoader("matrix", str(ROOT / ".ci" / "matrix"))
    spec = spec_from_loader("matrix", loader)
    assert spec is not None
    matrix = module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(matrix)
    finally:
        sys.dont_write_bytecode = before
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = matrix.lower_bounds()
    assert {one.replace(">=", "==") for one in project["dependencies"]} <= set(bounds)
    assert "pyarrow==14.0.1" in bounds
    assert matrix.interpreter("2.99") is None
