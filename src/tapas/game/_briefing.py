"""All that an attack is told before it sees releases; never a secret."""

from dataclasses import dataclass, field, replace

import numpy as np

from tapas.datasets import Dataset, TabularDataset
from tapas.errors import IncompatibleAttackError
from tapas.game._goal import Goal, Value
from tapas.generators import MarginalSelection
from tapas.models import Access, RecordEncoding, Records

__all__ = ["Briefing", "ModelBriefing", "TableBriefing"]


@dataclass(frozen=True, eq=False)
class Briefing:
    """What an attack is told.

    Attributes
    ----------
    goal : Goal
    num_labels : int
        How many secrets there are, where they are not those of records.
    """

    goal: Goal
    num_labels: int = field(default=1, kw_only=True)

    @property
    def num_targets(self) -> int:
        """How many secrets there are in each release."""
        return self.num_labels

    @property
    def attribute_values(self) -> tuple[Value, ...]:
        """Values that a sensitive attribute may take, in the order of scores."""
        return self.goal.values if self.goal.kind == "attribute" else ()


@dataclass(frozen=True, eq=False)
class TableBriefing(Briefing):
    """A briefing about records of a table.

    Attributes
    ----------
    targets : TabularDataset
        One row per target. For attribute inference the sensitive value is missing in all.
    auxiliary : Dataset or None
        Data that the attacker holds.
    selection : MarginalSelection or None
        How the generator chooses the marginals that it keeps, where it does and the attacker knows
        its algorithm; never what it was fitted to.
    """

    targets: TabularDataset
    auxiliary: Dataset | None = None
    selection: MarginalSelection | None = None

    @property
    def num_targets(self) -> int:
        """How many targets there are."""
        return len(self.targets)

    @property
    def attribute(self) -> str | None:
        """The sensitive column, in attribute inference."""
        return None if self.goal.attribute is None else str(self.goal.attribute)

    def only(self, positions: range | list[int] | np.ndarray) -> "TableBriefing":
        """The briefing about some of the targets."""
        return replace(self, targets=self.targets.take(positions))

    def reference(self, label: str) -> TabularDataset:
        """The attacker's data as a table; an attack that needs it is refused without."""
        if not isinstance(self.auxiliary, TabularDataset) or len(self.auxiliary) == 0:
            raise IncompatibleAttackError(
                f"{label} compares the release with reference data, and the attacker holds none: "
                f"give reference=... (or auxiliary data), or use ClosestDistanceMIA"
            )
        return self.auxiliary


@dataclass(frozen=True, eq=False)
class ModelBriefing(Briefing):
    """A briefing about records that a model may have been trained on.

    Attributes
    ----------
    targets : Records
        Inputs and classes of the records in question, in an order that says nothing. In property
        inference, records that models may be asked about.
    auxiliary : Records or None
        Records that the attacker holds.
    encoding : RecordEncoding or None
        Turns records into points and back; learnt from all that the attacker holds.
    access : Access
    priors : ndarray or None
        In attribute inference, the probability of each value before the model is asked.
    image : tuple of int or None
        The shape of each record, where records are images laid out as rows.
    """

    targets: Records
    auxiliary: Records | None = None
    encoding: RecordEncoding | None = None
    access: Access = Access.SCORES
    priors: np.ndarray | None = None
    image: tuple[int, ...] | None = None

    @property
    def num_targets(self) -> int:
        """How many secrets there are: one per record, or one of the whole model."""
        return 1 if self.goal.kind == "property" else len(self.targets)

    @property
    def known_encoding(self) -> RecordEncoding:
        """The encoding, learnt from the targets where none was given."""
        return self.targets.encoding() if self.encoding is None else self.encoding
