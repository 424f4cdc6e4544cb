"""Summaries as a small table in notebooks."""

from html import escape
from numbers import Real

import pandas as pd

__all__ = ["table"]


def table(title: str, metrics: pd.DataFrame) -> str:
    """Return a two-column HTML table of the first row of `metrics`, every string escaped."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(str(name))}</th>"
        f"<td>{escape(_written(value))}</td></tr>"
        for name, value in zip(metrics.columns, metrics.iloc[0], strict=True)
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def _written(value: object) -> str:
    whole = isinstance(value, (bool, int))
    return f"{value:.4g}" if isinstance(value, Real) and not whole else str(value)
