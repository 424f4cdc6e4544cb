"""What can be tried against a leak in an audit that was put together in Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from tapas.report._page_remedies import (
    CLASSES_ONLY,
    KEEP_PARAMETERS,
    LESS_BY_HEART,
    MORE_RECORDS,
    NOISY,
    OTHER_SHARE,
    Action,
    column_of_people,
    column_of_release,
    copied_rows,
    exposed_members,
    fewer_members,
    fewer_targets,
    first_of_the_map,
    less_by_heart,
    rows_to_take_out,
    telling_column,
    whole_model_words,
    worth_hiding,
)
from tapas.results import AuditRecord, ExposedRecords, Findings, People

__all__ = ["python_actions"]


def python_actions(
    findings: Findings, exposed: Sequence[ExposedRecords], people: Sequence[People]
) -> list[Action]:
    """Return the advice that audit files get, in words: the change is made where the audit is."""
    record = findings.record
    game = _game(record)
    name = str(game.get("path", "")).rpartition(".")[2]
    worth = worth_hiding(findings, (game.get("access") or {}).get("value"))
    if name == "ObservedGame":
        words = _for_files(record, exposed)
    elif name == "TargetedGame":
        words = _for_generators(record, people)
    elif name == "PropertyGame":
        words = [OTHER_SHARE, *_less_shown(worth)]
    elif name in ("ModelMembershipGame", "ModelAttributeGame"):
        words = [*_for_models(record, exposed), *_less_shown(worth)]
    else:
        words = []
    return [Action(one, ()) for one in words if one]


def _game(record: AuditRecord) -> Mapping[str, Any]:
    """The game that the first audited subject played, as the question describes it."""
    for subject in record.question.get("subjects") or ():
        if subject.get("role") == "audited":
            return subject.get("threat_model") or {}
    return {}


def _for_files(record: AuditRecord, exposed: Sequence[ExposedRecords]) -> list[str]:
    column = telling_column(exposed)
    return [
        f"{rows_to_take_out(copied_rows(record))}.",
        column_of_release(column) if column else "",
        f"{NOISY}.",
    ]


def _for_models(record: AuditRecord, exposed: Sequence[ExposedRecords]) -> list[str]:
    name = record.audited[0].name
    less = less_by_heart(name) or {}
    such = ", ".join(f"{key}={value!r}" for key, value in less.items())
    return [
        f"{LESS_BY_HEART} Here, such as {name}({such})." if such else LESS_BY_HEART,
        whole_model_words(exposed) or fewer_members(exposed_members(exposed)),
        "Train on more records.",
    ]


def _less_shown(worth: Sequence[str]) -> list[str]:
    return [
        f'{KEEP_PARAMETERS} That is access="scores".' if "parameters" in worth else "",
        f'{CLASSES_ONLY} That is access="labels".' if "scores" in worth else "",
    ]


def _for_generators(record: AuditRecord, people: Sequence[People]) -> list[str]:
    return [
        "Use a generator with differential privacy, such as MST(epsilon=1), or a smaller epsilon "
        "where it has one.",
        column_of_people(people)[0],
        fewer_targets(people),
        f"{MORE_RECORDS}.",
        first_of_the_map(record),
    ]
