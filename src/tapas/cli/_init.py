"""tapas init"""

import shlex
from pathlib import Path

import click


@click.command("init")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["generator", "model"]),
    default="generator",
    show_default=True,
    help="What is audited.",
)
@click.option("--class-column", help="For models: the column that is predicted [the last]")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("audit.yaml"),
    show_default=True,
)
def command(table: Path, kind: str, class_column: str | None, output: Path) -> None:
    """Write a commented audit file for TABLE (CSV or Parquet).

    The schema of the table is inferred and written beside the audit file; correct it where it is
    wrong. Nothing is overwritten.
    """
    from tapas.cli._templates import audit_text
    from tapas.datasets import DataDescription, TabularDataset
    from tapas.errors import ConfigError

    data = TabularDataset.read(table)
    described: DataDescription = data.description
    schema = output.with_name(f"{output.stem}.schema.json")
    text = audit_text(kind, data, table, schema, output, class_column)
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
