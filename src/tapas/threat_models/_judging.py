"""Further records, of unknown membership, judged beside those of a game."""

import warnings

import numpy as np

from tapas.compat import AttackLike, GameThreatModel, as_attack
from tapas.errors import IncompatibleAttackError, TapasWarning
from tapas.game import Ledger, judge
from tapas.results import JudgedRecords, judge_records
from tapas.threat_models._model_game import ModelMembershipGame


def judge_more(
    game: ModelMembershipGame,
    twin: GameThreatModel,
    attack: AttackLike,
    prior: float,
    false_alarms: float,
) -> JudgedRecords:
    """Judge the records that `twin`, which plays the game about more records, has beyond it."""
    twin.remember_in(Ledger())
    asked = as_attack(attack)
    trained = twin.trained(asked, None)
    if trained.observer is None:
        raise IncompatibleAttackError(f"{asked.label} does not observe models, and cannot judge")
    board = twin.player().board(trained.observer, "test", 1)
    scores = np.asarray(judge(trained.scorer, board).scores)[0]
    known = len(game.candidates)
    judged = judge_records(
        scores[known:],
        scores[:known],
        game.candidates.members,
        attack=asked.label,
        prior=prior,
        false_alarms=false_alarms,
        inputs_alone=game.inputs_alone,
    )
    if judged.caution:
        warnings.warn(judged.caution, TapasWarning, stacklevel=3)
    return judged
