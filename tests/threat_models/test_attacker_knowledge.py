"""What the attacker knows of the data and of the mechanism, and several targets at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.datasets import TabularDataset
from tapas.errors import IncompatibleAttackError, KnowledgeError, ThreatModelError
from tapas.generators import Generator, Raw
from tapas.results import AIAttackSummary, BinaryAIAttackSummary, MIAttackSummary
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeOnGenerator,
    AttackerKnowledgeWithLabel,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    LabelInferenceThreatModel,
    NoBoxKnowledge,
    Release,
    ThreatModel,
    TrainableThreatModel,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)

Factory = Callable[..., Any]


def numbers(dataset: TabularDataset) -> set[int]:
    return set(dataset.data["number"])


# -- data ---------------------------------------------------------------------------------------


def test_the_split_is_seeded_disjoint_and_complete(numbered: TabularDataset) -> None:
    knowledge = AuxiliaryDataKnowledge(numbered, 0.255, num_training_records=5, seed=1)
    assert len(knowledge.aux_data) == 25
    assert numbers(knowledge.aux_data) | numbers(knowledge.test_data) == set(range(100))
    assert not numbers(knowledge.aux_data) & numbers(knowledge.test_data)
    again = AuxiliaryDataKnowledge(numbered, 0.255, num_training_records=5, seed=1)
    assert numbers(again.aux_data) == numbers(knowledge.aux_data)
    drawn = AuxiliaryDataKnowledge(numbered, 0.255, num_training_records=5)
    repeated = AuxiliaryDataKnowledge(numbered, 0.255, num_training_records=5, seed=drawn.seed)
    assert numbers(drawn.aux_data) == numbers(repeated.aux_data)
    assert knowledge.label == "numbered (AUX)"
    assert (len(numbered), knowledge.num_training_records) == (100, 5)


def test_rows_can_be_given_to_one_side(numbered: TabularDataset) -> None:
    first, second = numbered.take(range(30)), numbered.take(range(30, 50))
    whole = AuxiliaryDataKnowledge(aux_data=first, test_data=second, num_training_records=5)
    assert numbers(whole.aux_data) == set(range(30))
    assert numbers(whole.test_data) == set(range(30, 50))
    mixed = AuxiliaryDataKnowledge(second, 0, aux_data=first, num_training_records=5)
    assert numbers(mixed.aux_data) == set(range(30))
    assert numbers(mixed.test_data) == set(range(30, 50))
    more = AuxiliaryDataKnowledge(numbered, 0.5, aux_data=first, test_data=second, seed=0)
    assert (len(more.aux_data), len(more.test_data)) == (80, 70)


@pytest.mark.parametrize(
    "options", [{}, {"aux_data": "x"}, {"auxiliary_split": 1.5}, {"auxiliary_split": "half"}]
)
def test_incomplete_knowledge_is_refused(numbered: TabularDataset, options: Any) -> None:
    given = {k: (numbered if v == "x" else v) for k, v in options.items()}
    with pytest.raises(AssertionError):
        AuxiliaryDataKnowledge(**given)
    with pytest.raises(AssertionError, match="descriptions"):
        AuxiliaryDataKnowledge(numbered, aux_data=numbered.view(["number"]))
    with pytest.raises(AssertionError, match="descriptions"):
        AuxiliaryDataKnowledge(aux_data=numbered, test_data=numbered.view(["number"]))


def test_drawn_datasets_come_from_their_side(numbered: TabularDataset) -> None:
    knowledge = AuxiliaryDataKnowledge(numbered, num_training_records=20, seed=0)
    for training, pool in ((True, knowledge.aux_data), (False, knowledge.test_data)):
        datasets = knowledge.generate_datasets(5, training=training)
        assert [len(dataset) for dataset in datasets] == [20] * 5
        assert all(numbers(dataset) <= numbers(pool) for dataset in datasets)
        assert not numbers(datasets[0]) & numbers(datasets[1])
    small = AuxiliaryDataKnowledge(numbered, num_training_records=60, seed=0)
    with pytest.raises(KnowledgeError, match=r"60.*auxiliary data has only 50"):
        small.generate_datasets(1)


def test_knowledge_of_ones_own_is_drawn_under_seeded_globals(
    membership: Factory, background: TabularDataset
) -> None:
    class Mine(AttackerKnowledgeOnData):
        def generate_datasets(self, num_samples: int, training: bool = True) -> list[Any]:
            return [background.sample(30) for _ in range(num_samples)]

    first, second = (membership(data=Mine())._generate_samples(5)[0] for _ in range(2))
    assert all(a.table.same_values(b.table) for a, b in zip(first, second, strict=True))
    assert not first[0].table.same_values(first[2].table)
    assert Mine().label == "Unnamed knowledge"


@pytest.mark.parametrize(
    "base",
    [
        AttackerKnowledgeOnData,
        AttackerKnowledgeWithLabel,
        AttackerKnowledgeOnGenerator,
        ThreatModel,
        TrainableThreatModel,
    ],
)
def test_abstract_methods_are_enforced(base: type) -> None:
    with pytest.raises(TypeError, match="abstract"):
        base()


def test_a_labeller_of_ones_own_makes_a_threat_model(numbered: TabularDataset) -> None:
    class Halves(AttackerKnowledgeWithLabel):
        def generate_datasets_with_label(
            self, num_samples: int, training: bool = True
        ) -> tuple[list[Any], list[Any]]:
            labels = [int(np.random.randint(2)) for _ in range(num_samples)]  # noqa: NPY002
            return [numbered.take(range(50 * label, 50 * label + 50)) for label in labels], labels

    class Guess:
        label = "guess"

        def attack(self, datasets: list[Any]) -> list[int]:
            return [int(dataset.data["number"].iloc[0] >= 50) for dataset in datasets]

    model = LabelInferenceThreatModel(Halves(), BlackBoxKnowledge(Raw(), 5), seed=1)
    truth, guesses, scores = model.test(Guess(), 12)
    assert truth.tolist() == guesses.tolist()
    assert set(truth) == {0, 1}
    assert scores is None
    again = LabelInferenceThreatModel(Halves(), BlackBoxKnowledge(Raw(), 5), seed=1)
    assert again._generate_samples(12, training=False)[1] == truth.tolist()


# -- mechanism ----------------------------------------------------------------------------------


def test_labels_of_the_boxes() -> None:
    raw = Raw()
    assert BlackBoxKnowledge(raw, 5).label == "Raw"
    assert NoBoxKnowledge(raw, 5).label == "Raw[no-box]"
    assert UncertainBoxKnowledge(raw, 5, dict).label == "Raw[uncertain]"
    for box in (BlackBoxKnowledge(raw, 5), WhiteBoxKnowledge(raw, 5), NoBoxKnowledge(raw, 5)):
        assert box.generator is raw
        assert box.num_synthetic_records == 5


def test_a_box_can_be_called(numbered: TabularDataset) -> None:
    assert len(BlackBoxKnowledge(Raw(), 7)(numbered)) == 7
    assert len(BlackBoxKnowledge(Raw(), None).generate(numbered)) == 100
    assert len(NoBoxKnowledge(Raw(), 7)(numbered, training_mode=False)) == 7
    with pytest.raises(KnowledgeError, match="no-box"):
        NoBoxKnowledge(Raw(), 7)(numbered)


def test_an_uncertain_box_uses_the_prior_and_the_final_parameters() -> None:
    def mechanism(dataset: Any, num_samples: int, level: float = 0) -> np.ndarray:
        return np.full(num_samples, level)

    def draw() -> dict[str, Any]:
        return {"level": 1.0}

    box = UncertainBoxKnowledge(mechanism, 3, draw, {"level": 2.0})
    assert box.generate(None).tolist() == [1.0] * 3
    assert box.generate(None, training_mode=False).tolist() == [2.0] * 3
    open_box = UncertainBoxKnowledge(mechanism, 3, draw)
    assert open_box.generate(None, training_mode=False).tolist() == [1.0] * 3
    with pytest.raises(KnowledgeError, match="prior"):
        UncertainBoxKnowledge(mechanism, 3, {"level": 1})  # type: ignore[arg-type]


def test_the_prior_is_seeded(membership: Factory) -> None:
    drawn: list[float] = []

    class Level(Generator):
        def fit(self, dataset: Any, level: float = 0, **kwargs: Any) -> None:
            drawn.append(level)
            self.dataset = dataset

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.dataset.sample(num_samples, random_state=random_state)

    def prior() -> dict[str, float]:
        return {"level": float(np.random.random())}  # noqa: NPY002

    for _ in range(2):
        box = UncertainBoxKnowledge(Level(), 20, prior, {"level": 5.0})
        model = membership(knowledge=box)
        model._generate_samples(4)
        model._generate_samples(2, training=False)
    assert drawn[:6] == drawn[6:]
    assert len(set(drawn[:4])) == 4
    assert drawn[4:6] == [5.0, 5.0]


def test_a_white_box_shows_the_fitted_mechanism(membership: Factory) -> None:
    class Peek:
        """Knows the private data from the fitted mechanism."""

        label = "peek"

        def train(self, threat_model: Any, num_samples: int) -> None:
            releases, labels = threat_model.generate_training_samples(num_samples)
            self.target = threat_model.target_record
            assert [self.target in r.mechanism.dataset for r in releases] == labels

        def attack(self, releases: list[Any]) -> list[bool]:
            assert all(isinstance(release, Release) for release in releases)
            assert all(len(release.data) == 20 for release in releases)
            return [self.target in release.mechanism.dataset for release in releases]

    model = membership(knowledge=WhiteBoxKnowledge(Raw(), 20))
    attack = Peek()
    attack.train(model, 8)
    assert model.test(attack, 9).accuracy == 1.0
    assert model.test(attack, 6).accuracy == 1.0
    trial = model.draw_trial("test", 0)
    assert trial.release.mechanism.trained
    assert membership().draw_trial("test", 0).release.mechanism is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_observers_see_the_mechanism_in_training_and_in_tests(
    membership: Factory, jobs: int
) -> None:
    class Peek(ClosestDistanceMIA):
        def observe(self, release: Any, briefing: Any, *, rng: Any) -> np.ndarray:
            data = release.mechanism.dataset
            return np.array([float(target in data) for target in briefing.targets])

    model = membership(knowledge=WhiteBoxKnowledge(Raw(), 20), targets=[0, 1], n_jobs=jobs)
    attack = Peek()
    for view in model:
        attack.train(view, 10)
        assert view.test(attack, 10).accuracy == 1.0


def test_a_no_box_attacker_cannot_train(membership: Factory) -> None:
    model = membership(knowledge=NoBoxKnowledge(Raw(), 20))
    with pytest.raises(KnowledgeError, match="no-box"):
        model.generate_training_samples(4)
    with pytest.raises(IncompatibleAttackError, match="threshold"):
        ClosestDistanceMIA().train(model, 4)
    attack = ClosestDistanceMIA(criterion=("threshold", 0))
    attack.train(model)
    summary = model.test(attack, 30)
    assert summary.fp == 0
    assert summary.generator == "Raw[no-box]"


# -- several targets ----------------------------------------------------------------------------


def test_views_are_independent_and_share_trials(
    membership: Factory, people: TabularDataset
) -> None:
    model = membership(targets=[0, 1, 2])
    assert model.multiple_label_mode
    assert len(model) == model.num_labels == 3
    views = list(model)
    assert len({id(view) for view in views}) == 3
    assert [view.target_record.id for view in views] == [0, 1, 2]
    assert [record.id for record in model._target_records] == [0, 1, 2]
    drawn = [view._generate_samples(6) for view in views]
    for releases, _ in drawn[1:]:
        assert all(a.table.same_values(b.table) for a, b in zip(releases, drawn[0][0], strict=True))
    by_trial = [list(secrets) for secrets in zip(*(labels for _, labels in drawn), strict=True)]
    assert by_trial == model._memory[True][1]
    assert model.current_label == 0
    views[0].set_label(2)
    assert views[1].target_record.id == 1
    assert people.get_records([0]) in model.target_record


def test_an_attack_kept_from_a_view_still_knows_its_target(membership: Factory) -> None:
    model = membership(targets=[0, 1], size=40)
    attacks = []
    for view in model:
        attack = ClosestDistanceMIA(criterion=("threshold", 0))
        attack.train(view)
        attacks.append(attack)
    for attack, view in zip(attacks, model, strict=True):
        assert view.test(attack, 10).accuracy == 1.0


def test_a_single_target_can_be_iterated_over(membership: Factory) -> None:
    model = membership()
    (view,) = model
    assert view.target_record.id == model.target_record.id == 0
    with pytest.raises(AssertionError):
        model.set_label(0)
    with pytest.raises(ThreatModelError, match="2 labels"):
        membership(targets=[0, 1]).set_label(2)


def test_summaries_say_what_was_played(membership: Factory, attribute: Factory) -> None:
    class Always:
        label = "always"

        def __init__(self, value: Any) -> None:
            self.value = value

        def attack(self, datasets: list[Any]) -> list[Any]:
            return [self.value] * len(datasets)

    summary = membership().test(Always(True), 10)
    assert isinstance(summary, MIAttackSummary)
    assert (summary.generator, summary.attack, summary.target_id) == ("Raw", "always", "0")
    assert summary.dataset.endswith("(AUX)")
    assert (summary.tp, summary.fp, summary.accuracy) == (1.0, 1.0, 0.5)
    assert summary.scores is None
    binary = attribute().test(Always("male"), 10)
    assert isinstance(binary, BinaryAIAttackSummary)
    assert binary.sensitive_attribute == "Sex"
    assert (binary.tp, binary.fp) == (1.0, 1.0)
    many = attribute(attribute="Health", values=["good", "fair", "bad"]).test(Always("bad"), 10)
    assert type(many) is AIAttackSummary


def test_raw_is_broken_at_the_rate_its_sampling_implies(membership: Factory) -> None:
    model = membership(size=20, data=None)
    attack = ClosestDistanceMIA(criterion=("threshold", 0))
    attack.train(model)
    summary = model.test(attack, 400)
    assert summary.fp == 0
    assert abs(summary.tp - 0.5) < 4 * np.sqrt(0.25 / 200)
