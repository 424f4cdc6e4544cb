"""Attacks by the marginals that a generator keeps: what the release says beside other records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._known_cells import known_cells, places_of
from tapas.errors import ConfigError
from tapas.game import Briefing, Kind, Release, Samples, ValueObserver
from tapas.generators import MarginalSelection, SelectsMarginals

__all__ = ["MarginalsAttack", "counts_at", "shares_of"]


@dataclass(frozen=True, eq=False)
class MarginalsObserver(ValueObserver):
    """Compares marginals of a release with those of other records, at the cells of each target.

    Attributes
    ----------
    weights : dict or None
        Weight of each marginal, a tuple of columns; None takes the tree of each release.
    logarithmic : bool
    """

    weights: Mapping[tuple[int, ...], float] | None
    logarithmic: bool

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        about = table_briefing(briefing)
        held = about.reference("MarginalsAttack")
        known = known_cells(held)
        released, targets = (known.coded(one.table) for one in (release.table, about.targets))
        sizes = known.sizes
        weights = tree_weights(released, sizes) if self.weights is None else self.weights
        found = np.zeros(about.num_targets)
        for columns, weight in weights.items():
            if weight == 0:
                continue
            asked = places_of(targets, columns, sizes)
            here = shares_of(
                counts_at(places_of(released, columns, sizes), asked), released.shape[1]
            )
            there = shares_of(known.counts_at(columns, asked), len(known.table))
            found += weight * (np.log(here / there) if self.logarithmic else here / there)
        return found


class MarginalsAttack(TrainableThresholdAttack):
    """What the marginals that a generator keeps say of the target, beside those of other records.

    Idea
        Generators that count (trees, networks) keep some marginals of the private data and no
        others. A member adds one to its own cell of each of these.
    Needs
        Auxiliary data; training trials unless the threshold is given. A generator of yours tells
        which marginals it kept by ``selected_columns()``, as `BayesianNetwork`, `MST` and
        `PrivBayes` do.
    Score
        ``sum over marginals M of w_M log(p_released(M) / p_known(M))`` at the target's cells,
        numbers in ten bins. With a `generator`, w_M is how often it keeps M when it is fitted to
        known records. Without, the marginals are those of the tree of greatest mutual information
        in the release itself, and the score is the log-likelihood ratio of that tree: pairs of
        columns count once, columns once less than they have neighbours.
    Reference
        Golob et al. (2024), "Privacy vulnerabilities in marginals-based synthetic data",
        arXiv:2410.05506 (MAMA-MIA); for the tree, Jimenez et al. (2025), "TAMIS: tailored
        membership inference attacks on synthetic data", arXiv:2504.00758.

    Parameters
    ----------
    generator : Generator, optional
        The one that is attacked.
    fits : int
        How often it is fitted to find what it keeps.
    logarithmic : bool
        Whether ratios are added as logarithms; False adds them as they are, as published.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    needs_auxiliary: ClassVar[bool] = True

    def __init__(
        self,
        generator: SelectsMarginals | None = None,
        fits: int = 10,
        logarithmic: bool = True,
        criterion: CriterionLike = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        if generator is not None and not isinstance(generator, SelectsMarginals):
            raise ConfigError(
                f"generator must have fit and selected_columns(), as MST has; "
                f"{type(generator).__name__} has not: leave it out, and the tree of each release "
                f"is used"
            )
        self.generator = generator
        self.fits = check_count(fits, "fits", minimum=1)
        self.logarithmic = logarithmic
        self._label = label or f"Marginals({'tree' if generator is None else 'kept'})"

    def observer(self, briefing: Briefing, samples: Samples) -> MarginalsObserver:
        """Find out which marginals the generator keeps."""
        if self.generator is None:
            return MarginalsObserver(None, self.logarithmic)
        held = table_briefing(briefing).reference(self.label)
        kept = MarginalSelection(self.generator).kept_marginals(held, self.fits)
        return MarginalsObserver(kept, self.logarithmic)


def tree_weights(codes: np.ndarray, sizes: Sequence[int]) -> dict[tuple[int, ...], float]:
    """The tree of greatest mutual information: its pairs, and its columns as often as too many."""
    edges = spanning_tree(mutual_information(codes, sizes))
    weights: dict[tuple[int, ...], float] = dict.fromkeys(edges, 1.0)
    for column in range(len(sizes)):
        weights[(column,)] = 1.0 - sum(column in edge for edge in edges)
    return weights


def mutual_information(codes: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Of every two columns, in nats."""
    found = np.zeros((len(sizes), len(sizes)))
    for one in range(len(sizes)):
        for other in range(one):
            wide, long = sizes[other], sizes[one]
            counts = np.bincount(codes[one] * wide + codes[other], minlength=long * wide)
            joint = counts.reshape(long, wide) / max(1, codes.shape[1])
            apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            met = joint > 0
            shares = joint[met]
            found[one, other] = (shares * np.log(shares / apart[met])).sum()
    return found + found.T


def spanning_tree(similarity: np.ndarray) -> list[tuple[int, int]]:
    """The tree over all columns whose edges have the greatest sum."""
    joined, edges = [0], []
    is_left = np.arange(len(similarity)) > 0
    while len(joined) < len(similarity):
        left = np.flatnonzero(is_left)
        block = similarity[joined][:, left]
        row, column = np.unravel_index(int(np.argmax(block)), block.shape)
        one, other = joined[row], int(left[column])
        edges.append((min(one, other), max(one, other)))
        joined.append(other)
        is_left[other] = False
    return edges


def counts_at(places: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """How many records are in each cell that is asked for."""
    ordered = np.sort(places)
    first, last = (np.searchsorted(ordered, asked, side=side) for side in ("left", "right"))
    return last - first


def shares_of(counts: np.ndarray, rows: int) -> np.ndarray:
    """Half a record more is never none."""
    return (counts + 0.5) / (rows + 0.5)
