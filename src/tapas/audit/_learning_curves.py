"""Whether attacks still gain from more training trials: some of them learn again from fewer."""

import numpy as np

from tapas.audit._subject_run import Part, SubjectRun
from tapas.engine import guarded
from tapas.game import judge
from tapas.results import LearningCurve

__all__ = ["learning_curves"]

FEWEST_TRIALS = 40
SHARES = (4, 2)  # a quarter, a half


def learning_curves(run: SubjectRun) -> tuple[LearningCurve, ...]:
    """The curves of attacks that learn from all targets together.

    These learn in seconds, so they do it again from a part of the training trials, and are judged
    on the same test trials. Attacks that learn about each target by itself would take as many
    fits again.
    """
    goal = run.player.game.goal
    if run.num_train < FEWEST_TRIALS or len(goal.values) != 2 or run.player.game.setting.test == 1:
        return ()
    pooled = [part for part in run.parts if part.attack.pools_targets and part.judged]
    parts = [part for part in pooled if part.targets == slice(None)]
    return tuple(curve for part in parts if (curve := _curve(run, part)) is not None)


def _curve(run: SubjectRun, part: Part) -> LearningCurve | None:
    player = run.player
    whole = player.board(part.observer, "train", run.num_train).of_targets(part.targets)
    test = player.board(part.observer, "test", run.num_seen).of_targets(part.targets)
    positive = test.secrets == test.goal.values[1]
    said = [one.scores for one in part.judged if one.scores is not None]
    if len(said) < len(part.judged):
        return None
    scores = {len(whole): np.concatenate(said)}
    for share in SHARES:
        # Trials of a group stay together: both of a pair, say.
        some = whole.groups < np.quantile(whole.groups, 1 / share)
        try:
            with guarded(player.policy.attack_timeout):
                learnt = part.attack.fit(whole.of_releases(some), rng=player.game.fitting_rng())
                found = judge(learnt, test).scores
        except Exception:
            return None  # too few trials to learn from, say
        if found is None:
            return None
        scores[int(some.sum())] = found
    if any(found.shape != positive.shape for found in scores.values()) or len(test.groups) < 2:
        return None
    return LearningCurve.measured(part.attack.label, scores, positive, test.groups)
