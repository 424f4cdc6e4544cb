"""Why there is a leak, in plain words, and what can be tried against it."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tapas.datasets import Reading
from tapas.results import AuditRecord, ExposedRecords, Findings, People

__all__ = ["Action", "actions", "why"]

_FEW = 5  # people named in advice
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
}


@dataclass(frozen=True)
class Action:
    """Something that may help, and the commands that show whether it does."""

    words: str
    commands: tuple[str, ...]


def why(findings: Findings) -> str:
    """Return what the strongest attack looked at; empty where nothing leaks."""
    best = findings.best
    if best is None or not findings.leaks:
        return ""
    label = best.own.attack
    known = (name for name in _LOOKS_AT if label.startswith(name))
    name = max(known, key=len, default=None)
    if name is None:
        return ""
    return f"The strongest attack, {label}, looks at {_LOOKS_AT[name]}."


def actions(
    findings: Findings, exposed: list[ExposedRecords], people: Sequence[People] = ()
) -> list[Action]:
    """Return what fits a leak in what was audited; nothing where none was found."""
    if not findings.leaks and not any(one.num_exposed for one in people):
        return []
    record = findings.record
    if record.question.get("release"):
        return _for_files(record, exposed)
    if record.question.get("model"):
        return _for_models(record, exposed)
    if record.question.get("generator"):
        return _for_generators(record, people)
    return []


def _for_files(record: AuditRecord, exposed: list[ExposedRecords]) -> list[Action]:
    inputs = record.question.get("inputs", {})
    keys = ("data.table", "data.holdout", "release.file")
    private, holdout, released = (str(inputs.get(key, {}).get("file", key)) for key in keys)
    here = str(record.provenance.get("folder") or f"{released.split('.')[0]}-run")
    column = _telling(exposed)
    given = list(_options_of(record.question))

    def tried(file: str, folder: str, *options: str) -> tuple[str, str]:
        again = ["tapas", "release", private, holdout, file, *given, *options, "--folder", folder]
        return shlex.join(again), shlex.join(["tapas", "compare", here, folder])

    copied = any(one.copies and one.copies.rows for one in record.audited)
    which = (
        "that are private records word for word (“released_row” in copies.csv)"
        if copied
        else "that stand beside the most exposed records (“released_row” in exposure.csv)"
    )
    found = [
        Action(
            f"Take the released rows {which} out of the release, save what is left as fewer.csv, "
            "and audit that.",
            tried("fewer.csv", "fewer-run"),
        ),
    ]
    if column:
        words = (
            f"Release it without a column on which few agree but exposed records do, such as "
            f"“{column}”, or with coarser values there. This audits it as if “{column}” had not "
            "been released."
        )
        without = tried(released, _named(f"without {column}-run"), "--drop", column)
        found.append(Action(words, without))
    return [
        *found,
        Action(
            "Make the release again with a generator that adds noise (NoisyMarginals, MST or "
            "PrivBayes with a small epsilon), or from more records, save it as noisy.csv, and "
            "audit that.",
            tried("noisy.csv", "noisy-run"),
        ),
    ]


def _options_of(question: Mapping[str, Any]) -> Iterator[str]:
    """What makes `tapas release` read and attack files as this audit did."""
    data, release, goal = (question.get(key) or {} for key in ("data", "release", "goal"))
    words = [("--drop", name) for name in data.get("drop") or ()]
    for option, part in (("--read", data), ("--read-released", release)):
        words += [(option, word) for word in _choices(part.get("read") or {})]
    for option, value in (
        ("--schema", data.get("schema")),
        ("--reference", release.get("reference")),
        ("--attribute", (goal.get("attribute") or {}).get("column")),
        ("--seed", question.get("seed")),
    ):
        words += [(option, str(value))] if value else []
    return (word for pair in words for word in pair)


def _choices(reading: Mapping[str, Any]) -> Iterator[str]:
    usual = vars(Reading())
    for name, value in reading.items():
        given = value if isinstance(value, list) else [value] if value != usual[name] else []
        for one in given:
            word = str(one).lower() if isinstance(one, bool) else str(one)
            yield f"{name}={word.replace(chr(9), 'tab')}"


def _for_models(record: AuditRecord, exposed: list[ExposedRecords]) -> list[Action]:
    model: dict[str, Any] = record.question["model"]
    rows = [str(row) for one in exposed for row in _ids(one)][:_FEW]
    found = [
        _edited(
            record,
            "Let the model learn its records less by heart: fewer epochs, smaller trees, more "
            "regularisation.",
            "regular",
            "model.parameters, such as {max_depth: 6, min_samples_leaf: 10}",
        ),
        _edited(
            record,
            "Leave the most exposed records out of what it is trained on"
            + (f" (first of all {', '.join(rows)})." if rows else "."),
            "fewer",
            "data.table, a file without them",
        ),
        _edited(record, "Train on more records.", "more", "data.table, a larger file"),
    ]
    if model.get("access") != "labels":
        words = "Answer with classes only, without scores."
        found.append(_edited(record, words, "labels", "model.access: labels"))
    return found


def _for_generators(record: AuditRecord, people: Sequence[People]) -> list[Action]:
    column = _commonest(one.table for one in people if "agrees_on" in one.table)
    rows = [str(target) for one in people for target in one.table["target"]][:_FEW]
    dropped = [*(record.question.get("data") or {}).get("drop", ()), column or "COLUMN"]
    return [
        _edited(
            record,
            "Use a generator with differential privacy, or lower its epsilon.",
            "private",
            "generator: {use: MST, parameters: {epsilon: 1}}",
        ),
        _edited(
            record,
            "Leave out, or coarsen, a column that makes people recognisable"
            + (f" (few records but the nearest agree on “{column}”)." if column else "."),
            f"without {column or 'COLUMN'}",
            f"data.drop: {json.dumps(dropped, ensure_ascii=False)}",
        ),
        _edited(
            record,
            "Leave the most exposed people out of the private table"
            + (f" (first of all {', '.join(rows)})." if rows else "."),
            "fewer",
            "data.table, a file without them",
        ),
        _edited(
            record,
            "Make the generator from more records: each one then weighs less.",
            "more",
            "data.table, a larger file, and knowledge.records",
        ),
    ]


def _edited(record: AuditRecord, words: str, name: str, change: str) -> Action:
    """An action that changes something in a copy of the audit file."""
    file = str(record.provenance.get("audit_file") or "audit.yaml")
    stem = file.rpartition(".")[0] or file
    here = str(record.provenance.get("folder") or f"{stem}-run")
    copy = _named(f"{stem} {name}")
    return Action(
        words,
        (
            f"{shlex.join(['cp', file, f'{copy}.yaml'])}  # change there {change}",
            shlex.join(["tapas", "run", f"{copy}.yaml"]),
            shlex.join(["tapas", "compare", here, f"{copy}-run"]),
        ),
    )


def _named(words: str) -> str:
    return re.sub(r"[^\w.-]+", "-", words)


def _ids(exposed: ExposedRecords) -> list[object]:
    members = exposed.table[exposed.table["member"]].head(_FEW)
    return list(members["id" if "id" in members else "row"]) if "row" in members else []


def _telling(exposed: Sequence[ExposedRecords]) -> str | None:
    """The column that gives away exposed members more often than it does others."""
    sides = [
        _agreed([one.table[one.table["member"] == side] for one in exposed]) for side in (1, 0)
    ]
    (inside, members), (outside, others) = sides
    if not inside:
        return None
    excess = {name: n / members - outside[name] / max(1, others) for name, n in inside.items()}
    best = max(excess, key=lambda name: excess[name])
    return best if excess[best] > 0 else None


def _commonest(tables: Iterable[pd.DataFrame]) -> str | None:
    """The column that gives most people away beside their nearest released record."""
    shared, _ = _agreed(tables)
    return shared.most_common(1)[0][0] if shared else None


def _agreed(tables: Iterable[pd.DataFrame]) -> tuple[Counter[str], int]:
    """How many records each column gives away, the rarest that a released one agrees on."""
    shared: Counter[str] = Counter()
    number = 0
    for table in tables:
        names = table["agrees_on"].dropna() if "agrees_on" in table else ()
        partly = (str(one) for one in names if one not in ("all columns", "nothing"))
        shared.update(one.split(", ")[0] for one in partly)
        number += len(names)
    return shared, number
