"""Times and counts in words."""

from typing import Any


def duration(seconds: float) -> str:
    """A length of time as people say it."""
    if seconds < 1:
        return f"{max(1, round(1000 * seconds))} ms"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86_400:.0f} days"


def first_line(thing: Any) -> str:
    """What the documentation of something says first."""
    words = (getattr(thing, "__doc__", None) or "").strip().splitlines()
    return words[0].strip() if words else ""
