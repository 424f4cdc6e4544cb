"""Uses at the edge of the interface: they work, or are refused with a reason."""

import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA, GroundhogAttack, TrainableThresholdAttack
from tapas.datasets import TabularDataset
from tapas.engine import FolderStore, TaskFailedError, Workers, run_tasks
from tapas.errors import (
    KnowledgeError,
    MechanismError,
    ReproducibilityWarning,
    SchemaError,
    StoreError,
    TapasWarning,
    TargetInDataWarning,
    ThreatModelError,
)
from tapas.game import as_array
from tapas.generators import Generator, GeneratorFromExecutable, Raw, ReprosynGenerator
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    TargetedAIA,
    ThreatModel,
    UncertainBoxKnowledge,
)

Factory = Callable[..., Any]


# -- what a subclass writes is what runs ---------------------------------------------------------


def test_an_overridden_score_may_ask_the_parent(membership: Factory) -> None:
    class Doubled(ClosestDistanceMIA):
        def attack_score(self, datasets: Any) -> Any:
            return 2 * super().attack_score(datasets)

    model = membership()
    doubled, plain = Doubled(), ClosestDistanceMIA()
    doubled.train(model, 10)
    plain.train(model, 10)
    expected = (2 * model.test(plain, 8).scores).tolist()
    assert model.test(doubled, 8).scores.tolist() == expected


def test_an_overridden_decision_may_ask_the_parent(membership: Factory) -> None:
    class Contrary(ClosestDistanceMIA):
        def attack(self, datasets: Any) -> Any:
            return ~super().attack(datasets).astype(bool)

    model = membership(size=40)
    attack = Contrary()
    attack.train(model, 10)
    assert model.test(attack, 10).accuracy == 0.0


def test_a_score_per_value_works_by_the_door(attribute: Factory) -> None:
    values = ["good", "fair", "bad"]

    class Shares(TrainableThresholdAttack):
        label = "Shares"

        def attack_score(self, datasets: Any) -> Any:
            return np.array([[(d.data["Health"] == v).mean() for v in values] for d in datasets])

    model = attribute(attribute="Health", values=values)
    attack = Shares()
    attack.train(model, 10)
    summary = model.test(attack, 10)
    assert summary.predictions.shape == (10,)
    assert set(summary.predictions) <= set(values)


def test_knowledge_that_draws_in_its_own_way_is_asked(
    membership: Factory, background: TabularDataset
) -> None:
    class FirstRows(AuxiliaryDataKnowledge):
        def generate_datasets(self, num_samples: int, training: bool = True) -> list[Any]:
            return [background.take(range(40))] * num_samples

    class EveryThird(BlackBoxKnowledge):
        def generate(self, training_dataset: Any, training_mode: bool = True) -> Any:
            return training_dataset.take(range(0, 40, 3))

    knowledge = EveryThird(Raw(), 20)
    model = membership(data=FirstRows(background, num_training_records=40), knowledge=knowledge)
    (release,), _ = model._generate_samples(1)
    assert len(release) == 14
    assert sum(record in background.take(range(40)) for record in release) >= 13


def test_values_of_mixed_types_stay_what_they_are() -> None:
    assert as_array(("a", 1)).tolist() == ["a", 1]
    assert as_array((0, 1)).dtype.kind == "i"


# -- reproducible or refused ---------------------------------------------------------------------


def assert_as_alone(model: Any, alone: Any) -> None:
    releases, secrets = model._generate_samples(8)
    expected, labels = alone._generate_samples(8)
    assert secrets == labels
    assert all(a.table.same_values(b.table) for a, b in zip(releases, expected, strict=True))


def test_a_prior_that_uses_the_global_generator_runs_in_processes_of_threads(
    membership: Factory,
) -> None:
    class Sized(Generator):
        any_number = True

        def fit(self, dataset: Any, extra: int = 0, **_: Any) -> None:
            self.dataset, self.extra = dataset, extra

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.dataset.sample(10 + self.extra, random_state=random_state)

    def prior() -> dict[str, Any]:
        return {"extra": int(np.random.randint(5))}  # noqa: NPY002

    knowledge = UncertainBoxKnowledge(Sized(), 20, prior)
    with ThreadPoolExecutor(2) as threads:
        model = membership(knowledge=knowledge, executor=threads, n_jobs=None)
        assert_as_alone(model, membership(knowledge=knowledge, n_jobs=1))


def test_data_knowledge_of_ones_own_runs_in_processes_of_threads(
    membership: Factory, background: TabularDataset
) -> None:
    class Mine(AttackerKnowledgeOnData):
        def generate_datasets(self, num_samples: int, training: bool = True) -> list[Any]:
            return [background.sample(20) for _ in range(num_samples)]

    with ThreadPoolExecutor(2) as threads:
        model = membership(data=Mine(), executor=threads, n_jobs=None)
        assert_as_alone(model, membership(data=Mine(), n_jobs=1))


