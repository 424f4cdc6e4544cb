"""CTGAN and TVAE (package ``ctgan``, installed apart)."""

import numpy as np
import pandas as pd

from tapas._validate import check_choice
from tapas.datasets import EncodedTable, TabularDataset
from tapas.generators._adapters import described_call
from tapas.generators._foreign import ForeignGenerator, import_package, reseed


class CTGANGenerator(ForeignGenerator):
    """Audits ``ctgan.CTGAN`` or ``ctgan.TVAE``.

    Categories go in as codes, missing among them; dates as numbers; a number column with missing
    values as its numbers, with the median in the gaps, and a further 0/1 column. Numbers that
    come back are rounded and clipped to what the schema allows.

    Parameters
    ----------
    model : {"CTGAN", "TVAE"}
    label : str, optional
        Display name; the model and its arguments by default.
    **arguments
        Arguments of the class, e.g. ``epochs=30``.
    """

    def __init__(self, model: str = "CTGAN", label: str | None = None, **arguments: object) -> None:
        self.model = check_choice(model, "model", ("CTGAN", "TVAE"))
        super().__init__(label or described_call(model, arguments), repair=True)
        self.arguments = arguments

    def _load(self) -> None:
        import_package("ctgan", "ctgan", self.label)

    def _train(self, dataset: TabularDataset, seed: int | None) -> object:
        ctgan = import_package("ctgan", "ctgan", self.label)
        frame, discrete = _plain_frame(dataset.table)
        model = getattr(ctgan, self.model)(**self.arguments)
        reseed(model, seed)
        model.fit(frame, discrete)
        return model

    def _sample(self, num_samples: int, seed: int | None) -> TabularDataset:
        reseed(self.fitted_, seed)
        frame = self.fitted_.sample(num_samples)
        values = _from_plain_frame(frame, len(self.rules_.schema.columns))
        return self.rules_.dataset_of(values, self.label)


def _plain_frame(table: EncodedTable) -> tuple[pd.DataFrame, list[str]]:
    """Columns ``value0, missing0, ...`` without gaps, and the names of those that are codes."""
    columns: dict[str, np.ndarray] = {}
    discrete = []
    for position, column in enumerate(table.columns):
        values, name = table.column(column.name), f"value{position}"
        if column.is_coded:
            columns[name] = values.astype(np.int64)
            discrete.append(name)
            continue
        missing = np.isnan(values)
        if not missing.all():
            columns[name] = np.where(missing, np.median(values[~missing]), values)
        if missing.any():
            columns[f"missing{position}"] = missing.astype(np.int64)
            discrete.append(f"missing{position}")
    return pd.DataFrame(columns), discrete


def _from_plain_frame(frame: pd.DataFrame, num_columns: int) -> list[np.ndarray]:
    """Codes and numbers of each column, with NaN where a value is missing."""
    values = []
    for position in range(num_columns):
        name, flag = f"value{position}", f"missing{position}"
        array = (
            frame[name].to_numpy(dtype=np.float64) if name in frame else np.full(len(frame), np.nan)
        )
        if flag in frame:
            array = np.where(frame[flag].to_numpy(dtype=np.float64) == 1, np.nan, array)
        values.append(array)
    return values
