"""Is one rate larger than another, or is that chance?"""

from tapas.stats._counts import check_counts

__all__ = ["excess_p_value"]


def excess_p_value(k: int, n: int, others_k: int, others_n: int) -> float:
    """Return how likely an excess of `k` of `n` over `others_k` of `others_n` is by chance.

    Notes
    -----
    Assumes: if there is no difference, any `n` of the ``n + others_n`` are as likely as any others
    to be the first kind.
    Guarantees: then the value is at most alpha with probability at most alpha (Fisher's exact test,
    one-sided).
    """
    from scipy.stats import hypergeom

    for hits, number in ((k, n), (others_k, others_n)):
        check_counts(hits, number, ("k", "n"))
    return float(hypergeom.sf(k - 1, n + others_n, k + others_k, n))
