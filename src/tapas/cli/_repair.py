"""tapas repair"""

from pathlib import Path

import click


@click.command("repair")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Keep every trial that is whole in a damaged run FOLDER.

    The damaged index stays beside the new one. `tapas run` then plays what was lost.
    """
    from tapas.audit import repair_run

    kept, lost = repair_run(folder)
    click.echo(f"{folder}: {kept} stored values are whole and kept, {lost} were damaged")
