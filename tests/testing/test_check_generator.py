"""The contract of a generator: kept by ours, broken one promise at a time by others."""

import numpy as np
import pytest

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import TapasError
from tapas.generators import Generator, Raw
from tapas.testing import (
    BrokenPromiseError,
    LaplaceCount,
    SizeLeak,
    check_generator,
    generator_checks,
    worst_case,
)

NAMES = [check.name for check in generator_checks()]


class Faithful(Generator):
    """A bootstrap that keeps every promise."""

    def fit(self, dataset, random_state=None):
        self.dataset = dataset
        self.trained = True

    def generate(self, num_samples, random_state=None):
        if not self.trained:
            raise RuntimeError("fit first")
        rows = np.random.default_rng(random_state).integers(len(self.dataset), size=num_samples)
        return self.dataset.take(rows, reset_index=True)

    @property
    def label(self):
        return "faithful"


class WithoutLabel(Faithful):
    label = ""


class WithoutTraining(Faithful):
    def generate(self, num_samples, random_state=None):
        if not self.trained:
            return []
        return super().generate(num_samples, random_state)


class GivesLists(Faithful):
    def generate(self, num_samples, random_state=None):
        return super().generate(num_samples, random_state).data.to_numpy().tolist()


class OneTooMany(Faithful):
    def generate(self, num_samples, random_state=None):
        return super().generate(num_samples + 1, random_state)


class ChangesTheData(Faithful):
    def fit(self, dataset, random_state=None):
        super().fit(dataset.copy())
        dataset.drop_records([0], in_place=True)


class SharesState(Faithful):
    def __deepcopy__(self, memo):
        return self


class FixedSeed(Faithful):
    def generate(self, num_samples, random_state=None):
        return super().generate(num_samples, 7)


class OwnEntropy(Faithful):
    def generate(self, num_samples, random_state=None):
        return super().generate(num_samples, None)


class UsesGlobals(Faithful):
    def generate(self, num_samples, random_state=None):
        return super().generate(num_samples, np.random.randint(1000))  # noqa: NPY002


class Remembers(Faithful):
    def fit(self, dataset, random_state=None):
        earlier = getattr(self, "dataset", None)
        super().fit(dataset if earlier is None else earlier + dataset)


class Immobile(Faithful):
    def __reduce__(self):
        raise TypeError("cannot be pickled")

    def __deepcopy__(self, memo):
        twin = Immobile()
        twin.__dict__.update(self.__dict__)
        return twin


@pytest.mark.parametrize(
    ("generator", "promise"),
    [
        (WithoutLabel(), "label"),
        (WithoutTraining(), "not trained"),
        (GivesLists(), "schema"),
        (OneTooMany(), "number of records"),
        (ChangesTheData(), "private data"),
        (SharesState(), "copies"),
        (OwnEntropy(), "same seed"),
        (FixedSeed(), "other seeds"),
        (UsesGlobals(), "global randomness"),
        (Remembers(), "second fit"),
        (Immobile(), "travel"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_broken_promise_is_named(generator, promise):
    with pytest.raises(AssertionError, match=f"(?m)^- {promise}: ") as caught:
        check_generator(generator)
    assert isinstance(caught.value, TapasError)
    check = generator_checks()[NAMES.index(promise)]
    with pytest.raises(BrokenPromiseError, match=f"^{promise}: "):
        check(generator, load_sample("census", rows=40))


def test_values_out_of_range_are_named():
    description = DataDescription(
        [
            {"name": "share", "type": "interval", "representation": "number"},
            {"name": "count", "type": "countable", "representation": "integer"},
        ]
    )
    data = TabularDataset([[0.5, 1], [0.25, 2], [0.1, 3], [0.9, 4]], description)

    class Shifts(Faithful):
        def __init__(self, column, by):
            super().__init__()
            self.column, self.by = column, by

        def generate(self, num_samples, random_state=None):
            frame = super().generate(num_samples, random_state).data
            return TabularDataset(
                frame.assign(**{self.column: frame[self.column] + self.by}),
                self.dataset.description,
            )

    with pytest.raises(BrokenPromiseError, match=r"column 'share' .interval. holds values out"):
        check_generator(Shifts("share", 1.0), data)
    with pytest.raises(BrokenPromiseError, match="column 'count' holds values that are not whole"):
        check_generator(Shifts("count", 0.5), data)


def test_a_generator_that_fails_is_reported_with_its_error():
    class Fails(Faithful):
        def fit(self, dataset, random_state=None):
            raise ValueError("no luck today")

    with pytest.raises(BrokenPromiseError, match="ValueError: no luck today"):
        check_generator(Fails())


def test_good_generators_keep_all_promises():
    assert check_generator(Faithful()) == NAMES
    assert check_generator(Raw()) == NAMES
    background, target = worst_case(30)
    assert check_generator(LaplaceCount(target), background) == NAMES


def test_generators_without_seed_or_base_class_can_keep_them_too():
    class Plain:
        label = "plain"

        def fit(self, dataset):
            self.dataset = dataset

        def generate(self, num_samples):
            rows = np.random.randint(len(self.dataset), size=num_samples)  # noqa: NPY002
            return self.dataset.take(rows, reset_index=True)

    assert check_generator(Plain()) == NAMES


def test_the_size_leak_is_caught_by_the_contract():
    background, target = worst_case(30)
    with pytest.raises(BrokenPromiseError, match="number of records"):
        check_generator(SizeLeak(target, num_others=30), background)


def test_the_generator_itself_stays_unfitted():
    generator = Faithful()
    check_generator(generator)
    assert not generator.trained
    assert not hasattr(generator, "dataset")


def test_a_generator_may_return_data_frames():
    class Frames(Faithful):
        def generate(self, num_samples, random_state=None):
            return super().generate(num_samples, random_state).data

    assert check_generator(Frames()) == NAMES
