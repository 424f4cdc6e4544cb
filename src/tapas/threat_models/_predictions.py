"""Membership inference from predictions alone: what a model said, and no model to ask."""

import copy
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._random import Parts, part_stream, resolve_seed
from tapas._spec import Plain
from tapas._validate import check_probability
from tapas.compat import AttackLike, GameThreatModel
from tapas.errors import SchemaError, TargetInDataWarning, ThreatModelError
from tapas.game import Setting, compare_sides, split_sides
from tapas.models import Model, RecordedModel, RecordedModels, Records
from tapas.results import JudgedRecords
from tapas.threat_models._inputs_alone import told_by_inputs
from tapas.threat_models._judging import judge_more
from tapas.threat_models._model_game import ModelMembershipGame
from tapas.threat_models._model_records import are_names
from tapas.threat_models._points import Points
from tapas.threat_models._prediction_files import Predictions, from_frame, read_predictions
from tapas.threat_models._repeated_answers import answer_keys

_READ_AS = {
    "scores": "probabilities",
    "logits": "logits",
    "log_scores": "logarithms of probabilities",
    "labels": "predicted classes",
}


@dataclass(frozen=True, eq=False)
class PredictionsGame(ModelMembershipGame):
    """As a model's, where each record is known by its number alone.

    Attributes
    ----------
    trained_on : ndarray of bool, (references, records), or None
        Which of all records each reference model was trained on.
    """

    trained_on: np.ndarray | None = None

    @property
    def setting(self) -> Setting:
        """What the game offers to attacks: answers, and nothing of the records."""
        return replace(super().setting, name="PredictionsMIA")

    @cached_property
    def inputs_alone(self) -> np.ndarray | None:
        """How well classes alone tell members from others."""
        bare = [Records(np.empty((len(side), 0)), side.records.y) for side in self._sides]
        rng = part_stream(self.seed, Parts.INPUTS_ALONE)
        told = told_by_inputs(Points(bare), self._members, 2, rng=rng)
        return None if told is None else told[: len(self.candidates), 1]

    def _inside(self, number: int) -> np.ndarray:
        return self._masks[number]

    @cached_property
    def _masks(self) -> np.ndarray:
        if self.trained_on is None:
            raise ThreatModelError("there are no reference models")
        return self.trained_on[:, self.candidates.records.X[:, 0].astype(np.intp)]

    def _group(self, number: int) -> int:
        """The first model on the same records, or on just the others."""
        masks = self._masks
        alike = (masks == masks[number]).all(axis=1) | (masks != masks[number]).all(axis=1)
        return int(np.flatnonzero(alike)[0])


