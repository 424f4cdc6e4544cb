"""tapas report"""

from pathlib import Path

import click


@click.command("report")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="Where to [FOLDER itself]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the verdict.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="The same as JUnit.")
def command(
    folder: Path, output: Path | None, json_file: Path | None, junit_file: Path | None
) -> int:
    """Write the report of the finished run in FOLDER again; nothing is played.

    Leaves with the same exit code as the run.
    """
    from tapas.cli._carry_out import publish, say_verdict
    from tapas.cli._outputs import make_way, write_json, write_junit
    from tapas.results import AuditRecord

    make_way(json_file, junit_file)
    record = AuditRecord.load(folder)
    place = output or (folder if folder.is_dir() else folder.parent)
    verdict = say_verdict(record, publish(record, place))
    if json_file is not None:
        write_json(json_file, record, verdict)
    if junit_file is not None:
        write_junit(junit_file, record, verdict)
    return verdict.exit_code
