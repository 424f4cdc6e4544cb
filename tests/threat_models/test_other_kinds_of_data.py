"""Data need not be a table: any dataset of records can be played with."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tapas.attacks import Attack, ClosestDistanceMIA, TrainableThresholdAttack
from tapas.datasets import Dataset
from tapas.errors import IncompatibleAttackError, KnowledgeError, StoreError, ThreatModelError
from tapas.generators import Generator
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    TargetedAIA,
    TargetedMIA,
)


class Walks(Dataset):
    """Records that are lists of places, of any length."""

    def __init__(self, records: list[list[int]]) -> None:
        self.records = records

    @classmethod
    def read(cls, filepath: str) -> "Walks":
        with open(filepath) as file:
            return cls.read_from_string(file.read(), None)

    def write(self, filepath: str) -> None:
        with open(filepath, "w") as file:
            file.write(self.write_to_string())

    @classmethod
    def read_from_string(cls, data: str, description: Any) -> "Walks":
        return cls([[int(place) for place in line.split()] for line in data.splitlines()])

    def write_to_string(self) -> str:
        return "\n".join(" ".join(map(str, record)) for record in self.records)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> "Walks":
        return Walks(random.Random(random_state).sample(self.records, n_samples))

    def get_records(self, record_ids: Any) -> "Walks":
        return Walks([self.records[position] for position in record_ids])

    def drop_records(self, record_ids: Any) -> "Walks":
        gone = set(record_ids)
        return Walks([record for i, record in enumerate(self.records) if i not in gone])

    def add_records(self, records: "Walks") -> "Walks":
        return Walks(self.records + records.records)

    def replace(self, records_in: "Walks", records_out: Any = ()) -> "Walks":
        return self.drop_records(records_out).add_records(records_in)

    def create_subsets(self, n: int, sample_size: int) -> list["Walks"]:
        return [self.sample(sample_size) for _ in range(n)]

    def __add__(self, other: "Walks") -> "Walks":
        return self.add_records(other)

    def __iter__(self) -> Iterator["Walks"]:
        return (Walks([record]) for record in self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, other: "Walks") -> bool:
        return all(record in self.records for record in other.records)

    @property
    def label(self) -> str:
        return "walks"


class Some(Generator):
    """Releases most of the walks."""

    label = "some"

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        seen.append(dataset)
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> Walks:
        return self.dataset.sample(num_samples, random_state=random_state)


class Looks(TrainableThresholdAttack):
    """The documented score."""

    label = "Looks"

    def attack_score(self, datasets: Any) -> np.ndarray:
        target = self.threat_model.target_record  # type: ignore[union-attr]
        return np.array([float(target in dataset) for dataset in datasets])


class Guesses(Attack):
    """The documented methods."""

    label = "Guesses"

    def train(self, threat_model: Any, num_samples: int | None = None) -> None:
        self.target = threat_model.target_record
        releases, labels = threat_model.generate_training_samples(num_samples)
        assert len(releases) == len(labels) == num_samples
        assert all(isinstance(release, Walks) for release in releases)

    def attack(self, datasets: Any) -> list[bool]:
        return [self.target in dataset for dataset in datasets]


class Observes(TrainableThresholdAttack):
    """The map, which is told how many secrets there are."""

    label = "Observes"

    def __init__(self, targets: Walks) -> None:
        super().__init__()
        self.targets = targets

    def observe(self, release: Any, briefing: Any, *, rng: Any) -> np.ndarray:
        assert briefing.num_targets == len(self.targets)
        return np.array([float(target in release.data) for target in self.targets])


seen: list[Walks] = []
TARGETS = Walks([[-1, -2], [-3]])
POPULATION = Walks([[number] * (1 + number % 3) for number in range(120)])


@pytest.fixture(params=["auxiliary", "exact"])
def data(request: pytest.FixtureRequest) -> Any:
    if request.param == "exact":
        return ExactDataKnowledge(POPULATION.get_records(range(20)))
    return AuxiliaryDataKnowledge(POPULATION, num_training_records=20, seed=0)


def game(data: Any, **options: Any) -> TargetedMIA:
    return TargetedMIA(data, TARGETS, BlackBoxKnowledge(Some(), 20), seed=3, n_jobs=1, **options)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("pairs", [False, True])
def test_members_are_planted(data: Any, replace: bool, pairs: bool) -> None:
    model = game(data, replace_target=replace, generate_pairs=pairs)
    for training in (True, False):
        seen.clear()
        model._generate_samples(12, training=training)
        _, secrets = model._memory[training]
        for dataset, secret in zip(seen, secrets, strict=False):
            assert [target in dataset for target in TARGETS] == secret
            assert len(dataset) == (20 if replace else 20 + sum(secret))
            assert len({tuple(record) for record in dataset.records}) == len(dataset)
    assert model.game.relation == ("replace" if replace else "add/remove")
    assert len(POPULATION) == 120


def test_pairs_share_their_background() -> None:
    seen.clear()
    data = AuxiliaryDataKnowledge(POPULATION, num_training_records=20, seed=0)
    game(data)._generate_samples(4)
    places = [{tuple(record) for record in dataset.records if record[0] >= 0} for dataset in seen]
    assert places[0] == places[1] != places[2] == places[3]


def test_exact_knowledge_leaves_nothing_unknown_but_the_secrets() -> None:
    seen.clear()
    data = ExactDataKnowledge(POPULATION.get_records(range(20)))
    game(data, replace_target=True)._generate_samples(20)
    worlds = {frozenset(tuple(record) for record in dataset.records) for dataset in seen}
    assert len(worlds) == 4


@pytest.mark.parametrize("replace", [False, True])
def test_the_place_of_a_target_says_nothing(replace: bool) -> None:
    seen.clear()
    data = ExactDataKnowledge(POPULATION.get_records(range(20)))
    game(data, replace_target=replace, generate_pairs=False)._generate_samples(300)
    places = [
        dataset.records.index([-3]) / len(dataset) for dataset in seen if [-3] in dataset.records
    ]
    assert len(places) > 100
    assert stats.kstest(places, "uniform").pvalue > 1e-4
    first = [dataset.records[0] for dataset in seen if [-3] not in dataset.records]
    assert len({tuple(record) for record in first}) > 10


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("attack", [Looks(), Guesses(), Observes(TARGETS)], ids=lambda a: a.label)
def test_attacks_of_ones_own_play(data: Any, replace: bool, attack: Any) -> None:
    model = game(data, replace_target=replace)
    for view in model:
        attack.train(view, 12)
        summary = view.test(attack, 10)
        # A walk that is in is released with a chance of 20 in 20 to 22.
        assert summary.accuracy >= 0.7
        assert summary.fp == 0
        assert (summary.generator, summary.attack) == ("some", attack.label)
        assert summary.dataset == "walks (AUX)" if "Aux" in type(data).__name__ else "walks (EXACT)"


def test_trials_are_pure_and_travel() -> None:
    def samples(jobs: int) -> Any:
        data = AuxiliaryDataKnowledge(POPULATION, num_training_records=20, seed=0)
        box = BlackBoxKnowledge(Some(), 20)
        model = TargetedMIA(data, TARGETS, box, seed=3, n_jobs=jobs)
        releases, labels = model._generate_samples(6)
        return [release.records for release in releases], labels

    assert samples(1) == samples(2)


def test_targets_may_be_a_list_of_records() -> None:
    data = ExactDataKnowledge(POPULATION.get_records(range(20)))
    model = TargetedMIA(data, list(TARGETS), BlackBoxKnowledge(Some(), 20), seed=3, n_jobs=1)
    assert [view.target_record.records for view in model] == [[[-1, -2]], [[-3]]]
    assert [record.records for record in model._target_records] == [[[-1, -2]], [[-3]]]


def test_what_needs_a_table_is_refused_with_a_reason(data: Any, tmp_path: Any) -> None:
    model = game(data)
    with pytest.raises(IncompatibleAttackError, match="table"):
        ClosestDistanceMIA().train(model, 4)
    with pytest.raises(ThreatModelError, match="TabularDataset"):
        TargetedAIA(data, TARGETS, "x", [0, 1], BlackBoxKnowledge(Some(), 20))
    with pytest.raises(StoreError, match="table"):
        model.save(tmp_path / "m")


def test_data_that_changes_in_place_or_has_no_size_is_refused() -> None:
    class InPlace(Walks):
        def add_records(self, records: Any) -> None:  # type: ignore[override]
            self.records = self.records + records.records

    class Endless(Walks):
        __len__ = None  # type: ignore[assignment]

    data = ExactDataKnowledge(InPlace(POPULATION.records[:20]))
    with pytest.raises(ThreatModelError, match="return a new dataset"):
        game(data)._generate_samples(8)
    with pytest.raises(KnowledgeError, match="__len__"):
        AuxiliaryDataKnowledge(Endless([[1]]))
