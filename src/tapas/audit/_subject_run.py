"""Carry an audit out on one subject: play, learn once, score what is new at each look."""

import copy
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from tapas._spec import digest_of, spec_of
from tapas.audit._learning import Crash, LearningTask, learn_parts
from tapas.compat import (
    AttackDoors,
    GameThreatModel,
    TargetViews,
    hinted_by_failures,
    judged_by_failures,
    needs_of,
    told_by_failures,
    with_failures,
    without_failures,
)
from tapas.engine import Progress, TaskFailedError, Workers, guarded, log_failure, told
from tapas.errors import IncompatibleAttackError, MechanismError, StoreError, WorkersError
from tapas.game import (
    PHASES,
    Board,
    Judgement,
    LearnsEach,
    Ledger,
    Observer,
    Phase,
    Player,
    Scorer,
    TrialPolicy,
    Value,
    judge,
    learning_parts,
    refuse_unfit,
    scorer_about,
)
from tapas.metrics import column_aucs
from tapas.results import AttackCrash, LabelInferenceAttackSummary, ScoreTable, TrialFailure
from tapas.stats import look_share

_ALL = "all"
OF_THE_RUN = (MechanismError, StoreError, WorkersError)  # rather than of an attack
WORTH_TELLING = 20.0  # seconds after which somebody may be watching
GLIMPSES = (0.25, 0.5, 0.75)
GLIMPSED = 10  # targets, where each takes a scorer of its own
Summaries = dict[tuple[int, int], LabelInferenceAttackSummary]  # by target and attack


@dataclass
class Part:
    """What one attack learnt about the targets that it learns about together."""

    attack: AttackDoors
    observer: Observer
    scorer: Scorer
    targets: slice
    judged: list[Judgement] = field(default_factory=list)

    @property
    def num_judged(self) -> int:
        return sum(len(one.board) for one in self.judged)


