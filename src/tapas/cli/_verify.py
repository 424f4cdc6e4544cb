"""tapas verify"""

import tempfile
from pathlib import Path

import click


@click.command("verify")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> int:
    """See whether everything in the run FOLDER is as it was written; nothing is run or changed.

    Looks at the record, the question, every stored trial and the page.
    """
    from tapas.audit import verify_run
    from tapas.cli._main import FINE, USAGE

    wrong = verify_run(folder) or _other_page(folder)
    for line in wrong:
        click.echo(f"Damaged: {' '.join(line.split())}")
    click.echo(
        f"{folder}: tapas repair keeps what is whole, and tapas run plays the rest again"
        if wrong
        else f"{folder} is as it was written"
    )
    return USAGE if wrong else FINE


def _other_page(folder: Path) -> list[str]:
    """A page, or a list of exposed records, that is not what the record says."""
    from tapas.errors import StoreError
    from tapas.report import AuditPage
    from tapas.results import AuditRecord, read_history

    try:
        page = AuditPage(AuditRecord.load(folder), read_history(folder))
    except StoreError as error:
        return [str(error)]
    with tempfile.TemporaryDirectory() as room:
        return [
            f"{folder / made.name} does not follow from the record (tapas report writes it)"
            for made in map(Path, page.publish(room))
            if (there := folder / made.name).is_file() and there.read_bytes() != made.read_bytes()
        ]
