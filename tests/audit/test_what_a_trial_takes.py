"""A check says what trials take, not what it takes to begin."""

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceMIA, LiRA
from tapas.audit import Audit
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ModelMIA,
    NoBoxKnowledge,
    TargetedMIA,
)

PEOPLE = load_sample("census", 200)


class Clock:
    """Time that passes only where something takes time: at first more, as imports do."""

    now, runs, first, usual = 0.0, 0, 0.0, 0.0

    @classmethod
    def set(cls, first: float, usual: float) -> None:
        cls.now, cls.runs, cls.first, cls.usual = 0.0, 0, first, usual

    @classmethod
    def run(cls) -> None:
        cls.now += cls.usual if cls.runs else cls.first
        cls.runs += 1


class TakesTime(Raw):
    def __call__(self, *arguments: Any, **more: Any) -> Any:
        Clock.run()
        return super().__call__(*arguments, **more)


class Tree(DecisionTreeClassifier):
    def fit(self, *arguments: Any, **more: Any) -> Any:
        Clock.run()
        return super().fit(*arguments, **more)


@pytest.fixture(autouse=True)
def _by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapas.audit._check.time.perf_counter", lambda: Clock.now)


def about_a_generator(box: type = BlackBoxKnowledge) -> Audit:
    knows = AuxiliaryDataKnowledge(PEOPLE.drop_records([0]), num_training_records=40, seed=1)
    game = TargetedMIA(knows, PEOPLE.take([0]), box(TakesTime(), 40), seed=1)
    attack = ClosestDistanceMIA(criterion=("threshold", 0))
    return Audit(game, [attack], 0 if box is NoBoxKnowledge else 10, 10)


def about_a_model(shadows: int = 8) -> Audit:
    rng = np.random.default_rng(0)
    inputs, classes = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    members, others = ((inputs[part], classes[part]) for part in (slice(100), slice(100, None)))
    model = DecisionTreeClassifier(max_depth=3).fit(*members)
    game = ModelMIA(model, members, others, trainer=Tree(), num_shadows=shadows, seed=1)
    return Audit(game, [LiRA()])


@pytest.mark.parametrize(
    ("make", "first", "usual", "said", "runs"),
    [
        (about_a_generator, 3.0, 0.0625, 0.0625, 6),
        (about_a_generator, 90.0, 60.0, 60.0, 2),
        (lambda: about_a_generator(NoBoxKnowledge), 3.0, 0.5, 0.5, 2),
        (lambda: about_a_generator(NoBoxKnowledge), 90.0, 60.0, 90.0, 1),
        (about_a_model, 3.0, 0.0625, 0.0625, 6),
        (about_a_model, 90.0, 60.0, 90.0, 1),
        (lambda: about_a_model(4), 3.0, 0.0625, 0.0625, 4),
    ],
)
@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_first_costs_are_not_those_of_a_trial_and_slow_ones_are_not_run_again(
    make: Any, first: float, usual: float, said: float, runs: int
) -> None:
    audit = make()
    Clock.set(first, usual)
    found = audit.check()
    assert found.problems == ()
    assert found.seconds_per_trial == said
    assert Clock.runs == runs
    assert audit.forecast(found).cpu_hours == said * audit.forecast(found).fits / 3600
