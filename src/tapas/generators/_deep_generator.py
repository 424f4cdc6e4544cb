"""What generators made of networks share."""

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from tapas._random import integer_seed
from tapas._validate import check_count
from tapas.datasets import DataDescription, EncodedTable, TabularDataset
from tapas.engine import torch_device
from tapas.errors import ConfigError, MechanismError
from tapas.generators._deep_columns import DeepColumns, Places
from tapas.generators._stacked_generator import StackedGenerator
from tapas.generators._table_generator import as_rng

if TYPE_CHECKING:
    from tapas.generators._deep_networks import Networks

FITS_AT_ONCE = {"cpu": 1, "cuda": 128}  # never asked of the machine: it may change last bits
WIDEST = 4096


class DeepGenerator(StackedGenerator):
    """Networks trained on one table each; on a GPU many tables in lockstep.

    The same seeds give the same bits on the same device, in stacks of the same size.

    Attributes
    ----------
    columns_ : DeepColumns
        How the table is written as floats.
    parameters_ : list of ndarray
        Weights and biases of each layer.
    """

    columns_: DeepColumns
    parameters_: list[np.ndarray]

    def __init__(
        self,
        hidden: int | Sequence[int] = (256, 256),
        steps: int = 1000,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        device: str = "auto",
        fits_at_once: int | None = None,
    ) -> None:
        super().__init__()
        sizes = (hidden,) if isinstance(hidden, int) else tuple(hidden)
        self.hidden = tuple(check_count(size, "hidden", minimum=1) for size in sizes)
        self.steps = check_count(steps, "steps", minimum=1)
        self.batch_size = check_count(batch_size, "batch_size", minimum=1)
        if not learning_rate > 0:
            raise ConfigError(f"learning_rate must be positive, got {learning_rate!r}")
        self.learning_rate = float(learning_rate)
        self.device = torch_device(device, type(self).__name__, "use GaussianCopula")
        at_once = FITS_AT_ONCE[self.device.split(":")[0]] if fits_at_once is None else fits_at_once
        self._fits_at_once = check_count(at_once, "fits_at_once", minimum=1)

    @property
    def fits_at_once(self) -> int:
        """How many tables are learnt in lockstep."""
        return self._fits_at_once

    @staticmethod
    @abstractmethod
    def _kind() -> "type[Networks]":
        """The networks; imports torch."""

    def refuse_table(self, dataset: TabularDataset) -> None:
        """Refuse free text, and more categories than networks can be given."""
        places = Places.of([self._readable(dataset)])
        if places.width > WIDEST:
            names = [column.name for column in dataset.table.coded_columns()]
            most, name = max(zip(places.choices, names, strict=False))
            raise MechanismError(
                f"{self.label} gives each category a place of its own: {places.width:,} places, at "
                f"most {WIDEST:,}. Column {name!r} has {most - 1:,} categories: join some, or "
                f"leave it out"
            )

    def run_stack(
        self, datasets: Sequence[TabularDataset], num_samples: int | None, seeds: Sequence[int]
    ) -> list[tuple[Self, TabularDataset]]:
        """Fit a copy to each dataset and generate from it; see `StackedGenerator`."""
        rngs = [as_rng(seed) for seed in seeds]
        made = [self._copy_for(dataset) for dataset in datasets]
        networks = _learn_stack(made, [self._readable(data) for data in datasets], rngs)
        wanted = [one.num_records_ if num_samples is None else num_samples for one in made]
        seed = integer_seed(rngs[0])
        tables = {size: _draw_stack(networks, made, size, seed) for size in set(wanted)}
        return [
            (one, TabularDataset.from_table(tables[size][place], one.description_))
            for place, (one, size) in enumerate(zip(made, wanted, strict=True))
        ]

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """How well the networks know each record: one number per column or size of noise."""
        import torch

        from tapas.generators._deep_networks import one_torch_thread

        rows = torch.from_numpy(self.columns_.encode(dataset.table)).to(self.device)[None]
        with one_torch_thread(), torch.no_grad():
            return _networks([self]).factors(rows)[0].cpu().numpy().astype(float)

    def _copy_for(self, dataset: TabularDataset) -> Self:
        self.refuse_table(dataset)
        made = copy.copy(self)
        made.description_: DataDescription = dataset.description  # type: ignore[misc]
        made.num_records_ = len(dataset)
        made.trained = True
        return made

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        _learn_stack([self], [table], [rng])

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        return _draw_stack(_networks([self]), [self], num_samples, integer_seed(rng))[0]


def _learn_stack(
    made: Sequence[DeepGenerator],
    tables: Sequence[EncodedTable],
    rngs: Sequence[np.random.Generator],
) -> "Networks":
    """Set the fitted attributes of generators of equal settings."""
    import torch

    from tapas.generators._deep_networks import Descent, first_parameters, one_torch_thread, train

    rows, places = [], Places.of(tables)
    for one, table in zip(made, tables, strict=True):
        one.columns_, floats = DeepColumns.learn(table, places)
        rows.append(floats)
    first = made[0]
    kind = first._kind()
    begun = first_parameters(kind.shapes(places, first.hidden), rngs)
    networks = kind(places, [torch.from_numpy(block).to(first.device) for block in begun])
    how = Descent(first.steps, first.batch_size, first.learning_rate)
    with one_torch_thread():
        train(networks, rows, how, integer_seed(rngs[0]))
    for number, one in enumerate(made):
        one.parameters_ = [block[number].cpu().numpy() for block in networks.parameters]
    return networks


def _networks(made: Sequence[DeepGenerator]) -> "Networks":
    """The networks of generators that are fitted."""
    import torch

    first = made[0]
    blocks = zip(*(one.parameters_ for one in made), strict=True)
    stacked = [torch.from_numpy(np.stack(block)).to(first.device) for block in blocks]
    return first._kind()(first.columns_.places, stacked)


def _draw_stack(
    networks: "Networks", made: Sequence[DeepGenerator], rows: int, seed: int
) -> list[EncodedTable]:
    from tapas.generators._deep_networks import draw, one_torch_thread

    with one_torch_thread():
        drawn = draw(networks, np.stack([one.columns_.seen for one in made]), rows, seed)
    return [one.columns_.decode(*rows) for one, rows in zip(made, drawn, strict=True)]
