"""Records as points: few standardised numbers each, and their class."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tapas.models import Records
from tapas.threat_models._standardised import Standardised

MOST_PLACES = 60  # more numbers than these are reduced to as many


@dataclass(frozen=True, eq=False)
class Points:
    """Records in several parts, one after the other.

    Attributes
    ----------
    parts : sequence of Records
    """

    parts: Sequence[Records]

    @property
    def have_inputs(self) -> bool:
        """Whether more than the class is known."""
        return bool(self.parts[0].columns)

    @cached_property
    def inputs(self) -> np.ndarray:
        """Their inputs, (records, places)."""
        if all(map(_is_plain, self.parts)):
            found = Standardised.of([np.asarray(part.X) for part in self.parts])
        else:
            found = Standardised.of([self.parts[0].concat(*self.parts[1:]).numeric()])
        return found.reduced(MOST_PLACES) if len(found.mean) > MOST_PLACES else found.whole()

    @cached_property
    def classes(self) -> np.ndarray:
        """A column of zeros and ones for each class that occurs."""
        labels = np.concatenate([part.y.astype(object) for part in self.parts])
        return pd.get_dummies(pd.Series(labels, dtype=object)).to_numpy(dtype=float)


def _is_plain(records: Records) -> bool:
    """Whether records are numbers and nothing else."""
    if isinstance(records.X, pd.DataFrame) or records.categorical:
        return False
    return records.X.dtype.kind != "f" or not np.isnan(records.X).any()
