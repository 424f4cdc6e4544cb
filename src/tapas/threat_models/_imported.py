"""Releases that others made, with their secrets: trials from elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd

from tapas._random import resolve_seed
from tapas._spec import digest_of
from tapas._validate import listing
from tapas.compat import TargetViews
from tapas.datasets import (
    DataDescription,
    Dataset,
    TabularDataset,
    TabularRecord,
    locate,
    read_frame,
)
from tapas.errors import SchemaError, ThreatModelError
from tapas.game import (
    MEMBERSHIP,
    PHASES,
    Address,
    Goal,
    Phase,
    Relation,
    Release,
    Setting,
    TableBriefing,
    Trial,
    Value,
    as_array,
)
from tapas.threat_models._game_defaults import GameDefaults
from tapas.threat_models._labellers import TargetsLike, masked, table_of_targets
from tapas.threat_models._planting import AttributePlanting

_TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True, eq=False)
class ImportedTrials:
    """Releases of one phase with their secrets.

    Attributes
    ----------
    releases : tuple of Path or Dataset
        Files are read when they are needed.
    secrets : ndarray, (releases, targets)
    groups : ndarray of int, (releases,)
        Equal numbers mark releases that share their background.
    """

    releases: tuple[Path | Dataset, ...]
    secrets: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.releases)

    def __spec__(self) -> Mapping[str, object]:
        content = [
            digest_of(one.read_bytes()) if isinstance(one, Path) else one for one in self.releases
        ]
        return {"releases": content, "secrets": self.secrets, "groups": self.groups}


@dataclass(frozen=True, eq=False)
class ImportedGame(GameDefaults):
    """Every trial is a release that somebody else made."""

    train: ImportedTrials
    test: ImportedTrials
    targets: TabularDataset
    goal: Goal
    neighbours: Relation | None
    auxiliary: Dataset | None
    seed: int
    label: str
    name: str

    @property
    def data_label(self) -> str:
        """Display name of the private data."""
        return self.targets.label

    @property
    def relation(self) -> Relation | None:
        """Which neighbours were played, as far as is known."""
        return self.neighbours

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks."""
        return Setting(
            name=self.name,
            release="table",
            goal=self.goal,
            training=len(self.train),
            test=None,
            auxiliary=isinstance(self.auxiliary, TabularDataset),
        )

    @property
    def target_labels(self) -> tuple[str, ...]:
        """Display names of the targets."""
        return tuple(str(label) for label in self.targets.table.index)

    def rounds(self, phase: Phase) -> int:
        """As many as there are."""
        return len(self._trials(phase))

    def briefing(self, phase: Phase) -> TableBriefing:
        """What an attack is told; a sensitive value is masked."""
        return TableBriefing(self.goal, masked(self.targets, self.goal), self.auxiliary)

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        """Read the releases."""
        return [self._read(address) for address in addresses]

    def _trials(self, phase: Phase) -> ImportedTrials:
        return self.train if phase == "train" else self.test

    def _read(self, address: Address) -> Trial:
        trials = self._trials(address.phase)
        if address.index >= len(trials):
            raise ThreatModelError(
                f"there are {len(trials)} {address.phase} releases, and no number {address.index}: "
                f"others cannot be made"
            )
        release = trials.releases[address.index]
        if isinstance(release, Path):
            release = _read_release(release, self.targets.description)
        return Trial(
            address.phase,
            address.index,
            Release(release),
            trials.secrets[address.index],
            int(trials.groups[address.index]),
        )


