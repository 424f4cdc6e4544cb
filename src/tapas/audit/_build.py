"""From an audit file to an audit that can be run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from pydantic import ValidationError

from tapas._files import seen_from_here
from tapas._spec import Plain
from tapas.audit._audit import Audit
from tapas.audit._build_generator import generator_subjects
from tapas.audit._build_imported import imported_subjects
from tapas.audit._build_model import model_subjects
from tapas.audit._build_predictions import prediction_subjects
from tapas.audit._build_release import release_subjects
from tapas.audit._built import Built
from tapas.audit._config import AuditFile, read_audit_file
from tapas.audit._config_names import Names
from tapas.audit._config_parts import ComponentPart
from tapas.audit._default_attacks import default_attacks
from tapas.audit._stopping import StopEarly
from tapas.compat import AttackDoors
from tapas.errors import ConfigError
from tapas.game import PHASES
from tapas.results import Claim, Gate

_FACTORIES: Mapping[str, Callable[[AuditFile, Names], Built]] = {
    "generator": generator_subjects,
    "model": model_subjects,
    "predictions": prediction_subjects,
    "release": release_subjects,
    "imported": imported_subjects,
}


def load_audit(path: str | PathLike[str], changes: Sequence[str] = ()) -> Audit:
    """Read an audit file and make the audit that it describes.

    Parameters
    ----------
    path : path
    changes : sequence of str
        What is otherwise than in the file, such as ``data.drop=[name]``: the path of a key, and its
        value as YAML.
    """
    audit = build_audit(read_audit_file(path, changes), path)
    return replace(audit, changes=tuple(changes))


def build_audit(config: AuditFile, path: str | PathLike[str]) -> Audit:
    """Make the audit that a file describes; paths in it are relative to the file at `path`."""
    audit = build_from(config, Names(Path(path).resolve().parent, str(path)))
    return replace(audit, source=seen_from_here(path))


def audit_from_values(values: Mapping[str, object], where: str) -> Audit:
    """Make the audit that values such as those of an audit file describe.

    Paths are relative to the current folder; messages call the values `where`.
    """
    try:
        config = AuditFile.model_validate(values)
    except ValidationError as errors:
        first = errors.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"])
        words = str(first["msg"]).removeprefix("Value error, ")
        raise ConfigError(f"{where}: {key}: {words}") from None
    return build_from(config, Names(Path.cwd(), where))


def build_from(config: AuditFile, names: Names) -> Audit:
    """Make the audit that a configuration describes."""
    named = make_attacks(config.attacks or [], names)
    with names.problems.noted():
        built = _FACTORIES[config.what](config, names)
    names.problems.refuse()
    trials = config.trials
    settings = (one.threat_model.game.setting for one in built.subjects)
    attacks = named or default_attacks(*settings, num_train=trials.train)
    return Audit(
        list(built.subjects),
        attacks,
        trials.train,
        trials.test,
        title=config.title,
        claim=_claim(config),
        gates=tuple(Gate(**gate.model_dump()) for gate in config.gates),
        stop_early=_stop_early(config),
        max_failures=trials.max_failures,
        timeout=trials.timeout,
        attack_timeout=trials.attack_timeout,
        keep_data=trials.keep_data,
        subgroups=tuple(config.subgroups),
        show_values=config.show_values,
        exposure_map=config.exposure_map,
        question=_question(config, names, built, attacks),
    )


def make_attacks(parts: Sequence[ComponentPart], names: Names) -> list[AttackDoors]:
    """The attacks that a configuration names."""
    made = []
    for position, part in enumerate(parts):
        with names.problems.noted():
            key = f"attacks[{position}]"
            made.append(names.make(part.use, part.parameters, part.label, ("attacks",), key))
    return made


def _question(
    config: AuditFile, names: Names, built: Built, attacks: Sequence[AttackDoors]
) -> dict[str, Plain]:
    """The file as it is understood, with digests of what it refers to."""
    asked = config.as_question()
    if config.attacks is None:
        parts = [ComponentPart(use=type(attack).__name__) for attack in attacks]
        asked["attacks"] = [part.model_dump(mode="json") for part in parts]
    for phase in PHASES:
        if all(one.threat_model.game.rounds(phase) is not None for one in built.subjects):
            del asked["trials"][phase]  # as many as there are, whatever the file says
    for section, facts in built.facts.items():
        asked[section] |= facts
    asked["inputs"] = dict(built.inputs)
    if names.own_code:
        asked["code"] = dict(sorted(names.own_code.items()))
    return asked


def _claim(config: AuditFile) -> Claim | None:
    return None if config.claim is None else Claim(**config.claim.model_dump())


def _stop_early(config: AuditFile) -> StopEarly | None:
    wanted = config.trials.stop_early
    if wanted is None:
        return None
    claim = _claim(config) if wanted.claim else None
    return StopEarly(claim, wanted.width, wanted.every, wanted.confidence)
