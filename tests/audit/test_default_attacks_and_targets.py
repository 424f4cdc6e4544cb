"""What an audit does that names neither attacks nor targets."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from tapas.audit import Audit, audit_file_schema, audit_from_values
from tapas.audit._default_attacks import default_attacks
from tapas.datasets import load_sample, most_rare
from tapas.errors import ConfigError, TapasWarning
from tapas.game import MEMBERSHIP, PROPERTY, Goal, Setting
from tapas.models import Access

ATTRIBUTE = Goal("attribute", "Sex", ("F", "M"))
SETTINGS = {
    "generator": Setting("TargetedMIA", "table", MEMBERSHIP),
    "attribute": Setting("TargetedAIA", "table", ATTRIBUTE),
    "white box": Setting("TargetedMIA", "table", MEMBERSHIP, mechanism=True, likelihood=True),
    "no box": Setting("TargetedMIA", "table", MEMBERSHIP, training=0),
    "canaries": Setting("CanaryMIA", "table", MEMBERSHIP, coins=True),
    "release": Setting("ObservedMIA", "table", MEMBERSHIP, training=1, test=1),
    "model": Setting(
        "ModelMIA", "model", MEMBERSHIP, training=1, test=1, references=4, inside=True
    ),
    "property": Setting("ModelPropertyInference", "model", PROPERTY, training=9, test=9),
}
STRONGEST = {
    "generator": "EnsembleAttack",
    "attribute": "EnsembleAttack",
    "white box": "LikelihoodAttack",
    "no box": "ClosestDistanceMIA",
    "canaries": "EnsembleAttack",
    "release": "RecordEnsembleAttack",
    "model": "RMIA",
    "property": "PropertyClassifier",
}


# All but two columns of the sample.
DROPPED = list(load_sample("census", 1).description.columns)[2:]


def described(rows: int = 300, **changes: Any) -> Audit:
    values = {
        "data": {"sample": "census", "rows": rows, **changes.pop("data", {})},
        "generator": "Raw",
        "trials": {"train": 4, "test": 4},
        **changes,
    }
    return audit_from_values(values, "test")


def targets(audit: Audit) -> tuple[str, ...]:
    return audit.subjects[0].threat_model.game.target_labels


@pytest.mark.parametrize("name", SETTINGS)
def test_every_kind_of_audit_has_attacks_of_its_own(name: str) -> None:
    names = [type(attack).__name__ for attack in default_attacks(SETTINGS[name])]
    assert STRONGEST[name] in names


def test_releases_with_numbers_are_looked_at_by_gaps_too() -> None:
    numbers = default_attacks(replace(SETTINGS["release"], numbers=True))
    assert {attack.label for attack in numbers} - {
        attack.label for attack in default_attacks(SETTINGS["release"])
    } == {"ClosestDistance(gaps, accuracy)"}


@pytest.mark.parametrize(("inputs", "instead"), [("change", "CertaintyMIA"), ("", "BlackBoxMIA")])
@pytest.mark.parametrize("references", [0, 2, 3])
def test_models_with_too_few_references_are_asked_without(
    references: int, inputs: Literal["", "change"], instead: str
) -> None:
    setting = replace(SETTINGS["model"], references=references, inputs=inputs, access=Access.SCORES)
    named = [type(attack).__name__ for attack in default_attacks(setting)]
    assert named == ["RuleBasedMIA", "LossMIA", instead]


def test_the_fitted_mechanism_is_asked_where_it_is_in_sight_and_tells() -> None:
    def named(*generators: str, sees: str = "white-box") -> list[str]:
        knowledge = {"mechanism": sees}
        audit = described(generator=list(generators), controls=False, knowledge=knowledge)
        return [type(attack).__name__ for attack in audit.attacks]

    assert named("BayesianNetwork", "GaussianCopula")[-1] == "LikelihoodAttack"
    assert "LikelihoodAttack" not in named("BayesianNetwork", "CartSynthesizer")
    assert "LikelihoodAttack" not in named("BayesianNetwork", sees="black-box")


def test_made_up_targets_are_nobody_and_the_table_stays_whole() -> None:
    audit = described(goal="canaries", data={"targets": {"made": 30}})
    assert targets(audit)[:2] == ("canary 0", "canary 1")
    assert len(targets(audit)) == 30
    with pytest.raises(ConfigError, match=r"data\.targets\.made: 5000 combinations"):
        described(data={"targets": {"made": 5000}, "drop": DROPPED})
    with pytest.raises(ConfigError, match="got several"):
        described(data={"targets": {"made": 3, "random": 2}})


def test_a_goal_of_ones_own_names_its_attacks() -> None:
    goal = Goal("label", values=())
    with pytest.raises(ConfigError, match="name some"):
        default_attacks(Setting("Own", "table", goal, training=0))


def test_a_file_without_attacks_has_the_documented_and_the_strongest() -> None:
    audit = described()
    named = [type(attack).__name__ for attack in audit.attacks]
    assert named == ["ClosestDistanceMIA", "GroundhogAttack", "EnsembleAttack"]
    assert [part["use"] for part in audit.asked()["attacks"]] == named


@pytest.mark.parametrize(
    ("rows", "knowledge", "expected"),
    [
        (300, {}, 7),  # private datasets of 75
        (300, {"records": 20}, 2),
        (300, {"data": "exact"}, 30),
        (4400, {}, 100),
    ],
)
def test_targets_are_vulnerable_and_random_people_by_halves(
    rows: int, knowledge: dict[str, Any], expected: int
) -> None:
    audit = described(rows, knowledge=knowledge)
    assert len(targets(audit)) == expected == len(set(targets(audit)))
    half = expected - expected // 2
    vulnerable = described(rows, knowledge=knowledge, data={"targets": {"vulnerable": half}})
    assert targets(audit)[:half] == targets(vulnerable)


def test_vulnerable_and_random_targets_can_be_asked_for_together() -> None:
    both = targets(described(data={"targets": {"vulnerable": 3, "random": 4}}))
    assert len(set(both)) == 7
    alone = targets(described(data={"targets": {"random": 4}}))
    assert set(both[3:]) - set(alone) <= set(both)
    assert np.isin(alone, both).sum() >= 1
    with pytest.raises(ConfigError, match="rows, or else vulnerable, rare, exposed and random"):
        described(data={"targets": {"rows": [0], "random": 4}})
    with pytest.raises(ConfigError, match="7 targets do not fit"):
        described(7, knowledge={"records": 1}, data={"targets": {"vulnerable": 3, "random": 4}})


def test_rare_records_can_be_targets_beside_vulnerable_ones() -> None:
    rare = targets(described(data={"targets": {"rare": 5}}))
    table = load_sample("census", 300, seed=0)
    audit = described(300, data={"targets": {"vulnerable": 4, "rare": 5, "random": 6}})
    every = targets(audit)
    assert len(every) == len(set(every)) == 15
    first = [row for row in most_rare(table, 9).astype(str) if row not in every[:4]][:5]
    assert list(every[4:9]) == first
    assert list(rare[:1]) == most_rare(table, 1).astype(str).tolist()


def test_an_attack_that_sees_nothing_is_warned_about() -> None:
    audit = described(
        generator="IndependentMarginals",
        controls=False,
        attacks=[{"use": "LocalNeighbourhoodAttack", "parameters": {"radius": 0}}],
        data={"targets": {"vulnerable": 1}},
        trials={"train": 10, "test": 10},
    )
    with pytest.warns(TapasWarning, match="the same score for every target"):
        audit.run(n_jobs=1)


def test_the_schema_knows_attacks_by_name_and_files_without() -> None:
    attacks = audit_file_schema()["properties"]["attacks"]
    listed, nothing = attacks["anyOf"]
    assert {"type": "string"} in listed["items"]["anyOf"]
    assert nothing == {"type": "null"}
    assert "items" not in attacks


def test_without_training_trials_attacks_are_played_that_need_none() -> None:
    canaries = {"goal": "canaries", "knowledge": {"data": "exact"}, "controls": False}
    found = described(
        data={"targets": {"vulnerable": 20}}, trials={"train": 0, "test": 1}, **canaries
    )
    assert [type(attack).__name__ for attack in found.attacks] == ["ClosestDistanceMIA"]
    assert not found.check().problems
    (subject,) = found.run(n_jobs=1).subjects
    assert [len(summary) for summary in subject.summaries] == [20]
