import numpy as np
import pytest
from mixed_tables import (
    DESCRIPTION,
    Deaf,
    attribute_game,
    key_of,
    membership_game,
    mixed_table,
    outlier,
)
from mixed_tables import observed as look
from scipy.stats import binom
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tapas.attacks.tables._density import DensityEstimator, sklearnDensityEstimator
from tapas.attacks.tables._probability_estimation import ProbabilityEstimationAttack
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError, SchemaError


def within_binomial(successes: int, trials: int, rate: float) -> bool:
    low, high = binom.ppf([1e-4, 1 - 1e-4], trials, rate)
    return bool(low <= successes <= high)


@pytest.mark.parametrize("bandwidth", [0.2, 1.0, 5])
def test_the_gaussian_kernel_agrees_with_scikit_learn(bandwidth):
    targets, data = mixed_table(6, 5), mixed_table(50, 6)
    model = KernelDensity(bandwidth=bandwidth)
    seen = look(ProbabilityEstimationAttack(model, "accuracy"), membership_game(targets), data)
    twin = KernelDensity(bandwidth=bandwidth).fit(data.as_numeric)
    assert np.allclose(seen, twin.score_samples(targets.as_numeric), rtol=1e-9, atol=1e-9)


def test_missing_numbers_count_as_the_mean_and_missing_categories_as_none():
    targets, data = mixed_table(6, 5, 0.3), mixed_table(50, 6, 0.3)
    numbers = data.as_numeric
    means = np.nanmean(numbers, axis=0)
    filled = np.where(np.isnan(numbers), means, numbers)
    asked = np.where(np.isnan(targets.as_numeric), means, targets.as_numeric)
    game = membership_game(targets)
    for model in (KernelDensity(), KernelDensity(kernel="exponential"), GaussianMixture(1)):
        seen = look(ProbabilityEstimationAttack(model, "accuracy"), game, data)
        assert np.allclose(seen, model.fit(filled).score_samples(asked), rtol=1e-9)


def test_numbers_can_be_scaled_by_their_range_in_other_data():
    targets, data, reference = mixed_table(4, 5), mixed_table(30, 6), mixed_table(40, 7)
    numbers = reference.as_numeric
    spread = numbers.max(axis=0) - numbers.min(axis=0)
    units = np.where(spread > 0, spread, 1)
    for model in (KernelDensity(bandwidth=0.3), KernelDensity(kernel="tophat", bandwidth=5)):
        attack = ProbabilityEstimationAttack(model, "accuracy", scale=reference)
        twin = model.fit(data.as_numeric / units).score_samples(targets.as_numeric / units)
        assert np.allclose(look(attack, membership_game(targets), data), twin, rtol=1e-9)


def test_a_column_that_is_missing_throughout_does_no_harm():
    data = TabularDataset(mixed_table(20, 6).data.assign(cost=np.nan), DESCRIPTION)
    for model in (KernelDensity(), KernelDensity(kernel="exponential")):
        attack = ProbabilityEstimationAttack(model, "accuracy", scale=data)
        assert np.isfinite(look(attack, membership_game(outlier()), data)).all()


def test_an_empty_release_scores_minus_infinity_and_one_row_its_kernel():
    attack = ProbabilityEstimationAttack(KernelDensity(), "accuracy")
    game = membership_game(outlier())
    assert look(attack, game, mixed_table(3).empty()).tolist() == [-np.inf]
    peak = -DESCRIPTION.encoded_dim * np.log(2 * np.pi) / 2
    assert np.allclose(look(attack, game, outlier()), peak)


def test_members_are_found_in_a_sample_at_the_rate_of_sampling():
    game = membership_game(outlier(), size=30, released=15)
    attack = ProbabilityEstimationAttack(KernelDensity(), ("accuracy",))
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=300)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 300, 0.75)


def test_nothing_is_found_in_a_release_that_ignores_the_data():
    game = membership_game(mixed_table(1, 9), generator=Deaf())
    attack = ProbabilityEstimationAttack(KernelDensity(), "accuracy")
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=200)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 200, 0.5)


