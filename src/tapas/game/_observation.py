"""What an observer saw in one release."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Observation"]


@dataclass(frozen=True, eq=False)
class Observation:
    """What an observer saw in a release.

    Attributes
    ----------
    values : ndarray
        A row per target, or one row where targets play no part.
    queries : int
        How many records a released model was asked about.
    """

    values: np.ndarray
    queries: int = 0
