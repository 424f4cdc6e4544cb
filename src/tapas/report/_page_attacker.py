"""What the attacker knew and could do, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from tapas.report._page_numbers import counted, percent
from tapas.report._page_python_question import stated_questions
from tapas.results import AuditRecord, Findings, drawn_values_words
from tapas.stats import Dependence

__all__ = ["attacker_words"]

_MECHANISM = {
    "black-box": "can run the generator on data of their own",
    "no-box": "cannot run the generator",
    "white-box": "sees the fitted generator as well",
    "uncertain": "can run the generator on data of their own, without knowing its parameters",
}
READ_PARAMETERS = {"TreeMIA", "WhiteBoxPropertyClassifier"}  # the attacks that do


def attacker_words(record: AuditRecord) -> list[str]:
    """Return what the attacker knew and could do; of several subjects, what is told of each."""
    stated = stated_questions(record) or [("", record.question)]
    told = [(name, _words(record, question)) for name, question in stated]
    if all(words == told[0][1] for _, words in told):
        return told[0][1]
    return [f"{name}: {' '.join(words)}" for name, words in told]


def _words(record: AuditRecord, question: Mapping[str, Any]) -> list[str]:
    if question.get("release"):
        return [
            "The attacker sees the released table, and records of the population.",
            _known(question, question["release"]),
            *_why_fewer(question),
            *_guessed((question.get("goal") or {}).get("attribute")),
        ]
    if question.get("predictions"):
        return _about_predictions(question)
    if question.get("model"):
        return _about_model(question)
    if question.get("generator"):
        said = _about_generator(question.get("knowledge", {}))
        return [*said, *_fits(record), *_pairs(record, question), *drawn_values_words(question)]
    if question.get("imported"):
        return ["The attacker sees releases that somebody else made."]
    return ["This audit was put together in Python: the question, below, says what was known."]


def _about_predictions(question: Mapping[str, Any]) -> list[str]:
    number = question["predictions"].get("references")
    references = f", what {counted(number, 'reference model')} said of it" if number else ""
    return [
        f"The attacker sees what the model said of each record{references} and its true class, and "
        "nothing else of the records.",
        _known(question, question["predictions"]),
    ]


def _about_model(question: Mapping[str, Any]) -> list[str]:
    model, goal = question["model"], question.get("goal") or {}
    asks = f"The attacker may ask the model and sees its {_seen(model)}"
    if model.get("budget") is not None:
        asks += f" of at most {counted(int(model['budget']), 'record')}"
    if goal.get("property"):
        number = int((question.get("trials") or {}).get("train", 0))
        return [f"{asks}, and trains {number:,} such models on other records, with each share."]
    if goal.get("attribute"):
        known = f"all inputs but “{goal['attribute']['column']}”, and its class"
        return [f"{asks}, and knows of each record {known}.", *_unread(question)]
    shadows = model.get("shadows")
    if shadows is None:  # as audit files have it by default
        shadows = 16 if model.get("use") or model.get("trainer") else 0
    trained = f"trains {shadows} models of the same kind" if shadows else "trains no models"
    return [f"{asks}, and {trained} to compare with.", *_unread(question), _known(question, model)]


def _seen(model: Mapping[str, Any]) -> str:
    """Which part of its answers a model shows."""
    access, shown = str(model.get("access", "scores")), model.get("shown") or {}
    if access == "labels" or not shown:
        return access
    top, decimals = shown.get("top"), shown.get("decimals")
    words = "scores" if top is None else f"{counted(int(top), 'largest score')} for each record"
    return words if decimals is None else f"{words}, to {counted(int(decimals), 'decimal')}"


def _unread(question: Mapping[str, Any]) -> list[str]:
    """Where parameters are in sight, and no attack looks at them."""
    names = {str(attack.get("use")) for attack in question.get("attacks") or ()}
    ones_own = any(":" in name for name in names)
    shown = question["model"].get("access") == "parameters"
    if not shown or not names or ones_own or names & READ_PARAMETERS:
        return []
    return [
        "None of these attacks reads the parameters of this kind of model: what is found is what "
        "its scores tell."
    ]


def _guessed(attribute: Mapping[str, Any] | None) -> list[str]:
    if not attribute:
        return []
    return [
        f"What counts is whether “{attribute['column']}” is guessed right from the release and the "
        "other columns. What is guessed right about records that were not used, anybody could "
        "guess: it is the false positive rate, and the advantage is the excess over it."
    ]


def _pairs(record: AuditRecord, question: Mapping[str, Any]) -> list[str]:
    """Why trials that are played in pairs count as independent."""
    asked = (question.get("goal") or {}).get("membership") or {}
    exact = (question.get("knowledge") or {}).get("data") == "exact"
    found = {finding.own.dependence for finding in Findings(record).audited}
    independent = found == {Dependence.INDEPENDENT}
    if not (exact and asked.get("pairs") and independent):
        return []
    return [
        "Trials come in pairs, with the target and without. The private data is otherwise the same "
        "in all of them, so that the two of a pair share nothing that is drawn: they are "
        "independent, and count so."
    ]


def _about_generator(knowledge: Mapping[str, Any]) -> list[str]:
    mechanism = knowledge.get("mechanism", "black-box")
    runs = _MECHANISM.get(mechanism, f"knows of the generator what {mechanism} says")
    said = [f"The attacker holds {_held(knowledge)}, and {runs}."]
    if knowledge.get("records") is not None:
        said.append(f"Each private dataset has {int(knowledge['records']):,} records.")
    return said


def _held(knowledge: Mapping[str, Any]) -> str:
    """The data of an attacker on a generator."""
    data = knowledge.get("data", "auxiliary")
    if data == "exact":
        return "all private records but the secret one"
    if data not in ("auxiliary", "identifiers"):
        return f"what {data} says"
    share = f"{100 * float(knowledge.get('split', 0.5)):g}% of the table"
    number = knowledge.get("held")
    held = share if number is None else counted(int(number), "record")
    held += ", which the private datasets are not drawn from"
    if data == "identifiers":
        held += ", knows all columns of the private records but the sensitive one"
    return held


def _fits(record: AuditRecord) -> list[str]:
    """How many runs of the generator attacks learnt from and were judged by."""
    played = {(one.trials.get("train", 0), one.trials.get("test", 0)) for one in record.audited}
    if len(played) != 1:
        return []
    train, test = played.pop()
    learnt = f"learnt from {counted(train, 'fit')} of the generator and " if train else ""
    return [f"Attacks {learnt}were judged by {counted(test, 'fit')}."] if test else []


def _known(question: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    """How many records of each side are known and judged, where the record says."""
    data = question.get("data") or {}
    counts = data.get("records")
    if not counts:
        return f"{_known_of(part)}."
    noun = ("canary", "canaries") if data.get("canaries") else ("record", "records")
    known = (counts["known_members"], counts["known_non_members"])
    further = counts.get("reference")
    holds = "" if further is None else f", and holds {_population(int(further))}"
    return (
        f"{_known_sides(known, noun)}{holds}; judged are "
        f"{counted(int(counts['judged_members']), *noun)} that were used and "
        f"{int(counts['judged_non_members']):,} that were not."
    )


def _why_fewer(question: Mapping[str, Any]) -> list[str]:
    """Why fewer are known than known_share says, where part of the holdout is the reference."""
    counts = (question.get("data") or {}).get("records")
    if not counts or question["release"].get("reference") is not None or not counts["reference"]:
        return []
    used, others = (
        percent(counts[f"known_{side}"] / counts[side]) for side in ("members", "non_members")
    )
    share = float(question["release"].get("known_share", 0.5))
    return [
        f"Known are {used} of the private records and {others} of the holdout, where known_share "
        f"is {share:g}: of the holdout half of that is the population, and of what is left the "
        f"same part of either side is known, so that both are kept alike."
    ]


def _population(number: int) -> str:
    return f"{counted(number, 'record')} that were not used as the population"


def _known_of(part: Mapping[str, Any]) -> str:
    """What records of earlier versions and of audits in Python say."""
    if part.get("known") is not None:
        return _known_sides(part["known"], ("record", "records"))
    share = 100 * float(part.get("known_share", 0.5))
    return f"The attacker knows of {share:g}% of the records whether they were used"


def _known_sides(sides: Sequence[int], noun: tuple[str, str]) -> str:
    members, others = (counted(int(number), *noun) for number in sides)
    return f"The attacker knows of {members} that they were used, and of {others} not"
