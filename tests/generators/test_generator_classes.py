"""Generators made of Python code: the base class, Raw, and reprosyn-style classes."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import TabularDataset
from tapas.errors import NotTrainedError
from tapas.generators import Generator, Raw, ReprosynGenerator
from tapas.threat_models import BlackBoxKnowledge


def test_fit_and_generate_must_be_written() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Generator()  # type: ignore[abstract]


def test_calling_a_generator_fits_with_the_arguments_and_generates(
    numbered: TabularDataset,
) -> None:
    class Echo(Generator):
        def fit(self, dataset: Any, shift: int = 0, **kwargs: Any) -> None:
            self.rows, self.shift, self.rest = dataset, shift, kwargs

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.rows.take(np.arange(num_samples) + self.shift)

    echo = Echo()
    released = echo(numbered, 3, shift=10, depth=2)
    assert released.data["number"].tolist() == [10, 11, 12]
    assert echo.rest == {"depth": 2}
    assert echo.trained is False
    assert (echo.label, str(echo)) == ("Unnamed Generator", "Unnamed Generator")


def test_a_generator_without_super_init_works(numbered: TabularDataset) -> None:
    class Bare(Generator):
        def __init__(self, word: str) -> None:
            self.word = word

        def fit(self, dataset: Any, **kwargs: Any) -> None:
            self.rows = dataset

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.rows.sample(num_samples)

        @property
        def label(self) -> str:
            return self.word

    bare = Bare("mine")
    assert bare.trained is False
    assert len(bare(numbered, 7)) == 7
    assert str(bare) == "mine"


def test_raw_draws_rows_like_the_data_frame(numbered: TabularDataset) -> None:
    raw = Raw()
    assert raw.label == str(raw) == "Raw"
    raw.fit(numbered)
    expected = numbered.data.sample(5, random_state=0)
    pd.testing.assert_frame_equal(raw.generate(5, random_state=0).data, expected)  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(Raw()(numbered, 5, random_state=0).data, expected)  # type: ignore[attr-defined]


def test_raw_without_a_number_gives_all_rows_but_not_the_same_object(
    numbered: TabularDataset,
) -> None:
    released = Raw()(numbered)
    assert released is not numbered
    assert released.table.same_values(numbered.table)  # type: ignore[attr-defined]
    released.data.loc[0, "number"] = 5  # type: ignore[attr-defined]
    assert numbered.data.loc[0, "number"] == 0


def test_an_untrained_generator_says_so(numbered: TabularDataset) -> None:
    for generator in (Raw(), ReprosynGenerator(dict)):
        with pytest.raises(RuntimeError, match="fit") as caught:
            generator.generate(3)
        assert isinstance(caught.value, NotTrainedError)


def test_a_reprosyn_class_is_built_run_and_wrapped(numbered: TabularDataset) -> None:
    class Method:
        def __init__(self, dataset: Any, metadata: Any, size: int, epsilon: float) -> None:
            self.dataset, self.metadata, self.size = dataset, metadata, size
            self.epsilon = epsilon

        def run(self) -> None:
            assert self.epsilon == 2.0
            assert self.metadata == numbered.description.schema
            assert isinstance(self.dataset, pd.DataFrame)
            self.output = self.dataset.head(self.size)

    generator = ReprosynGenerator(Method, epsilon=2.0)
    assert generator.label == str(Method)
    assert ReprosynGenerator(Method, label="short").label == "short"
    released = generator(numbered, 4)
    assert isinstance(released, TabularDataset)
    assert released.description == numbered.description
    assert released.data["number"].tolist() == [0, 1, 2, 3]


def test_a_generator_without_a_name_is_called_by_its_class() -> None:
    class Mine(Raw):
        label = Generator.label

    assert Mine().label == "Unnamed Generator"
    assert BlackBoxKnowledge(Mine(), 3).label == "Mine"
