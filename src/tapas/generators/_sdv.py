"""Single-table synthesisers of the Synthetic Data Vault (package ``sdv``, installed apart)."""

import warnings
from types import ModuleType
from typing import Any

import numpy as np

from tapas.datasets import Column, TabularDataset
from tapas.errors import ConfigError
from tapas.generators._adapters import described_call
from tapas.generators._foreign import ForeignGenerator, frame_of, import_package

TABLE = "table"


class SDVGenerator(ForeignGenerator):
    """Audits a synthesiser of ``sdv.single_table``, of SDV 1.x or 2.x.

    The metadata come from the schema alone: finite columns are categorical, dates and datetimes
    datetime, the others numerical. Nothing is detected in the data.

    SDV starts sampling from one fixed seed after each fit, so that two fits to the same data
    publish the same table. `reseed` decides which of the two is audited.

    Parameters
    ----------
    synthesizer : str or type
        Name of a class in ``sdv.single_table``, or a class.
    label : str, optional
        Display name; the class and its arguments by default.
    reseed : bool
        True draws every release with a seed of its own. False leaves SDV's fixed seed, which is
        what a first call of ``sample`` publishes: a release that depends on the data alone.
    repair : bool
        Round and clip numbers that break the schema, instead of refusing the release.
    **arguments
        Arguments of the class besides the metadata, e.g. ``epochs=100``.
    """

    def __init__(
        self,
        synthesizer: str | type = "GaussianCopulaSynthesizer",
        label: str | None = None,
        *,
        reseed: bool = True,
        repair: bool = False,
        **arguments: object,
    ) -> None:
        name = synthesizer if isinstance(synthesizer, str) else synthesizer.__name__
        super().__init__(label or described_call(f"SDV {name}", arguments), repair=repair)
        self.synthesizer = synthesizer
        self.reseed = bool(reseed)
        self.arguments = arguments

    def _load(self) -> None:
        for name in ("sdv.metadata", "sdv.single_table"):
            import_package(name, "sdv", self.label)

    def _train(self, dataset: TabularDataset, seed: int | None) -> object:
        sdv = import_package("sdv", "sdv", self.label)
        frame = frame_of(dataset)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self._class(sdv)(_metadata(sdv, dataset), **self.arguments)
            model.fit({TABLE: frame} if _major_version(sdv) >= 2 else frame)
        return model

    def _sample(self, num_samples: int, seed: int | None) -> object:
        if self.reseed and seed is not None:
            _reseed(self.fitted_, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.fitted_.sample(num_samples)

    def _class(self, sdv: ModuleType) -> Any:
        if not isinstance(self.synthesizer, str):
            return self.synthesizer
        found = getattr(sdv.single_table, self.synthesizer, None)
        if found is None:
            known = [name for name in dir(sdv.single_table) if name.endswith("Synthesizer")]
            raise ConfigError(
                f"sdv.single_table has no {self.synthesizer!r}; it has {', '.join(known)}"
            )
        return found


def _major_version(sdv: ModuleType) -> int:
    return int(str(sdv.__version__).split(".")[0])


def _metadata(sdv: ModuleType, dataset: TabularDataset) -> Any:
    columns = {c.name: {"sdtype": _semantic_type(c)} for c in dataset.description.parsed}
    tables = getattr(sdv.metadata, "Metadata", None)
    if tables is not None:
        return tables.load_from_dict(
            {
                "tables": {TABLE: {"columns": columns}},
                "relationships": [],
                "METADATA_SPEC_VERSION": "V1",
            }
        )
    return sdv.metadata.SingleTableMetadata.load_from_dict(
        {"columns": columns, "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"}
    )


def _semantic_type(column: Column) -> str:
    if column.is_coded:
        return "categorical"
    return "datetime" if column.kind in ("date", "datetime") else "numerical"


def _reseed(model: object, seed: int) -> None:
    """Replace SDV's fixed sampling seed, for which it has no public door."""
    set_model = getattr(model, "_set_random_state", None)
    if callable(set_model):
        set_model(seed)
    get_transformers = getattr(model, "get_transformers", dict)
    for offset, transformer in enumerate(get_transformers().values()):
        set_transformer = getattr(transformer, "set_random_state", None)
        if callable(set_transformer):
            stream = np.random.RandomState((seed + 1 + offset) % 2**32)
            set_transformer(stream, "reverse_transform")
