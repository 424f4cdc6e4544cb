"""Mechanisms that turn a private table into a synthetic one."""

from tapas.generators._adapters import (
    GeneratorFromClass,
    GeneratorFromFunction,
    GeneratorFromObject,
)
from tapas.generators._base import Generator
from tapas.generators._bayesian_network import BayesianNetwork
from tapas.generators._bootstrap import Bootstrap
from tapas.generators._cart import CartSynthesizer
from tapas.generators._copula import GaussianCopula
from tapas.generators._ctgan import CTGANGenerator
from tapas.generators._executable import GeneratorFromExecutable
from tapas.generators._marginals import IndependentMarginals
from tapas.generators._mst import MST
from tapas.generators._noise import discrete_laplace
from tapas.generators._noisy_marginals import NoisyMarginals
from tapas.generators._privbayes import PrivBayes
from tapas.generators._raw import Raw
from tapas.generators._reprosyn import ReprosynGenerator
from tapas.generators._sdv import SDVGenerator
from tapas.generators._selects_marginals import MarginalSelection, SelectsMarginals
from tapas.generators._smartnoise import SmartNoiseGenerator
from tapas.generators._smote import Smote
from tapas.generators._stacked_generator import StackedGenerator
from tapas.generators._table_diffusion import TableDiffusion
from tapas.generators._table_vae import TableVAE

__all__ = [
    "MST",
    "BayesianNetwork",
    "Bootstrap",
    "CTGANGenerator",
    "CartSynthesizer",
    "GaussianCopula",
    "Generator",
    "GeneratorFromClass",
    "GeneratorFromExecutable",
    "GeneratorFromFunction",
    "GeneratorFromObject",
    "IndependentMarginals",
    "MarginalSelection",
    "NoisyMarginals",
    "PrivBayes",
    "Raw",
    "ReprosynGenerator",
    "SDVGenerator",
    "SelectsMarginals",
    "SmartNoiseGenerator",
    "Smote",
    "StackedGenerator",
    "TableDiffusion",
    "TableVAE",
    "discrete_laplace",
]
