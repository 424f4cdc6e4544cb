"""What an audit keeps about one subject, once its attacks are judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tapas.audit._about_records import about_records
from tapas.audit._about_targets import about_targets
from tapas.audit._exposure_map import exposure_map
from tapas.audit._learning_curves import learning_curves
from tapas.audit._left_out import left_out
from tapas.audit._nearness import copies, nearness
from tapas.audit._other_half import other_half
from tapas.audit._rare_columns import rare_columns
from tapas.audit._shares import property_shares
from tapas.audit._subject import Subject
from tapas.audit._subject_run import SubjectRun
from tapas.results import AuditedSubject, LabelInferenceAttackSummary

__all__ = ["Judged", "about_subject"]


@dataclass(frozen=True, eq=False)
class Judged:
    """A subject whose attacks are judged.

    Attributes
    ----------
    complete : bool
        Whether all trials that were asked for were played.
    share : float
        What part of the error the looks of this run leave to what is said where it ended.
    """

    subject: Subject
    run: SubjectRun
    summaries: tuple[LabelInferenceAttackSummary, ...]
    complete: bool
    share: float


def about_subject(
    judged: Judged, subgroups: Sequence[str], show_values: bool, wants_map: bool | None
) -> AuditedSubject:
    """Results, and who they are about: of controls the results alone.

    There is an exposure map of as many records as takes seconds, of all if `wants_map` is true,
    and none if it is false.
    """
    run, summaries, model = judged.run, judged.summaries, judged.subject.threat_model
    is_audited = judged.subject.role == "audited"
    is_whole = judged.complete and is_audited
    about = about_records(run, summaries, subgroups, show_values)
    is_generator = about is None and is_whole
    targets = about_targets(run, summaries, subgroups, show_values) if is_generator else None
    performance = model.performance(subgroups)
    exposure, unmapped = exposure_map(run, asked=wants_map) if is_whole else (None, "")
    outcome = AuditedSubject(
        name=judged.subject.label,
        role=judged.subject.role,
        summaries=run.seen(summaries, judged.share),
        spared=judged.share,
        failures=tuple(run.failures()),
        crashes=tuple(run.crashes),
        trials=run.played(),
        records=None if about is None else about.to_dict("list"),
        targets=None if targets is None else targets.to_dict("list"),
        rare_columns=rare_columns(run, summaries) if is_generator else (),
        left_out=left_out(model),
        performance=None if performance is None else performance.to_dict("list"),
        inputs_are_known=model.inputs_are_known,
        right_when="" if performance is None else model.right_when,
        leaves=model.leaves() if is_audited else None,
        shares=property_shares(run),
        exposure=exposure,
        unmapped=unmapped,
        nearness=nearness(model) if is_audited else None,
        copies=copies(model) if is_audited else None,
        left_out_columns=judged.subject.left_out_columns,
        learning=learning_curves(run) if is_whole else (),
    )
    if is_whole and about is not None:
        return replace(outcome, other_half=other_half(run, outcome, subgroups, show_values))
    return outcome
