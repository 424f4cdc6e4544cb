"""Audits of generators, from an audit file."""

from collections.abc import Mapping, Sequence

from tapas._spec import Plain
from tapas._validate import listing
from tapas.audit._bounds import Limits, declared_bounds
from tapas.audit._built import Built
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names, accepts
from tapas.audit._config_subjects import GeneratorPart
from tapas.audit._subject import Subject
from tapas.audit._tables import Tables
from tapas.audit._targets import Drawn, draw_targets, private_records
from tapas.compat import GameThreatModel
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, TapasError
from tapas.game import Value
from tapas.generators import Bootstrap, Generator, GeneratorFromObject, IndependentMarginals
from tapas.results import LEAKY_CONTROL, SAFE_CONTROL
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeOnGenerator,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ExactDataKnowledge,
    NoBoxKnowledge,
    QuasiIdentifierKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)

_MECHANISMS = {
    "black-box": BlackBoxKnowledge,
    "no-box": NoBoxKnowledge,
    "white-box": WhiteBoxKnowledge,
}


FEW_TARGETS = 25  # of controls


def generator_subjects(config: AuditFile, names: Names) -> Built:
    """Every generator of the file, and the controls, under one threat model."""
    parts = config.generator or []
    generators = _generators(parts, names)
    tables = Tables(config, names)
    whole = tables.private()
    if config.data.bounds is not None:
        bounds = declared_bounds(whole, config.data.bounds, names.where)
        parts = [_bounded(part, bounds, names) for part in parts]
        generators = _generators(parts, names)
    _refuse_tables(generators, whole, names)
    drawn = draw_targets(whole, config, names)
    knowledge, records = _knowledge(config, names, drawn.rest)
    names.problems.refuse()

    def subject(generator: Generator, part: GeneratorPart, name: str, control: bool) -> Subject:
        box = _MECHANISMS[config.knowledge.mechanism](generator, part.records or records)
        # Where the scale begins and ends, few people show; canaries are one run together.
        fewer = control and config.goal.canaries is None
        asked = drawn.fewer(FEW_TARGETS) if fewer else drawn
        model = _threat_model(config, names, knowledge, asked, box)
        return Subject(model, name, role="control" if control else "audited")

    subjects = [
        subject(generator, part, part.label or "", False)
        for generator, part in zip(generators, parts, strict=True)
    ]
    if config.with_controls:
        for name, made in controls():
            subjects.append(subject(made, parts[0], name, True))
    about_data: dict[str, Plain] = {"digest": whole.table.digest()}
    if drawn.copies:
        about_data["copies_of_targets_left_out"] = drawn.copies
    facts: dict[str, dict[str, Plain]] = {
        "data": about_data,
        "knowledge": {"records": records},
    }
    return Built(tuple(subjects), facts, tables.inputs())


def controls() -> list[tuple[str, Bootstrap | IndependentMarginals]]:
    """Where the scale ends and where it begins."""
    return [
        (LEAKY_CONTROL, Bootstrap()),
        (SAFE_CONTROL, IndependentMarginals()),
    ]


def attribute_values(data: TabularDataset, column: str, where: str) -> list[Value]:
    """The listed values of a column."""
    found = {c.name: c for c in data.description.parsed}.get(column)
    if found is None or found.values is None:
        raise ConfigError(
            f"{where}: goal.attribute: {column!r} is not a column with listed values "
            f"({listing(data.description.columns)}): give values"
        )
    return list(found.values)


def _knowledge(
    config: AuditFile, names: Names, data: TabularDataset
) -> tuple[AttackerKnowledgeOnData, int]:
    """What the attacker knows of the data, and the size of private datasets."""
    wanted, where = config.knowledge, f"{names.where}: knowledge"
    if wanted.data == "exact":
        if wanted.records is not None:
            raise ConfigError(f"{where}.records is for auxiliary data: set data.rows instead")
        return ExactDataKnowledge(data), len(data)
    held = int(wanted.split * len(data))
    smaller = min(held, len(data) - held)
    records = private_records(wanted, len(data))
    if records > smaller:
        raise ConfigError(
            f"{where}.records is {records}, but with split {wanted.split:g} of {len(data)} rows "
            f"the smaller side has {smaller}"
        )
    known = wanted.data == "identifiers"
    if known and config.goal.attribute is None:
        raise ConfigError(
            f"{where}.data: identifiers tells who is in the private data, so it is for a goal of "
            f"attribute: use auxiliary"
        )
    kind = QuasiIdentifierKnowledge if known else AuxiliaryDataKnowledge
    knowledge = kind(data, wanted.split, num_training_records=records, seed=config.seed)
    return knowledge, records


def _generators(parts: Sequence[GeneratorPart], names: Names) -> list[Generator]:
    made = []
    for position, part in enumerate(parts):
        with names.problems.noted():
            key = "generator" if len(parts) == 1 else f"generator[{position}]"
            made.append(_generator(part, names, key))
    return made


def _bounded(part: GeneratorPart, bounds: Mapping[str, Limits], names: Names) -> GeneratorPart:
    """The same with the bounds of the table, if it takes bounds and has none of its own."""
    if part.use is None or "bounds" in part.parameters:
        return part
    if not accepts(names.find(part.use, ("generators",), "generator"), "bounds"):
        return part
    return part.model_copy(update={"parameters": {**part.parameters, "bounds": dict(bounds)}})


def _refuse_tables(generators: Sequence[Generator], data: TabularDataset, names: Names) -> None:
    """What a generator needs to be told of a table is asked for before any trial."""
    for generator in generators:
        if isinstance(generator, Generator):
            with names.problems.noted():
                try:
                    generator.refuse_table(data)
                except TapasError as error:
                    raise ConfigError(f"{names.where}: generator: {error}") from error


def _generator(part: GeneratorPart, names: Names, key: str) -> Generator:
    if part.use is not None:
        made = names.make(part.use, part.parameters, part.label, ("generators",), key)
        if hasattr(made, "generate") or not hasattr(made, "sample"):
            return made
        return GeneratorFromObject(made, label=part.label or type(made).__name__)
    (program,) = part.command or [""]
    beside = names.folder / program
    if beside.is_file():
        names.remember_file(program, beside)
    return names.make(
        "GeneratorFromExecutable",
        {"exe": str(beside) if beside.is_file() else program, **part.parameters},
        part.label or program,
        ("generators",),
        f"{key}.command",
    )


def _threat_model(
    config: AuditFile,
    names: Names,
    knowledge: AttackerKnowledgeOnData,
    drawn: Drawn,
    box: AttackerKnowledgeOnGenerator,
) -> GameThreatModel:
    goal, seed = config.goal, config.seed
    if goal.attribute is not None:
        wanted = goal.attribute
        values: Sequence[Value] = wanted.values or attribute_values(
            drawn.rest, wanted.column, names.where
        )
        return TargetedAIA(
            knowledge, drawn.targets, wanted.column, values, box, wanted.distribution, seed=seed
        )
    if goal.canaries is not None:
        return CanaryMIA(
            knowledge, drawn.targets, box, replace_target=goal.canaries.replace, seed=seed
        )
    how = goal.membership
    return TargetedMIA(
        knowledge,
        drawn.targets,
        box,
        generate_pairs=how is None or how.pairs,
        replace_target=how is not None and how.replace,
        seed=seed,
    )
