"""What a dataset is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

from tapas.datasets._description import DataDescription
from tapas.datasets._rows import RecordIds


class Dataset(ABC):
    """A set of records that can be sampled, taken apart and put together."""

    @classmethod
    @abstractmethod
    def read(cls, filepath: str) -> "Dataset":
        """Read from files."""

    @abstractmethod
    def write(self, filepath: str) -> None:
        """Write to files that `read` reads."""

    @classmethod
    @abstractmethod
    def read_from_string(cls, data: str, description: DataDescription) -> "Dataset":
        """Read from text."""

    @abstractmethod
    def write_to_string(self) -> str:
        """Write as text that `read_from_string` reads."""

    @abstractmethod
    def sample(self, n_samples: int = 1) -> "Dataset":
        """Draw records without replacement."""

    @abstractmethod
    def get_records(self, record_ids: RecordIds) -> "Dataset":
        """Return the records at some positions."""

    @abstractmethod
    def drop_records(self, record_ids: RecordIds) -> "Dataset | None":
        """Leave out the records at some positions."""

    @abstractmethod
    def add_records(self, records: Self) -> "Dataset | None":
        """Append records."""

    @abstractmethod
    def replace(self, records_in: Self, records_out: RecordIds = ()) -> "Dataset | None":
        """Swap records."""

    @abstractmethod
    def create_subsets(self, n: int, sample_size: int) -> "list[Any]":
        """Draw several datasets."""

    @abstractmethod
    def __add__(self, other: Self) -> "Dataset":
        """Join two datasets."""

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Go through the records."""

    @property
    def label(self) -> str:
        """Display name."""
        return "Unnamed dataset"
