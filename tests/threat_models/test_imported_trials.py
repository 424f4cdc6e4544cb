"""Releases that somebody else made, with a table of their secrets, are trials like others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.attacks import (
    DOMIAS,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    GroundhogAttack,
    TrainableThresholdAttack,
)
from tapas.datasets import TabularDataset
from tapas.errors import IncompatibleAttackError, SchemaError, ThreatModelError
from tapas.threat_models import ImportedAIA, ImportedMIA

Factory = Callable[..., Any]
TRAIN, TEST = 12, 10


def exported(model: Any, folder: Path, *, parquet: bool = True) -> pd.DataFrame:
    """Write the trials of a threat model as somebody else would; one as Parquet."""
    rows = []
    for phase, count in (("train", TRAIN), ("test", TEST)):
        for index in range(count):
            trial = model.draw_trial(phase, index)
            name = f"{phase}-{index}.csv"
            frame = trial.release.data.data
            if parquet and index == 1:
                name = f"{phase}-{index}.parquet"
                frame.to_parquet(folder / name)
            else:
                frame.to_csv(folder / name, index=False)
            labels = {str(target): secret for target, secret in enumerate(trial.secrets.tolist())}
            rows.append({"file": name, "phase": phase, "group": trial.group, **labels})
    return pd.DataFrame(rows)


def outcome(model: Any, attack: Any) -> Any:
    attack.train(model, TRAIN)
    summary = model.test(attack, TEST)
    return [
        np.asarray(summary.scores).tolist(),
        summary.predictions.tolist(),
        summary.labels.tolist(),
        summary.groups.tolist(),
        summary.target_id,
    ]


@pytest.fixture
def made(membership: Factory) -> Any:
    return membership(targets=[0, 1])


@pytest.fixture
def labels(made: Any, tmp_path: Path) -> pd.DataFrame:
    return exported(made, tmp_path)


@pytest.fixture
def people_asked(people: TabularDataset) -> TabularDataset:
    return people.get_records([0, 1])


def imported(folder: Path, labels: Any, targets: Any, **options: Any) -> ImportedMIA:
    return ImportedMIA(folder, labels, targets, seed=3, n_jobs=1, **options)


# -- the same results ----------------------------------------------------------------------------


def test_results_are_those_of_the_threat_model_that_made_the_releases(
    tmp_path: Path, made: Any, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    model = imported(tmp_path, labels, people_asked)
    assert len(model) == 2
    for mine, theirs in zip(model, made, strict=True):
        assert outcome(mine, ClosestDistanceMIA()) == outcome(theirs, ClosestDistanceMIA())
        fixed = ("threshold", 0)
        assert outcome(mine, ClosestDistanceMIA(criterion=fixed)) == outcome(
            theirs, ClosestDistanceMIA(criterion=fixed)
        )


def test_attribute_inference_is_imported_as_well(
    tmp_path: Path, attribute: Factory, people_asked: TabularDataset
) -> None:
    values = ["good", "fair", "bad"]
    made = attribute(attribute="Health", values=values, targets=[0, 1])
    exported(made, tmp_path).to_csv(tmp_path / "labels.csv", index=False)
    model = ImportedAIA(
        tmp_path, tmp_path / "labels.csv", people_asked, "Health", values, seed=3, n_jobs=1
    )
    for mine, theirs in zip(model, made, strict=True):
        assert outcome(mine, ClosestDistanceAIA()) == outcome(theirs, ClosestDistanceAIA())
    briefing = model.briefing(all_targets=True)
    assert briefing.targets.data["Health"].isna().all()
    assert (model.game.goal.attribute, model.game.relation) == ("Health", "replace")


def test_secrets_that_are_numbers_stay_numbers(tmp_path: Path, numbered: TabularDataset) -> None:
    numbered.take(range(5)).data.to_csv(tmp_path / "r.csv", index=False)
    table = pd.DataFrame({"file": ["r.csv"] * 4, "phase": ["train", "test"] * 2})
    table["7"] = [0.25, 7.5, 7.5, 0.25]
    target = numbered.get_records([7])
    model = ImportedAIA(tmp_path, table, target, "half", [0.25, 7.5], independent=True, seed=0)
    assert model._generate_samples(2)[1] == [0.25, 7.5]
    assert model._generate_samples(2, training=False)[1] == [7.5, 0.25]


def test_labels_may_be_a_frame_a_csv_or_a_parquet_file(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    labels.to_csv(tmp_path / "labels.csv", index=False)
    labels.to_parquet(tmp_path / "labels.parquet")
    found = [
        imported(tmp_path, given, people_asked)._generate_samples(TRAIN)[1]
        for given in (labels, tmp_path / "labels.csv", str(tmp_path / "labels.parquet"))
    ]
    assert found[0] == found[1] == found[2]
    assert set(found[0]) == {True, False}


@pytest.mark.parametrize(
    "words", [("1", "0"), ("true", "False"), ("YES", "no"), (1.0, 0.0), (True, False), (1, 0)]
)
def test_membership_is_said_in_many_ways(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset, words: Any
) -> None:
    expected = labels["0"][labels["phase"] == "train"].tolist()
    spelt = labels.assign(**{"0": [words[0] if inside else words[1] for inside in labels["0"]]})
    assert imported(tmp_path, spelt, people_asked)._generate_samples(TRAIN)[1] == expected


def test_one_target_may_be_asked_about_of_several(
    tmp_path: Path, made: Any, labels: pd.DataFrame, people: TabularDataset
) -> None:
    model = imported(tmp_path, labels, people.get_records([1]))
    theirs = list(made)[1]
    assert outcome(model, ClosestDistanceMIA()) == outcome(theirs, ClosestDistanceMIA())
    assert model.target_record.id == 1


# -- groups, attacks and memory ------------------------------------------------------------------


def test_groups_are_those_of_the_labels_or_none(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    fixed = ClosestDistanceMIA(criterion=("threshold", 0))
    named = labels.assign(group=[f"day {group}" for group in labels["group"]])
    summary = imported(tmp_path, named, people_asked).test(fixed)
    sizes = np.bincount(summary.groups)
    assert sizes[sizes > 0].tolist() == [2] * (TEST // 2)
    silent = labels.drop(columns="group")
    with pytest.raises(ThreatModelError, match="add a column group"):
        imported(tmp_path, silent, people_asked)
    alone = imported(tmp_path, silent, people_asked, independent=True).test(fixed)
    assert len(set(alone.groups.tolist())) == TEST


def test_without_a_number_all_releases_are_used(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    model, attack = imported(tmp_path, labels, people_asked), ClosestDistanceMIA()
    attack.train(model)
    assert len(model.test(attack)) == TEST
    assert len(model.test(attack, 4)) == 4


def test_many_kinds_of_attack_play(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset, background: Any
) -> None:
    class Looks(TrainableThresholdAttack):
        def attack_score(self, datasets: Any) -> np.ndarray:
            target = self.threat_model.target_record  # type: ignore[union-attr]
            return np.array([float(target in dataset) for dataset in datasets])

    model = imported(tmp_path, labels, people_asked, auxiliary=background, label="theirs")
    for attack in (Looks(), GroundhogAttack(), DOMIAS()):
        attack.train(model, TRAIN)
        summary = model.test(attack, TEST)
        assert (len(summary), summary.generator) == (TEST, "theirs")
    with pytest.raises(IncompatibleAttackError, match="reference"):
        DOMIAS().train(imported(tmp_path, labels, people_asked), TRAIN)


def test_releases_are_read_once(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    model, attack = imported(tmp_path, labels, people_asked), ClosestDistanceMIA()
    attack.train(model, TRAIN)
    for path in tmp_path.glob("train-*"):
        path.unlink()
    attack.train(model, TRAIN)


def test_a_game_is_the_content_of_its_files(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    def digest(table: pd.DataFrame = labels) -> str:
        return imported(tmp_path, table, people_asked).game.spec.digest

    before = digest()
    assert digest() == before
    assert digest(labels.assign(**{"0": 1 - labels["0"].astype(int)})) != before
    (tmp_path / "train-0.csv").write_bytes((tmp_path / "train-2.csv").read_bytes())
    assert digest() != before


# -- errors --------------------------------------------------------------------------------------


def test_more_trials_than_there_are_is_a_clear_error(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    model, attack = imported(tmp_path, labels, people_asked), ClosestDistanceMIA()
    with pytest.raises(ThreatModelError, match="13 train trials were asked for, but there are 12"):
        attack.train(model, TRAIN + 1)
    attack.train(model, TRAIN)
    with pytest.raises(ThreatModelError, match=r"11 test trials.*there are 10: ask for fewer"):
        model.test(attack, TEST + 1)
    with pytest.raises(ThreatModelError, match="10 test trials"):
        model.draw_trial("test", TEST)
    one = imported(tmp_path, labels.iloc[[0, 1, TRAIN]], people_asked)
    with pytest.raises(ThreatModelError, match="5 test trials were asked for, but there are 1"):
        one._generate_samples(5, training=False)


def test_without_training_releases_only_fixed_thresholds_fit(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    model = imported(tmp_path, labels[labels["phase"] == "test"], people_asked)
    with pytest.raises(IncompatibleAttackError, match="threshold"):
        ClosestDistanceMIA().train(model, TRAIN)
    with pytest.raises(ThreatModelError, match="0 train releases"):
        model.generate_training_samples(2)
    assert len(model.test(ClosestDistanceMIA(criterion=("threshold", 0)))) == TEST


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"file": "gone.csv"}, r"not there: .*gone\.csv"),
        ({"phase": "trial"}, "phase must be 'train' or 'test', got 'trial'"),
        ({"1": "perhaps"}, "'perhaps' in column '1'"),
    ],
)
def test_what_is_wrong_in_the_labels_is_named(
    tmp_path: Path,
    labels: pd.DataFrame,
    people_asked: TabularDataset,
    change: dict[str, str],
    words: str,
) -> None:
    wrong = labels.astype(object)
    for column, value in change.items():
        wrong.loc[3, column] = value
    with pytest.raises((ThreatModelError, SchemaError), match=words):
        imported(tmp_path, wrong, people_asked)


@pytest.mark.parametrize("column", ["file", "phase", "0", "1"])
def test_missing_columns_are_named(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset, column: str
) -> None:
    with pytest.raises(ThreatModelError, match=f"lack the columns '{column}'"):
        imported(tmp_path, labels.drop(columns=column), people_asked)


def test_labels_that_cannot_be_read_are_named(tmp_path: Path, people_asked: Any) -> None:
    with pytest.raises(ThreatModelError, match=r"nowhere\.csv cannot be read"):
        imported(tmp_path, tmp_path / "nowhere.csv", people_asked)


def test_a_value_that_is_none_of_the_attributes_is_named(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset
) -> None:
    with pytest.raises(SchemaError, match=r"column '0'.*'female', 'male'"):
        ImportedAIA(tmp_path, labels, people_asked, "Sex", ["female", "male"])


@pytest.mark.parametrize("wrong", ["column", "category"])
def test_a_release_that_does_not_fit_the_targets_is_named(
    tmp_path: Path, labels: pd.DataFrame, people_asked: TabularDataset, wrong: str
) -> None:
    file = tmp_path / "train-2.csv"
    frame = pd.read_csv(file, dtype=str)
    changed = frame.drop(columns="Sex") if wrong == "column" else frame.assign(Sex="robot")
    changed.to_csv(file, index=False)
    with pytest.raises(SchemaError, match=r"train-2\.csv: .*Sex"):
        imported(tmp_path, labels, people_asked)._generate_samples(TRAIN)


@pytest.mark.parametrize(
    ("attribute", "values"), [("Height", ["a", "b"]), ("Sex", ["male"]), ("Sex", ["male", "robot"])]
)
def test_questions_that_make_no_sense_are_refused(
    tmp_path: Path, labels: Any, people_asked: TabularDataset, attribute: str, values: Any
) -> None:
    with pytest.raises(ThreatModelError, match=r"column|at least two|robot"):
        ImportedAIA(tmp_path, labels, people_asked, attribute, values)
