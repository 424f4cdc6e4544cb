"""What one query of a model's probabilities says about a record: a few numbers each."""

from typing import Literal, TypeAlias

import numpy as np

from tapas.errors import ConfigError
from tapas.models import Model, Records

Clip: TypeAlias = float | Literal["auto"]

CLASS, TRUE, REST, LARGEST, ENTROPY, MODIFIED, PREDICTED, REST_AT_2, REST_AT_4 = range(9)
NUM_STATISTICS = 9
TEMPERATURES = {1: REST, 2: REST_AT_2, 4: REST_AT_4}  # where all other classes stand, softened
SMALLEST = 1e-300  # stands in for a probability of zero in a logarithm
LEAST_CLIP, MOST_CLIP = 1e-12, 0.05
USUAL_CLIP = 0.005


def score_statistics(model: Model, targets: Records) -> np.ndarray:
    """Ask for the probabilities of each record once.

    Returns
    -------
    ndarray, (records, `NUM_STATISTICS`)
        Code of the true class; its probability; that of all other classes together; the largest
        probability; sum of p ln p; modified entropy (Song and Mittal 2021), negated so that high
        means member; code of the likeliest class; the other classes together at temperatures 2 and
        4, that is the sums of square and fourth roots of their probabilities.
    """
    return statistics_of(model.predict_proba(targets.X), model.codes_of(targets.y))


def statistics_of(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The statistics of probabilities (records, classes) and class codes (records,)."""
    rows = np.arange(len(codes))
    true = probabilities[rows, codes]
    others = probabilities.copy()
    others[rows, codes] = 0.0
    # Summed without the true class: one minus it would round small probabilities away.
    rest = others.sum(axis=1)
    entropy = (probabilities * np.log(np.maximum(probabilities, SMALLEST))).sum(axis=1)
    softer = np.sqrt(others)
    unlikely = np.log(np.maximum(1.0 - others, SMALLEST))
    modified = rest * np.log(np.maximum(true, SMALLEST)) + (others * unlikely).sum(axis=1)
    return np.column_stack(
        [
            codes,
            true,
            rest,
            probabilities.max(axis=1),
            entropy,
            modified,
            probabilities.argmax(axis=1),
            softer.sum(axis=1),
            np.sqrt(softer).sum(axis=1),
        ]
    )


def clip_for(observations: np.ndarray) -> float:
    """Half of the smallest step that the probabilities take, where some of them are zero.

    An average of 100 trees moves in steps of 0.01, so zero stands for less than 0.005; a network
    is almost never exactly at zero, and is clipped hardly at all.
    """
    small = np.minimum(observations[..., TRUE], observations[..., REST]).ravel()
    positive = small[small > 0]
    if len(positive) == 0 or len(positive) == len(small):
        return USUAL_CLIP if len(positive) == 0 else LEAST_CLIP
    return float(np.clip(np.quantile(positive, 0.01) / 2, LEAST_CLIP, MOST_CLIP))


def logits(observations: np.ndarray, clip: float) -> np.ndarray:
    """ln p_y - ln sum of the others, both clipped from below."""
    true, rest = observations[..., TRUE], observations[..., REST]
    return np.log(np.maximum(true, clip)) - np.log(np.maximum(rest, clip))


def softened(observations: np.ndarray, temperature: int, clip: float) -> np.ndarray:
    """Probability of the true class by a softmax of the logits over a temperature, clipped."""
    true = np.maximum(observations[..., TRUE], clip)
    if temperature == 1:
        return true
    powered = true ** (1 / temperature)
    return powered / (powered + observations[..., TEMPERATURES[temperature]])


def checked_clip(clip: Clip) -> Clip:
    """Return the clip asked for, if it is one."""
    if clip != "auto" and (isinstance(clip, str) or not 0 < clip < 0.5):
        raise ConfigError(f"clip must be 'auto' or strictly between 0 and 0.5, got {clip!r}")
    return clip


def chosen_clip(clip: Clip, observations: np.ndarray) -> float:
    """The clip asked for, or the one that fits the observations."""
    return clip_for(observations) if clip == "auto" else float(clip)
