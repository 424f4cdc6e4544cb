"""Adapters for objects, classes and functions that speak data frames."""

import copy
import random
import threading

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, MechanismError, NotTrainedError
from tapas.generators._adapters import (
    GeneratorFromClass,
    GeneratorFromFunction,
    GeneratorFromObject,
)

SCHEMA = [
    {"name": "age", "type": "countable", "representation": "integer"},
    {"name": "share", "type": "interval", "representation": "number"},
    {"name": "sex", "type": "finite", "representation": ["F", "M"]},
    {"name": "born", "type": "countable/ordered", "representation": "date"},
]
FRAME = pd.DataFrame(
    {
        "age": [30, 41, 52, 63],
        "share": [0.1, 0.9, np.nan, 0.5],
        "sex": ["F", "M", "M", None],
        "born": pd.to_datetime(["1990-01-02", "1981-03-04", "1970-05-06", None]),
    }
)


def data():
    return TabularDataset(FRAME, DataDescription(SCHEMA))


class Resampler:
    """Draws rows from the global generator."""

    def __init__(self, scale=1):
        self.scale = scale
        self.fits = 0

    def fit(self, frame):
        self.fits += 1
        self.frame = frame
        frame.attrs["seen"] = True
        return self

    def sample(self, n):
        return self.frame.iloc[np.random.randint(len(self.frame), size=n)]  # noqa: NPY002


class SeededResampler(Resampler):
    def __init__(self, random_state=0):
        super().__init__()
        self.random_state = random_state

    def sample(self, n):
        return self.frame.sample(n, replace=True, random_state=self.random_state)


class GenerateOnly:
    def fit(self, frame, epochs=1):
        self.frame, self.epochs = frame, epochs

    def generate(self, count, seed=None):
        return {"table": self.frame.sample(count, replace=True, random_state=seed)}


def resample(frame, n, seed):
    return frame.sample(n, replace=True, random_state=seed)


def is_real(release):
    return (data().table.count_differences(release.table).min(axis=1) == 0).all()


WRAPPED = {
    "object": GeneratorFromObject(Resampler()),
    "seeded object": GeneratorFromObject(SeededResampler()),
    "generate": GeneratorFromObject(GenerateOnly()),
    "class": GeneratorFromClass(Resampler, scale=2),
    "seeded class": GeneratorFromClass(SeededResampler),
    "function": GeneratorFromFunction(resample),
    "lambda": GeneratorFromFunction(lambda df, n, s: resample(df, n, s), "lambda"),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_sampled_becomes_a_release(name):
    generator = copy.deepcopy(WRAPPED[name])
    release = generator.fit(data(), random_state=0).generate(30, random_state=1)
    assert len(release) == 30
    assert release.description == data().description
    assert is_real(release)
    assert release.table.index.equals(pd.RangeIndex(30))
    assert len(generator.generate(0)) == 0
    assert len(generator.generate()) == 4


@pytest.mark.parametrize("name", WRAPPED)
def test_seeds_decide_what_is_sampled(name):
    def release(seed):
        generator = copy.deepcopy(WRAPPED[name]).fit(data(), random_state=0)
        return generator.generate(30, random_state=seed).table

    assert release(5).same_values(release(5))
    assert not release(5).same_values(release(6))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_seed_may_be_drawn_from_a_generator(make):
    generator = GeneratorFromFunction(resample).fit(data(), random_state=0)
    source = make(7)
    first, second = (generator.generate(30, random_state=source).table for _ in range(2))
    again = generator.generate(30, random_state=make(7)).table
    assert first.same_values(again)
    assert not first.same_values(second)


def test_the_global_generators_are_put_back():
    generator = GeneratorFromObject(Resampler()).fit(data(), random_state=0)
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    expected = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    generator.generate(5, random_state=3)
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002


def test_threads_do_not_disturb_each_other():
    releases = {}

    def run(seed):
        generator = GeneratorFromObject(Resampler()).fit(data(), random_state=seed)
        releases[seed].append(generator.generate(200, random_state=seed).table)

    for seed in range(8):
        releases[seed] = []
    for _ in range(2):
        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(first.same_values(second) for first, second in releases.values())


def test_every_fit_works_on_the_object_as_it_was_given():
    model = Resampler()
    generator = GeneratorFromObject(model)
    for _ in range(3):
        generator.fit(data())
    assert model.fits == 0
    assert generator.fitted_.fits == 1


def test_a_class_is_built_with_its_arguments_for_every_fit():
    generator = GeneratorFromClass(Resampler, scale=3).fit(data())
    first = generator.fitted_
    assert generator.fit(data()).fitted_ is not first
    assert first.scale == 3
    assert generator.label == "Resampler(scale=3)"
    assert GeneratorFromClass(SeededResampler).fit(data(), 9).fitted_.random_state == 9
    kept = GeneratorFromClass(GenerateOnly, fit_arguments={"epochs": 7}).fit(data())
    assert kept.fitted_.epochs == 7


def test_the_private_data_are_not_kept_beside_the_model():
    generator = GeneratorFromObject(GenerateOnly()).fit(data())
    assert len(generator.rules_.schema) == 0
    assert {name for name in vars(generator) if name.endswith("_")} == {"rules_", "fitted_"}


def test_the_callers_frame_is_never_handed_out():
    original = data()
    frame = original.data
    GeneratorFromObject(Resampler()).fit(original)
    assert "seen" not in frame.attrs


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda f: f.iloc[:3], "asked for 4 records and made 3"),
        (lambda f: f.drop(columns="sex"), "missing: 'sex'"),
        (lambda f: f.assign(extra=1), "not in the schema: 'extra'"),
        (lambda f: f.assign(sex="X"), "'X' is not one of the declared categories"),
        (lambda f: f.assign(age="old"), "column 'age', row 0: 'old' is not a number"),
        (lambda f: f.assign(age=[30, 40.5, 50, 60]), r"made 40.5 in row 1 of column 'age'"),
        (lambda f: f.assign(age=-f["age"]), r"made -30 in row 0 of column 'age'"),
        (lambda f: f.assign(share=[0, 1, 2, 3.0]), r"column 'share', which is 'interval' \(2 such"),
        (lambda f: f.assign(share=np.inf), "not a finite number"),
        (lambda f: None, "returned a NoneType: expected a data frame"),
        (lambda f: np.zeros((4, 2)), r"returned a ndarray of shape \(4, 2\)"),
        (lambda f: 1 / 0, "sampling from broken raised ZeroDivisionError"),
    ],
)
def test_a_wrong_output_says_what_the_generator_did(output, message):
    generator = GeneratorFromFunction(lambda frame, n, seed: output(frame), "broken").fit(data())
    with pytest.raises(MechanismError, match=message) as caught:
        generator.generate(4)
    assert "broken" in str(caught.value)


