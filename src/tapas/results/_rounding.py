"""Numbers as people read them: few digits, never rounded towards more than was shown."""

import math

from tapas.results._estimate import Estimate

__all__ = ["rounded", "rounded_area", "rounded_down", "rounded_up"]

# Decimal fractions are not exact: 0.3 is not to become 0.29.
_SLACK = 1e-9


def rounded(value: float, digits: int = 2) -> str:
    """Return a value with so many decimals; words where it is not a number."""
    if math.isnan(value):
        return "not defined"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def rounded_down(value: float, digits: int = 2) -> str:
    """Return a lower end, rounded downwards."""
    if not math.isfinite(value):
        return rounded(value)
    scale = 10**digits
    return rounded(math.floor(value * scale + _SLACK) / scale, digits)


def hardly_positive(value: float, digits: int = 2) -> bool:
    """Return whether a number is above 0, and reads as 0 when it is rounded downwards."""
    return value > 0 and rounded_down(value, digits) == rounded(0.0, digits)


def rounded_up(value: float, digits: int = 2) -> str:
    """Return an upper end, rounded upwards."""
    if not math.isfinite(value):
        return rounded(value)
    scale = 10**digits
    return rounded(math.ceil(value * scale - _SLACK) / scale, digits)


def rounded_area(area: Estimate) -> tuple[str, str]:
    """Return an area, or another number between 0 and 1, and its interval, rounded outwards."""
    digits = 3 if 0.995 <= area.value < 1 else 2
    # A lower end just above one half is not one half.
    places = 3 if 0.501 <= area.low < 0.51 else 4 if 0.5 < area.low < 0.501 else 2
    ends = f"{rounded_down(area.low, places)} to {rounded_up(area.high)}"
    return rounded(area.value, digits), ends
