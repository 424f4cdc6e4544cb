"""The verdict in words, for people who decide about a release."""

import math
from dataclasses import dataclass

from tapas.report._page_numbers import between, bound, counted, down, number, percent
from tapas.report._page_reading import CONFIDENCE, Reading, Result, leak
from tapas.results import SummaryFacts

__all__ = ["Banner", "banner", "claim_words", "limits", "sentences", "strength_words", "tiles"]

_STRENGTHS = ((0.8, "almost complete"), (0.5, "strong"), (0.2, "clear"), (0.0, "slight"))
_LEVEL = f"{100 * CONFIDENCE:g}%"


@dataclass(frozen=True)
class Banner:
    """The first thing a reader sees.

    Attributes
    ----------
    tone : {"good", "bad", "open"}
        Whether something must be done, nothing need be, or nothing can be said yet.
    word, text : str
    """

    tone: str
    word: str
    text: str


def banner(reading: Reading) -> Banner:
    """Return the verdict in a few words; gates come first, then the claim, then what was seen."""
    verdict, claim = reading.verdict, reading.claim_state
    if reading.best is None:
        return Banner("open", "Nothing ran", "No attack was carried out, so nothing is known.")
    words = verdict.words[:1].upper() + verdict.words[1:]
    if verdict.state == "fail":
        return Banner("bad", "Fail", f"{words}.")
    if claim == "contradicted":
        more = f" {words}." if verdict.outcomes else ""
        text = f"More leaks than the claimed guarantee allows.{more}"
        return Banner("bad", "Claim contradicted", text)
    if verdict.state == "inconclusive":
        return Banner("open", "Inconclusive", f"{words}.")
    if verdict.state == "pass":
        return Banner("good", "Pass", f"{words}.")
    if _leaks(reading):
        text = "Attacks do reliably better than guessing. No limits were set."
        return Banner("bad", "Leak found", text)
    text = "No attack did reliably better than guessing. No limits were set."
    return Banner("open", "No leak shown", text)


def sentences(reading: Reading) -> list[str]:
    """Return what was attacked, what came of it, and what is certain, one sentence each."""
    if reading.best is None:
        return [_nothing(reading)]
    found = [_attacked(reading), _achieved(reading.best), _size(reading), _certified(reading)]
    if reading.record.claim is not None:
        found.append(claim_words(reading))
    if reading.record.stopped:
        found.append(f"Trials ended early: {reading.record.stopped}.")
    return [sentence for sentence in found if sentence]


def claim_words(reading: Reading) -> str:
    """Return what became of the claim, in one sentence."""
    claim = reading.record.claim
    if claim is None:
        return "No privacy guarantee was claimed."
    name = f"The claimed epsilon of {claim.epsilon:g}"
    name += f" (delta {claim.delta:g})" if claim.delta else ""
    return {
        "contradicted": f"{name} is contradicted: at least {down(reading.epsilon)} was shown.",
        "unseen": (
            f"{name} could not have been contradicted: so few trials can show at most "
            f"{down(reading.ceiling)}. Run more trials."
        ),
        "untested": f"{name} was not tested: no certificate could be made from these trials.",
        "open": (
            f"{name} is not contradicted, which does not prove it: {_shown(reading)} was "
            f"shown, and a perfect attack could have shown {down(reading.ceiling)}."
        ),
    }[reading.claim_state]


def _shown(reading: Reading) -> str:
    return down(reading.epsilon) if reading.epsilon > 0 else "no epsilon above 0"


def strength_words(facts: SummaryFacts) -> str:
    """Return how strong a leak is, by the lower ends of its intervals, in a word or two."""
    low, _ = leak(facts)
    found = facts.tpr_at_low_fpr
    if not low > 0:
        return "not shown"
    if found is not None:
        # An attack that is mostly unsure may still be sure, and right, about many.
        low = max(low, found.low)
    return next(
        word
        for limit, word in (
            (0.8, "almost complete"),
            (0.5, "strong"),
            (0.2, "clear"),
            (0, "slight"),
        )
        if low >= limit
    )


def limits(reading: Reading) -> list[str]:
    """Return what the numbers do not say."""
    said = [
        "Only the attacks listed here were tried. A stronger attack may find more; a low result "
        "is not a proof of privacy.",
        "Results hold for the targets that were attacked. Other records may be more exposed, "
        "above all unusual ones if the targets were ordinary.",
        "The attacker was given the knowledge that the question states (see provenance). One who "
        "knows more may do better; one who knows less, worse.",
        "A certified epsilon is a lower bound. It can contradict a claimed guarantee; it can "
        "never confirm one.",
        "Intervals speak of repeating these trials with the same data and settings, not of "
        "other data.",
    ]
    if reading.pooled:
        said.append(
            "Some trials share one release or model. Their intervals treat records as "
            "independent and describe this one release; no epsilon can be certified from them."
        )
    if reading.record.stopped:
        said.append(
            "Trials ended early. Where the results themselves decided when to stop, intervals "
            "made for a fixed number of trials are too narrow; only the bound that stopped the "
            "run holds at every look."
        )
    if not reading.controls:
        said.append(
            "There are no controls. Without a leaky one it is not known whether these attacks "
            "can find anything at all, so a low result may mean a weak attack."
        )
    if any(subject.failures for subject in reading.record.subjects):
        said.append(
            "Trials in which the mechanism failed are left out. If it fails more often for some "
            "data than for other, that alone can tell an attacker something."
        )
    return said


