"""Attacks on models that were trained on other records: a leak is called as rarely as stated."""

from collections import Counter

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import (
    RMIA,
    Attack,
    BlackBoxMIA,
    CalibratedLossMIA,
    CertaintyMIA,
    ConfidenceMIA,
    EntropyMIA,
    LabelOnlyMIA,
    LiRA,
    LossMIA,
    ModifiedEntropyMIA,
    QuantileMIA,
    RehearsedMIA,
    RuleBasedMIA,
    TreeMIA,
)
from tapas.audit import Audit
from tapas.results import leak, record_facts
from tapas.threat_models import ModelMIA

SEEDS, RECORDS = 200, 160


def attacks_of(kind: str) -> list[Attack]:
    if kind == "references":
        every = [CalibratedLossMIA(), LiRA(), LiRA("offline"), RMIA(), RMIA("offline")]
        return [*every, RehearsedMIA(), LiRA(queries=3)]
    learners = [BlackBoxMIA("lr"), BlackBoxMIA("gb"), QuantileMIA(), CertaintyMIA(), TreeMIA()]
    plain = [RuleBasedMIA(), LossMIA(), ConfidenceMIA(), EntropyMIA(), ModifiedEntropyMIA()]
    walks = [LabelOnlyMIA("noise", 13), LabelOnlyMIA("boundary", 20)]
    return [*plain, LossMIA(per_class=True, label="LossMIA, per class"), *learners, *walks]


def called(kind: str, seeds: range) -> Counter[str]:
    """How often each attack is said to have found a leak, and its AUC to differ from one half."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(3 * RECORDS, 4)).round(1)
        y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
        inside, outside, others = (slice(i * RECORDS, (i + 1) * RECORDS) for i in range(3))
        forest = RandomForestClassifier(10, random_state=seed)
        shadows = {"trainer": forest, "num_shadows": 8} if kind == "references" else {}
        threat_model = ModelMIA(
            RandomForestClassifier(10, random_state=seed).fit(X[others], y[others]),
            (X[inside], y[inside]),
            (X[outside], y[outside]),
            access="parameters",
            seed=seed,
            n_jobs=1,
            **shadows,
        )
        for facts in record_facts(Audit(threat_model, attacks_of(kind)).run(n_jobs=1)):
            counted[facts.attack] += leak(facts)[0] > 0
            counted[f"{facts.attack}: AUC"] += not facts.auc.low <= 0.5 <= facts.auc.high
    return counted


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["known", "references"])
def test_leaks_of_models_trained_on_others_are_rarely_called(kind: str) -> None:
    found = called(kind, range(SEEDS))
    assert len(found) == 2 * len(attacks_of(kind))
    most = SEEDS * 0.05 + 3 * np.sqrt(SEEDS * 0.05 * 0.95)
    assert {name: count for name, count in found.items() if count > most} == {}
