"""Play one trial: a pure function of its address."""

import asyncio
import inspect
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from tapas.datasets import TabularDataset
from tapas.engine import TimeLimitError, time_limit
from tapas.errors import KnowledgeError, MechanismError, SchemaError
from tapas.threat_models._data_knowledge import AttackerKnowledgeWithLabel
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._mechanism_runs import MechanismRun, finished
from tapas.threat_models._trials import MECHANISM, OBSERVATION, Address, Briefing, Release, Trial


@dataclass(frozen=True)
class Game:
    """Draw a private dataset, plant the secrets, run the mechanism (within `timeout` seconds)."""

    data: AttackerKnowledgeWithLabel
    mechanism: AttackerKnowledgeOnGenerator
    timeout: float | None = None

    def play(
        self, address: Address, *, seed_globals: bool = True, mechanism_part: int = MECHANISM
    ) -> Trial:
        """The trial at `address`."""
        dataset, secrets = self.data.draw_labelled(address)
        try:
            with time_limit(self.timeout):
                run = self._run(dataset, address, seed_globals, mechanism_part)
                release = self._released(finished(run.output), run, dataset)
        except KnowledgeError:
            raise
        except Exception as error:
            raise self._failure(address, error) from error
        return self._trial(address, release, secrets)

    async def play_concurrently(self, address: Address) -> Trial:
        """The same, giving way to other trials while the mechanism waits."""
        dataset, secrets = self.data.draw_labelled(address)
        try:
            run = self._run(dataset, address, False, MECHANISM)
            output = run.output
            if inspect.isawaitable(output):
                output = await asyncio.wait_for(output, self.timeout)
            release = self._released(output, run, dataset)
        except KnowledgeError:
            raise
        except Exception as error:
            raise self._failure(address, error) from error
        return self._trial(address, release, secrets)

    @property
    def exposes_mechanism(self) -> bool:
        """Whether releases carry the fitted mechanism."""
        return bool(getattr(self.mechanism, "exposes_mechanism", False))

    def _run(self, dataset: Any, address: Address, seed_globals: bool, part: int) -> MechanismRun:
        return self.mechanism.run(
            dataset,
            training_mode=address.training,
            rng=address.stream(part),
            seed_globals=seed_globals,
        )

    def _trial(self, address: Address, release: Release, secrets: np.ndarray) -> Trial:
        group = self.data.group_of(address.index)
        return Trial(address.phase, address.index, release, secrets, group)

    def _released(self, output: Any, run: MechanismRun, dataset: Any) -> Release:
        mechanism = run.fitted if self.exposes_mechanism else None
        if output is None:
            raise MechanismError("it returned nothing instead of a synthetic dataset")
        if isinstance(output, pd.DataFrame) and isinstance(dataset, TabularDataset):
            output = TabularDataset(output, dataset.description)
        if isinstance(output, TabularDataset):
            # Row labels could tell where rows came from, and frames are large: keep neither.
            output = TabularDataset.from_table(output.table.with_index(), output.description)
        return Release(output, mechanism)

    def _failure(self, address: Address, error: Exception) -> MechanismError:
        what = (
            str(error)
            if isinstance(error, (MechanismError, SchemaError, TimeLimitError))
            else repr(error)
        )
        return MechanismError(
            f"the mechanism {self.mechanism.label!r} failed in {address.phase} trial "
            f"{address.index} (seed {address.seed}): {what}. Replay it with "
            f"threat_model.draw_trial({address.phase!r}, {address.index}).",
            phase=address.phase,
            index=address.index,
            seed=address.seed,
        )


@dataclass(frozen=True, eq=False)
class Work:
    """One item of work: which trial, and the trial itself where it was already played."""

    index: int
    trial: Trial | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an item of work leaves behind.

    Attributes
    ----------
    trial : Trial or None
        What is kept of the trial; None where the mechanism failed.
    observations : tuple of ndarray
        One per attack.
    failure : str or None
    """

    trial: Trial | None
    observations: tuple[np.ndarray, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, eq=False)
class TrialTask:
    """Play trials and observe their releases, wherever this is sent.

    Attributes
    ----------
    game, address
        What is played; the index of `address` is replaced by that of each item of work.
    attacks, briefing
        The attacks that observe, and what they are told.
    keep : {"release", "data", "secrets"}
        What of each trial is handed back: the release with the fitted mechanism, its data alone,
        or neither.
    seed_globals : bool
        Whether global random generators are seeded (not where threads share them).
    report_failures : bool
        Whether a failing mechanism is an outcome rather than an error.
    """

    game: Game
    address: Address
    attacks: tuple[Any, ...] = ()
    briefing: Briefing | None = None
    keep: Literal["release", "data", "secrets"] = "data"
    seed_globals: bool = True
    report_failures: bool = False

    def __call__(self, work: Work) -> Outcome:
        trial = work.trial
        if trial is None:
            address = self.address.at(work.index)
            try:
                trial = self.game.play(address, seed_globals=self.seed_globals)
            except MechanismError as error:
                if not self.report_failures:
                    raise
                return Outcome(None, failure=str(error))
        return self.finish(trial)

    def finish(self, trial: Trial) -> Outcome:
        """Observe the release, and drop what is not to be kept."""
        address = self.address.at(trial.index)
        observations = tuple(
            np.asarray(
                attack.observe(trial.release, self.briefing, rng=address.stream(OBSERVATION))
            )
            for attack in self.attacks
        )
        if self.keep == "release":
            return Outcome(trial, observations)
        data = trial.release.data if self.keep == "data" else None
        return Outcome(replace(trial, release=Release(data)), observations)
