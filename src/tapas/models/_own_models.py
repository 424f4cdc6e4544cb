"""Small models of one's own, and how sure they are of the true class of records."""

from collections.abc import Sequence

import numpy as np

from tapas.models._estimators import Classifier

CLIP = 0.01


def own_models() -> list[Classifier]:
    """A linear one and a forest: what is hard for one may be easy for the other."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    return [LogisticRegression(C=0.1, max_iter=200), ExtraTreesClassifier(50, random_state=0)]


def log_odds_by(
    models: Sequence[Classifier],
    known: tuple[np.ndarray, np.ndarray],
    judged: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Log odds of the true class of judged records, (records, models).

    Parameters
    ----------
    models
        Not fitted.
    known, judged : (points, codes)
        What they learn from, and what they are asked about. A class that they never saw is as
        unlikely as can be.
    """
    import threadpoolctl

    columns, (points, codes) = [], judged
    for model in models:
        with threadpoolctl.threadpool_limits(1):
            probabilities = np.asarray(model.fit(*known).predict_proba(points))
        places = np.searchsorted(model.classes_, codes).clip(max=len(model.classes_) - 1)
        own = probabilities[np.arange(len(points)), places]
        own = np.where(model.classes_[places] == codes, own, 0.0).clip(CLIP, 1 - CLIP)
        columns.append(np.log(own) - np.log1p(-own))
    return np.stack(columns, axis=1)
