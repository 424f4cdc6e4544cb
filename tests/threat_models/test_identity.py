"""What was seen or played is used again only where it is certain to be the same."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA, LocalNeighbourhoodAttack, TrainableThresholdAttack
from tapas.engine import FolderStore
from tapas.errors import ReproducibilityWarning, StoreError
from tapas.generators import Generator
from tapas.threat_models import BlackBoxKnowledge, ObservedMIA, TargetedMIA, ThreatModel

Factory = Callable[..., Any]


class Counter:
    """Counts outside of the classes that are counted, whose identity it is not part of."""

    count = 0


runs = Counter()


class Keeps(Generator):
    """Releases some of the rows, as a parameter that nobody else knows of says."""

    any_number = True

    def __init__(self, keep: int = 20) -> None:
        self._keep = keep

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> Any:
        runs.count += 1
        return self.dataset.sample(self._keep, random_state=random_state)


class Sees(TrainableThresholdAttack):
    """Counts released rows, with a weight that nobody else knows of."""

    label = "Sees"

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__("accuracy")
        self._weight = weight

    def observe(self, release: Any, briefing: Any, *, rng: Any) -> np.ndarray:
        return np.full(briefing.num_targets, self._weight * len(release.data))


class Weighted(ClosestDistanceMIA):
    """A built-in attack that looks with a weight of its own."""

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__()
        self._weight = weight

    def observe(self, release: Any, briefing: Any, *, rng: Any) -> np.ndarray:
        return self._weight * super().observe(release, briefing, rng=rng)


class WeightedInside(LocalNeighbourhoodAttack):
    """The same, by a method that looking uses."""

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__(radius=3)
        self._weight = weight

    def _inside(self, records: Any, synthetic: Any) -> np.ndarray:
        return self._weight * super()._inside(records, synthetic)


# -- attacks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Sees, Weighted, WeightedInside])
def test_a_changed_parameter_is_not_answered_from_memory(membership: Factory, kind: Any) -> None:
    model = membership(targets=[0, 1])
    attack = kind(1.0)
    before = model.observe(attack, 6).values
    attack._weight = 2.0
    assert model.observe(attack, 6).values.tolist() == (2 * before).tolist()
    assert model.observe(kind(1.0), 6).values.tolist() == before.tolist()


@pytest.mark.parametrize("kind", [Sees, Weighted, WeightedInside])
def test_a_parameter_changed_after_a_test_shows_in_the_next(membership: Factory, kind: Any) -> None:
    model = membership()
    attack = kind(1.0)
    attack.train(model, 10)
    before = model.test(attack, 8).scores
    attack._weight = 2.0
    assert model.test(attack, 8).scores.tolist() == (2 * before).tolist()
    attack.train(model, 10)
    assert model.test(attack, 8).scores.tolist() == (2 * before).tolist()


def test_attacks_of_different_parameters_do_not_share_what_they_saw(membership: Factory) -> None:
    model = membership()
    first, second = (model.observe(Sees(weight), 3).values for weight in (1.0, 2.0))
    assert second.tolist() == (2 * first).tolist()


def test_an_edited_method_is_another_attack(
    membership: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys.modules["__main__"], "__file__", np.__file__, raising=False
    )  # as `python -m` has it
    model, seen = membership(), []
    for factor in (1.0, 2.0):
        source = (
            "class Mine(TrainableThresholdAttack):\n"
            "    def observe(self, release, briefing, *, rng):\n"
            f"        return np.full(briefing.num_targets, {factor})\n"
        )
        names = {"TrainableThresholdAttack": TrainableThresholdAttack, "np": np}
        exec(source, names | {"__name__": "__main__"}, names)
        seen.append(model.observe(names["Mine"](), 3).values[0, 0])
    assert seen == [1.0, 2.0]


def test_what_an_attack_learnt_is_no_part_of_what_it_sees(membership: Factory) -> None:
    model, attack = membership(Keeps(), targets=[0, 1]), Sees()
    runs.count = 0
    model.policy = type(model.policy)(keep_data=False)
    for view in model:
        attack.train(view, 6)
        view.test(attack, 4)
    assert runs.count == 10
    fresh = Sees()
    fresh.train(model, 6)
    assert runs.count == 10


# -- mechanisms ----------------------------------------------------------------------------------


def test_a_generator_changed_in_place_plays_again(
    membership: Factory, caplog: pytest.LogCaptureFixture
) -> None:
    generator = Keeps(20)
    model, attack = membership(generator), Sees()
    attack.train(model, 4)
    assert [len(release) for release in model._generate_samples(4)[0]] == [20] * 4
    assert model.test(attack, 3).scores.tolist() == [20.0] * 3
    generator._keep = 7
    assert [len(release) for release in model._generate_samples(4)[0]] == [7] * 4
    assert model.test(attack, 3).scores.tolist() == [7.0] * 3
    assert "played again" in caplog.text


def test_every_view_of_a_changed_threat_model_plays_again(membership: Factory) -> None:
    generator = Keeps(20)
    model = membership(generator, targets=[0, 1])
    views = list(model)
    views[0]._generate_samples(3)
    generator._keep = 7
    for view in (model, *views):
        assert [len(release) for release in view._generate_samples(3)[0]] == [7] * 3


def test_a_function_put_in_place_of_another_plays_again(membership: Factory) -> None:
    class Calls(Keeps):
        def __init__(self, rows: Any) -> None:
            super().__init__()
            self.rows = rows

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.dataset.sample(self.rows(), random_state=random_state)

    generator = Calls(lambda: 5)
    model = membership(generator)
    assert len(model._generate_samples(1)[0][0]) == 5
    generator.rows = lambda: 6
    assert len(model._generate_samples(1)[0][0]) == 6


def test_other_data_or_another_size_plays_again(membership: Factory) -> None:
    model = membership()
    first = model._generate_samples(2)[0]
    model.atk_know_gen.num_synthetic_records = 11
    assert [len(release) for release in model._generate_samples(2)[0]] == [11, 11]
    model.atk_know_gen.num_synthetic_records = 20
    again = model._generate_samples(2)[0]
    assert all(a.table.same_values(b.table) for a, b in zip(first, again, strict=True))
    model.atk_know_data.attacker_knowledge.num_training_records = 30
    changed = model._generate_samples(2)[0]
    assert not changed[0].table.same_values(first[0].table)


def test_running_trials_is_no_change(membership: Factory) -> None:
    class Learns(Keeps):
        def fit(self, dataset: Any, **kwargs: Any) -> None:
            super().fit(dataset)
            self.fitted_ = len(dataset)

    model = membership(Learns())
    runs.count = 0
    for count in (2, 4, 3):
        model._generate_samples(count)
    assert runs.count == 4


def test_a_generator_that_cannot_be_compared_is_not_mistaken_in_memory(
    membership: Factory,
) -> None:
    class Locked(Keeps):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    generator = Locked()
    model = membership(generator)
    with pytest.warns(ReproducibilityWarning):
        model._generate_samples(2)
    runs.count = 0
    model._generate_samples(2)
    assert runs.count == 0
    generator.lock = threading.Lock()
    with pytest.warns(ReproducibilityWarning):
        model._generate_samples(2)
    assert runs.count == 2


# -- games are what they say ---------------------------------------------------------------------


def test_games_with_equal_parts_have_equal_specs(membership: Factory, people: Any) -> None:
    assert membership().game.spec.digest == membership().game.spec.digest
    others = [
        membership(seed=4),
        membership(targets=[1]),
        membership(Keeps()),
        membership(Keeps(3)),
        membership(size=21),
        membership(replace_target=False),
        membership(generate_pairs=False),
    ]
    digests = {model.game.spec.digest for model in (membership(), *others)}
    assert len(digests) == 1 + len(others)


def test_playing_and_judging_do_not_change_a_game(membership: Factory, people: Any) -> None:
    files = ObservedMIA(*(people.take(range(start, start + 60)) for start in (0, 60, 120)), seed=1)
    for model in (membership(targets=[0, 1]), files):
        before = model.game.spec.digest
        attack = ClosestDistanceMIA()
        attack.train(model, 6)
        model.test(attack, 4)
        assert model.game.target_labels
        assert model.game.spec.digest == before


# -- load, or make and save ----------------------------------------------------------------------


def stored(folder: Path) -> set[str]:
    with FolderStore(folder) as store:
        return set(store.keys())


@pytest.mark.parametrize("handed_in", [False, True])
def test_load_or_make_and_save_uses_the_first_trials_every_time(
    tmp_path: Path, membership: Factory, handed_in: bool
) -> None:
    folder = tmp_path / "model"

    def run() -> Any:
        try:
            options = {"generator": Keeps()} if handed_in else {}
            model = ThreatModel.load(folder, n_jobs=1, **options)
        except StoreError:
            model = membership(Keeps())
            model._generate_samples(6)
            model._generate_samples(4, training=False)
            model.save(folder)
        attack = ClosestDistanceMIA()
        attack.train(model)
        return model.test(attack)

    runs.count = 0
    first = run()
    assert runs.count == 10
    kept = stored(folder)
    for _ in range(2):
        again = run()
        assert again.scores.tolist() == first.scores.tolist()
        assert again.labels.tolist() == first.labels.tolist()
    assert runs.count == 10
    assert stored(folder) == kept
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_making_and_saving_anew_deletes_nothing(tmp_path: Path, membership: Factory) -> None:
    folder, kept = tmp_path / "model", set()
    for keep in (5, 6, 7):
        model = membership(Keeps(keep))
        model._generate_samples(3)
        model.save(folder)
        assert kept < stored(folder)
        kept = stored(folder)
    first = membership(Keeps(5))
    first.save(folder)
    releases, _ = ThreatModel.load(folder)._memory[True]
    assert [len(release) for release in releases] == [5] * 3
    assert stored(folder) == kept


# -- trials that a script brings -----------------------------------------------------------------


def test_trials_that_a_script_puts_in_memory_are_exactly_those_used(
    membership: Factory, people: Any, background: Any
) -> None:
    model, attack = membership(Keeps()), ClosestDistanceMIA()
    target = people.get_records([0])
    with_target = [background.take(range(i, i + 9)).add_records(target) for i in range(0, 40, 10)]
    without = [background.take(range(i, i + 10)) for i in range(0, 40, 10)]
    train = (with_target + without, [True] * 4 + [False] * 4)
    test = (without[:2] + with_target[:3], [False] * 2 + [True] * 3)
    runs.count = 0
    model._memory = {True: train, False: test}
    attack.train(model)
    summary = model.test(attack)
    assert runs.count == 0
    assert summary.labels.tolist() == [0, 0, 1, 1, 1]
    assert summary.scores.tolist()[2:] == [0.0] * 3
    assert (summary.accuracy, summary.auc) == (1.0, 1.0)
    for training, (releases, labels) in ((True, train), (False, test)):
        found, secrets = model._generate_samples(training=training)
        assert secrets == labels
        assert all(a.table.same_values(b.table) for a, b in zip(found, releases, strict=True))
    assert model.test(attack, 3).labels.tolist() == [0, 0, 1]
    assert len(model.test(attack, 6)) == 6
    assert runs.count == 1


def test_memory_of_several_targets_has_a_list_of_labels_per_release(
    membership: Factory, background: Any
) -> None:
    model = membership(targets=[0, 1])
    releases = [background.take(range(5)), background.take(range(5, 10))]
    model._memory = {True: (releases, [[True, False], [False, False]])}
    assert model._memory[True][1] == [[True, False], [False, False]]
    assert model._memory[False] == ([], [])
    model._memory[False] = (releases[:1], [[False, True]])
    assert model._memory[False][1] == [[False, True]]
    assert len(model._memory[True][0]) == 2
    first, second = model
    assert first._generate_samples()[1] == [True, False]
    assert second._generate_samples()[1] == [False, False]


def test_memory_that_does_not_fit_together_is_refused(membership: Factory) -> None:
    with pytest.raises(ValueError, match=r"longer|shorter"):
        membership()._memory = {True: ([1, 2], [True])}


def test_a_white_box_and_a_black_box_are_different_games(membership: Factory) -> None:
    from tapas.threat_models import WhiteBoxKnowledge

    boxes = (BlackBoxKnowledge(Keeps(), 5), WhiteBoxKnowledge(Keeps(), 5))
    black, white = (membership(knowledge=box).game.spec.digest for box in boxes)
    assert black != white
    assert isinstance(membership(), TargetedMIA)
