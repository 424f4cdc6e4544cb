"""What the fitted mechanism itself says of a target."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tapas.attacks import LikelihoodAttack, SubsetAttack
from tapas.audit import load_audit
from tapas.datasets import DataDescription, TabularDataset, load_sample, most_isolated
from tapas.errors import IncompatibleAttackError
from tapas.generators import (
    MST,
    BayesianNetwork,
    Bootstrap,
    CartSynthesizer,
    GaussianCopula,
    IndependentMarginals,
    NoisyMarginals,
    PrivBayes,
)
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedMIA,
    WhiteBoxKnowledge,
)

SIZES = (3, 2, 4)
SCHEMA = DataDescription(
    [{"name": f"c{i}", "type": "finite", "representation": size} for i, size in enumerate(SIZES)]
)


def codes(rows: int) -> TabularDataset:
    """Every combination, and rows in which the columns hang together."""
    rng = np.random.default_rng(0)
    first = rng.integers(3, size=rows)
    table = np.stack([first, first % 2, (first + rng.integers(2, size=rows)) % 4], axis=1)
    return TabularDataset(np.concatenate([table, every()]), SCHEMA)


def every() -> np.ndarray:
    return np.array(list(product(*(range(size) for size in SIZES))))


@pytest.mark.parametrize(
    "generator",
    [
        IndependentMarginals(),
        BayesianNetwork(),
        NoisyMarginals(100.0, missing=False),
        MST(100.0, missing=False),
        PrivBayes(100.0, missing=False),
    ],
    ids=lambda generator: type(generator).__name__,
)
def test_the_likelihoods_of_all_records_sum_to_one(generator: Any) -> None:
    generator.fit(codes(300), random_state=0)
    factors = generator.log_factors(TabularDataset(every(), SCHEMA))
    assert factors.shape == (24, 3)
    assert np.exp(factors.sum(axis=1)).sum() == pytest.approx(1, abs=0.02)


def test_the_factors_of_marginals_and_copies_are_frequencies() -> None:
    data = codes(100)
    records = np.array([[0, 0, 0], [2, 1, 3]])
    asked, rows = TabularDataset(records, SCHEMA), data.data.to_numpy()
    expected = np.log([(rows == one).mean(axis=0) for one in records])
    found = IndependentMarginals().fit(data).log_factors(asked)
    assert found == pytest.approx(expected)
    assert GaussianCopula().fit(data).log_factors(asked)[:, :3] == pytest.approx(expected)
    copies = [(rows == one).all(axis=1).mean() for one in records]
    assert Bootstrap().fit(data).log_factors(asked)[:, 0] == pytest.approx(np.log(copies))


@pytest.mark.parametrize("generator", [BayesianNetwork(), GaussianCopula(), IndependentMarginals()])
def test_values_that_a_fit_never_met_have_a_likelihood(generator: Any) -> None:
    data = load_sample("clinic", 400, seed=1)
    generator.fit(data.take(range(40)))
    assert np.isfinite(generator.log_factors(data)).all()


def test_who_sees_the_fitted_network_finds_more_than_who_sees_what_it_drew() -> None:
    data = load_sample("census", 1200, seed=2)
    rows = most_isolated(data, 4)
    targets, rest = data.take(rows), data.take(np.setdiff1d(np.arange(1200), rows))
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(rest, num_training_records=100, seed=0),
        targets,
        WhiteBoxKnowledge(BayesianNetwork(degree=1), 100),
        generate_pairs=False,
        seed=1,
        n_jobs=1,
    )
    auc = {}
    for attack in (LikelihoodAttack(), SubsetAttack(number=60)):
        attack.train(threat_model, 60)
        auc[attack.label] = np.mean([one.test(attack, 60).auc for one in threat_model])
    assert auc["Likelihood"] > max(0.8, auc["Subsets"] + 0.05)


def test_without_a_fitted_mechanism_that_tells_it_is_refused_with_advice() -> None:
    data = load_sample("census", 100, seed=2)
    knowledge = AuxiliaryDataKnowledge(data.take(range(1, 100)), num_training_records=20, seed=0)
    for box, words in (
        (BlackBoxKnowledge(Bootstrap(), 20), "WhiteBoxKnowledge"),
        (WhiteBoxKnowledge(CartSynthesizer(), 20), "log_factors"),
    ):
        threat_model = TargetedMIA(knowledge, data.take([0]), box, seed=0, n_jobs=1)
        with pytest.raises(IncompatibleAttackError, match=words):
            LikelihoodAttack().train(threat_model, 4)


def test_an_audit_file_asks_for_the_white_box(tmp_path: Path) -> None:
    path = tmp_path / "audit.yaml"
    values = {
        "data": {"sample": "census", "rows": 200, "targets": {"vulnerable": 2}},
        "generator": {"use": "BayesianNetwork"},
        "knowledge": {"mechanism": "white-box", "records": 40},
        "attacks": ["LikelihoodAttack"],
        "trials": {"train": 20, "test": 20},
    }
    path.write_text(yaml.safe_dump(values))
    audit = load_audit(path)
    assert audit.check().problems == ()
    record = audit.run(tmp_path / "run", n_jobs=1)
    assert not any(subject.crashes for subject in record.subjects)
    assert [len(subject.summaries) for subject in record.subjects] == [2, 2, 2]
