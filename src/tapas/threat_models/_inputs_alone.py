"""What the records themselves tell of a secret, without the model: the baseline of every result."""

from collections.abc import Callable

import numpy as np

from tapas.metrics import auc
from tapas.models import Classifier
from tapas.threat_models._fit_of_answers import Answers, fit_of_answers
from tapas.threat_models._points import Points

FOLDS = 4
MOST_ROWS = 5_000  # that a classifier learns from
FEWEST = 4 * FOLDS


def told_by_inputs(
    points: Points,
    codes: np.ndarray,
    num_values: int,
    *,
    answers: Answers | None = None,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """Probability of each value of the secret, from inputs and class alone: (records, values).

    With `answers`, from how well these fit the inputs too.

    Every record is judged by classifiers that did not see it. Of a class table, a linear model, a
    boosted one and the mean of the last two, the one that tells most is taken; where none tells
    anything, all records are judged alike. None where there are too few records to say.
    """
    counts = np.bincount(codes, minlength=num_values)
    if len(codes) < FEWEST or (counts > 0).sum() < 2:
        return None
    import threadpoolctl

    with threadpoolctl.threadpool_limits(1):  # so that results do not hang on the machine
        folds = _folds(codes, rng)
        read = [points.classes]
        tried = [_cross_fitted(_linear, points.classes, codes, folds, num_values, rng)]
        if points.have_inputs:
            read.append(points.inputs)
        if answers is not None:
            read.append(fit_of_answers(answers, rng=rng))
        if len(read) > 1:
            by_all = np.concatenate(read[::-1], axis=1)
            fits = (_cross_fitted(make, by_all, codes, folds, num_values, rng) for make in _ALL)
            linear, boosted = fits
            tried += [linear, boosted, (linear + boosted) / 2]
    found = max(tried, key=lambda shares: _quality(shares, codes, num_values))
    alike = np.tile(counts / counts.sum(), (len(codes), 1))
    enough = _quality(alike, codes, num_values) + _doubt(counts, num_values)
    return found if _quality(found, codes, num_values) > enough else alike


def _folds(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A fold for each record; each value of the secret is spread over all of them."""
    folds = np.empty(len(codes), dtype=int)
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        folds[mine] = rng.permutation(np.arange(len(mine)) % FOLDS)
    return folds


def _linear() -> Classifier:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=0.1, max_iter=300)


def _boosted() -> Classifier:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=40,
        learning_rate=0.1,
        max_leaf_nodes=12,
        max_bins=63,
        early_stopping=False,
        random_state=0,
    )


_ALL = (_linear, _boosted)


def _cross_fitted(
    make: Callable[[], Classifier],
    inputs: np.ndarray,
    codes: np.ndarray,
    folds: np.ndarray,
    num_values: int,
    rng: np.random.Generator,
) -> np.ndarray:
    shares = np.zeros((len(codes), num_values))
    for fold in range(FOLDS):
        held_out = folds == fold
        rows = rng.permutation(np.flatnonzero(~held_out))[:MOST_ROWS]
        model = make().fit(inputs[rows], codes[rows])
        predicted = model.predict_proba(inputs[held_out])
        shares[np.ix_(held_out, np.asarray(model.classes_, dtype=int))] = predicted
    return shares


def _quality(shares: np.ndarray, codes: np.ndarray, num_values: int) -> float:
    if num_values == 2:
        return auc(codes, shares[:, 1])
    return float((shares.argmax(axis=1) == codes).mean())


def _doubt(counts: np.ndarray, num_values: int) -> float:
    """The standard deviation of that quality where inputs tell nothing."""
    if num_values == 2:
        return float(np.sqrt((counts.sum() + 1) / (12 * counts.prod())))
    common = counts.max() / counts.sum()
    return float(np.sqrt(common * (1 - common) / counts.sum()))
