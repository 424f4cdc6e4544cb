"""Numbers as people read them: few digits, never rounded towards more than was shown."""

import math

__all__ = ["rounded", "rounded_down", "rounded_up"]

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


def rounded_up(value: float, digits: int = 2) -> str:
    """Return an upper end, rounded upwards."""
    if not math.isfinite(value):
        return rounded(value)
    scale = 10**digits
    return rounded(math.ceil(value * scale - _SLACK) / scale, digits)
