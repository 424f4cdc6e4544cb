"""Play what is missing of a game, and remember it in a ledger."""

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from tapas._validate import listing
from tapas.engine import (
    FAILURES,
    Progress,
    TaskFailedError,
    Workers,
    off_the_clock,
    open_progress,
    run_tasks,
    size_sent,
)
from tapas.errors import (
    IncompatibleAttackError,
    MechanismError,
    ReproducibilityWarning,
    WorkersError,
)
from tapas.game._address import PHASES, Address, Phase
from tapas.game._ahead import PhaseAhead, TrialsAhead
from tapas.game._board import Board
from tapas.game._briefing import TableBriefing
from tapas.game._coroutines import run_coroutine, run_coroutines
from tapas.game._ledger import Ledger
from tapas.game._place import Place
from tapas.game._protocols import Attack, Game, Observer
from tapas.game._release import Release, Trial
from tapas.game._tasks import Keep, Outcome, ProbeTask, TrialTask, Work
from tapas.game._work_list import WorkList

__all__ = ["Player", "TrialPolicy"]

TRIALS_WORTH_A_PROBE = 10
MANY_MODELS, MOST_HELD = 32, 1 << 29  # bytes


@dataclass(frozen=True)
class TrialPolicy:
    """How trials are run.

    Attributes
    ----------
    max_failures : int
        How many failing trials are recorded and left out before the run stops.
    timeout : float, optional
        Seconds after which a run of the mechanism counts as failed.
    keep_data : bool or None
        Whether released data is remembered where attacks only need their observations; in memory
        no more than half a gigabyte, beyond which releases are made again for another attack. None
        keeps small tables and what was slow to make.
    attack_timeout : float, optional
        Seconds after which an attack that sets itself up, looks at a release, learns or judges
        has crashed. Trials that it asks for are not counted.
    """

    max_failures: int = 0
    timeout: float | None = None
    keep_data: bool | None = True
    attack_timeout: float | None = None


