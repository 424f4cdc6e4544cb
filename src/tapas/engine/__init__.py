"""Run named tasks on one core, many processes, or any executor, with progress."""

from tapas.engine._progress import Progress, Silent, open_progress
from tapas.engine._store import Entry, FolderStore, MemoryStore, Store
from tapas.engine._tasks import TaskFailedError, Workers, run_tasks
from tapas.engine._time_limit import TimeLimitError, time_limit

__all__ = [
    "Entry",
    "FolderStore",
    "MemoryStore",
    "Progress",
    "Silent",
    "Store",
    "TaskFailedError",
    "TimeLimitError",
    "Workers",
    "open_progress",
    "run_tasks",
    "time_limit",
]
