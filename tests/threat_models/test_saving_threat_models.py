"""Threat models survive the disk: no code is stored, and nothing is mixed up."""

import io
import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.datasets import TabularDataset
from tapas.errors import KnowledgeError, MechanismError, ReproducibilityWarning, StoreError
from tapas.generators import Generator, GeneratorFromExecutable, Raw
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AttackerKnowledgeOnGenerator,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    ThreatModel,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)

Factory = Callable[..., Any]


class Foreign(Generator):
    """A generator that tapas does not know."""

    def __init__(self, name: str = "foreign", first: bool = False) -> None:
        self._name = name
        self._first = first

    @property
    def label(self) -> str:
        return self._name

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> Any:
        if self._first:
            return self.dataset.take(range(num_samples))
        return self.dataset.sample(num_samples, random_state=random_state)


def same(first: Any, second: Any) -> bool:
    releases = zip(first[0], second[0], strict=True)
    return all(a.table.same_values(b.table) for a, b in releases) and first[1] == second[1]


@pytest.mark.parametrize("kind", ["membership", "several", "attribute", "exact"])
def test_a_loaded_model_goes_on_as_if_never_saved(
    tmp_path: Path,
    membership: Factory,
    attribute: Factory,
    background: TabularDataset,
    kind: str,
) -> None:
    def build() -> Any:
        if kind == "attribute":
            values = ["good", "fair", "bad"]
            return attribute(attribute="Health", values=values, distribution=[0.5, 0.3, 0.2])
        if kind == "several":
            return membership(targets=[0, 1], generate_pairs=False, replace_target=False)
        if kind == "exact":
            return membership(data=ExactDataKnowledge(background.take(range(30))))
        return membership()

    name = tmp_path / "new" / "folder"
    saved, unbroken = build(), build()
    saved._generate_samples(5)
    saved._generate_samples(3, training=False)
    saved._generate_samples(2, ignore_memory=True)
    unbroken._generate_samples(2, ignore_memory=True)
    saved.save(name)
    loaded = ThreatModel.load(name)
    assert type(loaded) is type(saved)
    assert same(loaded._memory[True], saved._memory[True])
    assert same(loaded._memory[False], saved._memory[False])
    for training in (True, False):
        assert same(
            loaded._generate_samples(9, training=training),
            unbroken._generate_samples(9, training=training),
        )
    assert same(
        loaded._generate_samples(3, ignore_memory=True),
        unbroken._generate_samples(3, ignore_memory=True),
    )
    assert loaded.target_record.label == saved.target_record.label
    assert loaded.atk_know_data.label == saved.atk_know_data.label
    assert loaded.atk_know_gen.label == saved.atk_know_gen.label


def test_saving_again_adds_the_new_trials(tmp_path: Path, membership: Factory) -> None:
    model = membership()
    with pytest.raises(StoreError, match="name"):
        model.save()
    model._generate_samples(2)
    model.save(tmp_path / "m")
    model._generate_samples(5)
    model.save()
    loaded = TargetedMIA.load(tmp_path / "m")
    assert len(loaded._memory[True][0]) == 5
    loaded._generate_samples(6)
    loaded.save()
    assert len(ThreatModel.load(tmp_path / "m")._memory[True][0]) == 6


def test_results_are_those_of_the_saved_model(tmp_path: Path, membership: Factory) -> None:
    model = membership(targets=[0, 1])
    model.save(tmp_path / "m")
    loaded = ThreatModel.load(tmp_path / "m", n_jobs=1)
    for one, two in zip(model, loaded, strict=True):
        summaries = []
        for view in (one, two):
            attack = ClosestDistanceMIA()
            attack.train(view, 10)
            summaries.append(view.test(attack, 10))
        np.testing.assert_array_equal(summaries[0].scores, summaries[1].scores)
        np.testing.assert_array_equal(summaries[0].labels, summaries[1].labels)


