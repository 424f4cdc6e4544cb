"""Is one rate larger than another, or is that chance?"""

import numpy as np

from tapas.stats._counts import check_counts, check_level

__all__ = ["excess_p_value", "least_excess"]


def excess_p_value(k: int, n: int, others_k: int, others_n: int, *, odds: float = 1.0) -> float:
    """Return how likely an excess of `k` of `n` over `others_k` of `others_n` is by chance.

    Notes
    -----
    Assumes: if there is no difference, any `n` of the ``n + others_n`` are as likely as any others
    to be the first kind; with `odds`, those that are counted are so at odds up to so many times
    those of the rest.
    Guarantees: then the value is at most alpha with probability at most alpha (Fisher's exact test,
    one-sided; with odds Fisher's noncentral hypergeometric distribution).
    """
    from scipy.stats import hypergeom, nchypergeom_fisher

    for hits, number in ((k, n), (others_k, others_n)):
        check_counts(hits, number, ("k", "n"))
    if odds == 1:
        return float(hypergeom.sf(k - 1, n + others_n, k + others_k, n))
    return float(nchypergeom_fisher.sf(k - 1, n + others_n, k + others_k, n, odds))


def least_excess(k: int, n: int, others_k: int, others_n: int, *, confidence: float = 0.95) -> int:
    """Return how many of the `k` of `n` at least are there for another reason than chance.

    Notes
    -----
    Assumes: without those, any ``n`` less them of the rest are as likely as any others to be the
    first kind.
    Guarantees: with probability at least `confidence` so many are, or more: what Fisher's exact
    test, one-sided, does not refuse when they are taken away.
    """
    from scipy.stats import hypergeom

    for hits, number in ((k, n), (others_k, others_n)):
        check_counts(hits, number, ("k", "n"))
    taken = np.arange(k + 1)
    by_chance = hypergeom.sf(k - taken - 1, n - taken + others_n, k - taken + others_k, n - taken)
    return int(np.argmax(by_chance > check_level(confidence)))
