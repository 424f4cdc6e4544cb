"""Distance to the decision boundary from labels alone, for many records in lockstep.

Every step asks about all records at once, and all records try the same random directions, so that
the answer for a record depends neither on the others nor on how many are asked about together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tapas.attacks.models._points import Points

NUMBERS_AT_ONCE = 2_000_000
POOL_AT_ONCE = 8_000_000  # numbers of points that the nearest are looked for among
HALVINGS = 7
STEP_TRIALS = 3
REACH = 0.2  # radius of the directions tried, relative to the distance found so far
PER_ROUND = 60  # queries of one round, about
RESTORED = (0.5, 0.75, 0.9)  # shares of the coordinates that are put back

Ask = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class WalkPlan:
    """How a budget of label queries per record is spent.

    Attributes
    ----------
    rounds : int
        Times that the walk goes on.
    directions : int
        Random directions tried in each, to estimate where the boundary leads.
    masks : int
        Random sets of coordinates put back in each, since often few of them matter.
    """

    rounds: int
    directions: int
    masks: int

    @classmethod
    def within(cls, queries: int) -> "WalkPlan":
        """The plan for so many queries per record, those of the first bisection included."""
        left = queries - HALVINGS
        fixed = STEP_TRIALS + 2 * HALVINGS
        rounds = max(1, round(left / PER_ROUND))
        free = left // rounds - fixed
        if free < 8:
            return cls(0, 0, 0)
        return cls(rounds, free - free // 3, free // 3)

    @property
    def queries(self) -> int:
        """Queries per record that the plan makes."""
        each = self.directions + self.masks + STEP_TRIALS + 2 * HALVINGS
        return HALVINGS + self.rounds * each


def boundary_distances(
    ask: Ask,
    points: np.ndarray | Points,
    codes: np.ndarray,
    starts: np.ndarray | Points,
    plan: WalkPlan,
    project: Ask,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """Distance from each point to the nearest point found that is classified differently.

    Parameters
    ----------
    ask : callable
        Class codes of points.
    points, codes : ndarray (n, d) or Points, ndarray (n,)
        Where to start from, and how the model classifies those points.
    starts : ndarray (n, d) or Points
        For each point one that is classified differently.
    plan : WalkPlan
    project : callable
        The valid records nearest to points.
    """
    seed = int(rng.integers(2**63))
    width = max(1, points.shape[1]) * max(1, plan.directions, plan.masks)
    chunk = max(1, NUMBERS_AT_ONCE // width)
    parts = [
        _walk(
            ask,
            points[first : first + chunk],
            codes[first : first + chunk],
            starts[first : first + chunk],
            plan,
            project,
            np.random.default_rng(seed),
        )
        for first in range(0, len(points), chunk)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _walk(
    ask: Ask,
    points: np.ndarray,
    codes: np.ndarray,
    starts: np.ndarray,
    plan: WalkPlan,
    project: Ask,
    rng: np.random.Generator,
) -> np.ndarray:
    across = _bisected(ask, points, codes, starts)
    best = _lengths(project(across) - points)
    for number in range(plan.rounds):
        gradient = _directions_across(ask, codes, across, best, plan.directions, rng)
        stepped = _stepped(ask, codes, across, gradient, best / np.sqrt(number + 2.0))
        for farther in (stepped, None):
            if farther is None:
                farther = _restored(ask, points, codes, across, plan.masks, rng)
            candidate = _bisected(ask, points, codes, farther)
            distance = _lengths(project(candidate) - points)
            nearer = distance < best
            across[nearer], best[nearer] = candidate[nearer], distance[nearer]
    return best


def _restored(
    ask: Ask,
    points: np.ndarray,
    codes: np.ndarray,
    across: np.ndarray,
    number: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """The nearest point across that differs from the record in fewer coordinates."""
    shares = np.resize(np.array(RESTORED), number)
    kept = rng.random((number, across.shape[1])) >= shares[:, None]
    moved = (across - points)[:, None] * kept
    found = ask((points[:, None] + moved).reshape(-1, across.shape[1])).reshape(-1, number)
    lengths = np.where(found != codes[:, None], (moved**2).sum(axis=2), np.inf)
    chosen = lengths.argmin(axis=1)
    rows = np.arange(len(points))
    better = np.isfinite(lengths[rows, chosen])
    return np.where(better[:, None], points + moved[rows, chosen], across)


def _bisected(ask: Ask, points: np.ndarray, codes: np.ndarray, far: np.ndarray) -> np.ndarray:
    """The nearest point found across the boundary on the way from `far` back to `points`."""
    low, high = np.zeros(len(points)), np.ones(len(points))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        across = ask(points + middle[:, None] * (far - points)) != codes
        high = np.where(across, middle, high)
        low = np.where(across, low, middle)
    return points + high[:, None] * (far - points)


def _directions_across(
    ask: Ask,
    codes: np.ndarray,
    across: np.ndarray,
    distance: np.ndarray,
    number: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Unit vectors that lead away from the record's own class, by Monte Carlo."""
    half = rng.standard_normal((-(-number // 2), across.shape[1]))
    directions = np.concatenate([half, -half])[:number]
    directions /= np.maximum(_lengths(directions), 1e-300)[:, None]
    tried = across[:, None] + (REACH * distance)[:, None, None] * directions
    found = ask(tried.reshape(-1, across.shape[1])).reshape(len(across), number)
    signs = np.where(found != codes[:, None], 1.0, -1.0)
    balance = signs.mean(axis=1, keepdims=True)
    weights = np.where(np.abs(balance) < 1, signs - balance, signs)
    gradient = weights @ directions
    return gradient / np.maximum(_lengths(gradient), 1e-300)[:, None]


def _stepped(
    ask: Ask, codes: np.ndarray, across: np.ndarray, gradient: np.ndarray, length: np.ndarray
) -> np.ndarray:
    """A step along the gradient that stays across; none where even a short one does not."""
    result = across.copy()
    waiting = np.ones(len(across), dtype=bool)
    for trial in range(STEP_TRIALS):
        tried = across + (length / 2.0**trial)[:, None] * gradient
        good = (ask(tried) != codes) & waiting
        result[good] = tried[good]
        waiting &= ~good
    return result


def nearest_elsewhere(
    points: np.ndarray | Points,
    codes: np.ndarray,
    pool: np.ndarray | Points,
    pool_codes: np.ndarray,
) -> np.ndarray:
    """Position in the pool of the nearest point of another class, -1 where there is none."""
    nearest = np.full(len(points), -1)
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        others = np.flatnonzero(pool_codes != code)
        least = np.full(len(mine), np.inf)
        at_once = max(1, POOL_AT_ONCE // max(1, pool.shape[1]))
        for start in range(0, len(others), at_once):
            _take_nearer(points, mine, pool, others[start : start + at_once], nearest, least)
    return nearest


def _take_nearer(
    points: np.ndarray | Points,
    mine: np.ndarray,
    pool: np.ndarray | Points,
    others: np.ndarray,
    nearest: np.ndarray,
    least: np.ndarray,
) -> None:
    """Write down which of the others are nearer to my points than the nearest so far."""
    there = pool[others]
    squares = (there**2).sum(axis=1)
    chunk = max(1, NUMBERS_AT_ONCE // len(others))
    for first in range(0, len(mine), chunk):
        rows, so_far = mine[first : first + chunk], least[first : first + chunk]
        # The points' own squares are the same for all, so they do not decide.
        distances = squares - 2 * points[rows] @ there.T
        found = distances.argmin(axis=1)
        distance = distances[np.arange(len(rows)), found]
        nearer = distance < so_far
        nearest[rows[nearer]], so_far[nearer] = others[found[nearer]], distance[nearer]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt((vectors**2).sum(axis=1))
