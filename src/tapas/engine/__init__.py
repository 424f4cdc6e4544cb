"""Run named tasks on one core, many processes, or any executor, with progress."""

from tapas.engine._adam import AdamW
from tapas.engine._ahead import Ahead
from tapas.engine._captured import repeat_step, torch_device
from tapas.engine._entry import Entry
from tapas.engine._family import end_family
from tapas.engine._folder_store import FolderStore
from tapas.engine._guard import (
    CodeExitError,
    TimeLimitError,
    code_of,
    guarded,
    interruptible,
    off_the_clock,
    tell_limits,
)
from tapas.engine._process import LostError, end_workers, size_sent
from tapas.engine._progress import Progress, Silent, open_progress
from tapas.engine._salvage import damaged_entries, salvage
from tapas.engine._snapshot import Snapshot
from tapas.engine._store import MemoryStore, Store
from tapas.engine._tasks import Elsewhere, TaskFailedError, Workers, run_tasks
from tapas.engine._telling import FAILURES, log_failure, told

__all__ = [
    "FAILURES",
    "AdamW",
    "Ahead",
    "CodeExitError",
    "Elsewhere",
    "Entry",
    "FolderStore",
    "LostError",
    "MemoryStore",
    "Progress",
    "Silent",
    "Snapshot",
    "Store",
    "TaskFailedError",
    "TimeLimitError",
    "Workers",
    "code_of",
    "damaged_entries",
    "end_family",
    "end_workers",
    "guarded",
    "interruptible",
    "log_failure",
    "off_the_clock",
    "open_progress",
    "repeat_step",
    "run_tasks",
    "salvage",
    "size_sent",
    "tell_limits",
    "told",
    "torch_device",
]
