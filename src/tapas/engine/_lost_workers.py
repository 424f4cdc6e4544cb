"""Workers that end, or never begin: neither tasks nor what runs in them have failed."""

from concurrent.futures import BrokenExecutor, CancelledError

from tapas.errors import WorkersError

CANNOT_START = (
    "a process for the work cannot be started ({}): n_jobs=1 needs none; else look at the limits "
    "on processes, memory and open files, and whether {!r} is a Python that can import tapas"
)
_GOES_ON = "What was stored is kept, and the same run goes on"
_WHY = (
    "memory ran out, which fewer workers mend, or the code that is run ends its process: with a "
    "timeout= only that trial is lost"
)
_FIRST = (
    "no worker answered before it ended ({}). Processes that are not forked import the script "
    'that starts them, which must then begin its work under `if __name__ == "__main__":`. Or '
    + _WHY
)
_LATER = "a worker was lost ({}): " + _WHY + ". " + _GOES_ON
_CANCELLED = (
    "the work was cancelled where it ran ({}): the scheduler of a cluster is gone, or somebody "
    "ended the work there. " + _GOES_ON + " with another"
)
_REFUSED = "the executor takes no more work ({}). " + _GOES_ON + " with another"


def work_refused(error: Exception, has_answered: bool) -> Exception:
    """What is said where an executor does not take work."""
    if _is_about_workers(error):
        return workers_lost(error, has_answered)
    return WorkersError(_REFUSED.format(_named(error)))


def workers_lost(error: Exception, has_answered: bool) -> Exception:
    """What is said of an error in place of an answer: of workers, or itself."""
    if isinstance(error, WorkersError) or not _is_about_workers(error):
        return error
    if isinstance(error, CancelledError):
        return WorkersError(_CANCELLED.format(_named(error)))
    return WorkersError((_LATER if has_answered else _FIRST).format(_named(error)))


def _is_about_workers(error: Exception) -> bool:
    """Whether an executor says it; Dask's own errors share no class."""
    of_dask = type(error).__module__.startswith("distributed.")
    return of_dask or isinstance(error, (BrokenExecutor, CancelledError))


def _named(error: Exception) -> str:
    words = str(error).rstrip(".")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
