"""tapas check"""

from pathlib import Path
from typing import Any

import click

from tapas.cli._set_option import set_option


@click.command("check")
@click.argument("audit_file", type=click.Path(path_type=Path), metavar="FILE")
@set_option
def command(audit_file: Path, changes: tuple[str, ...]) -> None:
    """Find every problem of the audit in FILE before any work is done.

    Plays one trial of each kind, and says how long all of them would take. Like `tapas run`, this
    imports and runs the code and programs that FILE names.
    """
    from tapas.audit import load_audit
    from tapas.cli._carry_out import foreign_code, refuse_problems
    from tapas.cli._words import duration

    with foreign_code():
        audit = load_audit(audit_file, changes)
        found = refuse_problems(audit, audit_file)
    inputs: Any = audit.asked().get("inputs", {})
    for name, table in inputs.items():
        read = "; ".join(table.get("read", ())) or "read plainly"
        click.echo(f"{name}: {table['file']}, {table['rows']:,} records: {read}")
        for column, reason in table.get("dropped", {}).items():
            click.echo(f"{name}: not audited: {column} ({reason})")
    for caution in dict.fromkeys(found.cautions):
        click.echo(f"Note: {' '.join(caution.split())}")
    click.echo(f"{audit_file} can run: {', '.join(attack.label for attack in audit.attacks)}")
    trials = audit.num_trials()
    if found.seconds_per_trial is not None and trials:
        seconds = found.seconds_per_trial * trials
        click.echo(
            f"{trials} trials of about {duration(found.seconds_per_trial)}: "
            f"{duration(seconds)} on one core"
        )
