"""Generators of which many runs go together, faster than one by one."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from tapas.datasets import TabularDataset
from tapas.generators._table_generator import TableGenerator


class StackedGenerator(TableGenerator):
    """A generator that is fitted to many tables in lockstep.

    An audit hands it whole stacks of trials. A subclass writes `fits_at_once` and `run_stack`
    beside `_learn` and `_draw`.
    """

    @property
    @abstractmethod
    def fits_at_once(self) -> int:
        """How many runs make a stack; 1 where they are better made one by one."""

    @abstractmethod
    def run_stack(
        self, datasets: Sequence[TabularDataset], num_samples: int | None, seeds: Sequence[int]
    ) -> list[tuple[Self, TabularDataset]]:
        """Fit a copy to each dataset and generate from it; this object stays as it is.

        Parameters
        ----------
        datasets : sequence of TabularDataset
            Of one schema.
        num_samples : int or None
            Records of each release; None for as many as were learnt from.
        seeds : sequence of int
            One for each dataset. Which seeds and datasets stand beside each other may matter to
            the last bits, and to nothing else.

        Returns
        -------
        list of (generator, TabularDataset)
            The fitted copy, and what it released.
        """
