"""What an attack cannot do without, what a game offers, and the one place that refuses."""

from dataclasses import dataclass
from typing import Literal

from tapas.errors import IncompatibleAttackError
from tapas.game._goal import Goal, Kind
from tapas.models import Access

__all__ = ["Needs", "Setting", "refuse_unfit", "unfit"]

ReleaseKind = Literal["table", "model"]
InputsUse = Literal["", "read", "change"]
_USES = ("", "read", "change")  # each allows what stands before it


@dataclass(frozen=True)
class Needs:
    """What an attack cannot do without.

    Attributes
    ----------
    release : {"table", "model"} or None
        What it reads; None reads anything.
    goals : tuple of str
        What it can infer; empty is anything.
    training : bool
        Whether it learns from releases or records whose secrets are known.
    many_releases : bool
        Whether it learns from whole releases, so that one does not do.
    repeated : bool
        Whether it learns from several releases about the very targets that are judged.
    auxiliary : bool
        Whether it compares with data that the attacker holds.
    access : Access
        What it reads from a model.
    references : int
        On how many reference models it must see each record that is judged.
    inside : bool
        Whether each such record must be in the training set of some of them.
    mechanism : bool
        Whether it reads the fitted mechanism.
    identifiers : bool
        Whether it reads the private records without their sensitive value.
    inputs : {"", "read", "change"}
        Whether it reads the inputs of a model's records, or asks about records with other inputs.
    trees : bool
        Whether it reads the decision trees of a model.
    """

    release: ReleaseKind | None = "table"
    goals: tuple[Kind, ...] = ()
    training: bool = True
    many_releases: bool = False
    repeated: bool = False
    auxiliary: bool = False
    access: Access = Access.LABELS
    references: int = 0
    inside: bool = False
    mechanism: bool = False
    identifiers: bool = False
    inputs: InputsUse = ""
    trees: bool = False


@dataclass(frozen=True)
class Setting:
    """What a game offers.

    Attributes
    ----------
    name : str
        What users call the game.
    release : {"table", "model"}
    goal : Goal
    training : int or None
        How many releases can be learnt from; None is any number.
    test : int or None
        How many releases attacks are judged by.
    auxiliary : bool
        Whether the attacker holds data.
    access : Access
    references : int
        Reference models that the attacker trains.
    inside : bool
        Whether they are trained on judged records.
    mechanism : bool
        Whether releases carry the fitted mechanism.
    identifiers : bool
        Whether they carry the private records without their sensitive value.
    likelihood : bool
        Whether that tells how likely it finds records (``log_factors``).
    coins : bool
        Whether the targets of a release are judged together, each decided by a coin of its own.
    budget : int or None
        How many records each attack may ask a released model about; None is any number.
    spent : int
        How many of these the attacker asked about before, to make up records.
    inputs : {"", "read", "change"}
        What can be done with the inputs of a model's records.
    trees : bool
        Whether the model shows decision trees.
    known : (int, int) or None
        How many members and others the attacker knows, where records of one release are judged.
    numbers : bool
        Whether these have columns of numbers.
    """

    name: str
    release: ReleaseKind
    goal: Goal
    training: int | None = None
    test: int | None = None
    auxiliary: bool = True
    access: Access = Access.PARAMETERS
    references: int = 0
    inside: bool = False
    mechanism: bool = False
    identifiers: bool = False
    likelihood: bool = False
    coins: bool = False
    budget: int | None = None
    spent: int = 0
    inputs: InputsUse = "change"
    trees: bool = False
    known: tuple[int, int] | None = None
    numbers: bool = False


_FITTING = {
    ("table", "membership"): "ClosestDistanceMIA, LocalNeighbourhoodAttack or GroundhogAttack",
    ("table", "attribute"): "ClosestDistanceAIA, LocalNeighbourhoodAttack or GroundhogAttack",
    ("table", "label"): "ShadowModellingAttack or GroundhogAttack",
    ("model", "membership"): "LossMIA, BlackBoxMIA or RuleBasedMIA",
    ("model", "attribute"): "ConfidenceAIA or LabelOnlyAIA",
    ("model", "property"): "PropertyClassifier",
}
_GAMES = {
    ("table", "membership"): "TargetedMIA or ObservedMIA",
    ("table", "attribute"): "TargetedAIA",
    ("model", "membership"): "ModelMIA",
    ("model", "attribute"): "ModelAIA",
    ("model", "property"): "ModelPropertyInference",
}
_OF_ONE_RELEASE = {
    ("table", "membership"): "ClosestDistanceMIA, LocalNeighboursWithReference or DOMIAS",
    ("model", "membership"): "LossMIA, CertaintyMIA or BlackBoxMIA",
}
_BY_LABELS = {"membership": "RuleBasedMIA or LabelOnlyMIA", "attribute": "LabelOnlyAIA"}
_BY_PREDICTIONS = {
    Access.LABELS: "RuleBasedMIA",
    Access.SCORES: "LossMIA, BlackBoxMIA or RuleBasedMIA",
}


