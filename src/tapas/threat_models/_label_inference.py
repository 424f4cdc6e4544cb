"""The game played many times: trials that are remembered, observed and scored."""

import asyncio
import copy
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tapas._random import resolve_seed
from tapas._validate import check_choice, check_count
from tapas.datasets import TabularDataset
from tapas.engine import Progress, TaskFailedError, Workers, open_progress, run_tasks
from tapas.errors import ReproducibilityWarning, TapasWarning, ThreatModelError
from tapas.threat_models._base import TrainableThreatModel
from tapas.threat_models._data_knowledge import AttackerKnowledgeWithLabel
from tapas.threat_models._doors import judge
from tapas.threat_models._game import Game, Outcome, TrialTask, Work
from tapas.threat_models._ledger import Ledger
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._mechanism_runs import (
    accepts_seed,
    is_coroutine_mechanism,
    run_coroutine,
)
from tapas.threat_models._trials import PROBE, Address, Briefing, Phase, Release, Trial

TRIALS_WORTH_A_PROBE = 10
ROWS_WORTH_A_PROBE = 8


@dataclass(frozen=True, eq=False)
class Observations:
    """What an attack observed in a number of trials, and the secrets.

    Attributes
    ----------
    values : ndarray, (trials, targets, ...)
    secrets : ndarray, (trials, targets)
    groups : ndarray, (trials,)
        Equal numbers mark trials that share a background.
    """

    values: np.ndarray
    secrets: np.ndarray
    groups: np.ndarray


