"""Several queries per record: the record itself, and copies that differ a little from it.

All models are asked about the same copies, so that references can be compared with.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from tapas.attacks.models._model_attack import model_briefing
from tapas.attacks.models._score_statistics import NUM_STATISTICS, statistics_of
from tapas.game import Briefing, ModelBriefing, Release, ValueObserver
from tapas.models import Inputs, RecordEncoding

NOISE = 0.1  # of the spread of a column
MOST_CHANNELS = 4
# How far an image is moved down and right, and whether it is mirrored first; the least comes first.
MOVES = sorted(
    product(range(-2, 3), range(-2, 3), (False, True)),
    key=lambda move: (max(map(abs, move[:2])), move[2], sum(map(abs, move[:2]))),
)
MOST_QUERIES = len(MOVES)


@dataclass(frozen=True)
class SeveralQueries(ValueObserver):
    """Statistics of the model's probabilities for each record and its copies, side by side.

    Attributes
    ----------
    number : int
        Of queries per record.
    """

    number: int

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        about, model = model_briefing(briefing), release.model
        codes = model.codes_of(about.targets.y)
        copies = copies_of(about, self.number)
        return np.concatenate(
            [statistics_of(model.predict_proba(X), codes) for X in copies], axis=1
        )


def of_each_query(values: np.ndarray) -> list[np.ndarray]:
    """What was observed, query by query."""
    return np.split(values, values.shape[-1] // NUM_STATISTICS, axis=-1)


def copies_of(briefing: ModelBriefing, number: int) -> Iterator[Inputs]:
    """Inputs of the targets, then those of copies: images are moved, tables get noise."""
    yield briefing.targets.X
    shape = briefing.image
    if shape is not None:
        rows = np.asarray(briefing.targets.X)
        yield from (moved(rows, shape, *move) for move in MOVES[1:number])
        return
    encoding = briefing.known_encoding
    points = encoding.encode(briefing.targets.X)
    for copy in range(1, number):
        yield encoding.decode(_noisy(points, encoding, copy))


def moved(
    rows: np.ndarray, shape: tuple[int, ...], down: int, right: int, mirrored: bool
) -> np.ndarray:
    """Images as rows, moved by some pixels; what comes in repeats the edge."""
    images = rows.reshape(len(rows), *shape)
    last = len(shape) == 3 and shape[-1] <= MOST_CHANNELS < shape[0]
    height, width = (1, 2) if last else (images.ndim - 2, images.ndim - 1)
    if mirrored:
        images = np.flip(images, axis=width)
    for axis, by in ((height, down), (width, right)):
        places = np.arange(images.shape[axis]) - by
        images = images.take(places.clip(0, images.shape[axis] - 1), axis=axis)
    return images.reshape(len(rows), -1)


def _noisy(points: np.ndarray, encoding: RecordEncoding, copy: int) -> np.ndarray:
    """Numbers with noise; where there are none, one category is changed to the next."""
    changed, numbers = points.copy(), encoding.numbers
    if len(numbers):
        rng = np.random.default_rng(copy)  # the same for all models
        changed[:, numbers] += NOISE * rng.standard_normal((len(points), len(numbers)))
    else:
        block = encoding.blocks[(copy - 1) % len(encoding.blocks)]
        changed[:, block] = np.roll(points[:, block], 1, axis=1)
    return changed
