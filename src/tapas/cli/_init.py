"""tapas init"""

import shlex
from pathlib import Path
from typing import Any

import click


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
    default=Path("holdout.csv"),
    help="For files: records that were not used [holdout.csv]",
)
@click.option(
    "--released",
    type=click.Path(path_type=Path),
    default=Path("released.csv"),
    help="For files: the released table [released.csv]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("audit.yaml"),
    show_default=True,
)
def command(
    table: Path, kind: str, class_column: str | None, holdout: Path, released: Path, output: Path
) -> None:
    """Write a commented audit file for TABLE (CSV or Parquet).

    The schema of the table is inferred and written beside the audit file; correct it where it is
    wrong. Nothing is overwritten.
    """
    from tapas.cli._templates import audit_text
    from tapas.datasets import DataDescription, TabularDataset
    from tapas.errors import ConfigError

    data = TabularDataset.read(table, description=_description(kind, table, holdout, released))
    described: DataDescription = data.description
    schema = output.with_name(f"{output.stem}.schema.json")
    text = audit_text(kind, data, table, schema, output, class_column, (holdout, released))
    for path in (output, schema):
        if path.exists():
            raise ConfigError(f"{path} exists already: move it away, or give another --output")
    output.parent.mkdir(parents=True, exist_ok=True)
    described.to_json(schema)
    with output.open("x", encoding="utf-8") as file:
        file.write(text)
    for line in described.explain().splitlines():
        click.echo(f"  {line}")
    click.echo(f"Wrote {schema} (as above: correct what is wrong) and {output}")
    quoted = shlex.quote(str(output))
    click.echo(f"Next: tapas check {quoted}, then tapas run {quoted}")


def _description(kind: str, *tables: Path) -> Any:
    """One description of all tables that exist; None where there is but one, or a schema."""
    if kind != "files" or tables[0].with_suffix(".json").exists():
        return None
    from tapas.audit import describe_files

    there = [tables[0], *(table for table in tables[1:] if table.is_file())]
    return describe_files(there) if len(there) > 1 else None
