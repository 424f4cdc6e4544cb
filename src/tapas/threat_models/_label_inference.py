"""The documented threat model about secrets in private data: trials, views of targets, memory."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from tapas._random import resolve_seed
from tapas._spec import spec_of
from tapas._validate import check_count
from tapas.compat import AttackDoors, TargetViews
from tapas.engine import Progress
from tapas.game import PHASES, Judgement, Ledger, Phase, Release, Trial
from tapas.threat_models._data_knowledge import AttackerKnowledgeWithLabel
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._targeted_game import TargetedGame

Remembered = tuple[Sequence[object], Sequence[object]]


class Memory(dict[bool, Remembered]):
    """What a threat model remembers; what is put in, it remembers from then on."""

    def __init__(
        self, threat_model: "LabelInferenceThreatModel", content: Mapping[bool, Remembered]
    ) -> None:
        super().__init__(content)
        self._threat_model = threat_model

    def __setitem__(self, training: bool, remembered: Remembered) -> None:
        super().__setitem__(training, remembered)
        self._threat_model._memory = self


class LabelInferenceThreatModel(TargetViews):
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

    # Digest of the game that saved trials are of, where it was loaded without all of its parts.
    _saved_as: str | None = None

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
        super().__init__(
            memorise_datasets=memorise_datasets,
            iterator_tracker=iterator_tracker,
            num_concurrent=num_concurrent,
            n_jobs=n_jobs,
            executor=executor,
        )
        self.atk_know_data = attacker_knowledge_data
        self.atk_know_gen = attacker_knowledge_generator
        self.num_labels = check_count(num_labels, "num_labels", minimum=1)
        self._seed = resolve_seed(seed)

    @property
    def game(self) -> TargetedGame:
        """What is played."""
        return TargetedGame(
            self.atk_know_data,
            self.atk_know_gen,
            self._seed,
            name=type(self).__name__,
            num_labels=self.num_labels,
        )

    @property
    def seed(self) -> int:
        """Everything random follows from it."""
        return self._seed

    def _made_of(self) -> str | None:
        return spec_of(self.game, code=False).digest

    @property
    def subject_label(self) -> str:
        """A name to tell mechanisms apart by."""
        return self.atk_know_gen.label

    # -- memory ------------------------------------------------------------------------------

    @property
    def _memory(self) -> "Memory":
        """Remembered releases and labels, by whether they are for training."""
        ledger = self._remembered()
        memory: dict[bool, Remembered] = {}
        for phase in PHASES:
            trials = [ledger.trial(phase, index) for index in ledger.indices(phase)]
            labels = [t.secrets[0] if len(t.secrets) == 1 else list(t.secrets) for t in trials]
            releases = [trial.release.data for trial in trials]
            memory[phase == "train"] = (releases, labels)
        return Memory(self, memory)

    @_memory.setter
    def _memory(self, memory: Mapping[bool, Remembered]) -> None:
        ledger = Ledger()
        for training, (releases, labels) in memory.items():
            phase: Phase = "train" if training else "test"
            for index, (release, label) in enumerate(zip(releases, labels, strict=True)):
                secrets = np.atleast_1d(np.asarray(label))
                group = self.atk_know_data.group_of(index)
                ledger.keep(Trial(phase, index, Release(release), secrets, group))
        self.remember_in(ledger)

    def _save(self, name: str) -> None:
        from tapas.threat_models._saving import save_threat_model

        save_threat_model(self, name)

    # -- judging -----------------------------------------------------------------------------

    def _summary(self, judged: Judgement, attack: AttackDoors) -> Any:
        if type(self)._wrap_output is LabelInferenceThreatModel._wrap_output and (
            self.game.goal.kind != "label"
        ):
            return super()._summary(judged, attack)
        scores = None if judged.scores is None else judged.scores[:, 0]
        return self._wrap_output(judged.board.secrets[:, 0], judged.decisions[:, 0], scores, attack)

    def _wrap_output(
        self,
        truth_labels: np.ndarray,
        pred_labels: np.ndarray,
        scores: np.ndarray | None,
        attack: AttackDoors,
    ) -> object:
        return truth_labels, pred_labels, scores
