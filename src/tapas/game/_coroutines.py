"""Mechanisms that wait: several trials under way at once, on one core."""

from collections.abc import Callable, Coroutine, Sequence
from threading import Thread

from tapas.engine import Progress
from tapas.errors import KnowledgeError
from tapas.game._protocols import PlaysConcurrently
from tapas.game._tasks import Outcome, TrialTask, Work

__all__ = ["run_coroutine", "run_coroutines"]


async def run_coroutines(
    task: TrialTask,
    work: Sequence[Work],
    receive: Callable[[Work, list[Outcome]], None],
    num_concurrent: int,
    progress: Progress,
) -> None:
    import asyncio

    limit = asyncio.Semaphore(num_concurrent)
    game = task.game
    if not isinstance(game, PlaysConcurrently):
        raise KnowledgeError(f"{game.label!r} cannot be played concurrently")

    async def one(item: Work) -> None:
        async with limit:
            trials = item.trials or (
                await game.play_concurrently(task.address.at(item.indices[0])),
            )
            receive(item, [task.finish(trial) for trial in trials])
            progress.update(1)

    results = await asyncio.gather(*(one(item) for item in work), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


def run_coroutine(coroutine: Coroutine[object, object, object]) -> object:
    """Run to the end on a loop of our own, also where a loop is already running."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: dict[str, object] = {}

    def in_thread() -> None:
        try:
            outcome["value"] = asyncio.run(coroutine)
        except BaseException as error:
            outcome["error"] = error

    thread = Thread(target=in_thread)
    thread.start()
    thread.join()
    error = outcome.get("error")
    if isinstance(error, BaseException):
        raise error
    return outcome["value"]
