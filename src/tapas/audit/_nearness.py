"""How near released records are to private ones: diagnostics beside the attacks on files."""

from tapas._random import Parts, part_stream
from tapas.attacks import nearest_record_diagnostics
from tapas.compat import GameThreatModel
from tapas.datasets import TabularDataset
from tapas.errors import StatisticsError
from tapas.results import Copies
from tapas.threat_models import ObservedMIA

__all__ = ["copies", "counts_copies", "nearness"]

MOST_RECORDS = 5000  # of each table; it takes about a second


def nearness(model: GameThreatModel) -> dict[str, dict[str, float]] | None:
    """Distances to the closest record and ratios of the nearest two, by side; of files only."""
    if not isinstance(model, ObservedMIA):
        return None
    seed, (inside, outside) = model.game.seed, model.judged_sides
    release = _some(model.release, seed, 0)
    try:
        found = nearest_record_diagnostics(
            release, _some(inside, seed, 1), _some(outside, seed, 2), seed=seed
        )
    except StatisticsError:
        return None  # hardly any records
    return {str(side): row for side, row in found.T.to_dict().items()}


def counts_copies(model: GameThreatModel) -> bool:
    """Whether there are released files to look for private records in."""
    return isinstance(model, ObservedMIA)


def copies(model: GameThreatModel) -> Copies | None:
    """Private records that stand in the release word for word; of files only."""
    return model.copies() if isinstance(model, ObservedMIA) else None


def _some(table: TabularDataset, seed: int, number: int) -> TabularDataset:
    if len(table) <= MOST_RECORDS:
        return table
    drawn = part_stream(seed, Parts.DIAGNOSED_RECORDS, number).permutation(len(table))
    return table.take(drawn[:MOST_RECORDS])
