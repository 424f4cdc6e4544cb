"""Counts of every order: a naive twin, and that copies are found."""

from math import comb
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from tapas.attacks import QueryAttack
from tapas.attacks.features._set_features import CombinedSetFeatures
from tapas.datasets import load_sample
from tapas.game import MEMBERSHIP, Goal, Release, TableBriefing
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

COLUMNS = ["Sex", "Age", "Health", "Religion", "Student"]
CENSUS = load_sample("census", 200).view(columns=COLUMNS)


def counts(attack: QueryAttack, briefing: TableBriefing, released: int = 60) -> np.ndarray:
    see = attack.observer(briefing, lambda number: [])
    return see(Release(CENSUS.take(range(released))), briefing, rng=np.random.default_rng(0))


def test_all_subsets_are_counted_where_there_is_room() -> None:
    briefing = TableBriefing(MEMBERSHIP, CENSUS.take([150, 160]))
    found = counts(QueryAttack(1000), briefing)
    assert found.shape == (2, 2**5 - 1)
    frame = CENSUS.data.iloc[:60]
    for row, position in enumerate((150, 160)):
        agrees = frame == CENSUS.data.iloc[position]
        naive = [
            int(agrees.iloc[:, [c for c in range(5) if mask >> c & 1]].all(axis=1).sum())
            for mask in range(1, 32)
        ]
        assert sorted(found[row].tolist()) == sorted(naive)


def test_a_few_subsets_are_shared_by_the_orders() -> None:
    briefing = TableBriefing(MEMBERSHIP, CENSUS.take([150]))
    features = QueryAttack(13)._queries(5)
    numbers = {feature.order: feature.number for feature in features.features}
    assert sum(numbers.values()) == 13
    assert all(1 <= number <= comb(5, order) for order, number in numbers.items())
    assert counts(QueryAttack(13), briefing).shape[1] == 13
    masked = TableBriefing(Goal("attribute", "Sex", ("F", "M")), CENSUS.take([150]))
    assert len(QueryAttack(13).observer(masked, lambda number: []).features.features) == 4


@pytest.mark.parametrize("sample", ["census", "clinic"])
@pytest.mark.parametrize("number", [20, 1000, 100_000])
def test_orders_are_counted_together_as_each_by_itself(
    sample: Literal["census", "clinic"], number: int
) -> None:
    data = load_sample(sample, 300)
    data = data.view(columns=list(data.description.columns)[:9])
    released, targets = data.take(range(200)), data.take(range(190, 210))
    column = next(one for one in data.description.parsed if one.values is not None)
    for goal in (MEMBERSHIP, Goal("attribute", column.name, tuple(column.values or ()))):
        briefing = TableBriefing(goal, targets)
        together = QueryAttack(number).observer(briefing, lambda number: []).features
        each = CombinedSetFeatures(*together.features)
        found = together.observe(released, briefing)
        np.testing.assert_array_equal(found, each.observe(released, briefing))


def test_copies_are_found() -> None:
    different = np.flatnonzero(~CENSUS.data.duplicated(keep=False))[:1].tolist()
    knowledge = AuxiliaryDataKnowledge(
        CENSUS.drop_records(different), num_training_records=30, seed=1
    )
    model = TargetedMIA(
        knowledge, CENSUS.take(different), BlackBoxKnowledge(Raw(), 30), seed=1, n_jobs=1
    )
    attack = QueryAttack(200)
    attack.train(model, 60)
    assert isinstance(attack.classifier.features_.label, str)
    metrics: pd.DataFrame = model.test(attack, 40).get_metrics()
    assert metrics["auc"].iloc[0] > 0.95
