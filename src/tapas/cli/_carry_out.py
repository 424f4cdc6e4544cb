"""Run an audit into a folder and say what came of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tapas.cli import _supervise
from tapas.cli._option_names import told_in_options
from tapas.cli._streams import output_as_errors
from tapas.errors import ConfigError
from tapas.results import AuditRecord, Findings, Verdict, decide, gates_words, read_history


def default_folder(audit_file: Path) -> Path:
    """The folder of a run: beside the audit file, under its name."""
    return audit_file.parent / f"{audit_file.stem or 'audit'}-run"


@contextmanager
def foreign_code() -> Iterator[None]:
    """Where code that an audit names is imported and run: it can be interrupted, and ended.

    What it prints goes to standard error, from Python and from below: it is no part of a result.
    """
    from tapas.engine import interruptible

    _supervise.tell_limits_to_parent()
    with interruptible(_supervise.is_request), output_as_errors():
        yield


def refuse_problems(audit: Any, audit_file: Path) -> Any:
    """The report of a check without problems; otherwise an error that names them."""
    found = audit.check()
    if not found.ok:
        raise ConfigError(
            *(f"{audit_file}: the audit cannot run: {problem}" for problem in found.problems)
        )
    return found


def carry_out(
    audit: Any, folder: Path, *, n_jobs: int | None, executor: Any = None, quiet: bool = False
) -> AuditRecord:
    """Run, or go on; Ctrl-C and a polite end by the system leave a run that can go on."""
    from tapas.engine import Silent, end_workers

    apart = _supervise.isolated or executor is not None
    try:
        return audit.run(folder, executor, Silent if quiet else None, n_jobs=n_jobs, isolated=apart)
    except BaseException:
        end_workers()
        raise


def audited_values(
    values: Mapping[str, object],
    where: str,
    called: Mapping[str, str],
    folder: Path,
    json_file: Path | None,
    junit_file: Path | None,
) -> int:
    """Run an audit that options describe, as `tapas run` runs an audit file; the exit code.

    `called` says what keys of an audit file are called among the options.
    """
    from tapas.audit import audit_from_values
    from tapas.cli._outputs import make_way, write_json, write_junit

    make_way(json_file, junit_file)
    with foreign_code():
        with told_in_options(called):
            audit = audit_from_values(values, where)
            problems = audit.check().problems
            if problems:
                raise ConfigError(f"{where}: it cannot be attacked: {'; '.join(problems[:5])}")
        record = carry_out(audit, folder, n_jobs=None, quiet=True)
    counts_copies = any(subject.copies is not None for subject in record.audited)
    limits = "--max-auc 0.6 --max-copies 0" if counts_copies else "--max-auc 0.6"
    verdict = say_verdict(record, publish(record, folder), limits)
    if json_file is not None:
        write_json(json_file, record, verdict)
    if junit_file is not None:
        write_junit(junit_file, record, verdict)
    return verdict.exit_code


def publish(record: AuditRecord, folder: Path) -> Path:
    """Write the page of a record."""
    from tapas._files import refuse_links
    from tapas.report import AuditPage

    refuse_links(folder)
    return Path(AuditPage(record).publish(folder)[0])


def say_verdict(
    record: AuditRecord, page: Path, limits: str = "gates in the audit file"
) -> Verdict:
    """Print what came of an audit: words, gates, and where to read more.

    `limits` is how a limit is set, for audits that have none.
    """
    from tapas.report import AuditPage

    verdict = decide(record)
    for sentence in AuditPage(record, read_history(page.parent)).words:
        click.echo(" ".join(sentence.split()))
    for outcome in verdict.outcomes:
        click.echo(f"  gate {outcome.state}: {' '.join(outcome.words.split())}")
    words = gates_words(Findings(record), verdict)
    if words and len(verdict.outcomes) > 1:
        click.echo(f"  {words}")
    for subject in record.subjects:
        for crash in subject.crashes[:5]:
            words = " ".join(f"{crash.attack} on {crash.target}: {crash.message}".split())
            click.echo(f"  crashed ({subject.name}): {words}")
        if subject.failures:
            first = " ".join(subject.failures[0].message.split())
            click.echo(f"  {len(subject.failures)} runs of {subject.name} failed, first: {first}")
    if any(subject.failures or subject.crashes for subject in record.subjects):
        click.echo(f"  what failing code said is in {page.parent / 'errors.log'}, and nowhere else")
    if not verdict.outcomes and record.claim is None and verdict.exit_code == 0:
        click.echo(
            f"  no limit was set, so the exit code is 0 whatever was found; limits are set by "
            f"{limits}"
        )
    click.echo(f"Report: {page}")
    return verdict
