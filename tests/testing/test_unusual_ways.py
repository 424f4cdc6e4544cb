"""Audits without auxiliary data, with many looks, and of a tree that learns by heart."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outcomes import bits, summaries, table_audit
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import (
    ClosestDistanceMIA,
    GroundhogAttack,
    LossMIA,
)
from tapas.audit import Audit, StopEarly
from tapas.datasets import TabularDataset, load_sample
from tapas.game import Board
from tapas.generators import Raw
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    ModelMIA,
    TargetedMIA,
)

# A tree is as sure of everybody: attacks on its confidence see nothing, and the audit says so.
pytestmark = pytest.mark.filterwarnings("ignore:.* gave all trials of")


class OnlyDraws(AttackerKnowledgeOnData):
    """Draws private data, and holds none that an attack could look at."""

    _label = "drawn"

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[TabularDataset]:
        people = load_sample("clinic", 60, seed=7)
        draws = [np.random.permutation(60)[:12] for _ in range(num_samples)]  # noqa: NPY002
        return [people.take(rows, reset_index=True) for rows in draws]


def test_without_auxiliary_data_features_learn_the_same_by_doors_and_by_audit(
    tmp_path: Path,
) -> None:
    def groundhog() -> GroundhogAttack:
        return GroundhogAttack(model=RandomForestClassifier(5))

    audit = table_audit(Raw(), [groundhog()], 8, data=OnlyDraws())
    found = summaries(audit.run(tmp_path / "store", n_jobs=1))
    threat_model = table_audit(Raw(), [groundhog()], 8, data=OnlyDraws()).threat_model
    assert isinstance(threat_model, TargetedMIA)
    attack = groundhog()
    attack.train(threat_model, 6)
    assert bits([threat_model.test(attack, 8)]) == bits(found)
    again = table_audit(Raw(), [groundhog()], 8, data=OnlyDraws()).run(tmp_path / "store")
    assert bits(summaries(again)) == bits(found)


class FitsInALog(ClosestDistanceMIA):
    """Adds a line to a list whenever it learns."""

    learnt: list[int] = []  # noqa: RUF012 - counts over all copies

    def fit(self, board: Board, *, rng: np.random.Generator) -> Any:
        self.learnt.append(len(board))
        return super().fit(board, rng=rng)


def test_an_audit_that_looks_early_and_often_learns_once() -> None:
    FitsInALog.learnt.clear()
    people = load_sample("clinic", 60, seed=3)
    threat_model = TargetedMIA(
        ExactDataKnowledge(people.take(range(2, 20), reset_index=True)),
        people.take([0, 1]),
        BlackBoxKnowledge(Raw(), 18),
        replace_target=True,
        seed=4,
    )
    audit = Audit(threat_model, [FitsInALog()], 8, 40, stop_early=StopEarly(width=0.01, every=10))
    looked = audit.run(n_jobs=1)
    assert FitsInALog.learnt == [8, 8]  # once for each target
    assert looked.subjects[0].trials["test"] == 40
    whole = Audit(threat_model, [FitsInALog()], 8, 40).run(n_jobs=1)
    assert bits(summaries(looked)) == bits(summaries(whole))


def test_a_tree_that_learns_by_heart_is_found_out_by_an_audit_without_numbers() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, size=120)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:60], y[:60])
    audit = Audit(ModelMIA(tree, (X[:60], y[:60]), (X[60:], y[60:]), seed=1), [LossMIA()])
    assert audit.check().ok
    (found,) = summaries(audit.run())
    assert found.auc > 0.65
