"""Checks shared by every room: each names the parameter, the rule and what came."""

from collections.abc import Callable, Iterable
from typing import Any

from tapas.errors import ConfigError

__all__ = ["check_choice", "check_count", "check_probability", "listing"]


def check_count(value: Any, name: str, *, minimum: int = 0) -> int:
    """Return `value` as an int of at least `minimum`."""
    whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if not whole or int(value) < minimum:
        raise ConfigError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
    return int(value)


def check_probability(value: Any, name: str, *, open_interval: bool = False) -> float:
    """Return `value` as a float in [0, 1], or in (0, 1) where `open_interval`."""
    interval = "strictly between 0 and 1" if open_interval else "between 0 and 1"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} must be a number {interval}, got {value!r}") from None
    inside = 0 < number < 1 if open_interval else 0 <= number <= 1
    if not inside:
        raise ConfigError(f"{name} must be {interval}, got {value!r}")
    return number


def check_choice(value: Any, name: str, choices: Iterable[Any]) -> Any:
    """Return `value` if it is one of `choices`."""
    options = tuple(choices)
    if value not in options:
        raise ConfigError(f"{name} must be one of {listing(options)}, got {value!r}")
    return value


def listing(
    values: Iterable[Any],
    limit: int = 8,
    *,
    show: Callable[[Any], str] = repr,
    total: int | None = None,
) -> str:
    """Write a short, readable list: the first `limit` values and how many follow.

    There are `total` of them, where not all are given.
    """
    items = list(values)
    rest = (len(items) if total is None else total) - limit
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(show(item) for item in items[:limit]) + more
