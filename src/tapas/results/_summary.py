"""What every summary of an attack can do: give its metrics and write them to a file."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tapas._files import write_text
from tapas._spec import Plain
from tapas.errors import ConfigError, StoreError
from tapas.results import _display, _storage
from tapas.stats import Dependence

__all__ = ["AttackSummary"]


class AttackSummary(ABC):
    """Outcome of an attack over a number of trials.

    Reports read summaries and nothing else. The arrays are read-only copies of
    what was given.

    Attributes
    ----------
    dependence : Dependence
        How its trials depend on each other; unknown where a summary does not say.
    """

    dependence: Dependence = Dependence.UNKNOWN

    @abstractmethod
    def get_metrics(self) -> pd.DataFrame:
        """Return a data frame of one row: what was attacked, then the metrics."""

    @abstractmethod
    def get_metric_filename(self, postfix: object = "") -> str:
        """Return the name of the file that `write_metrics` writes."""

    def described(self) -> dict[str, object]:
        """What was attacked, as the first columns of tables show it."""
        return {}

    def resampled_metrics(
        self,
        num_replicates: int,
        names: Sequence[str] | None = None,
        *,
        rng: np.random.Generator,
    ) -> dict[str, NDArray[np.float64]]:
        """Bootstrap metrics, those of `get_metrics` by default: an array of replicates for each."""
        raise ConfigError(
            f"{type(self).__name__} does not say how to resample its trials; write its "
            "`resampled_metrics`, or derive it from LabelInferenceAttackSummary"
        )

    def _fields(self) -> dict[str, object]:
        """Return the constructor's arguments that rebuild this summary."""
        raise StoreError(
            f"{type(self).__name__} does not say how to rebuild it; write its `_fields`, "
            "which returns the arguments of its constructor"
        )

    def write_metrics(self, output_path: str | Path, postfix: object = "") -> Path:
        """Write the metrics as CSV into the folder `output_path`, made if needed.

        Returns
        -------
        Path
            The file written.
        """
        folder = Path(output_path)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.get_metric_filename(postfix)
        self.get_metrics().to_csv(path, index=False)
        return path

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the whole summary as JSON text, and write it to `path` if one is given."""
        text = json.dumps(self.to_dict(), allow_nan=False)
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Self:
        """Rebuild a summary from JSON text or from a file of it."""
        return _storage.rebuilt(cls, lambda: _storage.from_json(source))

    def to_dict(self) -> dict[str, Plain]:
        """Return the whole summary as the plain values that JSON holds."""
        return _storage.to_dict(type(self).__name__, self._fields())

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Rebuild a summary from what `to_dict` returned."""
        return _storage.rebuilt(cls, lambda: _storage.from_dict(content, "what was given"))

    def to_parquet(self, path: str | Path) -> Path:
        """Write the whole summary as a Parquet file, one row per trial (needs pyarrow)."""
        return _storage.to_parquet(type(self).__name__, self._fields(), path)

    @classmethod
    def from_parquet(cls, path: str | Path) -> Self:
        """Rebuild a summary from a Parquet file (needs pyarrow)."""
        return _storage.rebuilt(cls, lambda: _storage.from_parquet(path))

    def _repr_html_(self) -> str:
        return _display.table(type(self).__name__, self.get_metrics())
