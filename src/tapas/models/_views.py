"""Views of a model: less access, other columns, or records in another form."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models._access import Access, AccessError
from tapas.models._classes import class_codes
from tapas.models._inputs import Inputs
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._one_hot import OneHotInputs
from tapas.models._trainer import Trainer


class ModelView(Model):
    """A model behind another: it is asked in its place, and counts what it is asked as well.

    Parameters
    ----------
    model : Model
        The one behind.
    classes, access, batch_size, budget
        As for `Model`; classes and access are by default those of the one behind.
    """

    def __init__(
        self,
        model: Model,
        *,
        classes: np.ndarray | None = None,
        access: Access | None = None,
        batch_size: int | None = BATCH_SIZE,
        budget: int | None = None,
    ) -> None:
        super().__init__(
            model.classes if classes is None else classes,
            access=access or model.access,
            batch_size=batch_size,
            budget=budget,
        )
        self._model = model

    @property
    def label(self) -> str:
        """Display name."""
        return self._model.label

    @property
    def remaining(self) -> int | None:
        """How many more records may be asked about, by any budget; None is any number."""
        left = [one for one in (super().remaining, self._model.remaining) if one is not None]
        return min(left, default=None)

    def _scores(self, X: Inputs) -> ArrayLike:
        return self._model.predict_proba(X)

    def _labels(self, X: Inputs) -> ArrayLike:
        return self._model.predict(X)

    def _parameters(self) -> object:
        return self._model.parameters

    def as_fitted(self, X: Inputs) -> Inputs:
        """As the model behind takes them."""
        return self._model.as_fitted(X)


class RestrictedModel(ModelView):
    """A model seen through a release that shows less, with a query count of its own.

    Queries count here and on the model behind, whose budget holds as well.
    """

    def __init__(self, model: Model, access: Access, budget: int | None = None) -> None:
        if not model.access.shows(access):
            raise AccessError(
                f"{model.label} shows {model.access.value} only and cannot be viewed with access "
                f"to {access.value}; ask for access={model.access.value!r}"
            )
        super().__init__(model, access=access, batch_size=None, budget=budget)


class AlignedModel(ModelView):
    """A model with its columns in another order, and zeros for classes it never saw."""

    def __init__(self, model: Model, classes: np.ndarray) -> None:
        positions = class_codes(model.classes, classes, unseen="mark")
        if (positions < 0).any():
            raise SchemaError(
                f"classes must contain every class of the model; "
                f"{listing(model.classes[positions < 0].tolist())} are missing from "
                f"{listing(classes.tolist())}"
            )
        super().__init__(model, classes=classes, batch_size=None)
        self._positions = positions

    def _scores(self, X: Inputs) -> np.ndarray:
        aligned = np.zeros((len(X), len(self.classes)))
        aligned[:, self._positions] = self._model.predict_proba(X)
        return aligned


class EncodedModel(ModelView):
    """A model of numbers that is asked about data frames.

    Parameters
    ----------
    model : Model
    encoding : OneHotInputs
        Turns data frames into what the model takes.
    """

    def __init__(self, model: Model, encoding: OneHotInputs) -> None:
        super().__init__(model, batch_size=model.batch_size)
        self._encoding = encoding

    def _scores(self, X: Inputs) -> ArrayLike:
        return self._model.answered(self._encoding(X), len(X))

    def _labels(self, X: Inputs) -> np.ndarray:
        return self._model.predict(self._encoding(X))

    def as_fitted(self, X: Inputs) -> Inputs:
        """Encoded."""
        return self._model.as_fitted(self._encoding(X))


class ReformedModel(ModelView):
    """A model of records in a form of their own that is asked about rows.

    Parameters
    ----------
    model : Model
    form : callable
        Turns rows into what the model takes.
    """

    def __init__(self, model: Model, form: Callable[[Inputs], object]) -> None:
        super().__init__(model, batch_size=model.batch_size)
        self._form = form

    def _scores(self, X: Inputs) -> ArrayLike:
        return self._model.answered(self._form(X), len(X))

    def _labels(self, X: Inputs) -> ArrayLike:
        return self._model.answered(self._form(X), len(X), labels=True)


@dataclass(frozen=True)
class ReformedTrainer(Trainer):
    """Trains on records in a form of their own that are given as rows.

    Attributes
    ----------
    trainer : Trainer
    form : callable
        Turns rows into what the trainer takes.
    """

    trainer: Trainer
    form: Callable[[Inputs], Inputs]

    @property
    def label(self) -> str:
        """Display name."""
        return self.trainer.label

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one model."""
        return ReformedModel(self.trainer.train(self.form(X), y, rng=rng), self.form)
