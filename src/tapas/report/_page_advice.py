"""Why there is a leak, in plain words, and what can be tried against it."""

from collections.abc import Mapping, Sequence
from typing import Any

from tapas.report._page_commands import (
    another_seed,
    audited_again,
    follows,
    mapped_targets,
    released_again,
)
from tapas.report._page_dropped import raised_in_file, raised_words
from tapas.report._page_failures import FAIL_ALIKE
from tapas.report._page_python_advice import python_actions
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
    exposed_targets,
    fewer_members,
    fewer_targets,
    first_of_the_map,
    less_by_heart,
    rows_to_take_out,
    strongest_attack,
    telling_column,
    values_to_draw_anew,
    whole_model_words,
    worth_hiding,
)
from tapas.results import (
    AuditRecord,
    ExposedRecords,
    Findings,
    People,
    given_away,
    leaks_beside_failures,
    only_failures_tell,
    telling_failures,
)

__all__ = ["actions", "why"]

# What attacks look at, by what their labels begin with.
_LOOKS_AT = {
    "ClosestDistance": "how near the released record most like the target is",
    "LocalNeighbour": "how many released records lie close to the target",
    "DOMIAS": "where the release is denser than the population around the target",
    "ProbabilityEstimation": "how likely the release makes the target's values",
    "Groundhog": "counts, means and correlations of the whole release, which shift with one record",
    "ShadowModelling": "summaries of the whole release, compared with releases made without it",
    "Subset": "how well the release answers questions that only few records match",
    "SyntheticPredictor": "what a model trained on the release predicts for the target",
    "LiRA": "whether the model is surer about the record than models trained without it",
    "RMIA": "whether the model is surer about the record than about others, compared with models "
    "trained without it",
    "CalibratedLoss": "whether the model errs less on the record than its difficulty suggests",
    "Quantile": "whether the model is surer about the record than about others like it",
    "Loss": "how little the model errs on the record",
    "Confidence": "how sure the model is of its answer",
    "Entropy": "how undecided the model is between classes",
    "ModifiedEntropy": "how undecided the model is between classes, given the right one",
    "LabelOnly": "how far the record can be changed before the model's answer changes",
    "RuleBased": "whether the model's answer for the record is right",
    "Imputation": "which value makes the model surest",
    "BlackBox": "what the model's scores look like on records it was trained on, and on others",
    "Certainty": "whether the model is surer about the record than models of the attacker's own",
    "Rehearsed": "how the model's scores for the record differ from those of models trained with "
    "it and without it",
    "Ensemble": "how near released records come to the target, and how many agree with it on few "
    "columns, all weighed together",
    "RecordEnsemble": "how near released records come to the target, how dense they lie around it "
    "and which of its values they share, all weighed together",
    "Marginals": "whether the counts that the generator keeps are those of data with the target",
    "Query": "how well the release answers questions that only few records match",
    "Nearness": "how near the released records most like the target are",
    "SinglingOut": "descriptions that fit one released record, and then one private record",
    "Linkability": "whether two halves of a record lead to the same released records",
    "Inference": "whether released records like the target tell one of its values",
    "Reconstruction": "which sensitive values fit the counts that the release keeps",
    "Tree": "whether the record's values made thresholds of the trees, and how full its leaves are",
    "Likelihood": "how likely the fitted generator finds the target",
    "PropertyClassifier": "how the model's answers shift with the make-up of its training records",
    "WhiteBoxProperty": "how the model's parameters follow the make-up of its training records",
}


def why(findings: Findings) -> str:
    """Return what the strongest attack looked at; empty where nothing leaks."""
    if not findings.found_by_attack:
        return ""
    label = strongest_attack(findings)
    known = (name for name in _LOOKS_AT if label.startswith(name))
    name = max(known, key=len, default=None)
    if name is None:
        return ""
    looks_at = f"he strongest attack, {label}, looks at {_LOOKS_AT[name]}."
    best, told = findings.best, telling_failures(findings)
    if best is None or (best.own.subject, best.own.target) not in {
        (one.subject, one.target) for one in told
    }:
        return f"T{looks_at}"
    if leaks_beside_failures(findings, best):
        return f"Beside the failures t{looks_at}"
    return (
        f"The strongest attack, {label}, sees the failures too: among the trials that did not "
        "fail no leak is shown by it."
    )


def actions(
    findings: Findings, exposed: list[ExposedRecords], people: Sequence[People] = ()
) -> list[Action]:
    """Return what fits a leak in what was audited, and was not done; nothing where none is."""
    found = _of_values(findings)
    if not findings.leaks and not any(one.num_exposed for one in people):
        return found
    found += [Action(FAIL_ALIKE, ())] * bool(telling_failures(findings))
    if only_failures_tell(findings):
        return found
    return [*found, *_beside_failures(findings, exposed, people)]


