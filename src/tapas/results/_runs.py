"""Run folders as they stand: what was decided, what is running, how limits fared over time."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from tapas._files import read_json, write_text
from tapas.errors import StoreError
from tapas.results._history import read_history

__all__ = ["PAGE_FILES", "RunState", "end_progress", "find_runs", "note_progress"]

# The page of a run and the tables beside it; all of them follow from the record.
PAGE_FILES = (
    "report.html",
    "copies.csv",
    "exposure.csv",
    "exposure-map.csv",
    "people.csv",
    "performance.csv",
    "results.csv",
    "slices.csv",
)
PROGRESS_FILE, QUESTION_FILE = "progress.json", "question.json"
SILENT_FOR = 600.0  # seconds after which a run that says nothing counts as not running


@dataclass(frozen=True)
class RunState:
    """One run folder.

    Attributes
    ----------
    name : str
        Its path below the folder that was searched.
    state : str
        That of the last verdict, "running" or "not finished".
    verdicts : tuple of dict
        Its history, first to last.
    done, total : int
        Trials played, and trials asked for, of a run that is going on.
    seconds_left : float or None
    problem : str
        Why its history cannot be read; empty where it can.
    so_far : tuple of str
        What a run that is going on has found, in words.
    """

    name: str
    state: str
    verdicts: tuple[dict[str, Any], ...] = ()
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    problem: str = ""
    so_far: tuple[str, ...] = ()


def note_progress(
    folder: str | PathLike[str],
    done: int,
    total: int,
    started: float,
    so_far: Sequence[str] = (),
) -> None:
    """Write down how far a run is, and what it has found."""
    entry = {
        "done": done,
        "total": total,
        "started": started,
        "updated": time.time(),
        "so_far": list(so_far),
    }
    write_text(Path(folder) / PROGRESS_FILE, json.dumps(entry))


def end_progress(folder: str | PathLike[str]) -> None:
    """A run is finished: nothing is going on in its folder."""
    (Path(folder) / PROGRESS_FILE).unlink(missing_ok=True)


def find_runs(folder: str | PathLike[str]) -> list[RunState]:
    """All runs in a folder and below it, by name."""
    root = Path(folder)
    found = sorted(path.parent for path in root.rglob(QUESTION_FILE))
    return [_state(run, run.relative_to(root).as_posix()) for run in found]


def _state(run: Path, name: str) -> RunState:
    try:
        verdicts, problem = read_history(run), ""
    except StoreError as error:
        verdicts, problem = (), str(error)
    progress = _progress(run)
    if progress is not None:
        done, total = int(progress["done"]), int(progress["total"])
        if time.time() - progress["updated"] > SILENT_FOR:
            return RunState(name, "not finished", verdicts, done, total, problem=problem)
        passed = progress["updated"] - progress["started"]
        left = passed * (total - done) / done if done else None
        return RunState(name, "running", verdicts, done, total, left, problem, _so_far(run))
    state = str(verdicts[-1].get("state")) if verdicts else "not finished"
    return RunState(name, state, verdicts, problem=problem)


def _so_far(run: Path) -> tuple[str, ...]:
    try:
        return tuple(str(line) for line in read_json(run / PROGRESS_FILE).get("so_far", ()))
    except (OSError, ValueError, AttributeError, TypeError):
        return ()


def _progress(run: Path) -> dict[str, float] | None:
    """How far a run is that has not finished; None where none is going on."""
    try:
        entry = read_json(run / PROGRESS_FILE)
        return {key: float(entry[key]) for key in ("done", "total", "started", "updated")}
    except (OSError, ValueError, KeyError, TypeError):
        return None
