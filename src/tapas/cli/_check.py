"""tapas check"""

import math
from pathlib import Path
from typing import Any

import click

from tapas.cli._set_option import set_option

_COUNTED = ("dropped_columns", "copied_records")  # limits that no interval decides


@click.command("check")
@click.argument("audit_file", type=click.Path(path_type=Path), metavar="FILE")
@set_option
def command(audit_file: Path, changes: tuple[str, ...]) -> None:
    """Find every problem of the audit in FILE before any work is done.

    Plays one trial of each kind (a few, if they are short), and says how long all of them would
    take, and attacks to learn from them. Like `tapas run`, this imports and runs the code and
    programs that FILE names.
    """
    from tapas.audit import load_audit
    from tapas.cli._carry_out import foreign_code, refuse_problems
    from tapas.results import drawn_values_words

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
    for said in drawn_values_words(audit.asked()):
        click.echo(said)
    if said := _who_is_judged(audit):
        click.echo(said)
    if said := _what_it_takes(found, audit.num_trials()):
        click.echo(said)
    if said := _error_bars(audit.forecast(found), bool(audit.asked().get("generator"))):
        click.echo(said)


def _what_it_takes(found: Any, trials: int) -> str:
    """Time of all trials, and of what is learnt from them."""
    from tapas.cli._words import duration

    if found.seconds_per_trial is None or not trials:
        return ""
    played = duration(found.seconds_per_trial * trials)
    learnt = (
        f", and about {duration(found.seconds_to_learn)} for attacks to learn from them"
        if found.seconds_to_learn
        else ""
    )
    untimed = (
        f"What {' and '.join(found.untimed)} {_verb(found.untimed)} could not be timed: it comes "
        f"on top, as judging and the page do (seconds in most audits)"
        if found.untimed
        else "Judging and the page come on top (seconds in most audits)"
    )
    return (
        f"{trials} trials of about {duration(found.seconds_per_trial)}: {played} on one core"
        f"{learnt}. {untimed}"
    )


def _verb(attacks: tuple[str, ...]) -> str:
    return "learns" if len(attacks) == 1 else "learn"


def too_few_words(audit: Any) -> str:
    """That gates can hardly be decided by so few trials or records; plays nothing."""
    from tapas.audit import CheckReport

    asked = audit.asked()
    forecast = audit.forecast(CheckReport((), (), None))
    measured = [gate for gate in audit.gates if gate.metric not in _COUNTED]
    if not measured or forecast.auc_error is None or math.isfinite(forecast.auc_error):
        return ""
    fixed = asked.get("model") or asked.get("release") or asked.get("predictions")
    more = "more judged records" if fixed else "more test trials (trials.test)"
    return (
        f"{_error_bars(forecast, bool(asked.get('generator')))}. Gates are then hardly ever "
        f"decided (exit code 6): {more}, or fewer attacks and targets, decide them"
    )


def _error_bars(forecast: Any, of_targets: bool) -> str:
    """How exact results will be, by the number of scores that they rest on."""
    if forecast.auc_error is None:
        return ""
    what = "of each target" if of_targets else "over the judged records"
    rests = f"Expected: an AUC {what} rests on {forecast.scores:,} scores"
    over = f" over all {forecast.results:,} results together" if forecast.results > 1 else ""
    if math.isinf(forecast.auc_error):
        return f"{rests}: too few for any interval to exclude guessing (95 %{over})"
    found = (
        f"; the interval of one of {forecast.smallest_auc:.2f} would exclude guessing nine times "
        f"in ten"
        if forecast.smallest_auc is not None
        else ""
    )
    return f"{rests} and is known to about +-{forecast.auc_error:.2f} (95 %{over}){found}"


def _who_is_judged(audit: Any) -> str:
    """How many are judged, of how many, and what decides it."""
    asked, number = audit.asked(), audit.num_judged()
    inputs = asked.get("inputs", {})
    goal = asked.get("goal") or {}
    if goal.get("property"):
        return ""
    if asked.get("generator") or asked.get("imported"):
        rows = next((table["rows"] for table in inputs.values()), number)
        records = asked.get("knowledge", {}).get("records")
        of_size = f", in private datasets of {records:,}" if asked.get("generator") else ""
        return f"Judged: {number:,} targets of {rows:,} records{of_size} (data.targets chooses)"
    keys = ("data.table", "data.holdout", "data.sample")
    rows = sum(inputs[key]["rows"] for key in keys if key in inputs)
    counts = asked.get("data", {}).get("records")
    of_sides, others = "", "(known_share says how many)"
    if counts:
        of_sides = f", {_sides(counts, 'judged')}"
        others = f"({_sides(counts, 'known')}: known_share says how many)"
    return (
        f"Judged: {number:,} of {rows:,} records{of_sides}. The attacker learns from others "
        f"{others}, and records whose values are on both sides tell nothing{_reference(asked)}"
    )


def _sides(counts: Any, which: str) -> str:
    members, others = (counts[f"{which}_{side}"] for side in ("members", "non_members"))
    return f"{members:,} that were used and {others:,} that were not"


def _reference(asked: Any) -> str:
    """Why fewer are known of a release than known_share says."""
    part = asked.get("release")
    if not part or part.get("reference") is not None:
        return ""
    reference = asked["data"]["records"]["reference"]
    if not reference:
        return ""
    return (
        f". Half of what known_share takes of the holdout, {reference:,} records, is the "
        f"reference; of what is left the same part of either side is known"
    )
