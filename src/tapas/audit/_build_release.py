"""Audits of a table that was released already, from files alone."""

import warnings
from dataclasses import asdict

import numpy as np

from tapas._random import Parts, part_stream
from tapas._spec import Plain
from tapas._validate import listing
from tapas.audit._about_records import check_subgroups
from tapas.audit._build_generator import controls
from tapas.audit._built import Built
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._left_out_columns import looked_up
from tapas.audit._subject import Subject
from tapas.audit._tables import Tables
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, TapasError, TapasWarning
from tapas.threat_models import ObservedAIA, ObservedMIA

FEW_RECORDS = 4_000  # judged of controls, and as many known


def release_subjects(config: AuditFile, names: Names) -> Built:
    """The releases, and controls as large as the first, made from the private table."""
    part = config.release
    if part is None:
        raise ConfigError(f"{names.where}: release is missing")
    tables = Tables(config, names, without_text=True)
    private = tables.private()
    check_subgroups(private.description.columns, config.subgroups, names.where)
    holdout = tables.beside(str(config.data.holdout), "data.holdout")
    released, *others = (tables.beside(file, key) for key, file in part.files.items())
    reference = None
    if part.reference is not None:
        reference = tables.beside(part.reference, "release.reference")
    try:
        wanted, tables_given = config.goal.attribute, (released, private, holdout)
        if wanted is not None and wanted.distribution is not None:
            raise ConfigError("goal.attribute.distribution: values of a release are what they are")
        if wanted is None:
            game = ObservedMIA(*tables_given, reference, part.known_share, seed=config.seed)
        else:
            game = ObservedAIA(
                *tables_given,
                wanted.column,
                wanted.values,
                reference,
                part.known_share,
                seed=config.seed,
            )
    except TapasError as error:
        raise ConfigError(f"{names.where}: {error}") from error
    _warn_of_identifiers(private, holdout)
    names_of = [part.label or released.label, *(table.label for table in others)]
    games = [game, *(game.with_release(table) for table in others)]
    sides = (tables.aside("data.table"), tables.aside("data.holdout"))
    subjects = [
        Subject(one, name, left_out_columns=looked_up(*sides, tables.aside(key), config.seed))
        for one, name, key in zip(games, names_of, part.files, strict=True)
    ]
    if config.with_controls:
        made, fewer = _control_tables(private, len(released), config.seed), game.fewer(FEW_RECORDS)
        subjects += [
            Subject(fewer.with_release(table), name, role="control") for name, table in made.items()
        ]
    given = [private, holdout, released, *others, *([] if reference is None else [reference])]
    facts: dict[str, Plain] = {
        "digest": [table.table.digest() for table in given],
        "records": asdict(game.counts),
    }
    return Built(tuple(subjects), {"data": facts}, tables.inputs())


def _warn_of_identifiers(private: TabularDataset, holdout: TabularDataset) -> None:
    """Row numbers tell members from non-members without any leak."""
    table = private.table.concat(holdout.table)
    integers = [column.name for column in table.columns if column.kind == "integer"]
    found = [name for name in integers if len(np.unique(table.column(name))) == len(table)]
    if found:
        warnings.warn(
            f"{listing(found)}: a different whole number in every record. If these are "
            f"identifiers, drop them: they can tell the two tables apart without any leak",
            TapasWarning,
            stacklevel=3,
        )


def _control_tables(private: TabularDataset, rows: int, seed: int) -> dict[str, TabularDataset]:
    """Where the scale ends and where it begins, for releases of this size."""
    texts = any(column.kind == "string" for column in private.description.parsed)
    return {
        name: generator(private, rows, random_state=part_stream(seed, Parts.CONTROL_TABLES, number))
        for number, (name, generator) in enumerate(controls())
        if generator.accepts_free_text or not texts
    }