def unfit(needs: Needs, label: str, setting: Setting) -> list[str]:
    """Why an attack does not fit a game, each with what would; empty if it does."""
    kind = setting.goal.kind
    fitting = _FITTING.get((setting.release, kind), "another attack")
    if needs.release not in (None, setting.release):
        return [
            f"{label} attacks {needs.release}s, but {setting.name} is about a "
            f"{setting.release}: use {fitting}"
        ]
    if needs.goals and kind not in needs.goals:
        games = (_GAMES.get((setting.release, goal)) for goal in needs.goals)
        wanted = " or ".join(dict.fromkeys(game for game in games if game))
        return [
            f"{label} infers {' or '.join(needs.goals)}{f' (play {wanted})' if wanted else ''}, "
            f"but {setting.name} asks for {kind}: use {fitting}"
        ]
    return _missing(needs, label, setting)


def refuse_unfit(needs: Needs, label: str, setting: Setting) -> None:
    """Raise where an attack does not fit a game."""
    reasons = unfit(needs, label, setting)
    if reasons:
        raise IncompatibleAttackError("; ".join(reasons))


def _missing(needs: Needs, label: str, setting: Setting) -> list[str]:
    found = []
    if not setting.access.shows(needs.access):
        instead = _BY_LABELS.get(setting.goal.kind, f"access: {needs.access.value}")
        instead = instead if setting.inputs else _BY_PREDICTIONS[setting.access]
        found.append(
            f"{label} reads {needs.access.value}, but the release shows {setting.access.value} "
            f"only: use {instead}"
        )
    if needs.many_releases and (setting.test == 1 or setting.coins):
        found.append(_whole_releases(label, setting))
    elif needs.repeated and setting.training == 1:
        found.append(
            f"{label} learns from several releases about the same targets, and there is only one: "
            f"use {_of_one_release(setting)}"
        )
    elif needs.references > setting.references:
        found.append(_too_few_references(needs, label, setting))
    elif needs.training and setting.training == 0:
        found.append(_nothing_to_learn(label, setting))
    if needs.inside and setting.references and not setting.inside:
        found.append(
            f"{label} needs reference models trained on the judged records: use "
            f"train_on_targets=True, or mode='offline'"
        )
    if _USES.index(needs.inputs) > _USES.index(setting.inputs):
        found.append(
            f"{label} {needs.inputs}s the inputs of records, which {setting.name} does not have as "
            f"numbers or categories: use {_of_one_release(setting)}"
            if setting.inputs
            else f"{label} {needs.inputs}s the inputs of records, and {setting.name} has "
            f"predictions alone: use {_of_one_release(setting)}"
        )
    if needs.trees and not setting.trees and setting.access.shows(needs.access):
        found.append(
            f"{label} reads the trees of a scikit-learn tree or forest, and the model shows none: "
            f"use {_of_one_release(setting)}"
        )
    if needs.auxiliary and not setting.auxiliary:
        found.append(
            f"{label} compares with data of the attacker, who holds none: give reference=..., "
            f"population=... or auxiliary data"
        )
    if needs.mechanism and not setting.mechanism:
        found.append(
            f"{label} reads the fitted mechanism, which is not released: play it with "
            f"WhiteBoxKnowledge"
        )
    if needs.identifiers and not setting.identifiers:
        found.append(
            f"{label} knows the other columns of all private records, which this attacker does "
            f"not: play it with QuasiIdentifierKnowledge (knowledge.data: identifiers)"
        )
    return found


def _of_one_release(setting: Setting) -> str:
    """Attacks that do with one release."""
    if not setting.inputs:
        return _BY_PREDICTIONS[setting.access]
    asked = (setting.release, setting.goal.kind)
    return _OF_ONE_RELEASE.get(asked) or _FITTING.get(asked, "another attack")


def _whole_releases(label: str, setting: Setting) -> str:
    """Why judging releases as a whole does not do."""
    if setting.coins:
        why = "judges a release as a whole, and cannot tell the targets of one release apart"
    else:
        why = "needs many releases, and there is only one"
    return f"{label} {why}: use {_of_one_release(setting)}"


def _too_few_references(needs: Needs, label: str, setting: Setting) -> str:
    if not setting.inputs:
        return (
            f"{label} compares the model with at least {needs.references} reference models, and "
            f"there are predictions of {setting.references or 'none'}: give what they said of the "
            f"same records and whom each was trained on (reference_scores and reference_members, "
            f"in an .npz file), or have them trained, where the model and its data are there "
            f"(`tapas run` with model and a trainer, ModelMIA); or use {_of_one_release(setting)}"
        )
    if not setting.references:
        return (
            f"{label} compares the model with reference models, and there is no trainer: give "
            f"trainer=..., or use {_of_one_release(setting)}"
        )
    return (
        f"{label} needs at least {needs.references} reference models, there are "
        f"{setting.references}: raise num_shadows, or use {_of_one_release(setting)}"
    )


def _nothing_to_learn(label: str, setting: Setting) -> str:
    if setting.test == 1:
        return (
            f"{label} learns from records whose membership is known, and known_share leaves none: "
            f"raise it, or use an attack that needs no training, such as criterion "
            f"('threshold', value)" + (" or RuleBasedMIA" if setting.release == "model" else "")
        )
    return (
        f"{label} needs training trials, and there are none (a no-box attacker cannot make any): "
        f"use criterion ('threshold', value)"
    )
