"""Whose privacy is tested: targets taken out of the private table."""

from dataclasses import dataclass

import numpy as np

from tapas._random import Parts, part_stream
from tapas._validate import listing
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.datasets import TabularDataset, most_isolated
from tapas.errors import ConfigError

_COMPARED_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Drawn:
    """Targets, and the table without them.

    Attributes
    ----------
    targets, rest : TabularDataset
    copies : int
        Rows that were left out because they equal a target: with one in the data, nobody could
        be absent.
    """

    targets: TabularDataset
    rest: TabularDataset
    copies: int


def draw_targets(whole: TabularDataset, config: AuditFile, names: Names) -> Drawn:
    """Take the targets that a configuration asks for out of a table."""
    rows = _rows(whole, config, names)
    targets = whole.take(rows)
    rest = _without(whole, targets)
    return Drawn(targets, rest, len(whole) - len(rest) - len(rows))


def _rows(data: TabularDataset, config: AuditFile, names: Names) -> list[int]:
    wanted, where = config.data.targets, f"{names.where}: data.targets"
    if wanted.rows is not None:
        beyond = [row for row in wanted.rows if row >= len(data)]
        if beyond or len(set(wanted.rows)) < len(wanted.rows):
            raise ConfigError(
                f"{where}.rows must be different positions below {len(data)}, got "
                f"{listing(beyond or wanted.rows)}"
            )
        return list(wanted.rows)
    number = wanted.random or wanted.vulnerable or 1
    if number >= len(data):
        raise ConfigError(f"{where}: {number} targets do not fit into {len(data)} rows")
    if wanted.random is not None:
        drawn = part_stream(config.seed, Parts.RANDOM_TARGETS).permutation(len(data))
        return [int(row) for row in drawn[:number]]
    return [int(row) for row in most_isolated(data, number, min(5, len(data) - 1))]


def _without(data: TabularDataset, targets: TabularDataset) -> TabularDataset:
    keep = np.ones(len(data), dtype=bool)
    for start in range(0, len(targets), _COMPARED_AT_ONCE):
        some = targets.table.take(range(start, min(start + _COMPARED_AT_ONCE, len(targets))))
        keep &= (data.table.count_differences(some) != 0).all(axis=0)
    return data.take(np.flatnonzero(keep))
