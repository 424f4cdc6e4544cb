"""Attacks on chosen records: are they in the data, and what is their secret attribute?"""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from tapas._validate import listing
from tapas.datasets import TabularDataset, TabularRecord
from tapas.engine import Progress
from tapas.errors import TapasWarning, TargetInDataWarning, ThreatModelError
from tapas.results import AIAttackSummary, BinaryAIAttackSummary, MIAttackSummary
from tapas.threat_models._data_knowledge import AttackerKnowledgeOnData
from tapas.threat_models._label_inference import LabelInferenceThreatModel
from tapas.threat_models._labellers import AIALabeller, MIALabeller
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._trials import Briefing

TARGETS_COMPARED_AT_ONCE = 64


class _TargetedThreatModel(LabelInferenceThreatModel):
    """A threat model about given records; views of several targets share their trials."""

    atk_know_data: MIALabeller | AIALabeller

    @property
    def _target_records(self) -> list[TabularRecord]:
        return list(self.atk_know_data.target_records)

    @property
    def target_record(self) -> TabularRecord:
        """The target that this threat model, or this view of it, is about."""
        return TabularRecord.from_dataset(
            self.atk_know_data.target_records.take([self.current_label])
        )

    def _check_data(self) -> None:
        """The targets must fit the data, and should not be in it."""
        data = _known_data(self.atk_know_data.attacker_knowledge)
        targets = self.atk_know_data.target_records
        if data is not None and data.description != targets.description:
            raise ThreatModelError(
                f"the targets and the data {data.label!r} have different descriptions: take the "
                f"targets from that data, or describe both alike"
            )
        present = [] if data is None else _present(targets, data)
        if present:
            warnings.warn(
                f"targets {listing(present)} are also in the data that trials draw from, so "
                f"they may be in it when they should not be: take them out first "
                f"(dataset.drop_records)",
                TargetInDataWarning,
                stacklevel=3,
            )


