"""ONNX files as models."""

import os
from collections.abc import Hashable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas.errors import ConfigError, MechanismError, SchemaError
from tapas.models._access import Access
from tapas.models._inputs import Inputs, column_at
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import as_probabilities

NUMBER_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}

MEANING_OF_LAST_NODE = {"Softmax": "scores", "Sigmoid": "scores", "LogSoftmax": "log_scores"}


RawOutput: TypeAlias = np.ndarray | list[dict[Hashable, float]]


class _Place(Protocol):
    """An input of the file."""

    name: str
    type: str
    shape: list[int]


class _Attribute(Protocol):
    name: str
    strings: list[bytes]
    ints: list[int]


class _Node(Protocol):
    """A node of the graph."""

    op_type: str
    output: list[str]
    attribute: list[_Attribute]


class OnnxModel(Model):
    """A classifier in an ONNX file, run by onnxruntime.

    The file takes all columns as one tensor, or one tensor per column (matched by name, else by
    position). Of its outputs, probabilities are the one of floats (a list of dictionaries works
    too) and labels the one of integers or text.

    Parameters
    ----------
    path : path of an ``.onnx`` file
    classes : array-like, optional
        In the order of the probability columns. By default those that the file lists (read with
        the onnx package, where it is installed), else the keys of dictionaries, else 0, 1, ... as
        many as there are columns.
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        What the file returns. By default told by the name of the output ("prob...") or the node
        that makes it; failing both, rows that sum to one are probabilities and anything else is
        logits.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        classes: ArrayLike | None = None,
        *,
        outputs: str | None = None,
        batch_size: int | None = BATCH_SIZE,
    ) -> None:
        self._name = Path(path).name
        self._content = _read(Path(path))
        self._open()
        shows_scores = self._score_output is not None and outputs != "labels"
        super().__init__(
            self._found_classes() if classes is None else classes,
            access=Access.PARAMETERS if shows_scores else Access.LABELS,
            batch_size=batch_size,
        )
        self._outputs = outputs or self._told_by_file()

    @property
    def label(self) -> str:
        """Display name."""
        return self._name

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key != "_session"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._open()

    def __spec__(self) -> dict[str, object]:
        """The content of the file, whatever it is called, and how it is read."""
        return {
            "content": self._content,
            "classes": self.classes,
            "outputs": self._outputs,
            "access": self.access,
            "batch_size": self.batch_size,
        }

    def _parameters(self) -> bytes:
        return self._content

    def _scores(self, X: Inputs) -> np.ndarray:
        raw = self.raw(X)
        if isinstance(raw, list):
            raw = _from_dictionaries(raw, self.classes)
        return as_probabilities(raw, self._outputs, len(self.classes))

    def raw(self, X: Inputs) -> RawOutput:
        """What the file returns as floats, as it is; not counted as queries."""
        return self._run(self._score_output, _feeds(self._session.get_inputs(), X))

    def _labels(self, X: Inputs) -> ArrayLike:
        if self._label_output is None:
            return super()._labels(X)
        return np.asarray(self._run(self._label_output, _feeds(self._session.get_inputs(), X)))

    @property
    def returns_one_number(self) -> bool:
        """Whether it returns one number for each record, and nothing that tells of classes."""
        if self._label_output is not None or self._told_by_file() is not None:
            return False
        raw = self._answer_to_nothing()
        one = isinstance(raw, np.ndarray) and raw.size == 1
        return one and _written_classes(self._content) is None

    def _open(self) -> None:
        runtime = _onnxruntime()
        options = runtime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._session = runtime.InferenceSession(
                self._content, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigError(f"{self._name} is not a usable ONNX model: {error}") from error
        kinds = {output.name: output.type for output in self._session.get_outputs()}
        scores = [name for name, kind in kinds.items() if "float" in kind or "double" in kind]
        labels = [
            name for name, kind in kinds.items() if kind in ("tensor(int64)", "tensor(string)")
        ]
        likely = [name for name in scores if "prob" in name.lower()]
        self._score_output = (likely or scores or [None])[0]
        self._label_output = (labels or [None])[0]

    def _run(self, output: str | None, feeds: dict[str, np.ndarray]) -> RawOutput:
        if output is None:
            raise MechanismError(f"{self._name} has no output of probabilities")
        return self._session.run([output], feeds)[0]

    def _told_by_file(self) -> str | None:
        """What the scores are, by the output's name or type or by the node that makes it."""
        name = self._score_output
        if name is None:
            return None
        kinds = {output.name: output.type for output in self._session.get_outputs()}
        if "prob" in name.lower() or kinds[name].startswith("seq"):
            return "scores"
        makers = [node.op_type for node in _nodes(self._content) if name in node.output]
        return MEANING_OF_LAST_NODE.get(makers[0]) if makers else None

    def _found_classes(self) -> np.ndarray:
        """Read the classes from the file, or from the shape of its answer to an empty record."""
        written = _written_classes(self._content)
        if written is not None:
            return written
        declared = {output.name: output.type for output in self._session.get_outputs()}
        is_text = declared.get(self._label_output or "") == "tensor(string)"
        raw = self._answer_to_nothing()
        if isinstance(raw, list):
            return np.array(list(raw[0]))
        if raw is None or is_text:
            raise ConfigError(
                f"{self._name} does not say what its classes are; read it with "
                f"tapas.models.as_model(path, classes=[...]), in the order of its probability "
                f"columns (model.classes in an audit file)"
            )
        return np.arange(max(2, raw.shape[1] if raw.ndim == 2 else 1))

    def _answer_to_nothing(self) -> RawOutput | None:
        """Scores of one record of zeros and empty text; None where the file cannot give any."""
        inputs = self._session.get_inputs()
        known = all(isinstance(size, int) for place in inputs for size in place.shape[1:])
        if self._score_output is None or not known:
            return None
        try:
            return self._run(self._score_output, {place.name: _blank(place) for place in inputs})
        except Exception:  # onnxruntime's errors share no narrower base
            return None


