"""E7: bounds that hold at every moment of a running audit."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas.errors import ConfigError, StatisticsError
from tapas.stats._bayes import quadrature
from tapas.stats._bound import EpsilonBound
from tapas.stats._counts import check_level
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["SequentialEpsilon"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_LOGIT_LIMIT = 40.0
_STEPS = 48


class _Path(NamedTuple):
    """Cumulative numbers of steps that were right, right in one trial of the two, or wrong."""

    right: FloatArray
    first: FloatArray
    second: FloatArray
    wrong: FloatArray

    @classmethod
    def of(cls, first: BoolArray, second: BoolArray) -> "_Path":
        kinds = (first & second, first & ~second, ~first & second, ~first & ~second)
        return cls(*(np.cumsum(kind, dtype=float) for kind in kinds))

    def mirrored(self) -> "_Path":
        return _Path(self.wrong, self.second, self.first, self.right)

    def at(self, keep: BoolArray | slice) -> "_Path":
        return _Path(*(counts[keep] for counts in self))

    def then(self, more: "_Path") -> "_Path":
        return _Path(
            *(
                np.concatenate([known, (known[-1] if known.size else 0.0) + new])
                for known, new in zip(self, more, strict=True)
            )
        )


class SequentialEpsilon:
    """A bound on epsilon fed trial by trial, valid whenever one stops (E7).

    Parameters
    ----------
    claim
        Claimed epsilon that the audit tries to contradict, or None.
    delta, confidence
        The delta of the pair that is bounded and the level of the bound.
    width
        Also stop once the interval is at most this wide, or None.
    relation
        Neighbour relation that is played; recorded in the bound.

    Notes
    -----
    Assumes: in each single trial the secret is a fair coin that the past does
    not influence; in each pair both worlds are played once, in whatever
    dependence on each other. Where the secret is no fair coin, make pairs: the
    i-th trial of one world and the i-th of the other. The attack may change
    between steps, never after seeing the secret of its own step.
    Guarantees: the probability that `contradicted` ever becomes true for a true
    claim, or that `bound` ever exceeds the true epsilon, is at most
    ``1 - confidence``, however often one looks.

    An (epsilon, delta)-private mechanism lets nobody guess a fair coin with
    accuracy above ``q0 = (e^epsilon + delta) / (1 + e^epsilon)``. The wealth of
    a bettor against q0, averaged over bets towards rates uniform on (q0, 1),
    then exceeds ``1 / alpha`` with probability at most alpha (Ville's
    inequality). A pair is one step, on which three bettors play: half of the
    wealth bets on the mean of its two outcomes, a quarter that the event tells
    (TPR against e^epsilon FPR), a quarter that its complement does. They differ
    in pairs that are half right only, and find events that are rare.

    References
    ----------
    Ville (1939); Waudby-Smith and Ramdas, Estimating means of bounded random
    variables by betting (2024).
    """

    def __init__(
        self,
        *,
        claim: float | None = None,
        delta: float = 0.0,
        confidence: float = 0.95,
        width: float | None = None,
        relation: str | None = None,
    ) -> None:
        self._alpha = check_level(confidence, delta)
        for value, name in ((claim, "claim"), (width, "width")):
            if value is not None and not value >= 0:
                raise ConfigError(f"{name} must be at least 0 or None, got {value!r}")
        self.claim, self.delta, self.confidence = claim, delta, confidence
        self.width, self.relation = width, relation
        self._path = _Path(*(np.empty(0) for _ in _Path._fields))
        # Both are brought up to date when asked for, from the steps added since.
        self._evidence, self._num_tested = 0.0, 0
        self._logits, self._num_bounded = (-_LOGIT_LIMIT, -_LOGIT_LIMIT), 0

    def update(self, correct: ArrayLike) -> "SequentialEpsilon":
        """Add one single trial, or several in the order they were made."""
        outcomes = np.atleast_1d(np.asarray(correct))
        if not np.isin(outcomes, (0, 1)).all():
            raise StatisticsError(
                f"correct must be true or false for each trial, got {correct!r}; "
                "use update_pair for the two trials of a pair"
            )
        return self._add(outcomes, outcomes)

    def update_pair(self, first: ArrayLike, second: ArrayLike) -> "SequentialEpsilon":
        """Add one pair, or several in order: was the guess right in each world?

        The two may share their background. Worlds come in the same order in all pairs.
        """
        one, two = np.atleast_1d(np.asarray(first)), np.atleast_1d(np.asarray(second))
        if one.shape != two.shape or not np.isin([one, two], (0, 1)).all():
            raise StatisticsError(
                f"expected true or false for both trials of each pair, got {first!r}, {second!r}"
            )
        return self._add(one, two)

    def _add(self, first: NDArray[np.generic], second: NDArray[np.generic]) -> "SequentialEpsilon":
        steps = _Path.of(first.ravel().astype(bool), second.ravel().astype(bool))
        self._path = self._path.then(steps)
        return self

    @property
    def num_steps(self) -> int:
        """How many single trials or pairs were added."""
        return self._path.right.size

    @property
    def log_evidence(self) -> float:
        """Natural logarithm of the largest wealth so far against the claim."""
        if self.claim is None:
            raise StatisticsError("no claim to test; make SequentialEpsilon with claim=...")
        if self._num_tested < self.num_steps:
            rate, rest = _accuracy_limit(self.claim, self.delta)
            path = self._path.at(slice(self._num_tested, None))
            wealth = _log_wealth(path, rate, rest, self.delta)
            self._evidence = max(self._evidence, float(wealth.max()))
            self._num_tested = self.num_steps
        return self._evidence

    @property
    def contradicted(self) -> bool:
        """Whether the claim is contradicted at the stated confidence."""
        return self.claim is not None and bool(self.log_evidence >= -np.log(self._alpha))

    @property
    def bound(self) -> EpsilonBound:
        """The best lower bound so far."""
        won = np.ones(self.num_steps, dtype=bool)
        perfect = _lower_logit(_Path.of(won, won), self._alpha, -_LOGIT_LIMIT, self.delta)
        return EpsilonBound(
            value=self.interval.low,
            confidence=self.confidence,
            delta=self.delta,
            method="sequential",
            ceiling=_epsilon_at_logit(perfect, self.delta),
            relation=self.relation,
        )

    @property
    def interval(self) -> Interval:
        """Epsilon shown by this attack: each end holds at the stated confidence.

        The lower end bounds the mechanism; the upper end speaks of the attack
        only, for a better attack may show more.
        """
        low_logit, mirrored = self._advance()
        low = _epsilon_at_logit(low_logit, self.delta)
        high = max(low, _epsilon_at_logit(-mirrored, self.delta))
        if self.num_steps == 0:
            return WidenedInterval(low, high, np.nan)
        right, first, second, wrong = (float(count[-1]) for count in self._path)
        half = first + second
        value = _epsilon_at(right + half / 2, wrong + half / 2, self.delta * self.num_steps)
        return Interval(low, high, value)

    def _advance(self) -> tuple[float, float]:
        fresh = self._path.at(slice(self._num_bounded, None))
        low, mirrored = self._logits
        low = _lower_logit(fresh, self._alpha, low, self.delta)
        mirrored = _lower_logit(fresh.mirrored(), self._alpha, mirrored, None)
        self._logits, self._num_bounded = (low, mirrored), self.num_steps
        return self._logits

    @property
    def should_stop(self) -> bool:
        """Whether the claim is contradicted or the interval is narrow enough."""
        if self.contradicted:
            return True
        if self.width is None:
            return False
        low, high, *_ = self.interval
        return bool(high - low <= self.width)


def _accuracy_limit(epsilon: float, delta: float) -> tuple[float, float]:
    rest = (1 - delta) * float(scipy.special.expit(-epsilon))
    return 1 - rest, rest


def _epsilon_at_logit(logit: float, delta: float) -> float:
    if logit >= _LOGIT_LIMIT:
        return float(np.inf)
    return _epsilon_at(float(scipy.special.expit(logit)), float(scipy.special.expit(-logit)), delta)


def _epsilon_at(right: float, wrong: float, slack: float) -> float:
    """Return log (right - slack) / wrong, clamped at 0."""
    if right - slack <= wrong:
        return 0.0
    return float(np.log(right - slack) - np.log(wrong)) if wrong > 0 else float(np.inf)


def _lower_logit(path: _Path, alpha: float, start: float, delta: float | None) -> float:
    """Return the largest logit accuracy that the path contradicts at any step, or `start`.

    Wealth above 1 falls as the tested rate rises, so each step contradicts an
    interval of rates and the union over steps is found by one bisection.
    """

    def reached(logit: float) -> NDArray[np.bool_]:
        wealth = _log_wealth(
            path, float(scipy.special.expit(logit)), float(scipy.special.expit(-logit)), delta
        )
        return wealth >= -np.log(alpha)

    low, high = start, _LOGIT_LIMIT
    if not reached(low).any():
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        hits = reached(middle)
        if hits.any():
            low, path = middle, path.at(hits)
        else:
            high = middle
    return low


def _log_wealth(path: _Path, rate: float, rest: float, delta: float | None) -> FloatArray:
    """Return log of the mixture likelihood ratio against `rate` = 1 - `rest` at every step.

    Without a `delta` only the mean of the two outcomes of a pair is bet on.
    """
    if rest <= 0:
        return np.zeros(path.right.shape)
    half = path.first + path.second
    if not half.any():
        right, wrong = path.right, path.wrong
        with np.errstate(divide="ignore"):
            mixed = scipy.special.betaln(right + 1, wrong + 1) + np.log(
                scipy.special.betaincc(right + 1, wrong + 1, rate)
            )
        return mixed - (wrong + 1) * np.log(rest) - right * np.log(rate)
    # Bets on nodes of a quadrature are bets too: the bound stays valid, not only approximately.
    nodes, weights = quadrature(200)
    up, down = 1 + rest / rate * nodes, 1 - nodes
    bets = np.outer(path.right, np.log(up)) + np.outer(path.wrong, np.log(down)) + np.log(weights)
    mean = scipy.special.logsumexp(bets + np.outer(half, np.log((up + down) / 2)), axis=1)
    if delta is None:
        return mean
    # An event that is seen in both worlds costs the bettor on it, one seen in neither nothing but
    # delta; the second is taken at its largest, so that wealth falls as the tested rate rises.
    with np.errstate(divide="ignore"):
        lost, spared = np.log(up + down - 1), np.log(1 - delta * nodes)
    event = scipy.special.logsumexp(
        bets + _outer(path.first, lost) + _outer(path.second, spared), axis=1
    )
    complement = scipy.special.logsumexp(
        bets + _outer(path.second, lost) + _outer(path.first, spared), axis=1
    )
    shares = np.log([[0.5], [0.25], [0.25]])
    return scipy.special.logsumexp(np.stack([mean, event, complement]) + shares, axis=0)


def _outer(counts: FloatArray, logs: FloatArray) -> FloatArray:
    """Return products in which no step of a kind that lost everything stays no loss."""
    with np.errstate(invalid="ignore"):
        return np.where(counts[:, None] > 0, np.outer(counts, logs), 0.0)
