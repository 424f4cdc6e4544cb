"""Summaries survive a round trip through JSON and Parquet, and nothing else is read."""

import json

import numpy as np
import pandas as pd
import pytest

from tapas.errors import StoreError
from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    MIAttackSummary,
)

SCORES = [0.1 + 0.2, -np.inf, np.inf, 1e-300]
SUMMARIES = {
    "label": LabelInferenceAttackSummary(["x", "y"], ["x", "x"]),
    "binary": BinaryLabelInferenceAttackSummary([2, 1], [2, 2], positive_label=2),
    "membership": MIAttackSummary(
        [1, 0, 1, 0],
        [1, 1, 0, 0],
        SCORES,
        "g/é",
        "a",
        "d",
        3,
        groups=[0, 0, 1, 1],
        relation="add/remove",
    ),
    "no scores": MIAttackSummary([1, 0], [1, 1]),
    "attribute": BinaryAIAttackSummary(
        ["M", "F", "M"], ["M", "F", "F"], [1, 2, 3], "g", "a", "d", "t", "Sex", "M"
    ),
    "many": AIAttackSummary(
        ["b", "a", "c"],
        ["b", "a", "a"],
        np.eye(3),
        sensitive_attribute="R",
        attribute_values=("b", "a", "c"),
    ),
    "many integers": AIAttackSummary([3, 1, 2], [3, 1, 1], np.eye(3) / 3),
}


def same(one, other):
    assert type(one) is type(other)
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        if name == "positive_label":  # labels are stored as 0/1
            continue
        if isinstance(value, np.ndarray):
            assert value.dtype == getattr(other, name).dtype
            np.testing.assert_array_equal(value, getattr(other, name))
        else:
            assert value == getattr(other, name), name
    pd.testing.assert_frame_equal(one.get_metrics(), other.get_metrics())


@pytest.mark.parametrize("name", SUMMARIES)
def test_json_round_trip(name, tmp_path):
    summary = SUMMARIES[name]
    if name == "membership":
        assert "NaN" not in summary.to_json()
    same(summary, AttackSummary.from_json(summary.to_json()))
    summary.to_json(tmp_path / "deep" / "summary.json")
    same(summary, type(summary).from_json(tmp_path / "deep" / "summary.json"))
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["summary.json"]


@pytest.mark.parametrize("name", SUMMARIES)
def test_parquet_round_trip(name, tmp_path):
    pytest.importorskip("pyarrow")
    summary = SUMMARIES[name]
    path = summary.to_parquet(tmp_path / "deep" / "summary.parquet")
    same(summary, AttackSummary.from_parquet(path))


def test_json_is_strict(tmp_path):
    def refuse(constant):
        raise ValueError(constant)

    json.loads(SUMMARIES["membership"].to_json(), parse_constant=refuse)


@pytest.mark.parametrize("text", ["{}", "{broken", '{"format": "other"}'])
def test_other_text_is_refused(text):
    with pytest.raises(StoreError):
        AttackSummary.from_json(text)


def test_a_newer_format_is_refused():
    text = SUMMARIES["label"].to_json().replace('"version": 2', '"version": 99')
    with pytest.raises(StoreError, match="version 99"):
        AttackSummary.from_json(text)


def test_a_missing_file_is_named():
    with pytest.raises(StoreError, match="nowhere"):
        AttackSummary.from_json("nowhere.json")


def test_another_kind_of_summary_is_refused():
    with pytest.raises(StoreError, match="which is not a AIAttackSummary"):
        AIAttackSummary.from_json(SUMMARIES["membership"].to_json())


def test_a_foreign_parquet_file_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "other.parquet"
    pd.DataFrame({"labels": [1]}).to_parquet(path)
    with pytest.raises(StoreError, match="not a summary"):
        AttackSummary.from_parquet(path)
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(StoreError, match=r"text\.parquet"):
        AttackSummary.from_parquet(tmp_path / "text.parquet")
