"""The game played many times: trials that are remembered, observed and scored."""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tapas._random import resolve_seed
from tapas._validate import check_choice, check_count
from tapas.datasets import TabularDataset
from tapas.engine import Progress, Workers, open_progress
from tapas.errors import MechanismError, TapasWarning, ThreatModelError
from tapas.threat_models._base import TrainableThreatModel
from tapas.threat_models._data_knowledge import AttackerKnowledgeWithLabel
from tapas.threat_models._doors import judge
from tapas.threat_models._execution import execute, warn_if_seed_is_ignored
from tapas.threat_models._game import Game, Outcome, TrialTask, Work
from tapas.threat_models._ledger import Ledger
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._trials import Address, Briefing, Phase, Trial

TRIALS_WORTH_A_PROBE = 10


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


@dataclass(frozen=True)
class TrialPolicy:
    """How trials are run.

    Attributes
    ----------
    max_failures : int
        How many failing trials are recorded and left out before the run stops.
    timeout : float, optional
        Seconds after which a run of the mechanism counts as failed.
    keep_data : bool
        Whether released data is remembered where attacks only need their observations.
    """

    max_failures: int = 0
    timeout: float | None = None
    keep_data: bool = True


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
        self.policy = TrialPolicy()
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
        ledger = self._ledger_for(ignore_memory)
        indices = self._play(phase, count, ledger, attacks=(attack,))
        seen = ledger.observations(attack.observation_key, phase)
        trials = [ledger.trial(phase, index) for index in indices]
        if not trials:
            nothing = np.empty((0, 1))
            return Observations(nothing, nothing, np.empty(0, dtype=int))
        values = np.stack([seen[index] for index in indices])
        secrets = np.stack([trial.secrets for trial in trials])
        target = slice(self.current_label, self.current_label + 1)
        seen_target = target if values.shape[1] > 1 else slice(0, 1)
        groups = np.array([trial.group for trial in trials], dtype=int)
        return Observations(values[:, seen_target], secrets[:, target], groups)

    def play(self, attacks: Sequence[Any], num_samples: int, *, training: bool = True) -> None:
        """Play trials that several attacks observe at once, each release being made once."""
        phase: Phase = "train" if training else "test"
        count = check_count(num_samples, "num_samples")
        self._play(phase, count, self._ledger, attacks=tuple(attacks))

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
        ledger = self._ledger_for(ignore_memory)
        whole: dict[int, Trial] = {}
        indices = self._play(phase, count, ledger, whole=whole)
        trials = [whole.get(index) or ledger.trial(phase, index) for index in indices]
        labels = [trial.secrets[self.current_label] for trial in trials]
        groups = np.array([trial.group for trial in trials], dtype=int)
        return [_handed_out(trial) for trial in trials], labels, groups

    def _ledger_for(self, ignore_memory: bool) -> Ledger:
        if self.memorise_datasets and not ignore_memory:
            return self._ledger
        fresh = Ledger()
        fresh.fresh_rounds = self._ledger.next_round()
        fresh.probed = self._ledger.probed
        return fresh

    def _resolved_count(self, phase: Phase, num_samples: int | None) -> int:
        if num_samples is not None:
            return check_count(num_samples, "num_samples")
        remembered = len(self._ledger.indices(phase))
        if remembered == 0:
            warnings.warn(
                f"no {phase} trials are remembered and num_samples is None: there is nothing to "
                f"use. Give num_samples.",
                TapasWarning,
                stacklevel=4,
            )
        return remembered

    def _play(
        self,
        phase: Phase,
        count: int,
        ledger: Ledger,
        *,
        attacks: tuple[Any, ...] = (),
        whole: dict[int, Trial] | None = None,
    ) -> list[int]:
        """Play what is missing of the first `count` trials; return those that did not fail.

        With attacks, each observes every release. Without, the data of every release is kept, and
        where releases carry the fitted mechanism they are put into `whole`.
        """
        remembers = ledger is self._ledger
        address = self._address(phase, 0, 0 if remembers else ledger.fresh_rounds)
        game = self._game()
        replay = game.exposes_mechanism
        attacks = self._distinct(attacks)
        keys = [attack.observation_key for attack in attacks]
        seen = [ledger.observations(key, phase) for key in keys]

        def is_missing(index: int) -> bool:
            if index in ledger.failures(phase):
                return False
            if not attacks:
                return replay or not ledger.has_data(phase, index)
            return not ledger.has_trial(phase, index) or any(index not in one for one in seen)

        def receive(item: Work, outcome: Outcome) -> None:
            if outcome.trial is None:
                self._count_failure(ledger, phase, item.index, outcome.failure or "")
                return
            if whole is not None and replay:
                whole[item.index] = outcome.trial
            ledger.keep(outcome.trial, dict(zip(keys, outcome.observations, strict=True)))

        work = [
            Work(index, None if replay else _played(ledger, phase, index))
            for index in range(count)
            if is_missing(index)
        ]
        if work:
            keep: Literal["release", "data", "secrets"] = "release" if replay else "data"
            task = TrialTask(
                game=game,
                address=address,
                attacks=attacks,
                briefing=self.briefing(all_targets=True) if attacks else None,
                keep=keep if not attacks else "data" if self._keeps_data(ledger) else "secrets",
                seed_globals=not self.workers.are_threads,
                report_failures=self.policy.max_failures > 0,
            )
            progress = open_progress(len(work), f"{phase} trials", self.iterator_tracker)
            execute(task, work, receive, self.workers, self.num_concurrent, progress)
            if count >= TRIALS_WORTH_A_PROBE and self.num_concurrent == 1:
                self._probe(game, address)
        return [index for index in range(count) if ledger.has_trial(phase, index)]

    def _distinct(self, attacks: tuple[Any, ...]) -> tuple[Any, ...]:
        """One attack per observation key: equal keys observe the same."""
        return tuple({attack.observation_key: attack for attack in attacks}.values())

    def _keeps_data(self, ledger: Ledger) -> bool:
        return ledger is self._ledger and self.policy.keep_data

    def _count_failure(self, ledger: Ledger, phase: Phase, index: int, message: str) -> None:
        ledger.keep_failure(phase, index, message)
        failed = len(ledger.failures("train")) + len(ledger.failures("test"))
        if failed > self.policy.max_failures:
            raise MechanismError(
                f"the mechanism failed in {failed} trials, more than max_failures="
                f"{self.policy.max_failures}; the last: {message}",
                phase=phase,
                index=index,
                seed=self.seed,
            )

    def _probe(self, game: Game, address: Address) -> None:
        if not self._ledger.probed:
            self._ledger.probed = True
            warn_if_seed_is_ignored(game, address)

    def _game(self) -> Game:
        return Game(self.atk_know_data, self.atk_know_gen, self.policy.timeout)

    def _address(self, phase: Phase, index: int, round_: int = 0) -> Address:
        return Address(self.seed, phase, index, round_)

    @property
    def _memory(self) -> dict[bool, tuple[list[Any], list[Any]]]:
        """Remembered releases and labels, by whether they are for training."""
        memory = {}
        for training, phase in ((True, "train"), (False, "test")):
            trials = [
                self._ledger.trial(phase, index)  # type: ignore[arg-type]
                for index in self._ledger.indices(phase)  # type: ignore[arg-type]
            ]
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


def _played(ledger: Ledger, phase: Phase, index: int) -> Trial | None:
    """The trial, where its data is there to be observed again."""
    return ledger.trial(phase, index) if ledger.has_data(phase, index) else None


def _handed_out(trial: Trial) -> Any:
    """What the doors give: a copy of the data, or the whole release in a white-box setting."""
    if trial.release.mechanism is not None:
        return trial.release
    data = trial.release.data
    return data.copy() if isinstance(data, TabularDataset) else data
