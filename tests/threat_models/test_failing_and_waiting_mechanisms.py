"""Mechanisms that fail, ignore their seed, or have to be awaited."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA, LpDistance
from tapas.errors import MechanismError, ReproducibilityWarning, ThreatModelError
from tapas.generators import Generator, Raw
from tapas.threat_models import AttackerKnowledgeOnGenerator, TrialPolicy

Factory = Callable[..., Any]


def fragile(membership: Factory, bad: Any, **options: Any) -> Any:
    """A model whose mechanism fails in the trials that have the given seeds."""

    class Fragile(Raw):
        def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
            if bad(random_state):
                raise ZeroDivisionError("no luck")
            return super().__call__(dataset, num_samples, random_state)

    return membership(Fragile(), **options)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_has_an_address_and_can_be_replayed(membership: Factory, jobs: int) -> None:
    def bad(seed: int) -> bool:
        return seed % 4 == 0

    model = fragile(membership, bad, n_jobs=jobs)
    with pytest.raises(MechanismError, match=r"ZeroDivisionError\('no luck'\)") as caught:
        model._generate_samples(40, training=False)
    error = caught.value
    assert (error.phase, error.seed) == ("test", 3)
    assert error.index is not None
    assert f"draw_trial('test', {error.index})" in error.__notes__[0]
    assert "draw_trial" not in str(error)  # which command lines and pages show
    with pytest.raises(MechanismError) as replayed:
        model.draw_trial("test", error.index)
    assert str(replayed.value) == str(error)
    assert isinstance(replayed.value.__cause__, ZeroDivisionError)
    kept = len(model._memory[False][0])
    assert kept >= error.index
    assert fragile(membership, bad).draw_trial("test", 0 if error.index else 1) is not None


def test_finished_trials_are_kept_and_the_run_continues(membership: Factory) -> None:
    broken = True
    calls = 0

    def bad(seed: int) -> bool:
        nonlocal calls
        calls += 1
        return broken and calls == 6

    model = fragile(membership, bad, n_jobs=1)
    with pytest.raises(MechanismError) as caught:
        model._generate_samples(8)
    assert caught.value.index == 5
    assert len(model._memory[True][0]) == 5
    broken = False
    releases, _ = model._generate_samples(8)
    assert calls == 9
    expected, _ = membership()._generate_samples(8)
    assert all(a.table.same_values(b.table) for a, b in zip(releases, expected, strict=True))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_few_failures_can_be_left_out(membership: Factory, jobs: int) -> None:
    def bad(seed: int) -> bool:
        return seed % 4 == 0

    model = fragile(membership, bad, n_jobs=jobs)
    model.policy = TrialPolicy(max_failures=40)
    releases, labels = model._generate_samples(40)
    failed = [index for index in range(40) if fails(model, index)]
    assert 0 < len(failed) < 40
    assert len(releases) == len(labels) == 40 - len(failed)
    model.policy = TrialPolicy(max_failures=len(failed) - 1)
    strict = fragile(membership, bad, n_jobs=jobs)
    strict.policy = model.policy
    with pytest.raises(MechanismError, match="max_failures"):
        strict._generate_samples(40)


def fails(model: Any, index: int) -> bool:
    try:
        model.draw_trial("train", index)
    except MechanismError:
        return True
    return False


def test_several_attacks_watch_each_release_once(membership: Factory) -> None:
    runs = 0

    def counted(seed: int) -> bool:
        nonlocal runs
        runs += 1
        return False

    model = fragile(membership, counted, targets=[0, 1])
    attacks = [ClosestDistanceMIA(), ClosestDistanceMIA(LpDistance())]
    player = model.player()
    assert player.play("train", 6, [player.observer(attack) for attack in attacks]) == [*range(6)]
    assert runs == 6
    together = [model.observe(attack, 6).values.tolist() for attack in attacks]
    assert runs == 6
    apart = [membership(targets=[0, 1]).observe(attack, 6).values.tolist() for attack in attacks]
    assert together == apart


@pytest.mark.parametrize("output", [None, "frame"])
def test_what_is_not_a_release_is_refused(membership: Factory, output: Any) -> None:
    def mechanism(dataset: Any, num_samples: int) -> Any:
        return None if output is None else dataset.data.rename(columns={"Sex": "Gender"})

    words = "returned nothing" if output is None else "'Sex'"
    with pytest.raises(MechanismError, match=words):
        membership(mechanism)._generate_samples(2)


def test_a_mechanism_that_fixes_its_own_seed_is_noticed(membership: Factory) -> None:
    class Stubborn(Generator):
        def fit(self, dataset: Any, **kwargs: Any) -> None:
            self.dataset = dataset

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.dataset.sample(num_samples, random_state=0)

    model = membership(Stubborn())
    model._generate_samples(9)
    with pytest.warns(ReproducibilityWarning, match="identical releases"):
        model._generate_samples(12)
    model._generate_samples(20)
    membership()._generate_samples(12)


def test_the_probe_does_not_change_the_trials(membership: Factory) -> None:
    short, long = membership(), membership()
    for _ in range(3):
        short._generate_samples(len(short._memory[True][0]) + 4)
    long._generate_samples(12)
    pairs = zip(short._memory[True][0], long._memory[True][0], strict=True)
    assert all(a.table.same_values(b.table) for a, b in pairs)


def test_mechanism_knowledge_of_ones_own_works(membership: Factory) -> None:
    class Mine(AttackerKnowledgeOnGenerator):
        def generate(self, training_dataset: Any, training_mode: bool = True) -> Any:
            size = 5 if training_mode else 6
            rows = np.random.choice(len(training_dataset), size)  # noqa: NPY002
            return training_dataset.take(rows)

    one, two = membership(knowledge=Mine()), membership(knowledge=Mine())
    for training, size in ((True, 5), (False, 6)):
        first = one._generate_samples(4, training=training)[0]
        second = two._generate_samples(4, training=training)[0]
        assert [len(release) for release in first] == [size] * 4
        assert all(a.table.same_values(b.table) for a, b in zip(first, second, strict=True))
    assert Mine().label == "Unnamed generator knowledge"


# -- coroutines ---------------------------------------------------------------------------------


class Waiting(Raw):
    """A mechanism on another machine."""

    running = 0
    most = 0

    async def __call__(  # type: ignore[override]
        self, dataset: Any, num_samples: Any = None, random_state: Any = None
    ) -> Any:
        Waiting.running += 1
        Waiting.most = max(Waiting.most, Waiting.running)
        await asyncio.sleep(0.001)
        Waiting.running -= 1
        return super().__call__(dataset, num_samples, random_state)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_coroutines_give_the_same_trials(membership: Factory, concurrent: int) -> None:
    Waiting.most = 0
    waited, labels = membership(Waiting(), num_concurrent=concurrent)._generate_samples(9)
    expected, expected_labels = membership()._generate_samples(9)
    assert labels == expected_labels
    assert all(a.table.same_values(b.table) for a, b in zip(waited, expected, strict=True))
    assert Waiting.most == concurrent


@pytest.mark.parametrize("concurrent", [1, 3])
def test_coroutines_run_inside_a_running_loop(membership: Factory, concurrent: int) -> None:
    async def notebook() -> int:
        model = membership(Waiting(), num_concurrent=concurrent)
        return len(model._generate_samples(5)[0])

    assert asyncio.run(notebook()) == 5


def test_concurrent_failures_keep_the_rest(membership: Factory) -> None:
    class Failing(Waiting):
        async def __call__(  # type: ignore[override]
            self, dataset: Any, num_samples: Any = None, random_state: Any = None
        ) -> Any:
            result = await super().__call__(dataset, num_samples, random_state)
            if random_state % 3 == 0:
                raise OSError("line is dead")
            return result

    model = membership(Failing(), num_concurrent=4)
    with pytest.raises(MechanismError, match="line is dead") as caught:
        model._generate_samples(12)
    assert caught.value.phase == "train"
    assert 0 < len(model._memory[True][0]) < 12


def test_concurrency_is_for_coroutines_that_take_a_seed(membership: Factory) -> None:
    with pytest.raises(ValueError, match="coroutine") as caught:
        membership(num_concurrent=2)._generate_samples(2)
    assert isinstance(caught.value, ThreatModelError)

    async def unseeded(dataset: Any, num_samples: int) -> Any:
        return dataset.sample(num_samples)

    with pytest.warns(ReproducibilityWarning, match="takes no seed"):
        membership(unseeded, num_concurrent=2)._generate_samples(2)