def tiles(reading: Reading) -> list[dict[str, str]]:
    """Return the few numbers that matter most, each with its interval and its direction."""
    best = reading.best
    if best is None:
        return []
    facts = best.shared
    right, interval = between(facts.accuracy, share=True)
    found = [
        {
            "name": "Accuracy of the strongest attack",
            "value": right,
            "interval": interval,
            "note": f"guessing: {percent(facts.chance)}; higher is worse",
        }
    ]
    if facts.auc is not None:
        area, ends = between(facts.auc)
        note = "guessing: 0.50, complete leak: 1; higher is worse"
        found.append({"name": "AUC", "value": area, "interval": ends, "note": note})
    if facts.tpr_at_low_fpr is not None:
        share, ends = between(facts.tpr_at_low_fpr, share=True)
        note = "guessing: 1%; higher is worse"
        found.append(
            {"name": "Found at 1% false alarms", "value": share, "interval": ends, "note": note}
        )
    certified = reading.certificate is not None
    found.append(
        {
            "name": "Certified epsilon",
            "value": bound(reading.epsilon) if certified else "none",
            "interval": f"could show at most {down(reading.ceiling)}" if certified else "",
            "note": "lower bound; higher is worse" if certified else "no certificate possible",
        }
    )
    return found


def _nothing(reading: Reading) -> str:
    crashes = sum(len(subject.crashes) for subject in reading.record.audited)
    if crashes:
        return f"{counted(crashes, 'attack')} crashed and none gave a result: see failures below."
    if reading.record.stopped:
        return (
            f"The run stopped before any attack could be judged: {reading.record.stopped} "
            f"A larger max_failures lets a run go on without the trials that fail."
        )
    return "The record holds no results of audited subjects: run the audit first."


def _attacked(reading: Reading) -> str:
    results = reading.audited
    attacks = {result.own.attack for result in results}
    targets = {result.target for result in results}
    subjects = [subject.name for subject in reading.record.audited if subject.summaries]
    what = f"“{subjects[0]}”" if len(subjects) == 1 else counted(len(subjects), "mechanism")
    whom = counted(len(targets), "target")
    unit = "trials"
    if not any(targets):
        whom, unit = "records", "records"
    trials = sorted({result.own.trials for result in results})
    size = f"{trials[0]:,}" if len(trials) == 1 else f"{trials[0]:,} to {trials[-1]:,}"
    attributes = sorted({result.attribute for result in results} - {""})
    if attributes:
        aims = f"guess {_listed(attributes)} of {whom}"
    elif any(targets):
        aims = f"find out whether {whom} {_were(len(targets))} in the private data"
    else:
        aims = "find out which records were in the private data"
    return f"{counted(len(attacks), 'attack')} on {what} tried to {aims}, with {size} {unit} each."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _listed(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names[:3]]
    rest = len(names) - len(quoted)
    return ", ".join(quoted) + (f" and {rest} more attributes" if rest > 0 else "")


def _achieved(best: Result) -> str:
    facts = best.shared
    right, interval = between(facts.accuracy, share=True)
    words = (
        f"The strongest, {facts.attack} against target {best.target}"
        if best.target
        else f"The strongest, {facts.attack}"
    )
    words += f", was right in {right} of its {'trials' if best.target else 'records'} "
    words += f"({interval}; guessing: "
    words += f"{percent(facts.chance)})"
    if facts.auc is not None:
        area, ends = between(facts.auc)
        words += f", with an AUC of {area} ({ends}; guessing: 0.50)"
    return f"{words}."


def _leaks(reading: Reading) -> bool:
    best = reading.best
    return best is not None and (leak(best.shared)[0] > 0 or reading.epsilon > 0)


def _size(reading: Reading) -> str:
    best = reading.best
    if best is None:
        return ""
    low, _ = leak(best.shared)
    if low > 0:
        return f"The leak is {strength_words(best.shared)}: this is not chance."
    if reading.epsilon > 0:
        return (
            "Over all thresholds the attacks do no better than guessing, but where they are "
            "surest they are right too often for chance."
        )
    return "No attack did reliably better than guessing."


def _certified(reading: Reading) -> str:
    result = reading.certificate
    if result is None:
        if reading.pooled:
            return (
                "No epsilon can be certified: the trials share one release or model, so they "
                "are not independent."
            )
        if not any(result.binary for result in reading.audited):
            return "No epsilon is certified: the secret has more than two values."
        return "No epsilon can be certified: there are too few trials of each kind."
    epsilon = result.shared.epsilon
    facts = []
    if epsilon is not None and epsilon.delta:
        facts.append(f"delta {epsilon.delta:g}")
    if epsilon is not None and epsilon.relation:
        facts.append(f"{epsilon.relation} neighbours")
    setting = f" ({', '.join(facts)})" if facts else ""
    top = f"a perfect attack could have shown {down(reading.ceiling)} with as many trials"
    if reading.epsilon > 0:
        return (
            f"With {_LEVEL} confidence over all attacks and targets, epsilon is at least "
            f"{down(reading.epsilon)}{setting}; {top}."
        )
    ceiling = number(reading.ceiling) if math.isnan(reading.ceiling) else top
    return f"No epsilon above 0 could be certified; {ceiling}."
