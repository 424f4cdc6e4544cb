"""Views of a model: less access, or other columns."""

import numpy as np

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models._access import Access, AccessError
from tapas.models._classes import class_codes
from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._one_hot import OneHotInputs


class RestrictedModel(Model):
    """A model seen through a release that shows less, with a query count of its own.

    Queries count here and on the model behind, whose budget holds as well.
    """

    def __init__(self, model: Model, access: Access, budget: int | None = None) -> None:
        if not model.access.shows(access):
            raise AccessError(
                f"{model.label} shows {model.access.value} only and cannot be viewed with access "
                f"to {access.value}; ask for access={model.access.value!r}"
            )
        super().__init__(model.classes, access=access, batch_size=None, budget=budget)
        self._model = model

    @property
    def label(self) -> str:
        """Display name."""
        return self._model.label

    def _scores(self, X: Inputs) -> np.ndarray:
        return self._model.predict_proba(X)

    def _labels(self, X: Inputs) -> np.ndarray:
        return self._model.predict(X)

    def _parameters(self) -> object:
        return self._model.parameters


class AlignedModel(Model):
    """A model with its columns in another order, and zeros for classes it never saw."""

    def __init__(self, model: Model, classes: np.ndarray) -> None:
        positions = class_codes(model.classes, classes, unseen="mark")
        if (positions < 0).any():
            raise SchemaError(
                f"classes must contain every class of the model; "
                f"{listing(model.classes[positions < 0].tolist())} are missing from "
                f"{listing(classes.tolist())}"
            )
        super().__init__(classes, access=model.access, batch_size=None, budget=None)
        self._model = model
        self._positions = positions

    @property
    def label(self) -> str:
        """Display name."""
        return self._model.label

    def _scores(self, X: Inputs) -> np.ndarray:
        aligned = np.zeros((len(X), len(self.classes)))
        aligned[:, self._positions] = self._model.predict_proba(X)
        return aligned

    def _labels(self, X: Inputs) -> np.ndarray:
        return self._model.predict(X)

    def _parameters(self) -> object:
        return self._model.parameters


class EncodedModel(Model):
    """A model of numbers that is asked about data frames.

    Parameters
    ----------
    model : Model
    encoding : OneHotInputs
        Turns data frames into what the model takes.
    """

    def __init__(self, model: Model, encoding: OneHotInputs) -> None:
        super().__init__(model.classes, access=model.access)
        self._model = model
        self._encoding = encoding

    @property
    def label(self) -> str:
        """Display name."""
        return self._model.label

    def _scores(self, X: Inputs) -> np.ndarray:
        return self._model.predict_proba(self._encoding(X))

    def _labels(self, X: Inputs) -> np.ndarray:
        return self._model.predict(self._encoding(X))

    def _parameters(self) -> object:
        return self._model.parameters
