"""The numbers at the top of a page."""

from tapas.report._page_cells import best_guess_words
from tapas.report._page_copies import with_copies
from tapas.report._page_numbers import between, bound, percent
from tapas.report._page_words import EITHER_WAY
from tapas.results import (
    Findings,
    compared_columns,
    leak,
    rounded_down,
)

__all__ = ["tiles"]


def tiles(findings: Findings) -> list[dict[str, str]]:
    """Return the few numbers that matter most, each with its interval and its direction."""
    best = findings.best
    if best is None:
        return []
    facts = best.shared
    right, interval = between(facts.accuracy, share=True)
    found = [
        {
            "name": f"Accuracy of {'the strongest attack' if leak(facts)[0] > 0 else facts.attack}",
            "value": right,
            "interval": interval,
            "note": f"{best_guess_words(best)}: {percent(facts.chance)}; higher is worse",
        }
    ]
    if facts.accuracy_gain is not None:
        gain, ends = between(facts.accuracy_gain, share=True)
        note = "what the release adds; 0%: no leak"
        found.append(
            {"name": "Above the best guess", "value": gain, "interval": ends, "note": note}
        )
    columns = compared_columns(findings.record)
    within = f"; in {columns}" * bool(columns)
    for name, one in with_copies(findings.record.audited):
        found.append(
            {
                "name": "Copied word for word",
                "value": f"{one.members_copied:,} of {one.members:,}",
                "interval": name,
                "note": f"holdout: {one.non_members_copied:,} of {one.non_members:,}{within}",
            }
        )
    if facts.auc is not None:
        area, ends = between(facts.auc)
        note = "guessing: 0.50, complete leak: 1; higher is worse"
        note = f"guessing: 0.50; {EITHER_WAY}" if facts.auc.value < 0.5 else note
        found.append({"name": "AUC", "value": area, "interval": ends, "note": note})
    if facts.inputs_auc is not None:
        area, ends = between(facts.inputs_auc)
        name = f"AUC of {facts.known} alone"
        note = f"without the {facts.what}; 0.50: no difference of the sides was found"
        note = "without the model" if best.attribute else note
        if not findings.inputs_are_known:
            note = "the inputs are not there to compare"
        if facts.inputs_tell_nothing:
            area, ends, note = "none found", "", note.partition("; 0.50")[0]
        found.append({"name": name, "value": area, "interval": ends, "note": note})
    if facts.tpr_at_low_fpr is not None:
        share, ends = between(facts.tpr_at_low_fpr, share=True)
        note = "guessing: 1%; higher is worse; the interval allows for chance in both rates at once"
        found.append(
            {"name": "Found at 1% false alarms", "value": share, "interval": ends, "note": note}
        )
    certified = findings.certificate is not None
    found.append(
        {
            "name": "Certified epsilon",
            "value": bound(findings.epsilon) if certified else "none",
            "interval": f"could show at most {rounded_down(findings.ceiling)}" if certified else "",
            "note": _of_certificate(findings) if certified else "no certificate",
        }
    )
    return found


def _of_certificate(findings: Findings) -> str:
    return f"{_about(findings)}lower bound{_conditions(findings)}; higher is worse"


def _conditions(findings: Findings) -> str:
    found = findings.certificate
    return f", {found.conditions}" if found is not None and found.conditions else ""


def _about(findings: Findings) -> str:
    """Of whom epsilon is certified, where it is another than whom the other numbers are about."""
    found, best = findings.certified, findings.best
    if found is None or best is None or found.target == best.target or not findings.epsilon:
        return ""
    return f"about {found.target}; "
