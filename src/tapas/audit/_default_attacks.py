"""The attacks of an audit that names none: the documented ones, and the strongest."""

from tapas.attacks import (
    DOMIAS,
    RMIA,
    Attack,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    ConfidenceAIA,
    EnsembleAttack,
    GroundhogAttack,
    LabelOnlyAIA,
    LocalNeighboursWithReference,
    LossMIA,
    PropertyClassifier,
    RuleBasedMIA,
)
from tapas.errors import ConfigError
from tapas.game import Setting, unfit

__all__ = ["default_attacks"]


def default_attacks(setting: Setting) -> tuple[Attack, ...]:
    """Those that fit what a game offers."""
    fitting = [attack for attack in _usual(setting) if not unfit(attack.needs, "", setting)]
    if not fitting:
        raise ConfigError(f"{setting.name} has no attacks by default: name some")
    return tuple(fitting)


def _usual(setting: Setting) -> list[Attack]:
    kind = setting.goal.kind
    if setting.release == "model":
        if kind == "property":
            return [PropertyClassifier()]
        if kind == "attribute":
            return [ConfidenceAIA(), LabelOnlyAIA()]
        return [LossMIA(), RMIA(), RuleBasedMIA()]
    if setting.test == 1:
        return [ClosestDistanceMIA(), DOMIAS(), LocalNeighboursWithReference()]
    if setting.training == 0:
        attribute = ClosestDistanceAIA(criterion=("threshold", 0.5))
        return [ClosestDistanceMIA(criterion=("threshold", 0)), attribute]
    closest = ClosestDistanceAIA() if kind == "attribute" else ClosestDistanceMIA()
    return [closest, GroundhogAttack(), EnsembleAttack()]
