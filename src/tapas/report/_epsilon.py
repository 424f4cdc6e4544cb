"""Report of the epsilon that the attacks show, with stated confidence."""

import json
import logging
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tapas import stats
from tapas._files import write_text
from tapas._validate import check_choice, check_probability
from tapas.errors import ConfigError, TapasWarning
from tapas.metrics import ConfusionCounts, confusion_counts
from tapas.report._base import OutputNames, Report
from tapas.results import BinaryLabelInferenceAttackSummary, Dependence

__all__ = ["EffectiveEpsilonReport"]

_LOG = logging.getLogger(__name__)
_HEURISTICS = ("cp", "ratio")
_METHODS = ("portfolio", "clopper-pearson", "buehler", "bayes", "gaussian")


class EffectiveEpsilonReport(Report):
    """Estimate from below the epsilon of a mechanism, from attacks under one threat model.

    A first part of the trials chooses the attack, the threshold and the direction
    that promise most; the rest, which the choice has not seen, gives the bound.

    Parameters
    ----------
    attack_summaries
        Summaries of attacks on one mechanism under one threat model, each with
        its trials in the same order.
    validation_split
        Share of the trials that chooses; pairs and other groups are not divided. None: no trial is
        spent, and a band over all thresholds bounds (`tapas.stats.max_epsilon_lower_bound`), of
        which the attacks share the error. Nothing is then chosen.
    confidence_levels
        Levels to report; a single number is allowed.
    heuristic
        How to choose: "cp" by bounds of low confidence, "ratio" by the ratio of rates.
    suffix
        Text added to the file name.
    delta
        The delta of the pair (epsilon, delta) that is bounded.
    method
        "portfolio" is `tapas.stats.certificate`, which chooses for itself; others are
        those of `tapas.stats.epsilon_lower_bound` (trials in pairs need
        "clopper-pearson").
    family
        "gaussian" where ``method="gaussian"``, which holds for such mechanisms only.

    Attributes
    ----------
    choice
        What was chosen (`tapas.stats.ThresholdChoice`), after `publish`; None where
        there were too few trials to choose.
    bounds
        The bound at each level (`tapas.stats.EpsilonBound`), after `publish`.
    chosen_summary, threshold, direction
        The same choice, spelt out.

    Notes
    -----
    ``epsilon_low`` speaks of the mechanism: whatever satisfies (epsilon, delta)
    differential privacy with a smaller epsilon shows this much with probability at
    most one minus the confidence. ``epsilon_high`` speaks of the chosen attack
    alone: a better attack may exist, so it is no assurance.
    """

    def __init__(
        self,
        attack_summaries: Sequence[BinaryLabelInferenceAttackSummary],
        validation_split: float | None = 0.1,
        confidence_levels: Sequence[float] | float = (0.9, 0.95, 0.99),
        heuristic: str = "cp",
        suffix: str | None = None,
        *,
        delta: float = 0.0,
        method: str = "portfolio",
        family: str | None = None,
    ) -> None:
        self.attack_summaries = _checked(attack_summaries)
        self.validation_split = (
            None
            if validation_split is None
            else check_probability(validation_split, "validation_split", open_interval=True)
        )
        levels = np.atleast_1d(np.asarray(confidence_levels, dtype=np.float64)).tolist()
        self.confidence_levels = tuple(
            check_probability(level, "a confidence level", open_interval=True) for level in levels
        )
        self.heuristic = check_choice(heuristic, "heuristic", _HEURISTICS)
        self.suffix = suffix
        self.delta = check_probability(delta, "delta")
        self.method = check_choice(method, "method", _METHODS)
        self.family = family
        self.choice: stats.ThresholdChoice | None = None
        self.bounds: tuple[stats.EpsilonBound, ...] = ()
        self._outputs = OutputNames()

    @property
    def chosen_summary(self) -> BinaryLabelInferenceAttackSummary | None:
        """The summary of the chosen attack."""
        return None if self.choice is None else self.attack_summaries[self.choice.index]

    @property
    def threshold(self) -> float | None:
        """The chosen event is ``score >= threshold``."""
        return None if self.choice is None else self.choice.threshold

    @property
    def direction(self) -> str | None:
        """Whether the event tells members ("direct") or its complement does ("inverse")."""
        return None if self.choice is None else self.choice.direction

    def estimate(self) -> pd.DataFrame:
        """Choose and certify, without writing anything.

        Returns
        -------
        DataFrame
            Columns ``confidence``, ``epsilon_low``, ``epsilon_high``; one row per level.
        """
        obstacle = _obstacle(self.attack_summaries)
        if obstacle:
            warnings.warn(f"no epsilon can be shown: {obstacle}", TapasWarning, stacklevel=2)
            self.choice, self.bounds = None, ()
            return self._table([(0.0, math.inf)] * len(self.confidence_levels))
        if self.validation_split is None:
            self.choice, self.bounds = None, self._over_all_thresholds()
            return self._table([(float(bound), math.inf) for bound in self.bounds])
        if self.method == "portfolio":
            self.choice, self.bounds = self._portfolio(self.validation_split)
        else:
            self.choice = stats.select_threshold(
                self.attack_summaries,
                validation_split=self.validation_split,
                heuristic=self.heuristic,
                delta=self.delta,
            )
            self.bounds = tuple(
                self._certify(self.choice, level) for level in self.confidence_levels
            )
        _LOG.info("%s", self._words())
        return self._table(
            [(float(bound), self._high(self.choice, bound)) for bound in self.bounds]
        )

    def publish(self, filepath: str | Path) -> pd.DataFrame:
        """Write ``effective_epsilon[_suffix].csv`` and return its table.

        A file of the same name ending in ``_details.json`` says which attack,
        threshold and direction were chosen, and how large a bound the trials allow.
        """
        table = self.estimate()
        stem = "effective_epsilon" + (f"_{self.suffix}" if self.suffix else "")
        path = self._outputs.path(filepath, stem, ".csv", "table")
        table.to_csv(path)
        details = json.dumps(self.details(), indent=2, allow_nan=False)
        write_text(path.with_name(f"{path.stem}_details.json"), details + "\n")
        _LOG.info("effective epsilon written to %s", path)
        return table

    def details(self) -> dict[str, Any]:
        """Return the choice and the bounds as plain values; empty before `publish`."""
        if not self.bounds:
            return {"choice": None, "bounds": []}
        return {
            "choice": None if self.choice is None else self._chosen(self.choice),
            "bounds": [
                {
                    "confidence": bound.confidence,
                    "epsilon_low": float(bound.value),
                    "ceiling": _finite(float(bound.ceiling)),
                    "delta": bound.delta,
                    "method": bound.method,
                    "relation": bound.relation,
                }
                for bound in self.bounds
            ],
            "note": "epsilon_high speaks of the chosen attack only, never of the mechanism",
        }

    def _chosen(self, choice: stats.ThresholdChoice) -> dict[str, Any]:
        return {
            "summary": choice.index,
            "attack": str(self.attack_summaries[choice.index].attack),
            "threshold": _finite(choice.threshold),
            "direction": choice.direction,
            "trials_left": int(choice.remaining.sum()),
            "counts": self._counts(choice)._asdict(),
        }

    def _over_all_thresholds(self) -> tuple[stats.EpsilonBound, ...]:
        return tuple(
            stats.audit_claim(
                self.attack_summaries,
                0.0,
                self.delta,
                confidence=level,
                validation_split=None,
                family=self.family,
            ).bound
            for level in self.confidence_levels
        )

    def _portfolio(
        self, share: float
    ) -> tuple[stats.ThresholdChoice, tuple[stats.EpsilonBound, ...]]:
        """Choose as the level in the middle would, and certify at each by that choice."""
        found = [
            stats.certificate(
                self.attack_summaries,
                confidence=level,
                delta=self.delta,
                validation_split=share,
                family=self.family,
            )
            for level in self.confidence_levels
        ]
        return found[len(found) // 2].choice, tuple(one.bound for one in found)

    def _certify(self, choice: stats.ThresholdChoice, level: float) -> stats.EpsilonBound:
        return stats.certify(
            choice,
            self.attack_summaries,
            confidence=level,
            delta=self.delta,
            method=self.method,
            family=self.family,
        )

    def _high(self, choice: stats.ThresholdChoice, bound: stats.EpsilonBound) -> float:
        return stats.attack_epsilon_high(choice, self.attack_summaries, bound)

    def _counts(self, choice: stats.ThresholdChoice) -> ConfusionCounts:
        summary = self.attack_summaries[choice.index]
        scores = summary.predictions.astype(np.float64)
        if summary.scores is not None and summary.dependence is not Dependence.COINS:
            scores = summary.scores
        left = choice.remaining
        return confusion_counts(summary.labels[left], scores[left] >= choice.threshold)

    def _words(self) -> str:
        chosen = self.chosen_summary
        name = (chosen.attack if chosen is not None else "") or "the only attack"
        return f"chosen: {name}, score >= {self.threshold:g}, {self.direction}; " + "; ".join(
            str(bound) for bound in self.bounds
        )

    def _table(self, ends: list[tuple[float, float]]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "confidence": self.confidence_levels,
                "epsilon_low": [low for low, _ in ends],
                "epsilon_high": [high for _, high in ends],
            }
        )


def _checked(
    summaries: Sequence[BinaryLabelInferenceAttackSummary],
) -> list[BinaryLabelInferenceAttackSummary]:
    chosen = list(summaries)
    if not chosen:
        raise ConfigError("a report needs at least one summary, got none")
    for summary in chosen:
        if not isinstance(summary, BinaryLabelInferenceAttackSummary):
            raise ConfigError(
                f"effective epsilon compares two worlds, but {type(summary).__name__} may have "
                "more values; make a BinaryAIAttackSummary of two of them"
            )
    return chosen


def _obstacle(summaries: list[BinaryLabelInferenceAttackSummary]) -> str | None:
    for summary in summaries:
        if summary.dependence.refusal is not None:
            return f"{summary.dependence.refusal}; {summary.dependence.remedy}"
        if summary.num_units < 2:
            return (
                f"a summary has {summary.num_units} independent trial(s), which cannot be "
                "divided; run more trials"
            )
        if len(np.unique(summary.labels)) < 2:
            return "a summary has trials of one world only; run more trials"
    return None


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
