"""In which columns the most exposed targets of a generator have rare values."""

from collections.abc import Sequence

from tapas.audit._about_targets import most_exposed
from tapas.audit._subject_run import SubjectRun
from tapas.datasets import columns_alike, count_holders
from tapas.game import TableBriefing, TellsMembers
from tapas.results import LabelInferenceAttackSummary, RareColumn

__all__ = ["rare_columns"]

PEOPLE, COLUMNS = 5, 3


def rare_columns(
    run: SubjectRun, summaries: Sequence[LabelInferenceAttackSummary]
) -> tuple[RareColumn, ...]:
    """The columns whose values the fewest private records share with them, rarest first."""
    game = run.player.game
    briefing = game.briefing("test")
    private = game.private_records() if isinstance(game, TellsMembers) else None
    if private is None or not isinstance(briefing, TableBriefing):
        return ()
    top = most_exposed(summaries, [str(label) for label in game.target_labels])[:PEOPLE]
    if game.goal.kind != "membership" or not top:
        return ()
    table = private.table
    held = count_holders(table, briefing.targets.table.take(top))
    found = [RareColumn((name,), tuple(counts), len(table)) for name, counts in held.items()]
    found.sort(key=lambda one: (one.usually, sum(one.held_by)))
    kept: list[RareColumn] = []
    for one in found:
        if len(kept) < COLUMNS and not any(one.columns[0] in other.columns for other in kept):
            names = (*one.columns, *columns_alike(table, one.columns[0]))
            kept.append(RareColumn(names, one.held_by, one.records))
    return tuple(kept)
