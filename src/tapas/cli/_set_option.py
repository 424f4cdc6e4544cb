"""--set, the same wherever an audit file is used."""

import click

set_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of FILE for this time: model.access=labels, 'data.drop=[name]'; repeatable.",
)