class ImportedThreatModel(TargetViews):
    """A threat model whose trials are releases that somebody else made.

    A table of labels has one row per release: ``file`` (relative to `folder`), ``phase`` ("train"
    or "test"), ``group`` (equal for releases that share their private data but for the targets;
    it may be left out where `independent` is said), and one column per target with its secret,
    called by the target's row label.

    Parameters
    ----------
    folder : path
        Where the releases are: CSV or Parquet files with the columns of the targets.
    labels : path or DataFrame
    target_record : TabularRecord or TabularDataset
    goal : Goal
    relation : {"add/remove", "replace"}, optional
        Which neighbours were played, if that is known.
    auxiliary : Dataset, optional
        Data that the attacker holds.
    independent : bool
        Whether each release was made from private data of its own.
    label : str, optional
        Display name of the mechanism.
    seed : int, optional
        Of what attacks draw.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        labels: str | PathLike[str] | pd.DataFrame,
        target_record: TargetsLike,
        goal: Goal,
        *,
        relation: Relation | None = None,
        auxiliary: Dataset | None = None,
        independent: bool = False,
        label: str | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_jobs=n_jobs)
        targets = table_of_targets(target_record)
        place = Path(folder)
        table = labels if isinstance(labels, pd.DataFrame) else _read_labels(Path(labels))
        if "group" not in table.columns and not independent:
            raise ThreatModelError(
                "the labels do not say which releases share their private data: add a column "
                "group, equal for those that do, or say independent=True where none do"
            )
        trials = {phase: _imported(place, table, phase, targets, goal) for phase in PHASES}
        self.num_labels = len(targets)
        self._game = ImportedGame(
            train=trials["train"],
            test=trials["test"],
            targets=targets,
            goal=goal,
            neighbours=relation,
            auxiliary=auxiliary,
            seed=resolve_seed(seed),
            label=place.name if label is None else label,
            name=type(self).__name__,
        )

    @property
    def game(self) -> ImportedGame:
        """What is played."""
        return self._game

    @property
    def target_record(self) -> TabularRecord:
        """The target that this threat model, or this view of it, is about."""
        return TabularRecord.from_dataset(self._game.targets.take([self.current_label]))


class ImportOptions(TypedDict, total=False):
    """What is said of imported releases beside the labels, as in `ImportedThreatModel`."""

    auxiliary: Dataset | None
    independent: bool
    label: str | None
    seed: int | None
    n_jobs: int | None


class ImportedMIA(ImportedThreatModel):
    """Membership inference in releases that somebody else made.

    Parameters
    ----------
    folder, labels, target_record, relation, auxiliary, independent, label, seed, n_jobs
        As in `ImportedThreatModel`; secrets are 1 or 0 (or true, false, yes, no).
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        labels: str | PathLike[str] | pd.DataFrame,
        target_record: TargetsLike,
        *,
        relation: Relation | None = None,
        **options: Unpack[ImportOptions],
    ) -> None:
        super().__init__(folder, labels, target_record, MEMBERSHIP, relation=relation, **options)


class ImportedAIA(ImportedThreatModel):
    """Attribute inference in releases that somebody else made.

    Parameters
    ----------
    folder, labels, target_record, auxiliary, independent, label, seed, n_jobs
        As in `ImportedThreatModel`; secrets are values of the attribute.
    sensitive_attribute : str
    attribute_values : sequence
        Two or more values; with two, the second is the positive one.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        labels: str | PathLike[str] | pd.DataFrame,
        target_record: TargetsLike,
        sensitive_attribute: str,
        attribute_values: Sequence[Value],
        **options: Unpack[ImportOptions],
    ) -> None:
        targets = table_of_targets(target_record)
        goal = AttributePlanting(targets, sensitive_attribute, tuple(attribute_values)).goal
        super().__init__(folder, labels, targets, goal, relation="replace", **options)
        self.sensitive_attribute = sensitive_attribute
        self.attribute_values = attribute_values


def _read_release(path: Path, description: DataDescription) -> TabularDataset:
    """A released table; columns that are not looked at are left out."""
    try:
        return TabularDataset.read(path, description=description)
    except SchemaError:
        frame = read_frame(locate(path)[0])
        if not set(description.columns) < set(frame.columns):
            raise
        return TabularDataset(frame[list(description.columns)], description)


def _read_labels(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise ThreatModelError(f"the labels {path} cannot be read: {error}") from error


def _imported(
    folder: Path, labels: pd.DataFrame, phase: Phase, targets: TabularDataset, goal: Goal
) -> ImportedTrials:
    missing = [name for name in ("file", "phase") if name not in labels.columns]
    names = [str(label) for label in targets.table.index]
    missing += [name for name in names if name not in labels.columns]
    if missing:
        raise ThreatModelError(
            f"the labels lack the columns {listing(missing)}: they have one row per release, with "
            f"file, phase and a column for each target ({listing(names)})"
        )
    strange = sorted(set(labels["phase"]) - set(PHASES))
    if strange:
        raise ThreatModelError(f"phase must be 'train' or 'test', got {listing(strange)}")
    chosen = labels[labels["phase"] == phase]
    files = [folder / name for name in chosen["file"]]
    for file in files:
        if not file.is_file():
            raise ThreatModelError(f"the labels name a release that is not there: {file}")
    groups = np.arange(len(chosen))
    if "group" in chosen.columns:
        groups = np.unique(chosen["group"].to_numpy(dtype=str), return_inverse=True)[1]
    secrets = [[_secret(value, goal, name) for value in chosen[name]] for name in names]
    coded = np.array(secrets, dtype=int).reshape(len(names), len(chosen)).T
    return ImportedTrials(tuple(files), as_array(goal.values)[coded], groups)


def _secret(value: object, goal: Goal, column: str) -> int:
    """Position of a secret among the values it may have."""
    if goal.kind == "membership":
        truth = _TRUTHS.get(str(value).strip().lower().removesuffix(".0"))
        if truth is not None:
            return int(truth)
    texts = [str(known) for known in goal.values]
    if str(value) not in texts:
        raise SchemaError(
            f"the labels have {value!r} in column {column!r}, which is none of {listing(texts)}"
        )
    return texts.index(str(value))
