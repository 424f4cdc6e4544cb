"""What a trained classifier is to an attacker: something that answers queries."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import check_count, listing
from tapas.errors import MechanismError, TapasError, ThreatModelError
from tapas.models._access import Access, AccessError
from tapas.models._classes import as_classes, class_codes
from tapas.models._inputs import Inputs, as_rows, number_of, some_rows
from tapas.models._outputs import sum_tolerance
from tapas.models._retries import asked_again
from tapas.models._unanswered import missing_inputs, refuse_unanswered

BATCH_SIZE = 16_384
COUNTERS = ("queries", "budget")
SUM_TOLERANCE = 1e-3


class QueryBudgetError(ThreatModelError, RuntimeError):
    """The queries asked for would go over the budget; none of them was made."""


class Model(ABC):
    """A classifier that answers queries and counts them.

    A subclass writes `_scores`, and `_labels` where the predicted class is not simply the most
    probable one. Everything it returns is checked before anyone sees it.

    Parameters
    ----------
    classes : array-like
        Class labels, in the order of the probability columns.
    access : Access or str
        The most that can be read from this model.
    batch_size : int, optional
        Ask about this many records at a time; None asks about all of them at once.
    budget : int, optional
        How many records may be asked about altogether.

    Attributes
    ----------
    classes : ndarray
    access : Access
    queries : int
        How many records were asked about so far; one record asked about twice counts twice.
    budget : int or None
    """

    def __init__(
        self,
        classes: ArrayLike,
        *,
        access: Access | str = Access.SCORES,
        batch_size: int | None = BATCH_SIZE,
        budget: int | None = None,
    ) -> None:
        self.classes = as_classes(classes)
        self.access = Access.parse(access)
        self.batch_size = (
            None if batch_size is None else check_count(batch_size, "batch_size", minimum=1)
        )
        self.budget = None if budget is None else check_count(budget, "budget")
        self.queries = 0

    def __spec__(self) -> dict[str, object]:
        """What tells the model from others: all that it is, nothing that it was asked."""
        return {name: value for name, value in vars(self).items() if name not in COUNTERS}

    @abstractmethod
    def _scores(self, X: Inputs) -> ArrayLike:
        """Probability of each class for each row of `X`."""

    def _labels(self, X: Inputs) -> ArrayLike:
        """Predicted class of each row of `X`."""
        about = X if isinstance(X, np.ndarray | pd.DataFrame) else None  # else in a form of its own
        scores = checked_probabilities(self._scores(X), number_of(X), self.classes, X=about)
        return self.classes[scores.argmax(axis=1)]

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    @property
    def remaining(self) -> int | None:
        """How many more records may be asked about; None is any number."""
        return None if self.budget is None else self.budget - self.queries

    @property
    def parameters(self) -> object:
        """The fitted object, where the release shows it."""
        self._require(Access.PARAMETERS)
        return self._parameters()

    def _parameters(self) -> object:
        return self

    def as_fitted(self, X: Inputs) -> Inputs:
        """Records as the fitted object takes them; no query."""
        return X

    def predict_proba(self, X: Inputs | ArrayLike) -> np.ndarray:
        """Return the probability of every class, (n, number of classes), one query per row."""
        self._require(Access.SCORES)
        return self._answer(X, self._checked_scores, np.empty((0, len(self.classes))))

    def predict(self, X: Inputs | ArrayLike) -> np.ndarray:
        """Return the predicted class of every row, one query per row."""
        return self.classes[self.predict_codes(X)]

    def predict_codes(self, X: Inputs | ArrayLike) -> np.ndarray:
        """Return the predicted class of every row as a position in `classes`."""
        return self._answer(X, self._checked_codes, np.empty(0, dtype=np.intp))

    def answered(self, X: object, number: int, *, labels: bool = False) -> ArrayLike:
        """Answer about records in a form of their own (several inputs, texts): `number` queries.

        For views that check the answer themselves.
        """
        self._require(Access.LABELS if labels else Access.SCORES)
        self._charge(number)
        if labels and type(self)._labels is not Model._labels:
            return self._labels(X)
        scores = self._scores(X)
        if not labels:
            return scores
        found = np.asarray(scores)
        refuse_unanswered(np.isnan(found).any(axis=1))
        return self.classes[found.argmax(axis=1)]

    def codes_of(self, y: ArrayLike) -> np.ndarray:
        """Return the position of each label in `classes`; an unknown label is an error."""
        return class_codes(y, self.classes)

    def restricted(self, access: Access | str, budget: int | None = None) -> "Model":
        """Return a view that shows no more than `access` and counts its own queries."""
        from tapas.models._views import RestrictedModel

        return RestrictedModel(self, Access.parse(access), budget)

    def aligned(self, classes: ArrayLike) -> "Model":
        """Return a view whose columns stand in the order of `classes`.

        A class that this model does not know has probability zero.
        """
        from tapas.models._views import AlignedModel

        wanted = as_classes(classes)
        if (
            len(wanted) == len(self.classes)
            and (class_codes(wanted, self.classes, unseen="mark") == np.arange(len(wanted))).all()
        ):
            return self
        return AlignedModel(self, wanted)

    def _require(self, wanted: Access) -> None:
        if not self.access.shows(wanted):
            raise AccessError(
                f"{self.label} shows {self.access.value} only, but its {wanted.value} were asked "
                f"for; use an attack that needs no more than {self.access.value}, or audit with "
                f"access={wanted.value!r} where the release does show them"
            )

    def _answer(
        self,
        X: Inputs | ArrayLike,
        ask: Callable[[Inputs, int], np.ndarray],
        nothing: np.ndarray,
    ) -> np.ndarray:
        rows = as_rows(X)
        self._charge(len(rows))
        if len(rows) == 0:
            return nothing
        step = self.batch_size or len(rows)
        answers = [
            ask(some_rows(rows, slice(start, start + step)), start)
            for start in range(0, len(rows), step)
        ]
        return answers[0] if len(answers) == 1 else np.concatenate(answers)

    def _charge(self, number: int) -> None:
        if self.budget is not None and self.queries + number > self.budget:
            raise QueryBudgetError(
                f"{number} queries were asked for, but {self.budget - self.queries} of the budget "
                f"of {self.budget} are left; ask about fewer records or raise the budget"
            )
        self.queries += number

    def _checked_scores(self, X: Inputs, first_row: int) -> np.ndarray:
        raw = self._call(self._scores, X, first_row)
        return checked_probabilities(raw, len(X), self.classes, X=X, first_row=first_row)

    def _checked_codes(self, X: Inputs, first_row: int) -> np.ndarray:
        raw = np.asarray(self._call(self._labels, X, first_row))
        labels = raw[:, 0] if raw.ndim == 2 and raw.shape[1] == 1 else raw
        if labels.shape != (len(X),):
            raise MechanismError(
                f"{self.label} was asked for the class of {len(X)} records and returned an array "
                f"of shape {raw.shape}; it must return one label per record"
            )
        refuse_unanswered(pd.isna(labels), X, first_row)
        codes = class_codes(labels, self.classes, unseen="mark")
        strange = np.flatnonzero(codes < 0)
        if len(strange):
            first = labels[strange].tolist()[0]
            raise MechanismError(
                f"{self.label} predicted {first!r} in row {first_row + strange[0]}, which is not "
                f"one of its classes {listing(self.classes.tolist())}; give `classes` as the model "
                f"spells them"
            )
        return codes

    def _call(
        self, function: Callable[[Inputs], ArrayLike], X: Inputs, first_row: int
    ) -> ArrayLike:
        try:
            return asked_again(lambda: function(X))
        except TapasError:
            raise
        except Exception as error:
            missing = missing_inputs(X)
            raise MechanismError(
                f"{self.label} failed on rows {first_row} to {first_row + len(X) - 1}: "
                f"{type(error).__name__}: {error}" + (f"; {missing}" if missing else "")
            ) from error


def checked_probabilities(
    raw: ArrayLike,
    rows: int,
    classes: np.ndarray,
    *,
    X: Inputs | None = None,
    first_row: int = 0,
    partly: bool = False,
) -> np.ndarray:
    """Return `raw` as float64 probabilities of shape (rows, classes), or say which row is wrong.

    Where they are shown `partly`, rows may sum to less than one, and what is missing is zero. Of
    the inputs `X` those that are missing are named where answers are.
    """
    probabilities = np.asarray(raw, dtype=np.float64)
    if probabilities.shape != (rows, len(classes)):
        raise MechanismError(
            f"a model of {len(classes)} classes must return probabilities of shape "
            f"{(rows, len(classes))} for {rows} records, got {probabilities.shape}"
        )
    refuse_unanswered(np.isnan(probabilities).all(axis=1), X, first_row)
    if partly:
        probabilities = np.where(np.isnan(probabilities), 0.0, probabilities)
    _refuse(~np.isfinite(probabilities), probabilities, "not finite", first_row)
    outside = (probabilities < -SUM_TOLERANCE) | (probabilities > 1 + SUM_TOLERANCE)
    _refuse(outside, probabilities, "outside [0, 1]", first_row)
    sums = probabilities.sum(axis=1, keepdims=True)
    tolerance = sum_tolerance(probabilities, SUM_TOLERANCE)
    off = (sums > 1.0 + tolerance) | (sums <= (0.0 if partly else 1.0 - tolerance))
    _refuse(off, probabilities, "not summing to one", first_row)
    return probabilities.clip(0.0, 1.0)


def _refuse(wrong: np.ndarray, probabilities: np.ndarray, fault: str, first_row: int) -> None:
    where = np.flatnonzero(wrong.any(axis=1))
    if len(where):
        raise MechanismError(
            f"the model's probabilities are {fault} in {len(where)} rows, the first is row "
            f"{first_row + where[0]}: {listing(probabilities[where[0]].tolist())}. If the model "
            f"returns logits, wrap it with as_model(..., outputs='logits'); if it shows its "
            f"largest scores only, say shown=Shown(top=1), or as many as there are"
        )
