"""tapas schema"""

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON schema of audit files; editors complete and check with it."""
    from tapas.audit import audit_file_schema

    click.echo(json.dumps(audit_file_schema(), indent=1))
