"""Membership inference where only files exist: one release, the private table, a holdout."""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from tapas._random import Parts, part_stream, resolve_seed
from tapas._validate import check_probability
from tapas.compat import GameThreatModel
from tapas.datasets import TabularDataset, agreed_words, nearest_row
from tapas.errors import SchemaError, TargetInDataWarning, ThreatModelError
from tapas.game import (
    MEMBERSHIP,
    PHASES,
    Address,
    Candidates,
    Goal,
    Ledger,
    Phase,
    Release,
    Setting,
    TableBriefing,
    Trial,
    as_array,
    compare_sides,
    draw_values,
    split_sides,
)
from tapas.models import Records
from tapas.results import Copies
from tapas.stats import excess_p_value
from tapas.threat_models._game_defaults import GameDefaults, names_of
from tapas.threat_models._inputs_alone import told_by_inputs
from tapas.threat_models._labellers import masked
from tapas.threat_models._points import Points
from tapas.threat_models._row_keys import Found, cell_names, find_rows, row_keys


@dataclass(frozen=True)
class ObservedCounts:
    """How many records were given, and what became of them.

    Attributes
    ----------
    members, non_members, released : int
        As given.
    left_out_members, left_out_non_members : int
        Because nobody could say on which side they belong.
    known_members, known_non_members, judged_members, judged_non_members : int
    reference : int
        Records of the reference.
    reference_left_out : int
        Records of a given reference that equal a compared one.
    """

    members: int
    non_members: int
    released: int
    left_out_members: int
    left_out_non_members: int
    known_members: int
    known_non_members: int
    judged_members: int
    judged_non_members: int
    reference: int
    reference_left_out: int


