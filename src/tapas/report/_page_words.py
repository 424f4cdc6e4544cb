"""The verdict in words, for people who decide about a release."""

import math

from tapas._validate import listing
from tapas.report._page_cells import best_guess_words
from tapas.report._page_copies import copies_sentences
from tapas.report._page_failures import failures_sentences
from tapas.report._page_numbers import between, counted, percent
from tapas.results import (
    CONFIDENCE,
    UNFIT_SPLIT,
    Finding,
    Findings,
    SummaryFacts,
    given_away_words,
    hardly_positive,
    leak,
    rounded,
    rounded_down,
)
from tapas.stats import Dependence, smallest_area, smallest_leak

__all__ = [
    "EITHER_WAY",
    "nearly_words",
    "picked_words",
    "sentences",
    "strength_measure",
    "strength_words",
]

_STRENGTHS = ((0.8, "almost complete"), (0.5, "strong"), (0.2, "clear"), (0.0, "slight"))
_ORDER_TELLS = (
    "; its yes-or-no guesses may be no better than guessing, but it ranks those with the secret "
    "higher"
)
EITHER_WAY = "below it tells as much as above"
_LEVEL = f"{100 * CONFIDENCE:g}%"


def sentences(findings: Findings) -> list[str]:
    """Return what was attacked, what came of it, and what is certain, one sentence each."""
    if findings.best is None:
        return [_nothing(findings)]
    found = [
        _attacked(findings),
        *failures_sentences(findings),
        *copies_sentences(findings),
        *given_away_words(findings),
        _achieved(findings, findings.best),
        _beside_inputs(findings, findings.best),
        _size(findings),
        _without_result(findings),
        _certified(findings),
    ]
    if findings.record.claim is not None:
        found.append(findings.claim.words)
    if findings.record.stopped:
        found.append(f"Trials ended early: {findings.record.stopped}.")
    return [sentence for sentence in found if sentence]


def strength_words(facts: SummaryFacts) -> str:
    """Return how strong a leak is, by the lower ends of its intervals, in a word or two."""
    low, _ = leak(facts)
    found = facts.tpr_at_low_fpr
    if not low > 0:
        return "not shown"
    if found is not None:
        # An attack that is mostly unsure may still be sure, and right, about many.
        low = max(low, found.low)
    return next(word for limit, word in _STRENGTHS if low >= limit)


def strength_measure(facts: SummaryFacts) -> str:
    """Return the measure by which results are ordered."""
    if facts.auc is not None:
        return "AUC"
    return "accuracy" if facts.advantage is None else "advantage"


def _nothing(findings: Findings) -> str:
    crashes = sum(len(subject.crashes) for subject in findings.record.audited)
    if crashes:
        return f"{counted(crashes, 'attack')} crashed and none gave a result: see failures below."
    if findings.record.stopped:
        return (
            f"The run stopped before any attack could be judged: {findings.record.stopped} "
            f"A larger max_failures lets a run go on without the trials that fail."
        )
    return "The record holds no results of audited subjects: run the audit first."


def _attacked(findings: Findings) -> str:
    results = findings.audited
    attacks = {result.own.attack for result in results}
    targets = {result.target for result in results}
    subjects = [subject.name for subject in findings.record.audited if subject.summaries]
    what = f"“{subjects[0]}”" if len(subjects) == 1 else counted(len(subjects), "mechanism")
    whom = counted(len(targets), "target")
    unit = "trials"
    if not any(targets):
        whom, unit = "records", "records"
    trials = sorted({result.own.trials for result in results})
    size = f"{trials[0]:,}" if len(trials) == 1 else f"{trials[0]:,} to {trials[-1]:,}"
    attributes = sorted({result.attribute for result in results} - {""})
    guessed = _guessed_from_files(findings)
    if guessed:
        aims = f"guess “{guessed}” of records that were used better than of others"
    elif attributes:
        aims = f"guess {listing(attributes, 3, show='“{}”'.format)} of {whom}"
    elif all(result.own.dependence is Dependence.UNRELATED for result in results):
        aims = f"find out the {', '.join(sorted(targets))} in the {findings.used} data"
    elif any(targets):
        aims = f"find out whether {whom} {_were(len(targets))} in the {findings.used} data"
    else:
        aims = f"find out which records were in the {findings.used} data"
    return f"{counted(len(attacks), 'attack')} on {what} tried to {aims}, with {size} {unit} each."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _guessed_from_files(findings: Findings) -> str:
    """The column that is guessed in released files, where records not used are the baseline."""
    question = findings.record.question
    attribute = (question.get("goal") or {}).get("attribute") if question.get("release") else None
    return str(attribute["column"]) if attribute else ""


