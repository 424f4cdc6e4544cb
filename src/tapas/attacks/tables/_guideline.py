"""Singling out, linking and inferring: the three risks of the European guideline, as attacks.

Each asks of a record whether the release lets a stranger succeed. What succeeds against records
that were not used is what anybody could have guessed, so that only the excess over them counts.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tapas._validate import check_count, listing
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._column_cells import ColumnCells, column_sets, count_equal
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.attacks.tables._numeric_parts import NumericParts
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, SchemaError
from tapas.game import Briefing, Kind, Release

__all__ = ["InferenceAttack", "LinkabilityAttack", "SinglingOutAttack"]

NEAR = 0.05  # of the range: a number this near counts as guessed


class InferenceAttack(TrainableThresholdAttack):
    """Whether what is unknown of a record can be read off the released record nearest to it.

    Idea
        Take the released record that agrees best with what is known of somebody, and guess the
        rest from it. How often this is right for records that were not used is what the
        population allows; only the excess over it is a leak.
    Needs
        One release.
    Score
        1 where the secret is guessed right, else 0; without a secret, the share of all columns
        guessed right, those of one half (every second column) from the other half. A number is
        right within 5 % of its range in the release. Its rate against the private table is the
        true positive rate, against the holdout the false positive rate; their difference, the
        advantage, is the excess.
    Reference
        Article 29 Working Party (2014), opinion 05/2014; Giomi et al. (2023), "A unified
        framework for quantifying privacy risk in synthetic data", PoPETs.

    Parameters
    ----------
    secret : str, optional
        The column that is guessed.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("secret",)

    def __init__(
        self,
        secret: str | None = None,
        criterion: CriterionLike = ("threshold", 0.5),
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.secret = secret
        self._label = label or f"Inference({'all columns' if secret is None else secret})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Share of what was to be guessed that is right, for each target."""
        targets, synthetic = table_briefing(briefing).targets, release.table
        if len(synthetic) == 0:
            return np.zeros(len(targets))
        columns = list(synthetic.description.columns)
        first, second = _halves(columns)
        if self.secret is not None:
            _check_columns([self.secret], columns, self.label)
            first, second = [name for name in columns if name != self.secret], []
        right = [_guessed(targets, synthetic, first)]
        if second:
            right.append(_guessed(targets, synthetic, second))
        return np.concatenate(right).mean(axis=0)


class LinkabilityAttack(TrainableThresholdAttack):
    """Whether two parts of a record lead to the same released records.

    Idea
        Somebody holds two tables with different columns of the same people. Where the released
        records nearest to a part of the one are also nearest to a part of the other, the release
        links them.
    Needs
        One release of at least two columns.
    Score
        1 where a released record is among the nearest of both parts, else 0. As for
        `InferenceAttack`, the excess over records that were not used is the advantage.
    Reference
        As for `InferenceAttack`.

    Parameters
    ----------
    columns : pair of sequences of str, optional
        The two parts; every second column by default.
    neighbours : int
        How many released records of each part are compared.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("columns", "neighbours")

    def __init__(
        self,
        columns: Sequence[Sequence[str]] | None = None,
        neighbours: int = 1,
        criterion: CriterionLike = ("threshold", 0.5),
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        if columns is not None and (len(columns) != 2 or not all(columns)):
            raise ConfigError(f"columns must be two lists of columns, got {columns!r}")
        self.columns = None if columns is None else tuple(tuple(part) for part in columns)
        self.neighbours = check_count(neighbours, "neighbours", minimum=1)
        self._label = label or "Linkability"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Whether both parts of each target lead to one released record."""
        targets, synthetic = table_briefing(briefing).targets, release.table
        names = list(synthetic.description.columns)
        parts = _halves(names) if self.columns is None else self.columns
        _check_columns([name for part in parts for name in part], names, self.label)
        if len(synthetic) == 0 or not all(parts):
            return np.zeros(len(targets))
        one, other = (_nearest(targets, synthetic, part, self.neighbours) for part in parts)
        return (one[:, :, None] == other[:, None, :]).any(axis=(1, 2)).astype(float)


class SinglingOutAttack(TrainableThresholdAttack):
    """Whether combinations of values that only the release has point at a record.

    Idea
        A combination of values that a released record has, and that nobody in the reference has,
        was taken from somebody. Records that have it are singled out.
    Needs
        One release; reference data is used where there is some. Known records or training trials
        unless the threshold is given.
    Score
        Share of the tried sets of columns on which the record has such a combination, numbers
        falling into ten bins of equal size. As for `InferenceAttack`, the excess over records
        that were not used is the advantage.
    Reference
        As for `InferenceAttack`.

    Parameters
    ----------
    predicates : int
        How many sets of columns are tried.
    order : int, optional
        Columns in each; half of them by default.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("predicates", "order")

    def __init__(
        self,
        predicates: int = 50,
        order: int | None = None,
        criterion: CriterionLike = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.predicates = check_count(predicates, "predicates", minimum=1)
        self.order = None if order is None else check_count(order, "order", minimum=1)
        self._label = label or "SinglingOut"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Share of sets of columns that single each target out."""
        about, synthetic = table_briefing(briefing), release.table
        held = about.auxiliary if isinstance(about.auxiliary, TabularDataset) else synthetic.empty()
        if len(synthetic) == 0:
            return np.zeros(about.num_targets)
        cells = ColumnCells((synthetic, held, about.targets))
        order = self.order or (cells.columns + 1) // 2
        sets = column_sets(cells.columns, order, self.predicates)
        found = np.zeros(about.num_targets)
        for columns in sets:
            mine, others, asked = cells.keys(columns)
            found += (count_equal(asked, mine) > 0) & (count_equal(asked, others) == 0)
        return found / len(sets)


def _halves(columns: Sequence[str]) -> tuple[list[str], list[str]]:
    return list(columns[::2]), list(columns[1::2])


def _check_columns(wanted: Sequence[str], columns: Sequence[str], label: str) -> None:
    unknown = [name for name in wanted if name not in columns]
    if unknown:
        raise SchemaError(
            f"{label}: there is no column {listing(unknown)}; the columns are {listing(columns)}"
        )


def _nearest(
    targets: TabularDataset, synthetic: TabularDataset, columns: Sequence[str], number: int
) -> np.ndarray:
    """Positions of the released records nearest by some columns."""
    released = synthetic.view(list(columns))
    return MixedSpace.of(released).nearest(targets.view(list(columns)), released, number)[1]


def _guessed(
    targets: TabularDataset, synthetic: TabularDataset, known: Sequence[str]
) -> np.ndarray:
    """Whether each other column of the released record nearest by `known` is right, and which."""
    others = [name for name in synthetic.description.columns if name not in known]
    if not others or not known:
        return np.zeros((1, len(targets)))
    rows = _nearest(targets, synthetic, known, 1)[:, 0]
    asked, released = (NumericParts.of(table.view(others)) for table in (targets, synthetic))
    near = NEAR * released.ranges()[:, None]
    guesses = released.numbers[:, rows]
    equal = np.isnan(asked.numbers) & np.isnan(guesses)
    right = (np.abs(asked.numbers - guesses) <= near) | equal
    return np.concatenate([right, asked.categories == released.categories[:, rows]])