def test_saved_trials_can_be_used_without_the_mechanism(
    tmp_path: Path, membership: Factory
) -> None:
    model = membership(Foreign("mine"))
    saved, attack = model._generate_samples(6), ClosestDistanceMIA()
    attack.train(model, 6)
    expected = model.test(attack, 4).scores.tolist()
    model.save(tmp_path / "m")
    loaded = ThreatModel.load(tmp_path / "m")
    assert same(loaded._generate_samples(6), saved)
    attack.train(loaded, 6)
    assert loaded.test(attack, 4).scores.tolist() == expected
    assert loaded.test(attack).generator == "mine"
    for play in (
        lambda: loaded._generate_samples(7),
        lambda: loaded.test(attack, 5),
        lambda: loaded.draw_trial("train", 0),
        lambda: loaded._generate_samples(1, ignore_memory=True),
    ):
        with pytest.raises(MechanismError, match=r"'mine'.*load\(name, generator=\.\.\.\)"):
            play()


def test_a_mechanism_that_is_handed_in_goes_on(tmp_path: Path, membership: Factory) -> None:
    model = membership(Foreign())
    model._generate_samples(3)
    model.save(tmp_path / "m")
    loaded = ThreatModel.load(tmp_path / "m", generator=Foreign())
    assert len(loaded._memory[True][0]) == 3
    assert same(loaded._generate_samples(6), model._generate_samples(6))
    with pytest.raises(StoreError, match="nonsense"):
        ThreatModel.load(tmp_path / "m", generator=Foreign(), nonsense=1)


def test_another_mechanism_does_not_get_the_trials(
    tmp_path: Path, membership: Factory, caplog: pytest.LogCaptureFixture
) -> None:
    class Holds(Foreign):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    model = membership(Foreign())
    model._generate_samples(3)
    model.save(tmp_path / "m")
    loaded = ThreatModel.load(tmp_path / "m", generator=Foreign(first=True))
    assert loaded._memory[True] == ([], [])
    assert "trials there are not used" in caplog.text
    holding = membership(Holds())
    with pytest.warns(ReproducibilityWarning):
        holding._generate_samples(2)
    holding.save(tmp_path / "h")
    assert len(ThreatModel.load(tmp_path / "h")._memory[True][0]) == 2
    assert ThreatModel.load(tmp_path / "h", generator=Holds())._memory[True] == ([], [])
    assert "lock" in caplog.text


def test_a_model_saved_without_its_mechanism_is_still_that_mechanisms(
    tmp_path: Path, membership: Factory
) -> None:
    model = membership(Foreign())
    saved = model._generate_samples(3)
    model.save(tmp_path / "m")
    for place in ("m", "copy"):
        ThreatModel.load(tmp_path / "m").save(tmp_path / place)
        loaded = ThreatModel.load(tmp_path / place, generator=Foreign())
        assert same(loaded._memory[True], saved)
        assert same(loaded._generate_samples(5), model._generate_samples(5))


def test_all_code_can_be_handed_in(
    tmp_path: Path, membership: Factory, background: TabularDataset
) -> None:
    uncertain = membership(knowledge=UncertainBoxKnowledge(Foreign(), 20, dict, {"a": 1}))
    uncertain._generate_samples(2)
    uncertain.save(tmp_path / "u")
    with pytest.raises(MechanismError, match=r"prior=\.\.\."):
        ThreatModel.load(tmp_path / "u", generator=Foreign())._generate_samples(3)
    again = ThreatModel.load(tmp_path / "u", generator=Foreign(), prior=dict)
    assert again.atk_know_gen.final_parameters == {"a": 1}
    assert len(again._memory[True][0]) == 2

    class Draws(AttackerKnowledgeOnData):
        def generate_datasets(self, num_samples: int, training: bool = True) -> list[Any]:
            return [background.sample(30) for _ in range(num_samples)]

    class Releases(AttackerKnowledgeOnGenerator):
        def generate(self, training_dataset: Any, training_mode: bool = True) -> Any:
            return training_dataset.sample(9)

    parts = {"attacker_knowledge_data": Draws(), "attacker_knowledge_generator": Releases()}
    own = membership(data=Draws(), knowledge=Releases())
    own._generate_samples(2)
    own.save(tmp_path / "own")
    for name, error in (
        ("attacker_knowledge_data", KnowledgeError),
        ("attacker_knowledge_generator", MechanismError),
    ):
        others = {other: part for other, part in parts.items() if other != name}
        with pytest.raises(error, match=name):
            ThreatModel.load(tmp_path / "own", **others)._generate_samples(3)
    assert len(ThreatModel.load(tmp_path / "own")._memory[True][0]) == 2
    loaded = ThreatModel.load(tmp_path / "own", **parts)
    assert len(loaded._memory[True][0]) == 2
    assert same(loaded._generate_samples(4), own._generate_samples(4))


