"""What leaves hold of training records, beside a naive count, and through every door."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tapas.audit import load_audit
from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.results import AuditRecord, Leaves
from tapas.threat_models import ModelMIA

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((200, 3)), columns=list("abc"))
X.index = [f"person {number}" for number in range(200)]
Y = (X["a"] + RNG.standard_normal(200) > 0).to_numpy(dtype=int)
SIDES = (X[:120], Y[:120]), (X[120:], Y[120:])


def threat_model(estimator: object, access: str = "parameters") -> ModelMIA:
    return ModelMIA(estimator.fit(*SIDES[0]), *SIDES, access, seed=0)  # type: ignore[attr-defined]


def leaves_of(estimator: object, fewest: int = 5) -> Leaves:
    found = threat_model(estimator).leaves(fewest)
    assert found is not None
    return found


def test_leaves_of_a_tree_hold_what_grouping_its_records_by_leaf_shows() -> None:
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    found = leaves_of(tree)
    groups = pd.Series(SIDES[0][1]).groupby(tree.apply(SIDES[0][0]))
    sizes, classes = groups.transform("size"), groups.transform("nunique")
    assert (found.records, found.trees, found.leaves) == (120, 1, groups.ngroups)
    assert (found.small_leaves, found.in_small) == ((groups.size() < 5).sum(), (sizes < 5).sum())
    assert (found.pure_leaves, found.in_pure) == (
        (groups.nunique() == 1).sum(),
        (classes == 1).sum(),
    )
    assert 0 < found.in_small < 120 > found.in_pure > 0
    assert found.sizes == tuple(sizes[sizes < 5].sort_values()[:20])
    assert all(sizes[row] == size for row, size in zip(found.rows, found.sizes, strict=True))
    assert found.labels == tuple(f"person {row}" for row in found.rows)


def test_leaves_of_a_forest_are_those_of_all_its_trees() -> None:
    forest = RandomForestClassifier(4, max_depth=5, random_state=0)
    found = leaves_of(forest, fewest=3)
    small, told, counts = set(), set(), np.zeros(3, dtype=int)
    for tree in (one.tree_ for one in forest.estimators_):
        at = tree.apply(SIDES[0][0].to_numpy(dtype=np.float32))
        for leaf in np.flatnonzero(tree.children_left == -1):
            shares, here = tree.value[leaf, 0], np.flatnonzero(at == leaf)
            is_small, is_pure = tree.n_node_samples[leaf] < 3, shares.max() == shares.sum()
            counts += 1, is_small, is_pure
            small |= set(here) if is_small else set()
            told |= {row for row in here if is_pure and SIDES[0][1][row] == shares.argmax()}
    assert (found.leaves, found.small_leaves, found.pure_leaves) == tuple(counts)
    assert (found.in_small, found.in_pure) == (len(small), len(told))


def test_larger_leaves_are_not_small_and_other_models_have_none() -> None:
    found = leaves_of(DecisionTreeClassifier(min_samples_leaf=5, random_state=0))
    assert (found.small_leaves, found.in_small, found.listed) == (0, 0, [])
    assert threat_model(DecisionTreeClassifier(), "scores").leaves() is None
    assert threat_model(LogisticRegression()).leaves() is None


def test_an_audit_of_a_tree_with_parameters_tells_it_by_default(tmp_path: Path) -> None:
    load_sample("census", 200).data.drop_duplicates().to_csv(tmp_path / "people.csv", index=False)
    model = {
        "use": "sklearn.tree:DecisionTreeClassifier",
        "class_column": "Health",
        "access": "parameters",
        "shadows": 0,
    }
    asked = {"data": {"table": "people.csv"}, "model": model, "attacks": ["RuleBasedMIA"]}
    path, verdict = tmp_path / "audit.yaml", tmp_path / "verdict.json"
    path.write_text(yaml.safe_dump(asked))
    assert run(["run", str(path), "--n-jobs", "1", "--quiet", "--json", str(verdict)]) == 0
    (subject,) = AuditRecord.load(tmp_path / "audit-run").subjects
    leaves = subject.leaves
    assert leaves == load_audit(path).subjects[0].threat_model.leaves()
    assert leaves is not None
    assert leaves.records > leaves.in_small > 0
    (told,) = json.loads(verdict.read_text())["leaves"]
    assert told == {"subject": subject.name, **json.loads(json.dumps(leaves.to_dict()))}
    page = (tmp_path / "audit-run/report.html").read_text(encoding="utf-8")
    assert "What the leaves of the model hold" in page
    assert leaves.words() in page
    with pytest.raises(ValueError, match="as many rows as sizes"):
        Leaves.from_dict({**told, "sizes": [1]})
