"""Reports of classification metrics: which generator, attack, dataset or target does worse."""

import logging
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from tapas._random import resolve_seed, stream
from tapas._validate import check_count, listing
from tapas.errors import ConfigError
from tapas.report._base import OutputNames, Report
from tapas.report._comparison_files import DIMENSIONS, write_comparisons
from tapas.report._panel_points import FEW_GROUPS, ends_of
from tapas.results import ALL_METRICS as _ALL
from tapas.results import DEFAULT_METRICS as _DEFAULT
from tapas.results import (
    FEWEST_GROUPS,
    MEASURES,
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    Dependence,
    LabelInferenceAttackSummary,
    Measure,
    MIAttackSummary,
    estimate,
    has_few_groups,
)

__all__ = [
    "ALL_METRICS",
    "DEFAULT_METRICS",
    "AIAttackReport",
    "BinaryAIAttackReport",
    "BinaryLabelAttackReport",
    "MIAttackReport",
]

_LOG = logging.getLogger(__name__)
_LEVEL = 0.95
_GAIN = "accuracy_gain"
_UNEVEN = 0.02

# Lists, because scripts add to them and slice them.
ALL_METRICS = list(_ALL)
DEFAULT_METRICS = list(_DEFAULT)
_COMPARISONS = (
    ("generator", ("dataset", "attack"), "target_id"),
    ("attack", ("dataset", "generator"), "target_id"),
    ("dataset", ("attack", "generator"), "target_id"),
    ("target_id", ("dataset", "attack"), "generator"),
    ("target_id", ("dataset", "generator"), "attack"),
    ("generator", ("dataset", "target_id"), "attack"),
)


