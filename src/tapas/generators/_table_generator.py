"""What our own generators share: one table in, a table of the same schema out."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from tapas._random import ambient_rng
from tapas._validate import check_count, listing
from tapas.datasets import DataDescription, Dataset, EncodedTable, RandomSource, TabularDataset
from tapas.errors import MechanismError, NotTrainedError
from tapas.generators._base import Generator


class TableGenerator(Generator):
    """A generator that works on the encoded table.

    A subclass writes `_learn`, which leaves all it knows in attributes whose names end in ``_``,
    and `_draw`. Two runs with the same seeds are equal to the last bit.
    """

    accepts_free_text = False

    @abstractmethod
    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        """Make `num_samples` rows from the fitted attributes."""

    def fit(self, dataset: Dataset, random_state: RandomSource = None) -> Self:  # type: ignore[override]
        """Learn from `dataset`, forgetting any earlier one."""
        table = self._readable(dataset)
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        self.trained = False
        self.description_: DataDescription = dataset.description  # type: ignore[attr-defined]
        self.num_records_ = len(table)
        self._learn(table, as_rng(random_state))
        self.trained = True
        return self

    def generate(
        self, num_samples: int | None = None, random_state: RandomSource = None
    ) -> TabularDataset:
        """Make `num_samples` records: as many as were learnt from, if None."""
        if not self.trained:
            raise NotTrainedError(f"no dataset was given to {self.label}: call fit(dataset) first")
        wanted = (
            self.num_records_ if num_samples is None else check_count(num_samples, "num_samples")
        )
        return TabularDataset.from_table(
            self._draw(wanted, as_rng(random_state)), self.description_
        )

    def __call__(  # type: ignore[override]
        self, dataset: Dataset, num_samples: int | None = None, random_state: RandomSource = None
    ) -> TabularDataset:
        """Fit, then generate, both from one stream of random numbers."""
        rng = as_rng(random_state)
        return self.fit(dataset, random_state=rng).generate(num_samples, random_state=rng)

    @property
    def label(self) -> str:
        """Display name: the class, with the parameters that are not the default."""
        return type(self).__name__

    def _readable(self, dataset: Dataset) -> EncodedTable:
        if not isinstance(dataset, TabularDataset):
            raise MechanismError(
                f"{self.label} learns from tables: expected a TabularDataset, "
                f"got {type(dataset).__name__}"
            )
        if len(dataset) == 0:
            raise MechanismError(f"{self.label} cannot learn from a dataset without records")
        table = dataset.table
        texts = [column.name for column in table.columns if column.kind == "string"]
        if texts and not self.accepts_free_text:
            raise MechanismError(
                f"{self.label} cannot model free text: {listing(texts)}. Leave the column out "
                f"(dataset.view(exclude_columns=[...])) or declare it as 'finite' with its values."
            )
        return table


def as_rng(random_state: RandomSource) -> np.random.Generator:
    """A stream for a seed; without one, seeded from numpy's global state."""
    return ambient_rng() if random_state is None else np.random.default_rng(random_state)


def table_like(
    table: EncodedTable, codes: Sequence[np.ndarray], numbers: Sequence[np.ndarray], rows: int
) -> EncodedTable:
    """A table of the same columns from one array per coded and per number column."""
    return EncodedTable(
        table.columns,
        np.stack(codes, axis=1).astype(table.codes.dtype)
        if len(codes)
        else np.empty((rows, 0), dtype=table.codes.dtype),
        np.stack(numbers, axis=1) if len(numbers) else np.empty((rows, 0)),
        table.vocabularies,
    )
