"""Why there is a leak, in plain words, and what can be tried against it."""

import shlex
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tapas.results import AuditRecord, ExposedRecords, Findings

__all__ = ["Action", "actions", "why"]

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


def actions(findings: Findings, exposed: list[ExposedRecords]) -> list[Action]:
    """Return what fits a leak in what was audited; nothing where none was found."""
    if not findings.leaks:
        return []
    question = findings.record.question
    if question.get("release"):
        return _for_files(findings.record, exposed)
    if question.get("model"):
        return _for_models(question["model"])
    if question.get("generator"):
        return _for_generators()
    return []


def _for_files(record: AuditRecord, exposed: list[ExposedRecords]) -> list[Action]:
    inputs = record.question.get("inputs", {})
    keys = ("data.table", "data.holdout", "release.file")
    private, holdout, released = (str(inputs.get(key, {}).get("file", key)) for key in keys)
    column = _telling_column(exposed)
    again = ["tapas", "release", private, holdout]
    return [
        Action(
            "Leave out, or coarsen, a column on which exposed records agree with released ones"
            + (f" (“{column}” is the commonest)." if column != "COLUMN" else "."),
            (
                shlex.join([*again, released, "--drop", column, "--folder", "without-column"]),
                f"tapas compare {shlex.quote(_folder(released))} without-column",
            ),
        ),
        Action(
            "Take the released rows that stand beside the most exposed records (“released row” in "
            "exposure.csv) out of the release, and audit what is left.",
            (
                shlex.join([*again, "fewer.csv", "--folder", "fewer-run"]),
                f"tapas compare {shlex.quote(_folder(released))} fewer-run",
            ),
        ),
        Action(
            "Make the release again with a generator that adds noise (NoisyMarginals, MST or "
            "PrivBayes with a small epsilon), or from more records, and audit that.",
            (
                shlex.join([*again, "noisy.csv", "--folder", "noisy-run"]),
                f"tapas compare {shlex.quote(_folder(released))} noisy-run",
            ),
        ),
    ]


def _for_models(model: dict[str, Any]) -> list[Action]:
    tried = ("tapas run audit.yaml --folder tried-run", "tapas compare audit-run tried-run")
    found = [
        Action(
            "Let the model learn its records less by heart: fewer epochs, smaller trees "
            "(max_depth, min_samples_leaf), more regularisation in model.parameters.",
            tried,
        ),
        Action("Train on more records, or leave the most exposed ones out of data.table.", tried),
    ]
    if model.get("access") != "labels":
        found.append(
            Action("Answer with classes only, without scores: model.access: labels.", tried)
        )
    return found


def _for_generators() -> list[Action]:
    tried = ("tapas run audit.yaml --folder tried-run", "tapas compare audit-run tried-run")
    return [
        Action(
            "Use a generator with differential privacy, or lower its epsilon: "
            "generator: {use: MST, parameters: {epsilon: 1}}.",
            tried,
        ),
        Action("Leave out, or coarsen, columns that make records unusual: data.drop.", tried),
        Action("Leave the most exposed records out of the private table.", tried),
        Action("Make the generator from more records: each one then weighs less.", tried),
    ]


def _telling_column(exposed: list[ExposedRecords]) -> str:
    """The column on which most of the exposed members agree with their nearest released record."""
    shared: Counter[str] = Counter()
    for one in exposed:
        if "agrees_on" in one.table:
            top = one.table[one.table["member"]]["agrees_on"].dropna()
            partly = (str(names) for names in top if names not in ("all columns", "nothing"))
            shared.update(name for names in partly for name in names.split(", "))
    return shared.most_common(1)[0][0] if shared else "COLUMN"


def _folder(released: str) -> str:
    return f"{released.split('.')[0]}-run"
