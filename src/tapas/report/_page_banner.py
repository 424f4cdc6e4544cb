"""The first thing a reader sees: the verdict in a few words."""

from collections.abc import Mapping
from dataclasses import dataclass

from tapas.report._page_words import nearly_words
from tapas.results import (
    UNFIT_SPLIT,
    Findings,
    Verdict,
    compared_columns,
    given_away,
)

__all__ = ["Banner", "banner", "verdict_words"]


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


def banner(findings: Findings, verdict: Verdict) -> Banner:
    """Return the verdict in a few words; gates come first, then the claim, then what was seen."""
    if findings.best is None:
        return Banner("open", "Nothing ran", "No attack was carried out, so nothing is known.")
    words = verdict.words[:1].upper() + verdict.words[1:]
    copied = [
        f"{one.copies.count(compared_columns(findings.record))}; {one.copies.beside}"
        for one in findings.record.audited
        if one.copies is not None and (one in findings.copied or one.copies.only_private)
    ]
    values = [one.count for _, one in given_away(findings)]
    held = [*(["copies"] if copied else []), *(["private values"] if values else [])]
    beside = f", with {' and '.join(held)}" if held else ""
    words = ". ".join([words, *copied, *values])
    if any(outcome.state == "fail" for outcome in verdict.outcomes):
        return Banner("bad", "Fail", f"{words}.")
    if verdict.contradicts_claim:
        more = f" {words}." if verdict.outcomes else ""
        text = f"More leaks than the claimed guarantee allows.{more}"
        return Banner("bad", "Claim contradicted", text)
    if verdict.state == "inconclusive":
        found = _all_the_same(findings) or "No leak is shown for certain."
        return Banner("open", f"Inconclusive{beside}", f"{words}. {found}")
    if verdict.state == "pass":
        unlimited = held or (findings.leaks and not findings.found_over_all)
        text = f"{words}. {_all_the_same(findings)}".rstrip()
        return Banner("open" if unlimited else "good", f"Pass{beside}", text)
    no_limits = _no_limits(findings)
    if findings.leaks:
        return Banner(
            "bad", "Leak found", f"{'. '.join([*copied, *values, *_shown(findings)])}. {no_limits}"
        )
    if findings.best.shared.split_is_unfit:
        unfit = f"{UNFIT_SPLIT[:1].upper()}{UNFIT_SPLIT[1:]}"
        nothing = f"neither a leak of the {findings.best.shared.what} nor its absence can be shown"
        return Banner("open", "Split unfit", f"{unfit}: {nothing}. {no_limits}")
    text = f"No attack did reliably better than {findings.than}. {no_limits}"
    if held:
        return Banner("open", "Not settled", f"{'. '.join([*copied, *values])}. {text}")
    if findings.nearly is not None and not findings.best.shared.told_by_inputs:
        return Banner("open", "Not settled", f"{nearly_words(findings)} {no_limits}")
    return Banner("open", "No leak shown", text)


def _shown(findings: Findings) -> list[str]:
    """What attacks show of a leak; nothing where copies alone do."""
    if findings.found_over_all:
        return ["Attacks do reliably better than guessing"]
    if findings.surest is not None:
        return ["Few records stand out beyond chance by the highest scores of an attack"]
    return []


def _all_the_same(findings: Findings) -> str:
    """That there is a leak, where gates are open or pass."""
    if not findings.leaks:
        return ""
    found = _shown(findings) or ["More private records stand in the release than chance explains"]
    return f"A leak is found all the same: {found[0][:1].lower()}{found[0][1:]}."


def _no_limits(findings: Findings) -> str:
    """That nothing decided, or that only the claim could."""
    if findings.record.claim is None:
        return "No limits were set."
    return "Beside the claim no limits were set."


def verdict_words(entry: Mapping[str, object]) -> str:
    """A verdict of an earlier time; without limits, what was found."""
    state, leaks = str(entry.get("state")), entry.get("leaks")
    values = "; private values released" if entry.get("given_away") else ""
    if state != "none":
        found = "; leak found" if leaks and state in ("pass", "inconclusive") else ""
        return f"{state}{found}{values}"
    found = "" if leaks is None else "; leak found" if leaks else "; no leak shown"
    return f"no limits set{found}{values}"
