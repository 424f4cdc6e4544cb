"""tapas compare"""

from pathlib import Path

import click


@click.command("compare")
@click.argument("folders", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("tapas-comparison"),
    show_default=True,
    help="Folder of the page.",
)
def command(folders: tuple[Path, ...], output: Path) -> None:
    """Compare two or more finished runs: what got better or worse, with intervals."""
    from tapas import report
    from tapas.results import AuditRecord

    if len(folders) < 2:
        raise click.UsageError("give at least two run folders")
    records = [AuditRecord.load(folder) for folder in folders]
    names = _names(folders)
    page = report.ComparisonPage(records, names)
    for line in page.words:
        click.echo(line)
    click.echo(f"Report: {page.publish(output)[0]}")


def _names(folders: tuple[Path, ...]) -> list[str]:
    """Short names where they tell the runs apart, else the whole paths."""
    short = [folder.resolve().name.removesuffix("-run") for folder in folders]
    if len(set(short)) == len(short):
        return short
    whole = [str(folder) for folder in folders]
    if len(set(whole)) == len(whole):
        return whole
    return [f"{number}: {name}" for number, name in enumerate(whole, start=1)]
