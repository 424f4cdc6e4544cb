"""Records that are no rows of numbers: images, sequences, token numbers, several inputs.

They are laid out as rows for the attacks, and given to the model in their own form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._training_plan import TrainingPlan
from tapas.models._views import ReformedModel, ReformedTrainer

Formed: TypeAlias = np.ndarray | dict[str, np.ndarray] | tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Form:
    """How rows become what a model takes.

    Attributes
    ----------
    shapes : tuple of tuple of int
        Of one record, for each input.
    types : tuple of str
        As numpy calls them. Whole numbers stay whole, and changed ones within their range.
    ranges : tuple of (float, float)
        The smallest and the largest number in each input.
    names : tuple of str or None
        Of several inputs, where they are named.
    single : bool
        Whether there is one input only, which is given by itself.
    """

    shapes: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    names: tuple[str, ...] | None = None
    single: bool = True

    @classmethod
    def of(cls, X: Formed) -> "Form":
        """The form of records."""
        names = tuple(X) if isinstance(X, Mapping) else None
        parts = _parts(X)
        shapes = tuple(part.shape[1:] for part in parts)
        types = tuple(part.dtype.str for part in parts)
        ranges = tuple((float(np.nanmin(part)), float(np.nanmax(part))) for part in parts)
        return cls(shapes, types, ranges, names, isinstance(X, np.ndarray))

    @staticmethod
    def rows(X: Formed) -> np.ndarray:
        """Records as rows of numbers."""
        parts = [part.reshape(len(part), -1) for part in _parts(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def __call__(self, X: Inputs) -> Formed:
        """Rows as the model takes them."""
        rows, start, parts = np.asarray(X), 0, []
        for shape, name, (low, high) in zip(self.shapes, self.types, self.ranges, strict=True):
            width, dtype = int(np.prod(shape, dtype=int)), np.dtype(name)
            part = rows[:, start : start + width].reshape(len(rows), *shape)
            if dtype.kind in "iu" and part.dtype != dtype:
                whole = np.rint(part)
                part = np.where(whole == part, whole, whole.clip(low, high)).astype(dtype)
            parts.append(part)
            start += width
        if self.single:
            return parts[0]
        return tuple(parts) if self.names is None else dict(zip(self.names, parts, strict=True))


def _parts(X: Formed) -> list[np.ndarray]:
    if isinstance(X, np.ndarray):
        return [X]
    values = X.values() if isinstance(X, Mapping) else X
    return [np.asarray(value) for value in values]


@dataclass(frozen=True)
class ShapedTrainer(ReformedTrainer):
    """Trains on records of some shape that are given as rows."""

    form: Form

    @property
    def models_at_once(self) -> int:
        """As many as the trainer trains together, of records that it takes."""
        return self.trainer.models_at_once if self._is_taken else 1

    @property
    def _is_taken(self) -> bool:
        flat = len(self.form.shapes[0]) == 1
        return self.form.single and (flat or self.trainer.takes_shapes)

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """Train the models with the given numbers."""
        if not self._is_taken:
            return super().train_some(plan, keys)
        formed = replace(plan, X=np.asarray(self.form(plan.X)))
        trained = self.trainer.train_some(formed, keys)
        return [ReformedModel(model, self.form) for model in trained]
