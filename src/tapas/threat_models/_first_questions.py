"""What a model is asked before any work, so that one that cannot answer is found."""

import numpy as np
import pandas as pd

from tapas.models import Access, Model, Records


def ask_first(model: Model, access: Access, records: Records, number: int) -> str | None:
    """Ask about a few records, those with most missing inputs first; it fails where attacks would.

    A model with a budget of its own is not asked, for attacks may need all of it; what is returned
    says so.
    """
    if model.remaining is not None:
        return (
            f"{model.label} may be asked about {model.remaining} records, which are left to the "
            f"attacks: whether it answers was not tried"
        )
    missing = pd.DataFrame(records.X).isna().sum(axis=1).to_numpy()
    few = records.take(np.sort(np.argsort(-missing, kind="stable")[:number]))
    model.predict(few.X)
    if access.shows(Access.SCORES):
        model.predict_proba(few.X)
    return None
