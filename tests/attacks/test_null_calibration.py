"""Attacks on releases that know nothing of the private data: their intervals hold 0.5 as stated.

All attacks of a game look at the same trials. Tables are small, of categories and of mixed columns;
the transferred attack judges targets that it never learnt from, and the map every other record.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import t
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import (
    Attack,
    EnsembleAttack,
    LikelihoodAttack,
    MarginalsAttack,
    NearnessAttack,
    QueryAttack,
    SubsetAttack,
)
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import BayesianNetwork
from tapas.results import AuditRecord, BinaryLabelInferenceAttackSummary
from tapas.stats import mean_auc_influences
from tapas.threat_models import AuxiliaryDataKnowledge, TargetedMIA, WhiteBoxKnowledge

SEEDS = 200
TRAIN, TEST, RECORDS, TARGETS = 24, 40, 40, 6


class OfOthers(BayesianNetwork):
    """Learns from records of other people, whatever it is given."""

    def __init__(self, others: TabularDataset) -> None:
        super().__init__(degree=1)
        self.others = others

    def fit(self, dataset: Any, random_state: Any = None) -> Any:
        rng = np.random.default_rng(random_state)
        return super().fit(self.others.take(rng.permutation(len(self.others))[:RECORDS]))


def attacks() -> list[Attack]:
    return [
        SubsetAttack(),
        SubsetAttack(transfer=True),
        NearnessAttack(),
        EnsembleAttack(),
        LikelihoodAttack(),
        MarginalsAttack(),
        QueryAttack(30, RandomForestClassifier(20)),
    ]


def audited(table: str, seed: int) -> AuditRecord:
    names = list(load_sample(table, 1).description.columns)[:5]
    data = load_sample(table, 420, seed=seed).view(columns=names)
    different = np.flatnonzero(~data.data.duplicated(keep=False))
    targets = different[different < 220][:TARGETS].tolist()
    rest = data.take(range(220)).drop_records(targets)
    knowledge = AuxiliaryDataKnowledge(rest, num_training_records=RECORDS, seed=seed)
    box = WhiteBoxKnowledge(OfOthers(data.take(range(220, 420))), RECORDS)
    model = TargetedMIA(knowledge, data.take(targets), box, seed=seed, n_jobs=1)
    return Audit(model, attacks(), TRAIN, TEST).run(n_jobs=1)


def misses(record: AuditRecord) -> dict[str, bool]:
    """Whether the interval of each attack's mean AUC over targets leaves out 0.5."""
    by_attack: dict[str, list[BinaryLabelInferenceAttackSummary]] = {}
    for one in record.subjects[0].summaries:
        assert isinstance(one, BinaryLabelInferenceAttackSummary)
        by_attack.setdefault(str(one.attack), []).append(one)
    found = {}
    for attack, mine in by_attack.items():
        scores = np.stack([np.asarray(one.scores, dtype=float) for one in mine], axis=1)
        members = np.stack([one.labels.astype(bool) for one in mine], axis=1)
        assert mine[0].groups is not None
        mean, parts, degrees = mean_auc_influences(scores, members, mine[0].groups)
        found[attack] = abs(mean - 0.5) > t.ppf(0.975, degrees) * np.sqrt((parts**2).sum())
    return found


def rates(table: str, seeds: range) -> dict[str, float]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        counted.update({name: int(missed) for name, missed in misses(audited(table, seed)).items()})
    return {name: count / len(seeds) for name, count in counted.items()}


@pytest.mark.slow
@pytest.mark.parametrize("table", ["census", "clinic"])
def test_attacks_are_at_chance_as_often_as_stated(table: str) -> None:
    found = rates(table, range(SEEDS))
    assert len(found) == 7
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / SEEDS)
    assert {name: rate for name, rate in found.items() if rate > most} == {}
