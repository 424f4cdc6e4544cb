"""Predictions as people write them down: a table, or arrays in an npz file."""

import io
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._files import DAMAGED_NPZ, refuse_bomb
from tapas._validate import listing
from tapas.datasets import DataDescription, TabularDataset, locate, read_file
from tapas.errors import SchemaError
from tapas.models import Shown, as_labels, distinct_labels

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
    columns : mapping
        What each column of scores is.
    """

    scores: np.ndarray
    labels: np.ndarray
    members: np.ndarray
    classes: np.ndarray
    reference_scores: np.ndarray | None = None
    reference_members: np.ndarray | None = None
    outputs: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

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
        said, inside = as_array(scores, "scores"), membership(members)
        for name, array in (("labels", as_array(labels, "labels")), ("members", inside)):
            if len(array) != len(said):
                raise SchemaError(f"scores has {len(said)} records, {name} {len(array)}")
        true, known = _classes_among(labels, classes, said, outputs)
        if (reference_scores is None) != (reference_members is None):
            raise SchemaError("reference_scores and reference_members go together: give both")
        of_references, trained_on = None, None
        if reference_scores is not None:
            of_references = as_array(reference_scores, "reference_scores")
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


def as_array(given: ArrayLike, name: str) -> np.ndarray:
    """An array of rows of equal length."""
    try:
        return np.asarray(given)
    except ValueError:
        raise SchemaError(
            f"{name} must have rows of equal length, one number for each class"
        ) from None


def _classes_among(
    labels: ArrayLike, classes: ArrayLike | None, said: np.ndarray, outputs: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """The class of each record, and all classes in the order of the columns of scores."""
    given = as_array(labels, "labels")
    true = as_labels(given, "labels")
    width = said.shape[1] if said.ndim == 2 else 1
    if given.ndim == 2 and given.shape[1] > 1:  # one-hot rows mark a column
        known = np.arange(given.shape[1]) if classes is None else np.asarray(classes)
        if len(known) != given.shape[1]:
            raise SchemaError(
                f"labels are rows that mark one of {given.shape[1]} classes, and classes lists "
                f"{len(known)}: list one for each column"
            )
        return known[true], known
    if classes is not None:
        return true, np.asarray(classes)
    if outputs == "labels":
        return true, distinct_labels(np.concatenate([true, as_labels(said, "scores")]))
    known = distinct_labels(true)
    if len(known) != width and (width, len(known)) != (1, 2):
        columns = f"{width} columns" if width > 1 else "one column"
        raise SchemaError(
            f"scores have {columns}, and labels hold {len(known)} classes, "
            f"{listing(known.tolist())}: name the classes in the order of the columns with "
            f"classes=[...] (in an npz file by the array classes)"
        )
    return true, known


def read_predictions(
    path: Path, member: str, label: Hashable, outputs: str | None = None
) -> Predictions:
    """Read a table, or an npz file; see `PredictionsMIA.read`."""
    if path.suffix == ".npz":
        return _from_arrays(path, outputs)
    cells = read_file(locate(path)[0]).cells
    return from_frame(
        TabularDataset(cells, DataDescription.infer(cells, path.stem)).data,
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
    inside = membership(frame[member], f"{where}: column {member!r}")
    scores = _score_columns(frame[rest], labels)
    if not scores and PREDICTED in rest:
        kept = [name for name in (PREDICTED, CONFIDENCE) if name in rest]
        _refuse_others(rest, kept, where)
        return _of_predicted(frame[kept], labels, inside, where)
    classes = _classes_of(scores, rest, labels, where)
    _refuse_others(rest, scores, where)
    found = Predictions.checked(
        frame[scores].to_numpy(dtype=float), labels, inside, classes, outputs=outputs
    )
    return replace(found, columns=_meaning(scores, classes))


def _score_columns(frame: pd.DataFrame, labels: np.ndarray) -> list[Hashable]:
    """Columns of numbers that are called by a class, or the one that is called score."""
    numbers = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    named = {str(value) for value in labels}
    found = [name for name in numbers if _bare(name) in named or _bare(name) != str(name)]
    single = [name for name in numbers if str(name).lower() in SINGLE]
    return found or (single[:1] if len(named) == 2 else [])


def _refuse_others(columns: Sequence[Hashable], kept: Sequence[Hashable], where: str) -> None:
    others = [str(name) for name in columns if name not in kept]
    if others:
        command = shlex.join([word for name in others for word in ("--drop", name)])
        raise SchemaError(
            f"{where}: columns that are no scores must be left out ({command}, data.drop: "
            f"{others}); the score of a class that nobody has is called p_, and its name"
        )


def _of_predicted(
    frame: pd.DataFrame, labels: np.ndarray, inside: np.ndarray, where: str
) -> Predictions:
    """Predicted classes, maybe with their confidence."""
    predicted = frame[PREDICTED].to_numpy(dtype=object)
    classes = pd.unique(np.concatenate([labels, predicted]))
    about = {PREDICTED: "the predicted class"}
    if CONFIDENCE not in frame.columns:
        found = Predictions.checked(predicted, labels, inside, classes, outputs="labels")
        return replace(found, columns=about)
    scores = _with_confidence(predicted, frame[CONFIDENCE], classes, where)
    found = Predictions.checked(scores, labels, inside, classes, outputs="scores")
    return replace(found, columns={**about, CONFIDENCE: "its probability"})


def _meaning(columns: Sequence[Hashable], classes: np.ndarray) -> dict[str, str]:
    """The class of each column; of one column the last."""
    of = classes[-len(columns) :]
    return {str(name): f"class {one}" for name, one in zip(columns, of, strict=True)}


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


def _classes_of(
    columns: Sequence[Hashable], others: Sequence[Hashable], labels: np.ndarray, where: str
) -> np.ndarray:
    """The class of each column of scores: by its name, or of one column the second of two."""
    named = {str(value): value for value in pd.unique(labels)}
    found = [named.get(_bare(name), _bare(name)) for name in columns]
    if len(columns) == 1 and len(named) == 2:
        second = _bare(columns[0])
        last = second if second in named else sorted(named)[-1]
        return np.array([*(v for k, v in named.items() if k != last), named[last]], dtype=object)
    missing = [value for value in named.values() if value not in found]
    if missing:
        raise SchemaError(
            f"{where}: there is no column of numbers for the classes {listing(missing)}; columns "
            f"of scores are called by their class, with or without p_ (that of the second of "
            f"two: 'score'; without scores: {PREDICTED!r}, alone or with {CONFIDENCE!r}), and "
            f"there are {listing(others)}: rename them, or leave out (--drop, data.drop) what is "
            f"no probability"
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
        found = Predictions.checked(**arrays, outputs=outputs)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from None
    wide = found.scores.ndim > 1
    names = [f"scores[:, {place}]" for place in range(len(found.classes))] if wide else ["scores"]
    return replace(found, columns=_meaning(names, found.classes))


def membership(given: ArrayLike, name: str = "members") -> np.ndarray:
    """1 inside, 0 outside, -1 where it is missing."""
    column = np.asarray(given, dtype=object)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise SchemaError(f"{name} must hold one value for each record, got shape {column.shape}")
    values = pd.Series(column)
    words = values.map(lambda value: str(value).strip().lower())
    unknown = values.isna() | (words == str(UNKNOWN))
    codes = np.select([words.isin(YES), words.isin(NO), unknown], [1, 0, UNKNOWN], default=9)
    strange = np.flatnonzero(codes == 9)
    if len(strange):
        raise SchemaError(
            f"{name} must hold 1 and 0, true and false, or yes and no, empty where it is unknown; "
            f"row {strange[0]} holds {values[strange[0]]!r}"
        )
    return codes
