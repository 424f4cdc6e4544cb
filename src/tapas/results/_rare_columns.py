"""In which columns exposed people have values that hardly anybody else has."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

__all__ = ["RareColumn"]


@dataclass(frozen=True)
class RareColumn:
    """A column in which the most exposed people have rare values; the values are not kept.

    Attributes
    ----------
    columns : tuple of str
        The column, and those whose values go with its own one to one: each says the same.
    held_by : tuple of int
        How many private records hold the value of each of the most exposed, themselves included
        (numbers and dates: lie within a twentieth of the range).
    records : int
        How many private records there are.
    """

    columns: tuple[str, ...]
    held_by: tuple[int, ...]
    records: int

    @property
    def usually(self) -> int:
        """The median of how many hold it."""
        return int(median(self.held_by))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "RareColumn":
        """What plain values tell of."""
        columns = tuple(str(name) for name in content["columns"])
        return cls(columns, tuple(map(int, content["held_by"])), int(content["records"]))
