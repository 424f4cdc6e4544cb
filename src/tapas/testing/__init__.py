"""Test benches: contracts for whatever you write yourself, mechanisms of known epsilon."""

from tapas.testing._broken import (
    DomainFromData,
    NoiseDividedByRows,
    OffByOneBudget,
    OnePartitionForEveryTeacher,
    SizeLeak,
    WrongSensitivity,
)
from tapas.testing._check_attack import check_attack
from tapas.testing._check_game import check_game
from tapas.testing._check_generator import GeneratorCheck, check_generator, generator_checks
from tapas.testing._check_model import check_model
from tapas.testing._check_store import check_store
from tapas.testing._check_trainer import check_trainer
from tapas.testing._every_attack import every_attack
from tapas.testing._floating_point import FloatingPointLaplace
from tapas.testing._known_event import KnownEvent
from tapas.testing._mechanisms import (
    GaussianCount,
    KnownMechanism,
    LaplaceCount,
    NoisyHistogram,
    RandomizedResponse,
)
from tapas.testing._promises import BrokenPromiseError
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
    "check_game",
    "check_generator",
    "check_model",
    "check_store",
    "check_trainer",
    "every_attack",
    "generator_checks",
    "worst_case",
]
