"""Earlier import path of `TabularRecord`."""

from tapas.datasets._tabular import TabularRecord

__all__ = ["TabularRecord"]
