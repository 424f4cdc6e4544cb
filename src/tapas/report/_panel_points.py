"""Rows of metrics gathered into the points and intervals of one comparison figure."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tapas.results import MEASURES
from tapas.stats import percentile_interval

__all__ = ["FEW_GROUPS", "PanelPoint", "ends_of", "gather"]

FEW_GROUPS = "trials [few groups]"  # column of points: those whose trials cannot be drawn again
_LEVEL = 0.95
# They claim no confidence, and resampling would make it look as if they did.
_WITHOUT_INTERVAL = frozenset(measure.name for measure in MEASURES if measure.is_epsilon)


class PanelPoint(NamedTuple):
    """One point of a panel, with its 95 % interval (NaN where there is none)."""

    category: int
    series: int
    value: float
    low: float
    high: float


def ends_of(metric: str) -> tuple[str, str]:
    """Columns of the ends of an interval that needs no resampling, beside point estimates."""
    return f"{metric} [low]", f"{metric} [high]"


def gather(
    rows: pd.DataFrame,
    points: pd.DataFrame | None,
    columns: tuple[str, str],
    orders: tuple[Sequence[str], Sequence[str]],
    metric: str,
) -> list[PanelPoint]:
    """Gather `metric` by category and series.

    Parameters
    ----------
    rows
        One row per summary, or per bootstrap replicate where `points` is given.
    points
        Point estimates, one row per summary, with ends of their own (`ends_of`) for metrics that
        have them, and what has no bar at all (`FEW_GROUPS`); None where `rows` are those
        themselves.
    columns, orders
        Names of the category and series columns, and the order of their values.
    """
    spread = _by_place(rows, columns, orders, metric)
    centres = spread if points is None else _by_place(points, columns, orders, metric)
    low, high = ends_of(metric)
    own: list[dict[tuple[int, int], NDArray[np.float64]]] = []
    if points is not None and low in points:
        own = [_by_place(points, columns, orders, name) for name in (low, high)]
    unknown: dict[tuple[int, int], NDArray[np.float64]] = {}
    if points is not None and FEW_GROUPS in points:
        unknown = _by_place(points, columns, orders, FEW_GROUPS)
    found = []
    for key, values in centres.items():
        ends = tuple(float(one[key][0]) for one in own) if len(values) == 1 else ()
        if not ends or math.isnan(ends[0]):
            ends = _interval(spread.get(key, values))
        if metric in _WITHOUT_INTERVAL or (key in unknown and unknown[key].any()):
            ends = (math.nan, math.nan)
        found.append(PanelPoint(*key, _mean(values), ends[0], ends[1]))
    return found


def _by_place(
    frame: pd.DataFrame,
    columns: tuple[str, str],
    orders: tuple[Sequence[str], Sequence[str]],
    metric: str,
) -> dict[tuple[int, int], NDArray[np.float64]]:
    codes = [
        pd.Index(list(dict.fromkeys(order)), dtype=object).get_indexer(frame[column])
        for column, order in zip(columns, orders, strict=True)
    ]
    values = frame[metric].to_numpy(dtype=np.float64)
    keys = codes[0] * len(orders[1]) + codes[1]
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    parts = np.split(values[order], starts[1:])
    width = len(orders[1])
    return {
        (int(key) // width, int(key) % width): part for key, part in zip(found, parts, strict=True)
    }


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _interval(values: NDArray[np.float64]) -> tuple[float, float]:
    if np.count_nonzero(~np.isnan(values)) < 2:
        return float("nan"), float("nan")
    found = percentile_interval(values, float("nan"), _LEVEL)
    return found.low, found.high
