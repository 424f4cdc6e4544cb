"""Accuracy on members and others against counts made by hand."""

import numpy as np
import pytest

from tapas.cli._outputs import verdict_values
from tapas.errors import ConfigError
from tapas.results import AuditedSubject, AuditRecord, Gate, decide, performance_table, with_ratio
from tapas.stats import advantage_interval, clopper_pearson

TRUTH = np.array(["x", "x", "y", "y", "x", "x", "x", "y"])
SAID = np.array(["x", "x", "y", "y", "x", "y", "y", "y"])
INSIDE = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)


def test_accuracies_gap_precision_and_recall_are_those_counted_by_hand() -> None:
    table = performance_table(TRUTH, SAID, INSIDE, {"side": np.arange(8) % 2})
    assert table["slice"].tolist() == ["all", "class", "class", "side", "side"]
    assert table["train_accuracy"].tolist() == [1, 1, 1, 1, 1]
    np.testing.assert_allclose(table["test_accuracy"], [1 / 2, 1 / 3, 1, 1 / 2, 1 / 2])
    np.testing.assert_allclose(table["gap"], [1 / 2, 2 / 3, 0, 1 / 2, 1 / 2])
    np.testing.assert_allclose(table["ratio"], [2, 3, 1, 2, 2])
    np.testing.assert_allclose(table["precision"][:3], [(1 + 1 / 3) / 2, 1, 1 / 3])
    np.testing.assert_allclose(table["recall"][:3], [(1 / 3 + 1) / 2, 1 / 3, 1])
    for name in ("train_accuracy", "test_accuracy", "gap", "ratio"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()


def test_a_part_without_others_has_no_accuracy_among_them() -> None:
    table = performance_table(TRUTH[:5], SAID[:5], INSIDE[:5])
    lonely = table[table["value"] == "y"].iloc[0]
    assert np.isnan(lonely["test_accuracy"])
    assert np.isnan(lonely["gap"])
    assert (lonely["gap_low"], lonely["gap_high"]) == (-1, 1)
    assert np.isnan(lonely["ratio"])
    assert lonely["ratio_high"] == np.inf


def test_the_ratio_lies_within_what_both_accuracies_allow_and_can_be_limited() -> None:
    """190 of 200 right inside, 120 of 200 outside; all of one class, so one part."""
    members = np.arange(400) < 200
    predicted = np.where(np.arange(400) % 200 < np.where(members, 190, 120), 0, 1)
    table = performance_table(np.zeros(400), predicted, members)
    level = 1 - 0.05 / 3
    train, test = (clopper_pearson(right, 200, level) for right in (190, 120))
    assert table["ratio"][0] == pytest.approx(190 / 120)
    assert table["ratio_low"][0] == pytest.approx(train[0] / test[1])
    assert table["ratio_high"][0] == pytest.approx(train[1] / test[0])
    stored = AuditedSubject("model", performance=table.to_dict("list"))
    record = AuditRecord.from_json(AuditRecord("t", {}, "f", 0, (stored,)).to_json())
    train, test = (clopper_pearson(right, 200, 0.975) for right in (190, 120))
    low, high = train[0] / test[1], train[1] / test[0]
    gates = [Gate("accuracy_ratio", x) for x in (low - 0.01, 1.5, high + 0.01)]
    outcomes = decide(record, gates).outcomes
    assert [outcome.state for outcome in outcomes] == ["fail", "inconclusive", "pass"]
    assert (outcomes[0].low, outcomes[0].high) == pytest.approx((low, high))


def test_a_model_that_is_never_right_about_others_has_no_highest_ratio() -> None:
    truth, members = np.arange(40) % 2, np.arange(40) < 20
    table = performance_table(truth, np.where(members, truth, 1 - truth), members)
    assert (table["ratio"][0], table["ratio_high"][0]) == (np.inf, np.inf)
    subject = AuditedSubject("model", performance=table.to_dict("list"))
    record = AuditRecord.from_json(AuditRecord("t", {}, "f", 0, (subject,)).to_json())
    (rows,) = verdict_values(record, decide(record))["performance"].values()
    assert (rows[0]["ratio"], rows[0]["ratio_high"]) == (None, None)
    assert rows[0]["ratio_low"] == pytest.approx(table["ratio_low"][0])
    (outcome,) = decide(record, [Gate("accuracy_ratio", 2.0)]).outcomes
    assert (outcome.state, outcome.high) == ("fail", np.inf)
    old = {name: values for name, values in table.to_dict("list").items() if "ratio" not in name}
    assert with_ratio(old)["ratio_low"][0] == table["ratio_low"][0]


def test_a_limit_on_the_gap_has_its_own_confidence() -> None:
    rng = np.random.default_rng(0)
    members = np.arange(400) % 2 == 0
    truth = np.zeros(400)
    predicted = np.where(rng.random(400) < np.where(members, 0.9, 0.7), 0, 1)
    table = performance_table(truth, predicted, members)
    subject = AuditedSubject("model", performance=table.to_dict("list"))
    record = AuditRecord("t", {}, "f", 0, (subject,))
    right = np.asarray(predicted == truth)
    counts = [int(n) for side in (members, ~members) for n in (right[side].sum(), side.sum())]
    for confidence in (0.5, 0.95, 0.999):
        outcome = decide(record, [Gate("accuracy_gap", 0.1, confidence=confidence)]).outcomes[0]
        found = advantage_interval(*counts, confidence=confidence)
        assert (outcome.low, outcome.high) == (found.low, found.high)


def test_a_limit_on_the_gap_has_the_range_of_a_share() -> None:
    with pytest.raises(ConfigError, match="at most 1"):
        Gate("accuracy_gap", 10)


def test_a_model_that_says_other_classes_only_has_no_precision() -> None:
    table = performance_table(TRUTH, np.full(8, "z"), INSIDE)
    assert table["precision"].isna().all()
    assert table["recall"][0] == 0
