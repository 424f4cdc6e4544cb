"""A small population, targets taken out of it, and threat models about them."""

from collections.abc import Callable
from typing import Any

import pytest

from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)


@pytest.fixture(scope="session")
def people() -> TabularDataset:
    """Distinct records: the first five are used as targets."""
    everyone = load_sample("census", rows=500, seed=1)
    distinct = everyone.data.drop_duplicates().head(300)
    return TabularDataset(distinct, everyone.description).take(range(300), reset_index=True)


@pytest.fixture(scope="session")
def background(people: TabularDataset) -> TabularDataset:
    """The population without the targets."""
    rest = people.drop_records(range(5))  # type: ignore[arg-type]
    assert rest is not None
    return rest


Factory = Callable[..., Any]


@pytest.fixture
def membership(people: TabularDataset, background: TabularDataset) -> Factory:
    """Build a TargetedMIA; by default on one target, Raw, replacing rows."""

    def build(
        generator: Any = None,
        *,
        targets: Any = None,
        data: Any = None,
        size: int | None = 20,
        knowledge: Any = None,
        seed: int | None = 3,
        replace_target: bool = True,
        n_jobs: int | None = 1,
        **options: Any,
    ) -> TargetedMIA:
        box = knowledge or BlackBoxKnowledge(Raw() if generator is None else generator, size)
        private = data or AuxiliaryDataKnowledge(background, num_training_records=40, seed=0)
        target = people.get_records([0] if targets is None else targets)
        options |= {"replace_target": replace_target, "seed": seed, "n_jobs": n_jobs}
        return TargetedMIA(private, target, box, **options)

    return build


@pytest.fixture
def attribute(people: TabularDataset, background: TabularDataset) -> Factory:
    """Build a TargetedAIA; by default on the sex of one target."""

    def build(
        generator: Any = None,
        *,
        targets: Any = None,
        data: Any = None,
        attribute: str = "Sex",
        values: Any = ("female", "male"),
        size: int | None = 40,
        knowledge: Any = None,
        seed: int | None = 3,
        n_jobs: int | None = 1,
        **options: Any,
    ) -> TargetedAIA:
        box = knowledge or BlackBoxKnowledge(Raw() if generator is None else generator, size)
        private = data or AuxiliaryDataKnowledge(background, num_training_records=40, seed=0)
        target = people.get_records([0] if targets is None else targets)
        options |= {"seed": seed, "n_jobs": n_jobs}
        return TargetedAIA(private, target, attribute, values, box, **options)

    return build


@pytest.fixture
def recorder() -> Any:
    """A generator that releases all rows and keeps the private datasets that it was given."""

    class Recorder(Raw):
        given: list[TabularDataset] = []  # noqa: RUF012 - shared by the copies that trials make

        def fit(self, dataset: Any, **kwargs: Any) -> None:
            super().fit(dataset)
            self.given.append(dataset)

    return Recorder()
