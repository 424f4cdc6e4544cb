"""Data knowledge and a goal together: private datasets with known secrets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas._random import ambient_rng, integer_seed
from tapas.datasets import TabularDataset, TabularRecord
from tapas.errors import ThreatModelError
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeWithLabel,
)
from tapas.threat_models._goals import AttributeGoal, Goal, MembershipGoal, PlantingStreams
from tapas.threat_models._trials import Address


@dataclass(frozen=True)
class TargetRecords:
    """The targets as given: one table, and each as a record."""

    table: TabularDataset

    @classmethod
    def parse(cls, target_records: Any) -> "TargetRecords":
        """Accept a record, a dataset of records, or a list of records."""
        if isinstance(target_records, (list, tuple)) and target_records:
            joined = target_records[0]
            for record in target_records[1:]:
                joined = joined + record
            target_records = joined
        if not isinstance(target_records, TabularDataset) or len(target_records) == 0:
            raise ThreatModelError(
                f"target_record must be a TabularRecord or a TabularDataset of targets, "
                f"got {target_records!r}"
            )
        if isinstance(target_records, TabularRecord):
            target_records = target_records.copy()
            target_records.set_id(target_records.id)
        return cls(target_records.copy())

    def records(self) -> list[TabularRecord]:
        """Each target, under its row label."""
        return list(self.table)


class _GoalLabeller(AttackerKnowledgeWithLabel):
    """Draws a background, plants the goal's secrets in it."""

    def __init__(
        self, attacker_knowledge: AttackerKnowledgeOnData, goal: Goal, *, pairs: bool
    ) -> None:
        self.attacker_knowledge = attacker_knowledge
        self.goal = goal
        self.generate_pairs = pairs

    @property
    def draws_from_globals(self) -> bool:
        """Where the data knowledge does, or a subclass draws in its own way."""
        own = type(self).generate_datasets_with_label
        return own is not _GoalLabeller.generate_datasets_with_label or bool(
            getattr(self.attacker_knowledge, "draws_from_globals", True)
        )

    def draw_labelled(self, address: Address) -> tuple[TabularDataset, np.ndarray]:
        """Private dataset and secrets; trials 2j and 2j+1 mirror each other if paired."""
        own = type(self).generate_datasets_with_label
        if own is not _GoalLabeller.generate_datasets_with_label:
            return super().draw_labelled(address)
        background = address.at(self.group_of(address.index))
        dataset = self.attacker_knowledge.draw_dataset(background)
        # An attacker who knows the data exactly knows which rows leave: always the same.
        exact = bool(getattr(self.attacker_knowledge, "is_exact", False))
        mirrored = self.generate_pairs and address.index % 2 == 1
        streams = PlantingStreams(background, address, same_rows_leave=exact)
        return self.goal.plant(dataset, rng=streams, mirrored=mirrored)

    def group_of(self, index: int) -> int:
        """Both trials of a pair are one group."""
        return index // 2 if self.generate_pairs else index

    def generate_datasets_with_label(
        self, num_samples: int, training: bool = True
    ) -> tuple[list[TabularDataset], list[Any]]:
        """Draw exactly `num_samples` datasets with their labels."""
        seed = integer_seed(ambient_rng())
        phase = "train" if training else "test"
        drawn = [
            self.draw_labelled(Address(seed, phase, index))  # type: ignore[arg-type]
            for index in range(num_samples)
        ]
        labels = [
            secrets[0] if self.goal.num_targets == 1 else list(secrets) for _, secrets in drawn
        ]
        return [dataset for dataset, _ in drawn], labels

    @property
    def label(self) -> str:
        """Display name: that of the data knowledge."""
        return self.attacker_knowledge.label


class MIALabeller(_GoalLabeller):
    """Private datasets with, or without, each target.

    Parameters
    ----------
    attacker_knowledge : AttackerKnowledgeOnData
    target_records : TabularDataset
    generate_pairs : bool
        Whether trials come in pairs on the same background with opposite memberships.
    replace_target : bool
        Whether a target that enters takes the place of another row.
    """

    def __init__(
        self,
        attacker_knowledge: AttackerKnowledgeOnData,
        target_records: Any,
        generate_pairs: bool = True,
        replace_target: bool = False,
    ) -> None:
        self.target_records = TargetRecords.parse(target_records).table
        self.replace_target = replace_target
        super().__init__(
            attacker_knowledge,
            MembershipGoal(self.target_records, replace_target),
            pairs=generate_pairs,
        )


class AIALabeller(_GoalLabeller):
    """Private datasets that hold each target with a random value of the sensitive attribute.

    Parameters
    ----------
    attacker_knowledge : AttackerKnowledgeOnData
    target_records : TabularDataset
    sensitive_attribute : str
    attribute_values : sequence
    distribution : sequence of float, optional
    """

    def __init__(
        self,
        attacker_knowledge: AttackerKnowledgeOnData,
        target_records: Any,
        sensitive_attribute: str,
        attribute_values: Sequence[Any],
        distribution: Sequence[float] | None = None,
    ) -> None:
        self.target_records = TargetRecords.parse(target_records).table
        self.sensitive_attribute = sensitive_attribute
        self.attribute_values = attribute_values
        self.distribution = distribution
        goal = AttributeGoal(
            self.target_records,
            sensitive_attribute,
            tuple(attribute_values),
            None if distribution is None else tuple(distribution),
        )
        super().__init__(attacker_knowledge, goal, pairs=False)