def test_boxes_and_programs_are_rebuilt(tmp_path: Path, membership: Factory) -> None:
    program = GeneratorFromExecutable("cat", "kitten", header=True, timeout=3.0)
    boxes = [
        NoBoxKnowledge(Raw(), 7),
        WhiteBoxKnowledge(Raw(), 7),
        BlackBoxKnowledge(program, 40),
    ]
    for number, box in enumerate(boxes):
        membership(knowledge=box).save(tmp_path / str(number))
        loaded = ThreatModel.load(tmp_path / str(number)).atk_know_gen
        assert type(loaded) is type(box)
        assert loaded.label == box.label
        assert loaded.num_synthetic_records == box.num_synthetic_records
    assert loaded.generator.header is True
    assert loaded.generator.timeout == 3.0


def test_the_kind_of_model_is_checked(tmp_path: Path, membership: Factory) -> None:
    membership().save(tmp_path / "m")
    with pytest.raises(StoreError, match="TargetedMIA, which is not a TargetedAIA"):
        TargetedAIA.load(tmp_path / "m")


@pytest.mark.parametrize("inline", [0, 1 << 20])
def test_nothing_is_pickled(
    tmp_path: Path, membership: Factory, inline: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.engine._folder_store.LARGEST_INLINE", inline)
    model = membership(Foreign())
    model._generate_samples(2)
    model.save(tmp_path / "m")
    files = [path for path in (tmp_path / "m").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} - {".npz"} == {".json", ".sqlite"}
    contents = [path.read_bytes() for path in files if path.suffix == ".npz"]
    with closing(sqlite3.connect(tmp_path / "m" / "index.sqlite")) as index:
        contents += [blob for (blob,) in index.execute("SELECT content FROM entries") if blob]
    assert len(contents) == 3 + 2 * 2 + 1  # tables, trials with their data, versions
    for content in contents:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            assert all(array.dtype != object for array in arrays.values())


def test_a_missing_or_foreign_folder_is_named(tmp_path: Path, membership: Factory) -> None:
    with pytest.raises(StoreError, match="nowhere"):
        ThreatModel.load(tmp_path / "nowhere")
    membership().save(tmp_path / "m")
    manifest = tmp_path / "m" / "threat-model.json"
    content = json.loads(manifest.read_text())
    for damaged, words in (
        ("{", "damaged"),
        (json.dumps(content | {"format": 99}), "99"),
        (json.dumps(content | {"kind": "Other"}), "'Other'"),
        (json.dumps({k: v for k, v in content.items() if k != "seed"}), "'seed'"),
    ):
        manifest.write_text(damaged)
        with pytest.raises(StoreError, match=words):
            ThreatModel.load(tmp_path / "m")


def test_only_the_known_threat_models_are_saved(tmp_path: Path, membership: Factory) -> None:
    class Mine(TargetedMIA):
        pass

    model = membership()
    model.__class__ = Mine
    with pytest.raises(StoreError, match="Mine"):
        model.save(tmp_path / "m")