def _nodes(content: bytes) -> list[_Node]:
    """Nodes of the graph, where the onnx package is there to read them."""
    try:
        onnx = import_module("onnx")
    except ImportError:
        return []
    return list(onnx.load_from_string(content).graph.node)


def _written_classes(content: bytes) -> np.ndarray | None:
    """Classes that a classifier node lists."""
    for node in reversed(_nodes(content)):
        for attribute in node.attribute:
            if attribute.name.startswith("classlabel") and (attribute.strings or attribute.ints):
                words = [value.decode() for value in attribute.strings]
                return np.array(words) if words else np.array(list(attribute.ints))
    return None


def _onnxruntime() -> ModuleType:
    try:
        return import_module("onnxruntime")
    except ImportError:
        raise ConfigError(
            "an ONNX model needs onnxruntime, which is not installed: pip install "
            "'tapas-privacy[onnx]'"
        ) from None


def _read(path: Path) -> bytes:
    if path.suffix != ".onnx":
        raise ConfigError(
            f"a model file must be an .onnx file, or a booster saved by xgboost (.json, .ubj) or "
            f"lightgbm (.txt), got {path.name!r}; load any other format yourself and pass the "
            f"object"
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the model file {path}: {error.strerror}") from error


def _feeds(inputs: list[_Place], X: Inputs) -> dict[str, np.ndarray]:
    """Arrange records as the file's inputs."""
    if len(inputs) == 1:
        values = X.to_numpy() if isinstance(X, pd.DataFrame) else X
        _check_width(values, inputs[0])
        return {inputs[0].name: _as_input(values, inputs[0])}
    if isinstance(X, (dict, tuple)):  # several inputs, by name or in order
        parts = X if isinstance(X, dict) else dict(zip([p.name for p in inputs], X, strict=True))
        return {place.name: _as_input(parts[place.name], place) for place in inputs}
    if X.shape[1] != len(inputs):
        raise SchemaError(f"the model takes {len(inputs)} columns, X has {X.shape[1]}")
    feeds = {}
    for position, place in enumerate(inputs):
        named = isinstance(X, pd.DataFrame) and place.name in X.columns
        values = X[place.name] if named else column_at(X, position)
        feeds[place.name] = _as_input(np.asarray(values)[:, None], place)
    return feeds


def _check_width(values: np.ndarray, place: _Place) -> None:
    """Refuse rows of another width than the file declares."""
    width = place.shape[1] if len(place.shape) == 2 else None
    if isinstance(width, int) and values.ndim == 2 and values.shape[1] != width:
        raise SchemaError(
            f"the file takes {width} numbers for each record and was given {values.shape[1]}. Of a "
            f"table it is given a cell for each category: columns of numbers that are read as "
            f"categories are put right in the schema, others left out (data.schema, data.drop)"
        )


def _as_input(values: np.ndarray, place: _Place) -> np.ndarray:
    if place.type == "tensor(string)":
        return np.where(pd.isna(values), "", values).astype(str).astype(object)
    if place.type not in NUMBER_TYPES:
        raise ConfigError(f"input {place.name!r} of type {place.type} is not supported")
    return np.ascontiguousarray(values.astype(NUMBER_TYPES[place.type]))


def _blank(place: _Place) -> np.ndarray:
    shape = (1, *place.shape[1:])
    return _as_input(np.full(shape, "" if place.type == "tensor(string)" else 0), place)


def _from_dictionaries(rows: list[dict[Hashable, float]], classes: np.ndarray) -> np.ndarray:
    keys = list(classes.tolist())
    try:
        return np.array([[row[key] for key in keys] for row in rows], dtype=np.float64)
    except KeyError as error:
        raise MechanismError(
            f"the model returned no probability for class {error}; its classes are {list(rows[0])}"
        ) from None
