"""How exposed every record of the private table is, measured in trials that were played anyway."""

import numpy as np

from tapas._random import Parts, part_stream
from tapas.attacks import SubsetAttack
from tapas.audit._subject_run import SubjectRun
from tapas.errors import TapasError
from tapas.game import PHASES, Board, Phase, Player, TellsMembers
from tapas.results import ExposureMap

__all__ = ["exposure_map"]

MOST_WORK = 200_000_000  # counts in all: about ten seconds
FEWEST_TRIALS = 20  # of each phase
FEWEST_TARGETS = 5
PAIRS = SubsetAttack(order=2)


def exposure_map(run: SubjectRun, *, whole: bool = False) -> ExposureMap | None:
    """The transferred subset attack on every record that private data is drawn from.

    A record that is no target is in the private data of some trials by the draw, and not in that
    of others. What was learnt from targets scores it in all of them. Releases are looked at again
    and no trial is played for it: where releases were not kept, there is no map. Unless the
    `whole` table is asked for, so many records are drawn that it takes seconds.
    """
    player, game = run.player, run.player.game
    if not isinstance(game, TellsMembers) or not _is_worth_it(run):
        return None
    counts = {"train": run.num_train, "test": run.num_seen}
    try:
        board = player.board(player.observer(PAIRS), "train", counts["train"])
        scorer = PAIRS.fit(board, rng=game.fitting_rng())
    except TapasError:
        return None  # no training trials of both kinds, say
    maps = [_targets(player, board, counts["test"])]
    for phase in PHASES:
        indices = _played(player, phase, counts[phase])
        told = game.members(phase, indices)
        if told is None or any(c.is_coded and c.values is None for c in told[0].table.columns):
            return None
        records, members = told
        work = PAIRS.of_every_record(scorer, records).work * len(indices) * len(PHASES)
        chosen = _drawn(len(records), 1.0 if whole else MOST_WORK / work, game.seed)
        judge = PAIRS.of_every_record(scorer, records.take(chosen))
        seen = player.board(judge, phase, counts[phase])
        found = ExposureMap.measured(
            records.table.index[chosen], seen.values[:, 0], members[:, chosen], seen.groups
        )
        maps.append(ExposureMap(found.table, len(records)))
    joined = maps[0].joined(*maps[1:])
    return joined if len(joined) > maps[0].total else None


def _is_worth_it(run: SubjectRun) -> bool:
    """Whether there are targets and trials to learn from, all of whose releases were kept."""
    player, setting = run.player, run.player.game.setting
    enough = min(run.num_train, run.num_seen) >= FEWEST_TRIALS
    enough = enough and len(player.game.target_labels) >= FEWEST_TARGETS
    if setting.goal.kind != "membership" or setting.coins or setting.mechanism or not enough:
        return False
    return all(
        player.ledger.has_data(phase, index)
        for phase, count in zip(PHASES, (run.num_train, run.num_seen), strict=True)
        for index in _played(player, phase, count)
    )


def _targets(player: Player, board: Board, count: int) -> ExposureMap:
    """The targets, each by weights that the others have chosen."""
    scorer = SubsetAttack(order=2, transfer=True).fit(board, rng=player.game.fitting_rng())
    seen = player.board(player.observer(PAIRS), "test", count)
    scores, members = scorer.score(seen.values), seen.secrets.astype(bool)
    labels = player.game.target_labels
    return ExposureMap.measured(labels, scores, members, seen.groups, is_target=True)


def _played(player: Player, phase: Phase, count: int) -> list[int]:
    return [index for index in range(count) if player.ledger.has_trial(phase, index)]


def _drawn(number: int, share: float, seed: int) -> np.ndarray:
    """Positions of all records, or of a random share of them."""
    if share >= 1:
        return np.arange(number)
    some = part_stream(seed, Parts.MAPPED_RECORDS).permutation(number)
    return np.sort(some[: max(1, int(share * number))])
