"""Any function of records as a model."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_choice
from tapas.errors import ConfigError, MechanismError
from tapas.models._access import Access
from tapas.models._inputs import Inputs
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import OUTPUTS, as_probabilities
from tapas.models._torch import is_tensor
from tapas.models._unanswered import refuse_unanswered


class CallableModel(Model):
    """A function that maps records to probabilities or to labels.

    Parameters
    ----------
    function : callable
        ``function(X)`` returns an array with one row per record.
    classes : array-like
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        What it returns. By default the shape and type of an answer tell: two dimensions are
        probabilities, one dimension of floats is the probability of the second class, one
        dimension of anything else is labels.
    """

    def __init__(
        self,
        function: Callable[[Inputs], ArrayLike],
        classes: ArrayLike,
        *,
        outputs: str | None = None,
        batch_size: int | None = BATCH_SIZE,
    ) -> None:
        if outputs is not None:
            check_choice(outputs, "outputs", OUTPUTS)
        access = Access.LABELS if outputs == "labels" else Access.SCORES
        super().__init__(classes, access=access, batch_size=batch_size)
        self._function = function
        self._outputs = outputs

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self._function, "__name__", type(self._function).__name__)

    def _scores(self, X: Inputs) -> np.ndarray:
        raw = self._answer_to(X)
        if self._gives_labels(raw):
            raise MechanismError(
                f"{self.label} returned labels (an array of shape {raw.shape} and type "
                f"{raw.dtype}) where probabilities were asked for; audit it with access='labels', "
                f"or return one column per class"
            )
        return as_probabilities(raw, self._outputs or "scores", len(self.classes))

    def _labels(self, X: Inputs) -> np.ndarray:
        raw = self._answer_to(X)
        if self._gives_labels(raw):
            return raw
        scores = as_probabilities(raw, self._outputs or "scores", len(self.classes))
        if scores.shape[1] != len(self.classes):
            raise MechanismError(
                f"{self.label} has {len(self.classes)} classes and returned an array of shape "
                f"{raw.shape}"
            )
        hidden = np.isnan(scores)
        refuse_unanswered(hidden.all(axis=1), X)
        return self.classes[np.where(hidden, -np.inf, scores).argmax(axis=1)]

    def _answer_to(self, X: Inputs) -> np.ndarray:
        answer = self._function(X)
        if is_tensor(answer):
            answer = answer.detach().cpu()
        return np.asarray(answer)

    def _gives_labels(self, raw: np.ndarray) -> bool:
        if self._outputs is not None:
            return self._outputs == "labels"
        if raw.ndim != 1 or raw.dtype.kind != "f":
            return raw.ndim == 1
        if self.classes.dtype.kind == "f":
            raise ConfigError(
                f"{self.label} returned one number per record, which may be a class or a "
                f"probability; say outputs='labels' or outputs='scores'"
            )
        return False
