"""Differentially private synthesisers of SmartNoise (package ``snsynth``, installed apart)."""

from typing import Any

import numpy as np
import pandas as pd

from tapas.datasets import TabularDataset
from tapas.generators._adapters import described_call
from tapas.generators._foreign import ForeignGenerator, import_package


class SmartNoiseGenerator(ForeignGenerator):
    """Audits a synthesiser of SmartNoise, made by ``snsynth.Synthesizer.create``.

    Categories go in as codes, with missing as one more; ordered ones as ordinal columns. Numbers
    and dates go in as continuous columns, for whose bounds SmartNoise spends `preprocessor_eps`
    (or takes what a transformer in `fit_arguments` declares). Its noise cannot be seeded, so that
    a run cannot be repeated exactly.

    Parameters
    ----------
    synthesizer : str
        Such as "mst", "aim", "mwem", "dpctgan" or "patectgan".
    epsilon : float
    label : str, optional
        Display name; the synthesiser and its arguments by default.
    preprocessor_eps : float
        Part of epsilon spent on the bounds of continuous columns.
    fit_arguments : dict, optional
        Further arguments of ``fit``.
    **arguments
        Further arguments of ``create``, e.g. ``delta=1e-6``.
    """

    def __init__(
        self,
        synthesizer: str = "mst",
        epsilon: float = 1.0,
        label: str | None = None,
        *,
        preprocessor_eps: float = 0.0,
        fit_arguments: dict[str, Any] | None = None,
        **arguments: object,
    ) -> None:
        name = described_call(f"SmartNoise {synthesizer}", {"epsilon": epsilon, **arguments})
        super().__init__(label or name, repair=True)
        self.synthesizer, self.epsilon = synthesizer, float(epsilon)
        self.preprocessor_eps = float(preprocessor_eps)
        self.fit_arguments = dict(fit_arguments or {})
        self.arguments = arguments

    def _load(self) -> None:
        import_package("snsynth", "smartnoise-synth", self.label)

    def _train(self, dataset: TabularDataset, seed: int | None) -> object:
        snsynth = import_package("snsynth", "smartnoise-synth", self.label)
        table = dataset.table
        columns = {
            column.name: table.column(column.name).astype(np.int64 if column.is_coded else float)
            for column in table.columns
        }
        kinds = {column.name: column.kind for column in table.columns}
        model = snsynth.Synthesizer.create(self.synthesizer, epsilon=self.epsilon, **self.arguments)
        model.fit(
            pd.DataFrame(columns),
            **{
                "categorical_columns": [n for n, k in kinds.items() if k in ("category", "string")],
                "ordinal_columns": [n for n, k in kinds.items() if k == "ordered"],
                "continuous_columns": [c.name for c in table.number_columns()],
                "preprocessor_eps": self.preprocessor_eps,
                "nullable": True,
                **self.fit_arguments,
            },
        )
        return model

    def _sample(self, num_samples: int, seed: int | None) -> TabularDataset:
        frame = self.fitted_.sample(num_samples)
        values = [
            pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
            for name in self.rules_.description.columns
        ]
        return self.rules_.dataset_of(values, self.label)
