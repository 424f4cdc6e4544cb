"""Membership inference against a trained model: which records was it trained on?"""

import copy
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Self

import numpy as np
import pandas as pd

from tapas._random import resolve_seed
from tapas._validate import check_count, check_probability, listing
from tapas.compat import AttackLike, GameThreatModel
from tapas.errors import TapasWarning, TargetInDataWarning, ThreatModelError
from tapas.game import Ledger, compare_sides, split_coins, split_sides
from tapas.models import (
    Access,
    Classifier,
    Model,
    Records,
    Shown,
    Trainer,
)
from tapas.results import JudgedRecords, Leaves
from tapas.threat_models._first_questions import ask_first
from tapas.threat_models._judging import judge_more
from tapas.threat_models._layouts import Layout, Residuals, layout_for
from tapas.threat_models._model_game import ModelMembershipGame
from tapas.threat_models._model_records import (
    RecordsLike,
    are_names,
    check_same_columns,
)
from tapas.threat_models._shadow_data import ShadowData


class ModelMIA(GameThreatModel):
    """Membership inference: was each of these records in the training set of the model?

    The audited model is the one test trial, and every record that is judged is a target of it. The
    attacker learns either from records whose membership is known, or, with a `trainer`, from
    shadow models trained as the audited one was. Members and non-members must come from one
    population: what tells them apart without the model is no leak of the model.

    Parameters
    ----------
    model : object
        What is about to be released: anything that `tapas.models.as_model` takes.
    members, non_members : (X, y), Records, or a torch data set or loader of such pairs
        Records it was trained on, and records it was not. `members` should be the whole training
        set, because shadow models are trained on as many records.
    access : {"scores", "labels", "parameters"}
        What the release shows.
    known_share : float
        Share of both kinds whose membership the attacker knows. They are never judged.
    trainer : Trainer or scikit-learn classifier, optional
        Trains the attacker's shadow models.
    population : (X, y), Records or ShadowData, optional
        More data of the attacker, or how it is made up.
    seed : int, optional
    num_shadows : int
        How many shadow models are trained.
    train_on_targets : bool, optional
        Whether shadow models are trained on halves of the judged records, filled up with other
        data of the attacker, or on the attacker's other data alone. By default they are, unless
        `population` is made up. It needs no knowledge of who is a member.
    budget : int, optional
        How many records each attack may ask the audited model about; making shadow data up
        counts.
    shown : Shown, optional
        Which part of the scores the release shows: rounded, the largest few, or the confidence
        alone. Shadow models show the same. Of numbers that are predicted, to how many decimals.
    coins : bool
        Whether members and non-members are canaries: each was put into the training set, or left
        out, by a fair coin of its own. Then this one model certifies an epsilon, and a claim can be
        contradicted. `population` is the rest of the training set.
    n_jobs : int, optional
        Number of processes; results do not depend on it.
    executor : concurrent.futures.Executor, optional
        Where shadow models are trained and observed instead.
    label : str
        Display name of the data.
    ids : pair of sequences, optional
        What members and non-members are called on pages; the row labels of data frames by default.

    Attributes
    ----------
    left_out : (int, int)
        How many members and non-members are not compared, for they occur on both sides, or repeat
        others of their own.

    Warns
    -----
    TargetInDataWarning
        Where records occur on both sides; they are left out, for nobody could say whether they
        are members. Of equal records on one side the first is compared.
    """

    def __init__(
        self,
        model: object,
        members: RecordsLike,
        non_members: RecordsLike,
        access: Access | str = "scores",
        known_share: float = 0.5,
        trainer: Trainer | Classifier | None = None,
        population: RecordsLike | ShadowData | None = None,
        seed: int | None = None,
        *,
        num_shadows: int = 16,
        train_on_targets: bool | None = None,
        budget: int | None = None,
        shown: Shown | None = None,
        coins: bool = False,
        n_jobs: int | None = None,
        executor: Executor | None = None,
        label: str = "records",
        ids: tuple[Sequence[object], Sequence[object]] | None = None,
    ) -> None:
        super().__init__(n_jobs=n_jobs, executor=executor)
        self.ids = (_row_labels(members), _row_labels(non_members)) if ids is None else ids
        self._layout = layout_for(model, members)
        allowed = Access.parse(access)
        self._layout.refuse_view(allowed, shown)
        audited, shadows = self._layout.model(model, shown), self._layout.trainer(trainer, shown)
        audited.restricted(allowed)
        sides = _checked_sides(self._layout, audited, members, non_members)
        seed = resolve_seed(seed)
        keys = (sides[0].row_keys(), sides[1].row_keys())
        compared = compare_sides(keys, seed).once(keys)
        if compared.left_out and not coins:
            warnings.warn(compared.words(), TargetInDataWarning, stacklevel=2)
        self._given = np.concatenate(keys)
        kept = sides if coins else compared.rows
        self.left_out = (len(sides[0]) - len(kept[0]), len(sides[1]) - len(kept[1]))
        self.known_share = check_probability(known_share, "known_share")
        if coins:
            known, judged = split_coins(sides, keys, self.known_share, seed)
        else:
            known, judged = split_sides(sides, keys, compared.rows, self.known_share, seed)
        made_up = isinstance(population, ShadowData)
        held = _checked_population(self._layout, population, audited, sides[0])
        self._game = ModelMembershipGame(
            model=audited,
            access=allowed,
            known=known,
            candidates=judged,
            population=held,
            trainer=shadows,
            num_shadows=check_count(num_shadows, "num_shadows", minimum=2),
            num_members=len(np.unique(keys[0])) + (_size(held) if coins else 0),
            train_on_targets=not made_up if train_on_targets is None else train_on_targets,
            budget=None if budget is None else check_count(budget, "budget"),
            seed=seed,
            data_label=label,
            inputs=self._layout.inputs,
            image=self._layout.image,
            coins=coins,
        )

    @property
    def game(self) -> ModelMembershipGame:
        """What is played."""
        return self._game

    @property
    def model(self) -> Model:
        """The audited model."""
        return self._game.model

    def ask_first(self, number: int) -> str | None:
        """Ask the model about a few of the judged records."""
        return ask_first(self.model, self._game.access, self._game.candidates.records, number)

    @property
    def shadow_models(self) -> list[Model]:
        """The attacker's models, trained when first asked for."""
        if self._game.trainer is None:
            raise ThreatModelError("there are no shadow models without a trainer")
        return [trial.release.model for trial in self._trials(None, True)]

    def turned(self) -> Self | None:
        """The same game where known records are judged, and judged ones known.

        None with shadow models, which would have to be trained anew, and where coins decided.
        """
        game = self._game
        if game.known is None or game.trainer is not None or game.coins:
            return None
        twin = copy.copy(self)
        twin.remember_in(Ledger())
        twin._game = replace(game, known=game.candidates, candidates=game.known)
        return twin

    def judged_records(self) -> pd.DataFrame:
        """Who is judged: one row per entry of a summary, for slices and exposure tables.

        Columns: ``source`` ("members" or "non_members") and ``row`` (position there), ``id`` where
        records have labels of their own, ``class`` (the true one), ``predicted`` and ``correct``
        (what the model says), and ``confidence``, the probability it gives to the true class. Of
        a model that predicts numbers ``true``, ``predicted`` and ``off_by`` in place of classes
        and confidence, and ``correct`` as `right_when` says.
        """
        game = self._game
        about = self._layout.about(game.about_judged(), game.model, game.candidates.records)
        if self._are_named:
            sides = zip(about["source"] == "members", about["row"], strict=True)
            ids = [str(self.ids[0 if member else 1][row]) for member, row in sides]
            about.insert(2, "id", ids)
        return about

    @property
    def _are_named(self) -> bool:
        return any(map(are_names, self.ids))

    def performance(self, subgroups: Sequence[str] = ()) -> pd.DataFrame:
        """Accuracy on members and on others, and its gap (see `tapas.results.performance_table`).

        All records, by class, and by the values of the columns `subgroups`.
        """
        return self._game.performance(subgroups)

    @property
    def right_when(self) -> str:
        """What being right means, where the model predicts numbers or several things."""
        return self._layout.right_when if isinstance(self._layout, Residuals) else ""

    def leaves(self, fewest: int = 5) -> Leaves | None:
        """What the leaves of a tree or forest hold of members; None where the release shows none.

        Parameters
        ----------
        fewest : int
            A leaf that fewer records made is small.
        """
        names = [str(one) for one in self.ids[0]] if self._are_named else []
        return self._game.leaves(names, check_count(fewest, "fewest", minimum=1))

    def judge(
        self,
        attack: AttackLike,
        records: RecordsLike,
        *,
        prior: float = 0.5,
        false_alarms: float = 0.05,
        ids: Sequence[object] | None = None,
    ) -> JudgedRecords:
        """Decide about records whose membership is not known.

        They are attacked as the judged ones are: shadow models, if there are any, are trained anew
        on halves of both. What a score means is read off the judged records, which taught the
        attack nothing. All this holds for records of the population that these come from.

        Parameters
        ----------
        attack : Attack
            Need not be trained.
        records : (X, y), Records, or a torch data set or loader of such pairs
            Their true classes, as far as the attack reads these.
        prior : float
            Share of members among such records, before the attack.
        false_alarms : float
            At most this share of non-members is decided to be members.
        ids : sequence, optional
            What the records are called; the row labels of a data frame by default.

        Raises
        ------
        ThreatModelError
            Where there are none, or all are among the members or non-members that were given.
        """
        more = self._layout.records(records, "records")
        if not len(more):
            raise ThreatModelError("records holds none: give those that are to be judged")
        check_same_columns(more, self._game.candidates.records, "records")
        self.model.codes_of(more.y)
        names = _row_labels(records) if ids is None else ids
        self._tell_of_given(more, names if are_names(names) else range(len(more)))
        twin = copy.copy(self)
        twin._game = self._game.asking_about(more)
        judged = judge_more(self._game, twin, attack, prior, false_alarms)
        return judged.called(names) if are_names(names) else judged

    def _tell_of_given(self, records: Records, names: Sequence[object]) -> None:
        """Say which records nothing need be judged of; refuse where there are no others."""
        given = np.flatnonzero(np.isin(records.row_keys(), self._given))
        if not len(given):
            return
        those = f"{len(given)} of the {len(records)} records"
        known = "among the members or non-members that were given"
        if len(given) == len(records):
            raise ThreatModelError(
                f"{those} are {known}: of these it is known, so that there is nothing to judge. "
                f"Ask about other records"
            )
        first = listing([names[int(row)] for row in given], 5, show=str)
        first += "" if are_names(names) else ", counted from 0"
        warnings.warn(
            f"{those} ({first}) are {known}: of these it is known, and what is "
            f"judged of them means nothing",
            TapasWarning,
            stacklevel=3,
        )

    def judged_values(self) -> pd.DataFrame | None:
        """What the judged records hold, where they are a table."""
        records = self._game.candidates.records
        return pd.DataFrame(records.X).reset_index(drop=True) if records.is_frame else None


def _row_labels(records: RecordsLike) -> Sequence[object]:
    if isinstance(records, (tuple, list)) and isinstance(records[0], pd.DataFrame):
        return records[0].index.tolist()
    return ()


def _checked_sides(
    layout: Layout, model: Model, members: RecordsLike, non_members: RecordsLike
) -> tuple[Records, Records]:
    inside, outside = (
        layout.records(side, name)
        for side, name in ((members, "members"), (non_members, "non_members"))
    )
    check_same_columns(outside, inside, "non_members")
    for records in (inside, outside):
        model.codes_of(records.y)
    return inside, outside


def _checked_population(
    layout: Layout, population: RecordsLike | ShadowData | None, model: Model, members: Records
) -> Records | ShadowData | None:
    if isinstance(population, ShadowData) and layout.inputs != "change":
        raise ThreatModelError("such records cannot be made up: give a population")
    if population is None or isinstance(population, ShadowData):
        return population
    records = layout.records(population, "population")
    check_same_columns(records, members, "population")
    model.codes_of(records.y)
    return records


def _size(population: Records | ShadowData | None) -> int:
    return len(population) if isinstance(population, Records) else 0