class BinaryLabelAttackReport(Report):
    """Compare classification metrics of attacks across generators, attacks, datasets and targets.

    Parameters
    ----------
    summaries
        Summaries of attacks, or a data frame of their metrics (deprecated).
    metrics
        Names of the metrics to draw: columns of the summaries' tables, or any of
        `tapas.results.MEASURES`. None draws all that the tables have.
    num_bootstrap
        Number of bootstrap resamples per summary for 95 % intervals; None draws
        point estimates alone. Pairs and groups are drawn whole; records of one release
        one by one, so that their intervals describe that release.
    seed
        Seed of the resampling; None draws entropy.

    Attributes
    ----------
    attacks_data
        Data frame with one row of metrics per summary (per resample with
        `num_bootstrap`).
    metrics
        The metrics to draw; may be reassigned.
    point_estimates
        Data frame with one row per summary, whether or not it was resampled.
    """

    def __init__(
        self,
        summaries: Sequence[AttackSummary] | pd.DataFrame,
        metrics: Sequence[str] | str | None = None,
        num_bootstrap: int | None = None,
        *,
        seed: int | None = 0,
    ) -> None:
        self.num_bootstrap = (
            None if not num_bootstrap else check_count(num_bootstrap, "num_bootstrap", minimum=1)
        )
        self._seed = resolve_seed(seed)
        self._summaries = [] if isinstance(summaries, pd.DataFrame) else list(summaries)
        self.point_estimates = self._read(summaries)
        self.attacks_data = self.point_estimates
        if self.num_bootstrap is not None:
            self.attacks_data = self._resampled()
        known = [m.name for m in MEASURES if m.name in self.attacks_data.columns]
        if "accuracy" in known and any(_has(one, _GAIN) for one in self._summaries):
            # An accuracy says nothing without the best guess.
            known = list(dict.fromkeys(["accuracy", _GAIN, *known]))
        self.metrics = known if metrics is None else _names(metrics)
        self._check_metrics()
        self._outputs = OutputNames()

    def _read(self, summaries: Sequence[AttackSummary] | pd.DataFrame) -> pd.DataFrame:
        if isinstance(summaries, pd.DataFrame):
            if self.num_bootstrap is not None:
                raise ConfigError(
                    "num_bootstrap needs the outcomes of trials, but a data frame of metrics was "
                    "given; pass the summaries themselves"
                )
            warnings.warn(
                "a data frame of metrics will not be accepted for ever; pass the summaries",
                PendingDeprecationWarning,
                stacklevel=3,
            )
            return summaries.reset_index(drop=True)
        if not self._summaries:
            raise ConfigError("a report needs at least one summary, got none")
        return pd.concat([summary.get_metrics() for summary in self._summaries], ignore_index=True)

    def _resampled(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        frames = []
        replicates = self.num_bootstrap or 1
        for index, summary in enumerate(self._summaries):
            rng = stream(self._seed, index)
            if names is None:
                values = summary.resampled_metrics(replicates, rng=rng)
            else:
                chosen = [name for name in names if _has(summary, name)]
                values = summary.resampled_metrics(replicates, chosen, rng=rng) if chosen else {}
            about = {name: [word] * replicates for name, word in summary.described().items()}
            frames.append(pd.DataFrame(about | values, index=range(replicates)))
        return pd.concat(frames, ignore_index=True)

    def _add_measures(self, names: list[str]) -> None:
        """Add measures that tables of summaries do not show by themselves."""
        points = pd.DataFrame(
            [
                {m.name: m.point(s) for m in MEASURES if m.name in names and _has(s, m.name)}
                for s in self._summaries
            ],
            columns=names,
        )
        drawn = self.attacks_data
        self.point_estimates = self.point_estimates.assign(**points)
        self.attacks_data = self.point_estimates
        if self.num_bootstrap is not None:
            more = self._resampled(names).reindex(columns=names)
            self.attacks_data = drawn.assign(**more)

    def compare(
        self,
        comparison_column: str,
        fixed_pair_columns: Sequence[str],
        marker_column: str,
        filepath: str | Path,
    ) -> list[Path]:
        """Draw one figure for each pair of values of two columns.

        Parameters
        ----------
        comparison_column
            Column whose values are compared: the lines of each panel.
        fixed_pair_columns
            The two columns whose values are fixed in each figure.
        marker_column
            Column whose values get different markers.
        filepath
            Folder for the figures, made if needed.

        Returns
        -------
        list of Path
            The files written.
        """
        self._check_metrics()
        return write_comparisons(
            self.attacks_data,
            comparison_column,
            fixed_pair_columns,
            self.metrics,
            marker_column,
            filepath,
            points=self._with_ends() if self.num_bootstrap is not None else None,
            note=self._note(),
            fair=all(map(_is_fair, self._summaries)),
            outputs=self._outputs,
        )

    def _with_ends(self) -> pd.DataFrame:
        """Point estimates beside the ends that need no resampling."""
        ends: dict[str, list[float]] = {}
        for measure in MEASURES:
            if measure.name in self.metrics and measure.interval and not measure.is_epsilon:
                values = self.point_estimates[measure.name]
                found = [
                    _own_ends(summary, measure, value)
                    for summary, value in zip(self._summaries, values, strict=True)
                ]
                ends |= zip(ends_of(measure.name), map(list, zip(*found, strict=True)), strict=True)
        few = [_has_few_groups(summary) for summary in self._summaries]
        return self.point_estimates.assign(**ends, **{FEW_GROUPS: few})

    def _note(self) -> str:
        if self.num_bootstrap is None:
            return "Point estimates; without num_bootstrap no intervals are drawn."
        note = (
            "Bars: 95 % intervals, those of pages where a point is one result; else from "
            f"{self.num_bootstrap} resamples. They speak of these attacks, not of those that were "
            "not tried."
        )
        if "effective_epsilon" in self.metrics:
            note += " Effective epsilon is a point estimate and has none."
        if any(map(_has_few_groups, self._summaries)):
            note += (
                f" Where trials are in fewer than {FEWEST_GROUPS} groups there is no bar: "
                "so few do not show how much a value varies."
            )
        if any(summary.dependence.is_by_record for summary in self._summaries):
            note += " Where records of one release were judged, they describe that release."
        return note

    def publish(self, filepath: str | Path) -> list[Path]:
        """Draw six comparisons into the folder `filepath` and return the files written."""
        files: list[Path] = []
        for comparison, pair, marker in _COMPARISONS:
            files += self.compare(comparison, pair, marker, filepath)
        _LOG.info("%d figures written to %s", len(files), filepath)
        return files

    def _check_metrics(self) -> None:
        columns = self.attacks_data.columns
        hidden = [m.name for m in MEASURES if m.name in self.metrics and m.name not in columns]
        if any(_has(summary, name) for summary in self._summaries for name in hidden):
            self._add_measures(hidden)
        unknown = [m for m in self.metrics if m not in self.attacks_data.columns]
        if unknown or not len(self.metrics):
            shown = [c for c in self.attacks_data.columns if c not in DIMENSIONS]
            more = [m.name for m in MEASURES if any(_has(s, m.name) for s in self._summaries)]
            available = list(dict.fromkeys([*shown, *more]))
            raise ConfigError(
                f"metrics must be among {listing(available, 16)}, got {list(self.metrics)!r}"
            )


class MIAttackReport(BinaryLabelAttackReport):
    """Report of membership inference attacks; see `BinaryLabelAttackReport`."""

    @classmethod
    def load_summary_statistics(
        cls, attacks: Iterable[Mapping[str, Any]], metrics: Sequence[str] | None = None
    ) -> Self:
        """Make a report from outcomes given as dictionaries.

        Parameters
        ----------
        attacks
            One dictionary per attack with the keys ``labels``, ``predictions``,
            ``generator``, ``attack``, ``dataset``, ``target_id`` (or
            ``generator_info``, ``attack_info``, ``dataset_info``), and optionally
            ``scores``, ``groups``, ``relation`` and ``dependence``.
        metrics
            Names of the metrics to draw; None draws all.
        """
        return cls([cls._summary(_arguments(attack)) for attack in attacks], metrics=metrics)

    @staticmethod
    def _summary(arguments: dict[str, Any]) -> AttackSummary:
        return MIAttackSummary(**arguments)


class AIAttackReport(MIAttackReport):
    """Report of attribute inference attacks, for two values or more.

    `load_summary_statistics` also takes the keys ``sensitive_attribute``,
    ``attribute_values`` and ``positive_value``; outcomes with a positive value, or
    with 0/1 labels, are read as those of a two-valued attribute.
    """

    @staticmethod
    def _summary(arguments: dict[str, Any]) -> AttackSummary:
        occurring = {
            value
            for key in ("labels", "predictions", "attribute_values")
            for value in np.asarray(arguments.get(key, [])).tolist()
        }
        if "positive_value" in arguments or occurring <= {0, 1}:
            arguments.pop("attribute_values", None)
            return BinaryAIAttackSummary(**arguments)
        return AIAttackSummary(**arguments)


class BinaryAIAttackReport(AIAttackReport):
    """Report of attribute inference attacks on attributes of two values."""


def _has(summary: AttackSummary, name: str) -> bool:
    """Whether a measure is defined for a summary."""
    return isinstance(summary, LabelInferenceAttackSummary) and any(
        measure.name == name and measure.is_defined_for(summary) for measure in MEASURES
    )


def _has_few_groups(summary: AttackSummary) -> bool:
    return isinstance(summary, LabelInferenceAttackSummary) and has_few_groups(summary)


def _is_fair(summary: AttackSummary) -> bool:
    """Whether half of the guesses are right by chance: not where far more records are of a side."""
    if not isinstance(summary, LabelInferenceAttackSummary) or not summary.dependence.is_by_record:
        return True
    return abs(float(np.mean(summary.labels == 1)) - 0.5) < _UNEVEN


def _own_ends(summary: AttackSummary, measure: Measure, value: float) -> tuple[float, float]:
    """Ends of the interval that the trials of a summary allow; NaN where they have to be drawn.

    So they are of a value that a table of one's own has instead.
    """
    if _has(summary, measure.name) and isinstance(summary, LabelInferenceAttackSummary):
        found = estimate(measure, summary, _LEVEL)
        known = summary.dependence is not Dependence.UNKNOWN
        if found is not None and known and found.low <= value <= found.high:
            return found.low, found.high
    return math.nan, math.nan


def _arguments(attack: Mapping[str, Any]) -> dict[str, Any]:
    old = {name: f"{name}_info" for name in ("generator", "attack", "dataset")}
    arguments = {old.get(key, key): value for key, value in attack.items()}
    for key in ("labels", "predictions"):
        if key not in arguments:
            raise ConfigError(f"an attack needs the key {key!r}, got {listing(attack)}")
    return arguments


def _names(metrics: Sequence[str] | str) -> list[str]:
    return [metrics] if isinstance(metrics, str) else list(metrics)
