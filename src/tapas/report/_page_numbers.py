"""Numbers in words: estimates with intervals, bounds, counts and times."""

import math
from datetime import UTC, datetime
from typing import Any

from tapas.results import Estimate, hardly_positive, rounded, rounded_area, rounded_down, rounded_up

__all__ = ["between", "bound", "counted", "duration", "moment", "percent"]


def percent(value: float, digits: int = 1) -> str:
    """Return a share as a percentage."""
    return rounded(value) if math.isnan(value) else f"{rounded(100 * value, digits)}%"


def between(estimate: Estimate | None, *, share: bool = False) -> tuple[str, str]:
    """Return an estimate and its interval as two texts; the interval is rounded outwards."""
    if estimate is None:
        return "–", ""
    if share:
        low, high = rounded_down(100 * estimate.low, 1), rounded_up(100 * estimate.high, 1)
        return percent(estimate.value), f"{low} to {high}%"
    return rounded_area(estimate)


def bound(value: float) -> str:
    """Return a lower bound, rounded downwards; one that would read as 0 says that it is above."""
    if hardly_positive(value):
        return "> 0"
    return f"≥ {rounded_down(value)}" if value > 0 else "≥ 0"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Return a time span in its natural unit."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 120:
        return f"{seconds:.3g} seconds"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def moment(value: Any) -> str:
    """Return a recorded time as people write it, in universal time; other text as it is."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return "" if value is None else str(value)
    known = found if found.tzinfo is None else found.astimezone(UTC)
    return f"{known:%d %B %Y, %H:%M}".lstrip("0") + (" UTC" if found.tzinfo is not None else "")
