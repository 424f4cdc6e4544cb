"""Accuracy on members and others against counts made by hand."""

import numpy as np
import pytest

from tapas.errors import ConfigError
from tapas.results import Gate, performance_table

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


def test_a_limit_on_the_gap_has_the_range_of_a_share() -> None:
    with pytest.raises(ConfigError, match="at most 1"):
        Gate("accuracy_gap", 10)
