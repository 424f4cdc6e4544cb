"""Epsilon lower bounds from the counts of one decision: E1 to E4."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_choice
from tapas.errors import StatisticsError
from tapas.stats._bayes import bayes_epsilon
from tapas.stats._bound import EpsilonBound
from tapas.stats._buehler import buehler_epsilon
from tapas.stats._clopper_pearson import clopper_pearson_epsilon
from tapas.stats._counts import check_counts, check_level
from tapas.stats._gaussian import check_family, check_gaussian_delta, gaussian_epsilon

__all__ = ["METHODS", "epsilon_lower_bound"]

METHODS = ("clopper-pearson", "buehler", "bayes", "gaussian")


def epsilon_lower_bound(
    tp: ArrayLike,
    num_positive: ArrayLike,
    fp: ArrayLike,
    num_negative: ArrayLike,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
    method: str = "clopper-pearson",
    family: str | None = None,
    paired: bool = False,
    relation: str | None = None,
) -> EpsilonBound:
    """Return a lower bound on epsilon from the counts of an attack fixed beforehand.

    Parameters
    ----------
    tp, num_positive
        Trials in world 1 (member) in which the event happened, and all of them.
    fp, num_negative
        The same in world 0 (non-member).
    confidence, delta
        Level of the bound and the delta of the pair that is bounded.
    method
        ``"clopper-pearson"`` (E1), ``"buehler"`` (E2, never below E1),
        ``"bayes"`` (E3, credible only) or ``"gaussian"`` (E4).
    family
        Must be ``"gaussian"`` for method ``"gaussian"``: that bound is true
        only of mechanisms whose claim is Gaussian differential privacy.
    paired
        Whether trials of the two worlds share their background. E2 and E3
        multiply probabilities across the worlds and then refuse.
    relation
        Neighbour relation that was played; recorded in the bound.

    Notes
    -----
    Assumes: independent trials within each world; attack and threshold chosen
    without looking at these trials; for E2 and E3 independent worlds; for E4 a
    Gaussian mechanism. Guarantees: E1, E2 and E4 exceed the true epsilon with
    probability at most ``1 - confidence``, for any number of trials. Both
    directions (the event and its complement) use the same two limits, so that
    taking the larger costs nothing. E3 is a posterior quantile and misses
    randomized response more often than its nominal level; show it, do not
    certify with it.

    References
    ----------
    E1: Jagielski, Ullman and Oprea (2020), with one-sided limits. E2: Buehler
    (1957). E3: Zanella-Béguelin et al. (2022). E4: Nasr et al. (2023), Dong,
    Roth and Su (2022).
    """
    check_choice(method, "method", METHODS)
    check_family(family)
    alpha = check_level(confidence, delta)
    _refuse(method, family, paired, delta)
    hits, positives = check_counts(tp, num_positive, ("tp", "num_positive"))
    alarms, negatives = check_counts(fp, num_negative, ("fp", "num_negative"))
    bound = _METHODS[method]
    value = bound(hits, positives, alarms, negatives, alpha, delta)
    ceiling = bound(positives, positives, np.zeros_like(negatives), negatives, alpha, delta)
    return EpsilonBound(
        value=value,
        confidence=confidence,
        delta=delta,
        method=method,
        ceiling=np.broadcast_to(ceiling, np.shape(value)),
        relation=relation,
    )


def _refuse(method: str, family: str | None, paired: bool, delta: float) -> None:
    if paired and method in ("buehler", "bayes"):
        raise StatisticsError(
            f"method {method!r} needs unpaired trials, because it multiplies probabilities across "
            "the two worlds; use method='clopper-pearson', or draw each trial its own background"
        )
    if method == "gaussian":
        if family != "gaussian":
            raise StatisticsError(
                "method 'gaussian' overstates epsilon unless the mechanism is Gaussian; say "
                "family='gaussian' if the claim is Gaussian differential privacy, or use "
                f"method='clopper-pearson' (got family={family!r})"
            )
        check_gaussian_delta(delta)


def _buehler_each(
    tp: Any, num_positive: Any, fp: Any, num_negative: Any, alpha: float, delta: float
) -> NDArray[np.float64]:
    # Each outcome is an optimisation of its own; equal outcomes are solved once.
    counts = np.stack(np.broadcast_arrays(tp, num_positive, fp, num_negative)).astype(int)
    cells, inverse = np.unique(counts.reshape(4, -1), axis=1, return_inverse=True)
    values = [buehler_epsilon(*(int(c) for c in cell), alpha, delta) for cell in cells.T]
    return np.asarray(values)[inverse.reshape(-1)].reshape(counts.shape[1:])


_METHODS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "clopper-pearson": clopper_pearson_epsilon,
    "buehler": _buehler_each,
    "bayes": bayes_epsilon,
    "gaussian": gaussian_epsilon,
}
