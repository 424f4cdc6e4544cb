"""Trials without a release: an attacker sees that, so they are outcomes like others."""

import copy

import numpy as np

from tapas.errors import IncompatibleAttackError
from tapas.game import Address, Board, Judgement, Phase, Player, TellsSecrets, Value
from tapas.results import FAILURES, Dependence, LabelInferenceAttackSummary, ScoreTable
from tapas.stats import excess_p_value

__all__ = [
    "counting_failures",
    "hinted_by_failures",
    "judged_by_failures",
    "refuse_told_by_failures",
    "told_by_failures",
    "with_failures",
    "without_failures",
]

LIKELY_BY_CHANCE = 0.05


def told_by_failures(player: Player, count: int | None = None) -> dict[int, Value]:
    """Targets whose secret was the same in all training trials that did not fail, and which.

    In some that failed it was another: attacks have nothing to learn from, and more trials would
    not help, for the failure itself tells the secret.
    """
    sides = _training_secrets(player, count)
    if sides is None:
        return {}
    left, lost = sides
    alike = (left == left[0]).all(axis=0) & (lost != left[0]).any(axis=0)
    return {int(target): left[0, target].item() for target in np.flatnonzero(alike)}


def hinted_by_failures(player: Player, count: int | None = None) -> dict[int, Value]:
    """Targets of whose several values failures rule out some, and which most others had.

    Attacks learn from the trials that did not fail, and may go on guessing a value with which
    nothing is released: their guesses alone would hide what failures tell.
    """
    sides = _training_secrets(player, count)
    if sides is None or len(player.game.goal.values) <= 2:
        return {}
    columns = enumerate(zip(*(side.T for side in sides), strict=True))
    return {
        target: _commonest(left) for target, (left, lost) in columns if _hang_together(left, lost)
    }


def judged_by_failures(
    player: Player, count: int, target: int, said: Value
) -> LabelInferenceAttackSummary:
    """What the failures among the first `count` test trials tell of a target.

    Of trials that do not fail, what all training trials had is `said`.
    """
    game, chosen = player.game, slice(target, target + 1)
    came = [index for index in player.ledger.indices("test") if index < count]
    trials = [player.ledger.outline("test", index) for index in came]
    secrets = np.array([trial.secrets for trial in trials]) if trials else np.empty((0, target + 1))
    secrets = secrets[:, chosen]
    values = game.goal.values if len(game.goal.values) > 2 else (None,)
    scores = np.tile([float(said == value) for value in values], (len(came), 1, 1))
    board = Board(
        values=scores if len(values) > 1 else scores[:, :, 0],
        secrets=secrets,
        groups=np.array([trial.group for trial in trials], dtype=int),
        goal=game.goal,
        judged=np.ones(1, dtype=bool),
    )
    judged = Judgement(board, board.values, np.full(secrets.shape, said, dtype=secrets.dtype))
    table = ScoreTable.of_game(game, FAILURES, chosen, [judged])
    return with_failures(table, player, count, chosen).summaries()[0]


def refuse_told_by_failures(player: Player, targets: slice, attack: str) -> None:
    """Refuse to learn where the failures themselves tell every secret."""
    told = told_by_failures(player)
    chosen = range(*targets.indices(len(player.game.target_labels)))
    if not told or any(target not in told for target in chosen):
        return
    failed, came = len(_failed(player, "train")), len(player.ledger.indices("train"))
    raise IncompatibleAttackError(
        f"{attack} has nothing to learn from: of {failed + came} training trials {failed} failed, "
        f"and in all {came} others the secret of target {player.game.target_labels[chosen[0]]} is "
        f"{told[chosen[0]]!r}. Failures of the mechanism hang together with the secret, so that "
        f"they tell it, and more trials do not help. An Audit judges such a target by them"
    )


def with_failures(table: ScoreTable, player: Player, count: int, targets: slice) -> ScoreTable:
    """Put the failed ones of the first `count` test trials into a table of the others.

    What a failure is taken for is learnt from the training trials that failed.
    """
    game, failed = player.game, _failed(player, "test", count)
    if not failed or not isinstance(game, TellsSecrets):
        return table
    secrets, groups = _behind(game, player, "test", failed)
    indices = [index for index in range(count) if player.ledger.has_trial("test", index)]
    return table.with_failures(
        np.searchsorted(indices, failed),
        secrets[:, targets],
        groups,
        _guesses(game, player)[targets],
    )


def without_failures(
    summary: LabelInferenceAttackSummary, player: Player, count: int
) -> LabelInferenceAttackSummary:
    """Let a summary that lacks the trials that failed certify nothing."""
    if not _failed(player, "test", count):
        return summary
    found = copy.copy(summary)
    found.dependence = Dependence.UNKNOWN
    return found


def counting_failures(
    summary: LabelInferenceAttackSummary,
    table: ScoreTable | None,
    player: Player,
    count: int,
    targets: slice,
) -> LabelInferenceAttackSummary:
    """The summary of a table with its failures; without a table, one that certifies nothing."""
    if table is None or not _failed(player, "test", count):
        return without_failures(summary, player, count)
    return with_failures(table, player, count, targets).summaries()[0]


def _training_secrets(player: Player, count: int | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Secrets of training trials that did not fail, and of those that did, if there are both."""
    game, failed = player.game, _failed(player, "train", count)
    came = [i for i in player.ledger.indices("train") if count is None or i < count]
    if not failed or not came or game.setting.coins or not isinstance(game, TellsSecrets):
        return None
    left = np.stack([player.ledger.outline("train", index).secrets for index in came])
    return left, _behind(game, player, "train", failed)[0]


def _hang_together(left: np.ndarray, lost: np.ndarray) -> bool:
    """Whether trials of some value failed all, or more often than chance explains.

    That only decides whether failures are judged, in other trials; it states nothing.
    """
    for value in np.unique(lost):
        came, failed = int((left == value).sum()), int((lost == value).sum())
        others = len(lost) - failed, len(lost) - failed + len(left) - came
        if not came or excess_p_value(failed, failed + came, *others) <= LIKELY_BY_CHANCE:
            return True
    return False


def _failed(player: Player, phase: Phase, count: int | None = None) -> list[int]:
    failures = player.ledger.failures(phase)
    return sorted(index for index in failures if count is None or index < count)


def _behind(
    game: TellsSecrets, player: Player, phase: Phase, indices: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Secrets and groups of trials."""
    address = Address(player.game.seed, phase, 0, player.round)
    known = [game.secrets_at(address.at(index)) for index in indices]
    return np.stack([one for one, _ in known]), np.array([group for _, group in known])


def _guesses(game: TellsSecrets, player: Player) -> np.ndarray:
    """The secret that most failed training trials had, for each target; None where none failed."""
    failed = _failed(player, "train")
    found = np.full(len(player.game.target_labels), None, dtype=object)
    if failed:
        secrets, _ = _behind(game, player, "train", failed)
        for target, column in enumerate(secrets.T):
            found[target] = _commonest(column)
    return found


def _commonest(column: np.ndarray) -> Value:
    values, counts = np.unique(column, return_counts=True)
    return values[int(np.argmax(counts))].item()
