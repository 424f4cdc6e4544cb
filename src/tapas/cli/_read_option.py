"""--read, the same wherever files are read."""

import click

read_option = click.option(
    "--read",
    multiple=True,
    metavar="NAME=VALUE",
    help="How files are read, where it cannot be found from them: delimiter, decimal, encoding, "
    "quote, header, index, dates, skip_rows, sheet, missing; repeatable.",
)
