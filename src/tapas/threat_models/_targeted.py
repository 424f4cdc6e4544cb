"""Attacks on chosen records: are they in the data, and what is their secret attribute?"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Self

from tapas._validate import listing
from tapas.datasets import Dataset, TabularDataset, TabularRecord
from tapas.engine import Progress
from tapas.errors import TapasWarning, TargetInDataWarning, ThreatModelError
from tapas.game import Value
from tapas.threat_models._data_knowledge import AttackerKnowledgeOnData
from tapas.threat_models._label_inference import LabelInferenceThreatModel
from tapas.threat_models._labellers import (
    AIALabeller,
    MIALabeller,
    PlantingLabeller,
    TargetsLike,
)
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._targeted_game import TargetedGame

TARGETS_COMPARED_AT_ONCE = 64


class TargetedThreatModel(LabelInferenceThreatModel):
    """A threat model about given records; views of several targets share their trials."""

    atk_know_data: PlantingLabeller

    def __init__(
        self,
        labeller: PlantingLabeller,
        mechanism: AttackerKnowledgeOnGenerator,
        memorise_datasets: bool,
        iterator_tracker: Callable[..., Progress] | None,
        num_concurrent: int,
        seed: int | None,
        n_jobs: int | None,
        executor: Executor | None,
    ) -> None:
        super().__init__(
            labeller,
            mechanism,
            memorise_datasets=memorise_datasets,
            iterator_tracker=iterator_tracker,
            num_labels=labeller.planting.num_targets,
            num_concurrent=num_concurrent,
            seed=seed,
            n_jobs=n_jobs,
            executor=executor,
        )
        self._check_data()

    @property
    def _target_records(self) -> list[Dataset]:
        return list(self.atk_know_data.target_records)

    @property
    def target_record(self) -> TabularRecord | Dataset:
        """The target that this threat model, or this view of it, is about."""
        targets = self.atk_know_data.target_records
        if isinstance(targets, TabularDataset):
            return TabularRecord.from_dataset(targets.take([self.current_label]))
        return targets.get_records([self.current_label])

    def _check_data(self) -> None:
        """The targets must fit the data, and should not be in it."""
        data = self.atk_know_data.attacker_knowledge._get_data()
        targets = self.atk_know_data.target_records
        if not isinstance(data, TabularDataset) or not isinstance(targets, TabularDataset):
            return
        if data.description != targets.description:
            raise ThreatModelError(
                f"the targets and the data {data.label!r} have different descriptions: take the "
                f"targets from that data, or describe both alike"
            )
        present = _present(targets, data)
        if present:
            warnings.warn(
                f"targets {listing(present)} are also in the data that trials draw from, so "
                f"they may be in it when they should not be: take them out first "
                f"(dataset.drop_records)",
                TargetInDataWarning,
                stacklevel=4,
            )


class TargetedMIA(TargetedThreatModel):
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
        target_record: TargetsLike,
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
            memorise_datasets,
            iterator_tracker,
            num_concurrent,
            seed,
            n_jobs,
            executor,
        )
        self._warn_of_size(replace_target)

    def _warn_of_size(self, replace_target: bool) -> None:
        if self.atk_know_gen.num_synthetic_records is None and not replace_target:
            warnings.warn(
                "num_synthetic_records is None and targets are added: the size of a release may "
                "tell whether the target is in. Give the number of records, or use "
                "replace_target=True.",
                TapasWarning,
                stacklevel=3,
            )


class CanaryMIA(TargetedMIA):
    """Membership of many targets at once, in one run of the mechanism or a few.

    Each target is in the data or not by a fair coin of its own, in every run. All are judged
    together: the guesses about them certify an epsilon from as little as one run.

    Parameters
    ----------
    attacker_knowledge_data : AttackerKnowledgeOnData
    target_record : TabularDataset
        The canaries: records made to stand out, or real ones.
    attacker_knowledge_generator : AttackerKnowledgeOnGenerator
    replace_target : bool
        Whether targets that enter take the places of other rows.
    memorise_datasets, iterator_tracker, num_concurrent, seed, n_jobs, executor
        See `LabelInferenceThreatModel`.
    """

    def __init__(
        self,
        attacker_knowledge_data: AttackerKnowledgeOnData,
        target_record: TargetsLike,
        attacker_knowledge_generator: AttackerKnowledgeOnGenerator,
        replace_target: bool = False,
        memorise_datasets: bool = True,
        iterator_tracker: Callable[..., Progress] | None = None,
        num_concurrent: int = 1,
        *,
        seed: int | None = None,
        n_jobs: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(
            attacker_knowledge_data,
            target_record,
            attacker_knowledge_generator,
            False,
            replace_target,
            memorise_datasets,
            iterator_tracker,
            num_concurrent,
            seed=seed,
            n_jobs=n_jobs,
            executor=executor,
        )

    @property
    def game(self) -> TargetedGame:
        """What is played: all targets are judged together."""
        return replace(super().game, judges_together=True)

    @property
    def _targets(self) -> slice:
        return slice(None)

    def __iter__(self) -> Iterator[Self]:
        """One view of all targets."""
        yield self


class TargetedAIA(TargetedThreatModel):
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
        target_record: TargetsLike,
        sensitive_attribute: str,
        attribute_values: Sequence[Value],
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
            memorise_datasets,
            iterator_tracker,
            num_concurrent,
            seed,
            n_jobs,
            executor,
        )
        self.sensitive_attribute = sensitive_attribute
        self.attribute_values = attribute_values
        self.distribution = distribution


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
