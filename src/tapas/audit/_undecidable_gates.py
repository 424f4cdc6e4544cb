"""Gates that no run of this kind of audit could decide, and those that can end in one way only."""

from collections.abc import Sequence
from dataclasses import dataclass

from tapas.audit._nearness import counts_copies
from tapas.audit._subject import Subject
from tapas.game import CountsRightGuesses, DrawsValues, Setting
from tapas.results import FEWEST_PEOPLE, MEASURES, Gate, beyond_reach

__all__ = ["one_sided_gates", "undecidable_gates"]

_LIMITED = {measure.gate: measure for measure in MEASURES if measure.gate is not None}
_OF_TWO_VALUES = ("epsilon", "exposed_people")
_OF_MODELS = ("accuracy_gap", "accuracy_ratio")


def undecidable_gates(gates: Sequence[Gate], subjects: Sequence[Subject]) -> list[str]:
    """Return why gates cannot be decided, and what to limit or to change instead."""
    limited = {gate.metric for gate in gates}
    audited = [subject for subject in subjects if subject.role == "audited"]
    asked = [_Asked.of(subject) for subject in audited]
    found = [words for gate in gates for words in _undefined(gate, asked)]
    found += [words for gate in gates for words in _settled(gate, audited, asked)]
    if "copied_records" in limited and not any(
        counts_copies(subject.threat_model) for subject in subjects
    ):
        found.append("a gate on copied_records is for released files: take it out")
    of_attributes = [one for one in asked if one.is_attribute]
    if "accuracy" in limited and of_attributes:
        found.append(
            "a gate on accuracy says nothing of an attribute, of which the best guess without the "
            f"release may be right about any share: {of_attributes[0].remedy}"
        )
    if "epsilon" in limited:
        found += _epsilon(audited)
    if "exposed_people" in limited:
        found += _people(audited)
    return found


def one_sided_gates(gates: Sequence[Gate]) -> list[str]:
    """Return what should be known of gates that can never pass."""
    return [
        f"a gate on epsilon (at most {gate.at_most:g}) can fail and cannot pass: no audit shows "
        "that an epsilon is smaller, so it ends with exit code 1 or 6, never 0; state a claim "
        "instead if that is not wanted"
        for gate in gates
        if gate.metric == "epsilon"
    ]


@dataclass(frozen=True)
class _Asked:
    """What is asked about a subject, as far as measures differ by it."""

    is_attribute: bool
    counts_right_guesses: bool
    values: int
    is_one_release: bool
    is_model: bool

    @classmethod
    def of(cls, subject: Subject) -> "_Asked":
        game = subject.threat_model.game
        counts = isinstance(game, CountsRightGuesses) and game.right_guesses_of is not None
        setting = game.setting
        return cls(
            is_attribute=game.goal.kind == "attribute",
            counts_right_guesses=counts,
            values=2 if counts else len(game.goal.values),
            is_one_release=setting.test == 1 and not setting.coins,
            is_model=setting.release == "model" and setting.goal.kind == "membership",
        )

    def has(self, metric: str) -> bool:
        """Whether what is limited is defined."""
        if metric in _OF_MODELS:
            return self.is_model
        if metric in _OF_TWO_VALUES:
            return self.values <= 2
        measure = _LIMITED.get(metric)
        return measure is None or measure.is_defined_of(
            "values" if self.values > 2 else "binary",
            of_attribute=self.is_attribute and not self.counts_right_guesses,
            beside_inputs=self.is_one_release,
        )

    def why(self, metric: str) -> str:
        """Why it is not."""
        if metric in _OF_MODELS:
            return "where no model is audited whose training records are known"
        if self.values > 2:
            return f"for a secret of {self.values} values"
        if self.counts_right_guesses:
            return "of files, where right guesses about used records are held against others"
        if metric == "accuracy_gain":
            return "for membership or a property: it is for guesses of an attribute"
        return "where there are no records of one model or file whose inputs alone could tell"

    @property
    def remedy(self) -> str:
        """What is defined instead."""
        if self.values > 2:
            return "limit accuracy_gain instead"
        if self.counts_right_guesses:
            return "limit advantage instead"
        if self.is_attribute:
            return "limit accuracy_gain or auc instead"
        return "limit auc or tpr_at_fpr instead"


def _undefined(gate: Gate, asked: Sequence[_Asked]) -> list[str]:
    without = [one for one in asked if not one.has(gate.metric)]
    # The models among what is audited decide by themselves; other measures are of everybody.
    if not without or (gate.metric in _OF_MODELS and len(without) < len(asked)):
        return []
    one = without[0]
    return [f"a gate on {gate.metric} is not defined {one.why(gate.metric)}; {one.remedy}"]


def _settled(gate: Gate, audited: Sequence[Subject], asked: Sequence[_Asked]) -> list[str]:
    """A limit that is always exceeded, or never."""
    measure = _LIMITED.get(gate.metric)
    limit = f"a gate on {gate.metric} of at most {gate.at_most:g}"
    centre = None if measure is None else measure.turns_about
    if centre is not None and gate.at_most < centre and any(one.values <= 2 for one in asked):
        return [
            f"{limit} cannot pass: both directions count, so that guessing, {centre:g}, is the "
            f"least; give a limit above {centre:g}"
        ]
    games = [subject.threat_model.game for subject in audited]
    shares = [game.commonest_share if isinstance(game, DrawsValues) else None for game in games]
    reasons = [beyond_reach(gate, share) for share in shares]
    return [f"{limit} cannot fail: {reasons[0]}"] if reasons and all(reasons) else []


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
