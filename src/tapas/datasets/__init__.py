"""Tables, records, and what describes them."""

from tapas.datasets._canary import create_canary
from tapas.datasets._dataset import Dataset
from tapas.datasets._description import DataDescription
from tapas.datasets._samples import load_sample
from tapas.datasets._tabular import TabularDataset, TabularRecord
from tapas.datasets._vulnerable import record_isolation, select_vulnerable_records

__all__ = [
    "DataDescription",
    "Dataset",
    "TabularDataset",
    "TabularRecord",
    "create_canary",
    "load_sample",
    "record_isolation",
    "select_vulnerable_records",
]
