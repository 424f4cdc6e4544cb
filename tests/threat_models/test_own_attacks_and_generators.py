"""A user's generator and attack of a few lines work everywhere, by whichever door they enter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapas.attacks import Attack, ClosestDistanceMIA, TrainableThresholdAttack
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.generators import Generator

Factory = Callable[..., Any]


class WithSuper(Generator):
    """Draws every column on its own."""

    def __init__(self) -> None:
        super().__init__()

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> Any:
        rng = np.random.default_rng(random_state)
        frame = self.dataset.data
        return type(self.dataset)(
            {name: rng.choice(frame[name], num_samples) for name in frame.columns},
            self.dataset.description,
        )


class WithoutSuper(WithSuper):
    """The same without the constructor of the base class, and with a name."""

    def __init__(self, label: str = "mine") -> None:
        self.word = label

    @property
    def label(self) -> str:
        return self.word


def share_of_sex(datasets: list[Any], target: Any) -> np.ndarray:
    value = target.data["Sex"].iloc[0]
    return np.array([(dataset.data["Sex"] == value).mean() for dataset in datasets])


@pytest.mark.parametrize("generator", [WithSuper(), WithoutSuper(), WithoutSuper("other")])
def test_a_generator_of_ones_own_is_audited(membership: Factory, generator: Any) -> None:
    model = membership(generator, targets=[0, 1])
    for view in model:
        attack = ClosestDistanceMIA()
        attack.train(view, 10)
        summary = view.test(attack, 10)
        unnamed = generator.label == Generator.UNNAMED
        assert summary.generator == (type(generator).__name__ if unnamed else generator.label)
        assert len(summary.labels) == 10


def test_an_attack_that_writes_only_train_and_attack(membership: Factory) -> None:
    class Mine(Attack):
        def __init__(self, cut: float) -> None:
            self.cut = cut

        def train(self, threat_model: Any, num_samples: int | None = None) -> None:
            self.target = threat_model.target_record
            releases, labels = threat_model.generate_training_samples(num_samples)
            assert len(releases) == len(labels) == num_samples

        def attack(self, datasets: Any) -> list[bool]:
            return [self.target in dataset for dataset in datasets]

    attack = Mine(0.5)
    model = membership(size=40)
    attack.train(model, 6)
    summary = model.test(attack, 11)
    assert summary.accuracy == 1.0
    assert summary.scores is None
    assert summary.attack == str(attack) == "Unnamed Attack"


def test_an_attack_that_also_scores_is_scored_once(membership: Factory) -> None:
    class Mine(Attack):
        calls = 0

        def attack(self, datasets: Any) -> np.ndarray:
            return np.zeros(len(datasets), dtype=bool)

        def attack_score(self, datasets: Any) -> np.ndarray:
            Mine.calls += 1
            return np.arange(len(datasets)) / 10

    summary = membership().test(Mine(), 5)
    assert summary.scores.tolist() == [0, 0.1, 0.2, 0.3, 0.4]
    assert summary.predictions.tolist() == [0] * 5
    assert Mine.calls == 1


def test_a_threshold_attack_that_writes_only_its_score(
    membership: Factory, attribute: Factory
) -> None:
    class Mine(TrainableThresholdAttack):
        calls = 0

        def attack_score(self, datasets: Any) -> np.ndarray:
            Mine.calls += 1
            assert self.threat_model is not None
            return share_of_sex(datasets, self.threat_model.target_record)

    for model in (membership(size=40), attribute()):
        attack = Mine("accuracy")
        attack.train(model, 20)
        Mine.calls = 0
        summary = model.test(attack, 12)
        assert Mine.calls == 1
        releases, labels = model._generate_samples(12, training=False)
        scores = attack.attack_score(releases)
        assert summary.scores.tolist() == scores.tolist()
        np.testing.assert_array_equal(
            attack.attack(releases),
            np.where(scores >= attack._threshold, attack.positive_label, attack.negative_label),
        )
        right = np.mean(attack.attack(releases) == np.array(labels))
        assert summary.accuracy == pytest.approx(right)


def test_a_trained_score_is_trained_before_the_threshold(membership: Factory) -> None:
    steps = []

    class Mine(TrainableThresholdAttack):
        def _train_attack_score(
            self, threat_model: Any, num_samples: int | None, **kwargs: Any
        ) -> None:
            steps.append(("train", num_samples, kwargs))

        def attack_score(self, datasets: Any) -> np.ndarray:
            steps.append(("score", len(datasets), {}))
            return np.linspace(0, 1, len(datasets))

    Mine(("fp", 0.1)).train(membership(), 8, depth=2)
    assert steps == [("train", 8, {"depth": 2}), ("score", 8, {})]


def test_a_subclass_that_overrides_the_score_is_heard(membership: Factory) -> None:
    class Opposite(ClosestDistanceMIA):
        def attack_score(self, datasets: Any) -> np.ndarray:
            target = self.threat_model.target_record
            return np.array([-float(target in dataset) for dataset in datasets])

    model = membership(size=40)
    plain, opposite = ClosestDistanceMIA(criterion=("threshold", 0)), Opposite(criterion=("tp", 1))
    for attack in (plain, opposite):
        attack.train(model, 20)
    assert model.test(plain, 10).auc == 1.0
    summary = model.test(opposite, 10)
    assert summary.auc == 0.0
    assert set(summary.scores) == {0.0, -1.0}


def test_a_subclass_that_observes_otherwise_has_its_own_observations(membership: Factory) -> None:
    class Shifted(ClosestDistanceMIA):
        def observe(self, release: Any, briefing: Any, *, rng: Any) -> np.ndarray:
            return 1000 + super().observe(release, briefing, rng=rng)

    model = membership()
    plain = model.observe(ClosestDistanceMIA(), 4).values
    assert model.observe(Shifted(), 4).values.tolist() == (plain + 1000).tolist()


def test_an_observer_of_ones_own(membership: Factory) -> None:
    class Mine(TrainableThresholdAttack):
        def observe(self, release: Any, briefing: Any, *, rng: Any) -> np.ndarray:
            return np.array([float(target in release.data) for target in briefing.targets])

    model = membership(targets=[0, 1], size=40)
    attack = Mine()
    for view in model:
        attack.train(view, 10)
        assert view.test(attack, 10).accuracy == 1.0
        releases, labels = view._generate_samples(10, training=False)
        assert attack.attack(releases).tolist() == labels
        assert attack.attack_score(releases).tolist() == [float(label) for label in labels]


def test_doors_and_core_agree(membership: Factory) -> None:
    model = membership()
    attack = ClosestDistanceMIA()
    attack.train(model, 20)
    summary = model.test(attack, 15)
    releases, labels = model._generate_samples(15, training=False)
    assert summary.scores.tolist() == attack.attack_score(releases).tolist()
    assert summary.predictions.tolist() == attack.attack(releases).tolist()
    assert summary.labels.tolist() == labels
    releases[0].data = releases[1].data
    assert attack.attack_score(releases)[0] == attack.attack_score(releases)[1]


def test_training_again_forgets_the_first_threat_model(membership: Factory) -> None:
    easy, hard = membership(size=40), membership(WithSuper())
    attack, fresh = ClosestDistanceMIA(), ClosestDistanceMIA()
    attack.train(hard, 20)
    attack.train(easy, 20)
    fresh.train(easy, 20)
    assert attack._threshold == fresh._threshold
    assert easy.test(attack, 20).accuracy == easy.test(fresh, 20).accuracy == 1.0


def test_an_untrained_attack_says_so(membership: Factory) -> None:
    model = membership()
    releases, _ = model._generate_samples(2)
    for act in (ClosestDistanceMIA().attack_score, ClosestDistanceMIA().attack):
        with pytest.raises(NotTrainedError, match="train"):
            act(releases)
    with pytest.raises(IncompatibleAttackError, match="LabelInferenceThreatModel"):
        ClosestDistanceMIA().train("nonsense")


def test_a_membership_attack_refuses_attributes(attribute: Factory) -> None:
    with pytest.raises(IncompatibleAttackError, match="membership"):
        ClosestDistanceMIA().train(attribute(), 10)


def test_a_generator_that_ignores_its_input_leaves_the_attack_at_chance(
    membership: Factory, background: Any
) -> None:
    class Deaf(Generator):
        def fit(self, dataset: Any, **kwargs: Any) -> None:
            pass

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return background.sample(num_samples, random_state=random_state)

    model = membership(Deaf())
    attack = ClosestDistanceMIA()
    attack.train(model, 100)
    summary = model.test(attack, 200)
    assert abs(summary.accuracy - 0.5) < 4 * np.sqrt(0.25 / 200)
