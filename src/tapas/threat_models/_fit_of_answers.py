"""How well what should be predicted of a record fits its inputs, by models that never saw it.

Where labels of one side are noisier, or follow inputs otherwise, any model is right about one side
more often, whomever it was trained on. The attacker's own models, which know of no side, tell that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapas.models import Model, Records, ResidualModel, log_odds_by, own_models
from tapas.threat_models._points import Points

FOLDS = 4
MOST_ROWS = 5_000  # that a model learns from
LEAST_RESIDUAL = 0.01  # of the spread of a number: less is as good


@dataclass(frozen=True, eq=False)
class Answers:
    """What should be predicted of records.

    Attributes
    ----------
    points : Points
        Inputs.
    columns : sequence of ndarray (records,)
        Each thing that should be predicted: numbers, or codes of classes.
    are_numbers : bool
    """

    points: Points
    columns: Sequence[np.ndarray]
    are_numbers: bool = False


def answers_of(points: Points, model: Model) -> Answers:
    """Return what a model should predict of records: their class, or what they carry."""
    if not isinstance(model, ResidualModel):
        return Answers(points, [points.classes.argmax(axis=1)])
    carried = [model.carried(part.X) for part in points.parts]
    bare = [Records(X, part.y) for (X, _), part in zip(carried, points.parts, strict=True)]
    columns = np.concatenate([numbers for _, numbers in carried]).T
    if model.predicts_classes:
        return Answers(Points(bare), list(columns.astype(int)))
    return Answers(Points(bare), list(columns), are_numbers=True)


def fit_of_answers(answers: Answers, *, rng: np.random.Generator) -> np.ndarray:
    """How well answers fit, (records, own models); of several answers the mean.

    Each record is judged by models that learnt from records of the other folds, of both sides: the
    log odds of its true class, or how little a predicted number is off.
    """
    if not answers.points.have_inputs:
        return np.empty((len(answers.columns[0]), 0))
    folds = rng.permutation(np.arange(len(answers.columns[0])) % FOLDS)
    judge = _closeness if answers.are_numbers else _odds
    found = [
        judge(answers.points.inputs, column, folds, rng)
        for column in answers.columns
        if len(np.unique(column)) > 1
    ]
    return np.mean(found, axis=0) if found else np.empty((len(folds), 0))


def _odds(
    inputs: np.ndarray, codes: np.ndarray, folds: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    found = np.zeros((len(codes), len(own_models())))
    for held_out, rows in _lessons(folds, rng):
        if len(np.unique(codes[rows])) > 1:
            known, judged = (inputs[rows], codes[rows]), (inputs[held_out], codes[held_out])
            found[held_out] = log_odds_by(own_models(), known, judged)
    return found


def _closeness(
    inputs: np.ndarray, numbers: np.ndarray, folds: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.linear_model import Ridge

    scaled = (numbers - numbers.mean()) / numbers.std()
    made = [Ridge, lambda: ExtraTreesRegressor(50, random_state=0)]
    found = np.zeros((len(numbers), len(made)))
    for held_out, rows in _lessons(folds, rng):
        for place, make in enumerate(made):
            predicted = make().fit(inputs[rows], scaled[rows]).predict(inputs[held_out])
            off = np.abs(predicted - scaled[held_out])
            found[held_out, place] = -np.log(np.maximum(off, LEAST_RESIDUAL))
    return found


def _lessons(folds: np.ndarray, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """The records of each fold, and those that are learnt from to judge them."""
    sides = [folds == fold for fold in range(FOLDS)]
    return [(side, rng.permutation(np.flatnonzero(~side))[:MOST_ROWS]) for side in sides]
