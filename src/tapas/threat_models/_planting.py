"""What the attacker wants to learn, and how it is planted in the private data.

Planting leaves no trace beside the secret itself: targets take random positions, row labels are
renumbered, and types stay as they are in both worlds.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tapas._random import Parts, TrialPart, part_stream
from tapas._validate import listing
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import SchemaError, ThreatModelError
from tapas.game import MEMBERSHIP, Address, Goal, Value, as_array
from tapas.threat_models._data_knowledge import gathered, number_of_records


@dataclass(frozen=True)
class PlantingStreams:
    """Random streams for planting, each made when it is asked for.

    Attributes
    ----------
    background : Address
        Shared by trials that mirror each other.
    trial : Address
    same_rows_leave : bool
        Whether targets take the place of the same rows in every trial.
    """

    background: Address
    trial: Address
    same_rows_leave: bool = False

    @property
    def secrets(self) -> np.random.Generator:
        """For the secrets."""
        return self.background.stream(TrialPart.SECRET)

    @property
    def leaving(self) -> np.random.Generator:
        """For the rows whose place targets take."""
        if self.same_rows_leave:
            return part_stream(self.background.seed, Parts.LEAVING_ROWS)
        return self.background.stream(TrialPart.PLACEMENT)

    @property
    def order(self) -> np.random.Generator:
        """For the order of rows."""
        return self.trial.stream(TrialPart.PLACEMENT)


class Planting(ABC):
    """Plants a secret for each target in a private dataset."""

    @property
    @abstractmethod
    def goal(self) -> Goal:
        """What is planted."""

    @property
    @abstractmethod
    def num_targets(self) -> int:
        """How many targets there are."""

    @abstractmethod
    def plant(
        self, dataset: Dataset, *, rng: PlantingStreams, mirrored: bool = False
    ) -> tuple[Dataset, np.ndarray]:
        """Return the private dataset with the secrets planted, and the secrets.

        `mirrored` flips every secret that the same streams would otherwise plant.
        """


@dataclass(frozen=True, eq=False)
class MembershipPlanting(Planting):
    """Is the target in the data? A fair coin decides, for each target.

    Attributes
    ----------
    targets : Dataset
        One record per target: a table, or anything of records that can be added and dropped.
    replace_target : bool
        Whether a target that enters takes the place of another row, so that the size is constant.
    """

    targets: Dataset
    replace_target: bool = False

    @property
    def goal(self) -> Goal:
        """Membership."""
        return MEMBERSHIP

    @property
    def num_targets(self) -> int:
        """How many targets there are."""
        return number_of_records(self.targets)

    def plant(
        self, dataset: Dataset, *, rng: PlantingStreams, mirrored: bool = False
    ) -> tuple[Dataset, np.ndarray]:
        """Put the members among the targets into the data."""
        member = (rng.secrets.random(self.num_targets) < 0.5) ^ mirrored
        if not isinstance(dataset, TabularDataset) or not isinstance(self.targets, TabularDataset):
            return self._planted_elsewhere(dataset, member, rng), member
        if self.replace_target:
            places = leaving_rows(dataset, self.targets, rng.leaving)
            return substituted(dataset, self.targets, places, np.flatnonzero(member)), member
        rows = np.concatenate([np.arange(len(dataset)), len(dataset) + np.flatnonzero(member)])
        return dataset.splice(self.targets, rng.order.permutation(rows)), member

    def _planted_elsewhere(
        self, dataset: Dataset, member: np.ndarray, rng: PlantingStreams
    ) -> Dataset:
        """The same in data that is no table, by adding and dropping records."""
        if self.replace_target:
            size = number_of_records(dataset)
            leaving = rng.leaving.choice(size, size=self.num_targets, replace=False)[member]
            dataset = _changed(dataset.drop_records(leaving.tolist())) if member.any() else dataset
        for position in np.flatnonzero(member):
            dataset = _changed(dataset.add_records(self.targets.get_records([int(position)])))
        return gathered(dataset, rng.order.permutation(number_of_records(dataset)))


@dataclass(frozen=True, eq=False)
class AttributePlanting(Planting):
    """Which value does the target's sensitive attribute have?

    The value is drawn independently of the target's other attributes, so that guessing from the
    population's correlations gains nothing.

    Attributes
    ----------
    targets : TabularDataset
    attribute : str
    values : tuple
    distribution : tuple of float, optional
        Probability of each value; uniform if None.
    """

    targets: TabularDataset
    attribute: str
    values: tuple[Value, ...]
    distribution: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        description = self.targets.description
        if self.attribute not in description.columns:
            raise ThreatModelError(
                f"sensitive_attribute {self.attribute!r} is not a column; the columns are "
                f"{listing(description.columns)}"
            )
        if len(self.values) < 2 or len(set(self.values)) != len(self.values):
            raise ThreatModelError(
                f"attribute_values must be at least two different values, got "
                f"{listing(self.values)}"
            )
        try:
            encoded = self.variants.table.column(self.attribute)[: len(self.values)]
        except SchemaError as error:
            raise ThreatModelError(f"attribute_values: {error}") from error
        if len(np.unique(encoded)) < len(self.values) or pd.isna(list(self.values)).any():
            raise ThreatModelError(
                f"attribute_values must be different and not missing in column "
                f"{self.attribute!r}, got {listing(self.values)}"
            )
        if self.distribution is not None:
            weights = np.asarray(self.distribution, dtype=float)
            if (
                weights.shape != (len(self.values),)
                or (weights < 0).any()
                or not np.isclose(weights.sum(), 1)
            ):
                raise ThreatModelError(
                    f"distribution must give {len(self.values)} non-negative probabilities that "
                    f"sum to 1, got {listing(self.distribution)}"
                )

    @property
    def goal(self) -> Goal:
        """The value of the attribute."""
        return Goal("attribute", self.attribute, self.values)

    @property
    def num_targets(self) -> int:
        """How many targets there are."""
        return len(self.targets)

    @property
    def commonest_share(self) -> float:
        """Probability of the likeliest value."""
        return 1 / len(self.values) if self.distribution is None else max(self.distribution)

    @cached_property
    def variants(self) -> TabularDataset:
        """Every target with every value: row ``target * len(values) + value``."""
        tables = [self.targets.table.with_value(self.attribute, value) for value in self.values]
        stacked = tables[0].concat(*tables[1:]) if len(tables) > 1 else tables[0]
        order = np.arange(len(stacked)).reshape(len(tables), -1).T.ravel()
        return TabularDataset.from_table(stacked.take(order), self.targets.description)

    def plant(
        self, dataset: Dataset, *, rng: PlantingStreams, mirrored: bool = False
    ) -> tuple[Dataset, np.ndarray]:
        """Put every target in, each with a value drawn for it, in place of another row."""
        if not isinstance(dataset, TabularDataset):
            raise ThreatModelError(
                f"attributes are inferred in tables, got a {type(dataset).__name__}"
            )
        chosen = rng.secrets.choice(len(self.values), size=self.num_targets, p=self.distribution)
        places = leaving_rows(dataset, self.targets, rng.leaving)
        targets = self.variants.take(np.arange(self.num_targets) * len(self.values) + chosen)
        planted = substituted(dataset, targets, places, np.arange(self.num_targets))
        return planted, as_array(self.values)[chosen]


def _changed(dataset: Dataset | None) -> Dataset:
    """What adding or dropping returned; in place would change the data of other trials."""
    if dataset is None:
        raise ThreatModelError(
            "add_records and drop_records must return a new dataset, and not change their own"
        )
    return dataset


def leaving_rows(
    dataset: TabularDataset, targets: TabularDataset, rng: np.random.Generator
) -> np.ndarray:
    """A different random row for each target to take the place of."""
    if len(targets) > len(dataset):
        raise ThreatModelError(
            f"{len(targets)} targets cannot take the place of rows in a private dataset of "
            f"{len(dataset)}: use larger private datasets or fewer targets"
        )
    return rng.choice(len(dataset), size=len(targets), replace=False)


def substituted(
    dataset: TabularDataset,
    targets: TabularDataset,
    places: np.ndarray,
    entering: np.ndarray,
) -> TabularDataset:
    """The dataset with some targets, each at its place."""
    rows = np.arange(len(dataset))
    rows[places[entering]] = len(dataset) + entering
    return dataset.splice(targets, rows)
