"""Whose privacy is tested: targets taken out of the private table."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tapas._random import Parts, part_stream
from tapas._validate import listing
from tapas.audit._config import AuditFile
from tapas.audit._config_data import TargetsPart
from tapas.audit._config_names import Names
from tapas.audit._config_questions import KnowledgePart
from tapas.datasets import TabularDataset, most_isolated, most_rare, rare_combinations
from tapas.errors import ConfigError, TapasError

MOST_TARGETS = 100
MOST_RECORDS = 1000  # of a private dataset, unless the file says otherwise


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

    def fewer(self, number: int) -> "Drawn":
        """The same with at most so many targets, evenly chosen in their order."""
        every = -(-len(self.targets) // number)
        return replace(self, targets=self.targets.take(range(0, len(self.targets), every)))


def draw_targets(whole: TabularDataset, config: AuditFile, names: Names) -> Drawn:
    """Take the targets that a configuration asks for out of a table, or make them up."""
    made = None if config.data.targets is None else config.data.targets.made
    if made is not None:
        return Drawn(_made_up(whole, made, config, names), whole, 0)
    rows = _rows(whole, config, names)
    targets = whole.take(rows)
    rest = _without(whole, targets)
    return Drawn(targets, rest, len(whole) - len(rest) - len(rows))


def _made_up(whole: TabularDataset, number: int, config: AuditFile, names: Names) -> TabularDataset:
    try:
        rng = part_stream(config.seed, Parts.MADE_UP_TARGETS)
        return rare_combinations(whole, number, random_state=rng)
    except TapasError as error:
        raise ConfigError(f"{names.where}: data.targets.made: {error}") from error


def _rows(data: TabularDataset, config: AuditFile, names: Names) -> list[int]:
    where = f"{names.where}: data.targets"
    wanted = config.data.targets or _usual_targets(private_records(config.knowledge, len(data)))
    if wanted.rows is not None:
        beyond = [row for row in wanted.rows if row >= len(data)]
        if beyond or len(set(wanted.rows)) < len(wanted.rows):
            raise ConfigError(
                f"{where}.rows must be different positions below {len(data)}, got "
                f"{listing(beyond or wanted.rows)}"
            )
        return list(wanted.rows)
    kinds = (wanted.random, wanted.vulnerable, wanted.rare, wanted.exposed)
    number = sum(kind or 0 for kind in kinds)
    if number >= len(data):
        raise ConfigError(f"{where}: {number} targets do not fit into {len(data)} rows")
    rows: list[int] = []
    if wanted.vulnerable is not None:
        rows += most_isolated(data, wanted.vulnerable, min(5, len(data) - 1)).tolist()
    if wanted.rare is not None:
        ranked = most_rare(data, wanted.rare + len(rows)).tolist()
        rows += [row for row in ranked if row not in rows][: wanted.rare]
    if wanted.exposed is not None and wanted.map is not None:
        ranked = _mapped(names.folder / wanted.map, data, f"{where}.map")
        rows += [row for row in ranked if row not in rows][: wanted.exposed]
    if wanted.random is not None:
        drawn = part_stream(config.seed, Parts.RANDOM_TARGETS).permutation(len(data))
        rows += drawn[~np.isin(drawn, rows)][: wanted.random].tolist()
    return rows


def _mapped(path: Path, data: TabularDataset, where: str) -> list[int]:
    """Positions of the records on an exposure map, most exposed first."""
    try:
        table = pd.read_csv(path, dtype={"record": str})
        exposure = (table["expected"] - 0.5).abs().groupby(table["record"]).max()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{where}: {path.name} is not the exposure-map.csv of a run (columns record and "
            f"expected): {error}"
        ) from error
    position = {str(label): row for row, label in enumerate(data.table.index)}
    ranked = exposure.sort_values(ascending=False, kind="stable").index
    unknown = [label for label in ranked if label not in position]
    if unknown:
        raise ConfigError(
            f"{where}: {listing(unknown)} are not records of this table: the map is of another"
        )
    return [position[label] for label in ranked]


def _usual_targets(records: int) -> TargetsPart:
    """Vulnerable and random people by halves, so few that they hardly change the private data."""
    number = max(2, min(MOST_TARGETS, records // 10))
    return TargetsPart(vulnerable=number - number // 2, random=number // 2)


def private_records(knowledge: KnowledgePart, rows: int) -> int:
    """How many records a private dataset has, drawn from so many rows."""
    if knowledge.data == "exact":
        return rows
    held = int(knowledge.split * rows)
    smaller = min(held, rows - held)
    return knowledge.records or max(1, min(MOST_RECORDS, smaller // 2))


def _without(data: TabularDataset, targets: TabularDataset) -> TabularDataset:
    equal = np.zeros(len(data), dtype=bool)
    for row in range(len(targets)):
        equal |= data.table.matches(targets.table.take([row]))
    return data.take(np.flatnonzero(~equal))
