"""tapas compare"""

from pathlib import Path

import click

from tapas.cli._main import FINE, GATE_FAILED


@click.command("compare")
@click.argument("folders", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("tapas-comparison"),
    show_default=True,
    help="Folder of the page.",
)
@click.option("--fail-on-worse", is_flag=True, help="Leave with 1 if a result got worse.")
def command(folders: tuple[Path, ...], output: Path, fail_on_worse: bool) -> int:
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
    found = page.comparison
    worse = sum(found.count(name, "worse") for name in found.names[1:])
    return GATE_FAILED if fail_on_worse and worse else FINE


def _names(folders: tuple[Path, ...]) -> list[str]:
    """Short names where they tell the runs apart, else the whole paths."""
    short = [folder.resolve().name.removesuffix("-run") for folder in folders]
    if len(set(short)) == len(short):
        return short
    whole = [str(folder) for folder in folders]
    if len(set(whole)) == len(whole):
        return whole
    return [f"{number}: {name}" for number, name in enumerate(whole, start=1)]
