"""Play trials and observe their releases, wherever this is sent."""

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tapas._provenance import provenance
from tapas.datasets import TabularDataset
from tapas.engine import LostError, code_of, guarded
from tapas.errors import IncompatibleAttackError, MechanismError
from tapas.game._address import Address
from tapas.game._briefing import Briefing, ModelBriefing, TableBriefing
from tapas.game._observation import Observation
from tapas.game._protocols import Game, Observer
from tapas.game._release import Release, Trial
from tapas.models import Model

__all__ = ["Keep", "Outcome", "ProbeTask", "TrialTask", "Work", "observe_release"]

LARGEST_CHUNK = 1 << 27  # pairs of a target and a released record that are looked at together
SMALL_TABLE = 1 << 17  # bytes: such releases are kept in a store
SLOW_TRIAL = 2.0  # seconds: so are those that took so long to make

LONGEST_WORDS = 20_000  # characters of an error that are kept

# What another machine, or another moment, may not meet.
OF_THE_SURROUNDINGS = (OSError, MemoryError, ImportError, LostError)

_LOOKING = "an observer"

Keep = Literal["whole", "data", "worthy", "secrets"]
Streams = Callable[[], np.random.Generator]  # the same stream, made anew at each call


@dataclass(frozen=True, eq=False, slots=True)
class Work:
    """One item of work: trials that are played together, or those that were already played."""

    indices: tuple[int, ...]
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a trial leaves behind.

    Attributes
    ----------
    index : int
    trial : Trial or None
        What is kept of it; None where the mechanism failed.
    observations : tuple of Observation
        One per observer.
    failure : str or None
        What may be told of it.
    words : str
        What the mechanism said, which stays on this machine.
    lasting : bool
        Whether the failure follows from the trial alone, rather than from where it was played.
    """

    index: int
    trial: Trial | None
    observations: tuple[Observation, ...] = ()
    failure: str | None = None
    words: str = ""
    lasting: bool = True


@dataclass(frozen=True, eq=False)
class TrialTask:
    """Play trials and observe their releases.

    Attributes
    ----------
    game, address
        What is played; the index of `address` is replaced by that of each trial.
    observers, briefing
        Who looks at releases, and what they are told.
    budgets : tuple
        How many records each observer may ask a released model about; None is any number.
    keep : {"whole", "data", "worthy", "secrets"}
        What of each trial is handed back: the release with the fitted mechanism, its data, its
        data where it is a small table or was slow to make, or neither.
    report_failures : bool
        Whether a failing mechanism is an outcome rather than an error.
    attack_timeout : float, optional
        Seconds for an observer to look at a release.
    """

    game: Game
    address: Address
    observers: tuple[Observer, ...] = ()
    briefing: Briefing | None = None
    budgets: tuple[int | None, ...] = ()
    keep: Keep = "data"
    report_failures: bool = False
    attack_timeout: float | None = None

    def __call__(self, work: Work) -> list[Outcome]:
        if work.trials:
            return [self.finish(trial) for trial in work.trials]
        start = time.perf_counter()
        try:
            trials = self.game.play([self.address.at(index) for index in work.indices])
        except MechanismError as error:
            return self._failed(work, error)
        seconds = (time.perf_counter() - start) / len(trials)
        return [self.finish(trial, seconds) for trial in trials]

    def lost(self, work: Work, error: LostError) -> list[Outcome]:
        """What is left where the process that played a trial ended, or had to be ended.

        An observer that ended it has crashed, which is no failure of the mechanism.
        """
        if error.code_of == _LOOKING:
            raise error
        phase, index, seed = self.address.phase, work.indices[0], self.address.seed
        where = f"the mechanism {self.game.label!r} failed in {phase} trial {index} (seed {seed})"
        failure = MechanismError(
            f"{where}: {error}",
            phase=phase,
            index=index,
            seed=seed,
            shared=f"{where}: {error}",
        )
        failure.__cause__ = error
        return self._failed(work, failure)

    def _failed(self, work: Work, error: MechanismError) -> list[Outcome]:
        if not self.report_failures:
            raise error
        lasting = not any(isinstance(cause, OF_THE_SURROUNDINGS) for cause in _causes(error))
        words = "".join(traceback.format_exception(error))[-LONGEST_WORDS:]
        return [
            Outcome(i, None, failure=error.shared, words=words, lasting=lasting)
            for i in work.indices
        ]

    def finish(self, trial: Trial, seconds: float = 0.0) -> Outcome:
        """Observe the release, and drop what is not to be kept."""
        address, made_with = self.address.at(trial.index), provenance()
        shown = _shown(trial.release)
        observations = tuple(
            self._observed(observer, budget, shown, address)
            for observer, budget in zip(self.observers, self.budgets, strict=True)
        )
        release = trial.release
        if self.keep != "whole":
            release = Release(release.data if self._is_kept(release, seconds) else None)
        kept = Trial(trial.phase, trial.index, release, trial.secrets, trial.group, made_with)
        return Outcome(trial.index, kept, observations)

    def _observed(
        self, observer: Observer, budget: int | None, release: Release, address: Address
    ) -> Observation:
        if self.briefing is None:
            raise IncompatibleAttackError("an observer needs a briefing")
        asked = None
        if isinstance(release.data, Model) and isinstance(self.briefing, ModelBriefing):
            asked = release.data.restricted(self.briefing.access, budget)
            release = Release(asked, release.mechanism)
        rng = self.game.observation_rng
        code_of(_LOOKING)
        with guarded(self.attack_timeout):
            values = observe_release(observer, release, self.briefing, lambda: rng(address))
        return Observation(values, 0 if asked is None else asked.queries)

    def _is_kept(self, release: Release, seconds: float) -> bool:
        if self.keep != "worthy" or not isinstance(release.data, TabularDataset):
            return self.keep == "data"
        return release.data.nbytes <= SMALL_TABLE or seconds >= SLOW_TRIAL


@dataclass(frozen=True, eq=False)
class ProbeTask:
    """Say what a probe of a game shows; it shows nothing where the code in it fails."""

    game: Game

    def __call__(self, address: Address) -> str | None:
        return self.game.caution(address)

    def lost(self, address: Address, error: LostError) -> None:
        """Nothing is shown by a process that ended, or had to be ended."""


def _shown(release: Release) -> Release:
    """The release for observers; rows that are only named stay so in what is kept."""
    data = release.data
    if isinstance(data, TabularDataset) and data.only_named:
        return replace(release, data=data.copy())
    return release


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__


def observe_release(
    observer: Observer,
    release: Release,
    briefing: Briefing,
    rng: Streams,
) -> np.ndarray:
    """What an observer sees in a release: a row per target, or one row for all.

    Targets of a table go in chunks, so that memory does not grow with the product of the tables;
    every chunk draws alike, so that what is seen of a record does not depend on its chunk.
    """
    values = _in_chunks(observer, release, briefing, rng)
    num_targets = briefing.num_targets
    if values.ndim == 0 or len(values) not in (1, num_targets):
        raise IncompatibleAttackError(
            f"what is observed must have a row for each of {num_targets} targets, or one row "
            f"where targets play no part, got shape {values.shape}"
        )
    return values


def _in_chunks(
    observer: Observer, release: Release, briefing: Briefing, rng: Streams
) -> np.ndarray:
    if isinstance(briefing, TableBriefing) and isinstance(release.data, TabularDataset):
        number = briefing.num_targets
        step = max(1, LARGEST_CHUNK // max(1, len(release.data)))
        chunks = [range(start, min(start + step, number)) for start in range(0, number, step)]
        seen: list[np.ndarray] = []
        for chunk in chunks if len(chunks) > 1 else ():
            seen.append(np.asarray(observer(release, briefing.only(chunk), rng=rng())))
            if len(chunk) > 1 == len(seen[-1]):
                return seen[-1]  # the same for all targets
        if seen:
            return np.concatenate(seen)
    return np.asarray(observer(release, briefing, rng=rng()))
