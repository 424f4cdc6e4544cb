"""The game about chosen records: draw private data, plant secrets, run the mechanism."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from tapas._random import TrialPart
from tapas._validate import listing
from tapas.datasets import Dataset, TabularDataset
from tapas.engine import CodeExitError, TimeLimitError, guarded, told
from tapas.errors import KnowledgeError, MechanismError, SchemaError
from tapas.game import (
    Address,
    Briefing,
    Goal,
    Phase,
    Relation,
    Release,
    Setting,
    TableBriefing,
    TellsLikelihood,
    Trial,
)
from tapas.threat_models._data_knowledge import AttackerKnowledgeWithLabel
from tapas.threat_models._game_defaults import GameDefaults
from tapas.threat_models._labellers import PlantingLabeller
from tapas.threat_models._mechanism_knowledge import (
    AttackerKnowledgeOnGenerator,
    WhiteBoxKnowledge,
)
from tapas.threat_models._mechanism_runs import MechanismRun, finished
from tapas.threat_models._planting import AttributePlanting
from tapas.threat_models._row_keys import rows_within

ROWS_WORTH_A_PROBE = 8

# Of few records all values may be missing by the noise of a private generator, rightly so.
FEWEST_BLANK = 100


@dataclass(frozen=True, eq=False)
class TargetedGame(GameDefaults):
    """Draw a private dataset, plant the secrets, run the mechanism.

    Attributes
    ----------
    data : AttackerKnowledgeWithLabel
    mechanism : AttackerKnowledgeOnGenerator
    seed : int
    name : str
        What users call the game.
    num_labels : int
        How many secrets there are.
    judges_together : bool
        Whether all targets are one question, decided by a coin each, rather than one question
        each.
    timeout : float, optional
        Seconds within which the mechanism must finish.
    seeds_globals : bool
        Whether global random generators are seeded (not where threads share them).
    """

    data: AttackerKnowledgeWithLabel
    mechanism: AttackerKnowledgeOnGenerator
    seed: int
    name: str = "LabelInferenceThreatModel"
    num_labels: int = 1
    judges_together: bool = False
    timeout: float | None = None
    seeds_globals: bool = True

    # -- what it is --------------------------------------------------------------------------

    @cached_property
    def label(self) -> str:
        """Display name of the mechanism."""
        return self.mechanism.label

    @property
    def data_label(self) -> str:
        """Display name of the private data."""
        return self.data.label

    @property
    def goal(self) -> Goal:
        """What is planted."""
        return self.data.goal

    @property
    def relation(self) -> Relation | None:
        """Which neighbours are played."""
        return self.data.relation if isinstance(self.data, PlantingLabeller) else None

    @property
    def commonest_share(self) -> float | None:
        """Probability of the likeliest value of an attribute; None of other goals."""
        planting = self.data.planting if isinstance(self.data, PlantingLabeller) else None
        return planting.commonest_share if isinstance(planting, AttributePlanting) else None

    def _identity(self) -> Mapping[str, object]:
        return {"data": self.data, "mechanism": self.mechanism, "seed": self.seed}

    @cached_property
    def setting(self) -> Setting:
        """What the game offers to attacks."""
        briefing = self.briefing("test")
        return Setting(
            name=self.name,
            release="table",
            goal=self.goal,
            training=self.rounds("train"),
            test=self.rounds("test"),
            auxiliary=isinstance(briefing, TableBriefing)
            and isinstance(briefing.auxiliary, TabularDataset),
            mechanism=self.mechanism.exposes_mechanism,
            identifiers=isinstance(self.data, PlantingLabeller)
            and self.data.attacker_knowledge.shows_identifiers,
            likelihood=isinstance(self.mechanism, WhiteBoxKnowledge)
            and isinstance(self.mechanism.generator, TellsLikelihood),
            coins=self.judges_together,
        )

    @cached_property
    def target_labels(self) -> tuple[str, ...]:
        """Display names of the targets."""
        if isinstance(self.data, PlantingLabeller):
            targets = self.data.target_records
            if isinstance(targets, TabularDataset):
                return tuple(str(label) for label in targets.table.index)
        return tuple(str(number) for number in range(self.num_labels))

    @property
    def draws_from_globals(self) -> bool:
        """Where data or mechanism take no seed."""
        return self.mechanism.draws_from_globals or self.data.draws_from_globals

    @property
    def waits(self) -> bool:
        """Whether the mechanism is a coroutine."""
        return self.mechanism.waits

    def for_threads(self) -> "TargetedGame":
        """The same game, which leaves the global generators alone."""
        return replace(self, seeds_globals=False)

    def within(self, seconds: float | None) -> "TargetedGame":
        """The same game with a time limit."""
        return self if seconds == self.timeout else replace(self, timeout=seconds)

    def rounds(self, phase: Phase) -> int | None:
        """Any number, unless the attacker cannot run the mechanism."""
        return 0 if phase == "train" and not self.mechanism.can_simulate else None

    def briefing(self, phase: Phase) -> Briefing:
        """What an attack is told; the same in both phases."""
        if isinstance(self.data, PlantingLabeller):
            told = self.data.briefing()
            if isinstance(told, TableBriefing):
                return replace(told, selection=self.mechanism.selection)
            return told
        return Briefing(self.goal, num_labels=self.num_labels)

    def judged(self, phase: Phase) -> np.ndarray:
        """All targets, in both phases."""
        return np.ones(self.num_labels, dtype=bool)

    # -- playing -----------------------------------------------------------------------------

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        """The trials at some addresses."""
        step = self.mechanism.runs_at_once
        stacks = [addresses[at : at + step] for at in range(0, len(addresses), step)]
        return [trial for stack in stacks for trial in self._played(stack, TrialPart.MECHANISM)]

    def trials_at_once(self, phase: Phase) -> int:
        """As many as the mechanism runs in lockstep."""
        return self.mechanism.runs_at_once

    def _played(self, addresses: Sequence[Address], part: TrialPart) -> list[Trial]:
        """Trials whose mechanism runs in one stack."""
        drawn = [self.data.draw_labelled(address) for address in addresses]
        try:
            with guarded(self.timeout):
                runs = self.mechanism.run_stack(
                    [dataset for dataset, _ in drawn],
                    training_mode=addresses[0].training,
                    rngs=[address.stream(part) for address in addresses],
                    seed_globals=self.seeds_globals,
                )
                releases = [
                    self._released(finished(run.output), run, dataset)
                    for run, (dataset, _) in zip(runs, drawn, strict=True)
                ]
        except KnowledgeError:
            raise
        except Exception as error:
            raise self._failure(addresses[0], error) from error
        return [
            self._trial(address, release, secrets)
            for address, release, (_, secrets) in zip(addresses, releases, drawn, strict=True)
        ]

    def secrets_at(self, address: Address) -> tuple[np.ndarray, int]:
        """The secret of every target, and the group of the trial; the mechanism is not run."""
        _, secrets = self.data.draw_labelled(address)
        return secrets, self.data.group_of(address.index)

    def members(
        self, phase: Phase, indices: Sequence[int]
    ) -> tuple[TabularDataset, np.ndarray] | None:
        """Who of the table that a phase draws from is in the private data of some trials."""
        if not isinstance(self.data, PlantingLabeller) or self.goal.kind != "membership":
            return None
        pool = self.data.attacker_knowledge.pool(phase)
        first = Address(self.seed, phase, 0)
        if not isinstance(pool, TabularDataset) or not indices:
            return None
        drawn = (self.data.draw_labelled(first.at(index))[0] for index in indices)
        tables = (private for private in drawn if isinstance(private, TabularDataset))
        inside = rows_within(pool, tables)
        return (pool, inside) if len(inside) == len(indices) else None

    def private_records(self) -> TabularDataset | None:
        """All records that trials draw from, and the targets."""
        if not isinstance(self.data, PlantingLabeller):
            return None
        rest, targets = self.data.attacker_knowledge._get_data(), self.data.target_records
        if not isinstance(rest, TabularDataset) or not isinstance(targets, TabularDataset):
            return None
        return rest.concat(targets)

    async def play_concurrently(self, address: Address) -> Trial:
        """The same, giving way to other trials while the mechanism waits."""
        import asyncio

        dataset, secrets = self.data.draw_labelled(address)
        try:
            with guarded():
                run = self.mechanism.run(
                    dataset,
                    training_mode=address.training,
                    rng=address.stream(TrialPart.MECHANISM),
                    seed_globals=False,
                )
                output = run.output
                if inspect.isawaitable(output):
                    output = await asyncio.wait_for(output, self.timeout)
                release = self._released(output, run, dataset)
        except KnowledgeError:
            raise
        except Exception as error:
            raise self._failure(address, error) from error
        return self._trial(address, release, secrets)

    def caution(self, address: Address) -> str | None:
        """Run the mechanism twice on the data of one trial, with different seeds."""
        try:
            first, second = (
                self._played([address], part)[0].release.data
                for part in (TrialPart.PROBE, TrialPart.PROBE_AGAIN)
            )
        except MechanismError:
            return None  # how often it fails is for the trials themselves to say
        if not isinstance(first, TabularDataset) or not isinstance(second, TabularDataset):
            return None
        if len(first) < ROWS_WORTH_A_PROBE or not first.table.same_values(second.table):
            return None
        return (
            f"{self.label!r} returned identical releases for different seeds on the same data. "
            f"Unless it is deterministic by design, it fixes its own seed, and an audit would see "
            f"only one of the releases it can make: let its generate (or __call__) take "
            f"random_state."
        )

    def _trial(self, address: Address, release: Release, secrets: np.ndarray) -> Trial:
        group = self.data.group_of(address.index)
        return Trial(address.phase, address.index, release, secrets, group)

    def _released(self, output: object, run: MechanismRun, dataset: Dataset) -> Release:
        mechanism = run.fitted if self.mechanism.exposes_mechanism else None
        if output is None:
            words = "it returned nothing instead of a synthetic dataset"
            raise MechanismError(words, shared=words)
        if isinstance(output, pd.DataFrame) and isinstance(dataset, TabularDataset):
            output = TabularDataset(output, dataset.description)
        self._refuse_other_shapes(output, dataset)
        if isinstance(output, TabularDataset):
            if isinstance(dataset, TabularDataset) and not _described_alike(output, dataset):
                output = TabularDataset(output.data, dataset.description)
            # Row labels could tell where rows came from, and frames are large: keep neither.
            output = output.unlabelled()
        known = self.data.identifiers(dataset) if isinstance(self.data, PlantingLabeller) else None
        return Release(output, mechanism, known)

    def _refuse_other_shapes(self, output: object, dataset: Dataset) -> None:
        """A release of other columns, or of fewer or more records than were asked for, is none."""
        if not isinstance(dataset, TabularDataset):
            return
        if not isinstance(output, TabularDataset):
            words = f"it returned a {type(output).__name__} instead of a table"
            raise MechanismError(words, shared=words)
        columns, expected = output.description.columns, dataset.description.columns
        if columns != expected:
            raise MechanismError(
                f"it released the columns {listing(columns)}; the private data has "
                f"{listing(expected)}",
                shared="it released other columns than the private data has",
            )
        asked, made = self.mechanism.asked_for, len(output)
        blank = made >= FEWEST_BLANK and output.is_blank
        if asked != 0 and (made == 0 or blank):
            words = "it released no records" + (" that hold a value" if made else "")
            raise MechanismError(words, shared=words)
        if asked is not None and made != asked:
            words = (
                f"it was asked for {asked} records and released {made}. A generator that decides "
                f"on their number itself says so: any_number = True"
            )
            raise MechanismError(words, shared=words)

    def _failure(self, address: Address, error: Exception) -> MechanismError:
        telling = isinstance(error, (MechanismError, SchemaError, TimeLimitError, CodeExitError))
        where = (
            f"the mechanism {self.label!r} failed in {address.phase} trial {address.index} (seed "
            f"{address.seed})"
        )
        return MechanismError(
            f"{where}: {error if telling else repr(error)}",
            phase=address.phase,
            index=address.index,
            seed=address.seed,
            shared=f"{where}: {told(error)}",
        )


def _described_alike(one: TabularDataset, other: TabularDataset) -> bool:
    return one.description is other.description or one.table.columns == other.table.columns