class TargetedMIA(_TargetedThreatModel):
    """Membership inference: is the target record in the private data?

    Parameters
    ----------
    attacker_knowledge_data : AttackerKnowledgeOnData
    target_record : TabularRecord or TabularDataset
        One target, or several that are played in the same releases.
    attacker_knowledge_generator : AttackerKnowledgeOnGenerator
    generate_pairs : bool
        Whether trials come in pairs on the same background with opposite memberships.
    replace_target : bool
        Whether a target that enters takes the place of another row, so that the size of the
        private data is constant ("replace" neighbours), or is added ("add/remove" neighbours).
    memorise_datasets, iterator_tracker, num_concurrent, seed, n_jobs, executor
        See `LabelInferenceThreatModel`.

    Warns
    -----
    TargetInDataWarning
        Where a target is also present in the data that trials draw from.
    """

    def __init__(
        self,
        attacker_knowledge_data: AttackerKnowledgeOnData,
        target_record: TabularDataset,
        attacker_knowledge_generator: AttackerKnowledgeOnGenerator,
        generate_pairs: bool = True,
        replace_target: bool = False,
        memorise_datasets: bool = True,
        iterator_tracker: Callable[..., Progress] | None = None,
        num_concurrent: int = 1,
        *,
        seed: int | None = None,
        n_jobs: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        labeller = MIALabeller(
            attacker_knowledge_data, target_record, generate_pairs, replace_target
        )
        super().__init__(
            labeller,
            attacker_knowledge_generator,
            memorise_datasets=memorise_datasets,
            iterator_tracker=iterator_tracker,
            num_labels=len(labeller.target_records),
            num_concurrent=num_concurrent,
            seed=seed,
            n_jobs=n_jobs,
            executor=executor,
        )
        self._check_data()
        self._warn_of_size(replace_target)

    def _warn_of_size(self, replace_target: bool) -> None:
        unsized = getattr(self.atk_know_gen, "num_synthetic_records", 0) is None
        if unsized and not replace_target:
            warnings.warn(
                "num_synthetic_records is None and targets are added: the size of a release may "
                "tell whether the target is in. Give the number of records, or use "
                "replace_target=True.",
                TapasWarning,
                stacklevel=3,
            )

    def briefing(self, *, all_targets: bool = False) -> Briefing:
        """What an attack is told: about the current target, or about all of them."""
        knowledge = self.atk_know_data
        briefing = Briefing(
            goal="membership",
            targets=knowledge.target_records,
            auxiliary=getattr(knowledge.attacker_knowledge, "auxiliary", None),
        )
        return briefing if all_targets else briefing.only(self.current_label)

    def _summary(
        self,
        truth: np.ndarray,
        predictions: np.ndarray,
        scores: np.ndarray | None,
        attack: Any,
        groups: np.ndarray,
    ) -> MIAttackSummary:
        replaced = self.atk_know_data.replace_target  # type: ignore[union-attr]
        return MIAttackSummary(
            truth,
            predictions,
            scores,
            generator_info=self.atk_know_gen.label,
            attack_info=attack.label,
            dataset_info=self.atk_know_data.label,
            target_id=self.target_record.label,
            groups=groups,
            relation="replace" if replaced else "add/remove",
        )


class TargetedAIA(_TargetedThreatModel):
    """Attribute inference: which value does the target's sensitive attribute have?

    Parameters
    ----------
    attacker_knowledge_data : AttackerKnowledgeOnData
    target_record : TabularRecord or TabularDataset
    sensitive_attribute : str
    attribute_values : sequence
        Two or more values; with two, the second is the positive one.
    attacker_knowledge_generator : AttackerKnowledgeOnGenerator
    distribution : sequence of float, optional
        Probability of each value; uniform by default.
    memorise_datasets, iterator_tracker, num_concurrent, seed, n_jobs, executor
        See `LabelInferenceThreatModel`.
    """

    def __init__(
        self,
        attacker_knowledge_data: AttackerKnowledgeOnData,
        target_record: TabularDataset,
        sensitive_attribute: str,
        attribute_values: Sequence[Any],
        attacker_knowledge_generator: AttackerKnowledgeOnGenerator,
        distribution: Sequence[float] | None = None,
        memorise_datasets: bool = True,
        iterator_tracker: Callable[..., Progress] | None = None,
        num_concurrent: int = 1,
        *,
        seed: int | None = None,
        n_jobs: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        labeller = AIALabeller(
            attacker_knowledge_data,
            target_record,
            sensitive_attribute,
            attribute_values,
            distribution,
        )
        super().__init__(
            labeller,
            attacker_knowledge_generator,
            memorise_datasets=memorise_datasets,
            iterator_tracker=iterator_tracker,
            num_labels=len(labeller.target_records),
            num_concurrent=num_concurrent,
            seed=seed,
            n_jobs=n_jobs,
            executor=executor,
        )
        self.sensitive_attribute = sensitive_attribute
        self.attribute_values = attribute_values
        self.distribution = distribution
        self._check_data()

    def briefing(self, *, all_targets: bool = False) -> Briefing:
        """What an attack is told; the recorded value of the attribute is masked."""
        knowledge = self.atk_know_data
        masked = knowledge.target_records.table.with_value(self.sensitive_attribute, None)
        briefing = Briefing(
            goal="attribute",
            targets=TabularDataset.from_table(masked, knowledge.target_records.description),
            attribute=self.sensitive_attribute,
            attribute_values=tuple(self.attribute_values),
            auxiliary=getattr(knowledge.attacker_knowledge, "auxiliary", None),
        )
        return briefing if all_targets else briefing.only(self.current_label)

    def _summary(
        self,
        truth: np.ndarray,
        predictions: np.ndarray,
        scores: np.ndarray | None,
        attack: Any,
        groups: np.ndarray,
    ) -> AIAttackSummary | BinaryAIAttackSummary:
        about: dict[str, Any] = {
            "generator_info": self.atk_know_gen.label,
            "attack_info": attack.label,
            "dataset_info": self.atk_know_data.label,
            "target_id": self.target_record.label,
            "sensitive_attribute": self.sensitive_attribute,
            "groups": groups,
            "relation": "replace",
        }
        if len(self.attribute_values) == 2:
            return BinaryAIAttackSummary(
                truth, predictions, scores, positive_value=self.attribute_values[1], **about
            )
        return AIAttackSummary(
            truth, predictions, scores, attribute_values=self.attribute_values, **about
        )


def _known_data(knowledge: Any) -> TabularDataset | None:
    data = knowledge._get_data() if hasattr(knowledge, "_get_data") else None
    return data if isinstance(data, TabularDataset) else None


def _present(targets: TabularDataset, data: TabularDataset) -> list[str]:
    """Labels of the targets that are rows of the data."""
    found: list[str] = []
    if targets.description != data.description:
        return found
    for start in range(0, len(targets), TARGETS_COMPARED_AT_ONCE):
        some = targets.table.take(range(start, min(start + TARGETS_COMPARED_AT_ONCE, len(targets))))
        matched = (data.table.count_differences(some) == 0).any(axis=1)
        found += [str(label) for label in some.index[matched]]
    return found
