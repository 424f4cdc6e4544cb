"""What a threat model relies on in an attack, as checks that anybody can run on theirs."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import cloudpickle
import numpy as np

from tapas.compat import AttackDoors
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import IncompatibleAttackError
from tapas.game import Value
from tapas.generators import Raw
from tapas.results import AIAttackSummary, LabelInferenceAttackSummary
from tapas.testing._promises import BrokenPromiseError, Promise, kept_promises
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)

Targeted = TargetedMIA | TargetedAIA
TRIALS = 12
ROWS = 12


@dataclass(frozen=True, eq=False)
class _Game:
    """A small threat model on a table with every kind of column, and how to make it again."""

    goal: str
    make: Callable[..., Targeted]


FindBreach = Callable[[AttackDoors, _Game], str | None]


def check_attack(attack: AttackDoors, dataset: TabularDataset | None = None) -> list[str]:
    """Run every check on an attack, for every goal that it supports.

    Parameters
    ----------
    attack : Attack
        It is copied, never trained itself.
    dataset : TabularDataset, optional
        At least 60 records of a table that the attack can read; by default simulated records of
        patients, with every kind of column. Attributes of two and of more values are inferred
        where it has such columns.

    Returns
    -------
    list of str
        ``goal: promise`` for each promise that was checked and kept.

    Raises
    ------
    BrokenPromiseError
        Names every goal and promise that is broken, and what was seen instead. An attack that
        supports no goal at all breaks the first promise.
    """
    if not isinstance(getattr(attack, "label", None), str):
        raise BrokenPromiseError("label: an attack has a display name. Instead: no text")
    data = load_sample("clinic", 200, seed=5) if dataset is None else dataset
    promises = [
        Promise(game.goal, words, partial(_found, find_breach, game=game))
        for game in _games(data)
        if _supports(attack, game)
        for words, find_breach in _PROMISES
    ]
    if not promises:
        raise BrokenPromiseError(
            "goals: an attack can be trained for membership or attribute inference. Instead: it "
            "refused both"
        )
    kept_promises(attack.label, promises, attack)
    return [f"{one.name}: {one.promise}" for one in promises]


def _found(find_breach: FindBreach, attack: AttackDoors, game: _Game) -> str | None:
    return find_breach(copy.deepcopy(attack), game)


def _games(data: TabularDataset) -> Iterator[_Game]:
    targets, rest = data.take([0, 1]), data.drop_records([0, 1])

    def knowledge(seed: int) -> tuple[AuxiliaryDataKnowledge, BlackBoxKnowledge]:
        return (
            AuxiliaryDataKnowledge(rest, num_training_records=ROWS, seed=seed),
            BlackBoxKnowledge(Raw(), ROWS),
        )

    def membership(
        seed: int = 1, recorded: TabularDataset = targets, **options: Any
    ) -> TargetedMIA:
        about_data, box = knowledge(seed)
        return TargetedMIA(about_data, recorded, box, replace_target=True, seed=seed, **options)

    yield _Game("membership", membership)
    listed = [(one.name, list(one.values)) for one in data.description.parsed if one.values]
    for words, sizes in (("two values", (2,)), ("many values", (3, 4, 5))):
        for column, values in [one for one in listed if len(one[1]) in sizes][:1]:

            def attribute(
                seed: int = 1,
                recorded: TabularDataset = targets,
                column: str = column,
                values: list[Value] = values,
                **options: Any,
            ) -> TargetedAIA:
                about_data, box = knowledge(seed)
                return TargetedAIA(about_data, recorded, column, values, box, seed=seed, **options)

            yield _Game(f"attribute of {words}", attribute)


def _supports(attack: AttackDoors, game: _Game) -> bool:
    try:
        _outcome(copy.deepcopy(attack), game.make(n_jobs=1))
    except IncompatibleAttackError:
        return False
    except Exception:
        return True  # the first promise will say what went wrong
    return True


def _outcome(attack: AttackDoors, threat_model: Targeted) -> LabelInferenceAttackSummary:
    """Train and test on the first target."""
    attack.train(threat_model, num_samples=TRIALS)
    summary = threat_model.test(attack, num_samples=TRIALS)
    if not isinstance(summary, LabelInferenceAttackSummary):
        raise BrokenPromiseError(f"a test gave {type(summary).__name__} instead of a summary")
    return summary


def _scores(attack: AttackDoors, threat_model: Targeted) -> np.ndarray:
    summary = _outcome(attack, threat_model)
    return np.asarray(summary.predictions if summary.scores is None else summary.scores)


def _answers(attack: AttackDoors, game: _Game) -> str | None:
    threat_model = game.make(n_jobs=1)
    for view in threat_model:
        summary = _outcome(attack, view)
        if len(summary) != TRIALS:
            return f"{len(summary)} guesses for {TRIALS} trials"
        if summary.scores is not None and np.isnan(summary.scores).any():
            return "a score is not a number"
        possible = summary.attribute_values if isinstance(summary, AIAttackSummary) else (0, 1)
        if not set(np.unique(summary.predictions)) <= set(possible):
            return f"guesses {set(np.unique(summary.predictions))}, not among {possible}"
    return None


def _is_repeatable(attack: AttackDoors, game: _Game) -> str | None:
    first = _scores(copy.deepcopy(attack), game.make(n_jobs=1))
    second = _scores(attack, game.make(n_jobs=1))
    return None if np.array_equal(first, second) else "the same seed gave other scores"


def _travels(attack: AttackDoors, game: _Game) -> str | None:
    here = _scores(copy.deepcopy(attack), game.make(n_jobs=1))
    attack = cloudpickle.loads(cloudpickle.dumps(attack))
    there = _scores(attack, game.make(n_jobs=2))
    return None if np.array_equal(here, there) else "two processes gave other scores than one"


def _forgets(attack: AttackDoors, game: _Game) -> str | None:
    fresh = _scores(copy.deepcopy(attack), game.make(seed=2, n_jobs=1))
    _outcome(attack, game.make(seed=1, n_jobs=1))
    again = _scores(attack, game.make(seed=2, n_jobs=1))
    return None if np.array_equal(fresh, again) else "what was learnt first changed the second"


def _judges_each_release_on_its_own(attack: AttackDoors, game: _Game) -> str | None:
    threat_model = game.make(n_jobs=1)
    attack.train(threat_model, num_samples=TRIALS)
    releases, _ = threat_model.generate_training_samples(TRIALS)
    guesses = np.asarray(attack.attack(releases))
    backwards = np.asarray(attack.attack(releases[::-1]))[::-1]
    return None if np.array_equal(guesses, backwards) else "the order of releases changed guesses"


def _does_not_read_the_secret(attack: AttackDoors, game: _Game) -> str | None:
    threat_model = game.make(n_jobs=1)
    if not isinstance(threat_model, TargetedAIA):
        return None
    column, values = threat_model.sensitive_attribute, threat_model.attribute_values
    seen = []
    for value in values[:2]:
        recorded = threat_model.target_record
        if not isinstance(recorded, TabularDataset):
            return "the target is no record of a table"
        table = recorded.table.with_value(column, value)
        targets = TabularDataset.from_table(table, recorded.description)
        seen.append(_scores(copy.deepcopy(attack), game.make(recorded=targets, n_jobs=1)))
    same = np.array_equal(seen[0], seen[1])
    return None if same else "the value recorded with the target changed scores"


_PROMISES: tuple[tuple[str, FindBreach], ...] = (
    ("it answers every trial of every target with a possible secret", _answers),
    ("the same seed gives the same scores", _is_repeatable),
    ("it gives the same scores on two processes as on one", _travels),
    ("training again forgets what was learnt before", _forgets),
    ("it judges each release on its own", _judges_each_release_on_its_own),
    ("it does not read the sensitive value recorded with the target", _does_not_read_the_secret),
)
