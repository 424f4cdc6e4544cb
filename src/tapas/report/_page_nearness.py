"""Distances to the nearest records beside a release, with what they do not say."""

from collections.abc import Mapping, Sequence

from tapas.report._page_cells import Cell
from tapas.results import AuditedSubject

__all__ = ["NEARNESS_COLUMNS", "nearness_rows"]

NEARNESS_COLUMNS = ("Subject", "Beside", "DCR 5%", "DCR median", "NNDR 5%", "NNDR median", "Nearer")
_SIDES = {"members": "private records", "non_members": "holdout"}


def nearness_rows(subjects: Sequence[AuditedSubject]) -> list[tuple[Cell, ...]]:
    """One row per subject and side."""
    return [
        (
            Cell(subject.name, kind="text"),
            Cell(_SIDES.get(side, side), kind="text"),
            *(Cell(_number(found.get(name))) for name in ("dcr_5", "dcr_50", "nndr_5", "nndr_50")),
            _share(found),
        )
        for subject in subjects
        for side, found in (subject.nearness or {}).items()
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _share(found: Mapping[str, float | None]) -> Cell:
    value, low, high = (found.get(name) for name in ("nearer", "nearer_low", "nearer_high"))
    if value is None or low is None or high is None:
        return Cell("–", title="all are equally near")
    return Cell(f"{100 * value:.0f}%", f"{100 * low:.0f}–{100 * high:.0f}%")