def test_numbers_that_break_the_schema_can_be_repaired():
    wrong = FRAME.assign(age=[30.4, -2, 50.6, np.nan], share=[-0.1, 1.5, 0.5, np.nan])
    generator = GeneratorFromFunction(lambda frame, n: wrong, "wrong", repair=True).fit(data())
    made = generator.generate(4).data
    assert made["age"][:3].tolist() == [30, 0, 51]
    assert made["share"][:3].tolist() == [0, 1, 0.5]
    assert made[["age", "share"]].iloc[3].isna().all()


def test_rules_that_the_private_data_break_are_not_enforced():
    own = TabularDataset(FRAME.assign(age=[-5, 1, 2, 3]), DataDescription(SCHEMA))
    release = GeneratorFromFunction(resample).fit(own).generate(20, random_state=0)
    assert release.data["age"].min() == -5


@pytest.mark.parametrize("shape", ["array", "dict", "loader", "shuffled columns", "dataset"])
def test_other_shapes_of_tables_are_understood(shape):
    class Loader:
        def dataframe(self):
            return FRAME

    outputs = {
        "array": FRAME.to_numpy(dtype=object),
        "dict": {"t": FRAME},
        "loader": Loader(),
        "shuffled columns": FRAME[["born", "sex", "age", "share"]],
        "dataset": data(),
    }
    generator = GeneratorFromFunction(lambda frame, n: outputs[shape], shape).fit(data())
    assert generator.generate(4).table.same_values(data().table)


def test_what_cannot_be_wrapped_is_refused_with_advice():
    with pytest.raises(ConfigError, match="GeneratorFromClass"):
        GeneratorFromObject(Resampler)
    with pytest.raises(ConfigError, match=r"must have the methods fit\(frame\)"):
        GeneratorFromObject(object())
    with pytest.raises(ConfigError, match="must have the methods"):
        GeneratorFromClass(dict)
    with pytest.raises(ConfigError, match="callable"):
        GeneratorFromFunction(3)
    with pytest.raises(NotTrainedError, match="call fit"):
        GeneratorFromFunction(resample).generate(3)
    with pytest.raises(MechanismError, match="TabularDataset"):
        GeneratorFromFunction(resample).fit(FRAME)


def test_an_object_that_cannot_be_copied_is_refused_with_advice():
    class Locked(Resampler):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(MechanismError, match="use GeneratorFromClass"):
        GeneratorFromObject(Locked()).fit(data())
    assert is_real(GeneratorFromClass(Locked).fit(data()).generate(5, random_state=0))


def test_failures_while_fitting_are_named():
    class Failing(Resampler):
        def fit(self, frame):
            raise KeyError("age")

    with pytest.raises(MechanismError, match="fitting Failing raised KeyError"):
        GeneratorFromObject(Failing()).fit(data())


def test_mixed_tables_go_there_and_back():
    clinic = load_sample("clinic", rows=200)
    release = GeneratorFromFunction(lambda frame, n: frame, "identity").fit(clinic).generate(200)
    assert release.table.same_values(clinic.table)


def test_an_option_in_third_place_is_not_taken_for_the_seed() -> None:
    seen = []

    def synth(frame, n, epsilon=1.0):
        seen.append(epsilon)
        return frame.sample(n, replace=True)

    generator = GeneratorFromFunction(synth)
    data = load_sample("census", 30)
    generator.fit(data)
    generator.generate(10, random_state=5)
    assert seen == [1.0]
