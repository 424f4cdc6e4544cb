"""Accuracy on members and others against counts made by hand."""

import numpy as np
import pytest

from tapas.errors import ConfigError
from tapas.results import AuditedSubject, AuditRecord, Gate, decide, performance_table
from tapas.stats import advantage_interval

TRUTH = np.array(["x", "x", "y", "y", "x", "x", "x", "y"])
SAID = np.array(["x", "x", "y", "y", "x", "y", "y", "y"])
INSIDE = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)


def test_accuracies_gap_precision_and_recall_are_those_counted_by_hand() -> None:
    table = performance_table(TRUTH, SAID, INSIDE, {"side": np.arange(8) % 2})
    assert table["slice"].tolist() == ["all", "class", "class", "side", "side"]
    assert table["train_accuracy"].tolist() == [1, 1, 1, 1, 1]
    np.testing.assert_allclose(table["test_accuracy"], [1 / 2, 1 / 3, 1, 1 / 2, 1 / 2])
    np.testing.assert_allclose(table["gap"], [1 / 2, 2 / 3, 0, 1 / 2, 1 / 2])
    np.testing.assert_allclose(table["precision"][:3], [(1 + 1 / 3) / 2, 1, 1 / 3])
    np.testing.assert_allclose(table["recall"][:3], [(1 / 3 + 1) / 2, 1 / 3, 1])
    for name in ("train_accuracy", "test_accuracy", "gap"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()


def test_a_part_without_others_has_no_accuracy_among_them() -> None:
    table = performance_table(TRUTH[:5], SAID[:5], INSIDE[:5])
    lonely = table[table["value"] == "y"].iloc[0]
    assert np.isnan(lonely["test_accuracy"])
    assert np.isnan(lonely["gap"])
    assert (lonely["gap_low"], lonely["gap_high"]) == (-1, 1)


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
