"""How records of any kind are laid out as rows for attacks, and given to models as they were."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from tapas.errors import SchemaError
from tapas.models import (
    FITS,
    Access,
    AccessError,
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
    Shown,
    ShownModel,
    ShownTrainer,
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

    def refuse_view(self, access: Access, shown: Shown | None) -> None:
        """Refuse what such a model cannot show alone."""

    def model(self, model: object, shown: Shown | None = None) -> Model:
        """The model, asked about rows."""

    def trainer(self, trainer: TrainerLike, shown: Shown | None = None) -> Trainer | None:
        """What trains on rows."""

    def about(self, about: pd.DataFrame, model: Model, records: Records) -> pd.DataFrame:
        """What is told of each record, in words of what is predicted."""


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

    def refuse_view(self, access: Access, shown: Shown | None) -> None:
        """A classifier of one output can show any part."""

    def model(self, model: object, shown: Shown | None = None) -> Model:
        """As it is, or a part of its scores."""
        made = self._model(as_model(model))
        return made if shown is None else ShownModel(made, shown)

    def _model(self, model: Model) -> Model:
        return model

    def trainer(self, trainer: TrainerLike, shown: Shown | None = None) -> Trainer | None:
        """As it is, or of models that show a part of their scores."""
        if trainer is None:
            return None
        made = self._trainer(trainer if isinstance(trainer, Trainer) else SklearnTrainer(trainer))
        return made if shown is None else ShownTrainer(made, shown)

    def _trainer(self, trainer: Trainer) -> Trainer:
        return trainer

    def about(self, about: pd.DataFrame, model: Model, records: Records) -> pd.DataFrame:
        """As it is."""
        return about


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

    def _model(self, model: Model) -> Model:
        return ReformedModel(model, self.form)

    def _trainer(self, trainer: Trainer) -> Trainer:
        return ShapedTrainer(trainer, self.form)


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

    def _model(self, model: Model) -> Model:
        return ReformedModel(model, self.listing)

    def _trainer(self, trainer: Trainer) -> Trainer:
        return ReformedTrainer(trainer, self.listing)


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
        if self.classes is None:
            targets = _numbers(targets, name)
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

    def refuse_view(self, access: Access, shown: Shown | None) -> None:
        """There is no one class that could be shown alone, or whose score is the largest."""
        asked = "access='labels'" if access is Access.LABELS else ""
        if shown is not None and shown.top is not None:
            asked = f"shown top={shown.top}"
        if not asked:
            return
        if self.classes is None:
            raise AccessError(
                f"{asked} is about classes, and the model predicts numbers: whoever asks it sees "
                f"these, so take access='scores'; rounded ones are Shown(decimals=...), in an "
                f"audit file shown: {{decimals: ...}}"
            )
        raise AccessError(
            f"{asked} is about one class, and the model predicts {len(self.classes)}: it is "
            f"audited by all their scores, so take access='scores'"
        )

    def model(self, model: object, shown: Shown | None = None) -> Model:
        """How well its predictions fit."""
        return ResidualModel(
            model,  # type: ignore[arg-type]
            self.scales,
            self.classes,
            self._form,
            shown,
        )

    def trainer(self, trainer: TrainerLike, shown: Shown | None = None) -> Trainer | None:
        """Trains predictors."""
        if trainer is None:
            return None
        return ResidualTrainer(trainer, self.scales, self.classes, self._form, shown)

    def about(self, about: pd.DataFrame, model: Model, records: Records) -> pd.DataFrame:
        """True and predicted numbers in place of classes, and how far these are off."""
        if self.classes is not None or not isinstance(model, ResidualModel):
            return about.drop(columns=["class", "predicted"])
        told = about_numbers(*model.numbers(records.X))
        kept = about.drop(columns=["class", "predicted", "confidence"], errors="ignore")
        return pd.concat([kept, told], axis=1)

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


def about_numbers(true: np.ndarray, predicted: np.ndarray) -> pd.DataFrame:
    """A column of each number: what it is, what is predicted, and how far that is off."""
    found: dict[str, np.ndarray] = {}
    for place, (one, other) in enumerate(zip(true.T, predicted.T, strict=True)):
        which = f"_{place}" if true.shape[1] > 1 else ""
        found |= {f"true{which}": one, f"predicted{which}": other}
        found[f"off_by{which}"] = np.abs(other - one)
    return pd.DataFrame(found)


def _numbers(targets: np.ndarray, name: str) -> np.ndarray:
    found = np.column_stack([pd.to_numeric(pd.Series(one), errors="coerce") for one in targets.T])
    strange = np.argwhere(np.isnan(found.astype(float)))
    if len(strange):
        row, column = strange[0]
        held = targets[row].tolist()[column]
        raise SchemaError(
            f"{name}: the model predicts numbers, and {len(np.unique(strange[:, 0]))} records "
            f"have none as y, the first in row {row}: {held!r}. Leave them out"
        )
    return found


def _columns(y: np.ndarray) -> np.ndarray:
    return y[:, None] if y.ndim == 1 else y
