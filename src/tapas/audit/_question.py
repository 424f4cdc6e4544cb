"""What an audit asks, as plain values: to compare, to fingerprint, to show."""

import hashlib
import json
import platform
import sys
from importlib import metadata
from typing import Any

import numpy as np

import tapas
from tapas.datasets import Dataset, TabularDataset

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")


def fingerprint(question: dict[str, Any]) -> str:
    """Digest of a question; equal questions have equal digests."""
    text = json.dumps(question, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def differences(stored: Any, asked: Any, path: str = "") -> list[str]:
    """Where two questions differ, one line each."""
    if isinstance(stored, dict) and isinstance(asked, dict):
        lines = []
        for key in sorted({*stored, *asked}, key=str):
            below = f"{path}.{key}" if path else str(key)
            lines += differences(stored.get(key), asked.get(key), below)
        return lines
    if isinstance(stored, list) and isinstance(asked, list) and len(stored) == len(asked):
        lines = []
        for position, (left, right) in enumerate(zip(stored, asked, strict=True)):
            lines += differences(left, right, f"{path}[{position}]")
        return lines
    if stored == asked:
        return []
    return [f"{path}: stored {_short(stored)}, asked {_short(asked)}"]


def describe(value: Any) -> Any:
    """An object as JSON values: its class and what it was made of; data by digest."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, TabularDataset):
        return {"table": value.label, "rows": len(value), "digest": value.table.digest()}
    if isinstance(value, Dataset):
        return {"table": value.label}
    if isinstance(value, np.ndarray):
        digest = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8)
        return {"array": list(value.shape), "digest": digest.hexdigest()}
    if isinstance(value, dict):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [describe(item) for item in value]
    return _describe_object(value)


def provenance() -> dict[str, Any]:
    """Versions and platform of this process."""
    return {
        "tapas": tapas.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        **{name: metadata.version(name) for name in _PACKAGES},
    }


def _describe_object(value: Any) -> dict[str, Any]:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value) and hasattr(value, "__qualname__"):
        return {"function": f"{value.__module__}.{value.__qualname__}"}
    if hasattr(value, "get_params") and not isinstance(value, type):
        parts = {name: describe(item) for name, item in value.get_params(deep=False).items()}
    else:
        parts = {
            name: describe(item)
            for name, item in sorted(getattr(value, "__dict__", {}).items())
            if not name.startswith("_") and not _is_learnt(name)
        }
    return {"class": kind, **parts}


def _is_learnt(name: str) -> bool:
    """State that using an object leaves on it, rather than what it was made with."""
    return name.endswith("_") or name in (
        "trained",
        "threat_model",
        "briefing",
        "positive_label",
        "negative_label",
        "dataset",
    )


def _short(value: Any) -> str:
    text = json.dumps(value) if value is not None else "nothing"
    return text if len(text) <= 80 else text[:77] + "..."
