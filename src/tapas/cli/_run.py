"""tapas run"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tapas.cli._set_option import set_option


@click.command("run")
@click.argument("audit_file", type=click.Path(path_type=Path), metavar="FILE")
@set_option
@click.option("--folder", type=click.Path(path_type=Path), help="Run folder [FILE's name-run]")
@click.option("--n-jobs", type=int, help="Local processes; -1 is one per core.")
@click.option("--cluster", metavar="ADDRESS", help="Run on a Dask cluster (tcp://...).")
@click.option(
    "--resources",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Of that cluster, only workers that have these, and so many at once (GPU=1).",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the verdict.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="The same as JUnit.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def command(
    audit_file: Path,
    changes: tuple[str, ...],
    folder: Path | None,
    n_jobs: int | None,
    cluster: str | None,
    resources: tuple[str, ...],
    json_file: Path | None,
    junit_file: Path | None,
    quiet: bool,
) -> int:
    """Run the audit in FILE.

    What the run folder holds already is not played again: the same command goes on with a run
    that was interrupted, and gives the same results.
    """
    from tapas.audit import load_audit
    from tapas.cli._carry_out import (
        carry_out,
        default_folder,
        foreign_code,
        publish,
        say_verdict,
    )
    from tapas.cli._check import too_few_words
    from tapas.cli._outputs import make_way, write_json, write_junit

    if changes and folder is None:
        raise click.UsageError(
            f"--set needs --folder, a place of its own: {default_folder(audit_file)} is for "
            f"{audit_file} as it stands"
        )
    make_way(json_file, junit_file)
    place = folder or default_folder(audit_file)
    with foreign_code(), _executor(cluster, resources) as executor:
        audit = load_audit(audit_file, changes)
        if few := too_few_words(audit):
            click.echo(f"Note: {few}", err=True)
        jobs = n_jobs if executor is None else None
        record = carry_out(audit, place, n_jobs=jobs, executor=executor, quiet=quiet)
    verdict = say_verdict(record, publish(record, place))
    if json_file is not None:
        write_json(json_file, record, verdict)
    if junit_file is not None:
        write_junit(junit_file, record, verdict)
    return verdict.exit_code


@contextmanager
def _executor(cluster: str | None, resources: tuple[str, ...]) -> Iterator[Any]:
    if cluster is None:
        if resources:
            raise click.UsageError("--resources are those of a cluster: name it (--cluster)")
        yield None
        return
    from tapas.cli._cluster import as_resources, connected

    with connected(cluster, as_resources(resources)) as found:
        yield found