def _achieved(findings: Findings, best: Finding) -> str:
    facts, guessed, named = best.shared, _guessed_from_files(findings), _named(findings, best)
    if guessed and facts.advantage is not None and facts.auc is not None:
        (excess, ends), (area, around) = between(facts.advantage, share=True), between(facts.auc)
        return (
            f"{named}, guessed right {excess} more of the records "
            f"that were used than of the others ({ends}; nothing learnt: 0), with an AUC of {area} "
            f"({around}; nothing learnt: 0.50)."
        )
    right, interval = between(facts.accuracy, share=True)
    words = named + f" against target {best.target}" * bool(best.target)
    words += f", was right in {right} of its {'trials' if best.target else 'records'} "
    words += f"({interval}; {best_guess_words(best)}: {percent(facts.chance)})"
    if facts.auc is not None:
        area, ends = between(facts.auc)
        below = f"; {EITHER_WAY}" if facts.auc.value < 0.5 else ""
        words += f", with an AUC of {area} ({ends}; guessing: 0.50{below})"
    return f"{words}."


def _leaks(facts: SummaryFacts) -> bool:
    return leak(facts)[0] > 0


def picked_words(findings: Findings) -> str:
    """Which result is told first."""
    best = findings.best
    if best is None:
        return ""
    if best is not findings.farthest:
        return "as no interval shows a leak, the result whose highest scores chance explains least"
    return (
        f"the result whose {strength_measure(best.shared)} is furthest from guessing for certain, "
        "by that end of its interval which is nearer to guessing"
    )


def _named(findings: Findings, best: Finding) -> str:
    """The result that is told first; none is strong where no leak is shown."""
    facts, measure = best.shared, strength_measure(best.shared)
    if _leaks(facts):
        return f"The strongest by {measure}, {facts.attack}"
    if best is findings.surest:
        return f"The one whose highest scores show a leak, {facts.attack}"
    return f"The one whose {measure} comes nearest to showing a leak, {facts.attack}"


def _more_may_be_told(facts: SummaryFacts) -> str:
    if facts.in_files:
        return "a release may tell more of the period or place that its records come from"
    return (
        "a model's scores may tell more of the inputs than was found without it, whomever it was "
        "trained on"
    )


def _where_sides_differ(findings: Findings, facts: SummaryFacts) -> str:
    if facts.in_files or not findings.inputs_are_known:
        return ""
    return (
        "They may differ in their inputs, in what should be predicted of them, or in how well that "
        "fits the inputs, as where labels of one side are noisier. "
    )


def _beside_inputs(findings: Findings, best: Finding) -> str:
    """What the inputs alone tell, and what that means for the result."""
    facts = best.shared
    if facts.inputs_auc is None or facts.auc_gain is None:
        return ""
    area, ends = between(facts.inputs_auc)
    told = f"T{facts.alone[1:]}, without the {facts.what}, reach an AUC of {area} ({ends})"
    if facts.inputs_tell_nothing:
        apart = f"“{best.attribute}”" if best.attribute else "members and non-members apart"
        told = f"Nothing was found in {facts.alone}, without the {facts.what}, that tells {apart}"
    gain, gained = between(facts.auc_gain)
    if facts.split_is_unfit:
        return (
            f"{told}: {UNFIT_SPLIT}, and this split is unfit for an audit. "
            f"{_where_sides_differ(findings, facts)}What the attack has "
            f"beyond that, {gain} ({gained}), cannot be relied on: {_more_may_be_told(facts)}. "
            "Compare with records drawn at random from the same source."
        )
    beyond = "guessing" if facts.inputs_tell_nothing else "that"
    words = f"{told}; the attack gains {gain} ({gained}) beyond {beyond}"
    words += _whose_doing(findings, best)
    if facts.auc_gain.value <= 0:
        words = f"{told}, and the attack no more than that (gain {gain}, {gained})."
    if facts.room_of_sides:
        differ = (
            "differ, but hardly"
            if facts.sides_differ
            else "may differ a little, though as much is seen now and then where they were drawn "
            "from the same source at random"
        )
        words += (
            f" Members and non-members {differ}: what is gained counts as a leak where it is "
            f"surely above {facts.room_of_sides:g}."
        )
    return words


def _whose_doing(findings: Findings, best: Finding) -> str:
    """On which condition what is gained is a leak; values of attributes are no sides of a split."""
    facts = best.shared
    if not findings.shown_by_scores or (best.attribute and not facts.in_files):
        return "."
    return f". {_if_drawn_alike(findings, facts)}"


