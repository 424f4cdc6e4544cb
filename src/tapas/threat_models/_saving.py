"""Threat models on disk: in a store, as trials of their game, with all that rebuilds them.

Built-in parts are rebuilt from what is stored. Code is not stored: whoever loads passes it in, or
does without new trials.
"""

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import tapas.generators
from tapas import _files
from tapas._spec import Plain, spec_of
from tapas.datasets import DataDescription, TabularDataset, pack_table, unpack_table
from tapas.engine import Entry, FolderStore
from tapas.errors import StoreError
from tapas.game import PHASES, Ledger, StoredLedger
from tapas.threat_models._absent import AbsentData, AbsentGenerator, AbsentPrior
from tapas.threat_models._data_knowledge import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    ExactDataKnowledge,
    QuasiIdentifierKnowledge,
)
from tapas.threat_models._label_inference import LabelInferenceThreatModel
from tapas.threat_models._labellers import AIALabeller, MIALabeller, PlantingLabeller
from tapas.threat_models._mechanism_knowledge import (
    AttackerKnowledgeOnGenerator,
    BlackBoxKnowledge,
    KnownGenerator,
    NoBoxKnowledge,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)
from tapas.threat_models._mechanism_runs import Mechanism, name_of
from tapas.threat_models._targeted import TargetedAIA, TargetedMIA, TargetedThreatModel

MANIFEST = "threat-model.json"
FORMAT = 2
_BOXES = {box.__name__: box for box in (BlackBoxKnowledge, NoBoxKnowledge, WhiteBoxKnowledge)}
_SPLITS = {kind.__name__: kind for kind in (AuxiliaryDataKnowledge, QuasiIdentifierKnowledge)}
_log = logging.getLogger(__name__)

Described = dict[str, Any]


@dataclass(frozen=True, eq=False)
class HandedIn:
    """What `load` is given because it is code, or because it is for this machine to say."""

    generator: Mechanism | None = None
    prior: Callable[[], Mapping[str, object]] | None = None
    attacker_knowledge_data: AttackerKnowledgeOnData | None = None
    attacker_knowledge_generator: AttackerKnowledgeOnGenerator | None = None
    n_jobs: int | None = None

    @classmethod
    def parsed(cls, foreign: Mapping[str, object]) -> "HandedIn":
        """Read the keywords of `load`."""
        names = [one.name for one in fields(cls)]
        unknown = sorted(set(foreign) - set(names))
        if unknown:
            raise StoreError(f"load() takes {', '.join(names)}, not {', '.join(unknown)}")
        return cls(**cast(dict[str, Any], foreign))

    @property
    def code(self) -> list[str]:
        """Names of what is code."""
        given = vars(self).items()
        return [name for name, value in given if name != "n_jobs" and value is not None]


def save_threat_model(threat_model: LabelInferenceThreatModel, name: str) -> None:
    """Add a threat model and its trials to the store in the folder `name`."""
    if type(threat_model) not in (TargetedMIA, TargetedAIA):
        raise StoreError(
            f"only TargetedMIA and TargetedAIA can be saved, not {type(threat_model).__name__}"
        )
    labeller, targets = _about_tables(threat_model)
    description = targets.description
    digest = threat_model.game.spec.digest
    if _is_incomplete(threat_model.atk_know_gen, labeller.attacker_knowledge):
        digest = threat_model._saved_as or digest  # its trials are still those of the whole
    ledger = threat_model._remembered()
    with FolderStore(name) as store:
        manifest = _described(threat_model, labeller, targets, store, f"games/{digest}")
        kept = StoredLedger(store, f"games/{digest}", threat_model.game.goal.values, description)
        for phase in PHASES:
            for index in ledger.indices(phase):
                trial = ledger.trial(phase, index)
                _check_storable(trial.release.data, description, index)
                if not kept.has_data(phase, index):
                    kept.keep(trial)
        kept.count_looks(ledger)
    manifest |= {"format": FORMAT, "game": digest, "fresh_rounds": ledger.fresh_rounds}
    _files.write_text(Path(name) / MANIFEST, json.dumps(_plain(manifest), indent=1))


def load_threat_model(name: str, foreign: Mapping[str, object]) -> TargetedThreatModel:
    """The threat model that was last saved in the folder `name`."""
    given = HandedIn.parsed(foreign)
    manifest = _read_manifest(Path(name))
    try:
        with FolderStore(name) as store:
            loaded = _rebuilt(manifest, store, given, name)
            loaded.remember_in(_recalled(loaded, manifest, store, given, name))
    except (KeyError, TypeError, FileNotFoundError) as error:
        raise StoreError(f"{name} is damaged or incomplete: {error!r}") from error
    loaded.memorise_datasets = manifest["memorise_datasets"]
    return loaded


def _about_tables(
    threat_model: LabelInferenceThreatModel,
) -> tuple[PlantingLabeller, TabularDataset]:
    labeller = threat_model.atk_know_data
    if isinstance(labeller, PlantingLabeller):
        targets = labeller.target_records
        if isinstance(targets, TabularDataset):
            return labeller, targets
    raise StoreError("only threat models about records of a table can be saved")