class LabelInferenceThreatModel(TrainableThreatModel):
    """The attacker guesses a secret label of the private data from the release.

    Parameters
    ----------
    attacker_knowledge_data : AttackerKnowledgeWithLabel
        Draws private datasets with their secrets.
    attacker_knowledge_generator : AttackerKnowledgeOnGenerator
        Runs the mechanism.
    memorise_datasets : bool
        Whether trials are kept, so that later requests only add to them.
    iterator_tracker : type, optional
        Shows progress; built with ``total=``, has ``update(n)`` and ``close()``, as ``tqdm.tqdm``
        does. By default a bar on a terminal.
    num_labels : int
        Number of secrets per dataset.
    num_concurrent : int
        For mechanisms that are coroutines: how many run at once.
    seed : int, optional
        Everything random follows from it; drawn, and kept in `seed`, if None.
    n_jobs : int, optional
        Number of processes; by default one per core, once the work turns out to be long. Results
        do not depend on it.
    executor : concurrent.futures.Executor, optional
        Where trials run instead. Threads are accepted for mechanisms that take a seed.
    """

    def __init__(
        self,
        attacker_knowledge_data: AttackerKnowledgeWithLabel,
        attacker_knowledge_generator: AttackerKnowledgeOnGenerator,
        memorise_datasets: bool = True,
        iterator_tracker: Callable[..., Progress] | None = None,
        num_labels: int = 1,
        num_concurrent: int = 1,
        *,
        seed: int | None = None,
        n_jobs: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.atk_know_data = attacker_knowledge_data
        self.atk_know_gen = attacker_knowledge_generator
        self.memorise_datasets = memorise_datasets
        self.iterator_tracker = iterator_tracker
        self.num_labels = check_count(num_labels, "num_labels", minimum=1)
        self.num_concurrent = check_count(num_concurrent, "num_concurrent", minimum=1)
        self.multiple_label_mode = self.num_labels > 1
        self.current_label = 0
        self.seed = resolve_seed(seed)
        self.workers = Workers(n_jobs, executor)
        self._ledger = Ledger()

    # -- trials ------------------------------------------------------------------------------

    def draw_trial(self, phase: Phase, index: int) -> Trial:
        """Play one trial (again): a pure function of the threat model, its seed and the address.

        Parameters
        ----------
        phase : {"train", "test"}
        index : int
        """
        check_choice(phase, "phase", ("train", "test"))
        return self._game().play(self._address(phase, check_count(index, "index")))

    def generate_training_samples(
        self, num_samples: int | None = None, ignore_memory: bool = False
    ) -> tuple[list[Any], list[Any]]:
        """Simulated releases and their secrets: exactly `num_samples`, or all remembered ones."""
        return self._generate_samples(num_samples, True, ignore_memory)

    def observe(
        self,
        attack: Any,
        num_samples: int | None = None,
        *,
        training: bool = True,
        ignore_memory: bool = False,
    ) -> Observations:
        """Let an attack observe releases where they are made; only observations are collected.

        All targets are observed together and remembered, so that the views of several targets do
        the work once. An observation whose first axis has length 1 is the same for all targets.
        """
        phase: Phase = "train" if training else "test"
        count = self._resolved_count(phase, num_samples)
        fresh = ignore_memory or not self.memorise_datasets
        seen: dict[int, np.ndarray] = {}
        if not fresh:
            seen = self._ledger.observed(attack.observation_key, phase)
        trials = self._run(phase, count, fresh=fresh, attack=attack, seen=seen)
        shape = (0, self.num_labels)
        values = np.stack([seen[i] for i in range(count)]) if count else np.empty(shape)
        secrets = np.stack([t.secrets for t in trials]) if count else np.empty(shape)
        groups = np.array([trial.group for trial in trials], dtype=int)
        target = slice(self.current_label, self.current_label + 1)
        seen_target = target if values.shape[1] > 1 else slice(0, 1)
        return Observations(values[:, seen_target], secrets[:, target], groups)

    def _generate_samples(
        self, num_samples: int | None = None, training: bool = True, ignore_memory: bool = False
    ) -> tuple[list[Any], list[Any]]:
        releases, labels, _ = self._samples(num_samples, training, ignore_memory)
        return releases, labels

    def _samples(
        self, num_samples: int | None, training: bool, ignore_memory: bool
    ) -> tuple[list[Any], list[Any], np.ndarray]:
        phase: Phase = "train" if training else "test"
        count = self._resolved_count(phase, num_samples)
        fresh = ignore_memory or not self.memorise_datasets
        trials = self._run(phase, count, fresh=fresh)
        labels = [trial.secrets[self.current_label] for trial in trials]
        groups = np.array([trial.group for trial in trials], dtype=int)
        return [_handed_out(trial) for trial in trials], labels, groups

    def _resolved_count(self, phase: Phase, num_samples: int | None) -> int:
        if num_samples is not None:
            return check_count(num_samples, "num_samples")
        remembered = len(self._ledger.trials[phase])
        if remembered == 0:
            warnings.warn(
                f"no {phase} trials are remembered and num_samples is None: there is nothing to "
                f"use. Give num_samples.",
                TapasWarning,
                stacklevel=4,
            )
        return remembered

    def _run(
        self,
        phase: Phase,
        count: int,
        *,
        fresh: bool,
        attack: Any = None,
        seen: dict[int, np.ndarray] | None = None,
    ) -> list[Trial]:
        """Play what is missing of the first `count` trials, and have the attack observe them."""
        trials = {} if fresh else self._ledger.trials[phase]
        address = self._address(phase, 0, self._ledger.next_round() if fresh else 0)
        game = self._game()
        observed = seen if seen is not None else {}
        replay = game.exposes_mechanism
        work = [
            Work(index, None if replay else trials.get(index))
            for index in range(count)
            if (index not in observed if attack is not None else replay or index not in trials)
        ]
        whole: dict[int, Trial] = {}

        def receive(item: Work, outcome: Outcome) -> None:
            trial = outcome.trial
            if outcome.observation is not None:
                observed[item.index] = outcome.observation
            if attack is None and replay:
                whole[item.index] = trial
                trial = replace(trial, release=Release(trial.release.data))
            trials.setdefault(item.index, trial)

        task = TrialTask(
            game=game,
            address=address,
            attack=attack,
            briefing=None if attack is None else self.briefing(all_targets=True),
            keep=_what_to_keep(attack, fresh=fresh, white_box=replay),
            seed_globals=not self.workers.are_threads,
        )
        if work:
            self._execute(task, work, receive, f"{phase} trials")
            self._probe(game, address, count)
        return [whole.get(index, trials[index]) for index in range(count)]

    def _execute(
        self,
        task: TrialTask,
        work: list[Work],
        receive: Callable[[Work, Outcome], None],
        label: str,
    ) -> None:
        self._check_concurrency()
        progress = open_progress(len(work), label, self.iterator_tracker)
        try:
            if self.num_concurrent > 1:
                run_coroutine(self._execute_coroutines(task, work, receive, progress))
            else:
                run_tasks(task, work, receive=receive, workers=self.workers, progress=progress)
        except TaskFailedError as failure:
            cause = failure.__cause__
            raise (cause if cause is not None else failure) from None
        finally:
            progress.close()

    async def _execute_coroutines(
        self,
        task: TrialTask,
        work: list[Work],
        receive: Callable[[Work, Outcome], None],
        progress: Progress,
    ) -> None:
        limit = asyncio.Semaphore(self.num_concurrent)

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

    def _check_concurrency(self) -> None:
        """Refuse what would not be reproducible or makes no sense."""
        generator = getattr(self.atk_know_gen, "generator", None)
        seeded = generator is not None and accepts_seed(generator)
        if self.num_concurrent > 1:
            if not is_coroutine_mechanism(generator):
                raise ThreatModelError(
                    f"num_concurrent={self.num_concurrent} is for mechanisms whose __call__ is a "
                    f"coroutine; {self.atk_know_gen.label!r} is not one. Use n_jobs for processes."
                )
            if not seeded:
                warnings.warn(
                    f"{self.atk_know_gen.label!r} takes no seed, so its concurrent runs are not "
                    f"reproducible: give its __call__ a random_state parameter, or use "
                    f"num_concurrent=1",
                    ReproducibilityWarning,
                    stacklevel=6,
                )
        elif self.workers.are_threads and not seeded:
            raise ThreatModelError(
                f"{self.atk_know_gen.label!r} takes no seed, so threads would share the global "
                f"random generators and results would not be reproducible: use processes "
                f"(n_jobs=...) or give it a random_state parameter"
            )

    def _probe(self, game: Game, address: Address, count: int) -> None:
        """Run the mechanism twice more on one trial with different seeds: is it listening?"""
        if self._ledger.probed or count < TRIALS_WORTH_A_PROBE or self.num_concurrent > 1:
            return
        self._ledger.probed = True
        first, second = (
            game.play(address, mechanism_part=part).release.data for part in (PROBE, PROBE + 1)
        )
        if not isinstance(first, TabularDataset) or len(first) < ROWS_WORTH_A_PROBE:
            return
        if first.table.same_values(second.table):
            warnings.warn(
                f"{self.atk_know_gen.label!r} returned identical releases for different seeds on "
                f"the same data. Unless it is deterministic by design, it fixes its own seed, and "
                f"an audit would see only one of the releases it can make: let its generate (or "
                f"__call__) take random_state.",
                ReproducibilityWarning,
                stacklevel=5,
            )

    def _game(self) -> Game:
        return Game(self.atk_know_data, self.atk_know_gen)

    def _address(self, phase: Phase, index: int, round_: int = 0) -> Address:
        return Address(self.seed, phase, index, round_)

    @property
    def _memory(self) -> dict[bool, tuple[list[Any], list[Any]]]:
        """Remembered releases and labels, by whether they are for training."""
        memory = {}
        for training, phase in ((True, "train"), (False, "test")):
            trials = self._ledger.remembered(phase)  # type: ignore[arg-type]
            labels = [t.secrets[0] if len(t.secrets) == 1 else list(t.secrets) for t in trials]
            memory[training] = ([_handed_out(trial) for trial in trials], labels)
        return memory

    # -- targets -----------------------------------------------------------------------------

    def briefing(self, *, all_targets: bool = False) -> Briefing:
        """What an attack is told: about the current target, or about all of them."""
        return Briefing(goal="label")

    def set_label(self, label: int) -> None:
        """Choose which of several secrets this threat model is about."""
        if not self.multiple_label_mode or not 0 <= label < self.num_labels:
            raise ThreatModelError(
                f"there are {self.num_labels} labels; label {label!r} cannot be chosen"
            )
        self.current_label = label

    def __iter__(self) -> Iterator["LabelInferenceThreatModel"]:
        """One view per target; they share trials and observations."""
        for label in range(self.num_labels):
            view = copy.copy(self)
            view.current_label = label
            yield view

    def __len__(self) -> int:
        return self.num_labels

    # -- judging -----------------------------------------------------------------------------

    def test(self, attack: Any, num_samples: int | None = None, ignore_memory: bool = False) -> Any:
        """Play `num_samples` test trials against a trained attack.

        Returns
        -------
        AttackSummary
            Or, for a threat model of your own, the tuple (secrets, decisions, scores).
        """
        judged = judge(self, attack, num_samples, ignore_memory)
        return self._summary(judged.secrets, judged.decisions, judged.scores, attack, judged.groups)

    def _summary(
        self,
        truth: np.ndarray,
        predictions: np.ndarray,
        scores: np.ndarray | None,
        attack: Any,
        groups: np.ndarray,
    ) -> Any:
        return self._wrap_output(truth, predictions, scores, attack)

    def _wrap_output(self, truth_labels: Any, pred_labels: Any, scores: Any, attack: Any) -> Any:
        return truth_labels, pred_labels, scores


def _what_to_keep(
    attack: Any, *, fresh: bool, white_box: bool
) -> Literal["release", "data", "secrets"]:
    if attack is not None:
        return "secrets" if fresh else "data"
    return "release" if white_box else "data"


def _handed_out(trial: Trial) -> Any:
    """What the doors give: a copy of the data, or the whole release in a white-box setting."""
    if trial.release.mechanism is not None:
        return trial.release
    data = trial.release.data
    return data.copy() if isinstance(data, TabularDataset) else data
