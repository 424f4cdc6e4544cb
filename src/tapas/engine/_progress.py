"""Progress of long work: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable
from typing import Any, Protocol


class Progress(Protocol):
    """What work reports to; ``tqdm.tqdm`` is one."""

    def update(self, n: int = 1) -> Any:
        """Count `n` more steps as done."""

    def close(self) -> Any:
        """The work has ended."""


class Silent:
    """Progress that nobody sees."""

    def __init__(self, total: int = 0) -> None:
        self.total = total

    def update(self, n: int = 1) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class _TerminalBar:
    """A bar with counts and time left, on standard error."""

    def __init__(self, total: int, label: str) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(label, total=total)

    def update(self, n: int = 1) -> None:
        self._bar.advance(self._task, n)

    def close(self) -> None:
        self._bar.stop()


def open_progress(
    total: int, label: str, tracker: Callable[..., Progress] | None = None
) -> Progress:
    """Start showing progress: with `tracker(total=...)` if given, else a bar on a terminal."""
    if tracker is not None:
        return tracker(total=total)
    if total > 1 and sys.stderr.isatty():
        return _TerminalBar(total, label)
    return Silent(total)
