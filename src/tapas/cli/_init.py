"""tapas init"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tapas._validate import listing
from tapas.cli._read_option import read_option

if TYPE_CHECKING:
    import pandas as pd

    from tapas.datasets import DataDescription

MANY_ROWS = 50  # from so many on, numbers that all differ are hardly chance


@click.command("init")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["generator", "model", "files"]),
    default="generator",
    show_default=True,
    help="What is audited.",
)
@click.option("--class-column", help="For models: the column that is predicted [the last]")
@click.option(
    "--holdout",
    type=click.Path(path_type=Path),
    help="For files and models: records that were not used [files: holdout.csv]",
)
@click.option(
    "--released",
    type=click.Path(path_type=Path),
    help="For files: the released table [released.csv]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("audit.yaml"),
    show_default=True,
)
@read_option
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
def command(
    table: Path,
    kind: str,
    class_column: str | None,
    holdout: Path | None,
    released: Path | None,
    output: Path,
    read: tuple[str, ...],
    drop: tuple[str, ...],
) -> None:
    """Write a commented audit file for TABLE (CSV, TSV, gz, Parquet, Excel or JSON lines).

    The schema of the table is inferred and written beside the audit file; correct it where it is
    wrong. Nothing is overwritten.
    """
    from tapas.cli._templates import audit_text, left_out, read_entry
    from tapas.datasets import Reading, read_together
    from tapas.errors import ConfigError

    for option, given, kinds in (
        ("--class-column", class_column, ("model",)),
        ("--holdout", holdout, ("files", "model")),
        ("--released", released, ("files",)),
    ):
        if given is not None and kind not in kinds:
            fits = " or ".join(f"--kind {one}" for one in kinds)
            raise ConfigError(f"{option} goes with {fits}, not with --kind {kind}")
    if kind == "files":
        holdout, released = holdout or Path("holdout.csv"), released or Path("released.csv")
    there = [table, *(other for other in (holdout, released) if other and other.is_file())]
    found = read_together(there, Reading.from_words(read), drop)
    schema = output.with_name(f"{output.stem}.schema.json")
    rows = len(found.files[table].cells)
    if rows == 0:
        raise ConfigError(f"{table} has names of columns and no records below them")
    label = None if read else _may_name_people(found.description, found.files[table].cells)
    text = audit_text(
        kind,
        found.description,
        rows,
        (table, holdout, released),
        (schema, output),
        class_column,
        (read, drop),
        label,
    )
    for path in (output, schema):
        if path.exists():
            raise ConfigError(f"{path} exists already: move it away, or give another --output")
    output.parent.mkdir(parents=True, exist_ok=True)
    found.description.to_json(schema)
    with output.open("x", encoding="utf-8") as file:
        file.write(text)
    for path, file_read in found.files.items():
        for choice in file_read.choices:
            click.echo(f"  {path}: {choice}")
    for line in found.description.explain().splitlines():
        click.echo(f"  {line}")
    if without := left_out(found.description, drop):
        few = listing(without, show=str)
        click.echo(f"Left out, and so not audited: {few} (data.drop in {output})")
    if label is not None:
        click.echo(
            f"{label!r} is different in every record. If it names people, let pages call them by "
            f"it instead of by row: {read_entry({'index': label})} below data in {output}"
        )
    click.echo(f"Wrote {schema} (as above: correct what is wrong) and {output}")
    quoted = shlex.quote(str(output))
    click.echo(f"Next: tapas check {quoted}, then tapas run {quoted}")


def _may_name_people(description: "DataDescription", cells: "pd.DataFrame") -> str | None:
    """The first column with a different text, or of many records whole number, in every record."""
    for column in description.parsed:
        values = cells[column.name]
        many = column.kind == "string" or (column.kind == "integer" and len(values) >= MANY_ROWS)
        if many and values.is_unique and values.notna().all():
            return column.name
    return None