def test_what_shares_globals_and_cannot_be_sent_is_refused_in_threads(
    membership: Factory, background: TabularDataset
) -> None:
    class Locked(AttackerKnowledgeOnData):
        def __init__(self) -> None:
            self.own = threading.Lock()

        def generate_datasets(self, num_samples: int, training: bool = True) -> list[Any]:
            return [background.sample(20) for _ in range(num_samples)]

    with ThreadPoolExecutor(2) as threads:
        model = membership(data=Locked(), executor=threads, n_jobs=None)
        with pytest.raises(ThreatModelError, match="cannot be sent"):
            model._generate_samples(4)


def test_a_mechanism_that_cannot_be_copied_whole_gets_a_warning(membership: Factory) -> None:
    class Holds(Raw):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    with pytest.warns(ReproducibilityWarning, match="cannot be copied whole"):
        membership(Holds())._generate_samples(2)


# -- errors that say what happened ---------------------------------------------------------------


def test_the_error_of_the_mechanism_stays_the_cause(membership: Factory) -> None:
    class Broken(Generator):
        def fit(self, dataset: Any, **_: Any) -> None:
            raise KeyError("boo")

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return None

    with pytest.raises(MechanismError) as caught:
        membership(Broken())._generate_samples(2)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_error_that_cannot_travel_is_still_a_failed_task() -> None:
    class AwkwardError(Exception):
        def __init__(self, first: str, second: int) -> None:
            super().__init__(first)

    def task(key: int) -> None:
        raise AwkwardError("boo", key)

    with pytest.raises(TaskFailedError) as caught:
        run_tasks(task, [0, 1, 2], receive=lambda key, value: None, workers=Workers(2))
    assert "AwkwardError: boo" in str(caught.value.__cause__)


def test_no_box_coroutines_cannot_be_run_by_the_attacker(membership: Factory) -> None:
    async def mechanism(dataset: Any, num_samples: int, random_state: Any = None) -> Any:
        return dataset.sample(num_samples, random_state=random_state)

    model = membership(knowledge=NoBoxKnowledge(mechanism, 20), num_concurrent=2)
    with pytest.raises(KnowledgeError, match="cannot run the generator"):
        model._generate_samples(3)


def test_attribute_values_are_checked_when_the_model_is_made(attribute: Factory) -> None:
    with pytest.raises(ThreatModelError, match="robot"):
        attribute(values=["male", "robot"])


def test_a_reprosyn_class_may_change_its_own_frame_only(numbered: TabularDataset) -> None:
    class Changes:
        def __init__(self, dataset: Any, metadata: Any, size: int) -> None:
            self.dataset, self.size = dataset, size

        def run(self) -> None:
            self.dataset["half"] = 0.0
            self.output = self.dataset.head(self.size)

    ReprosynGenerator(Changes)(numbered, 3)
    assert numbered.data["half"].tolist()[1] == 0.5


