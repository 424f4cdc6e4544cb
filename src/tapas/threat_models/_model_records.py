"""Records that are given to a threat model about a trained model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models import Records

RecordsLike = Records | tuple[pd.DataFrame | ArrayLike, ArrayLike] | Sequence[ArrayLike]


def as_records(given: RecordsLike, name: str) -> Records:
    """Read (X, y) or `Records`."""
    if isinstance(given, Records):
        return given
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise SchemaError(
            f"{name} must be a pair (X, y) or tapas.models.Records, got {type(given).__name__}"
        )
    return Records(given[0], np.asarray(given[1]))


def check_same_columns(records: Records, reference: Records, name: str) -> None:
    """Refuse records whose columns differ from those of the members."""
    if records.is_frame != reference.is_frame or records.columns != reference.columns:
        raise SchemaError(
            f"{name} must have the columns of the members, {listing(reference.columns)}, got "
            f"{listing(records.columns)}"
        )
