"""Threat models on disk: a manifest of what they are, and one file per table and trial.

Built-in parts are rebuilt from the manifest. Objects of other classes are not stored; whoever
loads passes them in.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from tapas.datasets import DataDescription, TabularDataset
from tapas.datasets._encoding import EncodedTable
from tapas.datasets._npz import read_table, write_table
from tapas.errors import StoreError
from tapas.generators import GeneratorFromExecutable, Raw
from tapas.threat_models._data_knowledge import AuxiliaryDataKnowledge, ExactDataKnowledge
from tapas.threat_models._label_inference import LabelInferenceThreatModel
from tapas.threat_models._mechanism_knowledge import (
    BlackBoxKnowledge,
    NoBoxKnowledge,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)
from tapas.threat_models._targeted import TargetedAIA, TargetedMIA
from tapas.threat_models._trials import Phase, Release, Trial

FORMAT = 1
PHASES: tuple[Phase, ...] = ("train", "test")
_BOXES = {
    box.__name__: box
    for box in (BlackBoxKnowledge, NoBoxKnowledge, WhiteBoxKnowledge, UncertainBoxKnowledge)
}


def save_threat_model(threat_model: Any, name: str) -> None:
    """Write the folder `name`: add what is new.

    What another threat model left there is moved aside, to ``name~``.
    """
    if type(threat_model) not in (TargetedMIA, TargetedAIA):
        raise StoreError(
            f"only TargetedMIA and TargetedAIA can be saved, not {type(threat_model).__name__}"
        )
    folder = Path(name)
    manifest, tables = _describe(threat_model)
    _move_another_aside(folder, manifest)
    for label, table in tables.items():
        if not (folder / "tables" / f"{label}.npz").exists():
            write_table(folder / "tables" / f"{label}.npz", table)
    threat_model.atk_know_data.target_records.description.to_json(folder / "schema.json")
    for phase in PHASES:
        for index in threat_model._ledger.indices(phase):
            path = _trial_path(folder, phase, index)
            if not path.exists():
                description = threat_model.atk_know_data.target_records.description
                _write_trial(path, threat_model._ledger.trial(phase, index), description)
    temporary = folder / ".manifest.tmp"
    temporary.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    os.replace(temporary, folder / "manifest.json")


def load_threat_model(name: str, foreign: dict[str, Any]) -> LabelInferenceThreatModel:
    """Rebuild the threat model in the folder `name`."""
    folder = Path(name)
    manifest = _read_manifest(folder)
    handed_in = _Foreign(name, foreign)
    try:
        return _rebuild(folder, manifest, handed_in)
    except (KeyError, FileNotFoundError, json.JSONDecodeError) as error:
        raise StoreError(f"{name} is damaged or incomplete: {error!r}") from error


class _Foreign:
    """Objects handed in by whoever loads; asks for what is missing, refuses what is not used."""

    def __init__(self, name: str, given: dict[str, Any]) -> None:
        self._name = name
        self._given = dict(given)
        unknown = set(given) - {"generator", "prior", "attacker_knowledge_data", "n_jobs"}
        if unknown:
            raise StoreError(
                f"load() takes generator=, prior=, attacker_knowledge_data= and n_jobs=, "
                f"not {', '.join(sorted(unknown))}"
            )

    def get(self, key: str, stored: str) -> Any:
        if key not in self._given:
            raise StoreError(
                f"{self._name} was saved with {key} = {stored}, which is code and is not stored: "
                f"pass it in, load(name, {key}=...)"
            )
        return self._given[key]

    def optional(self, key: str) -> Any:
        return self._given.get(key)


def _describe(threat_model: Any) -> tuple[dict[str, Any], dict[str, EncodedTable]]:
    """The manifest, and the tables it speaks of."""
    labeller = threat_model.atk_know_data
    targets = labeller.target_records
    data, tables = _describe_data(labeller.attacker_knowledge)
    tables = {"targets": targets.table, **tables}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "kind": type(threat_model).__name__,
        "seed": threat_model.seed,
        "memorise_datasets": threat_model.memorise_datasets,
        "num_concurrent": threat_model.num_concurrent,
        "fresh_rounds": threat_model._ledger.fresh_rounds,
        "targets_label": targets.description.label,
        "tables": {label: table.digest() for label, table in tables.items()},
        "data": data,
        "mechanism": _describe_mechanism(threat_model.atk_know_gen),
    }
    if isinstance(threat_model, TargetedMIA):
        manifest["generate_pairs"] = labeller.generate_pairs
        manifest["replace_target"] = labeller.replace_target
    else:
        manifest["sensitive_attribute"] = threat_model.sensitive_attribute
        manifest["attribute_values"] = threat_model.attribute_values
        manifest["distribution"] = threat_model.distribution
    return _plain(manifest), tables


def _describe_data(knowledge: Any) -> tuple[dict[str, Any], dict[str, EncodedTable]]:
    if type(knowledge) is AuxiliaryDataKnowledge:
        described = {
            "kind": "AuxiliaryDataKnowledge",
            "seed": knowledge.seed,
            "num_training_records": knowledge.num_training_records,
            "aux_label": knowledge.aux_data.label,
            "test_label": knowledge.test_data.label,
        }
        return described, {"aux": knowledge.aux_data.table, "test": knowledge.test_data.table}
    if type(knowledge) is ExactDataKnowledge:
        described = {"kind": "ExactDataKnowledge", "label": knowledge.training_dataset.label}
        return described, {"exact": knowledge.training_dataset.table}
    return {"kind": "foreign", "name": type(knowledge).__name__}, {}


def _describe_mechanism(knowledge: Any) -> dict[str, Any]:
    kind = type(knowledge).__name__
    if _BOXES.get(kind) is not type(knowledge):
        raise StoreError(f"generator knowledge of your own ({kind}) cannot be saved")
    described: dict[str, Any] = {
        "kind": kind,
        "num_synthetic_records": knowledge.num_synthetic_records,
        "generator": _describe_generator(knowledge.generator),
    }
    if isinstance(knowledge, UncertainBoxKnowledge):
        described["final_parameters"] = knowledge.final_parameters
    return described


def _describe_generator(generator: Any) -> dict[str, Any]:
    if type(generator) is Raw:
        return {"kind": "Raw"}
    if type(generator) is GeneratorFromExecutable:
        return {
            "kind": "GeneratorFromExecutable",
            "exe": generator.exe,
            "label": generator.label,
            "header": generator.header,
            "timeout": generator.timeout,
        }
    return {"kind": "foreign", "name": type(generator).__name__}


def _rebuild(folder: Path, manifest: dict[str, Any], foreign: _Foreign) -> Any:
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    description = DataDescription(schema, manifest["targets_label"])
    targets, _ = read_table(folder / "tables" / "targets.npz", description.parsed)
    common = {
        "attacker_knowledge_data": _rebuild_data(folder, manifest["data"], schema, foreign),
        "target_record": TabularDataset.from_table(targets, description),
        "attacker_knowledge_generator": _rebuild_mechanism(manifest["mechanism"], foreign),
        "memorise_datasets": manifest["memorise_datasets"],
        "num_concurrent": manifest["num_concurrent"],
        "seed": manifest["seed"],
        "n_jobs": foreign.optional("n_jobs"),
    }
    threat_model: Any
    if manifest["kind"] == "TargetedMIA":
        threat_model = TargetedMIA(
            generate_pairs=manifest["generate_pairs"],
            replace_target=manifest["replace_target"],
            **common,
        )
    elif manifest["kind"] == "TargetedAIA":
        threat_model = TargetedAIA(
            sensitive_attribute=manifest["sensitive_attribute"],
            attribute_values=manifest["attribute_values"],
            distribution=manifest["distribution"],
            **common,
        )
    else:
        raise StoreError(f"{folder}/manifest.json: unknown kind {manifest['kind']!r}")
    threat_model._ledger.fresh_rounds = manifest["fresh_rounds"]
    for phase in PHASES:
        for path in sorted((folder / "trials").glob(f"{phase}-*.npz")):
            threat_model._ledger.keep(_read_trial(path, phase, description))
    return threat_model


def _rebuild_data(
    folder: Path, manifest: dict[str, Any], schema: list[dict[str, Any]], foreign: _Foreign
) -> Any:
    def table(name: str, label: str) -> TabularDataset:
        description = DataDescription(schema, label)
        encoded, _ = read_table(folder / "tables" / f"{name}.npz", description.parsed)
        return TabularDataset.from_table(encoded, description)

    if manifest["kind"] == "AuxiliaryDataKnowledge":
        return AuxiliaryDataKnowledge(
            aux_data=table("aux", manifest["aux_label"]),
            test_data=table("test", manifest["test_label"]),
            num_training_records=manifest["num_training_records"],
            seed=manifest["seed"],
        )
    if manifest["kind"] == "ExactDataKnowledge":
        return ExactDataKnowledge(table("exact", manifest["label"]))
    return foreign.get("attacker_knowledge_data", manifest["name"])


def _rebuild_mechanism(manifest: dict[str, Any], foreign: _Foreign) -> Any:
    stored = manifest["generator"]
    if foreign.optional("generator") is not None:
        generator = foreign.optional("generator")
    elif stored["kind"] == "Raw":
        generator = Raw()
    elif stored["kind"] == "GeneratorFromExecutable":
        generator = GeneratorFromExecutable(
            stored["exe"], stored["label"], header=stored["header"], timeout=stored["timeout"]
        )
    else:
        generator = foreign.get("generator", stored["name"])
    box: Any = _BOXES[manifest["kind"]]
    if box is UncertainBoxKnowledge:
        return UncertainBoxKnowledge(
            generator,
            manifest["num_synthetic_records"],
            foreign.get("prior", "a function"),
            manifest["final_parameters"],
        )
    return box(generator, manifest["num_synthetic_records"])


def _trial_path(folder: Path, phase: Phase, index: int) -> Path:
    return folder / "trials" / f"{phase}-{index:06d}.npz"


def _write_trial(path: Path, trial: Trial, description: DataDescription) -> None:
    data = trial.release.data
    if not isinstance(data, TabularDataset) or data.description != description:
        raise StoreError(
            f"only releases with the columns of the targets can be saved; trial {trial.index} "
            f"released {data!r}"
        )
    extra = {"index": trial.index, "secrets": _plain(trial.secrets), "group": trial.group}
    write_table(path, data.table, extra)


def _read_trial(path: Path, phase: Phase, description: DataDescription) -> Trial:
    table, extra = read_table(path, description.parsed)
    release = Release(TabularDataset.from_table(table, description))
    secrets = np.array(extra["secrets"])
    return Trial(phase, extra["index"], release, secrets, extra["group"])


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.exists():
        raise StoreError(f"there is no saved threat model at {folder} (no manifest.json)")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}") from error
    if not isinstance(manifest, dict):
        raise StoreError(f"{path} is damaged: it holds no manifest")
    if manifest.get("format") != FORMAT:
        raise StoreError(
            f"{path} has format {manifest.get('format')!r}; this version reads format {FORMAT}"
        )
    return manifest


def _move_another_aside(folder: Path, manifest: dict[str, Any]) -> None:
    """Trials of one question must not end up beside those of another, nor be lost."""
    if not folder.exists():
        return
    try:
        before = _read_manifest(folder)
    except StoreError:
        before = {}
    same = all(manifest[key] == before.get(key) for key in manifest if key != "fresh_rounds")
    if not same and (folder / "manifest.json").exists():
        aside = folder.with_name(folder.name + "~")
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)


def _plain(value: Any) -> Any:
    """Lists and Python scalars, as JSON has them."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
