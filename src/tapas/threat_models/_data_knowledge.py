"""What the attacker knows of the private data, and the rows that trials are played on."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from tapas._random import (
    Parts,
    TrialPart,
    ambient_rng,
    integer_seed,
    part_stream,
    resolve_seed,
    seeded_globals,
)
from tapas._validate import check_count, check_probability
from tapas.datasets import DataDescription, Dataset, TabularDataset
from tapas.errors import KnowledgeError
from tapas.game import Address, Goal, Phase


class AttackerKnowledgeOnData(ABC):
    """Draws private datasets, as the attacker imagines them or as they are.

    A subclass writes `generate_datasets`; drawn one at a time under seeded global generators, its
    datasets are reproducible.
    """

    is_exact = False
    # Whether releases come with the private records, less their sensitive value.
    shows_identifiers = False
    _label = "Unnamed knowledge"

    @property
    def draws_from_globals(self) -> bool:
        """Whether drawing uses the global random generators, which threads would share."""
        return True

    @abstractmethod
    def generate_datasets(self, num_samples: int, training: bool = True) -> Sequence[Dataset]:
        """Draw datasets for the attacker (`training`) or for the evaluation."""

    def draw_dataset(self, address: Address) -> Dataset:
        """The private dataset, before secrets are planted, of the trial at `address`."""
        with seeded_globals(address.integer(TrialPart.BACKGROUND)):
            return self.generate_datasets(1, training=address.training)[0]

    @property
    def auxiliary(self) -> Dataset | None:
        """Data that the attacker holds, or None."""
        return None

    def pool(self, phase: Phase) -> Dataset | None:
        """What private datasets of a phase are drawn from at random, or None."""
        return None

    def _get_data(self) -> Dataset | None:
        """All data that trials draw from, where that is known."""
        return None

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


class AttackerKnowledgeWithLabel(ABC):
    """Draws private datasets together with the secret planted in each."""

    _label = "Unnamed knowledge"

    @property
    def draws_from_globals(self) -> bool:
        """Whether drawing uses the global random generators, which threads would share."""
        return True

    @abstractmethod
    def generate_datasets_with_label(
        self, num_samples: int, training: bool = True
    ) -> tuple[Sequence[Dataset], Sequence[object]]:
        """Draw datasets and their labels."""

    def draw_labelled(self, address: Address) -> tuple[Dataset, np.ndarray]:
        """Private dataset and secrets (one per target) of the trial at `address`."""
        with seeded_globals(address.integer(TrialPart.BACKGROUND)):
            datasets, labels = self.generate_datasets_with_label(1, training=address.training)
        return datasets[0], np.atleast_1d(np.asarray(labels[0]))

    def group_of(self, index: int) -> int:
        """Trials of the same group share their background."""
        return index

    @property
    def goal(self) -> Goal:
        """What the secret is: by default one of the user's own."""
        return Goal("label", values=())

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


class AuxiliaryDataKnowledge(AttackerKnowledgeOnData):
    """The attacker holds data from the same population as the private data.

    Parameters
    ----------
    dataset : Dataset, optional
        Split at random: a share becomes auxiliary data, the rest is what evaluations draw from.
    auxiliary_split : float
        That share.
    aux_data, test_data : Dataset, optional
        Rows that go to one side whole, beside or instead of those of `dataset`.
    num_training_records : int
        Size of each private dataset.
    seed : int, optional
        Seed of the split; drawn and kept in `seed` if None.
    """

    def __init__(
        self,
        dataset: Dataset | None = None,
        auxiliary_split: float = 0.5,
        aux_data: Dataset | None = None,
        test_data: Dataset | None = None,
        num_training_records: int = 1000,
        seed: int | None = None,
    ) -> None:
        self.seed = resolve_seed(seed)
        self.num_training_records = check_count(num_training_records, "num_training_records")
        split = check_probability(auxiliary_split, "auxiliary_split")
        sides: list[list[Dataset]] = [[], []]
        if dataset is not None:
            size = number_of_records(dataset)
            order = part_stream(self.seed, Parts.AUXILIARY_SPLIT).permutation(size)
            cut = int(split * size)
            sides[0].append(gathered(dataset, order[:cut]))
            sides[1].append(gathered(dataset, order[cut:]))
        for side, given in zip(sides, (aux_data, test_data), strict=True):
            if given is not None:
                side.append(given)
        self.aux_data = _joined(sides[0], "auxiliary", "aux_data")
        self.test_data = _joined(sides[1], "test", "test_data")
        if description_of(self.aux_data) != description_of(self.test_data):
            raise KnowledgeError("the descriptions of the auxiliary and the test data differ")
        self._label = f"{self.aux_data.label} (AUX)"

    @property
    def draws_from_globals(self) -> bool:
        """Not unless a subclass draws in its own way."""
        return type(self).generate_datasets is not AuxiliaryDataKnowledge.generate_datasets

    @property
    def auxiliary(self) -> Dataset:
        """Data that the attacker holds."""
        return self.aux_data

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[Dataset]:
        """Draw datasets; within one pass over the data they are disjoint."""
        seed = integer_seed(ambient_rng())
        first = Address(seed, "train" if training else "test", 0)
        return [self.draw_dataset(first.at(index)) for index in range(num_samples)]

    def draw_dataset(self, address: Address) -> Dataset:
        """Block ``i mod B`` of shuffle ``i // B``, where B disjoint blocks fit into the data."""
        if self.draws_from_globals:
            return super().draw_dataset(address)
        pool = self.pool(address.phase)
        size, available = self.num_training_records, number_of_records(pool)
        if size > available:
            side = "auxiliary" if address.training else "test"
            raise KnowledgeError(
                f"num_training_records is {size}, but the {side} data has only {available} rows: "
                f"give more data, another auxiliary_split, or a smaller num_training_records"
            )
        blocks = available // size if size else 1
        shuffle, block = divmod(address.index, blocks)
        order = _shuffle(address.at(shuffle), available)
        return gathered(pool, order[block * size : (block + 1) * size], reset_index=True)

    def pool(self, phase: Phase) -> Dataset:
        """The side of the data that a phase draws from."""
        return self.aux_data if phase == "train" else self.test_data

    def _get_data(self) -> Dataset:
        return self.aux_data + self.test_data

    def __spec__(self) -> Mapping[str, object]:
        # The seed made the split, which the tables tell.
        return {name: value for name, value in vars(self).items() if name != "seed"}


