"""Privacy budgets as values: how much there is, and what each step spends of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tapas._validate import check_probability, listing
from tapas.errors import ConfigError

ROUNDING = 1e-9


@dataclass(frozen=True)
class Spend:
    """What one step of a mechanism costs.

    Attributes
    ----------
    purpose : str
    amount : float
        In the measure of the budget it belongs to.
    """

    purpose: str
    amount: float


@dataclass(frozen=True)
class Budget:
    """A total, and how it is divided; the parts never exceed the total.

    Attributes
    ----------
    measure : {"epsilon", "rho"}
        Pure differential privacy, or zero-concentrated. Both add up over steps.
    total : float
    spends : tuple of Spend
    relation : str
        The neighbours for which the total is stated.
    """

    measure: Literal["epsilon", "rho"]
    total: float
    spends: tuple[Spend, ...]
    relation: str = "add/remove"

    def __post_init__(self) -> None:
        check_positive(self.total, self.measure)
        for spend in self.spends:
            check_positive(spend.amount, f"{self.measure} for {spend.purpose}")
        if math.fsum(spend.amount for spend in self.spends) > self.total * (1 + ROUNDING):
            raise ConfigError(
                f"the steps spend {math.fsum(s.amount for s in self.spends):g} of a budget of "
                f"{self.measure} {self.total:g}: {listing(self.spends)}"
            )

    @classmethod
    def divided(
        cls, measure: Literal["epsilon", "rho"], total: float, weights: Mapping[str, float]
    ) -> "Budget":
        """Divide a total in proportion to positive weights."""
        check_positive(total, measure)
        whole = math.fsum(weights.values())
        spends = (Spend(name, total * (weight / whole)) for name, weight in weights.items())
        return cls(measure, total, tuple(spends))

    def of(self, purpose: str) -> float:
        """What the step called `purpose` may spend."""
        for spend in self.spends:
            if spend.purpose == purpose:
                return spend.amount
        raise ConfigError(
            f"nothing is set aside for {purpose!r}; there is "
            f"{listing(spend.purpose for spend in self.spends)}"
        )


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a positive, finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not 0 < number < math.inf:
        raise ConfigError(f"{name} must be a positive number, got {value!r}")
    return number


def epsilon_from_rho(rho: float, delta: float) -> float:
    """Smallest known epsilon for which every rho-zCDP mechanism is (epsilon, delta)-DP.

    Notes
    -----
    ``min over a > 1 of a rho + (log(1/delta) + (a - 1) log(1 - 1/a) - log a) / (a - 1)``, at least
    0 (Canonne, Kamath and Steinke 2020, proposition 12). Never above the classical
    ``rho + 2 sqrt(rho log(1/delta))`` (Bun and Steinke 2016).
    """
    check_positive(rho, "rho")
    from scipy.optimize import minimize_scalar

    check_probability(delta, "delta", open_interval=True)
    log_inverse = math.log(1 / delta)

    def at(log_excess: float) -> float:
        excess = math.exp(log_excess)  # a - 1
        order = 1 + excess
        shrink = excess * math.log(excess / order) - math.log(order)
        return order * rho + (log_inverse + shrink) / excess

    classical = math.log(math.sqrt(log_inverse / rho))
    found = minimize_scalar(at, bounds=(classical - 12, classical + 12), method="bounded",
                            options={"xatol": 1e-12})  # fmt: skip
    return max(0.0, min(at(classical), float(found.fun)))


def rho_from_epsilon(epsilon: float, delta: float) -> float:
    """Largest rho whose zCDP implies (epsilon, delta)-DP by `epsilon_from_rho`.

    A relative 1e-9 is left unspent, so that rounding cannot exceed the claim.
    """
    from scipy.optimize import brentq

    check_positive(epsilon, "epsilon")
    check_probability(delta, "delta", open_interval=True)
    low = math.log(rho_from_epsilon_classical(epsilon, delta))
    high = low
    while epsilon_from_rho(math.exp(high), delta) < epsilon:
        high += 1
    if high == low:
        return math.exp(low) * (1 - ROUNDING)
    root = brentq(lambda x: epsilon_from_rho(math.exp(x), delta) - epsilon, low, high, xtol=1e-13)
    return math.exp(float(root)) * (1 - ROUNDING)


def rho_from_epsilon_classical(epsilon: float, delta: float) -> float:
    """The rho with ``epsilon = rho + 2 sqrt(rho log(1/delta))``."""
    log_inverse = math.log(1 / delta)
    # The difference of the roots, written so that a small epsilon loses no digits.
    root = epsilon / (math.sqrt(log_inverse + epsilon) + math.sqrt(log_inverse))
    return root**2


def exponential_epsilon(rho: float) -> float:
    """The epsilon of an exponential mechanism that costs `rho`: ``sqrt(8 rho)``.

    Its privacy loss has range epsilon, which makes it (epsilon**2 / 8)-zCDP
    (Cesar and Rogers 2021).
    """
    return math.sqrt(8 * check_positive(rho, "rho"))


def gaussian_variance(rho: float, squared_sensitivity: float) -> float:
    """Variance of (discrete) Gaussian noise that costs `rho`: ``sensitivity**2 / (2 rho)``."""
    return squared_sensitivity / (2 * check_positive(rho, "rho"))
