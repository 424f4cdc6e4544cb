"""A small table on which nothing hides a record."""

from typing import Any

from tapas._validate import check_count
from tapas.datasets import DataDescription, TabularDataset, TabularRecord

_SCHEMA: list[dict[str, Any]] = [
    {"name": "group", "type": "finite", "representation": ["common", "rare", "never"]},
    {"name": "grade", "type": "finite/ordered", "representation": 4},
    {"name": "flag", "type": "finite", "representation": 2},
    {"name": "amount", "type": "real", "representation": "number"},
]


def worst_case(num_rows: int = 20) -> tuple[TabularDataset, TabularRecord]:
    """Make a background of equal records, and a target that differs from them in every column.

    Parameters
    ----------
    num_rows : int
        Size of the background.

    Returns
    -------
    (TabularDataset, TabularRecord)
        Whatever a mechanism shows of the target, nobody else can have caused.
    """
    size = check_count(num_rows, "num_rows", minimum=1)
    description = DataDescription(_SCHEMA, "worst case")
    background = TabularDataset([["common", 0, 0, 0.25]] * size, description)
    target = TabularRecord([["rare", 3, 1, 0.75]], description, "lone target")
    return background, target
