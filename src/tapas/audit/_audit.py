"""An audit: subjects x attacks x sizes."""

import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from os import PathLike
from typing import TypeAlias

from tapas._files import seen_from_here
from tapas._provenance import provenance
from tapas._spec import Plain, digest_of, spec_of
from tapas._validate import check_count
from tapas.audit._about_subject import Judged, about_subject
from tapas.audit._check import CheckReport, check_names, check_subject
from tapas.audit._default_attacks import default_attacks
from tapas.audit._evidence import EVIDENCE, evidence_of
from tapas.audit._forecast import Forecast
from tapas.audit._run_folder import RunFolder, now
from tapas.audit._run_progress import RunProgress
from tapas.audit._stopping import Stop, StopEarly, tested_until
from tapas.audit._subject import Subject
from tapas.audit._subject_run import SubjectRun
from tapas.audit._time_to_learn import TimesToLearn
from tapas.audit._undecidable_gates import one_sided_gates, undecidable_gates
from tapas.compat import AttackDoors, GameThreatModel, as_attack
from tapas.engine import Progress, Workers, log_failure
from tapas.errors import ConfigError, MechanismError, TapasWarning
from tapas.game import PHASES, Game, Phase, TrialPolicy
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Claim,
    Gate,
    LabelInferenceAttackSummary,
    constant_scores,
    refuse_idle,
)

LONGEST_NAME = 1000  # characters of what pages show again and again

Outcome: TypeAlias = tuple[AuditedSubject, Stop | None, bool, dict[str, Plain] | None]


