"""Run named tasks on one core, many processes, or any executor, with progress."""

from tapas.engine._progress import Progress, Silent, open_progress
from tapas.engine._tasks import TaskFailedError, Workers, run_tasks

__all__ = ["Progress", "Silent", "TaskFailedError", "Workers", "open_progress", "run_tasks"]
