"""Marginals that a generator is known to keep: who is told, what is found out, what is weighed."""

import pickle
from typing import Any

import numpy as np
import pytest

from tapas.attacks import EnsembleAttack, MarginalsAttack
from tapas.attacks.tables._kept_marginals import KeptMarginalsAttack, with_parts
from tapas.attacks.tables._known_cells import known_cells
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import IncompatibleAttackError
from tapas.game import MEMBERSHIP, Release, TableBriefing
from tapas.generators import MST, BayesianNetwork, Bootstrap, MarginalSelection, PrivBayes
from tapas.threat_models import (
    AttackerKnowledgeOnGenerator,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)

COLUMNS = ["Sex", "Age", "Health", "Religion"]
CENSUS = load_sample("census", 300).view(columns=COLUMNS)
ALONE = np.flatnonzero(~CENSUS.data.duplicated(keep=False))[:8].tolist()
TARGETS, REST = CENSUS.take(ALONE), CENSUS.drop_records(ALONE)
HELD = REST.take(range(200))


class OfTwoColumns(Bootstrap):
    """Keeps two columns, chosen by the global generator."""

    def fit(self, dataset: Any, **given: Any) -> Any:
        first, second = np.random.permutation(4)[:2]  # noqa: NPY002
        self.kept = (int(first), int(second))
        return super().fit(dataset, **given)

    def selected_columns(self) -> list[tuple[int, ...]]:
        return [self.kept]


def game(box: AttackerKnowledgeOnGenerator) -> TargetedMIA:
    known = AuxiliaryDataKnowledge(REST, num_training_records=60, seed=1)
    return TargetedMIA(known, TARGETS, box, seed=1, n_jobs=1)


@pytest.mark.parametrize(
    "generator", [MST(5.0), PrivBayes(20.0), BayesianNetwork(), OfTwoColumns()]
)
def test_what_is_kept_is_found_out_alike_and_leaves_the_generator_alone(generator: Any) -> None:
    before = pickle.dumps(generator)
    kept = MarginalSelection(generator).kept_marginals(HELD)
    assert pickle.dumps(generator) == before
    assert MarginalSelection(generator).kept_marginals(HELD) == kept
    assert {column for columns in kept for column in columns} == {0, 1, 2, 3}
    assert all(0 < often <= 1 for often in kept.values())
    briefing = TableBriefing(MEMBERSHIP, TARGETS, HELD)
    attacks = [MarginalsAttack(generator) for _ in range(2)]
    keys = {attack.observer(briefing, lambda number: []).key for attack in attacks}
    assert len(keys) == 1


def test_what_a_generator_was_fitted_to_is_not_told() -> None:
    chain = np.random.default_rng(0).integers(0, 2, (400, 1))
    pairs = np.hstack([chain, chain, *np.random.default_rng(1).integers(0, 2, (2, 400, 1))])
    schema = [
        {"name": name, "type": "finite", "representation": 2} for name in ("a", "b", "c", "d")
    ]
    held = TabularDataset(pairs.tolist(), DataDescription(schema))
    secret = TabularDataset(pairs[:, [0, 2, 1, 3]].tolist(), held.description)
    selections = [MarginalSelection(made) for made in (MST(1000.0), MST(1000.0).fit(secret))]
    first, second = (selection.kept_marginals(held) for selection in selections)
    assert first == second
    assert first[0, 1] == 1.0
    assert (0, 2) not in first or first[0, 2] < 1.0


def test_the_generator_is_told_to_those_who_can_run_it_as_it_is() -> None:
    network = BayesianNetwork(degree=1)
    for box in (BlackBoxKnowledge(network, 60), WhiteBoxKnowledge(network, 60)):
        told = game(box).game.briefing("train")
        members = [type(one) for one in EnsembleAttack().members(told)]
        assert members[-2:] == [MarginalsAttack, KeptMarginalsAttack]
        assert told.only([0, 1]).selection == told.selection
    unknown = [
        NoBoxKnowledge(network, 60),
        UncertainBoxKnowledge(network, 60, dict),
        BlackBoxKnowledge(Bootstrap(), 60),
    ]
    for box in unknown:
        told = game(box).game.briefing("train")
        assert told.selection is None
        assert KeptMarginalsAttack not in [type(one) for one in EnsembleAttack().members(told)]
    known = AuxiliaryDataKnowledge(REST, num_training_records=60, seed=1)
    box = BlackBoxKnowledge(network, 60)
    values = TargetedAIA(known, TARGETS, "Sex", ["female", "male"], box, seed=1, n_jobs=1)
    assert len(EnsembleAttack().members(values.game.briefing("train"))) == 2


def test_marginals_come_with_their_parts() -> None:
    kept = {(0, 1, 2): 0.5, (1, 2): 0.2, (3,): 1.0}
    assert with_parts(kept) == {
        (0,): 0.5,
        (0, 1): 0.5,
        (0, 1, 2): 0.5,
        (0, 2): 0.5,
        (1,): 0.5,
        (1, 2): 0.5,
        (2,): 0.5,
        (3,): 1.0,
    }


def test_what_is_seen_are_shares_as_counted_one_by_one() -> None:
    selection = MarginalSelection(BayesianNetwork())
    briefing = TableBriefing(MEMBERSHIP, TARGETS, HELD, selection)
    observer = KeptMarginalsAttack().observer(briefing, lambda number: [])
    released = CENSUS.take(range(100, 190))
    found = observer(Release(released), briefing, rng=np.random.default_rng(0))
    known = known_cells(HELD)
    rows, targets = (known.coded(one.table) for one in (released, TARGETS))
    assert found.shape == (len(TARGETS), len(observer.kept))
    for place, (columns, often) in enumerate(observer.kept.items()):
        for number in range(len(TARGETS)):
            chosen = list(columns)
            agree = (rows[chosen] == targets[chosen, number : number + 1]).all(axis=0).sum()
            expected = np.sqrt(often) * np.log((agree + 0.5) / (len(released) + 0.5))
            assert found[number, place] == pytest.approx(expected, rel=1e-5)


def test_without_a_generator_that_keeps_marginals_it_says_what_to_use() -> None:
    with pytest.raises(IncompatibleAttackError, match="use MarginalsAttack"):
        KeptMarginalsAttack().observer(TableBriefing(MEMBERSHIP, TARGETS, HELD), lambda number: [])
