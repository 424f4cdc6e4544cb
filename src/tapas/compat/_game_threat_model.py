"""The documented methods of a threat model, on top of any game."""

import logging
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd

from tapas._validate import check_choice, check_count
from tapas.compat._attack import AttackDoors, Trained, needs_of
from tapas.compat._failed_trials import counting_failures, refuse_told_by_failures
from tapas.compat._foreign_attack import AttackLike, as_attack
from tapas.compat._threat_model import TrainableThreatModel
from tapas.datasets import TabularDataset
from tapas.engine import Progress, Workers
from tapas.errors import (
    IncompatibleAttackError,
    NotTrainedError,
    TapasWarning,
    ThreatModelError,
)
from tapas.game import (
    Address,
    Board,
    Briefing,
    Game,
    Judgement,
    Ledger,
    Observer,
    Phase,
    Player,
    TableBriefing,
    Trial,
    TrialPolicy,
    fit_scorer,
    judge,
    refuse_unfit,
    scorer_about,
)
from tapas.results import AttackSummary, LabelInferenceAttackSummary, Leaves, ScoreTable
from tapas.stats import look_share

__all__ = ["GameThreatModel"]

_log = logging.getLogger(__name__)


class GameThreatModel(TrainableThreatModel):
    """A threat model that plays a game; trials are remembered and shared by all attacks.

    A subclass provides `game`.
    """

    # How many trials are played where nobody says; None is as many as are remembered.
    default_trials: int | None = None

    def __init__(
        self,
        *,
        memorise_datasets: bool = True,
        iterator_tracker: Callable[..., Progress] | None = None,
        num_concurrent: int = 1,
        n_jobs: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.memorise_datasets = memorise_datasets
        self.iterator_tracker = iterator_tracker
        self.num_concurrent = check_count(num_concurrent, "num_concurrent", minimum=1)
        self.workers = Workers(n_jobs, executor)
        self.policy = TrialPolicy()
        self._ledger = Ledger()

    @property
    @abstractmethod
    def game(self) -> Game:
        """What is played."""

    @property
    def seed(self) -> int:
        """Everything random follows from it."""
        return self.game.seed

    def ask_first(self, number: int) -> str | None:
        """Ask a model that exists about a few records, which fails where attacks would fail.

        Nothing here; what is returned should be known before attacks run.
        """
        return None

    @property
    def subject_label(self) -> str:
        """A name to tell what is attacked apart by."""
        return self.game.label

    @property
    def _targets(self) -> slice:
        """Which targets this threat model, or this view of it, is about."""
        return slice(None)

    @property
    def _is_about_one(self) -> bool:
        return len(range(*self._targets.indices(self.game.briefing("test").num_targets))) == 1

    # -- trials ------------------------------------------------------------------------------

    def draw_trial(self, phase: Phase, index: int) -> Trial:
        """Play one trial (again): a pure function of the threat model, its seed and the address.

        Parameters
        ----------
        phase : {"train", "test"}
        index : int
        """
        check_choice(phase, "phase", ("train", "test"))
        game, wanted = self.game, check_count(index, "index")
        at_once, last = game.trials_at_once(phase), game.rounds(phase)
        first = wanted - wanted % at_once
        stop = first + at_once if last is None else min(first + at_once, last)
        if wanted >= stop:
            raise ThreatModelError(f"there are {last} {phase} trials, and no trial {wanted}")
        addresses = [Address(game.seed, phase, number) for number in range(first, stop)]
        return game.play(addresses)[wanted - first]

    def generate_training_samples(
        self, num_samples: int | None = None, ignore_memory: bool = False
    ) -> tuple[list[object], list[object]]:
        """Simulated releases and their secrets: exactly `num_samples`, or all remembered ones."""
        return self._generate_samples(num_samples, True, ignore_memory)

    def _generate_samples(
        self, num_samples: int | None = None, training: bool = True, ignore_memory: bool = False
    ) -> tuple[list[object], list[object]]:
        if self.game.setting.test == 1:
            raise IncompatibleAttackError(
                "there is only one release, which exists already, and no others can be simulated: "
                "use an attack that observes it, such as ClosestDistanceMIA or LossMIA"
            )
        trials = self._trials(num_samples, training, ignore_memory)
        return [_handed_out(trial) for trial in trials], [self._secret(trial) for trial in trials]

    def _secret(self, trial: Trial) -> object:
        chosen = trial.secrets[self._targets]
        return chosen[0] if len(chosen) == 1 else list(chosen)

    def _trials(
        self, num_samples: int | None, training: bool, ignore_memory: bool = False
    ) -> list[Trial]:
        phase: Phase = "train" if training else "test"
        player = self.player(ignore_memory)
        return player.trials(phase, self._count(phase, num_samples, player.ledger))

    def _count(self, phase: Phase, num_samples: int | None, ledger: Ledger) -> int:
        """How many trials are meant: those asked for, or all that there are."""
        available = self.game.rounds(phase)
        if available is not None:
            return self._limited(phase, available, num_samples)
        if num_samples is not None:
            return check_count(num_samples, "num_samples")
        if self.default_trials is not None:
            return self.default_trials
        remembered = len(ledger.indices(phase))
        if remembered == 0:
            warnings.warn(
                f"no {phase} trials are remembered and num_samples is None: there is nothing to "
                f"use. Give num_samples.",
                TapasWarning,
                stacklevel=5,
            )
        return remembered

    def _limited(self, phase: Phase, available: int, num_samples: int | None) -> int:
        if num_samples is None or self.game.setting.test == 1 == available:
            return available
        if available == 0:
            return check_count(num_samples, "num_samples")  # the game says why it cannot be had
        models = self.game.setting.release == "model"
        number = check_count(num_samples, "num_samples", minimum=2 if models else 0)
        if number > available:
            more = f"num_shadows={number}" if models else "releases"
            raise ThreatModelError(
                f"{number} {phase} trials were asked for, but there are {available}: ask for "
                f"fewer, or make the threat model with more ({more})"
            )
        return number

    def player(self, ignore_memory: bool = False) -> Player:
        """Plays the game on what is remembered, or afresh."""
        player = Player(
            game=self.game,
            ledger=self._remembered(),
            workers=self.workers,
            policy=self.policy,
            tracker=self.iterator_tracker,
            num_concurrent=self.num_concurrent,
        )
        if self.memorise_datasets and not ignore_memory:
            return player
        fresh = Ledger()
        fresh.probed = player.ledger.probed
        return replace(player, ledger=fresh, round=player.ledger.next_round())

    def remember_in(self, ledger: Ledger) -> None:
        """Use this ledger from now on."""
        self._ledger, ledger.made_of = ledger, self._made_of()
        self.memorise_datasets = True

    def unplayed(self) -> Ledger:
        """A ledger for the trials of this threat model, which are the same in whichever it is."""
        return self._remembered().anew()

    def _remembered(self) -> Ledger:
        """The ledger; a new one where the game has become another since it was used last."""
        digest = self._made_of()
        if self._ledger.made_of not in (None, digest):
            _log.warning(
                "the threat model has changed since its trials were played: they are played again"
            )
            self._ledger = Ledger()
        self._ledger.made_of = digest
        return self._ledger

    def _made_of(self) -> str | None:
        """What tells whether this very object has changed; None where it cannot."""
        return None

    # -- attacks -----------------------------------------------------------------------------

    def briefing(self, *, all_targets: bool = False) -> Briefing:
        """What an attack is told: about the current target, or about all of them."""
        briefing = self.game.briefing("test")
        if all_targets or not isinstance(briefing, TableBriefing):
            return briefing
        chosen = range(*self._targets.indices(briefing.num_targets))
        return briefing if len(chosen) == briefing.num_targets else briefing.only(chosen)

    def check(self, attack: AttackDoors) -> None:
        """Refuse an attack that this setting does not allow, and say which would fit."""
        refuse_unfit(needs_of(attack), attack.label, self.game.setting)

    def observe(
        self,
        attack: AttackDoors,
        num_samples: int | None = None,
        *,
        training: bool = True,
        ignore_memory: bool = False,
        all_targets: bool = False,
    ) -> Board:
        """Let an attack observe releases where they are made; only observations are collected.

        All targets are observed together and remembered, so that the views of several targets do
        the work once. An observation whose second axis has length 1 is the same for all targets.
        """
        self.check(attack)
        player = self.player(ignore_memory)
        phase: Phase = "train" if training else "test"
        board = self._observed(player, player.observer(attack), phase, num_samples)
        return board.of_targets(self._targets) if len(board) and not all_targets else board

    def _observed(
        self, player: Player, observer: Observer, phase: Phase, num_samples: int | None
    ) -> Board:
        return player.board(observer, phase, self._count(phase, num_samples, player.ledger))

    def trained(self, attack: AttackDoors, num_samples: int | None) -> Trained:
        """Let an attack observe and learn."""
        self.check(attack)
        player = self.player()
        observer = player.observer(attack) if attack.observes else None
        mine = self._targets  # of those that the scorer is about
        if not attack.needs.training:
            board = Board.empty(self.game.goal)
        elif attack.learns_from_own_scores:
            # A door may ask the one that it overrides, which shows what is observed.
            attack._trained = Trained(self.briefing(), observer, _AsSeen(), self._is_about_one)
            board = self.scored_samples(attack, num_samples, training=True)
        else:
            player = player if self.memorise_datasets else self.player()
            seen = player.observer(attack) if observer is None else observer
            board = self._observed(player, seen, "train", num_samples)
            if len(board) and not attack.pools_targets:
                board, mine = board.of_targets(self._targets), slice(None)
        if attack.needs.training:
            learnt = slice(None) if attack.pools_targets else self._targets
            refuse_told_by_failures(player, learnt, attack.label)
        scorer = scorer_about(fit_scorer(attack, board, self.game), mine)
        return Trained(self.briefing(), observer, scorer, self._is_about_one)

    def scored_samples(
        self, attack: AttackDoors, num_samples: int | None, *, training: bool
    ) -> Board:
        """Let an attack score releases by its own documented method."""
        trials = self._trials(num_samples, training)
        scores = attack.attack_score([_handed_out(trial) for trial in trials])
        if scores is None:
            raise IncompatibleAttackError(f"{attack.label} neither observes nor scores releases")
        return self._board(trials, np.asarray(scores)[:, None])

    def _board(self, trials: list[Trial], values: np.ndarray) -> Board:
        secrets = np.stack([trial.secrets for trial in trials])[:, self._targets]
        groups = np.array([trial.group for trial in trials], dtype=int)
        return Board(values, secrets, groups, self.game.goal, np.ones(secrets.shape[1], dtype=bool))

    def judged_records(self) -> pd.DataFrame | None:
        """Who is judged, one row per entry of a summary; None where targets are named."""
        return None

    def turned(self) -> Self | None:
        """The same game where known records are judged, and judged ones known.

        None where nobody is known, or where it would take models trained anew.
        """
        return None

    def judged_values(self) -> pd.DataFrame | None:
        """What the judged records hold, in the order of `judged_records`; None where none are."""
        return None

    def performance(self, subgroups: Sequence[str] = ()) -> pd.DataFrame | None:
        """How well a model does on what it was trained on and on the rest; None for no model."""
        return None

    @property
    def inputs_are_known(self) -> bool:
        """Whether what the inputs alone tell is read off inputs, and not off classes only."""
        return True

    @property
    def right_when(self) -> str:
        """What being right means, where a model does not predict one class; empty where it does."""
        return ""

    def leaves(self) -> Leaves | None:
        """What the leaves of a model hold of its training records; None where it shows no trees."""
        return None

    def nearest_released(self, positions: Sequence[int]) -> pd.DataFrame | None:
        """For judged records the nearest released one, and the columns on which they agree."""
        return None

    def queries(self, attack: AttackDoors) -> int:
        """How many records an attack has asked a model that exists already about."""
        player = self.player()
        return player.queries(player.observer(attack))

    # -- judging -----------------------------------------------------------------------------

    def test(
        self,
        attack: AttackLike,
        num_samples: int | None = None,
        ignore_memory: bool = False,
    ) -> AttackSummary:
        """Play test trials against a trained attack; every release is scored exactly once.

        Returns
        -------
        AttackSummary
            Of the target, or of all judged records where they share one release.
        """
        asked = as_attack(attack)
        player = self.player(ignore_memory)
        by_doors = asked.writes_doors or (asked._trained is None and asked.needs.training)
        judge_by = self._judged_by_doors if by_doors else self._judged
        judged = judge_by(asked, num_samples, player)
        summary: AttackSummary = self._summary(judged, asked)
        if isinstance(summary, LabelInferenceAttackSummary):
            count = len(player.ledger.indices("test")) if num_samples is None else num_samples
            table = None if by_doors else self._table(judged, asked)
            summary = counting_failures(summary, table, player, count, self._targets)
        are_fresh = ignore_memory or not self.memorise_datasets
        if are_fresh or not isinstance(summary, LabelInferenceAttackSummary):
            return summary
        return summary.sharing(look_share(self._ledger.look(len(judged.board))))

    def _judged(self, attack: AttackDoors, num_samples: int | None, player: Player) -> Judgement:
        trained = attack._trained or self.trained(attack, None)
        if trained.observer is None:
            raise NotTrainedError(f"{attack.label} does not observe releases")
        board = self._observed(player, trained.observer, "test", num_samples)
        _refuse_nothing(len(board))
        return judge(trained.scorer, board.of_targets(self._targets))

    def _judged_by_doors(
        self, attack: AttackDoors, num_samples: int | None, player: Player
    ) -> Judgement:
        self.check(attack)
        if attack.briefing is None:
            attack.briefing = self.briefing()  # trained by other means than train()
        trials = player.trials("test", self._count("test", num_samples, player.ledger))
        _refuse_nothing(len(trials))
        releases = [_handed_out(trial) for trial in trials]
        scores = attack.attack_score(releases)
        if scores is None or attack.decides_by_door:
            decisions = np.asarray(attack.attack(releases))[:, None]
        else:
            learnt = attack._require_trained().scorer
            decisions = np.asarray(learnt.decide(np.asarray(scores)[:, None]))
        values = np.empty((len(trials), 1)) if scores is None else np.asarray(scores)[:, None]
        return Judgement(self._board(trials, values), None if scores is None else values, decisions)

    def _summary(self, judged: Judgement, attack: AttackDoors) -> Any:
        """An AttackSummary; a user's subclass may wrap results as it likes."""
        return self._table(judged, attack).summaries()[0]

    def _table(self, judged: Judgement, attack: AttackDoors) -> ScoreTable:
        return ScoreTable.of_game(self.game, attack.label, self._targets, [judged])


def _refuse_nothing(number: int) -> None:
    if number == 0:
        raise ThreatModelError("there are no test trials to judge the attack by: give num_samples")


class _AsSeen:
    """What is observed is the score; nothing is decided yet."""

    def score(self, values: np.ndarray) -> np.ndarray:
        return values

    def decide(self, scores: np.ndarray) -> np.ndarray:
        raise NotTrainedError("nothing was learnt yet to decide by")


def _handed_out(trial: Trial) -> object:
    """What the doors give: a copy of the data, or the whole release where it is more than data."""
    release = trial.release
    if release.mechanism is not None or release.identifiers is not None:
        return release
    data = release.data
    return data.copy() if isinstance(data, TabularDataset) else data
