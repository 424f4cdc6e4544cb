"""Predictions as people write them down: a table, or arrays in an npz file."""

import io
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._files import DAMAGED_NPZ, refuse_bomb
from tapas._validate import listing
from tapas.datasets import DataDescription, TabularDataset, locate, read_file
from tapas.errors import SchemaError
from tapas.models import Shown

PREDICTED, CONFIDENCE = "predicted", "confidence"
SINGLE = {"p", "prob", "probability", "score", "scores"}  # of the second of two classes
PREFIXES = ("p_", "score_", "prob_")
YES = {"1", "1.0", "true", "yes", "y", "in", "member", "train"}
NO = {"0", "0.0", "false", "no", "n", "out", "non-member", "nonmember", "test"}
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model said of records, their classes, and who was trained on.

    Attributes
    ----------
    scores, labels : ndarray
    members : ndarray of int
        1 inside, 0 outside, -1 unknown.
    classes : ndarray
    reference_scores, reference_members : ndarray or None
    outputs : str or None
    """

    scores: np.ndarray
    labels: np.ndarray
    members: np.ndarray
    classes: np.ndarray
    reference_scores: np.ndarray | None = None
    reference_members: np.ndarray | None = None
    outputs: str | None = None

    @classmethod
    def checked(
        cls,
        scores: ArrayLike,
        labels: ArrayLike,
        members: ArrayLike,
        classes: ArrayLike | None = None,
        reference_scores: ArrayLike | None = None,
        reference_members: ArrayLike | None = None,
        outputs: str | None = None,
    ) -> "Predictions":
        """Refuse what does not fit together."""
        said, true, inside = np.asarray(scores), np.asarray(labels), _membership(members)
        for name, array in (("labels", true), ("members", inside)):
            if len(array) != len(said):
                raise SchemaError(f"scores has {len(said)} records, {name} {len(array)}")
        known = np.unique(true) if classes is None else np.asarray(classes)
        if (reference_scores is None) != (reference_members is None):
            raise SchemaError("reference_scores and reference_members go together: give both")
        of_references, trained_on = None, None
        if reference_scores is not None:
            of_references = np.asarray(reference_scores)
            trained_on = np.asarray(reference_members).astype(bool)
            if of_references.shape[1:] != said.shape:
                raise SchemaError(
                    f"reference_scores must have the shape (references, *scores), that is (..., "
                    f"{', '.join(map(str, said.shape))}), got {of_references.shape}"
                )
            if trained_on.shape != (len(of_references), len(said)):
                raise SchemaError(
                    f"reference_members must have the shape (references, records), "
                    f"{(len(of_references), len(said))}, got {trained_on.shape}"
                )
        return cls(said, true, inside, known, of_references, trained_on, outputs)


def read_predictions(
    path: Path, member: str, label: Hashable, outputs: str | None = None
) -> Predictions:
    """Read a table, or an npz file; see `PredictionsMIA.read`."""
    if path.suffix == ".npz":
        return _from_arrays(path, outputs)
    frame = read_file(locate(path)[0]).frame
    return from_frame(
        TabularDataset(frame, DataDescription.infer(frame, path.stem)).data,
        member,
        label,
        str(path),
        outputs,
    )


def from_frame(
    frame: pd.DataFrame, member: str, label: Hashable, where: str, outputs: str | None = None
) -> Predictions:
    """Predictions of a table; `where` is how messages call it."""
    for role, name in (("who is a member", member), ("the true classes", label)):
        if name not in frame.columns:
            raise SchemaError(
                f"{where}: there is no column {name!r} that says {role}; the columns are "
                f"{listing(frame.columns)}"
            )
    rest = [name for name in frame.columns if name not in (member, label)]
    labels = frame[label].to_numpy(dtype=object)
    inside = frame[member]
    if set(rest) in ({PREDICTED}, {PREDICTED, CONFIDENCE}):
        predicted = frame[PREDICTED].to_numpy(dtype=object)
        classes = pd.unique(np.concatenate([labels, predicted]))
        if len(rest) == 1:
            return Predictions.checked(predicted, labels, inside, classes, outputs="labels")
        scores = _with_confidence(predicted, frame[CONFIDENCE], classes, where)
        return Predictions.checked(scores, labels, inside, classes, outputs="scores")
    texts = [name for name in rest if not pd.api.types.is_numeric_dtype(frame[name])]
    if texts or not rest:
        raise SchemaError(
            f"{where}: beside {member!r} and {label!r} there must be a column of scores for each "
            f"class, or one called {PREDICTED!r}, alone or with {CONFIDENCE!r}; "
            f"{listing(texts or rest)} hold no numbers: leave out what is no score"
        )
    classes = _classes_of(rest, labels, where)
    return Predictions.checked(
        frame[rest].to_numpy(dtype=float), labels, inside, classes, outputs=outputs
    )


def _with_confidence(
    predicted: np.ndarray, confidence: pd.Series, classes: np.ndarray, where: str
) -> np.ndarray:
    """The probability of the predicted class, what is left spread over the others."""
    given = pd.to_numeric(confidence, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(~((given >= 0) & (given <= 1)))
    if len(wrong):
        raise SchemaError(
            f"{where}: {CONFIDENCE!r} must be the probability of the class in {PREDICTED!r}, from "
            f"0 to 1; row {wrong[0]} holds {confidence.iloc[wrong[0]]!r}"
        )
    seen = np.where(predicted[:, None] == classes, given[:, None], 0.0)
    return Shown(top=1).of(seen)


def _classes_of(columns: list[Hashable], labels: np.ndarray, where: str) -> np.ndarray:
    """The class of each column of scores: by its name, or of one column the second of two."""
    named = {str(value): value for value in pd.unique(labels)}
    found = [named.get(_bare(name), _bare(name)) for name in columns]
    single = str(columns[0]).lower() in SINGLE or str(columns[0]).startswith(PREFIXES)
    if len(columns) == 1 and len(named) == 2 and (single or found[0] in named.values()):
        second = _bare(columns[0])
        last = second if second in named else sorted(named)[-1]
        return np.array([*(v for k, v in named.items() if k != last), named[last]], dtype=object)
    missing = [value for value in named.values() if value not in found]
    if missing:
        raise SchemaError(
            f"{where}: there is no column of scores for the classes {listing(missing)}; columns of "
            f"scores are called by their class, with or without p_ (that of the second of "
            f"two: 'score'), and there are {listing(columns)}: rename them, or leave out "
            f"(--drop, data.drop) what is no probability"
        )
    strange = [name for name in columns if str(name) == _bare(name) and _bare(name) not in named]
    if strange:
        raise SchemaError(
            f"{where}: {listing(strange)}: no record has such a class, so this may be no score; "
            f"leave it out (--drop, data.drop), or call it p_{strange[0]} if it is the score of a "
            f"class that nobody has"
        )
    return np.array(found, dtype=object)


def _bare(column: Hashable) -> str:
    name = str(column)
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _from_arrays(path: Path, outputs: str | None) -> Predictions:
    try:
        content = path.read_bytes()
        refuse_bomb(content)
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except DAMAGED_NPZ as error:
        raise SchemaError(f"{path}: cannot be read as npz: {error}") from error
    needed = ("scores", "labels", "members")
    missing = [name for name in needed if name not in arrays]
    unknown = sorted(set(arrays) - {*needed, "classes", "reference_scores", "reference_members"})
    if missing or unknown:
        raise SchemaError(
            f"{path}: the arrays must be scores, labels, members and maybe classes, "
            f"reference_scores, reference_members; "
            + (f"{listing(missing)} are missing" if missing else f"not {listing(unknown)}")
        )
    try:
        return Predictions.checked(**arrays, outputs=outputs)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from None


def _membership(given: ArrayLike) -> np.ndarray:
    """1 inside, 0 outside, -1 where it is missing."""
    values = pd.Series(np.asarray(given, dtype=object)).reset_index(drop=True)
    words = values.map(lambda value: str(value).strip().lower())
    unknown = values.isna() | (words == str(UNKNOWN))
    codes = np.select([words.isin(YES), words.isin(NO), unknown], [1, 0, UNKNOWN], default=9)
    strange = np.flatnonzero(codes == 9)
    if len(strange):
        raise SchemaError(
            f"members must be 1 and 0, true and false, or yes and no, empty where it is unknown; "
            f"row {strange[0]} holds {values[strange[0]]!r}"
        )
    return codes
