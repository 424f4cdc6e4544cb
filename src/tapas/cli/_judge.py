"""tapas judge"""

from pathlib import Path

import click

from tapas._files import write_text


@click.command("judge")
@click.argument("audit_file", type=click.Path(path_type=Path), metavar="FILE")
@click.argument("records", type=click.Path(path_type=Path), required=False)
@click.option("--attack", help="Name of the attack [the last in FILE, or the strongest]")
@click.option(
    "--prior", type=float, default=0.5, show_default=True, help="Share of members among RECORDS."
)
@click.option(
    "--false-alarms",
    type=float,
    default=0.05,
    show_default=True,
    help="Share of non-members that may be taken for members.",
)
@click.option("--n-jobs", type=int, help="Local processes; -1 is one per core.")
@click.option("--out", type=click.Path(path_type=Path), help="CSV to write [beside, -judged.csv]")
def command(
    audit_file: Path,
    records: Path | None,
    attack: str | None,
    prior: float,
    false_alarms: float,
    n_jobs: int | None,
    out: Path | None,
) -> None:
    """Decide whether the model in FILE was trained on each of RECORDS.

    RECORDS is a table with the columns of the audited ones, the class among them. Each record gets
    a score, a decision, a probability at the prior, and the share of non-members that score as
    high, read off the members and non-members of FILE. Where FILE is about predictions, those are
    judged whose membership is empty.
    """
    from tapas.audit import judge_file
    from tapas.cli._carry_out import foreign_code
    from tapas.cli._outputs import refuse_unwritable
    from tapas.results import spreadsheet_safe

    beside = records or audit_file
    place = out or beside.with_name(f"{beside.stem}-judged.csv")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    if place.parent.is_dir():
        refuse_unwritable(place)
    with foreign_code():
        judged = judge_file(
            audit_file,
            records,
            attack=attack,
            prior=prior,
            false_alarms=false_alarms,
            n_jobs=n_jobs,
        )
    write_text(place, spreadsheet_safe(judged.table).to_csv(index=False))
    click.echo(judged.words())
    click.echo(f"Records: {place}")
