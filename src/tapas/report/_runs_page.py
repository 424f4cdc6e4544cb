"""The page that lists runs: verdicts, what is running, and how limits fared over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tapas.report._page_banner import verdict_words
from tapas.report._page_numbers import duration, moment
from tapas.report._page_render import render
from tapas.results import RunState

__all__ = ["runs_page"]

_TONES = {"pass": "good", "fail": "bad"}


@dataclass(frozen=True)
class _Line:
    """One run as the page shows it."""

    name: str
    link: str
    report: str
    tone: str
    state: str
    finished: str
    progress: str
    share: float
    words: str
    so_far: tuple[str, ...]
    trends: tuple["_Trend", ...]


@dataclass(frozen=True)
class _Trend:
    """One limit over time: what was found each time, and what was allowed."""

    name: str
    points: tuple[str, ...]
    marks: tuple["_TrendMark", ...]


@dataclass(frozen=True)
class _TrendMark:
    """One verdict in the picture of a limit: places from 0 to 100."""

    x: float
    low: float
    high: float
    limit: float


def runs_page(runs: Sequence[RunState]) -> str:
    """Return the list of runs as a page; it asks for itself again while a run is going on."""
    return render(
        "runs.html.j2",
        runs=[_line(run) for run in runs],
        running=any(run.state == "running" for run in runs),
    )


def _line(run: RunState) -> _Line:
    last = run.verdicts[-1] if run.verdicts else {}
    return _Line(
        name=run.name,
        link=f"/{quote(run.name)}/" if run.verdicts else "",
        report=f"/{quote(run.name)}/report.html" if run.verdicts else "",
        tone="bad" if run.state == "none" and last.get("leaks") else _TONES.get(run.state, "open"),
        state=verdict_words(last) if run.state == last.get("state") else run.state,
        finished=moment(last.get("finished")) or "–",
        progress=_progress(run),
        share=100 * run.done / run.total if run.total else 0.0,
        words=run.problem or str(last.get("words", "")),
        so_far=tuple(run.so_far),
        trends=_trends(run.verdicts),
    )


def _progress(run: RunState) -> str:
    if not run.total:
        return ""
    left = "" if run.seconds_left is None else f", about {duration(run.seconds_left)} left"
    return f"{run.done:,} of {run.total:,} trials{left}"


def _trends(verdicts: Sequence[dict[str, Any]]) -> tuple[_Trend, ...]:
    by_name: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for entry in verdicts:
        for limit in entry.get("limits", ()):
            when = moment(entry.get("finished")) or "–"
            by_name.setdefault(str(limit["name"]), []).append((when, limit))
    return tuple(
        _Trend(
            name,
            tuple(
                f"{when}: {_found(limit)}, limit {limit['at_most']:g}: {limit['state']}"
                for when, limit in points
            ),
            _marks([limit for _, limit in points]),
        )
        for name, points in by_name.items()
    )


def _marks(limits: Sequence[dict[str, Any]]) -> tuple[_TrendMark, ...]:
    """What was found each time as a line from end to end, on a scale that holds all."""
    known = [one[key] for one in limits for key in ("low", "high", "at_most") if one.get(key)]
    top = max([1.0, *map(float, known)])

    def place(value: float | None, missing: float) -> float:
        return 100 * (missing if value is None else max(0.0, float(value)) / top)

    return tuple(
        _TrendMark(
            100 * (number + 0.5) / len(limits),
            place(one.get("low"), 0.0),
            place(one.get("high"), 1.0),
            place(one["at_most"], 1.0),
        )
        for number, one in enumerate(limits)
    )


def _found(limit: dict[str, Any]) -> str:
    low, high = limit.get("low"), limit.get("high")
    ends = ["?" if end is None else f"{end:.3g}" for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