def _of_values(findings: Findings) -> list[Action]:
    """What fits private values in columns that no attack looked at."""
    record = findings.record
    columns = list(dict.fromkeys(column.name for _, column in given_away(findings)))
    if not columns:
        return []
    words = values_to_draw_anew(columns)
    if not record.question.get("release"):
        return [Action(f"{words}.", ())]
    data = record.question["data"]
    known = {*(data.get("drop") or ()), (data.get("read") or {}).get("index")}
    drop = [name for name in columns if name not in known]
    words += f", save it as redrawn.csv{_beside_the_file(record)}, and audit that."
    again = released_again(record, "redrawn", released="redrawn.csv", drop=drop)
    return [Action(words + raised_words(record, drop), again)]


def _beside_failures(
    findings: Findings, exposed: list[ExposedRecords], people: Sequence[People]
) -> list[Action]:
    record = findings.record
    if record.question.get("release"):
        return _for_files(record, exposed)
    if record.question.get("model"):
        return _for_models(findings, exposed)
    if record.question.get("generator"):
        return _for_generators(record, people)
    return python_actions(findings, exposed, people)


def _for_files(record: AuditRecord, exposed: list[ExposedRecords]) -> list[Action]:
    column, copied = telling_column(exposed), copied_rows(record)
    where = _beside_the_file(record)
    removes = bool(copied) and len(record.audited) == 1 and not where
    fewer = rows_to_take_out(copied)
    fewer += "; this does so, and audits what is left in fewer.csv." if removes else ""
    fewer += "" if removes else f", save what is left as fewer.csv{where}, and audit that."
    found = _other_file(record, fewer, "fewer", without_copies=removes)
    if column:
        words = column_of_release(column)
        words += f" This audits it as if “{column}” had not been released."
        words += raised_words(record, [column])
        without = released_again(record, f"without {column}", drop=[column])
        found.append(Action(words, without))
    noisy = f"{NOISY}, save it as noisy.csv{where}, and audit that."
    return [*found, *_other_file(record, noisy, "noisy")]


def _beside_the_file(record: AuditRecord) -> str:
    return " beside the audit file" if record.provenance.get("audit_file") else ""


def _other_file(
    record: AuditRecord, words: str, name: str, *, without_copies: bool = False
) -> list[Action]:
    """The advice to release another file, unless it is that file already."""
    file = f"{name}.csv"
    if follows(record, {"release.file": file}):
        return []
    again = released_again(record, name, released=file, without_copies=without_copies)
    return [Action(words, again)]


def _for_models(findings: Findings, exposed: list[ExposedRecords]) -> list[Action]:
    record = findings.record
    model: dict[str, Any] = record.question["model"]
    if (record.question.get("goal") or {}).get("property"):
        return [Action(OTHER_SHARE, ()), *_less_shown(findings, model)]
    people = exposed_members(exposed)
    out = [*(record.question.get("data") or {}).get("leave_out", ()), *people]
    first, larger = _larger(record)
    whole, without = whole_model_words(exposed), {"data.leave_out": _names(out)}
    fewer = _trained_again(record, fewer_members(people), "fewer", without)
    found = [
        *_regularised(record, model),
        *([Action(whole, ())] if whole else fewer),
        *_trained_again(record, f"Train on more records{first}.", "more", larger),
    ]
    return [*found, *_less_shown(findings, model)]


def _less_shown(findings: Findings, model: dict[str, Any]) -> list[Action]:
    """The advice to show less of a model than it shows, where that takes from the attack."""
    record, found = findings.record, []
    worth = worth_hiding(findings, model.get("access"))
    hidden = {"model.shown": None} if model.get("shown") else {}
    if "parameters" in worth:
        changes = {"model.access": "scores", "attacks": None}
        found.append(Action(KEEP_PARAMETERS, audited_again(record, "scores", changes)))
    if "scores" in worth:
        changes = {"model.access": "labels", "attacks": None, **hidden}
        found.append(Action(CLASSES_ONLY, audited_again(record, "labels", changes)))
    return found


def _regularised(record: AuditRecord, model: dict[str, Any]) -> list[Action]:
    words = LESS_BY_HEART
    less = less_by_heart(str(model.get("use") or "").rpartition(":")[2])
    if less is None and model.get("use"):
        words += " Say so by the parameters of its class, in place of PARAMETER: 1."
    changes = {"model.parameters": {**model.get("parameters", {}), **(less or {"PARAMETER": 1})}}
    return _trained_again(record, words, "regular", changes if model.get("use") else {})


