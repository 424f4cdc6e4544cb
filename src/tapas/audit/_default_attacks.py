"""The attacks of an audit that names none: the documented ones, and the strongest."""

from dataclasses import replace

from tapas.attacks import (
    DOMIAS,
    RMIA,
    Attack,
    BlackBoxMIA,
    CertaintyMIA,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    ConfidenceAIA,
    EnsembleAttack,
    GroundhogAttack,
    ImputationAIA,
    InferenceAttack,
    LabelOnlyAIA,
    LabelOnlyMIA,
    LikelihoodAttack,
    LinkabilityAttack,
    LiRA,
    LossMIA,
    MixedDistance,
    PropertyClassifier,
    ReconstructionAttack,
    RecordEnsembleAttack,
    RehearsedMIA,
    RuleBasedMIA,
    SinglingOutAttack,
    SyntheticPredictorAttack,
    TreeMIA,
    WhiteBoxPropertyClassifier,
)
from tapas.errors import ConfigError
from tapas.game import Setting, unfit
from tapas.models import Access

__all__ = ["default_attacks"]


def default_attacks(
    setting: Setting, *others: Setting, num_train: int | None = None
) -> tuple[Attack, ...]:
    """Those that fit what a game offers, and what other games of the audit do.

    Where an audit plays no training trials although it could, those that need none.
    """
    if num_train == 0 and setting.training is None:
        setting = replace(setting, training=0)
    setting = replace(setting, likelihood=all(one.likelihood for one in (setting, *others)))
    fitting = [attack for attack in _usual(setting) if not unfit(attack.needs, "", setting)]
    if not fitting:
        raise ConfigError(f"{setting.name} has no attacks by default: name some")
    return tuple(fitting)


def _on_members(setting: Setting) -> list[Attack]:
    """The strongest attack for the access, after cheap and well-known ones."""
    if not setting.access.shows(Access.SCORES):
        return [RuleBasedMIA(), LabelOnlyMIA()]
    strongest: list[Attack] = [LiRA(), RMIA(), RehearsedMIA()]
    if any(attack.needs.references > setting.references for attack in strongest):
        strongest = [CertaintyMIA() if setting.inputs else BlackBoxMIA("gb")]
    return [RuleBasedMIA(), LossMIA(), *strongest, *([TreeMIA()] if setting.trees else [])]


def _on_attributes(setting: Setting) -> list[Attack]:
    prior = "imputation" if setting.auxiliary else "marginal"
    shows_scores = setting.access.shows(Access.SCORES)
    return [ImputationAIA(), ConfidenceAIA(prior) if shows_scores else LabelOnlyAIA(prior)]


def _predictor() -> Attack:
    from sklearn.ensemble import RandomForestClassifier

    return SyntheticPredictorAttack(RandomForestClassifier(100), "accuracy", "Predictor")


def _closest(setting: Setting) -> list[Attack]:
    """Also by gaps of numbers alone: records near private ones may be missing, not only there."""
    by_gaps = [ClosestDistanceMIA(MixedDistance(exact=False))] if setting.numbers else []
    return [ClosestDistanceMIA(), *by_gaps]


def _usual(setting: Setting) -> list[Attack]:
    kind = setting.goal.kind
    if setting.release == "model":
        if kind == "property":
            return [PropertyClassifier(), WhiteBoxPropertyClassifier()]
        return _on_attributes(setting) if kind == "attribute" else _on_members(setting)
    if setting.test == 1 and kind == "attribute":
        return [ClosestDistanceAIA(), _predictor()]
    if setting.test == 1:
        guideline = [SinglingOutAttack(), LinkabilityAttack(), InferenceAttack()]
        return [RecordEnsembleAttack(), *_closest(setting), DOMIAS(), *guideline]
    if setting.training == 0:
        attribute = ClosestDistanceAIA(criterion=("threshold", 0.5))
        return [ClosestDistanceMIA(criterion=("threshold", 0)), attribute]
    closest = ClosestDistanceAIA() if kind == "attribute" else ClosestDistanceMIA()
    inside = [LikelihoodAttack()] if setting.likelihood else []
    solved = [ReconstructionAttack()] if setting.identifiers else []
    return [closest, GroundhogAttack(), EnsembleAttack(), *inside, *solved]
