"""What the attacker knows of the private data, and the rows that trials are played on."""

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np

from tapas._random import ambient_rng, integer_seed, resolve_seed, seeded_globals, stream
from tapas._validate import check_count, check_probability
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import KnowledgeError
from tapas.threat_models._trials import BACKGROUND, Address


class AttackerKnowledgeOnData(ABC):
    """Draws private datasets, as the attacker imagines them or as they are.

    A subclass writes `generate_datasets`; drawn one at a time under seeded global generators, its
    datasets are reproducible.
    """

    is_exact = False

    @property
    def draws_from_globals(self) -> bool:
        """Whether drawing uses the global random generators, which threads would share."""
        return True

    @abstractmethod
    def generate_datasets(self, num_samples: int, training: bool = True) -> list[Any]:
        """Draw datasets for the attacker (`training`) or for the evaluation."""

    def draw_dataset(self, address: Address) -> Any:
        """The private dataset, before secrets are planted, of the trial at `address`."""
        with seeded_globals(address.integer(BACKGROUND)):
            return self.generate_datasets(1, training=address.training)[0]

    @property
    def auxiliary(self) -> Any:
        """Data that the attacker holds, or None."""
        return None

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self, "_label", "Unnamed knowledge")


class AttackerKnowledgeWithLabel(ABC):
    """Draws private datasets together with the secret planted in each."""

    @property
    def draws_from_globals(self) -> bool:
        """Whether drawing uses the global random generators, which threads would share."""
        return True

    @abstractmethod
    def generate_datasets_with_label(
        self, num_samples: int, training: bool = True
    ) -> tuple[list[Any], list[Any]]:
        """Draw datasets and their labels."""

    def draw_labelled(self, address: Address) -> tuple[Any, np.ndarray]:
        """Private dataset and secrets (one per target) of the trial at `address`."""
        with seeded_globals(address.integer(BACKGROUND)):
            datasets, labels = self.generate_datasets_with_label(1, training=address.training)
        return datasets[0], np.atleast_1d(np.asarray(labels[0]))

    def group_of(self, index: int) -> int:
        """Trials of the same group share their background."""
        return index

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self, "_label", "Unnamed knowledge")


class AuxiliaryDataKnowledge(AttackerKnowledgeOnData):
    """The attacker holds data from the same population as the private data.

    Parameters
    ----------
    dataset : TabularDataset, optional
        Split at random: a share becomes auxiliary data, the rest is what evaluations draw from.
    auxiliary_split : float
        That share.
    aux_data, test_data : TabularDataset, optional
        Rows that go to one side whole, beside or instead of those of `dataset`.
    num_training_records : int
        Size of each private dataset.
    seed : int, optional
        Seed of the split; drawn and kept in `seed` if None.
    """

    def __init__(
        self,
        dataset: TabularDataset | None = None,
        auxiliary_split: float = 0.5,
        aux_data: TabularDataset | None = None,
        test_data: TabularDataset | None = None,
        num_training_records: int = 1000,
        seed: int | None = None,
    ) -> None:
        self.seed = resolve_seed(seed)
        self.num_training_records = check_count(num_training_records, "num_training_records")
        split = check_probability(auxiliary_split, "auxiliary_split")
        sides: list[list[TabularDataset]] = [[], []]
        if dataset is not None:
            order = stream(self.seed, BACKGROUND).permutation(len(dataset))
            cut = int(split * len(dataset))
            sides[0].append(dataset.take(order[:cut]))
            sides[1].append(dataset.take(order[cut:]))
        for side, given in zip(sides, (aux_data, test_data), strict=True):
            if given is not None:
                side.append(given)
        self.aux_data = _joined(sides[0], "auxiliary", "aux_data")
        self.test_data = _joined(sides[1], "test", "test_data")
        if self.aux_data.description != self.test_data.description:
            raise KnowledgeError("the descriptions of the auxiliary and the test data differ")
        self._label = f"{self.aux_data.label} (AUX)"

    @property
    def draws_from_globals(self) -> bool:
        """Not unless a subclass draws in its own way."""
        return type(self).generate_datasets is not AuxiliaryDataKnowledge.generate_datasets

    @property
    def auxiliary(self) -> TabularDataset:
        """Data that the attacker holds."""
        return self.aux_data

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[TabularDataset]:
        """Draw datasets; within one pass over the data they are disjoint."""
        seed = integer_seed(ambient_rng())
        phase = "train" if training else "test"
        return [
            self.draw_dataset(Address(seed, phase, index))  # type: ignore[arg-type]
            for index in range(num_samples)
        ]

    def draw_dataset(self, address: Address) -> TabularDataset:
        """Block ``i mod B`` of shuffle ``i // B``, where B disjoint blocks fit into the data."""
        if self.draws_from_globals:
            return super().draw_dataset(address)
        pool = self.aux_data if address.training else self.test_data
        size = self.num_training_records
        if size > len(pool):
            side = "auxiliary" if address.training else "test"
            raise KnowledgeError(
                f"num_training_records is {size}, but the {side} data has only {len(pool)} rows: "
                f"give more data, another auxiliary_split, or a smaller num_training_records"
            )
        blocks = len(pool) // size if size else 1
        shuffle, block = divmod(address.index, blocks)
        order = _shuffle(address.at(shuffle), len(pool))
        return pool.take(order[block * size : (block + 1) * size], reset_index=True)

    def _get_data(self) -> TabularDataset:
        return self.aux_data + self.test_data


class ExactDataKnowledge(AttackerKnowledgeOnData):
    """The attacker knows the private data, up to what the attack is about.

    Where targets replace rows, the rows that leave are the same in every trial, so that nothing
    but the secret is unknown.

    Parameters
    ----------
    training_dataset : TabularDataset
    """

    is_exact = True

    def __init__(self, training_dataset: TabularDataset) -> None:
        self.training_dataset = training_dataset
        self._label = f"{training_dataset.label} (EXACT)"

    @property
    def draws_from_globals(self) -> bool:
        """Not unless a subclass draws in its own way."""
        return type(self).generate_datasets is not ExactDataKnowledge.generate_datasets

    @property
    def auxiliary(self) -> TabularDataset:
        """Data that the attacker holds: all of it."""
        return self.training_dataset

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[TabularDataset]:
        """The same dataset, as often as asked for."""
        return [self.training_dataset] * num_samples

    def draw_dataset(self, address: Address) -> TabularDataset:
        """The private dataset."""
        return super().draw_dataset(address) if self.draws_from_globals else self.training_dataset

    def _get_data(self) -> TabularDataset:
        return self.training_dataset


@lru_cache(maxsize=4)
def _shuffle(address: Address, size: int) -> np.ndarray:
    order = address.stream(BACKGROUND).permutation(size)
    order.setflags(write=False)
    return order


def _joined(parts: list[TabularDataset], side: str, parameter: str) -> TabularDataset:
    if not parts:
        raise KnowledgeError(f"there is no {side} data: give dataset or {parameter}")
    for part in parts:
        if not isinstance(part, Dataset):
            raise KnowledgeError(f"expected a dataset as {side} data, got {type(part).__name__}")
    if len(parts) == 2 and parts[0].description != parts[1].description:
        raise KnowledgeError(f"the descriptions of dataset and {parameter} differ")
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]