def _if_drawn_alike(findings: Findings, facts: SummaryFacts) -> str:
    untold = "" if findings.inputs_are_known else ": their inputs are not there to compare"
    return (
        f"This is the {facts.what}'s doing if members and non-members were drawn at random from "
        f"the same source, which no test can prove{untold}."
    )


def _of_the_surest(findings: Findings, finding: Finding) -> str:
    top = finding.own.surest
    if top is None:
        return ""
    whose = "members" if finding.own.is_of_model else "private records"
    what = (
        "Few records leak, and these do."
        if top.are_members
        else f"{whose.capitalize()} are missing where scores are highest, and this gives them away."
    )
    said = (
        f"Over all records no attack did reliably better than {findings.than}, but of the "
        f"{top.size} highest scores of {finding.own.attack} {top.members} are those of {whose}, "
        f"where {top.expected:.3g} are expected: this is not chance"
    )
    if not finding.own.is_of_model:
        return f"{said}. {what}"
    even = "even where such inputs are twice as likely on one side"
    return f"{said}, {even}. {what} {_if_drawn_alike(findings, finding.own)}"


def _size(findings: Findings) -> str:
    best = findings.best
    if best is None:
        return ""
    if findings.shown_by_scores:
        turned = best.shared.auc is not None and best.shared.auc.value < 0.5
        way = "; the attack ranks those with the secret last, which tells as much" if turned else ""
        beyond = ", beyond what the inputs tell" if best.shared.told_by_inputs else ""
        order = "" if turned or not _only_ranks(best.shared) else _ORDER_TELLS
        what = "By the attack's scores the leak" if findings.copied else "The leak"
        word = strength_words(best.shared)
        return f"{what} is {word}{beyond}: this is not chance{way}{order}."
    if findings.surest is not None:
        return _of_the_surest(findings, findings.surest)
    if findings.shown_of_people:
        return _of_people(findings)
    if findings.shown_on_maps:
        return (
            "About the targets no attack is shown to do better than guessing, but records that "
            "are no targets are told apart for certain by what the targets taught."
        )
    if findings.shown_by_certificate:
        if any(_leaks(one.shared) for one in findings.audited):
            return (
                "What shows the leak for certain is where attacks are surest: there they are right "
                "too often for chance."
            )
        return (
            "Over all thresholds the attacks are not shown to do better than guessing, but where "
            "they are surest they are right too often for chance."
        )
    if findings.shown_by_claim:
        return (
            "What shows the leak for certain is the bound that contradicts the claim: other "
            "intervals, which hold beside it, are too wide."
        )
    if best.shared.split_is_unfit:
        what = best.shared.what
        return f"Neither a leak of the {what} nor its absence can be shown with this split."
    if best.shared.told_by_inputs:
        return _no_more_than(findings.than, best.shared.what)
    if findings.copied:
        return (
            f"Over all records no attack did reliably better than {findings.than}: so few copies "
            f"hardly move an average, and are a leak all the same. {_missed(findings)}"
        ).rstrip()
    if findings.nearly is None and findings.than != "guessing":
        return _no_more_than(findings.than, best.shared.what)
    said = nearly_words(findings) or "No attack did reliably better than guessing."
    return " ".join(part for part in (said, _missed(findings)) if part)


def _no_more_than(than: str, what: str) -> str:
    return f"No attack did reliably better than {than}: no leak of the {what} is shown."


def _of_people(findings: Findings) -> str:
    """What shows a leak where no result does by its interval."""
    said = []
    for one in findings.shown_of_people:
        if one.mean_differs(findings.confidence_of_a_way):
            area, ends = between(one.mean)
            said.append(
                f"{one.attack} has a mean AUC of {area} ({ends}) over {len(one.table)} people"
            )
        else:
            number = max(1, one.num_exposed)
            said.append(f"trials about {number} of {len(one.table)} people are ranked too well")
    lead = "By its interval no result alone excludes guessing, where all are to hold together, but"
    if any(_leaks(one.shared) for one in findings.audited):
        lead = "What shows the leak for certain is that"
    surest = (
        ", and where attacks are surest they are right too often" * findings.shown_by_certificate
    )
    return f"{lead} {listing(said, 3, show=str)}{surest}: this is not chance."


