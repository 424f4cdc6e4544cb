"""Versions and platform that results were made with."""

import platform
import sys
from importlib import metadata

import tapas

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")


def provenance() -> dict[str, str]:
    """Versions and platform of this process."""
    return {
        "tapas": tapas.__version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        **{name: metadata.version(name) for name in _PACKAGES},
    }
