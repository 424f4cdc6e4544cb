"""Judge those whom the attacker learns from, too: by what the judged records teach."""

from collections.abc import Sequence

from tapas.audit._about_records import about_records
from tapas.audit._subject_run import SubjectRun
from tapas.engine import log_failure
from tapas.errors import TapasError
from tapas.game import Ledger
from tapas.results import AuditedSubject, AuditRecord, Findings, exposed_records

__all__ = ["other_half"]


def other_half(
    run: SubjectRun, outcome: AuditedSubject, subgroups: Sequence[str], show_values: bool
) -> AuditedSubject | None:
    """The same game with known and judged records exchanged, by the attack that lists them.

    None where nobody is known, or where no attack tells records apart. It lists people; what is
    certain rests on the judged half alone, for the two are not independent of each other.
    """
    alone = AuditRecord("", {}, "", 0, (outcome,))
    exposed = exposed_records(Findings(alone))
    turned = run.threat_model.turned() if exposed else None
    if turned is None:
        return None
    attacks = [attack for attack in run.attacks if attack.label == exposed[0].attack]
    twin = SubjectRun(
        turned,
        attacks,
        None,
        None,
        ledger=Ledger(),
        workers=run.threat_model.workers,
        policy=run.player.policy,
    )
    try:
        twin.learn()
        summaries = twin.test(twin.num_test)
        last = exposed[0].read_reversed
        about = about_records(twin, summaries, subgroups, show_values, last) if summaries else None
    except TapasError as error:
        log_failure("the records that the attacker knows could not be judged", error)
        return None
    if about is None:
        return None
    return AuditedSubject(outcome.name, summaries=tuple(summaries), records=about.to_dict("list"))