@dataclass(frozen=True, eq=False)
class Player:
    """Plays a game on a ledger.

    Attributes
    ----------
    game : Game
    ledger : Ledger
    workers : Workers
    policy : TrialPolicy
    tracker : type, optional
        Shows progress; built with ``total=``.
    num_concurrent : int
        How many trials of a mechanism that waits are under way at once.
    round : int
        0 for trials that are to be remembered; another number for fresh ones.
    ahead : TrialsAhead, optional
        Trials that are under way already.
    """

    game: Game
    ledger: Ledger = field(default_factory=Ledger)
    workers: Workers = field(default_factory=Workers)
    policy: TrialPolicy = TrialPolicy()
    tracker: Callable[..., Progress] | None = None
    num_concurrent: int = 1
    round: int = 0
    ahead: TrialsAhead | None = None

    @cached_property
    def place(self) -> Place:
        """Where trials are played."""
        limits = (self.policy.timeout, self.policy.attack_timeout)
        return Place(self.game, self.workers, *limits, self.num_concurrent)

    def board(self, observer: Observer, phase: Phase, count: int, skip: int = 0) -> Board:
        """What an observer sees in those of the first `count` trials that do not fail.

        The first `skip` of these are left out.
        """
        key = observer.key  # an attack may change as it looks
        indices = self._played(phase, count, {key: observer}, None)[skip:]
        seen = self.ledger.observations(key, phase)
        goal, judged = self.game.goal, self.game.judged(phase)
        if not indices:
            return Board.empty(goal)
        shapes = {seen[index].shape for index in indices}
        if len(shapes) > 1:
            raise IncompatibleAttackError(
                f"what is observed of the {phase} releases has different shapes, "
                f"{listing(sorted(shapes))}: of models, let all encode their inputs in the same "
                f"way (name the categories), or use an attack that reads answers"
            )
        told = self.game.briefing(phase)
        return Board(
            values=seen.at(indices),
            secrets=self.ledger.secrets(phase, indices),
            groups=self.ledger.groups(phase, indices),
            goal=goal,
            judged=judged,
            briefing=told if isinstance(told, TableBriefing) else None,
        )

    def observer(self, attack: Attack) -> Observer:
        """The map of an attack; it may learn from some simulated releases first."""
        phase: Phase = "test" if self.game.rounds("train") == 0 else "train"
        return attack.observer(self.game.briefing(phase), self._samples)

    def _samples(self, number: int) -> list[Release]:
        available = self.game.rounds("train")
        count = number if available is None else min(number, available)
        return [trial.release for trial in self.trials("train", count)]

    def trials(self, phase: Phase, count: int) -> list[Trial]:
        """The first `count` trials that do not fail, with their releases."""
        whole: dict[int, Trial] = {}
        indices = self.play(phase, count, whole=whole)
        found = [whole.get(index) or self.ledger.trial(phase, index) for index in indices]
        if any(trial.release.data is None for trial in found):  # what was kept is damaged
            self.play(phase, count, whole=whole)
            found = [whole.get(index) or self.ledger.trial(phase, index) for index in indices]
        return found

    def play(
        self,
        phase: Phase,
        count: int,
        observers: Sequence[Observer] = (),
        *,
        whole: dict[int, Trial] | None = None,
    ) -> list[int]:
        """Play what is missing of the first `count` trials; return those that did not fail.

        With observers, each sees every release. Without, the data of every release is kept, and
        releases that are not remembered as they are (those with more than data) are put into
        `whole`.
        """
        return self._played(phase, count, {one.key: one for one in observers}, whole)

    def again(
        self,
        phase: Phase,
        indices: Sequence[int],
        observers: Sequence[Observer],
        *,
        keep_data: bool | None = None,
    ) -> Ledger:
        """Play given trials once more, as if nothing were known of them; failures are kept too."""
        policy = replace(self.policy, max_failures=sys.maxsize, keep_data=keep_data)
        player = replace(self, ledger=Ledger(), policy=policy)
        player._play(
            phase,
            np.unique(np.array(indices, dtype=int)),
            {one.key: one for one in observers},
            None,
        )
        return player.ledger

    def _played(
        self,
        phase: Phase,
        count: int,
        distinct: dict[str, Observer],
        whole: dict[int, Trial] | None,
    ) -> list[int]:
        with off_the_clock():  # an attack that asks for trials does not pay for them
            self._refuse_failures(phase, count)
            missing = self._missing(phase, count, distinct, whole is not None)
            if len(missing):
                if whole is None:
                    self._await(phase, count, missing, distinct)
                    self._refuse_failures(phase, count)
                    missing = self._missing(phase, count, distinct, False)
                if len(missing):
                    self._play(phase, missing, distinct, whole)
                    self._refuse_failures(phase, count)
                if count >= TRIALS_WORTH_A_PROBE and self.num_concurrent == 1:
                    self._probe(phase)
        return np.flatnonzero(self.ledger.played(phase, count)).tolist()

    # -- ahead -------------------------------------------------------------------------------

    def sent_ahead(
        self, steps: Mapping[Phase, tuple[int, Sequence[Observer]]], seconds: float
    ) -> "Player":
        """A player for whom workers apart play what is missing of several phases from now on.

        Whoever plays waits only for what is asked for. It is this player itself where trials are
        played in this process, which they are if all of them take few `seconds`.
        """
        workers = self.place.workers
        if self.num_concurrent > 1 or not workers.are_apart(seconds):
            return self
        several = {phase: step for phase, step in steps.items() if self.game.rounds(phase) != 1}
        found = {phase: self._part_ahead(phase, *step) for phase, step in several.items()}
        parts = {phase: part for phase, part in found.items() if len(part.work)}
        if not parts:
            return self
        try:
            return replace(self, ahead=TrialsAhead(parts, workers, self.tracker))
        except Exception:  # part of it cannot be sent, which playing tells
            return self

    def _part_ahead(self, phase: Phase, count: int, observers: Sequence[Observer]) -> PhaseAhead:
        distinct = {one.key: one for one in observers}
        missing = self._missing(phase, count, distinct, False)
        made = missing[~self._remembered(phase, missing.tolist())]
        wanted = np.zeros(count, dtype=bool)
        wanted[made] = True
        task = self._task(phase, len(missing), tuple(distinct.values()), False)
        return PhaseAhead(task, self._work(phase, made), wanted)

    def _await(
        self, phase: Phase, count: int, missing: np.ndarray, observers: dict[str, Observer]
    ) -> None:
        """Receive what is under way."""
        ahead = self.ahead
        if ahead is None or not observers.keys() <= set(ahead.keys.get(phase, ())):
            return
        for played, outcome in ahead.until(phase, missing):
            self._receive(played, outcome, ahead.keys[played], None)
            if len(self._failed(phase, count)) > self.policy.max_failures:
                ahead.end()

    # -- what is missing ---------------------------------------------------------------------

    def _missing(
        self, phase: Phase, count: int, observers: dict[str, Observer], whole: bool
    ) -> np.ndarray:
        ledger = self.ledger
        failed = np.zeros(count, dtype=bool)
        failed[[index for index in ledger.failures(phase) if index < count]] = True
        if whole:
            known = self._remembered(phase, range(count))
        else:
            known = ledger.played(phase, count)
            for key in observers:
                known &= ledger.observations(key, phase).held(count)
        return np.flatnonzero(~known & ~failed)

    def _remembered(self, phase: Phase, indices: Iterable[int]) -> np.ndarray:
        """Which releases need not be made again to be seen."""
        has_data = partial(self.ledger.has_data, phase)
        return np.array([not self._replays and has_data(i) for i in indices], dtype=bool)

    @cached_property
    def _replays(self) -> bool:
        """Whether a release is more than its data, so that it must be made again to be seen."""
        return self.game.setting.mechanism or self.game.setting.identifiers

    def _work(self, phase: Phase, missing: np.ndarray) -> "WorkList":
        """Items of work: what was released already, and whole stacks of trials to be played."""
        at_once = self.game.trials_at_once(phase)
        held = self._remembered(phase, missing.tolist())
        stacks = np.unique(missing[~held] // at_once)
        trial = partial(self.ledger.trial, phase)
        return WorkList(trial, missing[held], stacks, at_once, self.game.rounds(phase))

    # -- playing -----------------------------------------------------------------------------

    def _play(
        self,
        phase: Phase,
        missing: np.ndarray,
        observers: dict[str, Observer],
        whole: dict[int, Trial] | None,
    ) -> None:
        wanted = np.zeros(1 + missing.max(initial=-1), dtype=bool)
        wanted[missing] = True

        def receive(item: Work, outcomes: list[Outcome]) -> None:
            for outcome in outcomes:
                if outcome.index < len(wanted) and wanted[outcome.index]:
                    self._receive(phase, outcome, tuple(observers), whole)

        task = self._task(phase, len(missing), tuple(observers.values()), whole is not None)
        work = self._work(phase, missing)
        progress = open_progress(len(work), f"{phase} trials", self.tracker)
        self._execute(task, work, receive, progress)

    def _task(
        self, phase: Phase, missing: int, observers: tuple[Observer, ...], whole: bool
    ) -> TrialTask:
        game = self.place.game
        return TrialTask(
            game=game,
            address=Address(game.seed, phase, 0, self.round),
            observers=observers,
            briefing=game.briefing(phase) if observers else None,
            budgets=tuple(self._budget(observer, phase) for observer in observers),
            keep=self._keep(phase, missing, bool(observers), whole),
            report_failures=self.policy.max_failures > 0,
            attack_timeout=self.policy.attack_timeout,
        )

    def _budget(self, observer: Observer, phase: Phase) -> int | None:
        """What is left to ask of a model that exists already; others may be asked at will."""
        budget = self.game.setting.budget
        if budget is None or self.game.rounds(phase) != 1:
            return None
        return budget - self.queries(observer)

    def queries(self, observer: Observer) -> int:
        """How many records a model that exists already was asked about, making data up included."""
        audited = [phase for phase in PHASES if self.game.rounds(phase) == 1]
        asked = sum(self.ledger.queries(observer.key, phase) for phase in audited)
        return asked + self.game.setting.spent

    def _keep(self, phase: Phase, missing: int, observed: bool, whole: bool) -> Keep:
        if whole or not observed:
            return "whole" if self._replays and whole else "data"
        if self.policy.keep_data is None:
            return "worthy"
        forgets = not self.policy.keep_data or self._would_fill_memory(phase, missing)
        return "secrets" if forgets else "data"

    def _would_fill_memory(self, phase: Phase, missing: int) -> bool:
        """Whether so many models like the audited one are too many to be held."""
        game = self.game
        if game.setting.release != "model" or missing < MANY_MODELS or game.rounds("test") != 1:
            return False
        audited = game.play([Address(game.seed, "test", 0)])[0].release.data
        return missing * size_sent(audited) > MOST_HELD

    def _receive(
        self,
        phase: Phase,
        outcome: Outcome,
        keys: tuple[str, ...],
        whole: dict[int, Trial] | None,
    ) -> None:
        if outcome.trial is None:
            words, lasting = outcome.failure or "", outcome.lasting
            FAILURES.info("%s\n%s", words, outcome.words)
            self.ledger.keep_failure(phase, outcome.index, words, lasting=lasting)
            return
        trial = outcome.trial
        if keys and self.ledger.held > MOST_HELD:
            trial = replace(trial, release=Release(None))  # it is made again where it is needed
        self.ledger.keep(trial, dict(zip(keys, outcome.observations, strict=True)))
        if whole is not None and not self._is_remembered(phase, outcome.index):
            whole[outcome.index] = outcome.trial

    def _is_remembered(self, phase: Phase, index: int) -> bool:
        return not self._replays and self.ledger.has_data(phase, index)

    def _failed(self, phase: Phase, count: int) -> list[tuple[Phase, int, str]]:
        """Failures up to the first `count` trials of a phase, in the order of trials."""
        return [
            (earlier, index, message)
            for earlier in PHASES[: PHASES.index(phase) + 1]
            for index, message in sorted(self.ledger.failures(earlier).items())
            if earlier != phase or index < count
        ]

    def _refuse_failures(self, phase: Phase, count: int) -> None:
        """Stop at the failure that is one too many, in the order of trials and not of time."""
        failed, most = self._failed(phase, count), self.policy.max_failures
        if len(failed) <= most:
            return
        where, index, message = failed[most]
        raise MechanismError(
            f"the mechanism failed in {most + 1} trials, more than max_failures={most}; the last: "
            f"{message}",
            phase=where,
            index=index,
            seed=self.game.seed,
            shared=f"the mechanism failed in {most + 1} trials, more than max_failures={most}; the "
            f"last: {message}",
        )

    def _probe(self, phase: Phase) -> None:
        if self.ledger.probed:
            return
        self.ledger.probed = True
        task, found = ProbeTask(self.place.game), list[str | None]()
        with suppress(TaskFailedError, WorkersError):
            run_tasks(
                task,
                [Address(self.game.seed, phase, 0, self.round)],
                receive=lambda address, caution: found.append(caution),
                workers=self.place.workers,
                lost=task.lost,
            )
        for caution in found:
            if caution is not None:
                warnings.warn(caution, ReproducibilityWarning, stacklevel=6)

    def _execute(
        self,
        task: TrialTask,
        work: Sequence[Work],
        receive: Callable[[Work, list[Outcome]], None],
        progress: Progress,
    ) -> None:
        """Run all work, handing over each outcome as soon as it is there."""
        phase, count = task.address.phase, work[-1].indices[-1] + 1
        try:
            self.place.refuse_what_makes_no_sense()
            self.place.warn_of_shared_globals()
            if self.num_concurrent > 1:
                run_coroutine(run_coroutines(task, work, receive, self.num_concurrent, progress))
            else:
                run_tasks(
                    task,
                    work,
                    receive=receive,
                    workers=self.place.workers,
                    progress=progress,
                    lost=task.lost,
                    enough=lambda: len(self._failed(phase, count)) > self.policy.max_failures,
                )
        except TaskFailedError as failure:
            cause = failure.__cause__ or failure
            raise cause from cause.__cause__
        finally:
            progress.close()