def test_output_that_is_not_text_is_a_mechanism_error(
    tmp_path: Path, numbered: TabularDataset
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ncat >/dev/null\nprintf '\\377,1,a\\n'\n")
    program.chmod(0o755)
    with pytest.raises(MechanismError, match="not UTF-8"):
        GeneratorFromExecutable(str(program))(numbered, 1)


# -- saved threat models -------------------------------------------------------------------------


def test_what_another_threat_model_saved_stays_beside(tmp_path: Path, membership: Factory) -> None:
    first = membership(targets=[0])
    first._generate_samples(4)
    first.save(tmp_path / "m")
    second = membership(targets=[1])
    second._generate_samples(2)
    second.save(tmp_path / "m")
    loaded = ThreatModel.load(tmp_path / "m")
    assert loaded.target_record in second.target_record
    assert [len(loaded._memory[True][0]), len(loaded._memory[False][0])] == [2, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    membership(targets=[0]).save(tmp_path / "m")
    aside = ThreatModel.load(tmp_path / "m")
    assert aside.target_record in first.target_record
    assert len(aside._memory[True][0]) == 4


def test_numpy_sizes_and_tuples_can_be_saved_twice(tmp_path: Path, membership: Factory) -> None:
    membership(size=np.int64(20)).save(tmp_path / "a")
    assert ThreatModel.load(tmp_path / "a").atk_know_gen.num_synthetic_records == 20
    knowledge = UncertainBoxKnowledge(Raw(), 20, dict, {"w": (1, 2)})
    model = membership(knowledge=knowledge)
    model._generate_samples(2)
    model.save(tmp_path / "b")
    model.save(tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert len(ThreatModel.load(tmp_path / "b")._memory[True][0]) == 2


def test_a_release_of_other_columns_is_refused(membership: Factory) -> None:
    class TwoColumns(Raw):
        def generate(self, num_samples: Any = None, random_state: Any = None) -> Any:
            return super().generate(num_samples, random_state).view(["Sex", "Age"])

    with pytest.raises(MechanismError, match="released the columns 'Sex', 'Age'"):
        membership(TwoColumns())._generate_samples(2)


def damage_entries(folder: Path, ending: str, change: Callable[[bytes], bytes]) -> None:
    """Change the stored bytes of entries, in the index or in files of their own."""
    with closing(sqlite3.connect(folder / "index.sqlite")) as index:
        query = "SELECT key, content, file FROM entries WHERE key LIKE ?"
        rows = index.execute(query, (f"%{ending}",)).fetchall()
        assert rows
        for key, content, file in rows:
            if content is None:
                path = folder / "entries" / file
                path.write_bytes(change(path.read_bytes()))
            else:
                index.execute(
                    "UPDATE entries SET content = ? WHERE key = ?", (change(content), key)
                )
        index.commit()


def shortened(content: bytes) -> bytes:
    return content[:100]


def flipped(content: bytes) -> bytes:
    return content[:90] + bytes([content[90] ^ 1]) + content[91:]


def grown(content: bytes) -> bytes:
    return content + b"x"


@pytest.mark.parametrize("inline", [0, 1 << 20], ids=["in files", "in the index"])
@pytest.mark.parametrize("change", [shortened, flipped, grown])
def test_every_table_of_a_saved_threat_model_is_checked(
    tmp_path: Path,
    membership: Factory,
    change: Callable[[bytes], bytes],
    inline: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tapas.engine._folder_store.LARGEST_INLINE", inline)
    for table in ("targets", "aux", "test"):
        folder = tmp_path / table
        membership().save(folder)
        assert bool(list((folder / "entries").iterdir())) == (inline == 0)
        damage_entries(folder, f"/tables/{table}", change)
        with pytest.raises(StoreError, match=f"tables/{table}' in .* is damaged"):
            ThreatModel.load(folder)


@pytest.mark.parametrize("what", ["schema", "manifest", "index", "missing"])
def test_damage_to_a_saved_threat_model_is_a_store_error(
    tmp_path: Path, membership: Factory, what: str
) -> None:
    model = membership()
    model._generate_samples(2)
    folder = tmp_path / "m"
    model.save(folder)
    manifest = folder / "threat-model.json"
    if what == "schema":
        manifest.write_text(manifest.read_text().replace('"representation"', '"other"'))
    elif what == "manifest":
        manifest.write_text("[]")
    elif what == "index":
        (folder / "index.sqlite").write_bytes(b"nothing of the kind" * 100)
    else:
        with FolderStore(folder) as store:
            store.discard(next(key for key in store.keys() if key.endswith("/tables/aux")))  # noqa: SIM118
    with pytest.raises((StoreError, SchemaError)):
        ThreatModel.load(folder)


@pytest.mark.parametrize("inline", [0, 1 << 20], ids=["in files", "in the index"])
def test_a_damaged_trial_is_played_again(
    tmp_path: Path, membership: Factory, inline: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.engine._folder_store.LARGEST_INLINE", inline)
    model = membership()
    expected = model._generate_samples(3)
    model.save(tmp_path / "m")
    for ending in ("train/000001/data", "train/000000/trial"):
        damage_entries(tmp_path / "m", ending, shortened)
    loaded = ThreatModel.load(tmp_path / "m")
    assert len(loaded._memory[True][0]) == 1
    releases, labels = loaded._generate_samples(3)
    assert labels == expected[1]
    assert all(a.table.same_values(b.table) for a, b in zip(releases, expected[0], strict=True))
    loaded.save()
    assert len(ThreatModel.load(tmp_path / "m")._memory[True][0]) == 3


def test_a_fit_that_draws_from_the_global_generator_runs_in_processes_of_threads(
    membership: Factory,
) -> None:
    class DrawsInFit(Generator):
        def fit(self, dataset: Any, **_: Any) -> None:
            self.rows = dataset.take(np.random.permutation(len(dataset))[:20])  # noqa: NPY002

        def generate(self, num_samples: int, random_state: Any = None) -> Any:
            return self.rows.sample(num_samples, random_state=random_state)

    with ThreadPoolExecutor(2) as threads:
        model = membership(DrawsInFit(), executor=threads, n_jobs=None)
        assert_as_alone(model, membership(DrawsInFit(), n_jobs=1))


def test_a_target_in_the_data_is_told_for_attributes_too(people: TabularDataset) -> None:
    with pytest.warns(TargetInDataWarning, match="'0'") as caught:
        TargetedAIA(
            AuxiliaryDataKnowledge(people, num_training_records=40, seed=0),
            people.get_records([0]),
            "Sex",
            ["female", "male"],
            BlackBoxKnowledge(Raw(), 20),
        )
    assert caught[0].filename == __file__


def test_a_process_that_keeps_dying_is_a_mechanism_error_with_an_address(
    membership: Factory,
) -> None:
    class Dies(Raw):
        def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
            os._exit(1)

    with pytest.raises(MechanismError, match=r"its process ended \(exit status 1\)") as caught:
        membership(Dies(), n_jobs=2)._generate_samples(1)
    assert (caught.value.phase, caught.value.index) == ("train", 0)


@pytest.mark.parametrize("attack", [ClosestDistanceMIA(), GroundhogAttack()], ids=str)
def test_a_test_without_trials_says_what_to_give(membership: Factory, attack: Any) -> None:
    model = membership()
    attack.train(model, num_samples=10)
    with (
        pytest.warns(TapasWarning, match="no test trials are remembered"),
        pytest.raises(ThreatModelError, match="give num_samples"),
    ):
        model.test(attack)
