"""Regressors in files, asked about tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tapas.models._boosters import (
    BOOSTER_FILES,
    Booster,
    as_booster,
    predicts_no_classes,
    read_booster,
)
from tapas.models._inputs import Inputs, as_rows
from tapas.models._one_hot import OneHotInputs
from tapas.models._onnx import OnnxModel
from tapas.models._residuals import CLASSES

__all__ = ["RegressorFile"]


@dataclass(frozen=True, eq=False)
class RegressorFile:
    """A number for each record, by an ONNX file or a booster that was saved.

    Attributes
    ----------
    content : OnnxModel or Booster
    label : str
        Display name: that of the file.
    encoding : OneHotInputs or None
        Turns categories into numbers; None where the file knows categories.
    """

    content: OnnxModel | Booster
    label: str
    encoding: OneHotInputs | None
    _estimator_type: ClassVar[str] = "regressor"

    @classmethod
    def read(cls, path: Path, X: Inputs) -> "RegressorFile":
        """The file at a path, which will be asked about records like these."""
        booster = as_booster(read_booster(path)) if path.suffix in BOOSTER_FILES else None
        knows = booster is not None and booster.knows_categories
        content = OnnxModel(path, CLASSES) if booster is None else booster
        return cls(content, path.name, None if knows else OneHotInputs.learn(as_rows(X)))

    @property
    def says_so(self) -> bool:
        """Whether nothing in the file tells of classes.

        That it returns one number may also be of two classes: what it should predict tells.
        """
        if isinstance(self.content, OnnxModel):
            return self.content.returns_one_number
        return predicts_no_classes(self.content)

    def predict(self, X: Inputs) -> ArrayLike:
        """What is predicted for each row."""
        rows = as_rows(X) if self.encoding is None else self.encoding(as_rows(X))
        if isinstance(self.content, OnnxModel):
            return np.asarray(self.content.raw(rows), dtype=float)
        return self.content.predict(rows)
