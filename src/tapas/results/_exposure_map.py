"""How exposed every record of a private table is, by an attack that others trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tapas.errors import ConfigError
from tapas.metrics import column_aucs
from tapas.results._storage import as_plain_list
from tapas.stats import column_auc_errors, column_auc_limits, holm, rank_sum_p_values

__all__ = ["ExposureMap"]

EACH = 0.95  # confidence of the interval of a record
FEWEST = 3  # groups of releases with a record, and without it
COLUMNS = ("record", "auc", "error", "releases_with", "releases_without", "is_target", "p_value")


@dataclass(frozen=True, eq=False)
class ExposureMap:
    """The exposure of every record that takes part in some trials and not in others.

    Attributes
    ----------
    table : DataFrame
        Of each record its label, the AUC of the attack over releases with and without it, the
        standard error of that, how many releases these were, whether it is a target, and how likely
        chance ranks them as well (of a target it is not asked: results tell of those).
    total : int
        How many records the table has; more than there are rows where some were drawn.
    releases : int
        How many releases were looked at; 0 where that was not noted.
    replayed : int
        How many of these were made again, as they had not been kept.
    """

    table: pd.DataFrame
    total: int
    releases: int = 0
    replayed: int = 0

    @classmethod
    def measured(
        cls,
        labels: Sequence[object],
        scores: np.ndarray,
        members: np.ndarray,
        groups: np.ndarray,
        *,
        is_target: bool = False,
    ) -> "ExposureMap":
        """The map of some records from scores and memberships, (releases, records).

        Releases of a group share their background. Records that are in, or out of, fewer than
        three groups are left out.
        """
        scores = scores.astype(float)
        with_, without = _groups_of(members, groups), _groups_of(~members, groups)
        table = pd.DataFrame(
            {
                "record": [str(label) for label in labels],
                "auc": np.round(column_aucs(scores, members), 4),
                "error": np.round(column_auc_errors(scores, members, groups), 4),
                "releases_with": members.sum(axis=0),
                "releases_without": (~members).sum(axis=0),
                "is_target": is_target,
                "p_value": 1.0 if is_target else _chance_of_ranks(scores, members, groups),
            }
        )
        return cls(table[np.minimum(with_, without) >= FEWEST].reset_index(drop=True), len(table))

    def joined(self, *others: "ExposureMap") -> "ExposureMap":
        """One map of these records and of others."""
        every = (self, *others)
        table = pd.concat([one.table for one in every if len(one)], ignore_index=True)
        return ExposureMap(table, sum(one.total for one in every))

    @property
    def covers(self) -> dict[str, int]:
        """How many records of how many, from how many releases."""
        return {
            "records": len(self),
            "of": self.total,
            "releases": self.releases,
            "played_again": self.replayed,
        }

    def __len__(self) -> int:
        return len(self.table)

    # -- what it says ------------------------------------------------------------------------

    @property
    def mean(self) -> float:
        """Mean AUC over records."""
        return float(self.table["auc"].mean())

    @cached_property
    def spread(self) -> float:
        """How far records lie apart (standard deviation) beyond what chance puts between them."""
        beyond = (self.table["auc"] - self.mean) ** 2 - self.table["error"] ** 2
        return float(np.sqrt(max(0.0, beyond.mean())))

    @cached_property
    def ranked(self) -> pd.DataFrame:
        """All records, most exposed first: an AUC below one half tells as much as one above.

        ``expected`` is the AUC to expect of a record in further trials: the one measured, drawn
        towards the mean by as much as chance had part in it. ``low`` and ``high`` are the ends of
        the interval of each AUC by itself, of 95 % confidence.
        """
        area, error = self.table["auc"], self.table["error"]
        each = 1 / self.table["releases_with"] + 1 / self.table["releases_without"]
        # What chance does at the mean: at the ends errors look small, and would flatter.
        chance = (error**2).mean() * each / each.mean()
        kept = self.spread**2 / (self.spread**2 + chance) if self.spread else 0.0
        low, high = self._limits(EACH)
        found = self.table.assign(
            expected=np.round(self.mean + kept * (area - self.mean), 4),
            low=np.round(low, 4),
            high=np.round(high, 4),
            by_expected=lambda table: either_way(table["expected"]),
            by_auc=either_way(area),
        )
        by = ["by_expected", "by_auc", "record"]
        found = found.sort_values(by, ascending=[False, False, True], ignore_index=True)
        return found[["record", "expected", "auc", "low", "high", *COLUMNS[3:-1]]]

    def exposed(self, confidence: float = EACH) -> list[str]:
        """The records that are told for certain though they are no targets, most exposed first.

        With that confidence about all records of the map together (Holm).
        """
        certain = holm(self.table["p_value"].to_numpy()) <= 1 - confidence
        named = set(self.table["record"][certain])
        return [record for record in self.ranked["record"] if record in named]

    def _limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        counts = ("auc", "error", "releases_with", "releases_without")
        each = (self.table[name].to_numpy() for name in counts)
        return column_auc_limits(*each, confidence=confidence)

    def words(self, subject: str) -> str:
        """What came out, in a sentence or two."""
        ranked = self.ranked
        apart = int(((ranked["low"] > 0.5) | (ranked["high"] < 0.5)).sum())
        drawn = f"{len(self):,}" if len(self) == self.total else f"{len(self):,} of {self.total:,}"
        turned = " (or as far below 0.5, which tells as much)" * bool((ranked["high"] < 0.5).any())
        far = either_way(ranked["expected"]).quantile(0.9)
        return (
            f"Every record ({drawn}) of {subject}, judged by what releases about the targets "
            f"taught{self._releases_words()}: mean AUC over records {self.mean:.2f}; of "
            f"{apart:,} records the interval excludes 0.5, as chance alone would show of "
            f"{(1 - EACH) * len(self):,.0f}. Without chance, records lie {self.spread:.3f} apart "
            f"(standard deviation): one in ten is expected above {far:.2f}{turned}."
        )

    def _releases_words(self) -> str:
        if not self.releases:
            return ""
        again = f", {self.replayed:,} of them made again" if self.replayed else ""
        return f", in {self.releases:,} releases{again}"

    # -- on disk -----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The map as plain values."""
        columns = {name: as_plain_list(self.table[name].tolist()) for name in COLUMNS}
        return {
            "total": self.total,
            "releases": self.releases,
            "replayed": self.replayed,
            "columns": columns,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ExposureMap":
        """The map that plain values tell of."""
        columns = content["columns"]
        columns = {"p_value": [1.0] * len(columns.get("record", ())), **columns}  # of before
        if set(columns) != set(COLUMNS):
            raise ConfigError(f"an exposure map has the columns {', '.join(COLUMNS)}")
        return cls(
            pd.DataFrame({name: columns[name] for name in COLUMNS}),
            int(content["total"]),
            int(content.get("releases", 0)),
            int(content.get("replayed", 0)),
        )


def either_way(areas: pd.Series) -> pd.Series:
    """AUCs as they are the way round that tells more."""
    return np.maximum(areas, 1 - areas)


def _chance_of_ranks(scores: np.ndarray, members: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """P-values of the ranks of groups of trials, of which a record is in all or none.

    Equal scores stand in the order of groups, about which membership knows nothing. Without ties
    the normal approximation errs on the safe side far out.
    """
    names, place = np.unique(groups, return_inverse=True)
    shape = len(names), scores.shape[1]
    totals, inside = np.zeros(shape), np.zeros(shape, dtype=bool)
    np.add.at(totals, place, scores)
    np.logical_or.at(inside, place, members)
    order = np.argsort(totals / np.bincount(place)[:, None], axis=0, kind="stable")
    return rank_sum_p_values(np.argsort(order, axis=0).astype(float), inside)


def _groups_of(members: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """In how many groups of releases each record is."""
    return sum(
        (members[groups == group].any(axis=0).astype(int) for group in np.unique(groups)),
        np.zeros(members.shape[1], dtype=int),
    )
