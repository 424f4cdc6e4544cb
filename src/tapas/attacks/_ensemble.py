"""Several attacks as one: what each says, weighed by how well it told training trials."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks._shared_discriminant import SharedScorer, fold_of, learn_shared
from tapas.attacks.features._subset_attack import SubsetAttack
from tapas.attacks.tables._kept_marginals import KeptMarginalsAttack
from tapas.attacks.tables._marginals import MarginalsAttack
from tapas.attacks.tables._nearness import NearnessAttack
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.game import (
    Board,
    Briefing,
    Kind,
    Needs,
    Observer,
    Release,
    Samples,
    Scorer,
    TableBriefing,
    ValueObserver,
    scorer_about,
)

__all__ = ["EnsembleAttack"]

RIDGE = 1e-3
FAR = 1e6  # in place of an infinite score


@dataclass(frozen=True, eq=False)
class EnsembleObserver(ValueObserver):
    """What every member sees, side by side: one field for each.

    Attributes
    ----------
    observers : tuple of Observer
    """

    observers: tuple[Observer, ...]

    @property
    def key(self) -> str:
        """Those of the members."""
        return "+".join(["ensemble", *(observer.key for observer in self.observers)])

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        parts = [np.asarray(see(release, briefing, rng=rng)) for see in self.observers]
        fields = [(f"{n}", part.dtype, part.shape[1:]) for n, part in enumerate(parts)]
        seen = np.empty(briefing.num_targets, dtype=fields)
        for number, part in enumerate(parts):
            seen[f"{number}"] = part
        return seen


@dataclass(frozen=True, eq=False)
class EnsembleScorer:
    """The scores of all members, weighed.

    Attributes
    ----------
    members : tuple of Scorer
    stack : SharedScorer
        Weighs what they say.
    """

    members: tuple[Scorer, ...]
    stack: SharedScorer

    def of_targets(self, chosen: slice) -> "EnsembleScorer":
        """The scorer of some of the targets."""
        members = tuple(scorer_about(member, chosen) for member in self.members)
        return EnsembleScorer(members, self.stack.of_targets(chosen))

    def score(self, values: np.ndarray) -> np.ndarray:
        """Score of membership, of the second of two values, or of each value."""
        number = self.stack.reference.shape[1]
        said = [_each(one, values[f"{n}"], number) for n, one in enumerate(self.members)]
        return self.stack.score(np.stack(said, axis=-1))

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """As the stack does."""
        return self.stack.decide(scores)


class EnsembleAttack(Attack):
    """Several attacks as one, weighed by how well each tells training trials apart.

    Idea
        No attack is the strongest against every mechanism: counts of subsets win where
        mechanisms keep marginals, nearness where they keep to single records. Training trials
        show which to trust.
    Needs
        Training trials, and what its members need. It serves many targets of one pool of trials
        best.
    Score
        A ridge discriminant, shared by all targets, of the members' scores, each beside its mean
        in training releases without the target. It is learnt from scores of training releases
        that the members had not learnt from (cross-fitting).
    Reference
        Wolpert (1992), "Stacked generalization", Neural Networks 5.

    Parameters
    ----------
    attacks : sequence of Attack, optional
        Members. By default `SubsetAttack` and `NearnessAttack`; where membership is inferred by
        somebody who holds auxiliary data, `MarginalsAttack`; and where the generator is known to
        keep some marginals (`selected_columns()`), the log-shares of the target's cells in those
        that it keeps when it is fitted to known records, with weights that all targets share.
    label : str, optional
    """

    pools_targets: ClassVar[bool] = True

    def __init__(self, attacks: Sequence[Attack] | None = None, label: str | None = None) -> None:
        self.chosen = attacks is not None
        self.attacks = (SubsetAttack(), NearnessAttack()) if attacks is None else tuple(attacks)
        if not self.attacks or any(getattr(one, "writes_doors", True) for one in self.attacks):
            raise ConfigError(
                "an ensemble needs attacks that observe releases (observe and fit), at least one"
            )
        self._label = label or "Ensemble"

    @property
    def needs(self) -> Needs:
        """All that its members need."""
        needs = [attack.needs for attack in self.attacks]
        goals: tuple[Kind, ...] = ("membership", "attribute")
        for one in needs:
            goals = tuple(goal for goal in goals if not one.goals or goal in one.goals)
        return Needs(
            goals=goals,
            repeated=True,
            auxiliary=any(one.auxiliary for one in needs),
            mechanism=any(one.mechanism for one in needs),
        )

    def members(self, briefing: Briefing) -> tuple[Attack, ...]:
        """The attacks that are weighed, in a game of which this is told."""
        if self.chosen or not isinstance(briefing, TableBriefing):
            return self.attacks
        if briefing.goal.kind != "membership" or not isinstance(briefing.auxiliary, TabularDataset):
            return self.attacks
        told = () if briefing.selection is None else (KeptMarginalsAttack(),)
        return (*self.attacks, MarginalsAttack(), *told)

    def observer(self, briefing: Briefing, samples: Samples) -> EnsembleObserver:
        """What all members see."""
        members = self.members(briefing)
        return EnsembleObserver(tuple(one.observer(briefing, samples) for one in members))

    def fit(self, board: Board, *, rng: np.random.Generator) -> EnsembleScorer:
        """Let every member learn, and learn how far to trust each."""
        attacks = self.members(board.told)
        seeds = rng.integers(2**32, size=len(attacks)).tolist()
        members, rehearsed = [], []
        for number, (attack, seed) in enumerate(zip(attacks, seeds, strict=True)):
            part = replace(board, values=board.values[f"{number}"])
            members.append(_learnt(attack, part, np.random.default_rng(seed)))
            rehearsed.append(_rehearsed(attack, part, members[-1], seed))
        told = replace(board, values=np.stack(rehearsed, axis=-1).astype(float))
        return EnsembleScorer(tuple(members), learn_shared(told, RIDGE))


@dataclass(frozen=True, eq=False)
class OneByOne:
    """A scorer for each target, of an attack that does not pool them."""

    scorers: tuple[Scorer, ...]

    def of_targets(self, chosen: slice) -> "OneByOne":
        """The scorers of some of the targets."""
        return OneByOne(self.scorers[chosen])

    def score(self, values: np.ndarray) -> np.ndarray:
        """What each scorer says of its target."""
        each = enumerate(self.scorers)
        said = [np.asarray(one.score(values[:, place : place + 1])) for place, one in each]
        return np.concatenate(said, axis=1)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """What each scorer decides of its target."""
        each = enumerate(self.scorers)
        return np.concatenate([one.decide(scores[:, n : n + 1]) for n, one in each], axis=1)


def _learnt(attack: Attack, board: Board, rng: np.random.Generator) -> Scorer:
    if attack.pools_targets:
        return attack.fit(board, rng=rng)
    targets = (board.of_target(position) for position in range(board.num_targets))
    return OneByOne(tuple(attack.fit(target, rng=rng) for target in targets))


def _rehearsed(attack: Attack, board: Board, scorer: Scorer, seed: int) -> np.ndarray:
    """A member's scores of training releases that it had not learnt from."""
    if isinstance(scorer, SharedScorer):
        return scorer.rehearsed
    fold = fold_of(board.groups)
    found = _each(scorer, board.values, num_values(board)).copy()
    for one in np.unique(fold):
        learnt = _learnt(attack, board.of_releases(fold != one), np.random.default_rng(seed))
        values = board.of_releases(fold == one).values
        found[fold == one] = _each(learnt, values, num_values(board))
    return found


def num_values(board: Board) -> int:
    """How many values are scored: one in membership, all those of an attribute."""
    return 1 if board.goal.kind == "membership" else len(board.goal.values)


def _each(scorer: Scorer, values: np.ndarray, number: int) -> np.ndarray:
    """The score of every value, finite, (releases, targets, values)."""
    if isinstance(scorer, SharedScorer):
        return scorer.each(values)
    scores = np.nan_to_num(np.asarray(scorer.score(values), dtype=float), neginf=-FAR, posinf=FAR)
    if scores.ndim == 3:
        return scores
    return scores[..., None] if number == 1 else np.stack([-scores, scores], axis=-1)