class QuasiIdentifierKnowledge(AuxiliaryDataKnowledge):
    """The attacker knows all of the private records but their sensitive value.

    For attribute inference: in every trial, attacks find these columns of all private records as
    ``release.identifiers``, beside the auxiliary data.

    Parameters
    ----------
    dataset, auxiliary_split, aux_data, test_data, num_training_records, seed
        See `AuxiliaryDataKnowledge`.
    """

    shows_identifiers = True


class ExactDataKnowledge(AttackerKnowledgeOnData):
    """The attacker knows the private data, up to what the attack is about.

    Where targets replace rows, the rows that leave are the same in every trial, so that nothing
    but the secret is unknown.

    Parameters
    ----------
    training_dataset : Dataset
    """

    is_exact = True

    def __init__(self, training_dataset: Dataset) -> None:
        self.training_dataset = training_dataset
        self._label = f"{training_dataset.label} (EXACT)"

    @property
    def draws_from_globals(self) -> bool:
        """Not unless a subclass draws in its own way."""
        return type(self).generate_datasets is not ExactDataKnowledge.generate_datasets

    @property
    def auxiliary(self) -> Dataset:
        """Data that the attacker holds: all of it."""
        return self.training_dataset

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[Dataset]:
        """The same dataset, as often as asked for."""
        return [self.training_dataset] * num_samples

    def draw_dataset(self, address: Address) -> Dataset:
        """The private dataset."""
        return super().draw_dataset(address) if self.draws_from_globals else self.training_dataset

    def _get_data(self) -> Dataset:
        return self.training_dataset


@lru_cache(maxsize=4)
def _shuffle(address: Address, size: int) -> np.ndarray:
    order = address.stream(TrialPart.BACKGROUND).permutation(size)
    order.setflags(write=False)
    return order


def gathered(dataset: Dataset, rows: np.ndarray, *, reset_index: bool = False) -> Dataset:
    """Records of a dataset by position."""
    if isinstance(dataset, TabularDataset):
        return dataset.take(rows, reset_index=reset_index)
    return dataset.get_records(rows.tolist())


def description_of(dataset: Dataset) -> DataDescription | None:
    """The description of a table; other datasets have none."""
    return dataset.description if isinstance(dataset, TabularDataset) else None


def number_of_records(dataset: Dataset) -> int:
    """How many records a dataset has."""
    try:
        return len(dataset)  # type: ignore[arg-type]
    except TypeError:
        raise KnowledgeError(
            f"a {type(dataset).__name__} must say how many records it has: write its __len__"
        ) from None


def _joined(parts: list[Dataset], side: str, parameter: str) -> Dataset:
    if not parts:
        raise KnowledgeError(f"there is no {side} data: give dataset or {parameter}")
    for part in parts:
        if not isinstance(part, Dataset):
            raise KnowledgeError(f"expected a dataset as {side} data, got {type(part).__name__}")
    if len(parts) == 2 and description_of(parts[0]) != description_of(parts[1]):
        raise KnowledgeError(f"the descriptions of dataset and {parameter} differ")
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]
