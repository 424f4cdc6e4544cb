"""Audits of the two controls: everything leaks from one, almost nothing from the other."""

import pytest

from tapas.attacks import ClosestDistanceMIA, HammingDistance
from tapas.datasets import load_sample, select_vulnerable_records
from tapas.generators._adapters import GeneratorFromFunction, GeneratorFromObject
from tapas.generators._bootstrap import Bootstrap
from tapas.generators._marginals import IndependentMarginals
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedMIA,
    WhiteBoxKnowledge,
)


class Resampler:
    def fit(self, frame):
        self.frame = frame

    def sample(self, n, random_state=None):
        return self.frame.sample(n, replace=True, random_state=random_state)


def resample(frame, n, seed):
    return frame.sample(n, replace=True, random_state=seed)


def audit(generator, num_samples=100):
    data = load_sample("clinic", rows=600)
    target = select_vulnerable_records(data, 1)
    data = data.drop_records(target.data.index.to_numpy())
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(data, num_training_records=60, seed=1),
        target,
        BlackBoxKnowledge(generator, num_synthetic_records=60),
        replace_target=True,
        seed=2,
        n_jobs=1,
    )
    attack = ClosestDistanceMIA(HammingDistance(), criterion=("threshold", -0.5))
    attack.train(threat_model)  # the threshold is given
    return threat_model.test(attack, num_samples=num_samples)


@pytest.mark.parametrize(
    "generator",
    [Bootstrap(), GeneratorFromObject(Resampler()), GeneratorFromFunction(resample)],
    ids=str,
)
def test_copies_give_members_away_unless_the_draw_missed_them(generator):
    summary = audit(generator)
    assert summary.fp == 0
    assert abs(summary.tp - (1 - (1 - 1 / 60) ** 60)) < 0.18


def test_independent_columns_do_not():
    summary = audit(IndependentMarginals())
    assert summary.tp == 0
    assert abs(summary.auc - 0.5) < 0.2


def test_an_audit_of_an_adapter_can_be_repeated():
    first, second = (audit(GeneratorFromObject(Resampler()), 20) for _ in range(2))
    assert first.scores.tolist() == second.scores.tolist()


def test_a_white_box_attacker_is_shown_the_fitted_state():
    data = load_sample("clinic", rows=100)
    knowledge = WhiteBoxKnowledge(IndependentMarginals(), num_synthetic_records=10)
    model = TargetedMIA(
        AuxiliaryDataKnowledge(data, num_training_records=40, seed=1),
        load_sample("clinic", rows=1, seed=5).get_records([0]),
        knowledge,
        seed=2,
    )
    trial = model.draw_trial("test", 0)
    assert set(trial.release.mechanism.frequencies_) == set(data.description.columns)
