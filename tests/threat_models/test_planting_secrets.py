"""Secrets are planted as promised, and nothing but the release tells them."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tapas.datasets import TabularDataset
from tapas.errors import SchemaError, TapasWarning, TargetInDataWarning, ThreatModelError
from tapas.game import Address
from tapas.threat_models import (
    AIALabeller,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    MIALabeller,
    TargetedMIA,
)

Factory = Callable[..., Any]


def rows(dataset: TabularDataset) -> Counter[bytes]:
    return Counter(row.tobytes() for row in dataset.table.codes.astype(np.int64))


def test_the_secret_is_whether_the_target_is_in(
    membership: Factory, recorder: Any, people: TabularDataset
) -> None:
    for pairs in (True, False):
        for replace in (True, False):
            recorder.given.clear()
            model = membership(
                recorder, targets=[0, 1], generate_pairs=pairs, replace_target=replace
            )
            model._generate_samples(9)
            _, secrets = model._memory[True]
            for dataset, secret in zip(recorder.given, secrets, strict=True):
                inside = [people.get_records([i]) in dataset for i in (0, 1)]
                assert inside == secret
                assert len(dataset) == 40 + (0 if replace else sum(inside))


@pytest.mark.parametrize("replace", [True, False])
def test_pairs_mirror_every_secret_and_share_the_background(
    membership: Factory, recorder: Any, people: TabularDataset, replace: bool
) -> None:
    model = membership(recorder, targets=[0, 1, 2], replace_target=replace)
    model._generate_samples(10)
    secrets = np.array(model._memory[True][1])
    targets = rows(people.get_records([0, 1, 2]))
    for j in range(5):
        assert (secrets[2 * j] ^ secrets[2 * j + 1]).all()
        assert model.draw_trial("train", 2 * j).group == j
        assert model.draw_trial("train", 2 * j + 1).group == j
        one, two = (rows(recorder.given[2 * j + i]) - targets for i in (0, 1))
        if replace:
            assert sum((one | two).values()) == 40
            assert sum((one & two).values()) == 40 - 3
        else:
            assert one == two


def test_without_pairs_backgrounds_and_groups_differ(membership: Factory) -> None:
    model = membership(generate_pairs=False)
    assert [model.draw_trial("test", index).group for index in range(5)] == [0, 1, 2, 3, 4]


def test_coins_are_fair_and_independent(membership: Factory) -> None:
    model = membership(targets=[0, 1], generate_pairs=False)
    secrets = np.array(
        [model.atk_know_data.draw_labelled(Address(3, "test", i))[1] for i in range(600)]
    )
    counts = np.bincount(secrets @ [1, 2], minlength=4)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_backgrounds_of_one_pass_are_disjoint(membership: Factory, recorder: Any) -> None:
    model = membership(recorder, generate_pairs=False, replace_target=True)
    model._generate_samples(6)
    blocks = len(model.atk_know_data.attacker_knowledge.aux_data) // 40
    assert blocks == 3
    for start in (0, 3):
        together = sum((rows(dataset) for dataset in recorder.given[start : start + 3]), Counter())
        targets = rows(model.target_record)
        assert max((together - targets - targets - targets).values()) == 1
    assert rows(recorder.given[0]) != rows(recorder.given[3])


def test_training_uses_auxiliary_and_tests_use_test_rows(
    membership: Factory, recorder: Any
) -> None:
    model = membership(recorder)
    knowledge = model.atk_know_data.attacker_knowledge
    for training, pool in ((True, knowledge.aux_data), (False, knowledge.test_data)):
        recorder.given.clear()
        model._generate_samples(6, training=training)
        allowed = rows(pool) + rows(model.target_record)
        assert all(not rows(dataset) - allowed for dataset in recorder.given)


@pytest.mark.parametrize("kind", ["membership", "attribute"])
def test_exact_knowledge_leaves_nothing_unknown_but_the_secret(
    membership: Factory,
    attribute: Factory,
    background: TabularDataset,
    recorder: Any,
    kind: str,
) -> None:
    data = ExactDataKnowledge(background.take(range(30)))
    model = (membership if kind == "membership" else attribute)(recorder, data=data, size=20)
    model._generate_samples(10)
    model._generate_samples(10, training=False)
    model._generate_samples(4, ignore_memory=True)
    tables = {frozenset(rows(dataset).items()) for dataset in recorder.given}
    assert len(recorder.given) >= 24
    assert len(tables) == 2
    assert {len(dataset) for dataset in recorder.given} == {30}
    assert data.label == f"{background.label} (EXACT)"


def test_exact_knowledge_with_added_targets_has_two_tables_too(
    membership: Factory, background: TabularDataset, recorder: Any
) -> None:
    data = ExactDataKnowledge(background.take(range(30)))
    model = membership(recorder, data=data, replace_target=False)
    model._generate_samples(8)
    sizes = {len(dataset) for dataset in recorder.given}
    assert sizes == {30, 31}
    assert len({frozenset(rows(dataset).items()) for dataset in recorder.given}) == 2
    assert len({dataset.table.codes.tobytes() for dataset in recorder.given}) > 2


def side_channels(dataset: TabularDataset, target: TabularDataset) -> list[float]:
    """All that a careless planting could betray, beside the values of the rows."""
    here = dataset.table.matches(target.table)
    frame = dataset.data
    labels = frame.index
    return [
        len(frame),
        here[0],
        here[-1],
        labels.is_unique,
        labels.is_monotonic_increasing,
        labels[0],
        labels[-1],
        labels.to_numpy().mean(),
        *(hash(str(dtype)) % 1000 for dtype in frame.dtypes),
        dataset.table.codes.dtype.itemsize,
    ]


@pytest.mark.parametrize("pairs", [True, False])
def test_position_labels_types_and_sizes_do_not_tell_members(
    membership: Factory, recorder: Any, pairs: bool
) -> None:
    from sklearn.tree import DecisionTreeClassifier

    model = membership(recorder, generate_pairs=pairs)
    features, secrets = {}, {}
    for training, count in ((True, 120), (False, 150)):
        recorder.given.clear()
        _, labels = model._generate_samples(count, training=training)
        seen = recorder.given[:count]
        features[training] = [side_channels(dataset, model.target_record) for dataset in seen]
        secrets[training] = np.array(labels, dtype=bool)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    tree.fit(features[True], secrets[True])
    right = int((tree.predict(features[False]) == secrets[False]).sum())
    low, high = stats.binom.ppf([5e-4, 1 - 5e-4], 150, 0.5)
    assert low <= right <= high


@pytest.mark.parametrize("replace", [True, False])
def test_the_targets_place_is_uniform(membership: Factory, recorder: Any, replace: bool) -> None:
    model = membership(recorder, replace_target=replace, generate_pairs=False)
    model._generate_samples(400)
    target = model.target_record.table
    places = [
        float(np.flatnonzero(dataset.table.matches(target))[0]) / len(dataset)
        for dataset in recorder.given[:400]
        if dataset.table.matches(target).any()
    ]
    assert len(places) > 150
    assert stats.kstest(places, "uniform").pvalue > 1e-4


def test_types_and_labels_are_alike_in_both_worlds(membership: Factory, recorder: Any) -> None:
    model = membership(recorder, replace_target=False)
    model._generate_samples(6)
    assert len({tuple(map(str, dataset.data.dtypes)) for dataset in recorder.given}) == 1
    for dataset in recorder.given:
        assert dataset.data.index.tolist() == list(range(len(dataset)))


def test_releases_carry_no_row_labels(membership: Factory) -> None:
    releases, _ = membership()._generate_samples(4)
    assert all(release.data.index.tolist() == list(range(20)) for release in releases)


# -- attribute inference ------------------------------------------------------------------------


def test_the_target_holds_the_planted_value(
    attribute: Factory, recorder: Any, people: TabularDataset
) -> None:
    values = ["single", "married", "divorced"]
    model = attribute(recorder, attribute="Marital Status", values=values, targets=[0, 1])
    model._generate_samples(12)
    seen = set()
    for dataset, secrets in zip(recorder.given, model._memory[True][1], strict=False):
        assert len(dataset) == 40
        for position, value in enumerate(secrets):
            target = people.take([position])
            planted = TabularDataset.from_table(
                target.table.with_value("Marital Status", value), target.description
            )
            assert planted in dataset
            seen.add(str(value))
    assert seen == set(values)


@pytest.mark.parametrize("distribution", [None, [0.7, 0.2, 0.1], [0.5, 0.0, 0.5]])
def test_the_prior_of_the_value_is_honoured(attribute: Factory, distribution: Any) -> None:
    values = ["good", "fair", "bad"]
    model = attribute(attribute="Health", values=values, distribution=distribution)
    drawn = [model.atk_know_data.draw_labelled(Address(3, "test", i))[1][0] for i in range(800)]
    counts = np.array([drawn.count(value) for value in values])
    expected = 800 * np.array(distribution or [1 / 3] * 3)
    possible = expected > 0
    assert counts[~possible].sum() == 0
    assert stats.chisquare(counts[possible], expected[possible]).pvalue > 1e-4
    assert model.game.commonest_share == pytest.approx(expected.max() / 800)


def test_the_briefing_hides_the_recorded_value(attribute: Factory, people: TabularDataset) -> None:
    model = attribute(targets=[0, 1])
    for briefing in (model.briefing(all_targets=True), *(view.briefing() for view in model)):
        assert briefing.targets.data["Sex"].isna().all()
        assert briefing.targets.data.drop(columns="Sex").notna().all().all()
        assert (briefing.goal.kind, briefing.attribute) == ("attribute", "Sex")
        assert briefing.attribute_values == ("female", "male")
    assert len(model.briefing(all_targets=True).targets) == 2
    assert model.target_record.data["Sex"].notna().all()


def test_numbers_can_be_the_sensitive_attribute(numbered: TabularDataset) -> None:
    labeller = AIALabeller(
        AuxiliaryDataKnowledge(numbered.drop_records([0]), num_training_records=20, seed=0),
        numbered.get_records([0]),
        "half",
        [0.25, 7.5],
    )
    datasets, labels = labeller.generate_datasets_with_label(10)
    assert set(labels) == {0.25, 7.5}
    for dataset, label in zip(datasets, labels, strict=True):
        frame = dataset.data
        assert frame.loc[frame["number"] == 0, "half"].tolist() == [label]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attribute": "Height"}, "'Height'"),
        ({"values": ["male"]}, "at least two"),
        ({"values": ["male", "male"]}, "different"),
        ({"distribution": [0.5, 0.6]}, "sum to 1"),
        ({"distribution": [1.5, -0.5]}, "non-negative"),
        ({"distribution": [1.0]}, "2 non-negative"),
    ],
)
def test_impossible_questions_are_refused(
    attribute: Factory, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ThreatModelError, match=words):
        attribute(**options)


# -- labellers and warnings ---------------------------------------------------------------------


def test_labellers_give_datasets_and_labels(
    background: TabularDataset, people: TabularDataset
) -> None:
    data = AuxiliaryDataKnowledge(background, num_training_records=2, seed=0)
    target = people.get_records([0])
    for replace in (True, False):
        labeller = MIALabeller(data, target, replace_target=replace)
        for count in (1, 2, 5, 8):
            datasets, labels = labeller.generate_datasets_with_label(count, training=False)
            assert len(datasets) == len(labels) == count
            for dataset, label in zip(datasets, labels, strict=True):
                assert isinstance(label, np.bool_)
                assert len(dataset) == (2 if replace or not label else 3)
                assert (target in dataset) == label
    _, labels = MIALabeller(data, people.get_records([0, 1])).generate_datasets_with_label(4)
    assert all(isinstance(label, list) and len(label) == 2 for label in labels)


def test_a_target_in_the_data_is_named_in_a_warning(people: TabularDataset) -> None:
    data = AuxiliaryDataKnowledge(people, num_training_records=40, seed=0)
    targets = people.get_records([7, 2])
    with pytest.warns(TargetInDataWarning, match=r"'7', '2'"):
        TargetedMIA(data, targets, BlackBoxKnowledge(None, 20))


def test_a_release_without_fixed_size_warns(membership: Factory) -> None:
    with pytest.warns(TapasWarning, match="size"):
        membership(size=None, replace_target=False)
    membership(size=None, replace_target=True)


def test_more_targets_than_rows_are_refused(
    membership: Factory, background: TabularDataset
) -> None:
    data = AuxiliaryDataKnowledge(background, num_training_records=2, seed=0)
    with pytest.raises(ThreatModelError, match="3 targets"):
        membership(data=data, targets=[0, 1, 2])._generate_samples(2)


def test_targets_of_another_description_are_refused(
    background: TabularDataset, people: TabularDataset
) -> None:
    data = AuxiliaryDataKnowledge(background.view(["Sex", "Age"]), num_training_records=2)
    with pytest.raises((ThreatModelError, SchemaError), match="descriptions"):
        TargetedMIA(data, people.get_records([0]), BlackBoxKnowledge(None, 20))
    for wrong in (people.empty(), people.data, []):
        with pytest.raises(ThreatModelError, match="target_record"):
            TargetedMIA(data, wrong, BlackBoxKnowledge(None, 20))  # type: ignore[arg-type]
