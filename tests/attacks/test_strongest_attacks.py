"""The attacks that a model audit tries by default: as strong as what they are made of, or more."""

import numpy as np
import pytest
from model_boards import RNG, fitted, gaussian_game, observed, references
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from tapas.attacks import (
    RMIA,
    BlackBoxMIA,
    CertaintyMIA,
    LiRA,
    QuantileMIA,
    RehearsedMIA,
    TreeMIA,
)
from tapas.attacks.models._own_models import own_certainty
from tapas.attacks.models._tree_attack import _told
from tapas.audit import Audit
from tapas.errors import IncompatibleAttackError
from tapas.metrics import auc
from tapas.models import Records, as_model
from tapas.threat_models import ModelMIA


@pytest.mark.parametrize("number", [4, 16])
def test_rehearsal_is_never_far_below_the_best_reference_attack(number: int) -> None:
    found: dict[str, list[float]] = {"rehearsed": [], "lira": [], "rmia": []}
    for seed in range(2):
        seen, inside, target, members = gaussian_game(1500, number, seed)
        for name, attack in (("rehearsed", RehearsedMIA()), ("lira", LiRA()), ("rmia", RMIA())):
            scorer = fitted(attack, references(seen, inside))
            found[name].append(auc(members, scorer.score(target)[0]))
    means = {name: np.mean(values) for name, values in found.items()}
    assert means["rehearsed"] > max(means.values()) - 0.01


def test_rehearsal_learns_what_a_formula_misses() -> None:
    # Training on a record makes its logit vary less and does not move it: no mean tells.
    rng = RNG(0)
    inside = rng.random((8, 2000)) < 0.5
    inside = np.stack([inside, ~inside], axis=1).reshape(16, 2000)
    members = rng.random(2000) < 0.5
    both = np.concatenate([inside, members[None]])
    values = observed(rng.normal(0, np.where(both, 0.3, 2.0)) + rng.normal(0, 1, 2000))
    board = references(values[:-1], inside)
    learnt = auc(members, fitted(RehearsedMIA(), board).score(values[-1:])[0])
    ratio = auc(members, fitted(RMIA(), board).score(values[-1:])[0])
    assert learnt > ratio + 0.1


def test_rehearsal_finds_nothing_in_models_that_ignore_their_data() -> None:
    rng = RNG(0)
    inside = rng.random((4, 3000)) < 0.5
    inside = np.stack([inside, ~inside], axis=1).reshape(8, 3000)
    values = observed(rng.normal(size=(9, 3000)) + 2 * rng.normal(size=3000))
    scorer = fitted(RehearsedMIA("accuracy"), references(values[:-1], inside))
    members = rng.random(3000) < 0.5
    scores = scorer.score(values[-1:])
    assert abs(auc(members, scores[0]) - 0.5) < 0.035
    assert abs((scorer.decide(scores)[0] == members).mean() - 0.5) < 0.035


def test_rehearsal_does_without_models_that_saw_the_judged_records() -> None:
    X, y = make_classification(700, 8, flip_y=0.3, random_state=0)
    forest = RandomForestClassifier(15, random_state=0).fit(X[:200], y[:200])
    threat_model = ModelMIA(
        forest,
        (X[:200], y[:200]),
        (X[200:400], y[200:400]),
        trainer=forest,
        population=(X[400:], y[400:]),
        train_on_targets=False,
        num_shadows=4,
        known_share=0.3,
        seed=0,
        n_jobs=1,
    )
    attack = RehearsedMIA()
    attack.train(threat_model)
    assert threat_model.test(attack).auc > 0.75
    with pytest.raises(IncompatibleAttackError, match="trainer"):
        RehearsedMIA().train(ModelMIA(forest, (X[:200], y[:200]), (X[200:400], y[200:400])))


def test_own_certainty_gains_where_some_records_are_harder_than_others() -> None:
    X, y = make_classification(4000, 20, n_informative=8, flip_y=0.05, random_state=1)
    sides = (X[:2000], y[:2000]), (X[2000:], y[2000:])
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(*sides[0])
    threat_model = ModelMIA(model, *sides, seed=0)
    found = {}
    for attack in (CertaintyMIA(), BlackBoxMIA("gb"), QuantileMIA()):
        attack.train(threat_model)
        found[type(attack).__name__] = threat_model.test(attack).auc
        assert threat_model.queries(attack) == 4000  # own models ask nothing
    assert found["CertaintyMIA"] > max(found["BlackBoxMIA"], found["QuantileMIA"]) + 0.03


@pytest.mark.parametrize(
    ("options", "strongest"),
    [
        ({"trainer": LogisticRegression(), "num_shadows": 4}, "RehearsedMIA"),
        ({}, "CertaintyMIA"),
        ({"access": "labels"}, "LabelOnlyMIA"),
    ],
)
def test_an_audit_without_attacks_tries_the_strongest_for_the_access(
    options: dict, strongest: str
) -> None:
    X, y = make_classification(200, 4, n_redundant=0, random_state=0)
    model = LogisticRegression().fit(X[:100], y[:100])
    threat_model = ModelMIA(
        model, (X[:100], y[:100]), (X[100:], y[100:]), seed=0, n_jobs=1, **options
    )
    names = [type(attack).__name__ for attack in Audit(threat_model).attacks]
    assert names[0] == "RuleBasedMIA"
    assert names[-1] == strongest


