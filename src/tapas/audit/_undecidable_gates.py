"""Gates that no run of this kind of audit could decide."""

from collections.abc import Sequence

from tapas.audit._nearness import counts_copies
from tapas.audit._subject import Subject
from tapas.game import Setting
from tapas.results import FEWEST_PEOPLE, Gate

__all__ = ["undecidable_gates"]

_FOR_ANY_SECRET = (
    "accuracy",
    "accuracy_gain",
    "accuracy_gap",
    "accuracy_ratio",
    "copied_records",
    "dropped_columns",
)


def undecidable_gates(gates: Sequence[Gate], subjects: Sequence[Subject]) -> list[str]:
    """Return why gates cannot be decided, and what to limit or to change instead."""
    limited = {gate.metric for gate in gates}
    found = _for_many_values(gates, subjects)
    if "copied_records" in limited and not any(
        counts_copies(subject.threat_model) for subject in subjects
    ):
        found.append("a gate on copied_records is for released files: take it out")
    if "accuracy" in limited and any(
        subject.threat_model.game.goal.kind == "attribute" for subject in subjects
    ):
        found.append(
            "a gate on accuracy says nothing of an attribute, of which the best guess without the "
            "release may be right about any share: limit accuracy_gain instead"
        )
    audited = [subject for subject in subjects if subject.role == "audited"]
    if "epsilon" in limited:
        found += _epsilon(audited)
    if "exposed_people" in limited:
        found += _people(audited)
    return found


def _for_many_values(gates: Sequence[Gate], subjects: Sequence[Subject]) -> list[str]:
    values = max(len(subject.threat_model.game.goal.values) for subject in subjects)
    return [
        f"a gate on {gate.metric} is not defined for a secret of {values} values: limit "
        f"accuracy_gain instead"
        for gate in gates
        if values > 2 and gate.metric not in _FOR_ANY_SECRET
    ]


def _epsilon(audited: Sequence[Subject]) -> list[str]:
    """One release that exists certifies none, unless a coin decided about each record."""
    settings = [subject.threat_model.game.setting for subject in audited]
    if not settings or not all(one.test == 1 and not one.coins for one in settings):
        return []
    what, remedy = _only_release(settings[0])
    return [
        f"a gate on epsilon cannot be decided: the records of one {what} are not independent, and "
        f"certify none; {remedy}limit auc or tpr_at_fpr instead"
    ]


def _only_release(setting: Setting) -> tuple[str, str]:
    """The word for a release that exists already, and how an epsilon could be certified."""
    if setting.release != "model":
        return "release", "audit the generator, or "
    if setting.goal.kind != "membership":
        return "model", ""
    return "model", "put canaries into it by fair coins (goal: canaries, or coins=True), or "


def _people(audited: Sequence[Subject]) -> list[str]:
    """People are told apart by many releases about each of them."""
    for subject in audited:
        game = subject.threat_model.game
        why = _uncounted(game.setting, game.briefing("test").num_targets)
        if why:
            return [
                f"a gate on exposed_people cannot be decided: people are counted where at least "
                f"{FEWEST_PEOPLE} are judged, each from many releases, and {subject.label} {why}; "
                f"limit auc or tpr_at_fpr instead"
            ]
    return []


def _uncounted(setting: Setting, targets: int) -> str:
    if setting.coins:
        return "puts all records into the same releases, by coins"
    if setting.test == 1:
        return f"is one {_only_release(setting)[0]}"
    few = f"has {targets} target{'s' * (targets != 1)}"
    return few if targets < FEWEST_PEOPLE else ""
