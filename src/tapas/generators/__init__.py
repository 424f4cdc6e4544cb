"""Mechanisms that turn a private table into a synthetic one."""

from tapas.generators._base import Generator
from tapas.generators._executable import GeneratorFromExecutable
from tapas.generators._raw import Raw
from tapas.generators._reprosyn import ReprosynGenerator

__all__ = ["Generator", "GeneratorFromExecutable", "Raw", "ReprosynGenerator"]