def test_trees_give_away_whose_values_made_their_thresholds() -> None:
    X, y = make_classification(600, 10, n_informative=6, flip_y=0.2, random_state=2)
    sides = (X[:300], y[:300]), (X[300:], y[300:])
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0)
    model = make_pipeline(StandardScaler(), forest).fit(*sides[0])
    threat_model = ModelMIA(model, *sides, access="parameters", seed=0)
    names = [type(attack).__name__ for attack in Audit(threat_model).attacks]
    assert names[-2:] == ["CertaintyMIA", "TreeMIA"]
    found = {}
    for attack in (CertaintyMIA("lr"), TreeMIA("lr")):
        attack.train(threat_model)
        found[type(attack).__name__] = threat_model.test(attack).auc
        assert threat_model.queries(attack) == 600
    assert found["TreeMIA"] > max(0.9, found["CertaintyMIA"] + 0.1)


def test_what_trees_show_agrees_with_a_walk_by_hand() -> None:
    X = np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [12.0]])
    y = np.array(["a", "a", "b", "b", "b", "a"])
    inside = [0, 2, 3, 5]  # thresholds at 1.5 (0 and 3) and 11 (10 and 12)
    model = as_model(DecisionTreeClassifier(random_state=0).fit(X[inside], y[inside]))
    told = _told(model, Records(X, y), None)
    np.testing.assert_array_equal(told[:, 0], [1, 0, 1, 1, 0, 1])
    np.testing.assert_array_equal(told[[0, 1, 2, 5], 2], [1, 1, 0.5, 1])
    np.testing.assert_allclose(told[2, 3], 1 / np.sqrt(2))


def shown_to_a_walker(tree: Tree, row: np.ndarray, held: np.ndarray, code: int) -> list[float]:
    """Midpoints met, length of the way, and what the leaf shows, node by node."""
    node, met, length = 0, 0.0, 0.0
    while tree.children_left[node] >= 0:
        column, threshold = tree.feature[node], tree.threshold[node]
        own, others = float(row[column]), set(held[:, column].tolist())
        partner = 2 * threshold - own
        length += len(others) / len(held)
        met += (partner in others and partner != own) * len(others) / len(held)
        sides = tree.children_left if own <= threshold else tree.children_right
        node = sides[node]
    share, size = tree.value[node, 0, code] / tree.value[node, 0].sum(), tree.n_node_samples[node]
    return [met, length, share / size, share / np.sqrt(size)]


def test_what_a_forest_shows_agrees_with_a_walk_through_every_tree() -> None:
    X, y = make_classification(120, 3, n_redundant=0, n_informative=3, random_state=0)
    X = X.round(1).astype(np.float32)  # some values occur several times
    forest = RandomForestClassifier(4, random_state=0).fit(X[:60], y[:60])
    records, held = Records(X.astype(float), y), Records(X[30:90].astype(float), y[30:90])
    found = _told(as_model(forest), records, held)
    rows, trees = zip(X, y, strict=True), [one.tree_ for one in forest.estimators_]
    walked = [[shown_to_a_walker(tree, x, X[30:90], code) for tree in trees] for x, code in rows]
    met, length, share, rooted = np.moveaxis(np.array(walked), 2, 0)
    expected = [met.sum(axis=1), met.sum(axis=1) / length.sum(axis=1)]
    expected += [share.mean(axis=1), rooted.mean(axis=1)]
    np.testing.assert_allclose(found, np.column_stack(expected), rtol=1e-9)
    assert (found[:, 0] > 0).any()


def test_boosting_of_ones_own_agrees_with_a_twin_that_never_saw_the_record() -> None:
    X, y = make_classification(160, 3, n_redundant=0, n_informative=3, random_state=0)
    targets, held = Records(X, y), Records(X[:100], y[:100])
    found = own_certainty(targets, y, held, y[:100], targets.encoding(), boosting=True)
    fold = (targets.row_keys() >> np.uint64(32)) % np.uint64(5)
    expected = np.empty(160)
    for number in range(5):
        known, judged = np.flatnonzero(fold[:100] != number), fold == number
        twin = HistGradientBoostingClassifier(
            learning_rate=0.15, max_iter=50, max_leaf_nodes=16, early_stopping=False
        ).fit(X[known], y[known])
        sure = twin.predict_proba(X[judged])[np.arange(judged.sum()), y[judged]].clip(0.01, 0.99)
        expected[judged] = np.log(sure / (1 - sure))
    np.testing.assert_allclose(found[:, 2], expected, rtol=1e-6, atol=1e-9)


def test_models_without_trees_are_told_so() -> None:
    X, y = make_classification(200, 4, n_redundant=0, random_state=0)
    model = LogisticRegression().fit(X[:100], y[:100])
    sides = (X[:100], y[:100]), (X[100:], y[100:])
    with pytest.raises(IncompatibleAttackError, match="shows none: use LossMIA, CertaintyMIA"):
        TreeMIA().train(ModelMIA(model, *sides, access="parameters", seed=0))
    forest = RandomForestClassifier(5, random_state=0).fit(*sides[0])
    with pytest.raises(IncompatibleAttackError, match="reads parameters, but the release shows"):
        TreeMIA().train(ModelMIA(forest, *sides, seed=0))
