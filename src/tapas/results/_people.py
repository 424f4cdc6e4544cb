"""How exposed many people are, judged from one pool of releases."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas.metrics import column_aucs
from tapas.results._audit_record import AuditRecord
from tapas.results._audited_subject import FAILURES, SUBGROUP, AuditedSubject
from tapas.results._estimate import Estimate
from tapas.results._facts import facts_within, judged_summaries, shared_by_audited
from tapas.results._label_inference import BinaryLabelInferenceAttackSummary
from tapas.results._mean_area import mean_area
from tapas.results._rare_columns import RareColumn
from tapas.results._rounding import rounded_area
from tapas.results._without_score import trials_without_score
from tapas.results._worlds import comparable_scores
from tapas.stats import (
    Dependence,
    holm,
    mean_auc_influences,
    rank_sum_p_values,
    shared_confidence,
    shared_p_values,
)

__all__ = ["FEWEST_PEOPLE", "People", "exposed_people"]

FEWEST_PEOPLE = 5
ALPHA = 0.05
_ALONE = (Dependence.INDEPENDENT, Dependence.PAIRS)

# Above which people are counted.
AUC_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9)
EPSILON_LEVELS = (0.0, 0.5, 1.0, 2.0, 4.0)

Summary = BinaryLabelInferenceAttackSummary
Summaries = Sequence[Summary]


@dataclass(frozen=True, eq=False)
class MeanOverPeople:
    """A mean AUC over people, to be given an interval.

    Attributes
    ----------
    value : float
    parts : ndarray
        What each group of releases adds to it.
    degrees : int
        Degrees of freedom of these.
    number : int
        How many means share the error: one of each attack on each audited subject.
    share : float
        The part of the error that they have at this look.
    """

    value: float
    parts: np.ndarray
    degrees: int
    number: int
    share: float

    def within(self, confidence: float) -> Estimate:
        """The mean with an interval of this confidence over all attacks, subjects and looks."""
        level = shared_confidence(confidence, self.number, self.share)
        return mean_area(self.value, self.parts, self.degrees, level)


@dataclass(frozen=True, eq=False)
class People:
    """The exposure of every target of a subject.

    Attributes
    ----------
    subject, attack : str
        The attack whose mean AUC over people is furthest from one half, whichever way round.
    average : MeanOverPeople
        That mean; its interval speaks of other releases about the same people.
    table : DataFrame
        One row per person, most exposed first (AUC furthest from one half): ``target``; ``auc`` by
        that attack; ``either_way``, the same read whichever way round tells more, with trials
        without a score below or above all others; ``low`` and
        ``high``, between which so read the AUC of the attack that tells most of this person lies;
        ``epsilon``, which is certified; and ``p_value``, the chance to see as
        much by any of the attacks if nobody were exposed, corrected for the number of attacks and
        people (Holm). Limits of one kind hold for all people and attacks together.
        Of the most exposed also what is nearest to them in releases, and their values where these
        may be shown.
    parts : DataFrame
        Mean AUC over the people of each subgroup that was asked for (``slice``, ``value``,
        ``people``, ``auc``, ``low``, ``high``); all intervals hold together with 95 % confidence.
    rare_columns : tuple of RareColumn
        Where the values of the most exposed are rarest.
    conditions : str
        At which delta and of which mechanisms what is certified holds; empty for all.
    """

    subject: str
    attack: str
    average: MeanOverPeople
    table: pd.DataFrame
    parts: pd.DataFrame
    rare_columns: tuple[RareColumn, ...] = ()
    conditions: str = ""

    @property
    def mean(self) -> Estimate:
        """The mean AUC; its interval has 95 % confidence over all attacks."""
        return self.average.within(1 - ALPHA)

    def mean_differs(self, confidence: float) -> bool:
        """Whether the mean excludes guessing, whichever way round."""
        mean = self.average.within(confidence)
        return not mean.low <= 0.5 <= mean.high

    def somebody_is_exposed(self, confidence: float) -> bool:
        """Whether trials about anybody are ranked better than chance allows."""
        return bool((self.table["p_value"] <= 1 - confidence).any())

    @property
    def num_exposed(self) -> int:
        """Of how many it is certain, with 95 % confidence about all of them together."""
        return int((self.table["p_value"] <= ALPHA).sum())

    def at_least(self, column: str, level: float) -> int:
        """How many people at least lie above a level of ``low`` (AUC) or ``epsilon``.

        Notes
        -----
        Assumes: what the limits assume. Guarantees: all such numbers hold together, with the
        confidence of the limits, because all limits do.
        """
        return int((self.table[column] > level).sum())

    @property
    def statements(self) -> list[tuple[int, str, float]]:
        """How many people at least are above which level: count, "auc" or "epsilon", level."""
        found = [(self.at_least("low", level), "auc", level) for level in AUC_LEVELS]
        found += [(self.at_least("epsilon", level), "epsilon", level) for level in EPSILON_LEVELS]
        return [one for one in found if one[0] > 0]

    def words(self) -> str:
        """What came out, in a few sentences."""
        low, middle, high = self.table["auc"].quantile([0.1, 0.5, 0.9])
        number, (area, ends) = self.num_exposed, rounded_area(self.mean)
        verb = "is" if number == 1 else "are"
        certain = self.at_least("epsilon", 0.0)
        more = (
            f", and at least {certain} by a certified epsilon above 0 (95% by itself)"
            if certain > number
            else ""
        )
        said = (
            f"Of {len(self.table)} people in {self.subject}, {number} {verb} exposed "
            f"by how attacks rank trials (95% confidence about all of them){more}. "
            f"Over people, {self.attack} has a mean AUC of {area} ({ends}); one in ten "
            f"is below {low:.2f}, half are below {middle:.2f}, one in ten is above {high:.2f}."
        )
        named = {"auc": "AUC", "epsilon": "epsilon"}
        if self.conditions:
            named["epsilon"] += f" ({self.conditions})"
        counts = [
            f"{count} {'has' if count == 1 else 'have'} an {named[what]} above {level:g}"
            for count, what, level in self.statements
        ]
        if counts:
            said += (
                f" By limits, at least {', '.join(counts)} (each AUC read whichever way round "
                "tells more). These counts name nobody. Ranks, limits of AUCs and those of "
                "epsilons judge all people with 95% confidence each by itself: they need not agree "
                "on how many, and one of the three may err in up to 15% of audits."
            )
        return said


def exposed_people(record: AuditRecord, confidence: float = 1 - ALPHA) -> list[People]:
    """The people of every audited subject that was judged about several of them.

    What is said of one subject shares its error with what is said of others, and with earlier
    looks.
    """
    found = [_people(record, subject, confidence) for subject in record.audited]
    return [people for people in found if people is not None]


def mean_over_people(
    subject: AuditedSubject, attack: str, confidence: float
) -> tuple[int, Estimate] | None:
    """How many people an attack judged from the same releases, and its mean AUC over them.

    Notes
    -----
    Assumes: independent groups of releases, many of them. Guarantees: an interval of about
    `confidence` for the mean over these people in other releases (`mean_area`). Where trials have
    no score, that of whichever way to rank them, and to read the ranks, tells more.
    """
    mine = _by_attack(subject).get(attack, [])
    if not _are_people(mine):
        return None
    tables, groups = _ways_of_stacking(mine), _groups(mine[0])
    found = [mean_auc_influences(*table, groups) for table in tables]
    if not all(len(one.parts) > 1 and np.isfinite(one.parts).all() for one in found):
        return None
    share = min(one.error_share for one in mine)
    level = shared_confidence(confidence, len(found), share)
    means = [mean_area(*one, level) for one in found]
    if len(means) == 1:
        return len(mine), means[0]
    ends = [(one.value, one.low, one.high) for one in (mean.turned_up(0.5) for mean in means)]
    return len(mine), Estimate(*map(max, zip(*ends, strict=True)))


def _by_attack(subject: AuditedSubject) -> dict[str, list[BinaryLabelInferenceAttackSummary]]:
    found: dict[str, list[BinaryLabelInferenceAttackSummary]] = {}
    for summary in subject.summaries:
        if isinstance(summary, BinaryLabelInferenceAttackSummary) and summary.scores is not None:
            found.setdefault(str(summary.attack), []).append(summary)
    told = found.pop(FAILURES, [])
    if not found:
        return {FAILURES: told} if told else {}
    order = list(dict.fromkeys(str(one.target_id) for one in judged_summaries(subject)))
    return {attack: _joined(mine, told, order) for attack, mine in found.items()}


def _joined(mine: list[Summary], told: list[Summary], order: list[str]) -> list[Summary]:
    """What an attack says of each target; of those that failures tell of, what they say."""
    by_target = {str(one.target_id): one for one in [*told, *mine]}
    return [by_target[name] for name in order if name in by_target]


def _people(record: AuditRecord, subject: AuditedSubject, confidence: float) -> People | None:
    by_attack = {
        attack: summaries
        for attack, summaries in _by_attack(subject).items()
        if _are_people(summaries)
    }
    names = [tuple(str(one.target_id) for one in mine) for mine in by_attack.values()]
    if not names or len(set(names)) > 1:
        return None  # attacks that crashed on some people cannot be compared over all
    tables = {
        (attack, way): table
        for attack, mine in by_attack.items()
        for way, table in enumerate(_ways_of_stacking(mine))
    }
    areas = {way: column_aucs(*table) for way, table in tables.items()}
    if any(np.isnan(found).any() for found in areas.values()):
        return None
    best = max(areas, key=lambda way: abs(float(areas[way].mean()) - 0.5))
    attack = best[0]
    turned = [np.maximum(found, 1 - found) for way, found in areas.items() if way[0] == attack]
    groups = _groups(by_attack[attack][0])
    share = min(one.error_share for mine in by_attack.values() for one in mine)
    p_values = [rank_sum_p_values(*table, groups) for table in tables.values()]
    adjusted = holm(shared_p_values(np.ravel(p_values), len(record.audited), share))
    table = pd.DataFrame(
        {
            "target": names[0],
            "auc": areas[best],
            "either_way": np.maximum.reduce(turned),
            **_limits(record, subject, list(by_attack.values()), confidence),
            "p_value": adjusted.reshape(len(tables), -1).min(axis=0),
        }
    )
    means = len(tables) * len(record.audited)
    level = shared_confidence(1 - ALPHA, means, share)
    mean = MeanOverPeople(*mean_auc_influences(*tables[best], groups), means, share)
    about = pd.DataFrame(subject.targets or {"target": []})
    parts = _parts(table, about, *tables[best], groups, level)
    own = [name for name in about if not name.startswith(SUBGROUP)]
    table = table.merge(about[own], how="left", on="target")
    by = {"either_way": False, "target": True}
    ordered = table.sort_values(list(by), ascending=list(by.values()), ignore_index=True)
    conditions = _conditions(record, subject, by_attack[attack][0], confidence)
    return People(subject.name, attack, mean, ordered, parts, subject.rare_columns, conditions)


def _conditions(
    record: AuditRecord, subject: AuditedSubject, summary: Summary, confidence: float
) -> str:
    level = shared_by_audited(record, confidence)
    bound = facts_within(record, subject, summary, confidence=level).epsilon
    return "" if bound is None else bound.conditions


def _parts(
    table: pd.DataFrame,
    about: pd.DataFrame,
    scores: np.ndarray,
    positive: np.ndarray,
    groups: np.ndarray,
    confidence: float,
) -> pd.DataFrame:
    """The mean over people of each value of the columns that tell subgroups apart."""
    joined = table[["target"]].merge(about, how="left", on="target")
    chosen = [
        (name.removeprefix(SUBGROUP), value, np.flatnonzero((joined[name] == value).to_numpy()))
        for name in about
        if name.startswith(SUBGROUP)
        for value in sorted(joined[name].dropna().unique(), key=str)
    ]
    found = []
    for name, value, people in chosen:
        level = shared_confidence(confidence, len(chosen))
        mean = mean_area(
            *mean_auc_influences(scores[:, people], positive[:, people], groups), level
        )
        found.append((name, value, len(people), mean.value, mean.low, mean.high))
    return pd.DataFrame(found, columns=["slice", "value", "people", "auc", "low", "high"])


def _limits(
    record: AuditRecord, subject: AuditedSubject, by_attack: list[list[Summary]], confidence: float
) -> dict[str, list[float]]:
    """Limits of each person by the attack that tells most; all of a kind hold together."""
    level = shared_by_audited(record, confidence)
    found: dict[str, list[float]] = {"low": [], "high": [], "epsilon": []}
    for mine in zip(*by_attack, strict=True):
        facts = [facts_within(record, subject, one, confidence=level) for one in mine]
        areas = [area for one in facts if (area := one.either_way("auc")) is not None]
        found["low"].append(max((area.low for area in areas), default=0.0))
        found["high"].append(max((area.high for area in areas), default=1.0))
        found["epsilon"].append(max(float(one.epsilon or 0.0) for one in facts))
    return found


def _are_people(summaries: Summaries) -> bool:
    """Whether these are several targets of the same releases, each judged by itself."""
    if len(summaries) < FEWEST_PEOPLE or any(one.dependence not in _ALONE for one in summaries):
        return False
    first = _groups(summaries[0])
    return all(np.array_equal(_groups(one), first) for one in summaries)


def _groups(summary: BinaryLabelInferenceAttackSummary) -> np.ndarray:
    return np.arange(len(summary)) if summary.groups is None else summary.groups


def _ways_of_stacking(summaries: Summaries) -> list[tuple[np.ndarray, np.ndarray]]:
    """The table with trials without a score below all others, and where there are some, above."""
    scores, positive = _stacked(summaries)
    silent = np.stack([trials_without_score(one) for one in summaries], axis=1)
    above = [(np.where(silent, np.inf, scores), positive)] if silent.any() else []
    return [(scores, positive), *above]


def _stacked(summaries: Summaries) -> tuple[np.ndarray, np.ndarray]:
    """Scores and secrets, (releases, people)."""
    scores = np.stack([comparable_scores(one) for one in summaries], axis=1)
    return scores, np.stack([one.labels.astype(bool) for one in summaries], axis=1)
