"""Versions and platform that results were made with."""

import platform
import sys
from functools import cache

import tapas

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")
_WHERE_USED = ("torch", "onnxruntime")


def provenance() -> dict[str, str]:
    """Versions and platform of this process."""
    return dict(_of(tuple(name for name in _WHERE_USED if name in sys.modules)))


@cache
def _of(used: tuple[str, ...]) -> dict[str, str]:
    from importlib import metadata  # takes as long to import as a room does

    return {
        "tapas": tapas.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        **{name: metadata.version(name) for name in (*_PACKAGES, *used)},
    }
