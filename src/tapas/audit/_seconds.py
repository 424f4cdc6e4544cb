"""What a trial takes once imports are done and caches are filled."""

import statistics
from collections.abc import Callable, Sequence

from tapas.errors import TapasError

WORTH_WARMING = 5.0  # seconds of a first trial, of which imports may be a part
WORTH_TIMING = 0.3  # seconds that the result rests on, where trials are short
MOST = 6  # trials


def seconds_per_trial(
    played: Sequence[float], again: Callable[[int], float], available: int | None = None
) -> float:
    """Seconds of one trial after the first, which does not count if there is another.

    Parameters
    ----------
    played : sequence of float
        Of the trials that were played anyway, in order.
    again : callable
        Plays the trial of a number above 0 and returns its seconds. Only short ones are played
        again: with a slow mechanism the first is taken for all.
    available : int, optional
        How many trials there are.
    """
    seconds = list(played)
    most = MOST if available is None else min(MOST, available)
    for number in range(1, most):
        warm = seconds[1:]
        if sum(warm) > WORTH_TIMING or (not warm and seconds[0] > WORTH_WARMING):
            break
        try:
            seconds.append(again(number))
        except TapasError:  # one that fails is for the run to judge
            break
    return statistics.median(seconds[1:] or seconds)
