"""How records of any kind are laid out as rows for attacks, and given to models as they were."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from tapas.errors import SchemaError
from tapas.models import (
    FITS,
    Classifier,
    Form,
    Listing,
    Model,
    Records,
    ReformedModel,
    ReformedTrainer,
    ResidualModel,
    ResidualTrainer,
    ShapedTrainer,
    SklearnTrainer,
    Trainer,
    as_model,
    classes_of_several,
    is_sparse,
    is_texts,
    predicts_numbers,
    with_targets,
)
from tapas.threat_models._model_records import RecordsLike, pair

SHARE = 0.3  # of the spread of what is predicted: a residual that is neither small nor large
TrainerLike = Trainer | Classifier | None


class Layout(Protocol):
    """What attacks work on, and how a model is asked about it."""

    @property
    def inputs(self) -> Literal["read", "change"]:
        """What attacks can do with the rows."""

    @property
    def image(self) -> tuple[int, ...] | None:
        """The shape of each record, where they are images."""

    def records(self, given: RecordsLike, name: str) -> Records:
        """Records as rows."""

    def model(self, model: object) -> Model:
        """The model, asked about rows."""

    def trainer(self, trainer: TrainerLike) -> Trainer | None:
        """What trains on rows."""


@dataclass(frozen=True)
class Rows:
    """Rows of numbers, or a data frame: as they are."""

    @property
    def inputs(self) -> Literal["read", "change"]:
        """What attacks can do with the rows."""
        return "change"

    @property
    def image(self) -> tuple[int, ...] | None:
        """None are."""
        return None

    def records(self, given: RecordsLike, name: str) -> Records:
        """As they are."""
        return given if isinstance(given, Records) else Records(*pair(given, name))

    def model(self, model: object) -> Model:
        """As it is."""
        return as_model(model)

    def trainer(self, trainer: TrainerLike) -> Trainer | None:
        """As it is."""
        if trainer is None or isinstance(trainer, Trainer):
            return trainer
        return SklearnTrainer(trainer)


@dataclass(frozen=True)
class Shaped(Rows):
    """Arrays of some shape or of whole numbers, or several inputs."""

    form: Form

    @property
    def image(self) -> tuple[int, ...] | None:
        """Of one input with two or three axes."""
        shape = self.form.shapes[0]
        return shape if self.form.single and len(shape) in (2, 3) else None

    def records(self, given: RecordsLike, name: str) -> Records:
        """Laid out."""
        X, y = pair(given, name)
        return Records(self.form.rows(X), y)

    def model(self, model: object) -> Model:
        """Given the shape."""
        return ReformedModel(as_model(model), self.form)

    def trainer(self, trainer: TrainerLike) -> Trainer | None:
        """Given the shape."""
        made = super().trainer(trainer)
        return None if made is None else ShapedTrainer(made, self.form)


@dataclass(frozen=True, eq=False)
class Listed(Rows):
    """Texts, or rows of a sparse matrix, by the numbers that stand for them."""

    listing: Listing

    @property
    def inputs(self) -> Literal["read", "change"]:
        """Changed texts would be others than those that are listed."""
        return "read"

    def records(self, given: RecordsLike, name: str) -> Records:
        """By number."""
        X, y = pair(given, name)
        return Records(self.listing.rows(X), y)

    def model(self, model: object) -> Model:
        """Given the texts."""
        return ReformedModel(as_model(model), self.listing)

    def trainer(self, trainer: TrainerLike) -> Trainer | None:
        """Given the texts."""
        made = super().trainer(trainer)
        return None if made is None else ReformedTrainer(made, self.listing)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Rows that carry what is to be predicted: numbers, or several classes.

    Attributes
    ----------
    scales : ndarray
    classes : tuple of ndarray, or None
    laid : Rows
        How the inputs by themselves are laid out.
    """

    scales: np.ndarray
    classes: tuple[np.ndarray, ...] | None
    laid: Rows

    @property
    def right_when(self) -> str:
        """What counts as right, in words: what fits with a probability above one half."""
        if self.classes is not None:
            return (
                f"finding the {len(self.classes)} true values together likelier than not (the "
                f"geometric mean of their probabilities is above one half)"
            )
        within = [f"{scale * np.log(2):.3g}" for scale in self.scales]
        if len(within) == 1:
            return f"predicting a number that is off by less than {within[0]}"
        return f"predicting numbers that are off by less than {', '.join(within)} on average"

    @property
    def inputs(self) -> Literal["read", "change"]:
        """There are no classes, so that no boundary can be looked for."""
        return "read"

    @property
    def image(self) -> None:
        """None are."""

    def records(self, given: RecordsLike, name: str) -> Records:
        """With what is to be predicted in the last columns."""
        X, y = pair(given, name)
        targets = _columns(y)
        if targets.shape[1] != len(self.scales):
            raise SchemaError(
                f"{name}: {len(self.scales)} things are predicted, y has {targets.shape[1]} columns"
            )
        if self.classes is not None:
            parts = zip(self.classes, targets.T, strict=True)
            targets = np.column_stack(
                [pd.Index(classes).get_indexer(pd.Index(part)) for classes, part in parts]
            )
        fits = np.full(len(targets), FITS)
        inputs = self.laid.records((X, fits), name).X
        return Records(with_targets(inputs, targets.astype(float)), fits)

    def model(self, model: object) -> Model:
        """How well its predictions fit."""
        return ResidualModel(model, self.scales, self.classes, self._form)  # type: ignore[arg-type]

    def trainer(self, trainer: TrainerLike) -> Trainer | None:
        """Trains predictors."""
        if trainer is None:
            return None
        return ResidualTrainer(trainer, self.scales, self.classes, self._form)

    @property
    def _form(self) -> Form | Listing | None:
        """What turns rows into the inputs as they were."""
        match self.laid:
            case Shaped(form=form):
                return form
            case Listed(listing=listing):
                return listing
        return None


def layout_for(model: object, members: RecordsLike) -> Layout:
    """How records like these are laid out for a model."""
    if isinstance(members, Records):
        return Rows()
    X, y = pair(members, "members")
    several, laid = classes_of_several(model), _laid_out(X)
    if several is not None:
        return Residuals(np.ones(len(several)), several, laid)
    if predicts_numbers(model, y):
        spread = np.nanstd(_columns(y).astype(float), axis=0)
        return Residuals(np.where(spread > 0, spread, 1.0) * SHARE, None, laid)
    return laid


def _laid_out(X: object) -> Rows:
    if is_sparse(X) or is_texts(X):
        return Listed(listing=Listing(is_sparse(X)))
    if isinstance(X, (dict, tuple)):
        return Shaped(form=Form.of(X))
    if isinstance(X, np.ndarray) and (X.ndim > 2 or X.dtype.kind in "iu"):
        return Shaped(form=Form.of(X))
    return Rows()


def _columns(y: np.ndarray) -> np.ndarray:
    return y[:, None] if y.ndim == 1 else y
