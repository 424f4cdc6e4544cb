"""Earlier import path of the dataset classes; new code lives elsewhere."""

from typing import Any

from tapas.datasets._dataset import Dataset
from tapas.datasets._description import DataDescription
from tapas.datasets._files import read_csv_text
from tapas.datasets._tabular import TabularDataset, TabularRecord
from tapas.errors import SchemaError

__all__ = ["Dataset", "TabularDataset", "TabularRecord", "_parse_csv", "validate_header"]


def validate_header(header: list[str], columns: list[str]) -> None:
    """Refuse a header that does not hold the schema's names."""
    if list(header) != list(columns):
        raise SchemaError(
            f"the header {list(header)!r} differs from the schema's {list(columns)!r}"
        )


def _parse_csv(text: str, schema: list[dict[str, Any]], label: str | None = None) -> TabularDataset:
    """Read CSV text under a schema."""
    description = DataDescription(schema, label)
    return TabularDataset(read_csv_text(text, description), description)
