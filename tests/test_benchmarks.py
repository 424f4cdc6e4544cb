"""Benchmarks are not run by tests; what they import is there, and their arguments are read."""

import ast
import importlib.util
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(FOLDER.rglob("*.py"))
OURS = {"tapas", *(script.stem for script in SCRIPTS)}


def _name(script: Path) -> str:
    return script.relative_to(FOLDER).as_posix()


def _imported(script: Path) -> list[tuple[str, str]]:
    """Modules of the package, and the names that a script takes from them, wherever it does."""
    nodes = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    return [
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tapas")
        for alias in node.names
    ]


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Scripts find each other, as they do where they are run, and leave nothing behind."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), str(FOLDER / "gpu"), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    surroundings, modules = dict(os.environ), set(sys.modules)
    yield
    os.environ.clear()
    os.environ.update(surroundings)
    for name in {script.stem for script in SCRIPTS} & (set(sys.modules) - modules):
        del sys.modules[name]


@pytest.mark.parametrize("script", SCRIPTS, ids=_name)
def test_names_that_a_benchmark_takes_from_the_package_are_there(script: Path) -> None:
    missing = []
    for module, name in _imported(script):
        try:
            found = hasattr(importlib.import_module(module), name) or (
                importlib.util.find_spec(f"{module}.{name}") is not None
            )
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "tapas":
                continue  # an optional package
            found = False
        if not found:
            missing.append(f"{module}.{name}")
    assert not missing


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("script", SCRIPTS, ids=_name)
def test_a_benchmark_says_what_its_arguments_are(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    try:
        if "__main__" in text and ("argparse" in text or "same_answers" in text):
            with pytest.raises(SystemExit) as end:
                runpy.run_path(str(script), run_name="__main__")
            assert end.value.code == 0
            assert "usage:" in capsys.readouterr().out
        else:  # it has no options, or is for other scripts
            assert runpy.run_path(str(script))["__doc__"]
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in OURS:
            raise
        pytest.skip(f"{error.name} is not installed")
