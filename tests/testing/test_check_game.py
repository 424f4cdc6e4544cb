"""The contract of a game: kept by every threat model, broken one promise at a time by others."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from small_games import GAMES, ROWS, Public, model_mia, observed_mia, targeted_aia, targeted_mia

from tapas.attacks import ClosestDistanceMIA
from tapas.datasets import load_sample
from tapas.errors import TapasError
from tapas.game import PROPERTY, Address, Goal, Needs, Phase, Release, Setting, TableBriefing, Trial
from tapas.generators import Bootstrap, Raw
from tapas.models import SklearnTrainer
from tapas.testing import BrokenPromiseError, check_game
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ImportedAIA,
    MarginalSynthesis,
    ModelMIA,
    NoBoxKnowledge,
    ObservedMIA,
    TargetedMIA,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)
from tapas.threat_models._targeted_game import TargetedGame

PROMISES = 15


@pytest.mark.parametrize("name", GAMES)
def test_every_game_keeps_every_promise(name: str, tmp_path: Path) -> None:
    kept = check_game(lambda seed: GAMES[name].make(False, seed, 5, tmp_path), num_trials=4)
    assert len(kept) == PROMISES


def _targeted(box: Any, **options: Any) -> Callable[[int], TargetedMIA]:
    people = load_sample("census", 120, seed=3)
    data = AuxiliaryDataKnowledge(people.take(range(2, 120)), num_training_records=ROWS, seed=0)
    return lambda seed: TargetedMIA(data, people.take([0, 1]), box, seed=seed, **options)


def _of_model(**options: Any) -> Callable[[int], ModelMIA]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 3)), rng.integers(0, 3, size=160)
    model = DecisionTreeClassifier(random_state=0).fit(X[:40], y[:40])
    sides = (X[:40], y[:40]), (X[40:80], y[40:80])
    if options.get("population") == "given":
        options["population"] = (X[80:], y[80:])
    return lambda seed: ModelMIA(model, *sides, seed=seed, **options)


def _imported_attribute(folder: Path) -> Callable[[int], ImportedAIA]:
    made = targeted_aia(True, 1, 1, folder)
    labels = []
    for phase in ("train", "test"):
        for index in range(4):
            trial = made.draw_trial(phase, index)
            trial.release.table.write(folder / f"{phase}-{index}")
            secrets = dict(zip(made.game.target_labels, trial.secrets, strict=True))
            labels.append({"file": f"{phase}-{index}.csv", "phase": phase, **secrets})
    return lambda seed: ImportedAIA(
        folder,
        pd.DataFrame(labels),
        made.atk_know_data.target_records,  # type: ignore[attr-defined]
        "sex",
        ["F", "M"],
        independent=True,
        seed=seed,
    )


class InPairs(SklearnTrainer):
    """Trains two models at once."""

    models_at_once = 2


def _observed_without_known(folder: Path) -> Callable[[int], ObservedMIA]:
    people = load_sample("clinic", 90, seed=2)
    tables = [people.take(range(first, first + 30)) for first in (0, 0, 30)]
    return lambda seed: ObservedMIA(*tables, known_share=0, seed=seed)


UNUSUAL: dict[str, Callable[[Path], Callable[[int], Any]]] = {
    "no box": lambda _: _targeted(NoBoxKnowledge(Raw(), ROWS)),
    "white box": lambda _: _targeted(WhiteBoxKnowledge(Bootstrap(), ROWS)),
    "uncertain box": lambda _: _targeted(
        UncertainBoxKnowledge(Public(), ROWS, prior=lambda: {"x": np.random.random()})  # noqa: NPY002
    ),
    "targets that are added, without pairs": lambda _: _targeted(
        BlackBoxKnowledge(Raw(), ROWS), generate_pairs=False
    ),
    "files of which nothing is known": _observed_without_known,
    "a model of which nothing is known": lambda _: _of_model(known_share=0.0),
    "a model that shows labels": lambda _: _of_model(access="labels"),
    "shadow models on other records": lambda _: _of_model(
        trainer=DecisionTreeClassifier(), population="given", train_on_targets=False, num_shadows=3
    ),
    "shadow models on made-up records": lambda _: _of_model(
        trainer=DecisionTreeClassifier(), population=MarginalSynthesis(), num_shadows=3
    ),
    "shadow models trained two at a time": lambda _: _of_model(
        trainer=InPairs(DecisionTreeClassifier()), num_shadows=3
    ),
    "attributes in files": _imported_attribute,
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_games_keep_every_promise(name: str, tmp_path: Path) -> None:
    assert len(check_game(UNUSUAL[name](tmp_path), num_trials=4)) == PROMISES


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