class SubjectRun:
    """One subject of an audit, under way.

    Parameters
    ----------
    threat_model : GameThreatModel
        Not changed: a view of it runs as the audit wants.
    attacks : sequence of AttackDoors
    num_train, num_test : int or None
        None plays as many trials as the game has.
    ledger : Ledger
    workers : Workers
    policy : TrialPolicy
    tracker : type, optional
        Shows progress.
    """

    def __init__(
        self,
        threat_model: GameThreatModel,
        attacks: Sequence[AttackDoors],
        num_train: int | None,
        num_test: int | None,
        *,
        ledger: Ledger,
        workers: Workers,
        policy: TrialPolicy,
        tracker: Callable[..., Progress] | None = None,
    ) -> None:
        self.threat_model = copy.copy(threat_model)
        self.threat_model.remember_in(ledger)
        self.threat_model.workers = workers
        self.threat_model.policy = policy
        self.threat_model.iterator_tracker = tracker or threat_model.iterator_tracker
        self.attacks = tuple(attacks)
        self.crashes: list[AttackCrash] = []
        self.player: Player = self.threat_model.player()
        self.num_train = self._number("train", num_train)
        self.num_test = self._number("test", num_test)
        specs = sorted(digest_of(spec_of(attack).plain()) for attack in self.attacks)
        self._judges = digest_of([self.num_train, *specs])
        self.parts: list[Part] = []
        self._by_doors: list[AttackDoors] = []
        self._told: dict[int, Value] = {}  # targets that are judged by failures alone
        self._hinted: dict[int, Value] = {}  # and by attacks as well
        self._stop: tuple[Phase, int] | None = None
        self.num_seen = 0
        self._observers: dict[AttackDoors, Observer] = {}
        self._pace = 0.0  # seconds a trial
        self._began = time.monotonic()

    def _number(self, phase: Phase, asked: int | None) -> int:
        available = self.player.game.rounds(phase)
        wanted = self.threat_model.default_trials if asked is None else asked
        if available is None:
            return wanted or 0
        return available if wanted is None or available <= 1 else min(wanted, available)

    # -- learning ----------------------------------------------------------------------------

    def learn(self) -> None:
        """Play the training trials, and let every attack learn from them once."""
        self.player.place.refuse_what_makes_no_sense()
        self._observers = observers = self.observers()
        self._send_ahead()
        self._play("train", self.num_train, self._learning())
        self._send_ahead()
        self._told = told_by_failures(self.player, self.num_train)
        self._hinted = hinted_by_failures(self.player, self.num_train)
        for attack, observer in observers.items():
            if not self._has_crashed(attack):
                self._learn(attack, observer)

    def _learning(self) -> dict[AttackDoors, Observer]:
        """The observers of attacks that learn from training trials."""
        return {one: self._observers[one] for one in self._observers if one.needs.training}

    def _send_ahead(self) -> None:
        """Let other processes play all that is left, so that none waits while this one learns."""
        if self.player.ahead is not None or not self._observers:
            return
        looking = {one: look for one, look in self._observers.items() if not self._has_crashed(one)}
        learning = [look for one, look in looking.items() if one.needs.training]
        steps: dict[Phase, tuple[int, Sequence[Observer]]] = {
            "train": (self.num_train if learning else 0, learning),
            "test": (self.num_test, [*looking.values()]),
        }
        left = self.num_test - int(self.player.ledger.played("test", self.num_test).sum())
        self.player = self.player.sent_ahead(steps, self._pace * left)

    def close(self) -> None:
        """Give up trials that are under way and that nobody waits for."""
        ahead, self.player = self.player.ahead, replace(self.player, ahead=None)
        if ahead is not None:
            ahead.close()

    def observers(self) -> dict[AttackDoors, Observer]:
        """How each attack looks at releases; those that cannot look are noted as crashed."""
        found = {}
        for attack in self.attacks:
            try:
                refuse_unfit(needs_of(attack), attack.label, self.player.game.setting)
                if attack.writes_doors:
                    self._by_doors.append(attack)
                    continue
                with guarded(self.player.policy.attack_timeout):
                    found[attack] = self.player.observer(attack)
            except OF_THE_RUN:
                raise
            except Exception as error:
                self._note_crash(attack, _ALL, error)
        return found

    def _play(self, phase: Phase, count: int, observers: dict[AttackDoors, Observer]) -> None:
        """Play trials that all attacks observe; an attack that fails is left out."""
        if not observers:
            return
        begun, known = time.monotonic(), int(self.player.ledger.played(phase, count).sum())
        try:
            self.player.play(phase, count, tuple(observers.values()))
            if count > known and self.player.ahead is None:
                self._pace = (time.monotonic() - begun) / (count - known)
        except OF_THE_RUN:
            raise
        except Exception:
            for attack, observer in observers.items():
                try:
                    self.player.play(phase, count, (observer,))
                except OF_THE_RUN:
                    raise
                except Exception as error:
                    self._note_crash(attack, _ALL, error)

    def _learn(self, attack: AttackDoors, observer: Observer) -> None:
        game = self.player.game
        board = Board.empty(game.goal)
        if attack.needs.training:
            try:
                board = self.player.board(observer, "train", self.num_train)
            except IncompatibleAttackError as error:
                return self._note_crash(attack, _ALL, error)
        if self._told and attack.needs.training:
            return self._learn_untold(attack, observer, board)
        parts = learning_parts(attack, game)
        if len(parts) > 1 and self._learns_each(attack, observer, board):
            return
        self._learn_parts(attack, observer, board, parts)

    def _learn_untold(self, attack: AttackDoors, observer: Observer, board: Board) -> None:
        """Learn about the targets that failures do not tell."""
        number = len(self.player.game.target_labels)
        left = [target for target in range(number) if target not in self._told]
        if not attack.pools_targets:
            parts = [slice(target, target + 1) for target in left]
            return self._learn_parts(attack, observer, board, parts)
        if not left:
            return
        known, self.parts = self.parts, []
        self._learn_parts(attack, observer, board.of_targets(np.array(left)), [slice(None)])
        learnt, self.parts = self.parts, known
        for part in learnt:
            for place, target in enumerate(left):
                one = slice(place, place + 1)
                scorer = scorer_about(part.scorer, one)
                self.parts.append(Part(attack, observer, scorer, slice(target, target + 1)))

    def _learn_parts(
        self, attack: AttackDoors, observer: Observer, board: Board, parts: Sequence[slice]
    ) -> None:
        game = self.player.game
        limit = self.player.policy.attack_timeout
        task = LearningTask(attack, board, parts, game.fitting_rng(), limit)
        for targets, learnt in zip(parts, self._learnt(task), strict=True):
            if isinstance(learnt, Crash):
                self._note_crash(attack, self._name(targets), learnt.error, learnt.said)
            else:
                self.parts.append(Part(attack, observer, learnt, targets))

    def _learnt(self, task: LearningTask) -> list[Scorer | Crash]:
        try:
            return learn_parts(task, self.player.workers.n_jobs)
        except TaskFailedError as failure:
            raise (failure.__cause__ or failure) from None

    def _learns_each(self, attack: AttackDoors, observer: Observer, board: Board) -> bool:
        """Let an attack learn about all targets in one go, if it can; each may fail by itself."""
        scorer = None
        if isinstance(attack, LearnsEach):
            with suppress(Exception), guarded(self.player.policy.attack_timeout):
                scorer = attack.fit_each(board, rng=self.player.game.fitting_rng())
        if scorer is not None:
            self.parts.append(Part(attack, observer, scorer, slice(None)))
        return scorer is not None

    # -- judging -----------------------------------------------------------------------------

    def test(
        self, count: int, tell: Callable[[Sequence[str]], None] | None = None
    ) -> list[LabelInferenceAttackSummary]:
        """Play the first `count` test trials, score those that are new, and sum up.

        Of a run that takes long, `tell` is given what a quarter and more of the trials show. It
        changes nothing: which trials are played together does not change what they are.
        """
        self._send_ahead()
        observers = {part.attack: part.observer for part in self.parts}
        for share in GLIMPSES if tell is not None else ():
            if time.monotonic() - self._began > WORTH_TELLING and int(share * count):
                self._play("test", int(share * count), observers)
                if tell is not None:
                    # Who sees these may end the run: the trials that were planned are looked at.
                    self.player.ledger.look(count, self._judges)
                    tell(self._glimpse(int(share * count)))
        self._play("test", count, observers)
        if self._told or self._hinted:
            self.player.play("test", count)
        return self.judged(count)

    def _glimpse(self, count: int) -> list[str]:
        """The mean AUC of each attack over targets in the first trials, in words.

        Of an attack that learns about each target by itself, a few of them are looked at.
        """
        areas: dict[str, list[float]] = {part.attack.label: [] for part in self.parts}
        boards: dict[str, Board] = {}
        for part in self.parts:
            known, key = areas[part.attack.label], part.observer.key
            # What fails here fails again below.
            with suppress(Exception), guarded(self.player.policy.attack_timeout):
                if len(known) < GLIMPSED and key not in boards:
                    boards[key] = self.player.board(part.observer, "test", count)
                if len(known) < GLIMPSED:
                    board = boards[key].of_targets(part.targets)
                    found = column_aucs(part.scorer.score(board.values), board.secrets.astype(bool))
                    known.extend(found[~np.isnan(found)])
        return [
            f"After {count} test trials of {self.player.game.label}, {label} has a mean AUC of "
            f"{np.mean(found):.2f} (targets: {len(found)}); that is no verdict yet"
            for label, found in areas.items()
            if found and self.player.game.goal.kind == "membership"
        ]

    def judged_before(self, stop: MechanismError) -> list[LabelInferenceAttackSummary]:
        """Summaries of the test trials before the one that ended the run; no other is looked at."""
        in_test = stop.phase == "test"
        self._stop = ("test" if in_test else "train", stop.index or 0)
        self.close()
        self.threat_model.policy = replace(self.player.policy, max_failures=sys.maxsize)
        self.player = self.threat_model.player()
        return self.judged(stop.index) if in_test and stop.index else []

    def judged(self, count: int) -> list[LabelInferenceAttackSummary]:
        """Summaries of the first `count` test trials that were played."""
        self.num_seen = count
        found: Summaries = {}
        for position, attack in enumerate(self.attacks):
            parts = [part for part in self.parts if part.attack is attack]
            if parts and not self._has_crashed(attack):
                self._score(parts, position, count, found)
        for attack in self._by_doors:
            self._ask(attack, count, found)
        failed = any(index < count for index in self.player.ledger.failures("test"))
        for target, said in {**(self._hinted if failed else {}), **self._told}.items():
            found[target, len(self.attacks)] = judged_by_failures(self.player, count, target, said)
        return [found[key] for key in sorted(found)]

    def _score(self, parts: Sequence[Part], position: int, count: int, found: Summaries) -> None:
        """Let an attack judge what it has not judged yet; what was observed is read once."""
        boards: dict[int, Board] = {}
        game = self.player.game
        for part in parts:
            try:
                known = part.num_judged
                if known not in boards:
                    boards[known] = self.player.board(part.observer, "test", count, known)
                if len(boards[known]):
                    new = boards[known].of_targets(part.targets)
                    with guarded(self.player.policy.attack_timeout):
                        part.judged.append(judge(part.scorer, new))
                table = ScoreTable.of_game(game, part.attack.label, part.targets, part.judged)
                table = with_failures(table, self.player, count, part.targets)
                summaries = table.summaries()
            except OF_THE_RUN:
                raise
            except Exception as error:
                self._note_crash(part.attack, self._name(part.targets), error)
                continue
            first = part.targets.start or 0
            for number, summary in enumerate(summaries):
                found[first + number, position] = summary

    def _ask(
        self,
        attack: AttackDoors,
        count: int,
        found: dict[tuple[int, int], LabelInferenceAttackSummary],
    ) -> None:
        """Let an attack that writes the documented methods train and judge by them."""
        model = self.threat_model
        views = list(model) if isinstance(model, TargetViews) else [model]
        for number, view in enumerate(views):
            if number in self._told and attack.needs.training:
                continue
            try:
                with guarded(self.player.policy.attack_timeout):
                    attack.train(view, self.num_train)
                with guarded(self.player.policy.attack_timeout):
                    summary = view.test(attack, count)
                if isinstance(summary, LabelInferenceAttackSummary):
                    judged = without_failures(summary, self.player, count)
                    found[number, self.attacks.index(attack)] = judged
            except OF_THE_RUN:
                raise
            except Exception as error:
                self._note_crash(attack, self._name(slice(number, number + 1)), error)

    def seen(
        self, summaries: Sequence[LabelInferenceAttackSummary], share: float
    ) -> tuple[LabelInferenceAttackSummary, ...]:
        """The summaries with their share of the error of this run, and of those of earlier runs."""
        if not summaries:
            return ()
        self.player.ledger.look(self.num_seen, self._judges)
        return tuple(summary.sharing(share * self.look_share()) for summary in summaries)

    def look_share(self) -> float:
        """What part of the error a look at what was judged last may spend, after earlier runs."""
        return look_share(self.player.ledger.look_at(self.num_seen, self._judges))

    # -- what is left behind -----------------------------------------------------------------

    def failures(self) -> list[TrialFailure]:
        """Trials in which the mechanism failed."""
        return [
            TrialFailure(phase, index, message)
            for phase in PHASES
            for index, message in sorted(self.player.ledger.failures(phase).items())
            if self._counts(phase, index, stop=True)
        ]

    def played(self) -> dict[str, int]:
        """How many of the trials that are asked for were played, by phase."""
        return {
            phase: sum(self._counts(phase, i) for i in self.player.ledger.indices(phase))
            for phase in PHASES
        }

    def num_counted(self) -> dict[Phase, int]:
        """Up to which number trials count, by phase."""
        return {
            phase: 1 + max((i for i in ledger.indices(phase) if self._counts(phase, i)), default=-1)
            for ledger in [self.player.ledger]
            for phase in PHASES
        }

    def observer_keys(self) -> dict[str, str]:
        """Under what name the ledger has what each attack saw."""
        observers = {part.attack.label: part.observer for part in self.parts}
        return {label: observer.key for label, observer in observers.items()}

    def _counts(self, phase: Phase, index: int, *, stop: bool = False) -> bool:
        """Whether a trial is asked for and comes before the one that ended the run.

        With `stop`, that one counts too.
        """
        if index >= (self.num_train if phase == "train" else self.num_test):
            return False
        if self._stop is None:
            return True
        at, last = (PHASES.index(phase), index), (PHASES.index(self._stop[0]), self._stop[1])
        return at < last or (stop and at == last)

    def _name(self, targets: slice) -> str:
        names = self.player.game.target_labels[targets]
        return names[0] if len(names) == 1 else _ALL

    def _note_crash(
        self, attack: AttackDoors, target: str, error: Exception, said: str | None = None
    ) -> None:
        crash = AttackCrash(attack.label, target, said or told(error))
        log_failure(f"{attack.label} crashed on {target}", error)
        if crash not in self.crashes:
            self.crashes.append(crash)

    def _has_crashed(self, attack: AttackDoors) -> bool:
        return any(one.attack == attack.label and one.target == _ALL for one in self.crashes)
