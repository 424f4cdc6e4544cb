"""Attacks by marginals: a naive twin, the tree of a known network, and what generators keep."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.attacks import MarginalsAttack
from tapas.attacks.tables._known_cells import known_cells
from tapas.attacks.tables._marginals import mutual_information, spanning_tree, tree_weights
from tapas.audit import audit_from_values
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import ConfigError, IncompatibleAttackError
from tapas.game import MEMBERSHIP, Release, TableBriefing
from tapas.generators import MST, BayesianNetwork, Bootstrap, PrivBayes, Raw
from tapas.metrics import column_aucs
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

SIX = list(load_sample("census", 1).description.columns)[:6]
COLUMNS = ["Sex", "Age", "Health", "Religion"]
CENSUS = load_sample("census", 300).view(columns=COLUMNS)


def naive_share(frame: pd.DataFrame, record: pd.Series, columns: list[str]) -> float:
    agree = (frame[columns] == record[columns]).all(axis=1)
    return (agree.sum() + 0.5) / (len(frame) + 0.5)


@pytest.mark.parametrize("logarithmic", [True, False])
def test_scores_are_those_of_a_naive_count(logarithmic: bool) -> None:
    released, held, targets = (
        CENSUS.take(range(*ends)) for ends in ((0, 90), (90, 250), (250, 260))
    )
    attack = MarginalsAttack(BayesianNetwork(degree=1), 4, logarithmic)
    briefing = TableBriefing(MEMBERSHIP, targets, held)
    observer = attack.observer(briefing, lambda number: [])
    found = observer(Release(released), briefing, rng=np.random.default_rng(0))
    assert observer.weights is not None
    assert {len(columns) for columns in observer.weights} == {1, 2}
    for position, (_, record) in enumerate(targets.data.iterrows()):
        expected = 0.0
        for columns, weight in observer.weights.items():
            names = [COLUMNS[column] for column in columns]
            ratio = naive_share(released.data, record, names) / naive_share(
                held.data, record, names
            )
            expected += weight * (np.log(ratio) if logarithmic else ratio)
        assert found[position] == pytest.approx(expected)


def test_what_is_remembered_of_records_is_not_taken_for_that_of_others() -> None:
    targets = CENSUS.take(range(10))
    alone, both = MarginalsAttack(), []
    halves = CENSUS.take(range(10, 150)), CENSUS.take(range(150, 300))
    releases = [Release(CENSUS.take(range(start, start + 60))) for start in (0, 40, 200)]

    def scores(held: TabularDataset) -> np.ndarray:
        briefing = TableBriefing(MEMBERSHIP, targets, held)
        observer = alone.observer(briefing, lambda number: [])
        seen = [observer(one, briefing, rng=np.random.default_rng(0)) for one in releases]
        return np.stack(seen)

    for held in (*halves, *halves):
        both.append(scores(held))
    for once, again, held in zip(both[:2], both[2:], halves, strict=True):
        fresh = TabularDataset(held.data.copy(), held.description)
        assert np.array_equal(once, again)
        assert np.array_equal(once, scores(fresh))
    assert not np.array_equal(both[0], both[1])


def test_the_tree_of_a_chain_is_that_chain_and_scores_its_likelihood() -> None:
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 3, 4000)]
    for _ in range(3):
        codes.append(np.where(rng.random(4000) < 0.7, codes[-1], rng.integers(0, 3, 4000)))
    found = np.array(codes)[[2, 0, 3, 1]]
    sizes = [3, 3, 3, 3]
    edges = spanning_tree(mutual_information(found, sizes))
    assert sorted(edges) == [(0, 2), (0, 3), (1, 3)]
    weights = tree_weights(found, sizes)
    assert sum(weights.values()) == 1.0  # a likelihood: every column counts once
    assert weights[(0,)] == weights[(3,)] == -1.0
    assert weights[(1,)] == weights[(2,)] == 0.0


def test_mutual_information_is_that_of_its_definition() -> None:
    codes, sizes = known_cells(CENSUS).coded(CENSUS.table), known_cells(CENSUS).sizes
    found = mutual_information(codes, sizes)
    pairs = Counter(zip(*codes[:2], strict=True))
    alone = [Counter(codes[column]) for column in (0, 1)]
    n = len(CENSUS)
    expected = sum(
        count / n * np.log(n * count / (alone[0][a] * alone[1][b]))
        for (a, b), count in pairs.items()
    )
    assert found[0, 1] == found[1, 0] == pytest.approx(expected)


@pytest.mark.parametrize("generator", [BayesianNetwork(), MST(100.0), PrivBayes(100.0)])
def test_generators_say_what_they_keep(generator: Any) -> None:
    generator.fit(CENSUS)
    kept = generator.selected_columns()
    assert {column for columns in kept for column in columns} == set(range(len(COLUMNS)))


def game(generator: Any, seed: int) -> TargetedMIA:
    data = load_sample("census", 400, seed=seed).view(columns=SIX)
    different = np.flatnonzero(~data.data.duplicated(keep=False))[:6].tolist()
    knowledge = AuxiliaryDataKnowledge(
        data.drop_records(different), num_training_records=60, seed=seed
    )
    box = BlackBoxKnowledge(generator, 60)
    return TargetedMIA(knowledge, data.take(different), box, seed=seed, n_jobs=1)


def mean_auc(threat_model: TargetedMIA, attack: MarginalsAttack, number: int = 40) -> float:
    player = threat_model.player()
    board = player.board(player.observer(attack), "test", number)
    return float(column_aucs(board.values, board.secrets.astype(bool)).mean())


def test_copies_are_found_and_others_are_not() -> None:
    class Elsewhere(Bootstrap):
        """Releases records of other people."""

        def __call__(self, dataset: Any, num_samples: Any = None, **given: Any) -> Any:
            return super().__call__(
                load_sample("census", 120, seed=99).view(columns=SIX), 60, **given
            )

    assert mean_auc(game(Raw(), 1), MarginalsAttack()) > 0.65
    null = [mean_auc(game(Elsewhere(), seed), MarginalsAttack()) for seed in range(3)]
    assert np.mean(null) == pytest.approx(0.5, abs=0.05)


def test_numbers_and_missing_values_are_cells_too() -> None:
    clinic = load_sample("clinic", 200)
    frame = clinic.data.copy()
    frame.iloc[::5, 0] = None
    known = known_cells(clinic)
    codes = known.coded(TabularDataset(frame, clinic.description).table)
    assert codes.shape == (len(known.sizes), 200)
    assert (codes.max(axis=1) < np.array(known.sizes)).all()
    assert codes.min() >= 0


def test_what_cannot_be_asked_is_refused_and_audit_files_name_the_generator() -> None:
    with pytest.raises(ConfigError, match="Raw has not"):
        MarginalsAttack(Raw())  # type: ignore[arg-type]
    with pytest.raises(IncompatibleAttackError, match="reference data"):
        MarginalsAttack(BayesianNetwork()).observer(
            TableBriefing(MEMBERSHIP, CENSUS.take([0])), lambda number: []
        )
    network = {"use": "BayesianNetwork", "parameters": {"degree": 1}}
    values = {
        "data": {"sample": "census", "rows": 200},
        "generator": network,
        "attacks": [{"use": "MarginalsAttack", "parameters": {"generator": network, "fits": 3}}],
        "trials": {"train": 4, "test": 4},
    }
    (attack,) = audit_from_values(values, "test").attacks
    assert isinstance(attack, MarginalsAttack)
    assert attack.label == "Marginals(kept)"
