"""Adversarial privacy auditing: attack a release the way an adversary would.

Sub-packages load on first use, so ``import tapas`` is instant and
``tapas.datasets.TabularDataset`` works without a second import.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_ROOMS = (
    "attacks",
    "audit",
    "datasets",
    "engine",
    "errors",
    "generators",
    "metrics",
    "models",
    "report",
    "results",
    "stats",
    "testing",
    "threat_models",
)

__all__ = ["Attack", "__version__", *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"tapas.{name}")
    if name == "Attack":
        return importlib.import_module("tapas.attacks").Attack
    raise AttributeError(f"module 'tapas' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