def test_random_models_follow_the_seed_and_the_given_model_is_left_unfitted():
    targets, data = mixed_table(3, 5), mixed_table(40, 6)
    model = make_pipeline(StandardScaler(), GaussianMixture(4, max_iter=500, reg_covar=1e-2))
    attack = ProbabilityEstimationAttack(model, "accuracy")
    game = membership_game(targets)
    assert np.array_equal(look(attack, game, data), look(attack, game, data))
    assert not hasattr(model[-1], "means_")
    assert model[-1].random_state is None


def test_an_estimator_of_ones_own_takes_a_few_lines_and_is_fitted_on_a_copy():
    class CostDensity(DensityEstimator):
        def fit(self, dataset):
            self.costs = dataset.data["cost"].to_numpy(dtype=float)

        def score(self, dataset):
            costs = dataset.data["cost"].to_numpy(dtype=float)
            return -np.abs(costs[:, None] - self.costs).min(axis=1)

    estimator = CostDensity()
    game = membership_game(outlier())
    attack = ProbabilityEstimationAttack(estimator, "accuracy")
    attack.train(game, num_samples=20)
    assert game.test(attack, num_samples=20).accuracy == 1
    assert not hasattr(estimator, "costs")
    assert attack.label == "ProbabilityEstimation(CostDensity)"
    with pytest.raises(ConfigError, match="scale"):
        ProbabilityEstimationAttack(estimator, "accuracy", scale=outlier())


def test_the_estimator_itself_can_be_fitted_again():
    estimator = sklearnDensityEstimator(KernelDensity())
    with pytest.raises(NotTrainedError):
        estimator.score(outlier())
    first = estimator.fit(mixed_table(10, 0)).score(outlier())
    second = estimator.fit(mixed_table(10, 1)).score(outlier())
    assert first != second
    assert estimator.fit(mixed_table(10, 0)).score(outlier()) == first
    assert str(estimator) == "KernelDensity()"
    assert sklearnDensityEstimator(KernelDensity(), label="mine").label == "mine"


def test_observations_are_shared_by_equal_models_and_follow_changed_parameters():
    model = KernelDensity()
    attack = ProbabilityEstimationAttack(model, "accuracy")
    key = key_of(attack)
    assert key == key_of(ProbabilityEstimationAttack(KernelDensity(), ("tp", 0.5)))
    named = sklearnDensityEstimator(KernelDensity(), "mine")
    assert key == key_of(ProbabilityEstimationAttack(named, "accuracy"))
    attack.estimator.fit(mixed_table(9))
    assert key == key_of(attack)
    assert key != key_of(
        ProbabilityEstimationAttack(KernelDensity(), "accuracy", scale=mixed_table(9))
    )
    model.set_params(bandwidth=3)
    assert key != key_of(attack)


def test_wrong_use_is_refused_with_advice():
    with pytest.raises(ConfigError, match="score_samples"):
        ProbabilityEstimationAttack("kde", "accuracy")
    with pytest.raises(IncompatibleAttackError, match="TargetedMIA"):
        ProbabilityEstimationAttack(KernelDensity(), "accuracy").train(attribute_game(outlier()), 4)
    schema = [{"name": "word", "type": "countable", "representation": "string"}]
    words = TabularDataset([["a"], ["b"]], DataDescription(schema))
    with pytest.raises(SchemaError, match="exclude_columns"):
        sklearnDensityEstimator(KernelDensity()).fit(words)
    with pytest.raises(SchemaError, match="different descriptions"):
        sklearnDensityEstimator(KernelDensity(), scale=words).fit(outlier())


def test_the_earlier_import_path_leads_to_the_same_classes():
    from tapas.attacks import synthinference

    assert synthinference.ProbabilityEstimationAttack is ProbabilityEstimationAttack
    assert synthinference.sklearnDensityEstimator is sklearnDensityEstimator
