"""Run trials where there is room, and check that what runs is reproducible."""

import asyncio
import warnings
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool

from tapas.datasets import TabularDataset
from tapas.engine import Progress, TaskFailedError, Workers, run_tasks
from tapas.errors import MechanismError, ReproducibilityWarning, ThreatModelError
from tapas.threat_models._game import Game, Outcome, TrialTask, Work
from tapas.threat_models._mechanism_runs import is_coroutine_mechanism, run_coroutine
from tapas.threat_models._trials import PROBE, Address

ROWS_WORTH_A_PROBE = 8

Receive = Callable[[Work, Outcome], None]


def execute(
    task: TrialTask,
    work: list[Work],
    receive: Receive,
    workers: Workers,
    num_concurrent: int,
    progress: Progress,
) -> None:
    """Run all work, handing over each outcome as soon as it is there."""
    try:
        _check_concurrency(task.game, workers, num_concurrent)
        if num_concurrent > 1:
            run_coroutine(_run_coroutines(task, work, receive, num_concurrent, progress))
        else:
            run_tasks(task, work, receive=receive, workers=workers, progress=progress)
    except TaskFailedError as failure:
        cause = failure.__cause__ or failure
        if isinstance(cause, BrokenProcessPool):
            raise _lost_worker(task, failure.key.index) from cause
        raise cause from cause.__cause__
    finally:
        progress.close()


def _lost_worker(task: TrialTask, index: int) -> MechanismError:
    phase, seed = task.address.phase, task.address.seed
    return MechanismError(
        f"a process running {task.game.mechanism.label!r} died again and again (killed, out of "
        f"memory, or crashed outside Python) at or after {phase} trial {index} (seed {seed}). "
        f"Replay it with threat_model.draw_trial({phase!r}, {index}).",
        phase=phase,
        index=index,
        seed=seed,
    )


def warn_if_seed_is_ignored(game: Game, address: Address) -> None:
    """Run the mechanism twice on the data of one trial, with different seeds."""
    try:
        first, second = (
            game.play(address, mechanism_part=part).release.data for part in (PROBE, PROBE + 1)
        )
    except MechanismError:
        return  # how often it fails is for the trials themselves to say
    if not isinstance(first, TabularDataset) or len(first) < ROWS_WORTH_A_PROBE:
        return
    if first.table.same_values(second.table):
        warnings.warn(
            f"{game.mechanism.label!r} returned identical releases for different seeds on the "
            f"same data. Unless it is deterministic by design, it fixes its own seed, and an "
            f"audit would see only one of the releases it can make: let its generate (or "
            f"__call__) take random_state.",
            ReproducibilityWarning,
            stacklevel=6,
        )


async def _run_coroutines(
    task: TrialTask, work: list[Work], receive: Receive, num_concurrent: int, progress: Progress
) -> None:
    limit = asyncio.Semaphore(num_concurrent)

    async def one(item: Work) -> None:
        async with limit:
            trial = item.trial
            if trial is None:
                trial = await task.game.play_concurrently(task.address.at(item.index))
            receive(item, task.finish(trial))
            progress.update(1)

    results = await asyncio.gather(*(one(item) for item in work), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


def _check_concurrency(game: Game, workers: Workers, num_concurrent: int) -> None:
    """Refuse what would not be reproducible or makes no sense."""
    knowledge = game.mechanism
    seeded = not (knowledge.draws_from_globals or game.data.draws_from_globals)
    if num_concurrent > 1:
        if not is_coroutine_mechanism(getattr(knowledge, "generator", None)):
            raise ThreatModelError(
                f"num_concurrent={num_concurrent} is for mechanisms whose __call__ is a "
                f"coroutine; {knowledge.label!r} is not one. Use n_jobs for processes."
            )
        if not seeded:
            warnings.warn(
                f"{_unseeded(game)} takes no seed, so concurrent runs are not reproducible: give "
                f"it a random_state parameter, or use num_concurrent=1",
                ReproducibilityWarning,
                stacklevel=6,
            )
    elif workers.are_threads and not seeded:
        raise ThreatModelError(
            f"{_unseeded(game)} takes no seed, so threads would share the global random "
            f"generators and results would not be reproducible: use processes (n_jobs=...) or "
            f"give it a random_state parameter"
        )


def _unseeded(game: Game) -> str:
    part = game.mechanism if game.mechanism.draws_from_globals else game.data
    return repr(part.label)
