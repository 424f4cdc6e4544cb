"""Earlier import path of the generators."""

from tapas.generators._base import Generator
from tapas.generators._command_line import ReprosynGeneratorFromCLI
from tapas.generators._executable import GeneratorFromExecutable
from tapas.generators._raw import Raw
from tapas.generators._reprosyn import ReprosynGenerator

__all__ = [
    "Generator",
    "GeneratorFromExecutable",
    "Raw",
    "ReprosynGenerator",
    "ReprosynGeneratorFromCLI",
]
