"""Records that cannot be compared are counted wherever results are read."""

from typing import Any

import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceMIA, LossMIA
from tapas.audit import Audit
from tapas.cli._outputs import verdict_values
from tapas.datasets import load_sample
from tapas.report import AuditPage
from tapas.results import AuditRecord, decide
from tapas.threat_models import ModelMIA, ObservedMIA

CENSUS = load_sample("census", 200)
MORE = load_sample("census", 260).take(range(200, 260))


def model() -> ModelMIA:
    table = CENSUS.data.drop_duplicates().reset_index(drop=True)
    X, y = table[["Age", "Hours worked per week"]], table["Sex"]
    X = X.apply(lambda column: column.astype("category").cat.codes)
    X["number"] = range(len(X))
    tree = DecisionTreeClassifier(random_state=0).fit(X[:90], y[:90])
    return ModelMIA(tree, (X[:90], y[:90]), (X[80:], y[80:]), seed=1)


def files() -> ObservedMIA:
    table = CENSUS.take([row for row, seen in enumerate(CENSUS.data.duplicated()) if not seen])
    sides = table.take(range(90)), table.take(range(80, len(table)))
    return ObservedMIA(table.take(range(50)), *sides, MORE, seed=1)


@pytest.mark.filterwarnings("ignore:.*occur on both sides")
@pytest.mark.parametrize(
    ("made", "attack"), [(model, LossMIA()), (files, ClosestDistanceMIA())], ids=["model", "files"]
)
def test_records_of_both_sides_are_counted_on_the_page_and_in_json(made: Any, attack: Any) -> None:
    record = Audit(made(), [attack]).run(n_jobs=1)
    again = AuditRecord.from_json(record.to_json())
    assert again.subjects[0].left_out == (10, 10)
    said = "Left out of the comparison: 10 members and 10 non-members"
    assert said in AuditPage(again).html()
    (counts,) = verdict_values(again, decide(again))["left_out"].values()
    assert counts == {"members": 10, "non_members": 10}
