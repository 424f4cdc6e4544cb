"""The decision trees of a released model, where its parameters show any."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tapas.models._access import Access
from tapas.models._inputs import Inputs
from tapas.models._model import Model


class Paths(Protocol):
    """Which nodes each row passes, in the compressed rows of scipy."""

    indptr: np.ndarray
    indices: np.ndarray


class DecisionTree(Protocol):
    """What is read of scikit-learn's trees, node by node."""

    n_features: int
    feature: np.ndarray
    threshold: np.ndarray
    children_left: np.ndarray
    n_node_samples: np.ndarray
    value: np.ndarray

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The leaf of each row."""

    def decision_path(self, X: np.ndarray) -> Paths:
        """The nodes that each row passes."""


class Transformer(Protocol):
    """The first steps of a pipeline."""

    def transform(self, X: Inputs) -> Inputs:
        """Records as the last step takes them."""


@dataclass(frozen=True, eq=False)
class DecisionTrees:
    """The trees of a model, and how records look to them.

    Attributes
    ----------
    model : Model
    steps : Transformer or None
        What a pipeline does before its trees.
    trees : sequence of DecisionTree
    classes : ndarray
        In the order in which leaves count them.
    """

    model: Model
    steps: Transformer | None
    trees: Sequence[DecisionTree]
    classes: np.ndarray

    def rows(self, X: Inputs) -> np.ndarray:
        """Records in the single precision that trees compare in."""
        given = self.model.as_fitted(X)
        if self.steps is not None:
            given = self.steps.transform(given)
        return np.ascontiguousarray(given, dtype=np.float32)

    def codes(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The place of each class in `classes`, and whether it is there at all."""
        places = np.searchsorted(self.classes, y).clip(max=len(self.classes) - 1)
        return places, self.classes[places] == y


def decision_trees(model: Model) -> DecisionTrees | None:
    """The trees of a scikit-learn tree or forest, maybe at the end of a pipeline; None without.

    Parameters
    ----------
    model : Model
        None also where it does not show its parameters.
    """
    if not model.access.shows(Access.PARAMETERS):
        return None
    fitted, steps = model.parameters, None
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.tree import DecisionTreeClassifier

    if isinstance(fitted, Pipeline):
        fitted, steps = fitted[-1], fitted[:-1] if len(fitted) > 1 else None
    if isinstance(fitted, DecisionTreeClassifier):
        return DecisionTrees(model, steps, [fitted.tree_], np.asarray(fitted.classes_))
    if isinstance(fitted, (RandomForestClassifier, ExtraTreesClassifier)):
        trees = [one.tree_ for one in fitted.estimators_]
        return DecisionTrees(model, steps, trees, np.asarray(fitted.classes_))
    return None
