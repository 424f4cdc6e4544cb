"""Whose code it is, and what it names."""

import dis
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import CodeType

_INSTALLED = tuple(
    {
        Path(sysconfig.get_paths()[key]).resolve()
        for key in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)


def is_own(module_name: str | None) -> bool:
    """Whether code is the user's own: neither Python's, nor an installed package's, nor ours."""
    if module_name is None:
        return True
    if module_name.partition(".")[0] in ("tapas", "builtins"):
        return False
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    if file is None:
        return module_name == "__main__" or module is None
    return not is_installed(file)


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    place = Path(file).resolve()
    return any(place.is_relative_to(root) for root in _INSTALLED)


def path_of(thing: type) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def names_in(code: CodeType, *steps: str) -> list[str]:
    """Names that some steps of code use, its inner functions included."""
    used = {str(step.argval) for step in dis.get_instructions(code) if step.opname in steps}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            used.update(names_in(constant, *steps))
    return sorted(used)


def content_of(cell: object) -> object:
    try:
        return cell.cell_contents  # type: ignore[attr-defined]
    except ValueError:
        return None
