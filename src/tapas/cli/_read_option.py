"""--read, the same wherever files are read."""

import click

read_option = click.option(
    "--read",
    multiple=True,
    metavar="NAME=VALUE",
    help="How files are read, where it cannot be found from them: delimiter, decimal, encoding, "
    "quote, header, index, dates, skip_rows, sheet, missing; repeatable.",
)


def choices(words: tuple[str, ...]) -> dict[str, object]:
    """What such options say, as audit files have it."""
    from tapas.datasets import choices_from_words

    chosen = choices_from_words(words).items()
    return {key: list(value) if isinstance(value, tuple) else value for key, value in chosen}
