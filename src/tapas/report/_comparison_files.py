"""Comparison figures as files: one for each pair of values that is held fixed."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.errors import ConfigError
from tapas.report._base import OutputNames
from tapas.report._comparison import Comparison, draw_comparison, metric_title
from tapas.report._figure import plain, save
from tapas.results import MEASURES

__all__ = ["DIMENSIONS", "write_comparisons"]

DIMENSIONS = ("dataset", "target_id", "generator", "attack")
_NUMBERS = tuple(measure.name for measure in MEASURES)


def write_comparisons(
    rows: pd.DataFrame,
    comparison_column: str,
    fixed_pair_columns: Sequence[str],
    metrics: Sequence[str],
    marker_column: str,
    filepath: str | Path,
    *,
    points: pd.DataFrame | None = None,
    note: str = "",
    fair: bool = True,
    outputs: OutputNames | None = None,
) -> list[Path]:
    """Draw one figure per pair of values of `fixed_pair_columns` and return the files."""
    first, second = _two(fixed_pair_columns)
    columns = (comparison_column, first, second, marker_column)
    shown = _labelled(rows, columns)
    centres = None if points is None else _labelled(points, columns)
    names = OutputNames() if outputs is None else outputs
    files = []
    for pair in dict.fromkeys(zip(shown[first], shown[second], strict=True)):
        here = shown[(shown[first] == pair[0]) & (shown[second] == pair[1])]
        known = [metric for metric in metrics if here[metric].notna().any()]
        lacking = [metric_title(metric) for metric in metrics if metric not in known]
        comparison = Comparison(
            rows=here,
            points=None
            if centres is None
            else centres[(centres[first] == pair[0]) & (centres[second] == pair[1])],
            category=comparison_column,
            series=marker_column,
            metrics=known or list(metrics),
            title=_title(comparison_column, (first, second), pair),
            note=" ".join(
                [note, f"Not defined here: {', '.join(lacking)}."] if lacking else [note]
            ),
            fair=fair and not _are_guessed(here),
        )
        stem = f"{comparison_column}sComparison_Dataset{pair[0]}_Attack{pair[1]}"
        content = (columns, pair)
        place = names.path(filepath, stem, ".png", content)
        files.append(save(draw_comparison(comparison).finished(), place))
    return files


def _are_guessed(rows: pd.DataFrame) -> bool:
    """Whether values of attributes are guessed, which may be common or one of many."""
    name = "sensitive_attribute"
    return name in rows.columns and bool((_text(rows[name]) != "").any())


def _labelled(rows: pd.DataFrame, needed: Iterable[str]) -> pd.DataFrame:
    """Return rows whose labels are text, with the attribute beside the target where it varies."""
    shown = rows.copy(deep=False)
    missing = [c for c in needed if c not in shown.columns and c not in DIMENSIONS]
    if missing:
        raise ConfigError(
            f"no column {listing(missing)}; the columns are {listing(rows.columns, 16)}"
        )
    for column in (*DIMENSIONS, *needed):
        if column not in _NUMBERS:
            shown[column] = _text(shown[column]) if column in shown.columns else ""
    if "sensitive_attribute" in rows.columns:
        attributes = _text(rows["sensitive_attribute"])
        if attributes.nunique() > 1:
            shown["target_id"] = [
                f"{target} ({attribute})" if attribute else target
                for target, attribute in zip(shown["target_id"], attributes, strict=True)
            ]
    return shown


def _text(values: pd.Series) -> pd.Series:
    codes, words = pd.factorize(values, use_na_sentinel=True)
    texts = np.array([*(str(word) for word in words), ""], dtype=object)
    return pd.Series(texts[codes], index=values.index, dtype=object)


def _title(compared: str, columns: tuple[str, str], pair: tuple[str, str]) -> str:
    fixed = ", ".join(
        f"{column.replace('_id', '')} {plain(value) or '(unnamed)'}"
        for column, value in zip(columns, pair, strict=True)
    )
    return f"Comparison of {compared.replace('_id', '')}s: {fixed}"


def _two(columns: Sequence[str]) -> tuple[str, str]:
    if isinstance(columns, str) or len(columns) != 2:
        raise ConfigError(f"fixed_pair_columns must name two columns, got {columns!r}")
    return columns[0], columns[1]
