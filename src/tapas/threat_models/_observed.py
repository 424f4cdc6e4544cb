"""Membership inference where only files exist: one release, the private table, a holdout."""

import copy
import warnings
from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from tapas._random import resolve_seed, stream
from tapas._validate import check_probability
from tapas.datasets import TabularDataset
from tapas.engine import Workers
from tapas.errors import IncompatibleAttackError, TargetInDataWarning
from tapas.results import MIAttackSummary
from tapas.threat_models._label_inference import (
    LabelInferenceThreatModel,
    Observations,
    TrialPolicy,
)
from tapas.threat_models._ledger import Ledger
from tapas.threat_models._mechanism_knowledge import AttackerKnowledgeOnGenerator
from tapas.threat_models._observed_records import ObservedCounts, Side, choose_records
from tapas.threat_models._trials import Briefing, Release

SINGLE_RELEASE_ATTACKS = "ClosestDistanceMIA, LocalNeighboursWithReference or DOMIAS"
LARGEST_CHUNK = 1 << 27  # pairs of a target and a released record

_OBSERVING = 1  # address of the stream that attacks draw from


class ObservedMIA(LabelInferenceThreatModel):
    """Membership inference in one release that exists already.

    Nothing is run: the release is the one trial, and every record that is judged is a target of
    it. The attacker may know some members and non-members, from which thresholds are learnt, and
    hold reference data.

    Members and non-members are treated alike in everything but their secret, so that a release
    that is independent of both leaves every attack at chance, also where the two tables differ in
    size. Both are cut to one size; records that occur on both sides, or again among the records
    that were cut off, are left out, because nobody could say whether they are members.

    Parameters
    ----------
    release : TabularDataset
        The synthetic table.
    members, non_members : TabularDataset
        The private table, and records of the same population that were not used.
    reference : TabularDataset, optional
        More records of the population that were not used, for attacks that compare with them.
        Without it, half of the known non-members serve. Rows that equal a judged or known record
        are left out of it.
    known_share : float
        Share of the records whose membership the attacker knows; they are never judged. With 0,
        only attacks with a fixed threshold apply, and there is no reference unless it is given.
    seed : int, optional
    label : str, optional
        Display name of the data; that of the members by default.

    Attributes
    ----------
    counts : ObservedCounts
        How many records were given, left out, known and judged.

    Warns
    -----
    TargetInDataWarning
        Where records are left out because they occur on both sides.
    """

    def __init__(
        self,
        release: TabularDataset,
        members: TabularDataset,
        non_members: TabularDataset,
        reference: TabularDataset | None = None,
        known_share: float = 0.5,
        seed: int | None = None,
        *,
        label: str | None = None,
    ) -> None:
        self.seed = resolve_seed(seed)
        self.known_share = check_probability(known_share, "known_share")
        self.data_label = members.label if label is None else label
        chosen = choose_records(
            release, members, non_members, reference, self.known_share, self.seed
        )
        self.counts: ObservedCounts = chosen.counts
        self._known: Side | None = chosen.known
        self._judged: Side = chosen.judged
        self._reference = chosen.reference
        self._observe_release(release)
        if self.counts.left_out:
            warnings.warn(self.counts.words(), TargetInDataWarning, stacklevel=2)

    def _observe_release(self, release: TabularDataset) -> None:
        self.release = release
        self.atk_know_gen = _ReleasedOnce(release)
        self.memorise_datasets, self.iterator_tracker = True, None
        self.num_labels, self.num_concurrent, self.current_label = 1, 1, 0
        self.multiple_label_mode = False
        self.workers = Workers(1)
        self.policy = TrialPolicy()
        self._ledger = Ledger()
        self._seen: dict[tuple[Hashable, bool], np.ndarray] = {}

    def with_release(self, release: TabularDataset) -> "ObservedMIA":
        """The same game about another release, such as a control: same records, same secrets."""
        self.release._check_same_description(release)
        twin = copy.copy(self)
        twin._observe_release(release)
        return twin

    # -- what the attacker holds -------------------------------------------------------------

    def briefing(self, *, all_targets: bool = False, known: bool = False) -> Briefing:
        """What an attack is told about the judged records, or about the known ones."""
        side = self._require_known() if known else self._judged
        return self._briefing(side.records)

    def _briefing(self, targets: TabularDataset) -> Briefing:
        return Briefing(goal="membership", targets=targets, auxiliary=self._reference)

    def _require_known(self, label: str = "the attack") -> Side:
        if self._known is None:
            raise IncompatibleAttackError(
                f"{label} learns from records whose membership is known, and known_share="
                f"{self.known_share:g} leaves none: raise it, or use criterion "
                f"('threshold', value)"
            )
        return self._known

    # -- observing ---------------------------------------------------------------------------

    def check(self, attack: Any) -> None:
        """Refuse an attack that one release cannot feed, and say which would fit."""
        label = getattr(attack, "label", type(attack).__name__)
        if not getattr(attack, "uses_observations", False) or hasattr(attack, "needs"):
            self._refuse(label)
        criterion = getattr(attack, "criterion", None)
        if criterion is None or criterion.kind != "threshold":
            self._require_known(label)
        # One look at two records tells what an attack needs, at no cost.
        few = self._briefing(self._judged.records.take([0, 1]))
        rows = self.release.take(range(min(2, len(self.release))))
        self._checked(attack, attack.observe(Release(rows), few, rng=stream(self.seed)), 2)

    def observe(
        self,
        attack: Any,
        num_samples: int | None = None,
        *,
        training: bool = True,
        ignore_memory: bool = False,
    ) -> Observations:
        """Let an attack observe the release: about the known records in training, else the judged.

        Values have shape (1, records, ...). Targets go in chunks, so that memory does not grow
        with the product of the tables; `num_samples` has no meaning here.
        """
        side = self._require_known(attack.label) if training else self._judged
        key = (attack.observation_key, training)
        if key not in self._seen or ignore_memory:
            self._seen[key] = self._observed(attack, side, training)
        return Observations(self._seen[key][None], side.members[None], np.zeros(1, dtype=int))

    def _observed(self, attack: Any, side: Side, training: bool) -> np.ndarray:
        records, release = side.records, Release(self.release)
        step = max(1, LARGEST_CHUNK // max(1, len(self.release)))
        parts = []
        for start in range(0, len(records), step):
            some = records.take(range(start, min(start + step, len(records))))
            # Every chunk draws alike: what is seen of a record does not depend on its chunk.
            rng = stream(self.seed, _OBSERVING, int(training))
            values = attack.observe(release, self._briefing(some), rng=rng)
            parts.append(self._checked(attack, values, len(some)))
        return np.concatenate(parts)

    def _checked(self, attack: Any, values: Any, targets: int) -> np.ndarray:
        found = np.asarray(values)
        if found.ndim == 0 or len(found) != targets:
            self._refuse(attack.label)
        return found

    def play(self, attacks: Sequence[Any], num_samples: int, *, training: bool = True) -> None:
        """Nothing is played: the release exists."""

    def draw_trial(self, phase: Any, index: int) -> NoReturn:
        """There are no further trials."""
        self._refuse("a trial")

    def generate_training_samples(
        self, num_samples: int | None = None, ignore_memory: bool = False
    ) -> NoReturn:
        """There are no further releases."""
        self._refuse("the attack")

    def _refuse(self, label: str) -> NoReturn:
        raise IncompatibleAttackError(
            f"{label} needs many releases, and there is only the observed one: use "
            f"{SINGLE_RELEASE_ATTACKS}"
        )

    # -- judging -----------------------------------------------------------------------------

    def test(
        self, attack: Any, num_samples: int | None = None, ignore_memory: bool = False
    ) -> MIAttackSummary:
        """Attack the release.

        Returns
        -------
        MIAttackSummary
            One entry per judged record, in the order of `judged_records`. All are of one group:
            they share the release, so that no epsilon can be certified from them.
        """
        if not getattr(attack, "uses_observations", False):
            self._refuse(getattr(attack, "label", type(attack).__name__))
        observed = self.observe(attack, training=False, ignore_memory=ignore_memory)
        scores = np.asarray(attack.score(observed.values))
        decisions = np.asarray(attack.decide(scores))
        return MIAttackSummary(
            observed.secrets[0],
            decisions[0],
            scores[0],
            generator_info=self.release.label,
            attack_info=attack.label,
            dataset_info=self.data_label,
            target_id="all",
            groups=np.zeros(len(self._judged.records), dtype=int),
        )

    def judged_records(self) -> pd.DataFrame:
        """Who is judged: one row per entry of a summary, for slices and exposure tables.

        Columns: ``source`` ("members" or "non_members") and ``row`` (position there).
        """
        return pd.DataFrame(
            {
                "source": np.where(self._judged.members, "members", "non_members"),
                "row": self._judged.rows,
            }
        )


class _ReleasedOnce(AttackerKnowledgeOnGenerator):
    """A mechanism that was run once, by somebody else."""

    def __init__(self, release: TabularDataset) -> None:
        self._label = release.label

    def generate(self, training_dataset: Any, training_mode: bool = True) -> NoReturn:
        """The mechanism cannot be run."""
        raise IncompatibleAttackError("the mechanism cannot be run: only its release was observed")
