"""tapas plan"""

import math
from pathlib import Path
from typing import Any

import click

# Attacks of different strength: true and false positive rate of one fixed decision.
_STRENGTHS = {
    "perfect": (1.0, 0.0),
    "very strong": (0.9, 0.01),
    "strong": (0.5, 0.01),
    "moderate": (0.6, 0.3),
    "weak": (0.55, 0.45),
}

# Of its guesses about canaries that an attack may have right.
_SHARES_RIGHT = (1.0, 0.95, 0.85, 0.75, 0.6)
_MOST_CANARIES = 20_000

_OF_PAIRS = ", in pairs of one background, of which it takes more than of independent trials"


@click.command("plan")
@click.argument("audit_file", type=click.Path(path_type=Path), required=False, metavar="[FILE]")
@click.option("--epsilon", type=float, help="The claimed epsilon [that of FILE]")
@click.option("--delta", type=float, help="The claimed delta [that of FILE, or 0]")
@click.option("--tpr", type=float, help="True positive rate that you expect of the attack.")
@click.option("--fpr", type=float, help="False positive rate that you expect of the attack.")
@click.option("--confidence", type=float, default=0.95, show_default=True)
@click.option("--power", type=float, default=0.9, show_default=True, help="Chance to see it.")
def command(
    audit_file: Path | None,
    epsilon: float | None,
    delta: float | None,
    tpr: float | None,
    fpr: float | None,
    confidence: float,
    power: float,
) -> None:
    """How many test trials it takes to see that a claimed epsilon does not hold.

    With FILE, its claim is taken, a few of its trials are timed, and the whole is estimated. Like
    `tapas run`, this imports and runs the code and programs that FILE names.
    """
    from tapas.cli._carry_out import foreign_code
    from tapas.stats import runs_needed

    with foreign_code():
        audit = _audit(audit_file)
        seconds, paired = _forecast(audit, audit_file)
    claim = None if audit is None else audit.claim
    if epsilon is None and claim is None:
        if audit is None:
            raise click.UsageError("give --epsilon, or a FILE with a claim")
        epsilon = 1.0
        click.echo(f"{audit_file} makes no claim; planned for epsilon 1 (--epsilon changes it).")
    if (tpr is None) != (fpr is None):
        raise click.UsageError("--tpr and --fpr go together")
    claimed = float(claim.epsilon) if epsilon is None else epsilon  # type: ignore[union-attr]
    allowed = delta if delta is not None else float(claim.delta) if claim is not None else 0.0
    strengths = _STRENGTHS if tpr is None or fpr is None else {"expected": (tpr, fpr)}
    if audit is not None and _is_of_coins(audit):
        _tell_of_coins(audit, audit_file, claimed, allowed, confidence)
        return
    click.echo(
        f"Test trials to contradict epsilon {claimed:g}, delta {allowed:g}, at confidence "
        f"{confidence:g}, with chance {power:g}:"
    )
    method = "portfolio of pairs" if paired else "portfolio"
    for name, (hits, alarms) in strengths.items():
        runs = runs_needed(hits, alarms, claimed, confidence, power, delta=allowed, method=method)
        rates = f"{name} attack (TPR {hits:g}, FPR {alarms:g})"
        click.echo(f"  {rates:<45} {_trials(runs, seconds)}")
    if audit is not None and audit.num_test is not None:
        click.echo(f"  {audit_file} plays {audit.num_test} test trials")
    if seconds is not None:
        from tapas.cli._words import duration

        click.echo(f"  one trial takes about {duration(seconds)}; times are for one core")
    click.echo(
        "By the certificate that `tapas run` makes of one attack on one target. Half of the trials "
        f"have the target, half do not{_OF_PAIRS * paired}; training trials come on top."
    )


def _is_of_coins(audit: Any) -> bool:
    """Whether records are judged together, each put in by a coin of its own."""
    return any(subject.threat_model.game.setting.coins for subject in audit.subjects)


def _tell_of_coins(
    audit: Any, audit_file: Path | None, claimed: float, delta: float, confidence: float
) -> None:
    from tapas.stats import one_run_epsilon

    click.echo(
        f"{audit_file} judges all its targets together in each release, each put in by a coin of "
        "its own: what an epsilon takes is many targets, and not many trials."
    )
    click.echo(
        f"Canaries to contradict epsilon {claimed:g}, delta {delta:g}, at confidence "
        f"{confidence:g}:"
    )
    for right in _SHARES_RIGHT:
        needed = _canaries_needed(right, claimed, delta, confidence)
        told = f"{needed:,} canaries" if needed else f"none suffice of {_MOST_CANARIES:,}"
        click.echo(f"  {f'an attack that is right about {right:.0%}':<45} {told}")
    game = audit.subjects[0].threat_model.game
    judged = game.briefing("test").num_targets * (audit.num_test or 1)
    most = one_run_epsilon(judged, judged, judged, delta=delta, confidence=confidence).value
    click.echo(f"  {audit_file} judges {judged:,}: a perfect attack would certify {most:.2f}")


def _canaries_needed(right: float, claimed: float, delta: float, confidence: float) -> int | None:
    """The fewest, on a grid of a tenth, of which such a share shows more than is claimed."""
    from tapas.stats import one_run_epsilon

    number = 10
    while number <= _MOST_CANARIES:
        bound = one_run_epsilon(
            number, number, int(right * number), delta=delta, confidence=confidence
        )
        if float(bound) > claimed:
            return number
        number += max(1, number // 10)
    return None


def _trials(runs: float, seconds: float | None) -> str:
    from tapas.cli._words import duration

    if math.isinf(runs):
        return "none suffice: the claim allows such an attack, or more than ten million"
    trials = 2 * int(runs)
    time = "" if seconds is None else f", {duration(seconds * trials)}"
    return f"{trials:,} trials{time}"


def _audit(audit_file: Path | None) -> Any:
    if audit_file is None:
        return None
    from tapas.audit import load_audit

    return load_audit(audit_file)


def _forecast(audit: Any, audit_file: Path | None) -> tuple[float | None, bool]:
    """Seconds per trial, and whether trials come in pairs."""
    if audit is None or audit_file is None:
        return None, False
    from tapas.cli._carry_out import refuse_problems

    found = refuse_problems(audit, audit_file)
    return found.seconds_per_trial, audit.forecast(found).paired
