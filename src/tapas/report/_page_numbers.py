"""Numbers as people read them: few digits, never rounded towards more than was shown."""

import math
from datetime import UTC, datetime
from typing import Any

from tapas.results import Estimate

__all__ = ["between", "bound", "counted", "down", "duration", "moment", "number", "percent", "up"]

# Decimal fractions are not exact: 0.3 is not to become 0.29.
_SLACK = 1e-9


def number(value: float, digits: int = 2) -> str:
    """Return a value with so many decimals; words where it is not a number."""
    if math.isnan(value):
        return "not defined"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def down(value: float, digits: int = 2) -> str:
    """Return a lower end, rounded downwards."""
    if not math.isfinite(value):
        return number(value)
    scale = 10**digits
    return number(math.floor(value * scale + _SLACK) / scale, digits)


def up(value: float, digits: int = 2) -> str:
    """Return an upper end, rounded upwards."""
    if not math.isfinite(value):
        return number(value)
    scale = 10**digits
    return number(math.ceil(value * scale - _SLACK) / scale, digits)


def percent(value: float, digits: int = 1) -> str:
    """Return a share as a percentage."""
    return number(value) if math.isnan(value) else f"{number(100 * value, digits)}%"


def between(estimate: Estimate | None, *, share: bool = False) -> tuple[str, str]:
    """Return an estimate and its interval as two texts; the interval is rounded outwards."""
    if estimate is None:
        return "–", ""
    if share:
        low, high = down(100 * estimate.low, 1), up(100 * estimate.high, 1)
        return percent(estimate.value), f"{low} to {high}%"
    digits = 3 if 0.995 <= estimate.value < 1 else 2
    return number(estimate.value, digits), f"{down(estimate.low)} to {up(estimate.high)}"


def bound(value: float) -> str:
    """Return a lower bound, rounded downwards."""
    return f"≥ {down(value)}" if value > 0 else "≥ 0"


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
