"""tapas repair"""

from pathlib import Path

import click


@click.command("repair")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Keep every trial that is whole in a damaged run FOLDER.

    The damaged index stays beside the new one. `tapas run` then plays what was lost. Where nothing
    is damaged, nothing is changed.
    """
    from tapas.audit import repair_run

    repaired = repair_run(folder)
    if repaired is None:
        click.echo(f"{folder}: every stored value is whole: nothing to repair")
    else:
        kept, lost = repaired
        click.echo(f"{folder}: {kept} stored values are whole and kept, {lost} were damaged")
