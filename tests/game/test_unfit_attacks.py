"""The one place that refuses: it names every need that is not met, and a way out."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tapas.attacks import __all__ as attacks
from tapas.errors import IncompatibleAttackError
from tapas.game import MEMBERSHIP, PROPERTY, Goal, Needs, Setting, refuse_unfit, unfit
from tapas.game._needs import _BY_LABELS, _FITTING, _GAMES, _OF_ONE_RELEASE
from tapas.models import Access
from tapas.threat_models import __all__ as threat_models

ATTRIBUTE = Goal("attribute", "Sex", ("female", "male"))
LABEL = Goal("label", values=())

TABLES = Setting("TargetedMIA", "table", MEMBERSHIP)
FILES = Setting("ObservedMIA", "table", MEMBERSHIP, training=1, test=1)
ATTRIBUTES = Setting("TargetedAIA", "table", ATTRIBUTE)
LABELS = Setting("LabelInferenceThreatModel", "table", LABEL)
MODEL = Setting("ModelMIA", "model", MEMBERSHIP, training=1, test=1)
MODEL_AIA = Setting("ModelAIA", "model", ATTRIBUTE, training=0, test=1)
PROPERTIES = Setting("ModelPropertyInference", "model", PROPERTY, training=100, test=100)
SETTINGS = (TABLES, FILES, ATTRIBUTES, LABELS, MODEL, MODEL_AIA, PROPERTIES)


def only(reasons: list[str]) -> str:
    assert len(reasons) == 1, reasons
    return reasons[0]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_an_attack_without_needs_fits_everywhere(setting: Setting) -> None:
    assert unfit(Needs(release=None, training=False), "A", setting) == []
    refuse_unfit(Needs(release=None, training=False), "A", setting)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_an_attack_on_the_other_kind_of_release_is_told_what_fits(setting: Setting) -> None:
    other: Any = "model" if setting.release == "table" else "table"
    reason = only(unfit(Needs(release=other, access=Access.PARAMETERS), "A", setting))
    assert f"A attacks {other}s, but {setting.name} is about a {setting.release}" in reason
    assert f"use {_FITTING[setting.release, setting.goal.kind]}" in reason


@pytest.mark.parametrize(
    ("setting", "goal"),
    [*product(SETTINGS, ("membership", "attribute", "property"))],
    ids=lambda given: given if isinstance(given, str) else given.name,
)
def test_an_attack_with_another_goal_is_told_its_game_and_what_fits(
    setting: Setting, goal: Any
) -> None:
    reasons = unfit(Needs(setting.release, (goal,), training=False), "A", setting)
    if goal == setting.goal.kind:
        assert reasons == []
        return
    reason = only(reasons)
    assert f"A infers {goal}" in reason
    assert f"{setting.name} asks for {setting.goal.kind}" in reason
    assert f"use {_FITTING[setting.release, setting.goal.kind]}" in reason
    game = _GAMES.get((setting.release, goal))
    assert game is None or f"play {game}" in reason


def test_a_goal_that_this_kind_of_release_does_not_have_names_no_game() -> None:
    reason = only(unfit(Needs("table", ("property",), training=False), "A", TABLES))
    assert "play" not in reason


def test_goals_that_include_the_settings_fit() -> None:
    assert unfit(Needs(goals=("membership", "attribute")), "A", ATTRIBUTES) == []


@pytest.mark.parametrize(("shown", "read"), [*product(Access, Access)])
def test_access_is_needed_as_far_as_it_is_read(shown: Access, read: Access) -> None:
    setting = replace(MODEL, access=shown)
    reasons = unfit(Needs("model", access=read), "A", setting)
    if shown.shows(read):
        assert reasons == []
        return
    reason = only(reasons)
    assert f"A reads {read.value}, but the release shows {shown.value} only" in reason
    assert "use RuleBasedMIA or LabelOnlyMIA" in reason
    attribute = replace(MODEL_AIA, access=shown)
    asked = unfit(Needs("model", access=read, training=False), "A", attribute)
    assert "use LabelOnlyAIA" in only(asked)


def test_many_releases_are_needed_where_there_is_one() -> None:
    needs = Needs(many_releases=True)
    assert "use ClosestDistanceMIA" in only(unfit(needs, "A", FILES))
    of_models = replace(needs, release="model")
    assert "use LossMIA" in only(unfit(of_models, "A", MODEL))
    assert "use ConfidenceAIA" in only(unfit(of_models, "A", MODEL_AIA))
    assert unfit(needs, "A", TABLES) == []


def test_judging_a_release_as_a_whole_does_not_tell_its_targets_apart() -> None:
    canaries = replace(TABLES, name="CanaryMIA", coins=True)
    reason = only(unfit(Needs(many_releases=True), "A", canaries))
    assert "cannot tell the targets of one release apart: use ClosestDistanceMIA" in reason
    assert unfit(Needs(), "A", canaries) == []


def test_training_is_needed_where_nothing_can_be_learnt_from() -> None:
    no_box = replace(TABLES, training=0)
    reason = only(unfit(Needs(), "A", no_box))
    assert "no-box attacker" in reason
    assert "criterion ('threshold', value)" in reason
    assert unfit(Needs(training=False), "A", no_box) == []
    unknown = replace(FILES, training=0)
    reason = only(unfit(Needs(), "A", unknown))
    assert "known_share leaves none: raise it" in reason
    assert "RuleBasedMIA" not in reason
    assert "RuleBasedMIA" in only(unfit(Needs("model"), "A", replace(MODEL, training=0)))


def test_reference_models_are_needed_in_number_and_on_the_judged_records() -> None:
    needs = Needs("model", references=4, inside=True)
    reason = only(unfit(needs, "A", MODEL))
    assert "there is no trainer: give trainer=..." in reason
    assert "or use LossMIA" in reason
    few = replace(MODEL, references=2, inside=True)
    reason = only(unfit(needs, "A", few))
    assert "needs at least 4 reference models, there are 2: raise num_shadows" in reason
    outside = replace(MODEL, references=4)
    assert "train_on_targets=True, or mode='offline'" in only(unfit(needs, "A", outside))
    assert unfit(needs, "A", replace(outside, inside=True)) == []
    assert unfit(replace(needs, inside=False), "A", outside) == []


def test_reference_data_is_needed_where_the_attacker_holds_none() -> None:
    alone = replace(FILES, auxiliary=False)
    assert "give reference=..." in only(unfit(Needs(auxiliary=True), "A", alone))
    assert unfit(Needs(auxiliary=True), "A", FILES) == []


def test_the_fitted_mechanism_is_needed_where_it_is_not_released() -> None:
    assert "WhiteBoxKnowledge" in only(unfit(Needs(mechanism=True), "A", TABLES))
    assert unfit(Needs(mechanism=True), "A", replace(TABLES, mechanism=True)) == []


def test_all_that_is_missing_is_said_at_once() -> None:
    needs = Needs(training=True, auxiliary=True, mechanism=True)
    setting = replace(TABLES, training=0, auxiliary=False)
    assert len(unfit(needs, "A", setting)) == 3
    with pytest.raises(IncompatibleAttackError, match=r"no-box.*reference=.*WhiteBox"):
        refuse_unfit(needs, "A", setting)


def test_every_name_that_is_recommended_exists() -> None:
    named = [*_FITTING.values(), *_BY_LABELS.values(), *_OF_ONE_RELEASE.values()]
    words = " or ".join(named).replace(",", " or").split(" or ")
    assert {word.strip() for word in words} <= set(attacks)
    games = " or ".join(_GAMES.values()).split(" or ")
    assert set(games) <= set(threat_models)
