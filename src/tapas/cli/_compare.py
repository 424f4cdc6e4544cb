"""tapas compare"""

from itertools import count
from pathlib import Path

import click

from tapas.cli._main import FINE, GATE_FAILED

BELOW = Path("tapas-comparison")


@click.command("compare")
@click.argument("folders", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of the page [below tapas-comparison, named after what is compared]",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the same.")
@click.option("--fail-on-worse", is_flag=True, help="Leave with 1 if a result got worse.")
def command(
    folders: tuple[Path, ...], output: Path | None, json_file: Path | None, fail_on_worse: bool
) -> int:
    """Compare two or more finished runs: what got better or worse, with intervals."""
    from tapas import report
    from tapas.cli._outputs import make_way, write_comparison
    from tapas.results import AuditRecord

    if len(folders) < 2:
        raise click.UsageError("give at least two run folders")
    make_way(json_file)
    records = [AuditRecord.load(folder) for folder in folders]
    names = _names(folders)
    page = report.ComparisonPage(records, names)
    for line in page.words:
        click.echo(line)
    click.echo(f"Report: {page.publish(output or _free(names, page.html()))[0]}")
    found = page.comparison
    if json_file is not None:
        write_comparison(json_file, found, page.words)
    worse = sum(found.count(name, "worse") for name in found.names[1:])
    return GATE_FAILED if fail_on_worse and worse else FINE


def _free(names: list[str], text: str) -> Path:
    """A folder named after what is compared that holds no page yet, or this very one."""
    from tapas.results import file_safe

    called = file_safe("-vs-".join(names))
    folders = (BELOW / (called if one == 1 else f"{called}-{one}") for one in count(1))
    return next(folder for folder in folders if _page(folder) in (None, text))


def _page(folder: Path) -> str | None:
    file = folder / "comparison.html"
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else None


def _names(folders: tuple[Path, ...]) -> list[str]:
    """Short names where they tell the runs apart, else the whole paths."""
    short = [folder.resolve().name.removesuffix("-run") for folder in folders]
    if len(set(short)) == len(short):
        return short
    whole = [str(folder) for folder in folders]
    if len(set(whole)) == len(whole):
        return whole
    return [f"{number}: {name}" for number, name in enumerate(whole, start=1)]
