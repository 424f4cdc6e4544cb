"""What needs JAX runs in another process: the threads that it starts do not go with forks."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).with_name("jax_models.py")


@pytest.mark.parametrize(
    ("test", "package"),
    [
        ("test_functions_of_jax_are_models", "jax"),
        ("test_networks_of_keras_are_models_of_images", "keras"),
    ],
)
def test_models_of_jax(test: str, package: str) -> None:
    for needed in ("jax", package):
        if find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"{TESTS}::{test}"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
    assert "1 passed" in ended.stdout
