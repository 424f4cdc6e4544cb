"""A model's parameters as numbers that mean the same in every model of its kind."""

import sys
from collections.abc import Sequence

import numpy as np

from tapas.models._access import Access
from tapas.models._classes import class_codes
from tapas.models._mlp import Layers
from tapas.models._model import Model
from tapas.models._trees import DecisionTree, decision_trees

_LEARNT = ("mean_", "scale_", "min_", "center_")  # by scikit-learn's scalers


def parameter_summary(model: Model) -> np.ndarray | None:
    """What a model's parameters say, whatever the order of its neurons or trees.

    Parameters
    ----------
    model : Model

    Returns
    -------
    ndarray or None
        What the scalers of a pipeline learnt; then, of trees and forests, how often each input
        splits, how many records these splits send left and where they lie, and the class shares at
        the roots; of perceptrons sums over neurons. None where there is none of these, or
        parameters do not show: of other models, such as linear ones, answers tell as much.
    """
    if not model.access.shows(Access.PARAMETERS):
        return None
    fitted, trees = model.parameters, decision_trees(model)
    parts = [part for _, part in getattr(fitted, "steps", [("", fitted)])]
    layers = _layers(parts[-1])
    found = [*map(_learnt, parts[:-1])]
    if trees is not None:
        roots = [tree.value[0, 0] / tree.value[0, 0].sum() for tree in trees.trees]
        shares = _in_order(np.mean(roots, axis=0), trees.classes, model.classes)
        found += [_of_trees(trees.trees), shares]
    elif layers:
        *before, last = layers
        known = getattr(parts[-1], "classes_", model.classes)
        weights, biases = (_in_order(one, known, model.classes) for one in last)
        found.append(_of_layers((*before, (weights, biases))))
    told = np.concatenate([np.empty(0), *found])
    return told if told.size else None


def _in_order(values: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Values of the classes that a model has seen, the last axis, as values of all of them.

    One value of two classes is that of the second.
    """
    if len(known) == len(classes):
        return values
    places = class_codes(known, classes)[len(known) - values.shape[-1] :]
    found = np.zeros((*values.shape[:-1], len(classes)))
    found[..., places] = values
    return found


def _learnt(part: object) -> np.ndarray:
    """What a scaler learnt, or those inside a pipeline or a transformer of columns."""
    own = [getattr(part, name, None) for name in _LEARNT]
    inside = getattr(part, "transformers_", getattr(part, "steps", ()))
    found = [np.ravel(one) for one in own if isinstance(one, np.ndarray)]
    return np.concatenate([np.empty(0), *found, *(_learnt(one) for _, one, *_ in inside)])


def _of_trees(trees: Sequence[DecisionTree]) -> np.ndarray:
    """Sums over all splits of all trees, for each input."""
    inner = [tree.children_left >= 0 for tree in trees]
    nodes = [*zip(trees, inner, strict=True)]
    feature = np.concatenate([tree.feature[here] for tree, here in nodes])
    threshold = np.concatenate([tree.threshold[here] for tree, here in nodes])
    passing = np.concatenate([tree.n_node_samples[here] for tree, here in nodes])
    left = np.concatenate([tree.n_node_samples[tree.children_left[here]] for tree, here in nodes])
    number, weights = trees[0].n_features, (None, passing, left, passing * threshold)
    splits, seen, sent, placed = (np.bincount(feature, weight, number) for weight in weights)
    many = np.maximum(seen, 1)
    shares = (splits / max(splits.sum(), 1), seen / max(seen.sum(), 1), sent / many, placed / many)
    return np.concatenate(shares)


def _of_layers(layers: Layers) -> np.ndarray:
    """Sums over the ways through a perceptron, which no order of neurons changes."""
    weights, biases = layers[0]
    ways, sizes, shifts = weights, np.abs(weights), biases
    found = [weights.mean(axis=1), sizes.mean(axis=1), (weights**2).mean(axis=1)]
    for after, bias in layers[1:]:
        found += [[shifts.mean(), shifts.std()], ((ways * shifts) @ after).ravel()]
        ways, sizes, shifts = ways @ after, sizes @ np.abs(after), shifts @ after + bias
    return np.concatenate([*found, ways.ravel(), sizes.ravel(), shifts])


def _layers(part: object) -> Layers:
    """Weights (inputs, outputs) and biases of a perceptron's layers; none of anything else."""
    if isinstance(part, tuple):
        return part
    torch = sys.modules.get("torch")  # a module cannot exist before torch was imported
    if torch is None or not isinstance(part, torch.nn.Module):
        weights, biases = getattr(part, "coefs_", ()), getattr(part, "intercepts_", ())
        return tuple(zip(weights, biases, strict=True))
    linear = [one for one in part.modules() if isinstance(one, torch.nn.Linear)]
    read = sum(len([*one.parameters()]) for one in linear)
    if read != len([*part.parameters()]) or any(one.bias is None for one in linear):
        return ()
    return tuple(
        (one.weight.detach().cpu().numpy().T, one.bias.detach().cpu().numpy()) for one in linear
    )
