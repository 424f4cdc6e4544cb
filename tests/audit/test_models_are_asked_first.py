"""A check asks every model that exists about a few records: what cannot run is told beforehand."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ConfidenceAIA, LossMIA, PropertyClassifier, RuleBasedMIA
from tapas.audit import Audit
from tapas.models import Model, RemoteModel, as_model
from tapas.threat_models import ModelAIA, ModelMIA, ModelPropertyInference

rng = np.random.default_rng(0)
X = rng.integers(0, 3, size=(80, 3)).astype(float) + rng.normal(size=(80, 1)) * [1, 0, 0]
y = rng.integers(0, 2, size=80)
FITTED = LogisticRegression().fit(X, y)


def audit_of(model: object, access: str = "scores") -> Audit:
    game = ModelMIA(model, (X[:40], y[:40]), (X[40:], y[40:]), access, seed=0)
    return Audit(game, [LossMIA() if access == "scores" else RuleBasedMIA()])


def of_another_width(rows: np.ndarray) -> np.ndarray:
    return FITTED.predict_proba(rows[:, :2])


def of_three_classes(rows: np.ndarray) -> np.ndarray:
    return np.full((len(rows), 3), 1 / 3)


def that_is_down(rows: np.ndarray) -> np.ndarray:
    raise ValueError("no such endpoint")


def of_other_labels(rows: np.ndarray) -> list[str]:
    return ["perhaps"] * len(rows)


@pytest.mark.parametrize(
    ("function", "access", "words"),
    [
        (of_another_width, "scores", "features"),
        (of_three_classes, "scores", "has 2 classes"),
        (that_is_down, "scores", "no such endpoint"),
        (of_other_labels, "labels", "'perhaps'.*which is not one of its classes"),
    ],
)
def test_a_model_that_cannot_answer_is_found(
    function: Callable[..., Any], access: str, words: str
) -> None:
    for model in (as_model(function, [0, 1]), RemoteModel(function, [0, 1])):
        (problem,) = audit_of(model, access).check().problems
        assert re.search(words, problem)


def test_records_with_missing_inputs_are_asked_about_first() -> None:
    with_gaps = X.copy()
    with_gaps[[37, 77], 1] = np.nan
    game = ModelMIA(FITTED, (with_gaps[:40], y[:40]), (with_gaps[40:], y[40:]), "labels", 0, seed=0)
    (problem,) = Audit(game, [RuleBasedMIA()]).check().problems
    assert "inputs are missing in column 1" in problem


def test_questions_are_few_and_counted() -> None:
    model = as_model(FITTED)
    assert audit_of(model).check().ok
    assert model.queries == 4
    assert audit_of(model, "labels").check().ok
    assert model.queries == 6


def test_nobody_is_asked_about_twice_where_answers_are_kept(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def service(rows: np.ndarray) -> np.ndarray:
        asked.extend(row.tobytes() for row in rows)
        return FITTED.predict_proba(rows)

    for _ in range(2):
        audit = audit_of(RemoteModel(service, [0, 1], answers=tmp_path / "answers.sqlite"))
        assert audit.check().ok
        assert len(asked) == 2
    audit.run(n_jobs=1)
    assert len(asked) == len(set(asked)) == 80


@pytest.mark.parametrize("view", [lambda model: model, lambda model: model.aligned([1, 0])])
def test_a_budget_is_left_to_the_attacks(view: Callable[[Model], Model]) -> None:
    model = as_model(that_is_down, [0, 1]).restricted("scores", budget=500)
    found = audit_of(view(model)).check()
    assert found.ok
    assert any("may be asked about 500 records" in caution for caution in found.cautions)
    assert model.queries == 0


def test_models_of_every_game_are_asked() -> None:
    broken = as_model(of_another_width, [0, 1])
    about_inputs = ModelAIA(broken, (X, y), 1, seed=0)
    (problem,) = Audit(about_inputs, [ConfidenceAIA()]).check().problems
    assert "features" in problem
    shares = ModelPropertyInference(
        DecisionTreeClassifier(), (X, y), y == 1, num_records=10, num_probes=10, model=broken
    )
    (problem,) = Audit(shares, [PropertyClassifier()], 2, 2).check().problems
    assert "features" in problem
