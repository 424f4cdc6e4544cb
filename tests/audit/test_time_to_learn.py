"""A check says what attacks will take to learn, and learns little for that."""

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import Attack, ClosestDistanceMIA, EnsembleAttack, LiRA, LossMIA
from tapas.audit import Audit, Subject
from tapas.audit._time_to_learn import FEW, seconds_for
from tapas.cli._check import _what_it_takes
from tapas.datasets import load_sample
from tapas.game import Board
from tapas.generators import Bootstrap, Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, ModelMIA, TargetedMIA

PEOPLE = load_sample("census", 200)
TRIALS = 10


class Clock:
    """Time that passes only where something learns."""

    now = 0.0


@pytest.fixture(autouse=True)
def _by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapas.audit._time_to_learn.time.perf_counter", lambda: Clock.now)


class Learns(Attack):
    """Takes a second for each release and target that it learns from."""

    label, pools = "Learns", False

    def __init__(self) -> None:
        self.boards: list[Board] = []

    @property
    def pools_targets(self) -> bool:
        return self.pools

    def observe(self, release: Any, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        return np.full((briefing.num_targets, 3), release.table.table.codes.mean())

    def fit(self, board: Board, *, rng: np.random.Generator) -> "Learns":
        Clock.now += board.secrets.size
        np.random.random()  # noqa: NPY002
        self.boards.append(board)
        self.seen(board)
        return self

    def seen(self, board: Board) -> None:
        pass

    def score(self, values: np.ndarray) -> np.ndarray:
        return values[..., 0]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        return scores > 0


class Pools(Learns):
    label, pools = "Pools", True


class Crashes(Learns):
    label = "Crashes"

    def seen(self, board: Board) -> None:
        raise ValueError("not a board that I know")


class ByDoors(Attack):
    label = "ByDoors"

    def train(self, threat_model: Any, num_samples: Any = None) -> None:
        pass

    def attack(self, datasets: Any) -> Any:
        return [False] * len(datasets)


class Refuses(ClosestDistanceMIA):
    """Needs no training, and must not be asked to learn."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> Any:
        raise AssertionError("it was asked to learn")


def game(targets: int, generator: Any = None) -> TargetedMIA:
    knows = AuxiliaryDataKnowledge(
        PEOPLE.drop_records([*range(20)]), num_training_records=40, seed=1
    )
    about = PEOPLE.take(np.arange(targets))
    return TargetedMIA(knows, about, BlackBoxKnowledge(generator or Raw(), 40), seed=1)


def audit(targets: int, *attacks: Attack, trials: int = TRIALS) -> Audit:
    return Audit(game(targets), attacks, trials, TRIALS)


@pytest.mark.parametrize("make", [Learns, Pools])
def test_a_forecast_grows_with_targets_and_trials(make: type[Learns]) -> None:
    for targets, trials in ((2, 10), (8, 10), (8, 100)):
        planned = audit(targets, make(), trials=trials)
        found = planned.check()
        assert found.ok
        assert found.seconds_to_learn == targets * trials
        assert found.untimed == ()
        assert planned.forecast(found).learning_hours == targets * trials / 3600


def test_controls_count_by_their_own_targets() -> None:
    subjects = [Subject(game(8)), Subject(game(2, Bootstrap()), "few", "control")]
    found = Audit(subjects, [Learns()], TRIALS, TRIALS).check()
    assert found.seconds_to_learn == (8 + 2) * TRIALS


def test_attacks_that_cannot_be_timed_are_named() -> None:
    planned = audit(2, Learns(), Crashes(), ByDoors())
    found = planned.check()
    assert found.ok
    assert found.seconds_to_learn == 2 * TRIALS
    assert found.untimed == planned.forecast(found).untimed == ("Crashes", "ByDoors")
    words = _what_it_takes(found, planned.num_trials())
    assert "about 20 s for attacks to learn from them" in words
    assert "What Crashes and ByDoors learn could not be timed: it comes on top" in words


def test_an_attack_that_may_not_take_so_long_is_named() -> None:
    class Slow(Learns):
        label = "Slow"

        def seen(self, board: Board) -> None:
            while True:
                pass

    planned = Audit(game(2), [Slow()], TRIALS, TRIALS, attack_timeout=0.1)
    assert planned.check().untimed == ("Slow",)


def test_attacks_without_training_learn_nothing() -> None:
    planned = audit(3, Refuses(criterion=("threshold", 0)))
    found = planned.check()
    assert (found.ok, found.seconds_to_learn, found.untimed) == (True, 0.0, ())
    assert "learn" not in _what_it_takes(found, planned.num_trials())


def test_what_is_learnt_from_has_the_form_of_the_run() -> None:
    boards: list[Board] = []

    class Keeps(Learns):
        def seen(self, board: Board) -> None:
            boards.append(board)

    planned = audit(3, Keeps(), ClosestDistanceMIA(), EnsembleAttack(), trials=40)
    assert planned.check().untimed == ()
    checked = boards.pop()
    boards.clear()
    planned.run(n_jobs=1)
    ran = boards[0]
    for one, other in ((checked.values, ran.values), (checked.secrets, ran.secrets)):
        assert (one.shape[1:], one.dtype) == (other.shape[1:], other.dtype)
    assert set(checked.secrets.ravel()) == {False, True}
    assert checked.briefing is not None
    assert ran.briefing is not None
    assert checked.briefing.targets.data.equals(ran.briefing.targets.data)


def test_nothing_is_left_of_what_a_check_learns() -> None:
    attack, other = Pools(), Pools()
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    checked = audit(2, attack)
    checked.check()
    assert attack.boards == []
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    found = [one.run(n_jobs=1).subjects[0].summaries for one in (checked, audit(2, other))]
    for one, same in zip(*found, strict=True):
        assert (one.scores == same.scores).all()


def test_what_attacks_see_in_shadow_models_and_learn_from_them_is_timed() -> None:
    class Slow(LiRA):
        def observe(self, release: Any, briefing: Any, *, rng: np.random.Generator) -> Any:
            Clock.now += 5.0
            return super().observe(release, briefing, rng=rng)

        def fit(self, board: Board, *, rng: np.random.Generator) -> Any:
            Clock.now += 3.0 * len(board)
            return super().fit(board, rng=rng)

    rng = np.random.default_rng(0)
    inputs, classes = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    members, others = ((inputs[part], classes[part]) for part in (slice(100), slice(100, None)))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = tree.fit(*members)
    shadowed = ModelMIA(model, members, others, trainer=tree, num_shadows=8, seed=1)
    found = Audit(shadowed, [LossMIA(), Slow()]).check()
    assert found.seconds_per_trial == 5.0
    assert (found.seconds_to_learn, found.untimed) == (24.0, ())


@pytest.mark.parametrize(
    ("second", "power", "tried", "said"),
    [
        (1e-3, 1.0, [16, 16, 64, 1000], 1e-3 * 1000 / 16),
        (1e-3, 2.0, [16, 16, 64, 256], 1e-3 * (1000 / 16) ** 2),
        (0.1, 1.0, [16, 16, 64], 0.1 * 1000 / 16),
        (0.1, 1.5, [16, 16, 64], 0.1 * (1000 / 16) ** 1.5),
        (0.1, 0.5, [16, 16, 64], 0.2 * 1000 / 64),  # in proportion at least
        (2.0, 1.0, [16, 16], 2.0 * 1000 / 16),
        (9.0, 1.0, [16], (9.0 + 3.0) * 1000 / 16),  # not again for the imports in it
    ],
)
def test_few_releases_tell_what_many_take(
    second: float, power: float, tried: list[int], said: float
) -> None:
    sizes: list[int] = []

    def timed(size: int) -> float:
        sizes.append(size)
        imports = 3.0 if len(sizes) == 1 else 0.0
        return imports + second * (size / FEW) ** power

    assert seconds_for(1000, FEW, 1000, timed) == pytest.approx(said)
    assert sizes == tried


def test_no_more_is_learnt_from_than_memory_is_meant_for() -> None:
    sizes: list[int] = []

    def timed(size: int) -> float:
        sizes.append(size)
        return size / 1e6

    assert seconds_for(1000, FEW, 100, timed) == pytest.approx(1e-3)
    assert max(sizes) == 100