def _saved(model: dict[str, Any], name: str) -> str:
    """What is to be done first where the model is not trained by the audit."""
    if model.get("file"):
        return f" Save the model so trained as {name}.onnx, beside the audit file."
    return " The service must answer by the model so trained." if model.get("endpoint") else ""


def _trained_again(
    record: AuditRecord, words: str, name: str, changes: Mapping[str, object]
) -> list[Action]:
    """A model that is trained elsewhere must be made anew: another file, or answers of its own."""
    model, anew = record.question["model"], dict(changes)
    if model.get("file"):
        anew["model.file"] = f"{name}.onnx"
    elif model.get("endpoint"):
        anew["model.endpoint.answers"] = f"{name}.sqlite"
    return _changed(record, words + _saved(model, name), name, anew)


def _changed(
    record: AuditRecord, words: str, name: str, changes: Mapping[str, object]
) -> list[Action]:
    """The advice to change an audit, unless it is that way already."""
    if follows(record, changes):
        return []
    return [Action(words, audited_again(record, name, changes))]


def _for_generators(record: AuditRecord, people: Sequence[People]) -> list[Action]:
    data = record.question.get("data") or {}
    out = [*data.get("leave_out", ()), *exposed_targets(people)]
    records = (record.question.get("knowledge") or {}).get("records")
    first, larger = _larger(record)
    larger |= {"knowledge.records": 2 * records} if records else {}
    fewer, more = fewer_targets(people), f"{MORE_RECORDS}{first}."
    return [
        *_made_private(record, data),
        _without_column(record, people, list(data.get("drop", ()))),
        *_changed(record, fewer, "fewer", {"data.leave_out": _names(out)}),
        *_changed(record, more, "more", larger),
        *_first_of_the_map(record),
    ]


def _first_of_the_map(record: AuditRecord) -> list[Action]:
    words = first_of_the_map(record)
    if not words:
        return []
    changes = {"data.targets": mapped_targets(record), **another_seed(record)}
    return [Action(words, audited_again(record, "map", changes, compared=False))]


def _without_column(record: AuditRecord, people: Sequence[People], dropped: list[str]) -> Action:
    """The advice to leave out the column that makes the most exposed recognisable."""
    words, columns = column_of_people(people)
    words += raised_words(record, columns)
    drop = {"data.drop": [*dropped, *columns], **raised_in_file(record, columns)}
    again = audited_again(record, f"without {columns[0]}", drop) if columns else ()
    return Action(words, again)


def _larger(record: AuditRecord) -> tuple[str, dict[str, object]]:
    """What is to be done first to have twice as many records, and what changes then."""
    data, inputs = (record.question.get(key) or {} for key in ("data", "inputs"))
    if data.get("sample"):
        return "", {"data.rows": 2 * inputs["data.sample"]["rows"]}
    changes: dict[str, object] = {"data.table": "more.csv"}
    changes |= {"data.rows": None} if data.get("rows") else {}
    return ": save a table twice as large as more.csv, beside the audit file", changes


def _made_private(record: AuditRecord, data: Mapping[str, Any]) -> list[Action]:
    """A generator with a guarantee, or with a stricter one."""
    parts = record.question.get("generator") or []
    parts = [parts] if isinstance(parts, dict) else list(parts)
    first = parts[0] if parts else {}
    parameters = first.get("parameters") or {}
    if len(parts) == 1 and isinstance(parameters.get("epsilon"), (int, float)):
        words = "Lower the epsilon of the generator."
        lower = parameters | {"epsilon": parameters["epsilon"] / 10}
        changes: dict[str, object] = {"generator.parameters": lower}
        return [Action(words, audited_again(record, "private", changes))]
    if any(part.get("use") == "MST" for part in parts):
        return []
    private = {"use": "MST", "parameters": {"epsilon": 1}}
    private |= {"records": first["records"]} if first.get("records") else {}
    several = [_without_nothing(part) for part in parts]
    changes = {"generator": [*several, private] if len(parts) > 1 else private}
    words = "Use a generator with differential privacy."
    if not data.get("bounds"):
        changes["data.bounds"] = "table"
        words += (
            " It must be told the lowest and highest value of number columns. Here they are read "
            "off the private table, which serves to try it out and which its guarantee does not "
            "cover: for a release, state what is known without the data "
            "(data.bounds: {COLUMN: [LOWEST, HIGHEST]})."
        )
    return [Action(words, audited_again(record, "private", changes, compared=len(parts) < 2))]


def _without_nothing(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if value not in (None, {})}


def _names(people: Sequence[object]) -> list[object]:
    """Records by name; row numbers as numbers, which are easier to read."""
    plain = [str(one) for one in people]
    return [int(one) if one.isdigit() and str(int(one)) == one else one for one in plain] or [0]
