"""The page that lists runs: verdicts, what is running, and how limits fared over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

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
    tone: str
    state: str
    finished: str
    progress: str
    share: float
    words: str
    trends: tuple["_Trend", ...]


@dataclass(frozen=True)
class _Trend:
    """One limit over time: what was found each time, and what was allowed."""

    name: str
    points: tuple[str, ...]


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
        link=f"/{quote(run.name)}/report.html" if run.verdicts else "",
        tone=_TONES.get(run.state, "open"),
        state=run.state,
        finished=moment(last.get("finished")) or "–",
        progress=_progress(run),
        share=100 * run.done / run.total if run.total else 0.0,
        words=run.problem or str(last.get("words", "")),
        trends=_trends(run.verdicts),
    )


def _progress(run: RunState) -> str:
    if not run.total:
        return ""
    left = "" if run.seconds_left is None else f", about {duration(run.seconds_left)} left"
    return f"{run.done:,} of {run.total:,} trials{left}"


def _trends(verdicts: Sequence[dict[str, Any]]) -> tuple[_Trend, ...]:
    names = dict.fromkeys(limit["name"] for entry in verdicts for limit in entry.get("limits", ()))
    return tuple(
        _Trend(
            name,
            tuple(
                f"{moment(entry.get('finished')) or '–'}: {_found(limit)}, limit "
                f"{limit['at_most']:g}: {limit['state']}"
                for entry in verdicts
                for limit in entry.get("limits", ())
                if limit["name"] == name
            ),
        )
        for name in names
    )


def _found(limit: dict[str, Any]) -> str:
    low, high = limit.get("low"), limit.get("high")
    ends = ["?" if end is None else f"{end:.3g}" for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
