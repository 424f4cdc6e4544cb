"""Targets, whose sensitive value may be unknown: try each, or keep the column out of sight."""

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from tapas.datasets import TabularDataset
from tapas.errors import IncompatibleAttackError
from tapas.game import Briefing, TableBriefing

__all__ = ["levelled", "rows_with_value", "score_of_values", "table_briefing", "with_each_value"]

# A briefing never changes, and is asked about for every release.
_TRIED: WeakKeyDictionary[TableBriefing, TabularDataset] = WeakKeyDictionary()
MISSING = -1


def table_briefing(briefing: Briefing) -> TableBriefing:
    """The briefing as one about records of a table."""
    if not isinstance(briefing, TableBriefing):
        raise IncompatibleAttackError(
            f"the attack looks for records in a table, but was given a {type(briefing).__name__}"
        )
    return briefing


def with_each_value(briefing: TableBriefing) -> TabularDataset:
    """Every target with every value: row ``target * number of values + value``."""
    known = _TRIED.get(briefing)
    if known is None:
        known = _TRIED[briefing] = _tried(briefing)
    return known


def _tried(briefing: TableBriefing) -> TabularDataset:
    targets, attribute = briefing.targets, str(briefing.attribute)
    tables = [targets.table.with_value(attribute, value) for value in briefing.attribute_values]
    stacked = tables[0].concat(*tables[1:])
    order = np.arange(len(stacked)).reshape(len(tables), -1).T.ravel()
    return TabularDataset.from_table(stacked.take(order), targets.description)


def rows_with_value(briefing: TableBriefing, data: TabularDataset) -> np.ndarray:
    """Which rows have which value of the sensitive attribute, (values, rows)."""
    name, num_values = str(briefing.attribute), len(briefing.attribute_values)
    tried = with_each_value(briefing).table
    column = next(column for column in tried.columns if column.name == name)
    if column.is_coded and column.values is None:
        # The vocabularies of two tables may differ: let the tables compare their words.
        values = tried.take(np.arange(num_values)).select([name])
        return data.table.select([name]).count_differences(values) == 0
    return tried.column(name)[:num_values, None] == data.table.column(name)


def levelled(dataset: TabularDataset, attribute: str) -> TabularDataset:
    """The dataset with one and the same value of the attribute in every row.

    Two datasets levelled alike do not differ in that column, whatever the distance: metrics that
    name it, or have a weight for it, still work, and a radius speaks of the other columns only.
    """
    table = dataset.table
    coded = [column.name for column in table.coded_columns()]
    if attribute in coded:
        position = coded.index(attribute)
        # A vocabulary that the schema does not list may differ between tables: there, missing.
        listed = table.coded_columns()[position].values is not None
        codes = table.codes.copy()
        codes[:, position] = 0 if listed else MISSING
        table = replace(table, codes=codes)
    else:
        numbers = table.numbers.copy()
        numbers[:, [column.name for column in table.number_columns()].index(attribute)] = 0.0
        table = replace(table, numbers=numbers)
    return TabularDataset.from_table(table, dataset.description)


def score_of_values(scores: np.ndarray) -> np.ndarray:
    """One column per value; of two values, the second's alone."""
    return scores[:, 1] if scores.shape[1] == 2 else scores
