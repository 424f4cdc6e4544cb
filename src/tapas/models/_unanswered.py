"""Records about which a model says nothing but NaN."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import MechanismError
from tapas.models._inputs import Inputs, column_at, column_names, some_rows


def refuse_unanswered(marks: ArrayLike, X: Inputs | None = None, first_row: int = 0) -> None:
    """Name the records that are marked, if any, and which of their inputs are missing."""
    lost = np.asarray(marks)
    rows = np.flatnonzero(lost)
    if not len(rows):
        return
    about = None if X is None else missing_inputs(some_rows(X, rows))
    raise MechanismError(
        f"the model answered NaN for {len(rows)} of the {len(lost)} records that it was asked "
        f"about, in rows {listing((first_row + rows).tolist(), 5)}; "
        + (about or "no input of theirs is missing, so look at the model: its weights may be NaN")
    )


def missing_inputs(X: Inputs) -> str | None:
    """Which columns miss a value, and what can be done; None where none does."""
    named = column_names(X)
    lacking = [
        name for place, name in enumerate(named) if pd.isna(np.asarray(column_at(X, place))).any()
    ]
    if not lacking:
        return None
    return (
        f"inputs are missing in column {listing(lacking, 5)}: fill them in (impute) where the "
        f"model is trained and in what the audit is given, or leave these records or columns out"
    )
