"""Versions and platform that results were made with."""

import platform
import sys
from functools import cache
from importlib import metadata

import tapas

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")
_WHERE_USED = ("torch", "onnxruntime")

_version = cache(metadata.version)


def provenance() -> dict[str, str]:
    """Versions and platform of this process."""
    used = tuple(name for name in _WHERE_USED if name in sys.modules)
    return {
        "tapas": tapas.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        **{name: _version(name) for name in (*_PACKAGES, *used)},
    }
