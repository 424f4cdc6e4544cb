"""Where the questions of two audits differ, and what only one record says of the same one."""

import copy
from typing import Any

import pytest

from tapas.audit import audit_from_values
from tapas.results._question_changes import question_differences


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    """The question of an audit of a trained model."""
    values = {
        "data": {"sample": "clinic", "rows": 200},
        "model": {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "sex"},
        "attacks": ["LossMIA"],
    }
    return audit_from_values(values, "here").asked()


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {path: (old, new) for path, old, new in question_differences(before, after)}


@pytest.mark.parametrize(
    "path",
    [
        ("data", "records"),
        ("data", "records", "judged_members"),
        ("data", "leave_out"),
        ("inputs",),
        ("inputs", "data.sample", "columns"),
        ("exposure_map",),
    ],
)
def test_what_an_earlier_version_did_not_write_is_no_difference(
    asked: dict[str, Any], path: tuple[str, ...]
) -> None:
    earlier = copy.deepcopy(asked)
    place = earlier
    for name in path[:-1]:
        place = place[name]
    del place[path[-1]]
    assert differences(earlier, asked) == differences(asked, earlier) == {}


def test_what_was_asked_otherwise_is_a_difference_whoever_wrote_it(asked: dict[str, Any]) -> None:
    earlier, later = copy.deepcopy(asked), copy.deepcopy(asked)
    del earlier["data"]["leave_out"], later["inputs"]["data.sample"]
    later["data"] |= {"leave_out": [3], "rows": 100}
    later["data"]["records"]["judged_members"] = 48
    later["model"]["parameters"] = {"classes": []}
    found = differences(earlier, later)
    gone, left = found.pop("inputs.data.sample")
    assert (gone[:17], left) == ('{"file": "clinic"', "nothing")
    assert found == {
        "data.leave_out": ("nothing", "[3]"),
        "data.rows": ("200", "100"),
        "data.records.judged_members": ("50", "48"),
        "model.parameters.classes": ("nothing", "[]"),
    }