def _check_storable(data: object, description: DataDescription, index: int) -> None:
    if data is None or not isinstance(data, TabularDataset) or data.description != description:
        raise StoreError(
            f"only releases with the columns of the targets can be saved; trial {index} released "
            f"{data!r}"
        )


# -- writing -----------------------------------------------------------------------------------


def _described(
    threat_model: LabelInferenceThreatModel,
    labeller: PlantingLabeller,
    targets: TabularDataset,
    store: FolderStore,
    prefix: str,
) -> Described:
    _keep_table(store, f"{prefix}/tables/targets", targets)
    described: Described = {
        "kind": type(threat_model).__name__,
        "seed": threat_model.seed,
        "memorise_datasets": threat_model.memorise_datasets,
        "num_concurrent": threat_model.num_concurrent,
        "schema": targets.description.schema,
        "targets_label": targets.description.label,
        "data": _described_data(labeller.attacker_knowledge, store, prefix),
        "mechanism": _described_mechanism(threat_model.atk_know_gen),
    }
    if isinstance(labeller, MIALabeller):
        described["generate_pairs"] = labeller.generate_pairs
        described["replace_target"] = labeller.replace_target
    elif isinstance(labeller, AIALabeller):
        described["sensitive_attribute"] = labeller.sensitive_attribute
        described["attribute_values"] = list(labeller.attribute_values)
        weights = labeller.distribution
        described["distribution"] = None if weights is None else list(weights)
    return described


def _keep_table(store: FolderStore, key: str, data: TabularDataset) -> None:
    if key not in store:
        store.save(key, Entry(*pack_table(data.table)))


def _described_data(
    knowledge: AttackerKnowledgeOnData, store: FolderStore, prefix: str
) -> Described:
    tables: dict[str, object] = {}
    described: Described = {"kind": type(knowledge).__name__, "label": knowledge.label}
    if isinstance(knowledge, AuxiliaryDataKnowledge) and type(knowledge) in _SPLITS.values():
        tables = {"aux": knowledge.aux_data, "test": knowledge.test_data}
        described |= {"seed": knowledge.seed, "records": knowledge.num_training_records}
    elif type(knowledge) is ExactDataKnowledge:
        tables = {"exact": knowledge.training_dataset}
    if not tables or not all(isinstance(table, TabularDataset) for table in tables.values()):
        return {"kind": "foreign", "label": knowledge.label}
    for name, table in tables.items():
        if isinstance(table, TabularDataset):
            _keep_table(store, f"{prefix}/tables/{name}", table)
            described[f"{name}_label"] = table.label
    return described


def _described_mechanism(knowledge: AttackerKnowledgeOnGenerator) -> Described:
    ours = type(knowledge) in (*_BOXES.values(), UncertainBoxKnowledge)
    if not isinstance(knowledge, KnownGenerator) or not ours:
        return {"kind": "foreign", "label": knowledge.label}
    described: Described = {
        "kind": type(knowledge).__name__,
        "num_synthetic_records": knowledge.num_synthetic_records,
        "generator": _described_generator(knowledge.generator),
    }
    if isinstance(knowledge, UncertainBoxKnowledge):
        described["final_parameters"] = knowledge.final_parameters
    return described


def _described_generator(generator: Mechanism) -> Described:
    """Its class and arguments, where it is one of ours made of plain values; else its name."""
    kind, label = type(generator), name_of(generator)
    if vars(tapas.generators).get(kind.__name__) is not kind:
        return {"label": label}
    known = {**vars(generator), "label": label}
    names = [name for name in inspect.signature(kind).parameters if name in known]
    try:
        arguments = _plain({name: known[name] for name in names})
    except StoreError:
        return {"label": label}
    spec = spec_of(generator).digest
    return {"label": label, "use": kind.__name__, "arguments": arguments, "spec": spec}


def _plain(value: object) -> Plain:
    """Values as JSON has them."""
    try:
        return cast(Plain, json.loads(json.dumps(value, default=lambda item: item.item())))
    except (AttributeError, TypeError, ValueError) as error:
        raise StoreError(f"this cannot be stored as data: {value!r}") from error


# -- reading -----------------------------------------------------------------------------------


def _read_manifest(folder: Path) -> Described:
    path = folder / MANIFEST
    if not path.exists():
        raise StoreError(f"there is no saved threat model at {folder} (no {MANIFEST})")
    try:
        manifest = _files.read_json(path)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} is damaged: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise StoreError(f"{path} has format {found!r}; this version reads format {FORMAT}")
    return manifest


