"""A trial is a function of its address: not of workers, order, interruptions or memory."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, TapasWarning
from tapas.generators import Generator, Raw

Factory = Callable[..., Any]


class Counter:
    """Counts outside of the classes that are counted, whose identity it is not part of."""

    count = 0


observed = Counter()


def fingerprint(samples: tuple[list[Any], list[Any]]) -> list[Any]:
    releases, labels = samples
    return [
        (release.table.codes.tobytes(), release.table.numbers.tobytes(), bool(label))
        for release, label in zip(releases, labels, strict=True)
    ]


class NoisyWithoutSeed(Generator):
    """Draws from the global generators, as much foreign code does."""

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        self.dataset = dataset

    def generate(self, num_samples: int) -> Any:  # type: ignore[override]
        return self.dataset.take(np.random.choice(len(self.dataset), num_samples))  # noqa: NPY002


def local_copy_of(cls: type) -> Any:
    """The class under no importable name, as classes of a notebook are."""
    return type(cls.__name__, (Generator,), {**vars(cls), "__module__": "__main__"})()


@pytest.mark.parametrize("phase", ["train", "test"])
def test_drawing_a_trial_again_gives_the_same(membership: Factory, phase: str) -> None:
    model = membership(NoisyWithoutSeed(), targets=[0, 1])
    last, first = model.draw_trial(phase, 7), model.draw_trial(phase, 0)
    model._generate_samples(9, training=phase == "train")
    for trial in (last, first):
        again = membership(NoisyWithoutSeed(), targets=[0, 1]).draw_trial(phase, trial.index)
        assert again.release.data.table.same_values(trial.release.data.table)
        assert again.secrets.tolist() == trial.secrets.tolist()
        assert (again.phase, again.index, again.group) == (phase, trial.index, trial.index // 2)
        remembered = model._memory[phase == "train"][0][trial.index]
        assert remembered.table.same_values(trial.release.data.table)


def test_phases_indices_and_seeds_have_their_own_randomness(membership: Factory) -> None:
    model = membership()
    tables = [
        model.draw_trial(phase, i).release.data for phase in ("train", "test") for i in (0, 2)
    ]
    tables.append(membership(seed=4).draw_trial("train", 0).release.data)
    different = {dataset.table.codes.tobytes() for dataset in tables}
    assert len(different) == 5


def test_wrong_addresses_are_refused(membership: Factory) -> None:
    with pytest.raises(ConfigError, match="'validate'"):
        membership().draw_trial("validate", 0)
    with pytest.raises(ConfigError, match="index"):
        membership().draw_trial("train", -1)
    with pytest.raises(ValueError, match="seed"):
        membership(seed=-1)


def test_a_missing_seed_is_drawn_and_kept(membership: Factory) -> None:
    first, second = membership(seed=None), membership(seed=None)
    assert first.seed != second.seed
    again = membership(seed=first.seed)
    assert fingerprint(again._generate_samples(4)) == fingerprint(first._generate_samples(4))


def test_one_core_and_two_processes_agree_to_the_bit(membership: Factory) -> None:
    attack = ClosestDistanceMIA()
    results = []
    for jobs in (1, 2):
        model = membership(local_copy_of(NoisyWithoutSeed), targets=[0, 1, 2], n_jobs=jobs)
        seen = model.observe(attack, 12)
        releases, secrets = model._memory[True]
        results.append(
            (
                [release.table.codes.tobytes() for release in releases],
                secrets,
                seen.values.tobytes(),
                seen.secrets.tolist(),
                seen.groups.tolist(),
            )
        )
    assert results[0] == results[1]


@pytest.mark.parametrize("has_seed", [True, False])
def test_threads_agree_whether_the_mechanism_takes_a_seed(
    membership: Factory, has_seed: bool
) -> None:
    given = () if has_seed else (local_copy_of(NoisyWithoutSeed),)
    with ThreadPoolExecutor(3) as threads:
        threaded = membership(*given, executor=threads)._generate_samples(15)
    assert fingerprint(threaded) == fingerprint(membership(*given, n_jobs=1)._generate_samples(15))


def test_foreign_randomness_is_seeded_and_put_back(membership: Factory) -> None:
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    first = fingerprint(membership(NoisyWithoutSeed())._generate_samples(6))
    assert np.random.random() == expected  # noqa: NPY002
    np.random.seed(99)  # noqa: NPY002
    assert fingerprint(membership(NoisyWithoutSeed())._generate_samples(6)) == first
    assert len(set(first)) == 6


@pytest.mark.parametrize("name", ["random_state", "seed"])
def test_a_mechanism_that_names_a_seed_is_given_one_per_trial(
    membership: Factory, name: str
) -> None:
    seeds: list[Any] = []

    namespace: dict[str, Any] = {"seeds": seeds}
    exec(  # the parameter's name is what is tested
        f"def generate(self, num_samples, {name}=None):\n"
        f"    seeds.append({name})\n"
        f"    return self.dataset.sample(num_samples, random_state={name})\n"
        f"def fit(self, dataset, {name}=None):\n"
        f"    seeds.append({name})\n"
        f"    self.dataset = dataset\n",
        namespace,
    )
    methods = {"fit": namespace["fit"], "generate": namespace["generate"]}
    membership(type("Named", (Generator,), methods)())._generate_samples(4)
    assert len(set(seeds)) == len(seeds) == 8
    assert all(isinstance(seed, int) and 0 <= seed < 2**32 for seed in seeds)


def test_a_seed_reaches_an_overridden_call_but_not_through_it_into_fit(
    membership: Factory,
) -> None:
    class Called(Raw):
        def fit(self, dataset: Any, **kwargs: Any) -> None:
            assert kwargs == {}
            super().fit(dataset)

        def __call__(self, dataset: Any, num_samples: Any = None, seed: Any = None) -> Any:  # type: ignore[override]
            self.fit(dataset)
            return self.generate(num_samples, random_state=seed)

    one = fingerprint(membership(Called())._generate_samples(4))
    assert one == fingerprint(membership(Called())._generate_samples(4))
    assert len(set(one)) == 4


def test_a_plain_function_can_be_the_mechanism(membership: Factory) -> None:
    def release(dataset: Any, num_samples: int, random_state: Any = None) -> Any:
        return dataset.sample(num_samples, random_state=random_state).data

    releases, _ = membership(release)._generate_samples(4)
    assert all(isinstance(table, TabularDataset) and len(table) == 20 for table in releases)


def test_trials_work_on_copies_of_the_mechanism(membership: Factory) -> None:
    class Hoarder(Generator):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def fit(self, dataset: Any, **kwargs: Any) -> None:
            self.seen.append(dataset)

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            assert len(self.seen) == 1
            return self.seen[0].sample(num_samples, random_state=random_state)

    hoarder = Hoarder()
    membership(hoarder)._generate_samples(5)
    assert hoarder.seen == []


def test_an_interrupted_run_continues_as_if_unbroken(membership: Factory) -> None:
    class Impatient:
        count = 0

        def __init__(self, total: int) -> None:
            self.total = total

        def update(self, n: int = 1) -> None:
            Impatient.count += n
            if Impatient.count == 5:
                raise KeyboardInterrupt

        def close(self) -> None:
            pass

    broken = membership(NoisyWithoutSeed(), iterator_tracker=Impatient)
    with pytest.raises(KeyboardInterrupt):
        broken._generate_samples(12)
    assert len(broken._memory[True][0]) == 5
    unbroken = membership(NoisyWithoutSeed())
    assert fingerprint(broken._generate_samples(12)) == fingerprint(unbroken._generate_samples(12))


@pytest.mark.parametrize("pairs", [True, False])
def test_exactly_as_many_trials_as_asked_for(membership: Factory, pairs: bool) -> None:
    model = membership(generate_pairs=pairs)
    for count in (4, 7, 11, 20, 1, 0, 5):
        releases, labels = model._generate_samples(count)
        assert len(releases) == len(labels) == count
    assert len(model._memory[True][0]) == 20
    assert model._memory[False] == ([], [])


def test_memory_is_topped_up_and_smaller_requests_get_its_beginning(membership: Factory) -> None:
    model = membership()
    five = fingerprint(model.generate_training_samples(5))
    nine = fingerprint(model.generate_training_samples(9))
    assert nine[:5] == five
    assert fingerprint(model.generate_training_samples(3)) == five[:3]
    assert fingerprint(model.generate_training_samples()) == nine
    assert nine == fingerprint(membership()._generate_samples(9))


def test_nothing_remembered_and_nothing_asked_for_warns(membership: Factory) -> None:
    with pytest.warns(TapasWarning, match="num_samples"):
        assert membership()._generate_samples() == ([], [])


def test_ignoring_memory_gives_other_trials_and_leaves_it(membership: Factory) -> None:
    model = membership()
    remembered = fingerprint(model._generate_samples(6))
    fresh = fingerprint(model._generate_samples(6, ignore_memory=True))
    fresher = fingerprint(model._generate_samples(6, ignore_memory=True))
    assert not set(remembered) & set(fresh)
    assert not set(fresh) & set(fresher)
    assert fingerprint(model._generate_samples()) == remembered
    again = membership()
    assert fingerprint(again._generate_samples(6, ignore_memory=True)) == fresh


def test_without_memory_every_request_is_fresh(membership: Factory) -> None:
    model = membership(memorise_datasets=False)
    first, second = (fingerprint(model._generate_samples(4)) for _ in range(2))
    assert not set(first) & set(second)
    assert model._memory == {True: ([], []), False: ([], [])}
    attack = ClosestDistanceMIA()
    one, two = (model.observe(attack, 4).values.ravel().tolist() for _ in range(2))
    assert len(one) == len(two) == 4


def test_what_is_handed_out_is_not_the_memory(membership: Factory) -> None:
    model = membership()
    releases, labels = model._generate_samples(3)
    before = fingerprint(model._generate_samples(3))
    releases[0].data.loc[0, "Sex"] = None
    releases.pop()
    labels[0] = not labels[0]
    assert fingerprint(model._generate_samples(3)) == before


def test_observations_are_remembered_per_attack(membership: Factory) -> None:
    class Counting(ClosestDistanceMIA):
        def observe(self, release: Any, briefing: Any, *, rng: Any) -> Any:
            observed.count += 1
            return super().observe(release, briefing, rng=rng)

    model, attack = membership(targets=[0, 1, 2]), Counting()
    observed.count = 0
    for view in model:
        attack.train(view, 6)
        view.test(attack, 4)
    assert observed.count == 10
    model.observe(attack, 8)
    assert observed.count == 12


def test_progress_counts_trials(membership: Factory) -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    bars: list[Any] = []

    class Bar(tqdm):  # type: ignore[misc, valid-type]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options, disable=False, file=open("/dev/null", "w"))  # noqa: SIM115
            bars.append(self)

        def close(self) -> None:
            super().close()
            self.fp.close()

    model = membership(iterator_tracker=Bar)
    model._generate_samples(5)
    model._generate_samples(7)
    model._generate_samples(6)
    assert [(bar.total, bar.n) for bar in bars] == [(5, 5), (2, 2)]
