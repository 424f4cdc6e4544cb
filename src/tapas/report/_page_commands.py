"""Commands that pages advise: they make the change themselves, where the audit was run."""

import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from tapas.datasets import Reading
from tapas.report._page_dropped import raised_gates, raised_in_file
from tapas.results import AuditRecord, Gate

__all__ = [
    "another_seed",
    "as_yaml",
    "audited_again",
    "follows",
    "mapped_targets",
    "released_again",
]

_LIMITS = {"auc": "max-auc", "dropped_columns": "max-dropped", "copied_records": "max-copies"}
_MOST_MAPPED = 50


def audited_again(
    record: AuditRecord, name: str, changes: Mapping[str, object], *, compared: bool = True
) -> tuple[str, ...]:
    """Run the audit file with changes, into a folder of its own, and compare.

    Changes that the audit was run with are made again.
    """
    file = str(record.provenance.get("audit_file") or "audit.yaml")
    here = _folder(record, file)
    earlier = [
        str(change)
        for change in record.provenance.get("set", ())
        if str(change).partition("=")[0] not in changes
    ]
    now = [f"{key}={as_yaml(value)}" for key, value in changes.items()]
    sets = [word for change in (*earlier, *now) for word in ("--set", change)]
    folder = _beside(here, name)
    again = shlex.join(["tapas", "run", file, *sets, "--folder", folder])
    return (again, shlex.join(["tapas", "compare", here, folder])) if compared else (again,)


def follows(record: AuditRecord, changes: Mapping[str, object]) -> bool:
    """Whether the audit was run as these changes would have it."""
    asked = ((_asked(record.question, key), value or None) for key, value in changes.items())
    return bool(changes) and all(now in (then, [then]) for now, then in asked)


def _asked(question: Mapping[str, Any], key: str) -> object:
    found: Any = question
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found or None


def released_again(
    record: AuditRecord,
    name: str,
    *,
    released: str | None = None,
    drop: Sequence[str] = (),
    without_copies: bool = False,
) -> tuple[str, ...]:
    """Audit files again, another released one or without columns, and compare.

    Files are read and attacked as this audit did. `without_copies` makes the other released one.
    """
    question = record.question
    data, release = (question.get(key) or {} for key in ("data", "release"))
    if record.provenance.get("audit_file"):
        changes: dict[str, object] = {} if released is None else {"release.file": released}
        if drop:
            changes["data.drop"] = [*(data.get("drop") or ()), *drop]
            changes |= raised_in_file(record, drop)
        return audited_again(record, name, changes)
    files = release.get("file") or "released.csv"
    files = [files] if isinstance(files, str) else files
    here = _folder(record, str(files[0]))
    folder = _beside(here, name)
    again = [
        "tapas",
        "release",
        str(data.get("table") or "private.csv"),
        str(data.get("holdout") or "holdout.csv"),
        *(files if released is None or without_copies else [released]),
        *(["--without-copies", released] if released and without_copies else []),
        *_options_of(record, raised_gates(record, drop)),
        *(word for column in drop for word in ("--drop", column)),
        "--folder",
        folder,
    ]
    return shlex.join(map(str, again)), shlex.join(["tapas", "compare", here, folder])


def mapped_targets(record: AuditRecord) -> dict[str, object] | None:
    """What an audit file must say to test the first of the map, seen from that file."""
    sizes = [len(one.exposure) for one in record.audited if one.exposure is not None]
    if not sizes:
        return None
    file = str(record.provenance.get("audit_file") or "audit.yaml")
    place = PurePath(os.path.relpath(_folder(record, file), PurePath(file).parent))
    number = min(_MOST_MAPPED, min(sizes) // 2)
    return {"exposed": number, "map": (place / "exposure-map.csv").as_posix()}


def another_seed(record: AuditRecord) -> dict[str, object]:
    """Fresh trials: who was chosen by a result is not judged by the draws that it came of.

    All rows are taken, where the seed draws them: those of the map are among them.
    """
    question = record.question
    data = question.get("data") or {}
    drawn = bool(data.get("rows")) and not data.get("sample")
    rows: dict[str, object] = {"data.rows": None} if drawn else {}
    return {"seed": int(question.get("seed") or 0) + 1, **rows}


def _folder(record: AuditRecord, file: str) -> str:
    """The folder of the run that is advised about."""
    return str(record.provenance.get("folder") or f"{file.rpartition('.')[0] or file}-run")


def _beside(folder: str, name: str) -> str:
    called = re.sub(r"[^\w.-]+", "-", name)
    return f"{folder.removesuffix('-run')}-{called}-run"


def as_yaml(value: object) -> str:
    """A value as an audit file has it, on one line."""
    import yaml

    text = yaml.safe_dump(
        value, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return text.strip().removesuffix("...").strip()


def _options_of(record: AuditRecord, gates: Sequence[Gate]) -> Iterator[str]:
    """What makes `tapas release` read and attack files as this audit did, under these gates."""
    question = record.question
    data, release, goal = (question.get(key) or {} for key in ("data", "release", "goal"))
    limits = [gate for gate in gates if gate.metric in _LIMITS]
    words = [("--drop", name) for name in data.get("drop") or ()]
    for option, part in (("--read", data), ("--read-released", release)):
        words += [(option, word) for word in _choices(part.get("read") or {})]
    words += [("--subgroup", name) for name in question.get("subgroups") or ()]
    for option, value in (
        ("--schema", data.get("schema")),
        ("--reference", release.get("reference")),
        ("--attribute", (goal.get("attribute") or {}).get("column")),
        ("--seed", question.get("seed")),
        *((f"--{_LIMITS[gate.metric]}", f"{gate.at_most:g}") for gate in limits),
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
