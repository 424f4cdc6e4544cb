"""How sure the attacker's own models are of the class of a record that they never saw.

A model that is right about a record which others get wrong has probably been trained on it. This
costs no query: the attacker's models are trained on the records that the attacker holds.
"""

import numpy as np

from tapas.models import Classifier, RecordEncoding, Records, log_odds_by, own_models

FOLDS = 5
MOST_RECORDS, MOST_BOOSTED = 5_000, 10_000
MOST_PLACES = 500  # of a point: of images, which have thousands, so many drawn at random
FEWEST_RECORDS = 50  # with fewer the models would say nothing
NUM_OWN_MODELS = 2  # as `own_models` makes
MOST_TREES, MOST_ROUNDS, LEAST_ROUNDS = 200, 50, 10  # of boosting, which grows one for each class


def own_certainty(
    targets: Records,
    codes: np.ndarray,
    held: Records | None,
    held_codes: np.ndarray | None,
    encoding: RecordEncoding,
    *,
    boosting: bool = False,
) -> np.ndarray:
    """Log odds of the true class by the attacker's own models, (records, models).

    Held records are split into folds by their content, and each target is judged by the models
    trained on the other folds. So a held record is never judged by a model that saw it, and held
    and other records are judged alike. Zero where too few records are held.

    Parameters
    ----------
    targets : Records
    codes : ndarray of int
        Their true classes.
    held : Records or None
        What the attacker holds; may contain targets.
    held_codes : ndarray of int or None
    encoding : RecordEncoding
    boosting : bool
        Whether there is a third model, and more records are learnt from.
    """
    found = np.zeros((len(targets), NUM_OWN_MODELS + boosting))
    if held is None or held_codes is None or len(held) < FEWEST_RECORDS:
        return found
    most = MOST_BOOSTED if boosting else MOST_RECORDS
    held = held if len(held) <= most else held.take(np.arange(most))
    held_codes = held_codes[: len(held)]
    points, held_points = _centred(targets, held, encoding)
    fold, held_fold = _folds(targets), _folds(held)
    for number in range(FOLDS):
        judged, rest = fold == number, held_fold != number
        if judged.any() and len(np.unique(held_codes[rest])) > 1:
            found[judged] = log_odds_by(
                _unfitted(boosting, len(np.unique(held_codes[rest]))),
                (held_points[rest], held_codes[rest]),
                (points[judged], codes[judged]),
            )
    return found


def _centred(
    targets: Records, held: Records, encoding: RecordEncoding
) -> tuple[np.ndarray, np.ndarray]:
    places = np.arange(encoding.width)
    if encoding.width > MOST_PLACES:
        same = np.random.default_rng(0)  # for all records and models
        places = np.sort(same.permutation(places)[:MOST_PLACES])
    points = encoding.encode_some(targets.X, places)
    held_points = encoding.encode_some(held.X, places)
    centre, spread = held_points.mean(axis=0), held_points.std(axis=0)
    spread[spread == 0] = 1.0
    return (points - centre) / spread, (held_points - centre) / spread


def _folds(records: Records) -> np.ndarray:
    return (records.row_keys() >> np.uint64(32)) % np.uint64(FOLDS)


def _unfitted(boosting: bool, num_classes: int) -> list[Classifier]:
    if not boosting:
        return own_models()
    from sklearn.ensemble import HistGradientBoostingClassifier

    rounds = int(np.clip(MOST_TREES // num_classes, LEAST_ROUNDS, MOST_ROUNDS))
    boosted = HistGradientBoostingClassifier(
        learning_rate=0.15,
        max_iter=rounds,
        max_leaf_nodes=16,
        early_stopping=False,
        random_state=0,
    )
    return [*own_models(), boosted]
