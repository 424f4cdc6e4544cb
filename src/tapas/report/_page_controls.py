"""What the controls say about the audited results."""

from tapas.results import LEAKY_CONTROL, SAFE_CONTROL, UNFIT_SPLIT, Findings

__all__ = ["control_words", "safe_control_words"]


def control_words(findings: Findings) -> str:
    """Return what the controls say about the audited results."""
    found = findings.control_leaks
    if _is_unfit(findings):
        return f"As {UNFIT_SPLIT}, controls show neither where the scale begins nor where it ends."
    if max(found.values(), default=0.0) <= 0:
        return (
            "No attack succeeded against any control for certain. If one of them is known to leak, "
            "these attacks or this number of trials cannot show a leak, and a low result means "
            "nothing."
        )
    meant_safe = {name: low for name, low in found.items() if name != LEAKY_CONTROL}
    if not meant_safe:
        return (
            "The control, which is known to leak, shows where the scale ends. There is none to "
            "show where it begins."
        )
    lowest = min(meant_safe, key=lambda name: meant_safe[name])
    if found.get(LEAKY_CONTROL, 1.0) <= 0:
        return (
            "The control that is known to leak shows nothing for certain: these attacks or this "
            "number of trials can hardly show a leak, and a low result means little."
        )
    if meant_safe[lowest] > 0:
        return (
            "Controls show where the scale begins and ends. Here one that is not meant to leak "
            f"{_tells(findings, lowest)}"
        )
    return (
        "Controls show where the scale begins and ends: a control known to leak should stand far "
        "above guessing, one that keeps single columns only should not, as here. Read the audited "
        "results between them."
    )


def safe_control_words(findings: Findings) -> str:
    """What the verdict says of a control that is not meant to leak; empty where it does not."""
    if _is_unfit(findings) or not findings.control_leaks.get(SAFE_CONTROL, 0.0) > 0:
        return ""
    return f"A control that is not meant to leak {_tells(findings, SAFE_CONTROL)}"


def _is_unfit(findings: Findings) -> bool:
    return any(one.own.split_is_unfit for one in findings.all)


def _tells(findings: Findings, control: str) -> str:
    above = ", of which more is found for certain" * findings.is_above_audited(control)
    return (
        "tells something about its records too: with so few records even that is no safe "
        f"release. Read the audited results against “{control}”{above}."
    )
