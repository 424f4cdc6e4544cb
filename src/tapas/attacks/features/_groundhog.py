"""The attack of "Synthetic data: anonymisation groundhog day"."""

import numpy as np

from tapas.attacks._sklearn_models import Classifier
from tapas.attacks.features._corr_feature import CorrSetFeature
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier
from tapas.attacks.features._set_features import CombinedSetFeatures, SetFeature
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.errors import ConfigError

__all__ = ["GroundhogAttack"]


class GroundhogAttack(ShadowModellingAttack):
    """Shadow modelling with simple features of the columns and a random forest.

    Idea
        A record that stands out moves means, histograms or correlations of the release.
    Needs
        Training trials: at least a black box.
    Score
        See `ShadowModellingAttack`.
    Reference
        Stadler, Oprisanu and Troncoso (2022), "Synthetic data: anonymisation groundhog day",
        arXiv:2011.07018.

    Parameters
    ----------
    use_naive, use_hist, use_corr : bool
        Which of the three feature sets to use. Histograms have a range of their own for each
        number column, as in the paper: ``HistSetFeature(bounds="data")``.
    model : scikit-learn classifier, optional
        Instead of a random forest of 100 trees; also spelt `classifier`.
    label : str, optional
    features : SetFeature, optional
        Use these instead of the three sets.
    """

    def __init__(
        self,
        use_naive: bool = True,
        use_hist: bool = True,
        use_corr: bool = True,
        model: Classifier | None = None,
        label: str | None = None,
        *,
        features: SetFeature | None = None,
        classifier: Classifier | None = None,
    ) -> None:
        flags = {"use_naive": use_naive, "use_hist": use_hist, "use_corr": use_corr}
        for name, flag in flags.items():
            if not isinstance(flag, (bool, np.bool_)):
                raise ConfigError(
                    f"{name} must be True or False, got {flag!r}; give a classifier as model="
                )
        if model is not None and classifier is not None:
            raise ConfigError("model and classifier are two names of one parameter: give one")
        chosen = model if classifier is None else classifier
        super().__init__(
            FeatureBasedSetClassifier(
                _default_features(flags) if features is None else features,
                _random_forest if chosen is None else chosen,
            ),
            label=label or "Groundhog",
        )


def _default_features(flags: dict[str, bool]) -> SetFeature:
    sets: dict[str, SetFeature] = {
        "use_naive": NaiveSetFeature(),
        "use_hist": HistSetFeature(bounds="data"),
        "use_corr": CorrSetFeature(),
    }
    wanted = [feature for name, feature in sets.items() if flags[name]]
    if not wanted:
        raise ConfigError(
            "there is no feature to attack with: set use_naive, use_hist or use_corr, or give "
            "features"
        )
    return CombinedSetFeatures(*wanted)


def _random_forest() -> Classifier:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100)