@dataclass(frozen=True, eq=False)
class ObservedGame(GameDefaults):
    """One release that exists; every record that is judged is a target of it."""

    release: TabularDataset
    known: Candidates[TabularDataset] | None
    candidates: Candidates[TabularDataset]
    reference: TabularDataset | None
    seed: int
    data_label: str
    goal: Goal = MEMBERSHIP
    # Of all games about the same records, whatever the release.
    _told: dict[bytes, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """Display name of the release."""
        return self.release.label

    @property
    def right_guesses_of(self) -> np.ndarray | None:
        """Where a value is guessed: who was used; right guesses about others are the baseline."""
        return None if self.goal.kind == "membership" else self.candidates.members

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks."""
        return Setting(
            name="ObservedMIA" if self.goal.kind == "membership" else "ObservedAIA",
            release="table",
            goal=self.goal,
            training=self.rounds("train"),
            test=1,
            auxiliary=self.reference is not None,
            known=(0, 0) if self.known is None else self.known.of_each_side,
            numbers=self.candidates.records.table.numbers.shape[1] > 0,
        )

    @cached_property
    def target_labels(self) -> tuple[str, ...]:
        """Where the judged records came from."""
        return names_of(self.candidates.members, self.candidates.rows)

    @property
    def inputs_alone(self) -> np.ndarray | None:
        """How well members are told from others without the release, by all records there are."""
        if _rows_key(self.candidates) not in self._told:
            sides = [self.candidates] if self.known is None else [self.candidates, self.known]
            members = np.concatenate([side.members for side in sides]).astype(int)
            records = [_as_inputs(side.records) for side in sides]
            rng = part_stream(self.seed, Parts.INPUTS_ALONE)
            told = told_by_inputs(Points(records), members, 2, rng=rng)
            if told is None:
                return None
            parts = np.split(told[:, 1], [len(self.candidates)])
            self._told.update(zip(map(_rows_key, sides), parts, strict=False))
        return self._told[_rows_key(self.candidates)]

    def rounds(self, phase: Phase) -> int:
        """The release exists; without known records there is nothing to learn from it."""
        return 0 if phase == "train" and self.known is None else 1

    def briefing(self, phase: Phase) -> TableBriefing:
        """What an attack is told about the known records, or about the judged ones."""
        return TableBriefing(
            self.goal, masked(self._side(phase).records, self.goal), self.reference
        )

    def judged(self, phase: Phase) -> np.ndarray:
        """Known records serve for learning only."""
        return np.full(len(self._side(phase)), phase == "test")

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        """The release, and who is a member or which value each record has."""
        return [
            Trial(at.phase, at.index, Release(self.release), self._secrets(at.phase), 0)
            for at in addresses
        ]

    def _secrets(self, phase: Phase) -> np.ndarray:
        side = self._side(phase)
        if self.goal.kind == "membership":
            return side.members
        known = {value: value for value in self.goal.values}
        return as_array(tuple(known[value] for value in side.records.data[self.goal.attribute]))

    def observation_rng(self, address: Address) -> np.random.Generator:
        """What an observer draws from."""
        return part_stream(self.seed, Parts.OBSERVING_FILE, PHASES.index(address.phase))

    def _side(self, phase: Phase) -> Candidates[TabularDataset]:
        if phase == "test":
            return self.candidates
        if self.known is None:
            raise ThreatModelError("no record is known to be a member or not: raise known_share")
        return self.known


class ObservedMIA(GameThreatModel):
    """Membership inference in one release that exists already.

    Nothing is run: the release is the one trial, and every record that is judged is a target of
    it. The attacker may know some members and non-members, from which thresholds are learnt, and
    hold reference data.

    Members and non-members must come from one population. They are treated alike in everything
    but their secret, so that a release that is independent of both leaves every attack at chance,
    also where the two tables differ in size: records that occur on both sides are left out,
    because nobody could say whether they are members, repeated ones of the larger side are
    thinned out to match, and equal ones of a side are judged once.

    Parameters
    ----------
    release : TabularDataset
        The synthetic table.
    members, non_members : TabularDataset
        The private table, and records of the same population that were not used.
    reference : TabularDataset, optional
        More records of the population that were not used, for attacks that compare with them.
        Without it, half of the known non-members serve. Rows that equal a judged or known record
        are left out of it.
    known_share : float
        Share of the records whose membership the attacker knows, with a reference that is given;
        they are never judged. Without one it is the share of the non-members that the attacker
        has, half of them known and half the reference, and of the members as large a part is known
        as of the non-members that are left, ``known_share / (2 - known_share)``: a third at 0.5.
        With 0, only attacks with a fixed threshold apply, and there is no reference unless it is
        given.
    seed : int, optional
    label : str, optional
        Display name of the data; that of the members by default.

    Attributes
    ----------
    counts : ObservedCounts
        How many records were given, left out, known and judged.

    Warns
    -----
    TargetInDataWarning
        Where records are left out because they occur on both sides.
    """

    def __init__(
        self,
        release: TabularDataset,
        members: TabularDataset,
        non_members: TabularDataset,
        reference: TabularDataset | None = None,
        known_share: float = 0.5,
        seed: int | None = None,
        *,
        label: str | None = None,
    ) -> None:
        super().__init__(n_jobs=1)
        _check_tables(release, members, non_members, reference)
        self.known_share = check_probability(known_share, "known_share")
        chosen = _Choice(members, non_members, reference, self.known_share, resolve_seed(seed))
        known, judged = chosen.sides
        self._game = ObservedGame(
            release,
            known,
            judged,
            chosen.reference,
            chosen.seed,
            members.label if label is None else label,
        )
        self._given = (members, non_members)
        self.counts = chosen.counts(len(release))
        if chosen.compared.left_out:
            warnings.warn(chosen.compared.words(), TargetInDataWarning, stacklevel=2)

    @property
    def judged_sides(self) -> tuple[TabularDataset, TabularDataset]:
        """The judged records that were used, and those that were not."""
        judged = self._game.candidates
        inside, outside = np.flatnonzero(judged.members), np.flatnonzero(~judged.members)
        return judged.records.take(inside), judged.records.take(outside)

    @property
    def game(self) -> ObservedGame:
        """What is played."""
        return self._game

    @property
    def release(self) -> TabularDataset:
        """The released table."""
        return self._game.release

    def with_release(self, release: TabularDataset) -> Self:
        """The same game about another release, such as a control: same records, same secrets."""
        if release.description != self.release.description:
            raise SchemaError("the other release has another description than the one observed")
        twin = copy.copy(self)
        twin.remember_in(Ledger())
        twin._game = replace(self._game, release=release)
        return twin

    def fewer(self, number: int) -> Self:
        """The same game about at most so many of the judged records, and as many known ones."""
        game = self._game
        twin = copy.copy(self)
        twin.remember_in(Ledger())
        known = None if game.known is None else game.known.first(number)
        twin._game = replace(game, known=known, candidates=game.candidates.first(number))
        return twin

    def turned(self) -> Self | None:
        """The same game where known records are judged, and judged ones known."""
        game = self._game
        if game.known is None:
            return None
        twin = copy.copy(self)
        twin.remember_in(Ledger())
        twin._game = replace(game, known=game.candidates, candidates=game.known)
        return twin

    def judged_records(self) -> pd.DataFrame:
        """Who is judged: one row per entry of a summary, for slices and exposure tables.

        Columns: ``source`` ("members" or "non_members") and ``row`` (position there), and ``id``
        where the tables label their rows by more than that.
        """
        judged = self._game.candidates
        about = pd.DataFrame(
            {"source": np.where(judged.members, "members", "non_members"), "row": judged.rows}
        )
        inside, outside = (side.table.index for side in self._given)
        if any(_is_labelled(side) for side in self._given):
            about["id"] = [
                str((inside if member else outside)[row])
                for member, row in zip(judged.members, judged.rows, strict=True)
            ]
        return about

    def judged_values(self) -> pd.DataFrame:
        """What the judged records hold."""
        return self._game.candidates.records.table.to_frame().reset_index(drop=True)

    def nearest_released(self, positions: Sequence[int]) -> pd.DataFrame:
        """For judged records the released one that agrees in most columns, and those columns.

        See `tapas.datasets.nearest_row`. Columns: ``released_row`` (position, from 0) and
        ``agrees_on``.
        """
        released = self.release.table
        found = []
        for position in positions:
            record = self._game.candidates.records.table.take([position])
            nearest, same = nearest_row(released, record)
            found.append((str(nearest), agreed_words(released, nearest, record, same)))
        return pd.DataFrame(found, columns=["released_row", "agrees_on"])

    def copied_rows(self) -> list[int]:
        """Rows of the release that equal private records, as far as these stand out.

        Without them none do (`Copies.stands_out`), or which ones they are is unsure.
        """
        kept, model = np.arange(len(self.release)), self
        while (found := model.copies()).stands_out and found.listed:
            # Each is the first row that equals its record: there may be more.
            kept = np.delete(kept, sorted({row for _, row, *_ in found.listed}))
            model = self.with_release(self.release.take(kept))
        return np.setdiff1d(np.arange(len(self.release)), kept).tolist()

    def copies(self) -> Copies:
        """Private records that the release holds, known or judged, and others beside them.

        Word for word, or but for one column.
        """
        members, others = self._given
        inside, outside = find_rows(self.release, members, others)
        keys = row_keys(members, others)
        sides = (keys[0], keys[1])
        firsts = compare_sides(sides, self._game.seed).once(sides).rows
        rows = np.flatnonzero(inside.nearly)
        names = cell_names(self.release)
        return Copies(
            members=len(members),
            members_copied=int(inside.exact.sum()),
            non_members=len(others),
            non_members_copied=int(outside.exact.sum()),
            p_value=_excess((inside.exact, outside.exact), firsts),
            members_near=int((inside.nearly & ~inside.exact).sum()),
            non_members_near=int((outside.nearly & ~outside.exact).sum()),
            near_p_value=_excess((inside.nearly, outside.nearly), firsts),
            near_counts=_near_counts((inside, outside), firsts),
            rows=tuple(rows.tolist()),
            released_rows=tuple(inside.rows[rows].tolist()),
            differs_in=tuple("" if n < 0 else names[n] for n in inside.differs[rows]),
            labels=tuple(str(members.table.index[row]) for row in rows)
            if _is_labelled(members)
            else (),
        )


class _Choice:
    """Who is compared, known and judged, and what serves as reference."""

    def __init__(
        self,
        members: TabularDataset,
        non_members: TabularDataset,
        reference: TabularDataset | None,
        known_share: float,
        seed: int,
    ) -> None:
        self.seed = seed
        self._given = (members, non_members)
        others = () if reference is None else (reference,)
        keys = row_keys(members, non_members, *others)
        sides = (keys[0], keys[1])
        held, share = np.zeros(len(non_members), dtype=bool), known_share
        if reference is None and known_share > 0:
            # Half of what is known of the non-members is the reference: all that equal a record,
            # or none, so that neither side has copies in it.
            held = draw_values(keys[1], known_share / 2, part_stream(seed, Parts.FILE_REFERENCE))
            share = (known_share / 2) / (1 - known_share / 2)
        compared = compare_sides(sides, seed).once(sides)
        rows = compared.rows
        self.compared = replace(compared, rows=(rows[0], rows[1][~held[rows[1]]]))
        known, judged = split_sides(self._given, sides, self.compared.rows, share, seed)
        self.sides = (known, judged)
        self.dropped = 0
        self.reference = non_members.take(np.flatnonzero(held)) if held.any() else None
        if reference is not None:
            kept = np.flatnonzero(~np.isin(keys[2], np.concatenate(sides)))
            self.reference = _without_copies(reference, kept)
            self.dropped = len(reference) - len(kept)
        self._outside = len(non_members) - int(held.sum())

    def counts(self, released: int) -> ObservedCounts:
        known, judged = self.sides
        known_members = 0 if known is None else int(known.members.sum())
        known_others = 0 if known is None else len(known) - known_members
        rows = self.compared.rows
        return ObservedCounts(
            members=len(self._given[0]),
            non_members=len(self._given[1]),
            released=released,
            left_out_members=len(self._given[0]) - len(rows[0]),
            left_out_non_members=self._outside - len(rows[1]),
            known_members=known_members,
            known_non_members=known_others,
            judged_members=int(judged.members.sum()),
            judged_non_members=len(judged) - int(judged.members.sum()),
            reference=0 if self.reference is None else len(self.reference),
            reference_left_out=self.dropped,
        )


def _rows_key(side: Candidates[TabularDataset]) -> bytes:
    return side.members.tobytes() + side.rows.tobytes()


def _as_inputs(table: TabularDataset) -> Records:
    """The columns as a classifier takes them, without free text; no record has a class."""
    encoded = table.table
    frame = encoded.to_frame().reset_index(drop=True)
    for column in encoded.columns:
        if column.is_coded and column.values is None:
            frame = frame.drop(columns=column.name)
        elif column.is_coded:
            frame[column.name] = frame[column.name].astype(str)
        else:
            frame[column.name] = encoded.column(column.name)
    return Records(frame, np.zeros(len(table), dtype=int))


def _excess(hits: tuple[np.ndarray, np.ndarray], rows: Sequence[np.ndarray]) -> float:
    """How likely it is by chance that so many more of the first side are hit."""
    inside, outside = (
        (int(hit[some].sum()), len(some)) for hit, some in zip(hits, rows, strict=True)
    )
    return excess_p_value(*inside, *outside)


def _near_counts(found: tuple[Found, Found], rows: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Of these records without those released word for word: near ones, of how many, by side."""
    others = [side.nearly[some[~side.exact[some]]] for side, some in zip(found, rows, strict=True)]
    return tuple(int(number) for near in others for number in (near.sum(), len(near)))


def _is_labelled(side: TabularDataset) -> bool:
    """Whether rows have labels of their own, not only their position."""
    return list(side.table.index) != list(range(len(side)))


def _without_copies(reference: TabularDataset, kept: np.ndarray) -> TabularDataset:
    """The reference without copies of compared records, which would favour one side."""
    if not len(kept):
        raise ThreatModelError(
            f"all {len(reference)} reference records are also members or non-members: give others, "
            f"or leave the reference out, and some of the non-members serve"
        )
    return reference.take(kept)


def _check_tables(
    release: TabularDataset,
    members: TabularDataset,
    non_members: TabularDataset,
    reference: TabularDataset | None,
) -> None:
    named = {"release": release, "members": members, "non_members": non_members}
    if reference is not None:
        named["reference"] = reference
    for name, table in named.items():
        if not isinstance(table, TabularDataset):
            raise SchemaError(f"{name} must be a TabularDataset, got {type(table).__name__}")
        if table.description != members.description:
            raise SchemaError(
                f"{name} must have the description of the members: read all tables with one "
                f"description, TabularDataset.read(file, description=members.description)"
            )
    if not members.description.columns:
        raise SchemaError("the tables have no columns")
