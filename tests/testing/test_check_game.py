"""The contract of a game: kept by every threat model, broken one promise at a time by others."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_games import GAMES, UNUSUAL, model_mia, observed_mia, targeted_aia, targeted_mia

from tapas.attacks import ClosestDistanceMIA
from tapas.errors import TapasError
from tapas.game import PROPERTY, Address, Goal, Needs, Phase, Release, Setting, TableBriefing, Trial
from tapas.testing import BrokenPromiseError, check_game
from tapas.threat_models._targeted_game import TargetedGame

PROMISES = 15


@pytest.mark.parametrize("name", GAMES)
def test_every_game_keeps_every_promise(name: str, tmp_path: Path) -> None:
    kept = check_game(lambda seed: GAMES[name].make(False, seed, 5, tmp_path), num_trials=4)
    assert len(kept) == PROMISES


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_games_keep_every_promise(name: str, tmp_path: Path) -> None:
    kept = check_game(lambda seed: UNUSUAL[name].make(False, seed, 5, tmp_path), num_trials=4)
    assert len(kept) == PROMISES


# -- broken ones -------------------------------------------------------------------------------


class Nameless(TargetedGame):
    label = ""


class SameForEverySeed(TargetedGame):
    def _identity(self) -> Mapping[str, object]:
        return {**super()._identity(), "seed": 0}


class NeverTheSame(TargetedGame):
    def _identity(self) -> Mapping[str, object]:
        return {**super()._identity(), "made": os.urandom(8)}


class _Grouped(TargetedGame):
    """Trials whose group is drawn in some forbidden way."""

    def _group(self) -> int:
        return 0

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        groups = [self._group() for _ in addresses]
        played = zip(super().play(addresses), groups, strict=True)
        return [replace(trial, group=group) for trial, group in played]


class Counts(_Grouped):
    played = [0]  # noqa: RUF012 - what must not be shared

    def _group(self) -> int:
        self.played[0] += 1
        return self.played[0]


class BelongsToAProcess(_Grouped):
    def _group(self) -> int:
        return os.getpid()


class DrawsFromGlobals(_Grouped):
    def _group(self) -> int:
        return int(np.random.randint(1_000_000))  # noqa: NPY002


class Immobile(TargetedGame):
    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled")


class Stale(TargetedGame):
    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        return super().play([replace(address, round=0) for address in addresses])


class SaysFew(TargetedGame):
    def rounds(self, phase: Phase) -> int | None:
        return 3

    @property
    def setting(self) -> Setting:
        return replace(super().setting, training=None)


class Backwards(TargetedGame):
    def trials_at_once(self, phase: Phase) -> int:
        return 2

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        return super().play(addresses)[::-1]


class ReleasesText(TargetedGame):
    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        return [replace(trial, release=Release("text")) for trial in super().play(addresses)]


class JudgesOne(TargetedGame):
    def judged(self, phase: Phase) -> np.ndarray:
        return np.array([True, False])


class OtherSecrets(TargetedGame):
    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        return [
            replace(trial, secrets=np.array(["yes", "no"])) for trial in super().play(addresses)
        ]


class AsksForNothingKnown(TargetedGame):
    @property
    def goal(self) -> Goal:
        return PROPERTY


class TellsTheValue(TargetedGame):
    def briefing(self, phase: Phase) -> TableBriefing:
        told = super().briefing(phase)
        assert isinstance(told, TableBriefing)
        return replace(told, targets=self.data.target_records)  # type: ignore[attr-defined]


def _broken(kind: type[TargetedGame], make: Any = targeted_mia) -> Callable[[int], TargetedGame]:
    def made(seed: int) -> TargetedGame:
        game = make(False, seed, 5, Path()).game
        return kind(**{field.name: getattr(game, field.name) for field in fields(game)})

    return made


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (Nameless, "names"),
        (SameForEverySeed, "identity"),
        (NeverTheSame, "identity"),
        (Counts, "repetition"),
        (Counts, "order"),
        (BelongsToAProcess, "processes"),
        (DrawsFromGlobals, "global randomness"),
        (Immobile, "travel"),
        (Stale, "fresh rounds"),
        (SaysFew, "rounds"),
        (Backwards, "rounds"),
        (ReleasesText, "releases"),
        (JudgesOne, "targets"),
        (OtherSecrets, "secrets"),
        (AsksForNothingKnown, "refusals"),
    ],
)
def test_each_broken_promise_is_named(kind: type[TargetedGame], promise: str) -> None:
    with pytest.raises(AssertionError, match=f"(?m)^- {promise}: ") as caught:
        check_game(_broken(kind), num_trials=2)
    assert isinstance(caught.value, TapasError)
    assert str(caught.value).startswith("TargetedMIA breaks ")


def test_a_sensitive_value_in_the_briefing_is_a_broken_promise() -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- masking: .*told with"):
        check_game(_broken(TellsTheValue, targeted_aia), num_trials=2)


def _sorted(game: Any) -> Any:
    order = np.argsort(~game.candidates.members, kind="stable")
    judged = game.candidates
    return replace(
        game,
        candidates=replace(
            judged,
            records=judged.records.take(order),
            members=judged.members[order],
            rows=judged.rows[order],
        ),
    )


@pytest.mark.parametrize("make", [observed_mia, model_mia])
def test_members_that_come_first_are_a_broken_promise(make: Any) -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- telling order: .* the order of test"):
        check_game(lambda seed: _sorted(make(False, seed, 5, Path()).game), num_trials=2)


def _labelled(game: Any) -> Any:
    """Row labels as they would be in two files, one behind the other."""
    judged = game.candidates
    table = judged.records.table
    index = np.where(judged.members, judged.rows, 1000 + judged.rows)
    records = type(judged.records).from_table(
        table.with_index(pd.Index(index)), judged.records.description
    )
    return replace(game, candidates=replace(judged, records=records))


def test_row_labels_that_tell_the_side_are_a_broken_promise() -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- telling order: .* row labels of test"):
        check_game(lambda seed: _labelled(observed_mia(False, seed, 5, Path()).game))


class Elsewhere(ClosestDistanceMIA):
    """Says that it attacks models."""

    @property
    def needs(self) -> Needs:
        return Needs("model", ("membership",))


def test_a_game_that_fits_no_attack_is_of_no_use() -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- refusals: .* it refuses every attack"):
        check_game(_broken(TargetedGame), [Elsewhere()], num_trials=2)


def test_a_refusal_must_name_an_attack_that_fits() -> None:
    fixed = ClosestDistanceMIA(criterion=("threshold", 0))

    class Own(ClosestDistanceMIA):
        """Fits, and is not the one that is named."""

    with pytest.raises(BrokenPromiseError, match=r"(?m)^- refusals: .* none of the attacks"):
        check_game(_broken(TargetedGame), [Elsewhere(), Own()], num_trials=2)
    assert len(check_game(_broken(TargetedGame), [Elsewhere(), fixed], num_trials=2)) == PROMISES
