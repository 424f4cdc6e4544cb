"""Laplace noise as textbooks write it, and why it does not protect."""

import math
from dataclasses import replace

import numpy as np

from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.testing._carriers import count_of, rows_of
from tapas.testing._mechanisms import KnownMechanism

GRID = 2.0**52
NEIGHBOURS = np.arange(-8, 9)


class FloatingPointLaplace(KnownMechanism):
    """A count plus ``-scale sign(u) log(1 - 2|u|)`` for a floating-point uniform u.

    The logarithm of a number on a grid takes only some floating-point values. Added to 0 it gives
    one set of outputs, added to 1 another, and an output that 0 cannot reach proves that the
    target is there. The output is written into a real-number column, digit for digit. With this
    formula about 0.81 of the outputs do so at epsilon 1; the inverse distribution function in two
    branches, ``log(2u)`` and ``-log(2 (1 - u))``, shows about 0.6.

    Parameters
    ----------
    target, epsilon
        See `KnownMechanism`; the schema must have a real-number column.

    References
    ----------
    Mironov (2012), "On significance of the least significant bits for differential privacy",
    ACM CCS.
    """

    def __init__(self, target: TabularDataset, epsilon: float = 1.0) -> None:
        super().__init__(target, epsilon)
        real = [i for i, c in enumerate(self.target.table.number_columns()) if c.type == "real"]
        if not real:
            raise ConfigError("there is no column of type 'real' that could carry the answer")
        self._position = real[0]

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> float:
        u = rng.random() - 0.5
        noise = -math.copysign(1.0, u) * math.log(max(1 - 2 * abs(u), 1 / GRID)) / self.epsilon
        return count_of(self.target, dataset) + noise

    def _release(self, answer: float, num_samples: int) -> TabularDataset:
        table = rows_of(self.target, [0], num_samples).table
        numbers = table.numbers.copy()
        numbers[:, self._position] = answer
        return TabularDataset.from_table(replace(table, numbers=numbers), self.target.description)

    def evidence(self, release: TabularDataset) -> float:
        """1 where the output cannot have come from a count of 0."""
        if len(release) == 0:
            return 0.0
        return float(not self.reachable_from_zero(float(release.table.numbers[0, self._position])))

    def reachable_from_zero(self, output: float) -> bool:
        """Whether some u gives exactly this output when the count is 0."""
        # 1 - 2|u| is a multiple of 2**-52: try the few that could round to the output.
        nearest = round(math.exp(-abs(output) * self.epsilon) * GRID)
        grid = nearest + NEIGHBOURS
        grid = grid[(grid >= 1) & (grid <= GRID)]
        return any(-math.log(m / GRID) / self.epsilon == abs(output) for m in grid.tolist())

    @property
    def true_epsilon(self) -> float:
        """No finite epsilon covers an impossible outcome."""
        return math.inf

    @property
    def rates(self) -> tuple[float, float]:
        """The first by simulation, for epsilon about 1; the second exact."""
        return 0.81, 0.0
