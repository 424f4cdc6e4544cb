"""Trials without a release: an attacker sees that, so they are outcomes like others."""

import copy

import numpy as np

from tapas.game import Address, Phase, Player, TellsSecrets, Value
from tapas.results import Dependence, LabelInferenceAttackSummary, ScoreTable

__all__ = ["counting_failures", "with_failures", "without_failures"]


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
