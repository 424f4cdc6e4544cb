"""NoisyMarginals: independent columns with discrete Laplace noise."""

import numpy as np
import pytest

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, NotTrainedError
from tapas.generators._noisy_marginals import NoisyMarginals
from tapas.testing import check_generator

CLINIC_BOUNDS = {
    "admitted": ("2023-01-01", "2024-12-31"),
    "triage time": ("2023-01-01", "2025-01-01"),
    "age": (0, 110),
    "length of stay": (0, 60),
    "charge": (0, 50_000),
    "temperature": (34, 42),
}


@pytest.fixture(scope="module")
def clinic():
    return load_sample("clinic", rows=300, seed=3)


def test_it_keeps_every_promise_of_a_generator(clinic):
    check_generator(NoisyMarginals(1.0))
    check_generator(NoisyMarginals(1.0, bounds=CLINIC_BOUNDS), clinic)


def test_with_a_huge_epsilon_the_counts_are_those_of_the_data(clinic):
    generator = NoisyMarginals(1e6, bounds=CLINIC_BOUNDS).fit(clinic, random_state=0)
    cells = generator.domain_.cells_of(clinic)
    for column, counts in zip(cells, generator.counts_, strict=True):
        assert np.array_equal(np.bincount(column, minlength=len(counts)), counts)


def test_the_noise_has_the_scale_that_the_sensitivity_asks_for():
    description = DataDescription(
        [{"name": str(i), "type": "finite", "representation": 5_000} for i in range(3)]
    )
    nobody = TabularDataset([], description)
    generator = NoisyMarginals(0.5).fit(nobody, random_state=1)
    noise = np.concatenate(generator.counts_)
    share = np.exp(-0.5 / 3)  # scale 3 / 0.5
    assert noise.dtype == np.int64
    assert noise.var() == pytest.approx(2 * share / (1 - share) ** 2, rel=0.08)


def test_marginals_of_a_large_release_follow_the_data():
    data = load_sample("census", rows=20_000, seed=1)
    generator = NoisyMarginals(2.0).fit(data, random_state=0)
    cells = [generator.domain_.cells_of(d) for d in (data, generator.generate(20_000, 1))]
    for own, made, size in zip(*cells, generator.domain_.sizes, strict=True):
        distance = np.abs(np.bincount(own, minlength=size) - np.bincount(made, minlength=size))
        assert distance.sum() / 40_000 < 0.02


def test_missing_values_come_back_as_often_as_they_were(clinic):
    generator = NoisyMarginals(1e6, bounds=CLINIC_BOUNDS).fit(clinic, random_state=0)
    made = generator.generate(5_000, random_state=0)
    gap = made.data.isna().mean() - clinic.data.isna().mean()
    assert gap.abs().max() < 0.04


def test_columns_declared_without_missing_values_have_none(clinic):
    generator = NoisyMarginals(0.1, bounds=CLINIC_BOUNDS, missing=["charge"])
    made = generator.fit(clinic, random_state=0).generate(2_000, random_state=0)
    holes = made.data.isna().any()
    assert holes[holes].index.tolist() in ([], ["charge"])


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("size", [0, 1, 50])
def test_tiny_tables_and_releases_of_any_size_work(clinic, rows, size):
    generator = NoisyMarginals(1.0, bounds=CLINIC_BOUNDS).fit(clinic.take(range(rows)), 0)
    release = generator.generate(size, random_state=0)
    assert len(release) == size
    assert release.description == clinic.description


def test_the_fitted_state_holds_no_private_records(clinic):
    generator = NoisyMarginals(1.0, bounds=CLINIC_BOUNDS).fit(clinic, random_state=0)
    kept = [value for value in vars(generator).values() if isinstance(value, TabularDataset)]
    assert all(len(dataset) == 0 for dataset in kept)


def test_it_says_what_it_promises():
    generator = NoisyMarginals(0.5)
    assert generator.label == "NoisyMarginals(epsilon=0.5)"
    assert generator.relation == "add/remove"
    assert generator.delta == 0
    with pytest.raises(NotTrainedError, match="call fit first"):
        generator.generate(3)


def test_a_failed_fit_leaves_it_untrained(clinic):
    generator = NoisyMarginals(1.0, bounds=CLINIC_BOUNDS).fit(clinic)
    with pytest.raises(ConfigError, match="bounds names"):
        generator.fit(load_sample("census", rows=5))
    with pytest.raises(NotTrainedError):
        generator.generate(1)


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), "one"])
def test_an_epsilon_that_is_not_positive_is_refused(epsilon):
    with pytest.raises(ConfigError, match="epsilon must be a positive number"):
        NoisyMarginals(epsilon)


def test_parameters_given_to_fit_are_not_silently_ignored(clinic):
    with pytest.raises(ConfigError, match="fit got 'epsilon'"):
        NoisyMarginals(1.0, bounds=CLINIC_BOUNDS).fit(clinic, epsilon=0.1)
