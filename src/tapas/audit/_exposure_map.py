"""How exposed every record of the private table is, measured in trials that were played anyway."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tapas._random import Parts, part_stream
from tapas.attacks import SubsetAttack
from tapas.audit._subject_run import SubjectRun
from tapas.datasets import TabularDataset
from tapas.errors import TapasError
from tapas.game import (
    PHASES,
    Board,
    Observation,
    Observer,
    Phase,
    Player,
    Release,
    StoredLedger,
    TellsMembers,
)
from tapas.results import ExposureMap

__all__ = ["exposure_map"]

MOST_WORK = 200_000_000  # counts in all: about ten seconds
MOST_REPLAYED = 0.1  # of all trials, unless a map is asked for
FEWEST_TRIALS = 20  # of each phase
FEWEST_TARGETS = 5
PAIRS = SubsetAttack(order=2)
Pool = tuple[TabularDataset, np.ndarray]  # records, and in which trials each is


class _NoMapError(Exception):
    """Why there is no map, and what to do for one."""


def exposure_map(run: SubjectRun, *, asked: bool | None = None) -> tuple[ExposureMap | None, str]:
    """The transferred subset attack on every record that private data is drawn from.

    A record that is no target is in the private data of some trials by the draw, and not in that
    of others. What was learnt from targets scores it in all of them. Releases that were kept are
    looked at again; trials whose releases were not are played again, all of them where a map is
    `asked` for, else a tenth at most. Unless it is asked for, so many records are drawn that it
    takes seconds.

    Returns
    -------
    map, reason
        One of the two; neither where records cannot be mapped at all (models, files), and where
        another goal asks for no map.
    """
    game = run.player.game
    of_members = isinstance(game, TellsMembers)
    if not of_members or (game.goal.kind != "membership" and not asked):
        return None, ""
    try:
        return _Mapping(run, asked is True).carry_out(asked), ""
    except _NoMapError as reason:
        return None, str(reason)


@dataclass(eq=False)
class _Mapping:
    """A map in the making."""

    run: SubjectRun
    whole: bool

    def __post_init__(self) -> None:
        run = self.run
        self.player: Player = run.player
        self.counts = {"train": run.num_train, "test": run.num_seen}
        self.played = {
            phase: [i for i in range(self.counts[phase]) if self.player.ledger.has_trial(phase, i)]
            for phase in PHASES
        }
        self.replayed: set[tuple[Phase, int]] = set()

    def carry_out(self, asked: bool | None) -> ExposureMap:
        """The map of all records, or the reason why there is none."""
        for reason in _of_the_question(self.run, asked):
            raise _NoMapError(reason)
        pools = {phase: self._pool(phase) for phase in PHASES}
        if not asked:
            self._refuse_replays()
        observer = self.player.observer(PAIRS)
        board = self._board(observer, "train")
        try:
            scorer = PAIRS.fit(board, rng=self.player.game.fitting_rng())
        except TapasError as error:
            raise _NoMapError(f"nothing was learnt from the training trials ({error})") from error
        maps = [self._of_targets(observer, board)]
        for phase, (records, members) in pools.items():
            work = PAIRS.of_every_record(scorer, records).work * len(members) * len(PHASES)
            share = 1.0 if self.whole else MOST_WORK / work
            chosen = _drawn(len(records), share, self.player.game.seed)
            seen = self._board(PAIRS.of_every_record(scorer, records.take(chosen)), phase)
            found = ExposureMap.measured(
                records.table.index[chosen], seen.values[:, 0], members[:, chosen], seen.groups
            )
            maps.append(replace(found, total=len(records)))
        joined = maps[0].joined(*maps[1:])
        if len(joined) <= maps[0].total:
            raise _NoMapError(
                "of no record but the targets there are releases both with and without it: play "
                "more trials, or draw fewer records for each"
            )
        releases = sum(map(len, self.played.values()))
        return replace(joined, releases=releases, replayed=len(self.replayed))

    def _of_targets(self, observer: Observer, board: Board) -> ExposureMap:
        """The targets, each by weights that the others have chosen."""
        game = self.player.game
        scorer = SubsetAttack(order=2, transfer=True).fit(board, rng=game.fitting_rng())
        seen = self._board(observer, "test")
        scores, members = scorer.score(seen.values), seen.secrets.astype(bool)
        return ExposureMap.measured(
            game.target_labels, scores, members, seen.groups, is_target=True
        )

    def _pool(self, phase: Phase) -> Pool:
        game = self.player.game
        told = game.members(phase, self.played[phase]) if isinstance(game, TellsMembers) else None
        if told is None:
            raise _NoMapError(
                "private data is not drawn from a table, so that all but the targets are always "
                "in it: let the attacker hold other records (knowledge.data: auxiliary)"
            )
        if any(column.is_coded and column.values is None for column in told[0].table.columns):
            raise _NoMapError("it needs columns whose values are listed: describe them in a schema")
        return told

    # -- looking at releases -----------------------------------------------------------------

    def _board(self, observer: Observer, phase: Phase) -> Board:
        """What an observer sees in all releases; those that were not kept are made again."""
        missing = [i for i in self._unkept(phase) if i not in self._known(observer, phase)]
        if missing:
            self._play_again(observer, phase, missing)
        return self.player.board(observer, phase, self.counts[phase])

    def _known(self, observer: Observer, phase: Phase) -> frozenset[int]:
        return frozenset(self.player.ledger.observations(observer.key, phase))

    def _unkept(self, phase: Phase) -> Iterator[int]:
        """Trials of which the release is no longer there."""
        has_data = self.player.ledger.has_data
        return (i for i in self.played[phase] if self._is_more_than_data or not has_data(phase, i))

    @property
    def _is_more_than_data(self) -> bool:
        """Whether releases cannot be kept as they are."""
        setting = self.player.game.setting
        return setting.mechanism or setting.identifiers

    def _play_again(self, observer: Observer, phase: Phase, missing: list[int]) -> None:
        """Apart from the run, so that a failure now is none of the trials that were judged."""
        ledger = self.player.ledger
        again = self.player.again(phase, missing, (observer,), keep_data=False)
        for index, words in sorted(again.failures(phase).items()):
            raise _NoMapError(f"{phase} trial {index} failed when it was played again ({words})")
        seen = again.observations(observer.key, phase)
        for index in missing:
            then, now = ledger.outline(phase, index), again.outline(phase, index)
            if not np.array_equal(then.secrets, now.secrets):
                raise _NoMapError(
                    f"{phase} trial {index} had other secrets when it was played again: draw "
                    f"private data by the seed that is given"
                )
            without_data = replace(then, release=Release(None))
            ledger.keep(without_data, {observer.key: Observation(seen[index])})
            self.replayed.add((phase, index))

    def _refuse_replays(self) -> None:
        missing = sum(len([*self._unkept(phase)]) for phase in PHASES)
        total = sum(map(len, self.played.values()))
        if missing > MOST_REPLAYED * total:
            raise _NoMapError(
                f"the releases of {missing:,} of {total:,} trials were not kept: {self._remedies()}"
            )

    def _remedies(self) -> str:
        """How releases that were not kept are mapped; without a run folder, in words of Python."""
        stored = isinstance(self.player.ledger, StoredLedger)
        again = f"`exposure_map{': true' if stored else '=True'}` plays these again"
        if self._is_more_than_data:
            return again
        if stored:
            return f"{again}, `keep_data: true` below trials keeps releases"
        return f"{again}, `keep_data=True` keeps any number of releases in a run folder"


def _of_the_question(run: SubjectRun, asked: bool | None) -> Iterator[str]:
    """Why what is asked leaves nothing to be mapped."""
    game, setting = run.player.game, run.player.game.setting
    least, targets = min(run.num_train, run.num_seen), len(game.target_labels)
    if asked is False:
        yield "it was not wanted (`exposure_map: false`)"
    if setting.goal.kind != "membership":
        yield "it shows who is in the private data: ask for membership"
    if setting.coins:
        yield "the records of one run are judged together: ask for membership of targets"
    if targets < FEWEST_TARGETS:
        yield f"{targets} {'target teaches' if targets == 1 else 'targets teach'} too little " + (
            f"about others: name at least {FEWEST_TARGETS}"
        )
    if least < FEWEST_TRIALS:
        yield f"it needs at least {FEWEST_TRIALS} trials of each phase, and there are {least}"


def _drawn(number: int, share: float, seed: int) -> np.ndarray:
    """Positions of all records, or of a random share of them."""
    if share >= 1:
        return np.arange(number)
    some = part_stream(seed, Parts.MAPPED_RECORDS).permutation(number)
    return np.sort(some[: max(1, int(share * number))])
