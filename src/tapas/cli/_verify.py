"""tapas verify"""

import tempfile
from pathlib import Path

import click

from tapas.cli._set_option import set_option


@click.command("verify")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--replay", type=click.IntRange(min=1), metavar="K", help="Play K trials again.")
@click.option(
    "--audit",
    "audit_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The audit file of the run, for --replay [that beside FOLDER which it is named after]",
)
@set_option
@click.option("--n-jobs", type=int, help="Local processes of --replay; -1 is one per core.")
def command(
    folder: Path,
    replay: int | None,
    audit_file: Path | None,
    changes: tuple[str, ...],
    n_jobs: int | None,
) -> int:
    """See whether everything in the run FOLDER is as it was written; nothing in it is changed.

    Looks at the record, the question, every stored trial and the page, and runs nothing. With
    --replay, K random trials are then played again and compared to the bit: like `tapas run`, this
    imports and runs the code and programs that the audit file names.
    """
    from tapas.audit import verify_run
    from tapas.cli._main import FINE, USAGE

    wrong = verify_run(folder) or _other_page(folder)
    for line in wrong:
        click.echo(f"Not verified: {' '.join(line.split())}")
    click.echo(
        f"{folder}: tapas repair keeps what is whole, and tapas run plays the rest again"
        if wrong
        else f"{folder} is as it was written"
    )
    if replay is None or wrong:
        return USAGE if wrong else FINE
    return _replay(folder, replay, audit_file or _beside(folder), changes, n_jobs)


def _beside(folder: Path) -> Path:
    """The audit file that a run folder is named after."""
    place = folder.resolve()
    names = [f"{place.name.removesuffix('-run')}{end}" for end in (".yaml", ".yml")]
    found = [place.with_name(name) for name in names if place.with_name(name).is_file()]
    if not found or not place.name.endswith("-run"):
        raise click.UsageError(
            "--replay needs the audit file of the run: give it by --audit FILE, and the --set that "
            "the run had"
        )
    return found[0]


def _replay(
    folder: Path, number: int, audit_file: Path, changes: tuple[str, ...], n_jobs: int | None
) -> int:
    from tapas.audit import load_audit, replay_run
    from tapas.cli import _supervise
    from tapas.cli._carry_out import foreign_code
    from tapas.cli._main import FINE, GATE_FAILED
    from tapas.engine import end_workers

    with foreign_code():
        try:
            audit = load_audit(audit_file, changes)
            trials = replay_run(folder, audit, number, n_jobs=n_jobs, isolated=_supervise.isolated)
        finally:
            end_workers()
    for trial in trials:
        click.echo(f"  {' '.join(str(trial).split())}")
    differing = [trial for trial in trials if trial.differing]
    click.echo(
        f"{len(differing)} of {len(trials)} replayed trials came out otherwise"
        if differing
        else f"{len(trials)} replayed trials came out the same to the bit"
    )
    return GATE_FAILED if differing else FINE


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
