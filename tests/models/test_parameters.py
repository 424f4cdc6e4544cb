"""Parameters as numbers: what they are, and that no order of neurons or trees changes them."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tapas.models import Classifier, as_model, parameter_summary

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.random(80) < 0.3, RNG.standard_normal(80)]).astype(float)
Y = (X[:, 0] + RNG.random(80) > 0.8).astype(int)


def summary(estimator: object) -> np.ndarray:
    found = parameter_summary(as_model(estimator))
    assert found is not None
    return found


def test_a_stump_shows_how_common_a_value_and_each_class_are() -> None:
    found = summary(DecisionTreeClassifier(max_depth=1).fit(X[:, :1], Y))
    splits, seen, left, threshold, *classes = found
    assert (splits, seen, threshold) == (1.0, 1.0, 0.5)
    assert left == pytest.approx(1 - X[:, 0].mean())
    assert classes == pytest.approx([1 - Y.mean(), Y.mean()])


def test_sums_over_the_splits_of_a_forest_are_those_of_a_loop() -> None:
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    splits, seen, left, placed = np.zeros((4, 2))
    for tree in (one.tree_ for one in forest.estimators_):
        for node in range(tree.node_count):
            if tree.children_left[node] >= 0:
                column, size = tree.feature[node], tree.n_node_samples[node]
                splits[column] += 1
                seen[column] += size
                left[column] += tree.n_node_samples[tree.children_left[node]]
                placed[column] += size * tree.threshold[node]
    wanted = [splits / splits.sum(), seen / seen.sum(), left / seen, placed / seen]
    found = summary(forest)
    np.testing.assert_allclose(found[:8], np.concatenate(wanted))
    forest.estimators_.reverse()
    np.testing.assert_allclose(summary(forest), found)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_the_order_of_neurons_changes_nothing() -> None:
    network = MLPClassifier((5, 4), max_iter=5, random_state=0).fit(X, Y)
    before = summary(network)
    for layer, units in enumerate((5, 4)):
        order = np.random.default_rng(layer).permutation(units)
        network.coefs_[layer] = network.coefs_[layer][:, order]
        network.intercepts_[layer] = network.intercepts_[layer][order]
        network.coefs_[layer + 1] = network.coefs_[layer + 1][order]
    np.testing.assert_allclose(summary(network), before)
    network.coefs_[0][0, 0] += 1
    assert not np.allclose(summary(network), before)


@pytest.mark.parametrize("last", [LogisticRegression(), DecisionTreeClassifier()])
def test_what_scalers_learnt_comes_first(last: Classifier) -> None:
    columns = make_column_transformer((StandardScaler(), [1]), remainder="passthrough")
    for first, scaled in ((StandardScaler(), X), (columns, X[:, 1:])):
        found = summary(make_pipeline(first, last).fit(X, Y))
        wanted = [*scaled.mean(axis=0), *scaled.std(axis=0)]
        np.testing.assert_allclose(found[: len(wanted)], wanted)


def test_parameters_of_other_kinds_and_those_that_do_not_show_are_not_read() -> None:
    assert parameter_summary(as_model(LogisticRegression().fit(X, Y))) is None
    shown = as_model(DecisionTreeClassifier().fit(X, Y))
    assert parameter_summary(shown) is not None
    assert parameter_summary(shown.restricted("scores")) is None


def test_models_that_never_saw_a_class_are_summed_up_like_those_that_did() -> None:
    several = np.array(["a", "b", "c"])[Y + (X[:, 1] > 0)]
    few = several != "c"
    for kind in (
        DecisionTreeClassifier(max_depth=2),
        MLPClassifier((4,), max_iter=1, random_state=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            whole, part = clone(kind).fit(X, several), clone(kind).fit(X[few], several[few])
        found = parameter_summary(as_model(part).aligned(whole.classes_))
        assert found is not None
        assert found.shape == summary(whole).shape
    stump = DecisionTreeClassifier(max_depth=1).fit(X[few], several[few])
    told = parameter_summary(as_model(stump).aligned(["c", "b", "a"]))
    assert told is not None
    assert told[-3:] == pytest.approx([0, *np.mean(several[few][:, None] == ["b", "a"], axis=0)])


def test_linear_layers_of_torch_are_read_like_those_of_scikit_learn() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    network = MLPClassifier((3,), max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="Stochastic Optimizer"):
        network.fit(X, Y % 2 + 2 * (X[:, 0] > 0))
    sizes = [one.shape for one in network.coefs_]
    module = torch.nn.Sequential(
        torch.nn.Linear(*sizes[0]), torch.nn.ReLU(), torch.nn.Linear(*sizes[1])
    ).double()
    for layer, place in enumerate((0, 2)):
        module[place].weight.data = torch.as_tensor(network.coefs_[layer].T.copy())
        module[place].bias.data = torch.as_tensor(network.intercepts_[layer])
    np.testing.assert_allclose(summary(module), summary(network))
    assert parameter_summary(as_model(torch.nn.Conv1d(1, 2, 1), [0, 1])) is None