@dataclass(frozen=True, eq=False)
class Audit:
    """Attack every subject with every attack.

    Parameters
    ----------
    threat_model : threat model, Subject, or a sequence of them
        About generators, models, files or properties: all are played alike.
    attacks : sequence of Attack, optional
        By default those that fit: against generators the documented ones (closest distance,
        Groundhog) and the strongest (`EnsembleAttack`).
    num_train, num_test : int, optional
        Trials for training attacks and for judging them. A model or a release that exists is
        one trial, and shadow models are as many as the threat model has: there, neither is
        needed.
    title : str
    claim : Claim, optional
        An (epsilon, delta) that the mechanism is said to guarantee.
    gates : sequence of Gate
        Limits that decide whether a release may go ahead.
    stop_early : StopEarly, optional
        For one audited subject: stop playing test trials when enough is known; controls play as
        many. By default as soon as the claim, if there is one, is contradicted
        (`StopEarly.on_contradiction`); ``StopEarly()`` plays all.
    max_failures : int
        How many failing trials are recorded, as outcomes that the attacker sees, before the run
        stops.
    timeout : float, optional
        Seconds after which one run of the mechanism counts as failed.
    attack_timeout : float, optional
        Seconds for an attack to set itself up, to look at one release, to learn, or to judge; one
        that takes longer has crashed. Trials that it asks for are not counted.
    keep_data : bool, optional
        Whether released tables are kept in the store beside what attacks observed; by default
        where they are small or were slow to make.
    subgroups : sequence of str
        Columns by whose values the judged records of a release or model are told apart.
    show_values : bool
        Whether values of the most exposed records may be kept and shown.
    exposure_map : bool, optional
        Whether every record that private data is drawn from is judged, not the targets alone; by
        default as many of them as takes seconds, where all releases but a tenth were kept. If true,
        trials whose releases were not kept are played again.
    question : mapping, optional
        The audit as its author wrote it; described from the objects by default.
    source : str, optional
        The audit file, as seen from the current folder, for the commands that pages advise.
    changes : sequence of str
        What is otherwise than in that file, as `load_audit` takes it.
    """

    threat_model: GameThreatModel | Subject | Sequence[GameThreatModel | Subject]
    attacks: Sequence[AttackDoors] = ()
    num_train: int | None = None
    num_test: int | None = None
    title: str = "Privacy audit"
    claim: Claim | None = None
    gates: Sequence[Gate] = ()
    stop_early: StopEarly | None = None
    max_failures: int = 0
    timeout: float | None = None
    attack_timeout: float | None = None
    keep_data: bool | None = None
    subgroups: Sequence[str] = ()
    show_values: bool = False
    exposure_map: bool | None = None
    question: Mapping[str, Plain] | None = None
    source: str | None = None
    changes: Sequence[str] = ()
    subjects: tuple[Subject, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = self.threat_model
        several = [given] if isinstance(given, (GameThreatModel, Subject)) else list(given)
        subjects = tuple(s if isinstance(s, Subject) else Subject(s) for s in several)
        if not subjects:
            raise ConfigError("an audit needs at least one threat model")
        object.__setattr__(self, "subjects", subjects)
        object.__setattr__(self, "attacks", self._named_attacks())
        for key, number, least in (
            ("num_train", self.num_train, 0),
            ("num_test", self.num_test, 1),
        ):
            if number is not None:
                check_count(number, key, minimum=least)
        check_count(self.max_failures, "max_failures")
        audited = [one for one in subjects if one.role == "audited"]
        if self.stop_early is not None and not self.stop_early.never and len(audited) > 1:
            raise ConfigError("stop_early is for audits of one subject, and its controls")
        labels = [*(one.label for one in subjects), *(one.label for one in self.attacks)]
        for name in (self.title, *labels):
            if len(name) > LONGEST_NAME:
                raise ConfigError(
                    f"the name {name[:40]!r}... has {len(name)} characters: give one of at most "
                    f"{LONGEST_NAME}"
                )
        for gate in self.gates:
            refuse_idle(gate)
        self._check_numbers()

    def _named_attacks(self) -> tuple[AttackDoors, ...]:
        if not self.attacks:
            settings = (one.threat_model.game.setting for one in self.subjects)
            return default_attacks(*settings, num_train=self.num_train)
        return tuple(as_attack(attack) for attack in self.attacks)

    def _check_numbers(self) -> None:
        for subject in self.subjects:
            model = subject.threat_model
            open_ended = model.game.rounds("test") is None and model.default_trials is None
            if open_ended and self.num_test is None:
                raise ConfigError(f"{subject.label}: give num_test, the number of test trials")

    def stopping(self) -> StopEarly | None:
        """When trials end before all are played, if they may."""
        if self.stop_early is not None:
            return None if self.stop_early.never else self.stop_early
        audited = [one.threat_model.game for one in self.subjects if one.role == "audited"]
        if self.claim is None or len(audited) != 1 or not audited[0].goal.is_binary:
            return None
        stop = StopEarly.on_contradiction(self.claim)
        return stop if self._planned(audited[0], "test") > stop.every else None

    # -- before ------------------------------------------------------------------------------

    def check(self) -> CheckReport:
        """Report every incompatibility; plays one trial of each phase per generator.

        Short ones are played a few times more, for their time, and attacks learn from trials that
        are made up like them.
        A model that exists is asked about two records, which count as queries.
        """
        problems = check_names([attack.label for attack in self.attacks], "attack")
        problems += check_names([subject.label for subject in self.subjects], "subject")
        problems += undecidable_gates(self.gates, self.subjects)
        told: set[str] = set()
        cautions = one_sided_gates(self.gates)
        times, reports = TimesToLearn(self.attack_timeout), []
        for subject in self.subjects:
            found = check_subject(
                subject.threat_model,
                self.attacks,
                self.num_train,
                times,
                self.timeout,
                self.attack_timeout,
            )
            new = [problem for problem in found.problems if problem not in told]
            told.update(new)
            problems += [f"{subject.label}: {problem}" for problem in new]
            cautions += [f"{subject.label}: {caution}" for caution in found.cautions]
            reports.append(found)
        return CheckReport(tuple(problems), tuple(cautions), None).timed_like(reports)

    def num_trials(self) -> int:
        """How many trials a run plays that are not there already."""
        games = [subject.threat_model.game for subject in self.subjects]
        return sum(self._planned(game, phase) for game in games for phase in PHASES)

    def forecast(self, checked: CheckReport | None = None) -> Forecast:
        """How many fits, CPU hours and error bars to expect; plays what `check` does, or takes it.

        Trials that are in a run folder already count as if they were not.
        """
        found = checked or self.check()
        game = max(
            (subject.threat_model.game for subject in self.subjects),
            key=lambda game: game.briefing("test").num_targets,
        )
        played = game.rounds("test")
        scores = self.num_judged() if played == 1 else self._planned(game, "test")
        stopping, planned = self.stopping(), self._planned(game, "test")
        share = 1.0 if stopping is None else stopping.share_of_look(planned, planned)
        results = max(1, self._num_results())
        return Forecast.of(self._num_fits(), found, game, scores, results, share)

    def _num_results(self) -> int:
        """Attacks times targets of what is audited; of one release, or coins, all are one."""
        games = [one.threat_model.game for one in self.subjects if one.role == "audited"]
        several = [
            game for game in games if not game.setting.coins and self._planned(game, "test") != 1
        ]
        targets = sum(game.briefing("test").num_targets for game in several)
        return len(self.attacks) * (targets + len(games) - len(several))

    def _num_fits(self) -> int:
        games = [subject.threat_model.game for subject in self.subjects]
        phases = [(game, phase) for game in games for phase in PHASES if game.rounds(phase) != 1]
        return sum(self._planned(game, phase) for game, phase in phases)

    def _planned(self, game: Game, phase: Phase) -> int:
        available = game.rounds(phase)
        asked = self.num_train if phase == "train" else self.num_test
        return (asked or 0) if available is None else available

    def num_judged(self) -> int:
        """How many targets or records are judged, of the subject that has most."""
        return max(one.threat_model.game.briefing("test").num_targets for one in self.subjects)

    def asked(self) -> dict[str, Plain]:
        """The question as plain values."""
        if self.question is not None:
            return json.loads(json.dumps(dict(self.question)))
        return {
            "title": self.title,
            "subjects": [
                {
                    "name": s.label,
                    "role": s.role,
                    "setting": spec_of(s.threat_model.game.setting).plain(),
                    "threat_model": s.threat_model.game.spec.plain(),
                }
                for s in self.subjects
            ],
            "attacks": [
                {"label": attack.label, **spec_of(attack).plain()} for attack in self.attacks
            ],
            "num_train": self.num_train,
            "num_test": self.num_test,
            "claim": None if self.claim is None else spec_of(self.claim).plain(),
            "gates": [spec_of(gate).plain() for gate in self.gates],
            "max_failures": self.max_failures,
            "timeout": self.timeout,
            "attack_timeout": self.attack_timeout,
            "show_values": self.show_values,
            "exposure_map": self.exposure_map,
        }

    # -- the run -----------------------------------------------------------------------------

    def run(
        self,
        store: str | PathLike[str] | None = None,
        executor: Executor | None = None,
        progress: Callable[..., Progress] | None = None,
        *,
        n_jobs: int | None = None,
        isolated: bool = False,
    ) -> AuditRecord:
        """Play all trials, judge all attacks; warns first of gates that no run can decide.

        Parameters
        ----------
        store : path, optional
            A folder. Trials of the same game that are there are not played again: a run that was
            killed goes on where it was, with the same result, and more attacks or more trials
            add to it.
        executor : concurrent.futures.Executor, optional
            Where trials run, shadow models among them; local processes by default.
        progress : type, optional
            Built with ``total=``; a bar on a terminal by default.
        n_jobs : int, optional
            Number of local processes.
        isolated : bool
            No trial runs in this process, so that one which ends it is lost alone; so it is
            anyway where there are several processes, or a time limit.
        """
        self._warn_of_undecidable_gates()
        start = time.perf_counter()
        asked, workers = self.asked(), Workers(n_jobs, executor, isolated)
        with nullcontext() if store is None else RunFolder(store) as folder:
            counted = None
            if folder is not None:
                folder.begin(asked)
                counted = RunProgress(folder.folder, self.num_trials(), progress)
            outcomes = self._all_carried_out(folder, workers, counted or progress)
            record = AuditRecord(
                title=self.title,
                question=asked,
                fingerprint=digest_of(asked),
                seed=self.subjects[0].threat_model.seed,
                subjects=tuple(outcome for outcome, *_ in outcomes),
                claim=self.claim,
                gates=tuple(self.gates),
                provenance={
                    **provenance(),
                    **({} if self.source is None else {"audit_file": self.source}),
                    **({"set": list(self.changes)} if self.changes else {}),
                    **({} if store is None else {"folder": seen_from_here(store)}),
                    "finished": now(),
                    "seconds": round(time.perf_counter() - start, 3),
                    EVIDENCE: [evidence for *_, evidence in outcomes if evidence is not None],
                },
                stopped="; ".join(stop.words for _, stop, *_ in outcomes if stop) or None,
                contradicted=self.claim is not None
                and self.claim in [stop.contradicts for _, stop, *_ in outcomes if stop],
                complete=all(complete for _, _, complete, _ in outcomes),
            )
            for caution in constant_scores(record):
                warnings.warn(caution, TapasWarning, stacklevel=2)
            if folder is not None:
                folder.finish(record)
            if counted is not None:
                counted.end()
        return record

    def _warn_of_undecidable_gates(self) -> None:
        """What `check` refuses can be run, for all that is not limited; who waits should know."""
        found = undecidable_gates(self.gates, self.subjects)
        if found:
            warnings.warn(
                f"whatever is found, this audit ends without a pass: {'; '.join(found)}",
                TapasWarning,
                stacklevel=3,
            )

    def _all_carried_out(
        self,
        folder: RunFolder | None,
        workers: Workers,
        progress: Callable[..., Progress] | None,
    ) -> list[Outcome]:
        """Of each subject in order; controls last, with as many test trials as were judged."""
        found: dict[int, Outcome] = {}
        most = self.num_test
        order = sorted(range(len(self.subjects)), key=lambda n: self.subjects[n].role == "control")
        for number in order:
            found[number] = self._carried_out(number, most, folder, workers, progress)
            stop = found[number][1]
            if stop is not None and stop.judged is not None:
                most = stop.judged
        return [found[number] for number in range(len(found))]

    def _carried_out(
        self,
        number: int,
        num_test: int | None,
        folder: RunFolder | None,
        workers: Workers,
        progress: Callable[..., Progress] | None,
    ) -> Outcome:
        subject = self.subjects[number]
        model = subject.threat_model
        if folder is not None:
            folder.note_attacks(number, subject.label, self.attacks)
        run = SubjectRun(
            model,
            self.attacks,
            self.num_train,
            num_test,
            ledger=model.unplayed()
            if folder is None
            else folder.ledger(number, subject.label, model.game),
            workers=workers,
            policy=TrialPolicy(
                self.max_failures, self.timeout, self.keep_data, self.attack_timeout
            ),
            tracker=progress,
        )
        tell = progress.tell if isinstance(progress, RunProgress) else None
        stopping = self.stopping() if subject.role == "audited" else None
        asked = run.num_test
        with closing(run):
            summaries, stopped, complete = _judged(run, stopping, tell)
        share = 1.0 if stopping is None else stopping.share_of_look(run.num_seen, asked)
        judged = Judged(subject, run, tuple(summaries), complete, share)
        told = about_subject(judged, self.subgroups, self.show_values, self.exposure_map)
        return told, stopped, complete, evidence_of(subject.label, run)


def _judged(
    run: SubjectRun, stopping: StopEarly | None, tell: Callable[[Sequence[str]], None] | None
) -> tuple[list[LabelInferenceAttackSummary], Stop | None, bool]:
    """Summaries, why playing ended early if it did, and whether the run is complete."""
    try:
        run.learn()
        if stopping is None:
            return run.test(run.num_test, tell), None, True
        return (*tested_until(run, stopping), True)
    except MechanismError as error:
        log_failure(error.shared, error)
        return run.judged_before(error), Stop(error.shared), False
