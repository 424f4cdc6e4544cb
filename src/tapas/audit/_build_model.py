"""Audits of a trained model, from an audit file."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd

from tapas._random import Parts, part_stream
from tapas._spec import Plain
from tapas._validate import listing
from tapas.audit._about_records import check_subgroups
from tapas.audit._built import Built
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._config_questions import AttributePart
from tapas.audit._config_subjects import EndpointPart, ModelPart
from tapas.audit._counted_sides import counted_sides
from tapas.audit._subject import Subject
from tapas.audit._tables import Tables
from tapas.audit._targets import draw_targets
from tapas.compat import GameThreatModel
from tapas.datasets import DataDescription, TabularDataset
from tapas.engine import guarded
from tapas.errors import ConfigError, MechanismError, TapasError
from tapas.models import (
    BoosterModel,
    EncodedModel,
    Model,
    OneHotInputs,
    Records,
    RegressorFile,
    RegressorTrainer,
    RemoteModel,
    Shown,
    Trainer,
    as_model,
    encoded_trainer,
    records_from_table,
)
from tapas.threat_models import ModelAIA, ModelMIA, ModelPropertyInference

_Made = TypeVar("_Made")
_CLASSES_ONLY = "a regressor is audited about membership of its records alone; name a classifier"
MOST_VALUES = 100  # of an attribute
MOST_NAMED = 8  # records in a message


def model_subjects(config: AuditFile, names: Names, tables: Tables | None = None) -> Built:
    """The model, asked about the records it was trained on and about others."""
    part = config.model
    if part is None:
        raise ConfigError(f"{names.where}: model is missing")
    trainer = None
    with names.problems.noted():
        trainer = _trainer(part, names)
    tables = Tables(config, names) if tables is None else tables
    if config.goal.canaries is not None:
        return _canaries(config, part, names, trainer, tables)
    inside, outside = _sides(config, names, tables)
    drawn = (inside,) if config.data.holdout else (inside, outside)
    _refuse_without_class(drawn, part.class_column, names.where)
    features = [name for name in inside.description.columns if name != part.class_column]
    check_subgroups(features, config.subgroups, names.where)
    try:
        members, others = (
            records_from_table(table, part.class_column) for table in (inside, outside)
        )
    except TapasError as error:
        raise ConfigError(f"{names.where}: model.class_column: {error}") from error
    names.problems.refuse()
    if part.file is not None and not (names.folder / str(part.file)).is_file():
        raise ConfigError(
            f"{names.where}: model.file: there is no file {names.folder / str(part.file)}"
        )
    _refuse_unquoted(part, members, names.where)
    model: GameThreatModel
    regressor = _regressor_file(part, names, trainer, inside.description, members)
    if regressor is not None or isinstance(trainer, RegressorTrainer):
        found = regressor, trainer if isinstance(trainer, RegressorTrainer) else None
        model = _of_numbers(config, part, names, *found, (members, others), inside.label)
    else:
        model = _threat_model(config, names, trainer, members, others, inside.label)
    facts: dict[str, Plain] = {"digest": [inside.table.digest(), outside.table.digest()]}
    if isinstance(model, ModelMIA):
        model.ids = (inside.table.index.tolist(), outside.table.index.tolist())
        facts["records"] = counted_sides(model)
    return Built((Subject(model, part.label or ""),), {"data": facts}, tables.inputs())


def _refuse_unquoted(part: ModelPart, members: Records, where: str) -> None:
    """Refuse classes that YAML took for true and false, where the table holds words."""
    given = part.classes if part.endpoint is None else part.endpoint.classes
    read = [one for one in given or () if isinstance(one, bool)]
    words = sorted({one for one in members.y.tolist() if isinstance(one, str)})
    if read and words:
        key = "model.classes" if part.endpoint is None else "model.endpoint.classes"
        quoted = ", ".join(f'"{word}"' for word in words)
        raise ConfigError(
            f"{where}: {key}: YAML reads words such as yes and no as true and false; a text stands "
            f"in quotes: classes: [{quoted}], in the order of the scores"
        )


def _canaries(
    config: AuditFile, part: ModelPart, names: Names, trainer: Trainer | None, tables: Tables
) -> Built:
    """A model that is trained here on the table, each target in or out by a coin of its own."""
    names.problems.refuse()
    if trainer is None or part.use is None:
        raise ConfigError(
            f"{names.where}: goal.canaries: the model is trained with some canaries and without "
            f"others, so it must be named by model.use"
        )
    if isinstance(trainer, RegressorTrainer):
        raise ConfigError(f"{names.where}: goal.canaries: {_CLASSES_ONLY}")
    whole = tables.private()
    drawn = draw_targets(whole, config, names)
    try:
        canaries, rest = (
            records_from_table(table, part.class_column) for table in (drawn.targets, drawn.rest)
        )
    except TapasError as error:
        raise ConfigError(f"{names.where}: model.class_column: {error}") from error
    inside = part_stream(config.seed, Parts.CANARY_COINS).random(len(canaries)) < 0.5
    model = _audited(config, part, names, trainer, rest.concat(canaries.take(inside)))
    game = ModelMIA(
        model,
        canaries.take(inside),
        canaries.take(~inside),
        part.access,
        part.known_share,
        trainer if part.num_shadows else None,
        rest,
        seed=config.seed,
        num_shadows=max(2, part.num_shadows),
        shown=_shown(part),
        coins=True,
        label=whole.label,
        ids=tuple(drawn.targets.table.index[side].tolist() for side in (inside, ~inside)),
    )
    facts: dict[str, Plain] = {
        "digest": whole.table.digest(),
        "canaries": len(canaries),
        "records": counted_sides(game),
    }
    return Built((Subject(game, part.label or ""),), {"data": facts}, tables.inputs())


def _shown(part: ModelPart) -> Shown | None:
    return None if part.shown is None else Shown(part.shown.top, part.shown.decimals)


def _trainer(part: ModelPart, names: Names) -> Trainer | None:
    """What trains the model, and shadow models like it; of a file, the latter only."""
    if part.trainer is not None:
        wanted, where = part.trainer, "model.trainer"
        made = names.make(str(wanted.use), wanted.parameters, None, ("models",), where)
    elif part.use is not None:
        where = "model"
        made = names.make(part.use, part.parameters, None, ("models",), where)
    else:
        return None
    try:
        return made if isinstance(made, Trainer) else encoded_trainer(made)
    except TapasError as error:
        raise ConfigError(f"{names.where}: {where}.use: {error}") from error


def _audited(
    config: AuditFile, part: ModelPart, names: Names, trainer: Trainer | None, members: Records
) -> Model:
    """The model that is about to be released: trained here, or read from a file."""
    if part.use is not None and trainer is not None:
        return _trained_here(config, names, partial(trainer.train, members.X, members.y))
    if part.endpoint is not None:
        return _remote(part.endpoint, names)
    file = names.folder / str(part.file)
    names.remember_file(str(part.file), file)
    model = as_model(Path(file), part.classes)
    if isinstance(model, BoosterModel) and model.knows_categories:
        return model
    return EncodedModel(model, OneHotInputs.learn(members.X))


def _trained_here(config: AuditFile, names: Names, train: Callable[..., _Made]) -> _Made:
    """What is about to be released, trained with the seed of the audit."""
    try:
        with guarded(config.trials.timeout):
            return train(rng=part_stream(config.seed, Parts.AUDITED_MODEL))
    except TapasError:
        raise
    except Exception as error:
        raise MechanismError(
            f"{names.where}: model: training it failed: {type(error).__name__}: {error}"
        ) from error


def _remote(part: EndpointPart, names: Names) -> RemoteModel:
    return RemoteModel(
        names.find(part.use, ("models",), "model.endpoint.use"),
        part.classes,
        answers=names.folder / part.answers,
        batch_size=part.batch,
        per_second=part.per_second,
        outputs=part.outputs,
    )


def _threat_model(
    config: AuditFile,
    names: Names,
    trainer: Trainer | None,
    members: Records,
    others: Records,
    label: str,
) -> GameThreatModel:
    part, goal = config.model, config.goal
    if part is None:
        raise ConfigError(f"{names.where}: model is missing")
    if goal.property is not None:
        return _about_property(config, names, trainer, members.concat(others), label)
    model = _audited(config, part, names, trainer, members)
    if goal.attribute is not None:
        wanted = goal.attribute
        _refuse_unguessable(wanted, part, members, names.where)
        return ModelAIA(
            model,
            members,
            wanted.column,
            wanted.values,
            part.access,
            population=others,
            priors=wanted.distribution,
            seed=config.seed,
            label=label,
        )
    return ModelMIA(
        model,
        members,
        others,
        part.access,
        part.known_share,
        trainer if part.num_shadows else None,
        seed=config.seed,
        num_shadows=max(2, part.num_shadows),
        shown=_shown(part),
        label=label,
    )


def _refuse_unguessable(
    wanted: AttributePart, part: ModelPart, members: Records, where: str
) -> None:
    """Refuse the class, and columns of so many values that guessing tells nothing."""
    key = f"{where}: goal.attribute.column"
    if wanted.column == part.class_column:
        raise ConfigError(
            f"{key}: {wanted.column!r} is the class that the model predicts: name one of its "
            f"inputs, {listing(members.columns)}"
        )
    if wanted.values is None and wanted.column in members.columns:
        number = pd.Series(members.X[wanted.column]).nunique()
        if number > MOST_VALUES:
            raise ConfigError(
                f"{key}: {wanted.column!r} has {number:,} different values, and each is asked "
                f"about for every record: name at most {MOST_VALUES} of them by "
                f"goal.attribute.values, or a column of ranges"
            )


def _regressor_file(
    part: ModelPart,
    names: Names,
    trainer: Trainer | None,
    description: DataDescription,
    members: Records,
) -> RegressorFile | None:
    """A file that predicts numbers: its trainer is a regressor, or it knows no classes.

    One number for each record may also be the score of two classes, unless the column that it
    predicts holds real numbers.
    """
    by_trainer = isinstance(trainer, RegressorTrainer)
    others = part.classes is not None or (trainer is not None and not by_trainer)
    if part.file is None or others:
        return None
    column = next(one for one in description.parsed if one.name == part.class_column)
    if not by_trainer and column.kind != "real":
        return None
    file = names.folder / str(part.file)
    found = RegressorFile.read(file, members.X)
    if not by_trainer and not found.says_so:
        return None
    names.remember_file(str(part.file), file)
    return found


def _of_numbers(
    config: AuditFile,
    part: ModelPart,
    names: Names,
    file: RegressorFile | None,
    trainer: RegressorTrainer | None,
    sides: tuple[Records, Records],
    label: str,
) -> ModelMIA:
    """A regressor, audited by how far its predictions are off."""
    asked = [key for key in ("attribute", "property") if getattr(config.goal, key) is not None]
    if asked:
        raise ConfigError(f"{names.where}: goal.{asked[0]}: {_CLASSES_ONLY}")
    if part.endpoint is not None:
        raise ConfigError(
            f"{names.where}: model.trainer: a regressor behind a service is audited in Python "
            f"(ModelMIA with a function); an audit file reads one from model.file, or trains one "
            f"that model.use names"
        )
    numbers = [pd.to_numeric(pd.Series(side.y), errors="coerce") for side in sides]
    if any(one.isna().any() for one in numbers):
        raise ConfigError(
            f"{names.where}: model.class_column: {part.use or part.file} predicts numbers, and "
            f"column {part.class_column!r} holds others: name a classifier, or a column of numbers"
        )
    members, others = (
        (side.X, one.to_numpy(dtype=float)) for side, one in zip(sides, numbers, strict=True)
    )
    model: object = file
    if trainer is not None and file is None:
        model = _trained_here(config, names, partial(trainer.fitted, *members))
    return ModelMIA(
        model,
        members,
        others,
        part.access,
        part.known_share,
        trainer if part.num_shadows else None,
        seed=config.seed,
        num_shadows=max(2, part.num_shadows),
        shown=_shown(part),
        label=label,
    )


def _about_property(
    config: AuditFile, names: Names, trainer: Trainer | None, records: Records, label: str
) -> ModelPropertyInference:
    part, wanted = config.model, config.goal.property
    if part is None or wanted is None or trainer is None:
        raise ConfigError(
            f"{names.where}: goal.property: models with each of the shares are trained, so what "
            f"trains them must be named: by model.use, or by model.trainer beside model.file or "
            f"model.endpoint, the model in question"
        )
    if wanted.column == part.class_column:
        column = pd.Series(records.y)
    elif wanted.column in records.columns:
        column = records.X[wanted.column]
    else:
        raise ConfigError(
            f"{names.where}: goal.property.column: {wanted.column!r} is not a column; they are "
            f"{listing([*records.columns, part.class_column])}"
        )
    has_property = (column.astype(object) == wanted.value).to_numpy(dtype=bool)
    if not has_property.any():
        raise ConfigError(
            f"{names.where}: goal.property.value: no record has {wanted.value!r} in column "
            f"{wanted.column!r}; it has {listing(pd.unique(column.dropna()).tolist())}"
        )
    try:
        return ModelPropertyInference(
            trainer,
            records,
            has_property,
            wanted.shares,
            wanted.records,
            part.access,
            seed=config.seed,
            label=label,
            property_label=f"{wanted.column} = {wanted.value}",
            model=None if part.use else _audited(config, part, names, None, records),
        )
    except TapasError as error:
        said = str(error).replace("num_records", "goal.property.records")
        raise ConfigError(f"{names.where}: goal.property: {said}") from error


def _refuse_without_class(tables: Sequence[TabularDataset], column: str, where: str) -> None:
    """Name the records of data.table that have no class, and the key that leaves them out."""
    without = [
        label
        for data in tables
        if column in data.description.columns
        for label, value in data.view(columns=[column]).data[column].items()
        if pd.isna(value)
    ]
    if without:
        few, many = listing(without, MOST_NAMED, show=str), len(without) > MOST_NAMED
        remedy = f" of the table: {few}" if many else f" (data.leave_out: [{few}])"
        raise ConfigError(
            f"{where}: model.class_column: {len(without)} records have no {column!r}: leave them "
            f"out{remedy}"
        )


def _sides(
    config: AuditFile, names: Names, tables: Tables
) -> tuple[TabularDataset, TabularDataset]:
    """Records that the model was trained on, and records that it was not."""
    whole = tables.private()
    if config.data.holdout is not None:
        return whole, tables.beside(config.data.holdout, "data.holdout")
    if config.model is not None and config.model.use is None and not config.goal.property:
        raise ConfigError(
            f"{names.where}: data.holdout: a model that is not trained here needs records "
            f"that it was not trained on"
        )
    order = part_stream(config.seed, Parts.SAMPLE_HALVES).permutation(len(whole))
    half = len(whole) // 2
    return whole.take(order[:half]), whole.take(order[half:])
