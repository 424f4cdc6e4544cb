"""The attack that weighs the marginals which the generator is known to keep, one by one."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._shared_discriminant import SharedScorer, learn_shared
from tapas.attacks.tables._known_cells import known_cells, places_of
from tapas.attacks.tables._marginals import counts_at, shares_of
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Briefing, Needs, Release, Samples, ValueObserver

__all__ = ["KeptMarginalsAttack"]

RIDGE = 0.3


@dataclass(frozen=True, eq=False)
class KeptMarginalsObserver(ValueObserver):
    """Looks at each target's cell of every marginal.

    Attributes
    ----------
    kept : dict
        How often each marginal, a tuple of columns, is kept.
    """

    kept: Mapping[tuple[int, ...], float]

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        about = table_briefing(briefing)
        known = known_cells(about.reference("KeptMarginalsAttack"))
        released, targets = (known.coded(one.table) for one in (release.table, about.targets))
        found = np.empty((about.num_targets, len(self.kept)), dtype=np.float32)
        for number, (columns, often) in enumerate(self.kept.items()):
            asked = places_of(targets, columns, known.sizes)
            counts = counts_at(places_of(released, columns, known.sizes), asked)
            found[:, number] = np.sqrt(often) * np.log(shares_of(counts, released.shape[1]))
        return found


class KeptMarginalsAttack(Attack):
    """What the marginals that a generator keeps say of the target, with weights that all share.

    Idea
        As `MarginalsAttack` with a generator; but which marginals tell most is learnt from
        training trials.
    Needs
        Auxiliary data, training trials, and a generator that is known to choose marginals.
    Score
        ``sum over marginals M of w_M log p_released(M)`` at the target's cells, numbers in ten
        bins, beside its mean in training releases without the target. M is what the generator
        keeps when it is fitted to known records, and what is left of that without one of its
        columns; w is one ridge discriminant of all targets, to which what is rarely kept matters
        less.
    Reference
        Our own; the choice of marginals is that of Golob et al. (2024), arXiv:2410.05506.
    """

    pools_targets: ClassVar[bool] = True
    _label = "KeptMarginals"

    @property
    def needs(self) -> Needs:
        """Tables, known records, and the same targets in several training releases."""
        return Needs(goals=("membership",), repeated=True, auxiliary=True)

    def observer(self, briefing: Briefing, samples: Samples) -> KeptMarginalsObserver:
        """Find out which marginals the generator keeps."""
        about = table_briefing(briefing)
        if about.selection is None:
            raise IncompatibleAttackError(
                f"{self.label} asks which marginals the generator keeps, and it is not known to "
                f"keep any: use MarginalsAttack"
            )
        kept = about.selection.kept_marginals(about.reference(self.label))
        return KeptMarginalsObserver(with_parts(kept))

    def fit(self, board: Board, *, rng: np.random.Generator) -> SharedScorer:
        """Learn shared weights."""
        return learn_shared(board, RIDGE)


def with_parts(kept: Mapping[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """Marginals, what is left of each without one column, and each of its columns alone."""
    found = dict(kept)
    for columns, often in kept.items():
        for size in {1, len(columns) - 1} - {0}:
            for part in combinations(columns, size):
                found[part] = max(often, found.get(part, 0.0))
    return dict(sorted(found.items()))
