"""Small tables that many tests share."""

import os
from typing import Any

import pandas as pd
import pytest

from tapas.datasets import DataDescription, TabularDataset

# Threads that wait for each other on busy cores cost more than they gain.
os.environ.setdefault("OMP_NUM_THREADS", "1")

MIXED_SCHEMA: list[dict[str, Any]] = [
    {"name": "colour", "type": "finite", "representation": ["red", "green", "blue"]},
    {"name": "size", "type": "finite/ordered", "representation": ["S", "M", "L"]},
    {"name": "flag", "type": "finite", "representation": 2},
    {"name": "grade", "type": "finite/ordered", "representation": 5},
    {"name": "visits", "type": "countable", "representation": "integer"},
    {"name": "born", "type": "countable/ordered", "representation": "date"},
    {"name": "seen", "type": "real", "representation": "datetime"},
    {"name": "balance", "type": "real", "representation": "number"},
    {"name": "charge", "type": "real/non-negative", "representation": "number"},
    {"name": "risk", "type": "interval", "representation": "number"},
]

MIXED_ROWS = [
    ["red", "S", 0, 4, 3, "2020-01-31", "2021-05-06T07:08:09", -1.5, 10.0, 0.25],
    ["green", "L", 1, 0, 0, "1969-12-31", "1969-12-31T23:59:59", 2.0, 0.0, 0.0],
    ["blue", "M", 1, 2, 12, "2000-02-29", "2000-01-01T00:00:00.25", 0.0, 3.5, 1.0],
    ["green", "S", 0, 1, 7, "1970-01-02", "1970-01-01T00:00:10", 1e6, 2.5, 0.5],
    [None, None, None, None, None, None, None, None, None, None],
]


@pytest.fixture
def mixed_description() -> DataDescription:
    """A description with one column of every numeric kind."""
    return DataDescription(MIXED_SCHEMA, "mixed")


@pytest.fixture
def mixed(mixed_description: DataDescription) -> TabularDataset:
    """Four full rows, and one in which every value is missing."""
    return TabularDataset(MIXED_ROWS, mixed_description)


@pytest.fixture
def numbered() -> TabularDataset:
    """A hundred rows that are told apart by their number."""
    description = DataDescription(
        [
            {"name": "number", "type": "countable", "representation": "integer"},
            {"name": "half", "type": "real", "representation": "number"},
            {"name": "letter", "type": "finite", "representation": ["a", "b"]},
        ],
        "numbered",
    )
    frame = pd.DataFrame(
        {
            "number": range(100),
            "half": [i / 2 for i in range(100)],
            "letter": ["a", "b"] * 50,
        }
    )
    return TabularDataset(frame, description)
