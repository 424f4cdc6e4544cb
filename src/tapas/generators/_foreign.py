"""Generators made of somebody else's code, which speaks data frames."""

import copy
import importlib
import inspect
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd

from tapas._random import integer_seed, seeded_globals
from tapas._validate import check_count
from tapas.datasets import Dataset, RandomSource, TabularDataset
from tapas.errors import MechanismError, NotTrainedError, TapasError
from tapas.generators._base import Generator
from tapas.generators._release import ReleaseRules

SEED_NAMES = ("random_state", "seed")
# Foreign code draws from the global generators, which threads share: one seeded call at a time.
_ONE_AT_A_TIME = threading.RLock()

Model = TypeVar("Model")


class ForeignGenerator(Generator):
    """Hands a data frame to foreign code and checks the one that comes back.

    A subclass writes `_train`, which returns the fitted thing, and `_sample`.

    Parameters
    ----------
    label : str
        Display name.
    repair : bool
        Round and clip numbers that break the schema, instead of refusing the release.

    Attributes
    ----------
    fitted_ : object
        What the foreign code learnt.
    rules_ : ReleaseRules
        What a release must be.
    """

    def __init__(self, label: str, *, repair: bool = False) -> None:
        super().__init__()
        self._label = label
        self.repair = bool(repair)

    def _load(self) -> None:
        """Import what is needed: before the global generators are seeded, torch among them."""

    @abstractmethod
    def _train(self, dataset: TabularDataset, seed: int | None) -> object:
        """Fit something new to the dataset and return it."""

    @abstractmethod
    def _sample(self, num_samples: int, seed: int | None) -> object:
        """Draw from `fitted_`, which is what `_train` returned."""

    def fit(self, dataset: Dataset, random_state: RandomSource = None) -> Self:  # type: ignore[override]
        """Learn from `dataset`, forgetting any earlier one."""
        if not isinstance(dataset, TabularDataset):
            raise MechanismError(
                f"{self.label} learns from tables: expected a TabularDataset, "
                f"got {type(dataset).__name__}"
            )
        self.trained = False
        self._load()
        self.rules_ = ReleaseRules.of(dataset)
        seed = as_seed(random_state)
        with foreign_code(f"fitting {self.label}", seed):
            self.fitted_: Any = self._train(dataset, seed)
        self.trained = True
        return self

    def generate(
        self, num_samples: int | None = None, random_state: RandomSource = None
    ) -> TabularDataset:
        """Make `num_samples` records: as many as were learnt from, if None."""
        if not self.trained:
            raise NotTrainedError(f"no dataset was given to {self.label}: call fit(dataset) first")
        size = self.rules_.num_records if num_samples is None else num_samples
        wanted = check_count(size, "num_samples")
        if wanted == 0:
            return TabularDataset.from_table(self.rules_.schema, self.rules_.description)
        seed = as_seed(random_state)
        with foreign_code(f"sampling from {self.label}", seed):
            output = self._sample(wanted, seed)
        return self.rules_.release(output, wanted, self.label, repair=self.repair)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


@contextmanager
def foreign_code(doing: str, seed: int | None) -> Iterator[None]:
    """Seed the global generators where there is a seed, and name who failed."""
    try:
        if seed is None:
            yield
        else:
            with _ONE_AT_A_TIME, seeded_globals(seed):
                yield
    except TapasError:
        raise
    except Exception as error:
        raise MechanismError(f"{doing} raised {type(error).__name__}: {error}") from error


def import_package(module: str, package: str, label: str) -> Any:
    """Import a module that users install themselves."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MechanismError(
            f"{label} needs the package {package}, which is installed apart (pip install "
            f"{package}; mind its licence): {error}"
        ) from error


def frame_of(dataset: TabularDataset) -> pd.DataFrame:
    """A fresh data frame, with rows labelled 0, 1, ..."""
    return dataset.table.with_index().to_frame()


def seed_argument(function: Callable[..., Any], seed: int | None) -> dict[str, int]:
    """``{name: seed}`` where the function names a seed parameter."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    name = next((name for name in SEED_NAMES if name in names), None)
    return {name: seed} if name is not None and seed is not None else {}


def reseed(model: object, seed: int | None) -> None:
    """Give a model that keeps a seed of its own another one."""
    if seed is None:
        return
    set_random_state = getattr(model, "set_random_state", None)
    if callable(set_random_state):
        set_random_state(seed)
        return
    for name in SEED_NAMES:
        kept = getattr(model, name, "none")
        if kept is None or (isinstance(kept, (int, np.integer)) and not isinstance(kept, bool)):
            setattr(model, name, seed)


def independent(model: Model) -> Model:
    """A copy whose training cannot touch the original."""
    try:
        return copy.deepcopy(model)
    except Exception as error:
        raise MechanismError(
            f"{type(model).__name__} cannot be copied ({error}), so a second fit would build on "
            f"the first: use GeneratorFromClass, which makes a new object for each fit"
        ) from error


def as_seed(random_state: RandomSource) -> int | None:
    """The seed itself, or one drawn from a generator, as foreign code accepts it."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return integer_seed(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint64))
    return check_count(random_state, "random_state") % 2**32
