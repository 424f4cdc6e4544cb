"""Test benches: contracts for your own attacks and generators, mechanisms of known epsilon."""

from tapas.testing._broken import (
    DomainFromData,
    NoiseDividedByRows,
    OffByOneBudget,
    OnePartitionForEveryTeacher,
    SizeLeak,
    WrongSensitivity,
)
from tapas.testing._check_attack import check_attack
from tapas.testing._check_generator import (
    BrokenPromiseError,
    GeneratorCheck,
    check_generator,
    generator_checks,
)
from tapas.testing._floating_point import FloatingPointLaplace
from tapas.testing._known_event import KnownEvent
from tapas.testing._mechanisms import (
    GaussianCount,
    KnownMechanism,
    LaplaceCount,
    NoisyHistogram,
    RandomizedResponse,
)
from tapas.testing._worst_case import worst_case

__all__ = [
    "BrokenPromiseError",
    "DomainFromData",
    "FloatingPointLaplace",
    "GaussianCount",
    "GeneratorCheck",
    "KnownEvent",
    "KnownMechanism",
    "LaplaceCount",
    "NoiseDividedByRows",
    "NoisyHistogram",
    "OffByOneBudget",
    "OnePartitionForEveryTeacher",
    "RandomizedResponse",
    "SizeLeak",
    "WrongSensitivity",
    "check_attack",
    "check_generator",
    "generator_checks",
    "worst_case",
]
