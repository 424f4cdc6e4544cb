"""Play some trials of a run again, and see whether they come out the same to the bit."""

from collections import defaultdict
from dataclasses import dataclass
from os import PathLike

import numpy as np

from tapas._provenance import provenance
from tapas._validate import check_count
from tapas.audit._audit import Audit
from tapas.audit._run_folder import GAMES, SUBJECTS, stored_ledger, what_changed
from tapas.audit._subject_run import SubjectRun
from tapas.datasets import TabularDataset, pack_table
from tapas.engine import Snapshot, Store, Workers
from tapas.errors import StoreError
from tapas.game import PHASES, Game, Ledger, Phase, StoredLedger, TrialPolicy

__all__ = ["ReplayedTrial", "replay_run"]


@dataclass(frozen=True)
class ReplayedTrial:
    """A trial that was played again.

    Attributes
    ----------
    subject, phase, index
        Which one.
    compared : tuple of str
        What was stored of it and made again: secrets, data, what attacks observed, a failure.
    differing : tuple of str
        Those that came out otherwise.
    made_with : dict
        Versions that differ between then and now, as "then, now 1.2".
    """

    subject: str
    phase: str
    index: int
    compared: tuple[str, ...]
    differing: tuple[str, ...]
    made_with: dict[str, str]

    def __str__(self) -> str:
        words = f"{self.subject}, {self.phase} trial {self.index}: "
        if not self.differing:
            return words + f"the same ({', '.join(self.compared)})"
        versions = ", ".join(f"{name} {change}" for name, change in self.made_with.items())
        made = f"; it was played with {versions}" if versions else "; with the same versions"
        return words + f"{', '.join(self.differing)} came out otherwise{made}"


def replay_run(
    folder: str | PathLike[str],
    audit: Audit,
    number: int,
    *,
    seed: int | None = None,
    n_jobs: int | None = None,
    isolated: bool = False,
) -> list[ReplayedTrial]:
    """Play random trials of a run again and compare them with what its folder holds.

    The folder is not changed. This runs the mechanism and the attacks, as `Audit.run` does.

    Parameters
    ----------
    folder : path
        Of a run.
    audit : Audit
        The audit that was run.
    number : int
        How many trials; all of them where there are fewer.
    seed : int, optional
        Chooses the trials; unforeseeable by default.
    n_jobs, isolated
        As in `Audit.run`.
    """
    check_count(number, "number of trials to replay", minimum=1)
    with Snapshot(folder) as store:
        runs = [
            _recalled(audit, one, store, n_jobs, isolated) for one in range(len(audit.subjects))
        ]
        played = [
            (position, phase, index)
            for position, run in enumerate(runs)
            for phase in PHASES
            for index in sorted({*run.player.ledger.indices(phase), *_failed(run, phase)})
        ]
        if not played:
            raise StoreError(f"{folder} holds no trials of this audit{_why(audit, store)}")
        chance = np.random.default_rng(seed)
        chosen: dict[tuple[int, Phase], list[int]] = defaultdict(list)
        for one in chance.choice(len(played), min(number, len(played)), replace=False):
            chosen[played[one][:2]].append(played[one][2])
        return [
            trial
            for (position, phase), indices in sorted(chosen.items())
            for trial in _replayed(audit.subjects[position].label, runs[position], phase, indices)
        ]


def _recalled(
    audit: Audit, position: int, store: Store, n_jobs: int | None, isolated: bool
) -> SubjectRun:
    model = audit.subjects[position].threat_model
    return SubjectRun(
        model,
        audit.attacks,
        audit.num_train,
        audit.num_test,
        ledger=stored_ledger(store, _name(model.game, store), model.game),
        workers=Workers(n_jobs, None, isolated),
        policy=TrialPolicy(
            timeout=audit.timeout, keep_data=audit.keep_data, attack_timeout=audit.attack_timeout
        ),
    )


def _name(game: Game, store: Store) -> str:
    """The name under which trials of a game are kept; where it is in doubt, of one like it."""
    digest = game.spec.digest
    alike = [key.split("/")[1] for key in store.keys(f"{GAMES}/{digest}")]
    return next(reversed(alike), digest)


def _failed(run: SubjectRun, phase: Phase) -> list[int]:
    return list(run.player.ledger.failures(phase))


def _why(audit: Audit, store: Store) -> str:
    for position, subject in enumerate(audit.subjects):
        key = f"{SUBJECTS}/{position}"
        changed = what_changed(store, key, subject.threat_model.game.spec)
        if changed:
            return f": {subject.label} has changed since ({changed})"
    return ""


def _replayed(
    subject: str, run: SubjectRun, phase: Phase, indices: list[int]
) -> list[ReplayedTrial]:
    stored = run.player.ledger
    observers = {attack.label: one for attack, one in run.observers().items()}
    keys = {label: one.key for label, one in observers.items()}
    again = run.player.again(phase, indices, tuple(observers.values()))
    found = []
    for index in sorted(indices):
        then = _content(stored, phase, index, keys)
        now = _content(again, phase, index, keys)
        compared = tuple(what for what in then if what in now or "failure" in {*then, *now})
        differing = tuple(what for what in compared if then[what] != now.get(what))
        versions = _versions(stored, phase, index)
        found.append(ReplayedTrial(subject, phase, index, compared, differing, versions))
    return found


def _content(ledger: Ledger, phase: Phase, index: int, keys: dict[str, str]) -> dict[str, object]:
    """What there is of a trial, in a form that is equal where all bits are."""
    if index in ledger.failures(phase):
        return {"failure": ledger.failures(phase)[index]}
    trial = ledger.trial(phase, index)
    content: dict[str, object] = {"secrets": (trial.secrets.tolist(), int(trial.group))}
    if isinstance(trial.release.data, TabularDataset):
        arrays, notes = pack_table(trial.release.data.table)
        content["data"] = ({name: _bits(array) for name, array in arrays.items()}, notes)
    for label, key in keys.items():
        seen = ledger.observations(key, phase).get(index)
        if seen is not None:
            content[f"what {label} observed"] = _bits(seen)
    return content


def _bits(array: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def _versions(ledger: Ledger, phase: Phase, index: int) -> dict[str, str]:
    """Versions that are others now than when a trial was played."""
    if not isinstance(ledger, StoredLedger) or not ledger.has_trial(phase, index):
        return {}
    then, now = ledger.outline(phase, index).made_with, provenance()
    return {
        name: f"{was}, now {now.get(name)}" for name, was in then.items() if was != now.get(name)
    }
