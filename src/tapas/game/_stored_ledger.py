"""A ledger on disk: a run that is killed goes on where it was."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tapas._spec import digest_of
from tapas.datasets import DataDescription, TabularDataset, pack_table, unpack_table
from tapas.engine import Entry, Store
from tapas.errors import StoreError
from tapas.game._address import Phase
from tapas.game._goal import Value
from tapas.game._ledger import Ledger
from tapas.game._observation import Observation
from tapas.game._release import Release, Trial

__all__ = ["StoredLedger", "as_array"]

MOST_LOOKS = 1_000_000

_log = logging.getLogger(__name__)


class StoredLedger(Ledger):
    """Keeps every trial in a store as soon as it is played.

    Secrets and observations are also held in memory; released tables only on disk. An entry that
    is damaged is dropped, and its trial is played again.

    Parameters
    ----------
    store : Store
    prefix : str
        Begins the names of all entries of this game.
    values : tuple
        Values that a secret may have; stored by their position. Empty stores secrets themselves.
    description : DataDescription, optional
        Of released tables.
    """

    def __init__(
        self,
        store: Store,
        prefix: str,
        values: tuple[Value, ...] = (),
        description: DataDescription | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._prefix = prefix
        self._values = values
        self._codes = {value: code for code, value in reversed([*enumerate(values)])}
        self._description = description
        self._with_data: dict[Phase, set[int]] = {"train": set(), "test": set()}
        self._known_versions = self._noted_versions()
        for key in list(store.keys(f"{prefix}/train/")) + list(store.keys(f"{prefix}/test/")):
            self._recall(key)
        self._looks = self._noted_looks()

    def _noted_versions(self) -> dict[str, dict[str, str]]:
        found = {}
        for key in list(self._store.keys(f"{self._prefix}/versions/")):
            try:
                found[key.rpartition("/")[2]] = self._store.load(key).notes
            except StoreError as error:
                _log.warning("%s", error)
        return found

    def _noted_looks(self) -> list[tuple[int, str]]:
        """Looks in their order; one that was lost before others counts, as nobody knows of what."""
        found = {}
        for key in self._store.keys(f"{self._prefix}/look/"):
            notes, number = self._store.load(key).notes, key.rpartition("/")[2]
            if not number.isdecimal() or len(number) > 9 or not 0 < int(number) <= MOST_LOOKS:
                raise StoreError(f"{key!r} is not the number of a look: the store is damaged")
            found[int(number)] = int(notes["num_trials"]), str(notes.get("by", ""))
        return [found.get(number, (-number, "")) for number in range(1, max(found, default=0) + 1)]

    def has_data(self, phase: Phase, index: int) -> bool:
        """Whether the data released in the trial is on disk."""
        return index in self._with_data[phase] and self.has_trial(phase, index)

    def trial(self, phase: Phase, index: int) -> Trial:
        """The trial, with its data where that is on disk and whole."""
        trial = super().trial(phase, index)
        if not self.has_data(phase, index) or self._description is None:
            return trial
        key = self._key(phase, index, "data")
        try:
            entry = self._store.load(key)
            table = unpack_table(entry.arrays, entry.notes, self._description.parsed)
        except (StoreError, KeyError) as error:
            self._drop(key, error)
            self._with_data[phase].discard(index)
            return trial
        return replace(trial, release=Release(TabularDataset.from_table(table, self._description)))

    def keep(self, trial: Trial, observations: Mapping[str, Observation] | None = None) -> None:
        """Write a trial, and what was observed in it."""
        data = trial.release.data
        if self._is_storable(data) and not self.has_data(trial.phase, trial.index):
            self._store.save(
                self._key(trial.phase, trial.index, "data"),
                Entry(*pack_table(data.table)),  # type: ignore[attr-defined]
            )
            self._with_data[trial.phase].add(trial.index)
        seen = dict(observations or {})
        part = f"seen-{digest_of([*sorted(seen)])}" if seen else "trial"
        notes = {
            "made_with": self._noted(trial.made_with),
            "group": int(trial.group),
            "secrets": self._coded(trial.secrets),
            "queries": {key: one.queries for key, one in seen.items() if one.queries},
        }
        arrays = {key: one.values for key, one in seen.items()}
        self._store.save(self._key(trial.phase, trial.index, part), Entry(arrays, notes))
        super().keep(replace(trial, release=Release(None)), observations)

    def keep_failure(self, phase: Phase, index: int, message: str, *, lasting: bool = True) -> None:
        """Write that the mechanism failed, where it would fail again in another run."""
        if lasting:
            self._store.save(self._key(phase, index, "failure"), Entry(notes={"message": message}))
        super().keep_failure(phase, index, message)

    def look(self, num_trials: int, by: str = "") -> int:
        """Write that results are seen; looks of earlier runs count."""
        known = len(self._looks)
        look = super().look(num_trials, by)
        if look > known:
            key = f"{self._prefix}/look/{look:06d}"
            self._store.save(key, Entry(notes={"num_trials": num_trials, "by": by}))
        return look

    @property
    def name(self) -> str:
        """What the game is called in the store."""
        return self._prefix.rpartition("/")[2]

    def digest(self, phase: Phase, count: int, observers: Collection[str]) -> str:
        """Of the first `count` trials: secrets, and what these observers saw."""
        whole = hashlib.blake2b(digest_size=32)
        for index in filter(partial(self.has_trial, phase), range(count)):
            trial = self.outline(phase, index)
            about = [index, int(trial.group), self._coded(trial.secrets)]
            whole.update(json.dumps(about).encode())
            for key in sorted(observers):
                seen = self.observations(key, phase).get(index)
                if seen is not None:
                    whole.update(json.dumps([key, seen.dtype.str, list(seen.shape)]).encode())
                    whole.update(seen.tobytes())
        return whole.hexdigest()

    def made_with(self, phase: Phase, count: int) -> Counter[tuple[tuple[str, str], ...]]:
        """Versions that the first `count` trials were played with, and how many with each."""
        return Counter(
            tuple(self.outline(phase, index).made_with.items())
            for index in range(count)
            if self.has_trial(phase, index)
        )

    def _noted(self, versions: Mapping[str, str]) -> str:
        """The name under which versions are kept, once for all trials that were made with them."""
        name = digest_of(dict(versions)) if versions else ""
        if name and name not in self._known_versions:
            self._known_versions[name] = dict(versions)
            self._store.save(f"{self._prefix}/versions/{name}", Entry(notes=dict(versions)))
        return name

    def _is_storable(self, data: object) -> bool:
        return isinstance(data, TabularDataset) and data.description == self._description

    def _coded(self, secrets: np.ndarray) -> list[object]:
        if not self._values:
            return secrets.tolist()
        return [self._codes[secret] for secret in secrets.tolist()]

    def _decoded(self, stored: list[int]) -> np.ndarray:
        if not self._values:
            return as_array(tuple(stored))
        return as_array(self._values)[np.array(stored, dtype=int)]

    def _key(self, phase: Phase, index: int, part: str) -> str:
        return f"{self._prefix}/{phase}/{index:06d}/{part}"

    def _recall(self, key: str) -> None:
        try:
            phase_text, number, part = key.removeprefix(f"{self._prefix}/").split("/", 2)
            index = int(number)
        except ValueError as error:  # a damaged name
            self._drop(key, error)
            return
        phase: Phase = "train" if phase_text == "train" else "test"
        if part == "data":
            self._with_data[phase].add(index)
            return
        try:
            entry = self._store.load(key)
            if part == "failure":
                super().keep_failure(phase, index, str(entry.notes["message"]))
                return
            secrets = self._decoded(entry.notes["secrets"])
            versions = self._known_versions.get(str(entry.notes.get("made_with")), {})
            group = int(entry.notes["group"])
            trial = Trial(phase, index, Release(None), secrets, group, versions)
        except (StoreError, KeyError, IndexError, TypeError, ValueError) as error:
            self._drop(key, error)
            return
        asked = entry.notes.get("queries", {})
        seen = {key: Observation(v, asked.get(key, 0)) for key, v in entry.arrays.items()}
        super().keep(trial, seen)

    def _drop(self, key: str, error: Exception) -> None:
        _log.warning("%s; the trial is played again", error)
        self._store.discard(key)


def as_array(values: tuple[Value, ...]) -> np.ndarray:
    """An array that keeps every value as it is; numpy would turn mixed types into text."""
    array = np.array(values)
    if array.shape == (len(values),) and array.tolist() == list(values):
        return array
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
