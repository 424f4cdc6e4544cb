"""A description says what a table may hold, and refuses what makes no sense."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapas.datasets import DataDescription
from tapas.errors import SchemaError

SCHEMA: list[dict[str, Any]] = [
    {"name": "a", "type": "finite", "representation": 4},
    {"name": "b", "type": "finite", "representation": ["x", "y", "z"]},
    {"name": "c", "type": "finite/ordered", "representation": 7},
    {"name": "d", "type": "real", "representation": "number"},
    {"name": "e", "type": "countable", "representation": "string"},
    {"name": "f", "type": "countable/ordered", "representation": "date"},
]


def test_the_schema_is_kept_as_the_same_object() -> None:
    assert DataDescription(SCHEMA).schema is SCHEMA


def test_the_label_has_a_default() -> None:
    assert DataDescription(SCHEMA).label == "Unnamed dataset"
    assert DataDescription(SCHEMA, "people").label == "people"


def test_columns_and_sizes() -> None:
    description = DataDescription(SCHEMA)
    assert description.columns == ("a", "b", "c", "d", "e", "f")
    assert description.num_features == len(description) == 6
    assert description.one_hot_cols == ["a", "b"]
    assert description.encoded_dim == 4 + 3 + 1 + 1 + 1 + 1


def test_columns_are_found_by_name_and_position() -> None:
    description = DataDescription(SCHEMA)
    assert description["b"] is SCHEMA[1]
    assert description[2] is SCHEMA[2]
    assert description[-1] is SCHEMA[5]
    with pytest.raises(KeyError, match=r"'z'.*'a'"):
        description["z"]
    with pytest.raises(IndexError):
        description[6]
    for key in (np.int64(1), 1.0, None, ("a",)):
        with pytest.raises(KeyError):
            description[key]  # type: ignore[index]


def test_iteration_gives_the_entries() -> None:
    assert list(DataDescription(SCHEMA)) == SCHEMA  # type: ignore[call-overload]


def test_a_view_keeps_the_order_of_the_schema() -> None:
    view = DataDescription(SCHEMA, "people").view(["d", "a"])
    assert view.columns == ("a", "d")
    assert view.label == "people"
    with pytest.raises(SchemaError, match="'nonsense'"):
        DataDescription(SCHEMA).view(["a", "nonsense"])


def test_equality_is_about_the_schema_alone() -> None:
    first, second = DataDescription(SCHEMA, "one"), DataDescription([*SCHEMA], "two")
    assert first == second
    assert hash(first) == hash(second)
    assert first != DataDescription(SCHEMA[:-1])
    assert first != SCHEMA
    assert len({first, second}) == 1


def test_the_repr_names_the_columns() -> None:
    assert "['a', 'b', 'c', 'd', 'e', 'f']" in repr(DataDescription(SCHEMA))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"name": "q", "type": "float"}, r"'q'.*'float'"),
        ({"type": "finite", "representation": 2}, "name"),
        ("q", "'q'"),
        ({"name": "q", "type": "finite", "representation": "x"}, r"'q'.*'x'"),
        ({"name": "q", "type": "finite", "representation": 0}, r"'q'.*0"),
        ({"name": "q", "type": "finite", "representation": True}, r"'q'.*True"),
        ({"name": "q", "type": "finite", "representation": []}, r"'q'.*empty"),
        ({"name": "q", "type": "finite", "representation": ["u", "v", "u"]}, r"'q'.*'u'"),
        ({"name": "q", "type": "finite", "representation": [1, "1"]}, r"'q'.*repeats"),
        ({"name": "q", "type": "real", "representation": "date"}, r"'q'.*'number'.*'date'"),
        ({"name": "q", "type": "real", "representation": 3}, r"'q'.*3"),
        ({"name": "q", "type": "interval", "representation": "integer"}, r"'q'.*'integer'"),
    ],
)
def test_a_wrong_entry_is_refused_by_name(entry: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        DataDescription([entry])


def test_a_name_may_occur_once() -> None:
    with pytest.raises(SchemaError, match=r"'a'.*more than once"):
        DataDescription([SCHEMA[0], SCHEMA[0]])


def test_further_keys_are_tolerated_and_kept() -> None:
    entry = {"name": "a", "type": "finite", "representation": 2, "description": "why"}
    assert DataDescription([entry])["a"]["description"] == "why"


@pytest.mark.parametrize(
    "type_", ["finite", "finite/ordered", "countable", "real", "interval", "countable/ordered"]
)
def test_entries_may_lack_a_representation(type_: str) -> None:
    description = DataDescription([{"name": "a", "type": type_, "description": "why"}])
    assert description.encoded_dim == 1


def test_a_schema_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "schema.json"
    DataDescription(SCHEMA).to_json(path)
    assert DataDescription.from_json(path).schema == json.loads(path.read_text()) == SCHEMA


@pytest.mark.parametrize("text", ["{", '{"name": "a"}', '[{"name": "a", "type": "bad"}]'])
def test_a_bad_schema_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "schema.json"
    path.write_text(text)
    with pytest.raises(SchemaError, match=r"schema\.json"):
        DataDescription.from_json(path)


def test_with_other_adds_one_category_to_finite_columns_only() -> None:
    other = DataDescription(SCHEMA, "people").with_other()
    assert other["a"]["representation"] == ["0", "1", "2", "3", "other"]
    assert other["b"]["representation"] == ["x", "y", "z", "other"]
    assert other["d"] == SCHEMA[3]
    assert other.with_other() == other
    assert SCHEMA[1]["representation"] == ["x", "y", "z"]


def test_explanations_say_what_was_declared() -> None:
    assert "a: finite (as declared)" in DataDescription(SCHEMA).explain()
