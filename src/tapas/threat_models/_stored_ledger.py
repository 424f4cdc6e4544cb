"""A ledger on disk: a run that is killed goes on where it was."""

import logging
from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np

from tapas.datasets import DataDescription, TabularDataset
from tapas.datasets._npz import pack_table, unpack_table
from tapas.engine import Entry, Store
from tapas.errors import StoreError
from tapas.threat_models._ledger import Ledger
from tapas.threat_models._trials import Phase, Release, Trial

_log = logging.getLogger(__name__)


class StoredLedger(Ledger):
    """Keeps every trial in a store as soon as it is played.

    Secrets and observations are also held in memory; released data only on disk, and only if
    wanted. An entry that is damaged is dropped, and its trial is played again.

    Parameters
    ----------
    store : Store
    prefix : str
        Begins the names of all entries of this threat model.
    names : mapping
        A lasting name for each observation key.
    description : DataDescription
        Of the released data.
    """

    def __init__(
        self,
        store: Store,
        prefix: str,
        names: Mapping[Hashable, str],
        description: DataDescription,
    ) -> None:
        super().__init__()
        self._store = store
        self._prefix = prefix
        self._names = dict(names)
        self._description = description
        self._with_data: set[tuple[Phase, int]] = set()
        for key in list(store.keys(f"{prefix}/")):
            self._recall(key)

    def has_data(self, phase: Phase, index: int) -> bool:
        """Whether the data released in the trial is on disk."""
        return (phase, index) in self._with_data and self.has_trial(phase, index)

    def trial(self, phase: Phase, index: int) -> Trial:
        """The trial, with its data where that is on disk and whole."""
        trial = super().trial(phase, index)
        if not self.has_data(phase, index):
            return trial
        key = self._key(phase, index, "data")
        try:
            entry = self._store.load(key)
            table = unpack_table(entry.arrays, entry.notes, self._description.parsed)
        except (StoreError, KeyError) as error:
            self._drop(key, error)
            self._with_data.discard((phase, index))
            return trial
        return replace(trial, release=Release(TabularDataset.from_table(table, self._description)))

    def keep(self, trial: Trial, observations: Mapping[Hashable, np.ndarray] | None = None) -> None:
        """Write a trial, and what attacks observed in it."""
        data = trial.release.data
        if isinstance(data, TabularDataset) and not self.has_data(trial.phase, trial.index):
            self._store.save(
                self._key(trial.phase, trial.index, "data"), Entry(*pack_table(data.table))
            )
            self._with_data.add((trial.phase, trial.index))
        seen = {self._names[key]: value for key, value in (observations or {}).items()}
        part = "+".join(seen) or "trial"
        notes = {"group": int(trial.group), "secrets": trial.secrets.tolist()}
        self._store.save(self._key(trial.phase, trial.index, part), Entry(seen, notes))
        super().keep(replace(trial, release=Release(None)), observations)

    def keep_failure(self, phase: Phase, index: int, message: str) -> None:
        """Write that the mechanism failed."""
        self._store.save(self._key(phase, index, "failure"), Entry(notes={"message": message}))
        super().keep_failure(phase, index, message)

    def _key(self, phase: Phase, index: int, part: str) -> str:
        return f"{self._prefix}/{phase}/{index:06d}/{part}"

    def _recall(self, key: str) -> None:
        phase_text, number, part = key.removeprefix(f"{self._prefix}/").split("/", 2)
        phase: Phase = "train" if phase_text == "train" else "test"
        index = int(number)
        if part == "data":
            self._with_data.add((phase, index))
            return
        try:
            entry = self._store.load(key)
            if part == "failure":
                self._failures[phase][index] = str(entry.notes["message"])
                return
            secrets, group = np.array(entry.notes["secrets"]), int(entry.notes["group"])
        except (StoreError, KeyError) as error:
            self._drop(key, error)
            return
        keys = {name: observation_key for observation_key, name in self._names.items()}
        seen = {keys[name]: value for name, value in entry.arrays.items() if name in keys}
        super().keep(Trial(phase, index, Release(None), secrets, group), seen)

    def _drop(self, key: str, error: Exception) -> None:
        _log.warning("%s; the trial is played again", error)
        self._store.discard(key)