def _rebuilt(
    manifest: Described, store: FolderStore, given: HandedIn, name: str
) -> TargetedThreatModel:
    def table(key: str, label: str) -> TabularDataset:
        description = DataDescription(manifest["schema"], label)
        entry = store.load(f"games/{manifest['game']}/tables/{key}")
        encoded = unpack_table(entry.arrays, entry.notes, description.parsed)
        return TabularDataset.from_table(encoded, description)

    common: Described = {
        "attacker_knowledge_data": _rebuilt_data(manifest["data"], table, given, name),
        "target_record": table("targets", manifest["targets_label"]),
        "attacker_knowledge_generator": _rebuilt_mechanism(manifest["mechanism"], given, name),
        "memorise_datasets": manifest["memorise_datasets"],
        "num_concurrent": manifest["num_concurrent"],
        "seed": manifest["seed"],
        "n_jobs": given.n_jobs,
    }
    if manifest["kind"] == "TargetedMIA":
        return TargetedMIA(
            generate_pairs=manifest["generate_pairs"],
            replace_target=manifest["replace_target"],
            **common,
        )
    if manifest["kind"] == "TargetedAIA":
        return TargetedAIA(
            sensitive_attribute=manifest["sensitive_attribute"],
            attribute_values=manifest["attribute_values"],
            distribution=manifest["distribution"],
            **common,
        )
    raise StoreError(f"{name}/{MANIFEST}: unknown kind {manifest['kind']!r}")


def _rebuilt_data(
    stored: Described, table: Callable[[str, str], TabularDataset], given: HandedIn, name: str
) -> AttackerKnowledgeOnData:
    if given.attacker_knowledge_data is not None:
        return given.attacker_knowledge_data
    if stored["kind"] in _SPLITS:
        return _SPLITS[stored["kind"]](
            aux_data=table("aux", stored["aux_label"]),
            test_data=table("test", stored["test_label"]),
            num_training_records=stored["records"],
            seed=stored["seed"],
        )
    if stored["kind"] == "ExactDataKnowledge":
        return ExactDataKnowledge(table("exact", stored["exact_label"]))
    return AbsentData(stored["label"], name)


def _rebuilt_mechanism(
    stored: Described, given: HandedIn, name: str
) -> AttackerKnowledgeOnGenerator:
    if given.attacker_knowledge_generator is not None:
        return given.attacker_knowledge_generator
    if stored["kind"] == "foreign":
        missing = AbsentGenerator(stored["label"], name, "attacker_knowledge_generator")
        return BlackBoxKnowledge(missing, 1)
    number, generator = stored["num_synthetic_records"], given.generator
    if generator is None:
        generator = _rebuilt_generator(stored["generator"], name)
    if stored["kind"] == UncertainBoxKnowledge.__name__:
        prior = given.prior or AbsentPrior(name)
        return UncertainBoxKnowledge(generator, number, prior, stored["final_parameters"])
    return _BOXES[stored["kind"]](generator, number)


def _rebuilt_generator(stored: Described, name: str) -> Mechanism:
    if stored.get("use") in tapas.generators.__all__:
        made: Mechanism = vars(tapas.generators)[stored["use"]](**stored["arguments"])
        if spec_of(made).digest == stored["spec"]:
            return made
    return AbsentGenerator(stored["label"], name)


def _recalled(
    loaded: TargetedThreatModel,
    manifest: Described,
    store: FolderStore,
    given: HandedIn,
    name: str,
) -> Ledger:
    """The saved trials; none where what would play more of them is not what made them."""
    ledger = Ledger()
    ledger.fresh_rounds = manifest["fresh_rounds"]
    labeller, targets = _about_tables(loaded)
    if _is_incomplete(loaded.atk_know_gen, labeller.attacker_knowledge) and not given.code:
        loaded._saved_as = manifest["game"]
    elif reason := _unlike(loaded, manifest["game"], given):
        _log.warning("%s: %s, so the trials there are not used", name, reason)
        return ledger
    prefix, values = f"games/{manifest['game']}", loaded.game.goal.values
    kept = StoredLedger(store, prefix, values, targets.description)
    for phase in PHASES:
        for index in kept.indices(phase):
            trial = kept.trial(phase, index)
            if trial.release.data is not None:
                ledger.keep(trial)
    ledger.count_looks(kept)
    return ledger


def _is_incomplete(box: AttackerKnowledgeOnGenerator, data: AttackerKnowledgeOnData) -> bool:
    """Whether a part is missing, so that no new trial can be played."""
    missing = [isinstance(data, AbsentData)]
    if isinstance(box, KnownGenerator):
        missing.append(isinstance(box.generator, AbsentGenerator))
    if isinstance(box, UncertainBoxKnowledge):
        missing.append(isinstance(box.prior, AbsentPrior))
    return any(missing)


def _unlike(loaded: TargetedThreatModel, game: str, given: HandedIn) -> str | None:
    """Why it is not certain that saved trials are those of a threat model."""
    spec = loaded.game.spec
    if given.code and spec.doubts:
        return spec.doubts[0]
    if spec.digest != game:
        what = " and ".join(given.code) or "version"
        return f"it was saved with another {what} (its code or its parameters differ)"
    return None
