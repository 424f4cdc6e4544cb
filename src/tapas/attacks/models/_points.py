"""Records as points, made some at a time: a second copy of images in full would weigh."""

from dataclasses import dataclass, replace

import numpy as np

from tapas.models import RecordEncoding, Records


@dataclass(frozen=True, eq=False)
class Points:
    """Points of some records, worked out where they are read.

    Attributes
    ----------
    encoding : RecordEncoding
    records : Records
    rows : ndarray of int
        Whose points these are, in their order.
    """

    encoding: RecordEncoding
    records: Records
    rows: np.ndarray

    @classmethod
    def of(cls, records: Records, encoding: RecordEncoding) -> "Points":
        """Those of all records."""
        return cls(encoding, records, np.arange(len(records)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | np.ndarray) -> np.ndarray:
        return self.encoding.encode(self.records.take(self.rows[chosen]).X)

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array."""
        return len(self.rows), self.encoding.width

    def only(self, chosen: np.ndarray) -> "Points":
        """Some of them, by position or by a mask."""
        return replace(self, rows=self.rows[chosen])
