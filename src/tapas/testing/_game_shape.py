"""What a game says of itself and what it plays fit together."""

import numpy as np

from tapas._validate import listing
from tapas.datasets import TabularDataset
from tapas.game import (
    Game,
    ModelBriefing,
    TableBriefing,
)
from tapas.models import Model
from tapas.testing._game_bench import Bench, played_stack


def rounds_breach(bench: Bench) -> str | None:
    game, setting = bench.game, bench.game.setting
    if setting.goal != game.goal:
        return f"the goal is {game.goal}, in setting {setting.goal}"
    if setting.training != game.rounds("train"):
        return f"rounds('train') is {game.rounds('train')}, training in setting {setting.training}"
    if setting.test not in (None, game.rounds("test")):
        return f"rounds('test') is {game.rounds('test')}, test in setting {setting.test}"
    if "test" not in bench.phases:
        return "there is no test trial to judge attacks by"
    for phase in bench.phases:
        if game.trials_at_once(phase) < 1:
            return f"{game.trials_at_once(phase)} {phase} trials are played at once"
        for stack in bench.stacks([phase]):
            found = [(trial.phase, trial.index) for trial in played_stack(game, stack)]
            if found != [(phase, index) for index in stack[1]]:
                return f"asked for the trials {stack} it played {found}"
    return None


def releases_breach(bench: Bench) -> str | None:
    kinds = {"table": TabularDataset, "model": Model}
    setting = bench.game.setting
    for phase in bench.phases:
        for trial in bench.trials(phase):
            data = trial.release.data
            if not isinstance(data, kinds[setting.release]):
                return f"{phase} trial {trial.index} released a {type(data).__name__}"
            if (trial.release.mechanism is not None) != setting.mechanism:
                shown = "shows" if trial.release.mechanism is not None else "does not show"
                return f"{phase} trial {trial.index} {shown} the mechanism"
    return None


def targets_breach(bench: Bench) -> str | None:
    game, labels = bench.game, len(bench.game.target_labels)
    for phase in bench.phases:
        judged, told = game.judged(phase), game.briefing(phase).num_targets
        if judged.dtype != bool or judged.shape != (told,):
            return f"{told} {phase} targets are told of, judged has shape {judged.shape}"
        if judged.sum() not in ({labels} if phase == "test" else {0, labels}):
            return f"{judged.sum()} of the {phase} targets are judged, {labels} have labels"
        for trial in bench.trials(phase):
            if trial.secrets.shape != (told,):
                return f"{told} {phase} targets have secrets of shape {trial.secrets.shape}"
    if "train" in bench.phases and game.judged("train").any():
        return _different_targets(game)
    return None


def _different_targets(game: Game) -> str | None:
    """Judged targets must be the same ones, in the same order, where they are learnt about."""
    learnt, judged = game.briefing("train"), game.briefing("test")
    rows = np.flatnonzero(game.judged("train"))
    same = True
    if isinstance(learnt, TableBriefing) and isinstance(judged, TableBriefing):
        same = learnt.targets.table.take(rows).same_values(judged.targets.table)
    if isinstance(learnt, ModelBriefing) and isinstance(judged, ModelBriefing):
        known = learnt.targets if game.goal.kind == "property" else learnt.targets.take(rows)
        same = np.array_equal(known.row_keys(), judged.targets.row_keys())
    return None if same else "judged targets that are learnt about are others than those judged"


def secrets_breach(bench: Bench) -> str | None:
    values = bench.game.goal.values
    for phase in bench.phases:
        for trial in bench.trials(phase):
            strange = [one for one in trial.secrets.tolist() if values and one not in values]
            if strange:
                return f"{strange[0]!r} is none of {listing(values)}"
    return None
