"""Records whose membership nobody knows: score, probability, false alarms, decision."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tapas._validate import check_probability
from tapas.errors import ConfigError, TapasWarning
from tapas.results._rounding import rounded
from tapas.results._unfit_splits import caution_of_judging
from tapas.stats import clopper_pearson, rising_limits, simultaneous_upper_limits, venn_abers

__all__ = ["JudgedRecords", "judge_records"]


@dataclass(frozen=True, eq=False)
class JudgedRecords:
    """What an attack says of records whose membership is not known.

    Attributes
    ----------
    table : DataFrame
        One row per record, in the order asked: ``id``, where records have names; ``score``;
        ``member``, the decision; ``probability`` of membership at the stated prior (Venn-Abers),
        with the ends ``probability_low`` and ``probability_high``; ``false_alarm_rate``, the share
        of non-members that score at least as high, with the ends ``false_alarm_rate_low`` and
        ``false_alarm_rate_high``. Either ends hold for all records together.
    attack : str
    prior : float
        Share of members among those asked about, before the attack.
    false_alarms : float
        At most this share of non-members is decided to be members.
    confidence : float
        Of the ends of probabilities, of those of false-alarm rates, and of the share found.
    members, non_members : int
        Records of known membership that all this is read off.
    found : (float, float, float)
        Share of those members that the same rule decides to be members, and the ends of its
        interval: what "not a member" is worth.
    caution : str
        Why none of this holds, where members and others differ without the model; empty otherwise.
    """

    table: pd.DataFrame
    attack: str
    prior: float
    false_alarms: float
    confidence: float
    members: int
    non_members: int
    found: tuple[float, float, float]
    caution: str = ""

    def called(self, ids: Sequence[object]) -> "JudgedRecords":
        """The same with the names of the records beside their numbers."""
        table = self.table.copy()
        table.insert(1, "id", [str(name) for name in ids])
        return replace(self, table=table)

    def words(self) -> str:
        """What was decided, and what that is worth, in sentences."""
        value, low, high = (rounded(100 * part, 1) for part in self.found)
        such = "such non-members as were given" if self.caution else "non-members"
        warning = f"Warning: {self.caution}. " if self.caution else ""
        return (
            f"{warning}{self.attack}: {int(self.table['member'].sum())} of {len(self.table)} "
            f"records are judged to be members, by a rule that takes at most "
            f"{100 * self.false_alarms:g} % of {such} for members. It finds {value} % of "
            f"members ({low} to {high} %, on {self.members} members and {self.non_members} "
            f"non-members that are known), so a record that it does not call a member may be one "
            f"all the same. Probabilities are for a prior of {self.prior:g}."
        )


def judge_records(
    scores: np.ndarray,
    known_scores: np.ndarray,
    known_members: np.ndarray,
    *,
    attack: str,
    prior: float = 0.5,
    false_alarms: float = 0.05,
    confidence: float = 0.95,
    inputs_alone: np.ndarray | None = None,
) -> JudgedRecords:
    """Decide about records by the scores of others whose membership is known.

    The others must not have taught the attack. A record is decided to be a member where at most a
    share `false_alarms` of non-members, itself counted among them, scores as high (a conformal
    p-value). All of it is for records of the population of those others; `inputs_alone`, what
    inputs tell of their membership without the model, says whether members and non-members are of
    one.
    """
    prior = check_probability(prior, "prior")
    if not 0 < prior < 1 or not 0 < false_alarms < 1:
        raise ConfigError("prior and false_alarms must lie strictly between 0 and 1")
    if not len(scores):
        raise ConfigError("scores holds none: give those of the records that are to be judged")
    members = np.asarray(known_members, dtype=bool)
    others = np.sort(known_scores[~members])
    number = len(others)
    if false_alarms * (number + 1) < 1:
        warnings.warn(
            f"with {number} judged non-members no record can be decided to be a member at a rate "
            f"of {false_alarms:g}: allow {1 / (number + 1):.2g} or more, or give more non-members",
            TapasWarning,
            stacklevel=3,
        )
    limits = simultaneous_upper_limits(number, confidence=(1 + confidence) / 2)
    above = number - np.searchsorted(others, scores, side="left")
    probability, *_ = venn_abers(known_scores, members, scores, prior=prior)
    low, high = rising_limits(known_scores, members, scores, prior=prior, confidence=confidence)
    low, high = np.minimum(low, probability), np.maximum(high, probability)
    table = pd.DataFrame(
        {
            "record": np.arange(len(scores)),
            "score": scores,
            "member": _decided(above, number, false_alarms),
            "probability": probability,
            "probability_low": low,
            "probability_high": high,
            "false_alarm_rate": above / number,
            "false_alarm_rate_low": 1 - limits[number - above],
            "false_alarm_rate_high": limits[above],
        }
    )
    inside = known_scores[members]
    above = number - np.searchsorted(others, inside, side="left")
    hits = int(_decided(above, number, false_alarms).sum())
    ends = clopper_pearson(hits, len(inside), confidence)
    found = (hits / len(inside), float(ends[0]), float(ends[1]))
    return JudgedRecords(
        table,
        attack,
        prior,
        false_alarms,
        confidence,
        len(inside),
        number,
        found,
        caution_of_judging(members, inputs_alone),
    )


def _decided(above: np.ndarray, number: int, false_alarms: float) -> np.ndarray:
    return (above + 1) / (number + 1) <= false_alarms
