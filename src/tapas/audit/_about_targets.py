"""What an audit of a generator keeps about its targets, beside how exposed they are."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tapas.audit._subject_run import SubjectRun
from tapas.datasets import EncodedTable, agreed_words, nearest_row
from tapas.errors import TapasError
from tapas.game import Ledger, Player, TableBriefing, Trial
from tapas.results import (
    MOST_RECORDS,
    SUBGROUP,
    VALUE,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)

__all__ = ["about_targets", "most_exposed"]

# How many releases are searched for records like the targets.
FEWEST_RELEASES, MOST_RELEASES, TRIALS_A_RELEASE = 2, 10, 20


def about_targets(
    run: SubjectRun,
    summaries: Sequence[LabelInferenceAttackSummary],
    subgroups: Sequence[str],
    show_values: bool,
) -> pd.DataFrame | None:
    """One row per target: its subgroups and, of the most exposed, what is nearest in releases.

    Values are kept only where they may be shown. None where targets are no rows of a table, or
    where membership is not what is played for.
    """
    game = run.player.game
    briefing = game.briefing("test")
    if game.goal.kind != "membership" or not isinstance(briefing, TableBriefing) or not summaries:
        return None
    labels, table = list(game.target_labels), briefing.targets.table
    values = table.to_frame().reset_index(drop=True)
    about = pd.DataFrame({"target": [str(label) for label in labels]})
    for name in subgroups:
        about[f"{SUBGROUP}{name}"] = values[name].astype(object)
    top = most_exposed(summaries, about["target"].tolist())
    near = _nearest(_releases(run, top) if top else [], table, top)
    for name in near:
        about[name] = [near[name].get(position) for position in range(len(about))]
    if show_values:
        for name in values:
            shown = {position: _shown(values[name].iloc[position]) for position in top}
            about[f"{VALUE}{name}"] = [shown.get(position) for position in range(len(about))]
    return about


def most_exposed(
    summaries: Sequence[LabelInferenceAttackSummary], targets: Sequence[str]
) -> list[int]:
    """Positions of the targets with the highest AUC of any attack, either way round."""
    best: dict[str, float] = {}
    for one in summaries:
        if isinstance(one, BinaryLabelInferenceAttackSummary):
            name, area = str(one.target_id), one.auc
            if not np.isnan(area):
                best[name] = max(best.get(name, 0.0), area, 1 - area)
    known = [position for position, name in enumerate(targets) if name in best]
    return sorted(known, key=lambda position: -best[targets[position]])[:MOST_RECORDS]


def _releases(run: SubjectRun, top: Sequence[int]) -> list[Trial]:
    """A few test trials with and without the targets; what was not kept is played again."""
    player = run.player
    played = [i for i in range(run.num_seen) if player.ledger.has_trial("test", i)]
    chosen = [played[place] for place in _telling(_secrets(player, played)[:, top])]
    kept = {i: player.ledger.trial("test", i) for i in chosen if player.ledger.has_data("test", i)}
    found = {index: trial for index, trial in kept.items() if trial.release.data is not None}
    missing = [index for index in chosen if index not in found]
    again = Ledger()
    if missing:
        try:
            again = player.again("test", missing, ())
        except TapasError:
            return []
    if player.policy.keep_data is not False:
        for index in again.indices("test"):
            player.ledger.keep(again.trial("test", index))
    found |= {index: again.trial("test", index) for index in again.indices("test")}
    return [found[index] for index in chosen if index in found]


def _secrets(player: Player, played: Sequence[int]) -> np.ndarray:
    secrets = player.ledger.secrets("test", played) if played else np.empty((0, 1))
    return secrets.astype(bool).reshape(len(played), -1)


def _telling(inside: np.ndarray) -> list[int]:
    """Positions of few trials in which as many targets as can be are in, and out, once at least.

    They follow from the secrets alone, lest a page depend on what was kept.
    """
    number = int(np.clip(len(inside) // TRIALS_A_RELEASE, FEWEST_RELEASES, MOST_RELEASES))
    open_ = np.concatenate([inside, ~inside], axis=1).astype(int)
    chosen: list[int] = []
    while len(chosen) < min(number, len(inside)):
        gains = open_.sum(axis=1)
        gains[chosen] = -1
        chosen.append(int(np.argmax(gains)))
        open_ = open_ * (1 - open_[chosen[-1]])
    return sorted(chosen)


def _nearest(
    trials: Sequence[Trial], table: EncodedTable, top: Sequence[int]
) -> dict[str, dict[int, object]]:
    """Of targets the nearest record in a release with them, and how near others come on average."""
    found: dict[str, dict[int, object]] = {
        name: {}
        for name in ("released_trial", "released_row", "agrees_on", "agreed_with", "agreed_without")
    }
    for position in top:
        record = table.take([position])
        sides: tuple[list[int], list[int]] = ([], [])
        best = -1
        for trial in trials:
            row, columns = nearest_row(trial.release.table.table, record)
            inside = bool(trial.secrets[position])
            sides[not inside].append(len(columns))
            if inside and len(columns) > best:
                best = len(columns)
                found["released_trial"][position] = trial.index
                found["released_row"][position] = row
                words = agreed_words(trial.release.table.table, row, record, columns)
                found["agrees_on"][position] = words
        for name, counts in zip(("agreed_with", "agreed_without"), sides, strict=True):
            if counts:
                found[name][position] = round(float(np.mean(counts)), 2)
    return found


def _shown(value: object) -> object:
    return str(value) if isinstance(value, pd.Timestamp) else value
