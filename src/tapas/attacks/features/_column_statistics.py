"""What set features need to know about the columns of one table, computed at most once."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from tapas.datasets import Dataset, TabularDataset
from tapas.errors import SchemaError

__all__ = ["ColumnPlace", "ColumnStatistics", "Layout", "layout_of"]


@dataclass(frozen=True, eq=False)
class ColumnPlace:
    """Where one column is found.

    Attributes
    ----------
    kind : str
        As in the schema's parsed column.
    position : int
        Among the coded columns, or among the number columns.
    slot : int
        Of a coded column: index of its first category in the counts; missing is one before.
    categories : int
        How many categories it has; 0 for a number.
    start : int
        First column in the numeric form.
    """

    kind: str
    position: int
    slot: int
    categories: int
    start: int

    @property
    def is_coded(self) -> bool:
        """Whether the column is counted rather than sorted."""
        return self.categories > 0


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of all columns, and the same as index arrays.

    Attributes
    ----------
    places : tuple of ColumnPlace
        In schema order.
    width : int
        Columns of the numeric form.
    slots : int
        Length of the counts of all categories.
    first_slots : ndarray
        Of each coded column.
    one_hot_slots, one_hot_columns, one_hot_positions, one_hot_codes : ndarray
        Every category of the one-hot columns: its slot, its column in the numeric form, its
        column among the coded ones, and its code.
    number_columns, ordered_columns : ndarray
        Column of each number, and of each ordered category, in the numeric form.
    """

    places: tuple[ColumnPlace, ...]
    width: int
    slots: int
    first_slots: np.ndarray
    one_hot_slots: np.ndarray
    one_hot_columns: np.ndarray
    one_hot_positions: np.ndarray
    one_hot_codes: np.ndarray
    number_columns: np.ndarray
    ordered_columns: np.ndarray

    @property
    def ordered(self) -> list[ColumnPlace]:
        """Places of the ordered categories."""
        return [place for place in self.places if place.kind == "ordered"]


@lru_cache(maxsize=32)
def layout_of(columns: tuple) -> Layout:
    """The layout of a table with these columns; free text is refused."""
    places = []
    coded = numbers = slot = start = 0
    for column in columns:
        if column.is_coded and column.values is None:
            raise SchemaError(
                f"column {column.name!r} holds free text or has no declared categories, so that "
                f"it has no frequencies or moments. Leave it out "
                f"(dataset.view(exclude_columns=[{column.name!r}])) or declare it as 'finite' "
                f"with its list of values."
            )
        if column.is_coded:
            count = len(column.values)
            places.append(ColumnPlace(column.kind, coded, slot + 1, count, start))
            coded, slot = coded + 1, slot + count + 1
            start += count if column.is_one_hot else 1
        else:
            places.append(ColumnPlace(column.kind, numbers, 0, 0, start))
            numbers, start = numbers + 1, start + 1
    one_hot = [place for place in places if place.kind == "category"]
    return Layout(
        places=tuple(places),
        width=start,
        slots=slot,
        first_slots=np.array([place.slot for place in places if place.is_coded], dtype=np.intp),
        one_hot_slots=_runs([(place.slot, place.categories) for place in one_hot]),
        one_hot_columns=_runs([(place.start, place.categories) for place in one_hot]),
        one_hot_positions=np.repeat(
            np.array([place.position for place in one_hot], dtype=np.intp),
            [place.categories for place in one_hot],
        ),
        one_hot_codes=_runs([(0, place.categories) for place in one_hot]),
        number_columns=np.array([p.start for p in places if not p.is_coded], dtype=np.intp),
        ordered_columns=np.array([p.start for p in places if p.kind == "ordered"], dtype=np.intp),
    )


class ColumnStatistics:
    """Counts of categories and sorted numbers of one table."""

    def __init__(self, dataset: Dataset) -> None:
        if not isinstance(dataset, TabularDataset):
            raise SchemaError(
                f"this feature describes tables (TabularDataset), got {type(dataset).__name__}: "
                f"write a SetFeature for that kind of data"
            )
        self.table = dataset.table
        self.layout = layout_of(self.table.columns)
        self.rows = len(self.table)

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each category occurs: for each coded column missing, then its categories."""
        slots = self.table.codes + self.layout.first_slots
        return np.bincount(slots.ravel(), minlength=self.layout.slots)

    @cached_property
    def sorted_numbers(self) -> np.ndarray:
        """Numbers of each number column in ascending order, missing last, (columns, rows)."""
        return np.sort(np.ascontiguousarray(self.table.numbers.T), axis=1)

    @cached_property
    def present(self) -> np.ndarray:
        """How many numbers of each number column are not missing."""
        return self.rows - np.isnan(self.sorted_numbers).sum(axis=1)

    @cached_property
    def number_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and population variance of each number column; NaN where all are missing."""
        numbers, present = self.sorted_numbers, self.present
        if self.rows and (present == self.rows).all():
            return numbers.mean(axis=1), numbers.var(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(numbers, axis=1) / present
            variance = np.nansum((numbers - mean[:, None]) ** 2, axis=1) / present
        return mean, variance

    def category_counts(self, place: ColumnPlace) -> np.ndarray:
        """How often each category of a coded column occurs."""
        return self.counts[place.slot : place.slot + place.categories]

    def missing(self, place: ColumnPlace) -> int:
        """How many values of a column are missing."""
        if place.is_coded:
            return int(self.counts[place.slot - 1])
        return int(self.rows - self.present[place.position])


def _runs(runs: list[tuple[int, int]]) -> np.ndarray:
    """Consecutive numbers from each start on."""
    parts = [np.arange(start, start + length) for start, length in runs]
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])
