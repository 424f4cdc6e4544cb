"""Tables, records, and what describes them."""

from tapas.datasets._canary import create_canary, rare_combinations
from tapas.datasets._columns import MISSING_CODE, Column
from tapas.datasets._dataset import Dataset
from tapas.datasets._description import DataDescription
from tapas.datasets._encoding import EncodedTable
from tapas.datasets._files import (
    TableFile,
    locate,
    read_file,
    read_frame,
    read_schema_beside,
    refuse_unknown_index,
)
from tapas.datasets._nearest import agreed_words, nearest_row
from tapas.datasets._npz import pack_table, read_table, unpack_table, write_table
from tapas.datasets._rare_pairs import most_rare, record_rarity
from tapas.datasets._rarity import columns_alike, count_holders
from tapas.datasets._reading import Reading, choices_from_words
from tapas.datasets._rows import RandomSource
from tapas.datasets._samples import load_sample
from tapas.datasets._several_files import (
    DescribedFiles,
    describe_files,
    read_together,
    shared_description,
)
from tapas.datasets._tabular import TabularDataset, TabularRecord
from tapas.datasets._vulnerable import most_isolated, record_isolation, select_vulnerable_records

__all__ = [
    "MISSING_CODE",
    "Column",
    "DataDescription",
    "Dataset",
    "DescribedFiles",
    "EncodedTable",
    "RandomSource",
    "Reading",
    "TableFile",
    "TabularDataset",
    "TabularRecord",
    "agreed_words",
    "choices_from_words",
    "columns_alike",
    "count_holders",
    "create_canary",
    "describe_files",
    "load_sample",
    "locate",
    "most_isolated",
    "most_rare",
    "nearest_row",
    "pack_table",
    "rare_combinations",
    "read_file",
    "read_frame",
    "read_schema_beside",
    "read_table",
    "read_together",
    "record_isolation",
    "record_rarity",
    "refuse_unknown_index",
    "select_vulnerable_records",
    "shared_description",
    "unpack_table",
    "write_table",
]
