"""How far a run is, written into its folder for whoever looks."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tapas.engine import Progress, open_progress
from tapas.results import end_progress, note_progress

EVERY = 1.0  # seconds between two notes


class RunProgress:
    """Counts the trials of all phases and subjects of a run, beside what is shown of each.

    Parameters
    ----------
    folder : Path
    total : int
        Trials of the whole run.
    tracker : callable, optional
        What shows the progress of a phase.
    """

    def __init__(self, folder: Path, total: int, tracker: Callable[..., Progress] | None) -> None:
        self._folder, self._total, self._tracker = folder, total, tracker
        self._started, self._noted, self._done = time.time(), 0.0, 0
        self._so_far: tuple[str, ...] = ()
        self._note()

    def __call__(self, total: int) -> Progress:
        """Begin a phase."""
        return _Phase(self, open_progress(total, "trials", self._tracker))

    def count(self, number: int) -> None:
        """So many more trials are played; releases that are looked at again are none."""
        self._done = min(self._done + number, self._total)
        if time.time() - self._noted >= EVERY:
            self._note()

    def tell(self, words: Sequence[str]) -> None:
        """So much was found until now."""
        self._so_far = tuple(words)
        self._note()

    def end(self) -> None:
        """The run is finished."""
        with suppress(OSError):
            end_progress(self._folder)

    def _note(self) -> None:
        self._noted = time.time()
        with suppress(OSError):
            note_progress(self._folder, self._done, self._total, self._started, self._so_far)


class _Phase:
    """One phase of a run."""

    def __init__(self, run: RunProgress, shown: Progress) -> None:
        self._run, self._shown = run, shown

    def update(self, n: int = 1) -> None:
        self._run.count(n)
        self._shown.update(n)

    def close(self) -> None:
        self._shown.close()