class PredictionsMIA(GameThreatModel):
    """Membership inference where predictions are all that there is.

    Nothing is asked or trained: what the model said of members and of non-members was written down
    by whoever has it, and maybe what reference models said of the same records. Attacks that read
    or change the inputs of records do not apply.

    Parameters
    ----------
    scores : array-like
        What the model says of each record: (records, classes), or (records,) for the second of two
        classes, or predicted classes (with ``outputs="labels"``).
    labels : array-like
        True class of each record, or rows that mark it in the order of the columns (one-hot).
    members : array-like
        Whether each was trained on: booleans, or 1 and 0. A record where this is missing (NaN,
        None, -1) is neither learnt from nor judged, and can be asked about by `judge`.
    classes : array-like, optional
        In the order of the columns; by default those that occur, sorted. Needed where nobody has
        one of them.
    reference_scores : array-like (references, records, classes), optional
        What reference models say of the same records.
    reference_members : array-like of bool (references, records), optional
        Which records each of them was trained on.
    known_share : float
        Share of both kinds whose membership the attacker knows. They are never judged.
    seed : int, optional
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        What `scores` holds; by default rows that are distributions are probabilities, and numbers
        some of which are negative logits; what may be either is refused.
    label : str
        Display name of the model.
    ids : sequence, optional
        What the records are called; the row labels of a data frame in `from_frame`.

    Attributes
    ----------
    left_out : (int, int)
        How many members and non-members are not compared, for they repeat others.

    Warns
    -----
    TargetInDataWarning
        Where rows of scores and class repeat as those of repeated records do: equal ones are known
        or judged together, and count once. Where few scores are possible, as of a tree, equal rows
        are those of different records.
    """

    def __init__(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        members: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        reference_scores: ArrayLike | None = None,
        reference_members: ArrayLike | None = None,
        known_share: float = 0.5,
        seed: int | None = None,
        outputs: str | None = None,
        label: str = "recorded model",
        ids: Sequence[object] = (),
    ) -> None:
        super().__init__(n_jobs=1)
        self.ids = ids
        given = Predictions.checked(
            scores, labels, members, classes, reference_scores, reference_members, outputs
        )
        self.known_share = check_probability(known_share, "known_share")
        seed = resolve_seed(seed)
        numbers = np.arange(len(given.labels))
        everyone = Records(numbers[:, None].astype(float), given.labels)
        inside, outside = (np.flatnonzero(given.members == kind) for kind in (1, 0))
        every = answer_keys(given)
        keys = (every[inside], every[outside])
        compared = compare_sides(keys, seed).once(keys)
        self.left_out = (
            len(inside) - len(compared.rows[0]),
            len(outside) - len(compared.rows[1]),
        )
        if compared.left_out:
            warnings.warn(compared.words(), TargetInDataWarning, stacklevel=2)
        rows = (inside[compared.rows[0]], outside[compared.rows[1]])
        known, judged = split_sides(
            (everyone, everyone), (numbers, numbers), rows, self.known_share, seed
        )
        model = RecordedModel(given.scores, given.classes, outputs=outputs, label=label)
        model.codes_of(given.labels)
        references = [
            RecordedModel(one, given.classes, outputs=outputs)
            for one in (() if given.reference_scores is None else given.reference_scores)
        ]
        self._columns: Mapping[str, str] = {}
        self._model, self._everyone = model, everyone
        self._unknown = np.flatnonzero(given.members < 0)
        self._game = PredictionsGame(
            model=model,
            access=model.access,
            known=known,
            candidates=judged,
            population=None,
            trainer=RecordedModels(references) if references else None,
            num_shadows=len(references),
            num_members=len(inside),
            train_on_targets=True,
            budget=None,
            seed=seed,
            data_label="predictions",
            inputs="",
            trained_on=given.reference_members,
        )

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        member: str = "member",
        label: Hashable = "label",
        known_share: float = 0.5,
        seed: int | None = None,
        outputs: str | None = None,
    ) -> "PredictionsMIA":
        """Read a file.

        A table has a column that says who is a member, one of true classes, and a column of scores
        for each class (called by it, with or without ``p_``; of two classes one is enough, which
        may be called ``score``) or one called ``predicted``, maybe with ``confidence``. An ``.npz``
        file has the arrays `scores`, `labels`, `members`, and maybe `classes`,
        `reference_scores` and `reference_members`.
        """
        found = read_predictions(Path(path), member, label, outputs)
        return cls._of(found, known_share, seed, Path(path).name)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        member: str = "member",
        label: Hashable = "label",
        known_share: float = 0.5,
        seed: int | None = None,
        outputs: str | None = None,
        where: str = "predictions",
    ) -> "PredictionsMIA":
        """Take a table as `read` does; `where` is how messages and results call it."""
        found = from_frame(frame, member, label, where, outputs)
        made = cls._of(found, known_share, seed, Path(where).name)
        made.ids = frame.index.tolist()
        return made

    @classmethod
    def _of(
        cls, found: Predictions, known_share: float, seed: int | None, label: str
    ) -> "PredictionsMIA":
        made = cls(
            found.scores,
            found.labels,
            found.members,
            found.classes,
            reference_scores=found.reference_scores,
            reference_members=found.reference_members,
            known_share=known_share,
            seed=seed,
            outputs=found.outputs,
            label=label,
        )
        made._columns = found.columns
        return made

    @property
    def scores_read(self) -> dict[str, Plain]:
        """What scores were read as (`read_as`), and what each column of a file is (`columns`)."""
        read_as = _READ_AS[str(self._model.outputs)]
        return {"read_as": read_as, "columns": dict(self._columns)}

    @property
    def num_records(self) -> int:
        """How many records there are predictions of."""
        return len(self._everyone)

    @property
    def game(self) -> PredictionsGame:
        """What is played."""
        return self._game

    @property
    def model(self) -> Model:
        """The answers, as a model that is asked about records by number."""
        return self._game.model

    @property
    def inputs_are_known(self) -> bool:
        """Nothing is known of records but their class."""
        return False

    def judge(
        self, attack: AttackLike, *, prior: float = 0.5, false_alarms: float = 0.05
    ) -> JudgedRecords:
        """Decide about the records whose membership is missing; see `ModelMIA.judge`."""
        if not len(self._unknown):
            raise SchemaError("members is missing for no record: there is nothing to judge")
        more = self._everyone.take(self._unknown)
        judged = judge_more(self._game, self._with(more), attack, prior, false_alarms)
        judged = replace(judged, table=judged.table.assign(record=self._unknown))
        return judged.called(self._names(self._unknown)) if are_names(self.ids) else judged

    def _with(self, more: Records) -> "PredictionsMIA":
        twin = copy.copy(self)
        twin._game = self._game.asking_about(more)
        return twin

    def judged_records(self) -> pd.DataFrame:
        """Who is judged: ``row`` (in what was given), ``class``, ``predicted``, ``correct``.

        And ``id``, where records have names.
        """
        about = self._game.about_judged()
        if are_names(self.ids):
            about.insert(2, "id", self._names(about["row"]))
        return about

    def _names(self, rows: Iterable[int]) -> list[str]:
        return [str(self.ids[row]) for row in rows]
