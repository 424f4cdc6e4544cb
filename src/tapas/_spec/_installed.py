"""Which files belong to installed packages, and are no code of the user's own."""

import site
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

_FOLDERS = ("site-packages", "dist-packages")
_ROOTS = tuple(
    {
        Path(folder).resolve()
        for folder in (
            *(sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")),
            *site.getsitepackages(),
            site.getusersitepackages(),
        )
    }
)


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether a file is Python's, or came with a package, wherever that was installed to."""
    place = Path(file).resolve()
    if any(place.is_relative_to(root) for root in _ROOTS) or set(_FOLDERS) & set(place.parts):
        return True
    return any(
        not _packages_in(root).isdisjoint(place.relative_to(root).parts[:1])
        for root in {Path(folder).resolve() for folder in sys.path}
        if place.is_relative_to(root)
    )


@lru_cache(maxsize=256)
def _packages_in(folder: Path) -> frozenset[str]:
    """What was installed to a folder of the user's choice (`pip install --target`)."""
    lines = [
        line
        for record in folder.glob("*.dist-info/RECORD")
        for line in record.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    return frozenset(line.partition(",")[0].partition("/")[0] for line in lines)
