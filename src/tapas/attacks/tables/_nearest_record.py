"""Diagnostics of how near released records are to private ones. They are no attacks."""

import numpy as np
import pandas as pd

from tapas._random import resolve_seed, stream
from tapas.attacks.tables._distances import DistanceMetric, blocks_of
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.datasets import TabularDataset
from tapas.errors import SchemaError, StatisticsError
from tapas.stats import clopper_pearson

FEWEST = 2  # records of a side: the second nearest must exist
NOTE = (
    "Passing these checks proves nothing: records can leak without being near to any released one. "
    "A clear excess on the side of the private table is a reason to attack the release."
)


def nearest_record_diagnostics(
    release: TabularDataset,
    members: TabularDataset,
    non_members: TabularDataset,
    distance: DistanceMetric | None = None,
    seed: int | None = None,
    *,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return how near released records are to the private table, and to a holdout as large.

    The larger table is cut to the size of the smaller at random: the nearest of more records is
    nearer, whoever they are.

    Parameters
    ----------
    release, members, non_members
        The synthetic table, the private one, and records that were not used.
    distance
        By default Euclidean, of numbers in standard deviations of both sides, a category that
        differs counting 1.
    seed
        Draws the rows that are kept.
    confidence
        Of the Clopper-Pearson interval for the share. It treats released records as independent.

    Returns
    -------
    DataFrame
        Rows ``members`` and ``non_members``. ``dcr_*``: distance to the closest record, 5 %
        quantile and median over released records; ``nndr_*``: the same of the ratio between the
        nearest and the second nearest (1 where both are 0). ``nearer``: share of released records
        that are nearer to this side, equally near ones left out, with ``nearer_low`` and
        ``nearer_high``; 0.5 where nothing was copied, NaN where there is none. ``attrs["note"]``
        says what these numbers do not.
    """
    if not release.description == members.description == non_members.description:
        raise SchemaError("release, members and non_members must have one description")
    size = min(len(members), len(non_members))
    if size < FEWEST:
        raise StatisticsError(f"each side needs at least {FEWEST} records, got {size}")
    entropy = resolve_seed(seed)
    sides = [
        table.take(stream(entropy, side).permutation(len(table))[:size])
        for side, table in enumerate((members, non_members))
    ]
    # One scale for both sides, or distances could not be compared.
    space = MixedSpace.of(sides[0] + sides[1], exact=False)
    found = [
        space.nearest(release, side, 2)[0].T
        if distance is None
        else _two_nearest(release, side, distance)
        for side in sides
    ]
    rows = []
    for own, other in ((0, 1), (1, 0)):
        nearest, second = found[own]
        wins = int(np.sum(nearest < found[other][0]))
        decided = wins + int(np.sum(nearest > found[other][0]))
        low, high = clopper_pearson(wins, decided, confidence)
        ratios = np.divide(nearest, second, out=np.ones(len(nearest)), where=second > 0)
        rows.append(
            {
                **_quantiles("dcr", nearest),
                **_quantiles("nndr", ratios),
                "nearer": wins / decided if decided else np.nan,
                "nearer_low": float(low),
                "nearer_high": float(high),
            }
        )
    table = pd.DataFrame(rows, index=["members", "non_members"])
    table.attrs["note"] = NOTE
    return table


def _two_nearest(
    release: TabularDataset, side: TabularDataset, distance: DistanceMetric
) -> np.ndarray:
    """Distances from each released record to the two nearest of a side."""
    parts = [
        np.sort(np.partition(np.asarray(distance(block, side), dtype=float), 1, axis=1)[:, :2])
        for block in blocks_of(release, len(side))
    ]
    return np.concatenate(parts).reshape(-1, 2).T


def _quantiles(name: str, values: np.ndarray) -> dict[str, float]:
    if len(values) == 0:
        return {f"{name}_5": np.nan, f"{name}_50": np.nan}
    low, middle = np.quantile(values, [0.05, 0.5])
    return {f"{name}_5": float(low), f"{name}_50": float(middle)}
