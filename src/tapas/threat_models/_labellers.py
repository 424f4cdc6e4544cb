"""Data knowledge and a goal together: private datasets with known secrets."""

from collections.abc import Sequence

import numpy as np

from tapas._random import ambient_rng, integer_seed
from tapas.datasets import Dataset, TabularDataset, TabularRecord
from tapas.errors import ThreatModelError
from tapas.game import Address, Briefing, Goal, Relation, TableBriefing, Value
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeWithLabel,
    number_of_records,
)
from tapas.threat_models._planting import (
    AttributePlanting,
    MembershipPlanting,
    Planting,
    PlantingStreams,
)

TargetsLike = Dataset | Sequence[Dataset]


def parsed_targets(given: TargetsLike) -> Dataset:
    """Read a record, a dataset of records, or a list of records."""
    if isinstance(given, (list, tuple)) and given:
        joined = given[0]
        for record in given[1:]:
            joined = joined + record
        given = joined
    if not isinstance(given, Dataset) or number_of_records(given) == 0:
        raise ThreatModelError(
            f"target_record must be a TabularRecord or a TabularDataset of targets, got {given!r}"
        )
    if isinstance(given, TabularRecord):
        given = given.copy()
        given.set_id(given.id)
        return TabularDataset.from_table(given.table, given.description)
    return given.copy() if isinstance(given, TabularDataset) else given


def table_of_targets(given: TargetsLike) -> TabularDataset:
    """The same, for goals that need a table."""
    targets = parsed_targets(given)
    if not isinstance(targets, TabularDataset):
        raise ThreatModelError(
            f"target_record must be a TabularRecord or a TabularDataset of targets, got {targets!r}"
        )
    return targets


def masked(targets: TabularDataset, goal: Goal) -> TabularDataset:
    """Targets as an attack is told of them: without the value that it is after."""
    if goal.attribute is None:
        return targets
    table = targets.table.with_value(str(goal.attribute), None)
    return TabularDataset.from_table(table, targets.description)


class PlantingLabeller(AttackerKnowledgeWithLabel):
    """Draws a background, plants secrets in it."""

    relation: Relation = "replace"
    target_records: Dataset

    def __init__(
        self, attacker_knowledge: AttackerKnowledgeOnData, planting: Planting, *, pairs: bool
    ) -> None:
        self.attacker_knowledge = attacker_knowledge
        self.planting = planting
        self.generate_pairs = pairs

    @property
    def goal(self) -> Goal:
        """What is planted."""
        return self.planting.goal

    def briefing(self) -> Briefing:
        """What an attack is told about the targets; a sensitive value is masked."""
        targets = self.target_records
        if not isinstance(targets, TabularDataset):
            return Briefing(self.goal, num_labels=self.planting.num_targets)
        auxiliary = self.attacker_knowledge.auxiliary
        return TableBriefing(self.goal, masked(targets, self.goal), auxiliary)

    @property
    def draws_from_globals(self) -> bool:
        """Where the data knowledge does, or a subclass draws in its own way."""
        own = type(self).generate_datasets_with_label
        return own is not PlantingLabeller.generate_datasets_with_label or bool(
            self.attacker_knowledge.draws_from_globals
        )

    def draw_labelled(self, address: Address) -> tuple[Dataset, np.ndarray]:
        """Private dataset and secrets; trials 2j and 2j+1 mirror each other if paired."""
        own = type(self).generate_datasets_with_label
        if own is not PlantingLabeller.generate_datasets_with_label:
            return super().draw_labelled(address)
        background = address.at(self._pair_of(address.index))
        dataset = self.attacker_knowledge.draw_dataset(background)
        # An attacker who knows the data exactly knows which rows leave: always the same.
        exact = self.attacker_knowledge.is_exact
        mirrored = self.generate_pairs and address.index % 2 == 1
        streams = PlantingStreams(background, address, same_rows_leave=exact)
        return self.planting.plant(dataset, rng=streams, mirrored=mirrored)

    def group_of(self, index: int) -> int:
        """Both trials of a pair are one group, unless they share nothing that is drawn.

        Where the private data is the same in all trials, and no other target's secret is drawn,
        the two have their secrets in common only, which are given: they are independent.
        """
        knowledge = self.attacker_knowledge
        constant = knowledge.is_exact and not knowledge.draws_from_globals
        return index if constant and self.planting.num_targets == 1 else self._pair_of(index)

    def _pair_of(self, index: int) -> int:
        return index // 2 if self.generate_pairs else index

    def generate_datasets_with_label(
        self, num_samples: int, training: bool = True
    ) -> tuple[list[Dataset], list[object]]:
        """Draw exactly `num_samples` datasets with their labels."""
        first = Address(integer_seed(ambient_rng()), "train" if training else "test", 0)
        drawn = [self.draw_labelled(first.at(index)) for index in range(num_samples)]
        several = self.planting.num_targets > 1
        labels = [list(secrets) if several else secrets[0] for _, secrets in drawn]
        return [dataset for dataset, _ in drawn], labels

    @property
    def label(self) -> str:
        """Display name: that of the data knowledge."""
        return self.attacker_knowledge.label

    def identifiers(self, dataset: Dataset) -> TabularDataset | None:
        """The private records as the attacker knows them, where they are known; unlabelled."""
        if not self.attacker_knowledge.shows_identifiers or not isinstance(dataset, TabularDataset):
            return None
        return masked(dataset, self.goal).unlabelled()


class MIALabeller(PlantingLabeller):
    """Private datasets with, or without, each target.

    Parameters
    ----------
    attacker_knowledge : AttackerKnowledgeOnData
    target_records : Dataset
    generate_pairs : bool
        Whether trials come in pairs on the same background with opposite memberships.
    replace_target : bool
        Whether a target that enters takes the place of another row.
    """

    def __init__(
        self,
        attacker_knowledge: AttackerKnowledgeOnData,
        target_records: TargetsLike,
        generate_pairs: bool = True,
        replace_target: bool = False,
    ) -> None:
        if attacker_knowledge.shows_identifiers:
            raise ThreatModelError(
                "QuasiIdentifierKnowledge tells which records are private, so it is for attribute "
                "inference: use TargetedAIA, or AuxiliaryDataKnowledge"
            )
        self.target_records = parsed_targets(target_records)
        self.replace_target = replace_target
        self.relation = "replace" if replace_target else "add/remove"
        planting = MembershipPlanting(self.target_records, replace_target)
        super().__init__(attacker_knowledge, planting, pairs=generate_pairs)


class AIALabeller(PlantingLabeller):
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
        target_records: TargetsLike,
        sensitive_attribute: str,
        attribute_values: Sequence[Value],
        distribution: Sequence[float] | None = None,
    ) -> None:
        targets = table_of_targets(target_records)
        self.target_records = targets
        self.sensitive_attribute = sensitive_attribute
        self.attribute_values = attribute_values
        self.distribution = distribution
        planting = AttributePlanting(
            targets,
            sensitive_attribute,
            tuple(attribute_values),
            None if distribution is None else tuple(distribution),
        )
        super().__init__(attacker_knowledge, planting, pairs=False)
