"""What an audit keeps about the records that were judged."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.attacks import confidence_without
from tapas.audit._subject_run import SubjectRun
from tapas.errors import ConfigError
from tapas.results import (
    MOST_RECORDS,
    SUBGROUP,
    VALUE,
    LabelInferenceAttackSummary,
    most_exposed_first,
    summary_facts,
)

_NUMBER = re.compile(r"(true|predicted)(_\d+)?")


def about_records(
    run: SubjectRun,
    summaries: Sequence[LabelInferenceAttackSummary],
    subgroups: Sequence[str],
    show_values: bool,
    read_reversed: bool = False,
) -> pd.DataFrame | None:
    """Who was judged; of the most exposed also what is nearest to them, and their values.

    Values are kept only where they may be shown. The lowest scores count as well where members
    have them for certain, or where it is known that scores are read the other way round.
    """
    model = run.threat_model
    about = model.judged_records()
    if about is None:
        return None
    without = next(filter(_is_known, (confidence_without(one.scorer) for one in run.parts)), None)
    if without is not None and "confidence" in about and len(without) == len(about):
        about["confidence_without"] = without
    values = model.judged_values()
    for name in subgroups:
        if values is None or name not in values:
            raise ConfigError(f"subgroups: {name!r} is not a column of the records that are judged")
        about[f"{SUBGROUP}{name}"] = values[name].astype(object)
    top = _most_exposed(summaries, len(about), read_reversed)
    nearest = model.nearest_released(top)
    if nearest is not None:
        for name in nearest:
            about[name] = _at(top, nearest[name], len(about))
    if not show_values:
        about = about.drop(columns=_numbers(about))
    elif values is not None:
        for name in values:
            about[f"{VALUE}{name}"] = _at(top, values[name].iloc[top], len(about))
    return about


def _numbers(about: pd.DataFrame) -> list[str]:
    """What a model that predicts numbers should say of records, and says."""
    return [] if "class" in about else [name for name in about if _NUMBER.fullmatch(name)]


def _is_known(found: np.ndarray | None) -> bool:
    return found is not None


def check_subgroups(columns: Sequence[str], subgroups: Sequence[str], where: str) -> None:
    """Refuse subgroups by a column that is not there, before any work."""
    unknown = [name for name in subgroups if name not in columns]
    if unknown:
        raise ConfigError(
            f"{where}: subgroups: {listing(unknown)} are not columns; the columns are "
            f"{listing(columns)}"
        )


def _most_exposed(
    summaries: Sequence[LabelInferenceAttackSummary], size: int, read_reversed: bool
) -> list[int]:
    """Positions of the highest scores of every attack, and of the lowest where these count."""
    found: set[int] = set()
    for summary in summaries:
        scores = summary.scores
        if scores is not None and np.ndim(scores) == 1 and len(scores) == size:
            found.update(most_exposed_first(scores)[:MOST_RECORDS].tolist())
            area = summary_facts(summary).auc
            if read_reversed or (area is not None and area.high < 0.5):
                lowest = most_exposed_first(scores, read_reversed=True)
                found.update(lowest[:MOST_RECORDS].tolist())
    return sorted(found)


def _at(positions: Sequence[int], values: pd.Series, size: int) -> list[object]:
    column: list[object] = [None] * size
    for position, value in zip(positions, values, strict=True):
        column[position] = str(value) if isinstance(value, pd.Timestamp) else value
    return column
