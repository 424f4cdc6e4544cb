"""Earlier import path of `DataDescription`."""

from tapas.datasets._description import DataDescription

__all__ = ["DataDescription"]