def nearly_words(findings: Findings) -> str:
    """Where one way to show a leak excludes guessing, and all of them together do not."""
    best = findings.best
    if best is None or findings.nearly is None:
        return ""
    named = {
        "scores": strength_measure(best.shared),
        "copies": "test of copies",
        "people": "mean AUC or a p-value of people",
    }
    what = named.get(findings.nearly, "certificate")
    more = "records" if findings.covers_records else "trials"
    if findings.claim.state == "contradicted":
        return (
            f"The certificate by itself excludes guessing with {_LEVEL} confidence, and "
            f"contradicts the claim. Where all ways to show a leak share the error, none does."
        )
    return (
        f"The {what} by itself excludes guessing with {_LEVEL} confidence, but not when the error "
        f"is shared between all ways to show a leak: more {more} would settle whether anything "
        f"leaks."
    )


def _only_ranks(facts: SummaryFacts) -> bool:
    """Whether guesses are no better than the best guess while scores are better than chance."""
    guessed = facts.advantage is not None and facts.advantage.low > 0
    return facts.auc is not None and facts.accuracy.low <= facts.chance and not guessed


def _missed(findings: Findings) -> str:
    """Return which leak such an audit finds nine times in ten, so that smaller ones are missed."""
    alone = [f for f in findings.audited if f.is_binary and not f.covers_records]
    if not alone:
        return _missed_of_records(findings)
    level = findings.at_this_look(findings.verdict_confidence)
    paired = any(f.own.dependence is Dependence.PAIRS for f in alone)
    epsilon = smallest_leak(
        max(f.fewest_of_a_secret for f in alone),
        confidence=level,
        delta=findings.record.delta,
        method="portfolio of pairs" if paired else "portfolio",
    )
    if math.isinf(epsilon):
        whom = " about one person" * bool(findings.people)
        return f"With so few trials even a complete leak{whom} would have been missed."
    return (
        f"With as many trials a leak that lets an attacker guess right in "
        f"{percent(1 / (1 + math.exp(-epsilon)))} of the trials, as from randomized response "
        f"(epsilon {rounded(epsilon)}) would have been found at least nine times in ten: that "
        "there is one, not its size. A smaller one may have been missed, and so may one that shows "
        "in few trials only, however surely it then does."
    )


def _missed_of_records(findings: Findings) -> str:
    """The same where records of one release or model were judged."""
    alone = [f for f in findings.audited if f.is_binary and f.own.dependence.is_by_record]
    if not alone:
        return ""
    level = findings.at_this_look(findings.verdict_confidence)
    area = min(
        smallest_area(len(f.summary) - f.num_negative, f.num_negative, confidence=level)
        for f in alone
    )
    if math.isinf(area):
        return "With so few records even a complete leak would have been missed."
    return (
        f"With as many records an attack whose AUC is {rounded(area)} would have been found "
        "about nine times in ten; less, or a leak of few records, may have been missed."
    )


def _without_result(findings: Findings) -> str:
    """Attacks that a budget, a time limit or a crash kept from any result."""
    found: dict[str, str] = {}
    for subject in findings.record.audited:
        mine = (one.own for one in findings.audited if one.own.subject == subject.name)
        judged = {facts.attack for facts in mine}
        for crash in subject.crashes:
            if crash.attack not in judged:
                found.setdefault(crash.attack, f"{crash.attack} gave no result ({crash.message})")
    if not found:
        return ""
    they = "it" if len(found) == 1 else "they"
    return f"{'; '.join(found.values())}: what {they} would have found is not known."


def _certified(findings: Findings) -> str:
    epsilon = findings.certificate
    if epsilon is None:
        return f"No epsilon is certified: {findings.no_certificate}."
    played = f"{epsilon.relation} neighbours" if epsilon.relation else ""
    facts = [fact for fact in (played, epsilon.conditions) if fact]
    setting = f" ({', '.join(facts)})" if facts else ""
    top = f"a perfect attack could have shown {rounded_down(findings.ceiling)} with as many trials"
    if findings.epsilon > 0:
        least, more = f"at least {rounded_down(findings.epsilon)}", ""
        if hardly_positive(findings.epsilon):
            least, more = "above 0", ", by a bound so near 0 that it says no more"
        return (
            f"With {_LEVEL} confidence over all attacks and targets, epsilon is "
            f"{least}{setting}{_shown_by(findings.certified)}{more}; {top}."
        )
    ceiling = rounded(findings.ceiling) if math.isnan(findings.ceiling) else top
    return f"No epsilon above 0 could be certified; {ceiling}."


def _shown_by(found: Finding | None) -> str:
    """Whose epsilon it is; it need not be that of the strongest result."""
    if found is None or not found.target:
        return ""
    return f", shown by {found.own.attack} against target {found.target}"
