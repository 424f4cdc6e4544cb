"""How often noisy copies of a record are still classified right, at several strengths of noise."""

from collections.abc import Callable

import numpy as np

from tapas.attacks.models._points import Points
from tapas.models import RecordEncoding

NUMBERS_AT_ONCE = 4_000_000
SCALES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


def noise_robustness(
    ask: Callable[[np.ndarray], np.ndarray],
    points: np.ndarray | Points,
    codes: np.ndarray,
    encoding: RecordEncoding,
    draws: int,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """Share of noisy copies with the class `codes`, (records, scales).

    Numbers get normal noise of a standard deviation relative to the column's; a category is
    replaced by a random one with a probability that grows with the noise. All records get the
    same noise.
    """
    shares = np.empty((len(points), len(SCALES)))
    normal = rng.standard_normal((draws, points.shape[1]))
    coins = rng.random((draws, len(encoding.blocks)))
    swaps = rng.random((draws, len(encoding.blocks)))
    chunk = max(1, NUMBERS_AT_ONCE // (draws * max(1, points.shape[1])))
    is_number = np.zeros(points.shape[1], dtype=bool)
    is_number[encoding.numbers] = True
    for column, scale in enumerate(SCALES):
        moves = np.where(is_number, scale * normal, 0.0)
        for first in range(0, len(points), chunk):
            some = points[first : first + chunk]
            copies = some[:, None] + moves
            for position, block in enumerate(encoding.blocks):
                swapped = coins[:, position] < min(0.5, scale / 4)
                places = (swaps[:, position] * (block.stop - block.start)).astype(int)
                fresh = np.eye(block.stop - block.start)[places]
                copies[:, swapped, block] = fresh[swapped]
            found = ask(copies.reshape(-1, points.shape[1])).reshape(len(some), draws)
            shares[first : first + chunk, column] = (
                found == codes[first : first + chunk, None]
            ).mean(axis=1)
    return shares
