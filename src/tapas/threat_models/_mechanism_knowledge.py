"""What the attacker knows of the mechanism: nothing, how to run it, or all of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tapas._random import ambient_rng, integer_seed
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import KnowledgeError
from tapas.generators import MarginalSelection, SelectsMarginals, StackedGenerator
from tapas.threat_models._mechanism_runs import (
    Mechanism,
    MechanismRun,
    accepts_seed,
    finished,
    globals_for,
    is_coroutine_mechanism,
    name_of,
    run_mechanism,
)


class AttackerKnowledgeOnGenerator(ABC):
    """Runs the mechanism, as the attacker imagines it or as it is.

    A subclass writes `generate`.
    """

    # Whether the attacker can run the mechanism, and whether releases carry it as fitted.
    can_simulate = True
    exposes_mechanism = False
    num_synthetic_records: int | None = 0
    _label = "Unnamed generator knowledge"

    @property
    def asked_for(self) -> int | None:
        """How many records a release must have; None where the mechanism decides."""
        return None

    @property
    def selection(self) -> MarginalSelection | None:
        """How the generator chooses marginals, where it does and the attacker can run it."""
        return None

    @property
    def waits(self) -> bool:
        """Whether the mechanism is a coroutine."""
        return False

    @property
    def draws_from_globals(self) -> bool:
        """Whether a run uses the global random generators, which threads would share."""
        return True

    @abstractmethod
    def generate(self, training_dataset: Dataset, training_mode: bool = True) -> object:
        """Make a synthetic dataset, in the attacker's simulation or in the evaluation."""

    def run(
        self,
        training_dataset: Dataset,
        *,
        training_mode: bool,
        rng: np.random.Generator,
        seed_globals: bool = True,
    ) -> MechanismRun:
        """One run of the mechanism that depends on the arguments alone."""
        with globals_for(integer_seed(rng), seed_globals):
            return MechanismRun(self.generate(training_dataset, training_mode=training_mode), None)

    @property
    def runs_at_once(self) -> int:
        """How many runs are better made together."""
        return 1

    def run_stack(
        self,
        training_datasets: Sequence[Dataset],
        *,
        training_mode: bool,
        rngs: Sequence[np.random.Generator],
        seed_globals: bool = True,
    ) -> list[MechanismRun]:
        """Runs that are made together: here one after the other."""
        return [
            self.run(dataset, training_mode=training_mode, rng=rng, seed_globals=seed_globals)
            for dataset, rng in zip(training_datasets, rngs, strict=True)
        ]

    def __call__(self, training_dataset: Dataset, training_mode: bool = True) -> object:
        return self.generate(training_dataset, training_mode=training_mode)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


class KnownGenerator(AttackerKnowledgeOnGenerator):
    """A generator object that trials run."""

    def __init__(self, generator: Mechanism, num_synthetic_records: int | None) -> None:
        self.generator = generator
        self.num_synthetic_records = num_synthetic_records

    def generate(self, training_dataset: Dataset, training_mode: bool = True) -> object:
        """Make a synthetic dataset."""
        result = self.run(training_dataset, training_mode=training_mode, rng=ambient_rng())
        return finished(result.output)

    def run(
        self,
        training_dataset: Dataset,
        *,
        training_mode: bool,
        rng: np.random.Generator,
        seed_globals: bool = True,
    ) -> MechanismRun:
        """One run of the generator that depends on the arguments alone."""
        if self._generates_in_its_own_way:
            return super().run(
                training_dataset, training_mode=training_mode, rng=rng, seed_globals=seed_globals
            )
        parameters = self._parameters(training_mode, rng, seed_globals)
        return run_mechanism(
            self.generator,
            training_dataset,
            self.num_synthetic_records,
            parameters,
            rng=rng,
            seed_globals=seed_globals,
        )

    @property
    def runs_at_once(self) -> int:
        """As many as the generator fits in lockstep."""
        if not isinstance(self.generator, StackedGenerator) or not self._runs_as_given:
            return 1
        return self.generator.fits_at_once

    def run_stack(
        self,
        training_datasets: Sequence[Dataset],
        *,
        training_mode: bool,
        rngs: Sequence[np.random.Generator],
        seed_globals: bool = True,
    ) -> list[MechanismRun]:
        """Runs of the generator, in lockstep where it can."""
        tables = [data for data in training_datasets if isinstance(data, TabularDataset)]
        one_by_one = self.runs_at_once == 1 or len(tables) < len(training_datasets)
        if one_by_one or not isinstance(self.generator, StackedGenerator):
            return super().run_stack(
                training_datasets,
                training_mode=training_mode,
                rngs=rngs,
                seed_globals=seed_globals,
            )
        seeds = [integer_seed(rng) for rng in rngs]
        made = self.generator.run_stack(tables, self.num_synthetic_records, seeds)
        return [MechanismRun(released, fitted) for fitted, released in made]

    @property
    def selection(self) -> MarginalSelection | None:
        """That of the generator as it was given."""
        if not self._runs_as_given or not isinstance(self.generator, SelectsMarginals):
            return None
        return MarginalSelection(self.generator)

    @property
    def _runs_as_given(self) -> bool:
        """Whether a run is a call of the generator and nothing else."""
        return type(self).run is KnownGenerator.run and not self._generates_in_its_own_way

    @property
    def asked_for(self) -> int | None:
        """The number given, unless the generator states that it decides itself."""
        decides = self._generates_in_its_own_way or getattr(self.generator, "any_number", False)
        return None if decides else self.num_synthetic_records

    @property
    def _generates_in_its_own_way(self) -> bool:
        return type(self).generate is not KnownGenerator.generate

    @property
    def draws_from_globals(self) -> bool:
        """Unless the generator takes a seed."""
        return self._generates_in_its_own_way or not accepts_seed(self.generator)

    @property
    def waits(self) -> bool:
        """Whether the generator is a coroutine."""
        return is_coroutine_mechanism(self.generator)

    def _parameters(
        self, training_mode: bool, rng: np.random.Generator, seed_globals: bool
    ) -> Mapping[str, object]:
        return {}

    @property
    def label(self) -> str:
        """Display name: the generator's, or that of its class."""
        return name_of(self.generator)


class BlackBoxKnowledge(KnownGenerator):
    """The attacker can run the mechanism, and sees only what it releases.

    Parameters
    ----------
    generator : Generator
    num_synthetic_records : int or None
        Size of each release; None leaves it to the generator.
    """


class WhiteBoxKnowledge(KnownGenerator):
    """The attacker can run the mechanism, and the release comes with the fitted mechanism.

    Attacks find it as ``release.mechanism``, in training and in tests.

    Parameters
    ----------
    generator : Generator
    num_synthetic_records : int or None
    """

    exposes_mechanism = True


class NoBoxKnowledge(KnownGenerator):
    """The attacker cannot run the mechanism: only attacks that need no training apply.

    Parameters
    ----------
    generator : Generator
    num_synthetic_records : int or None
    """

    can_simulate = False

    def run(
        self,
        training_dataset: Dataset,
        *,
        training_mode: bool,
        rng: np.random.Generator,
        seed_globals: bool = True,
    ) -> MechanismRun:
        """One run, for the evaluation only."""
        if training_mode:
            raise KnowledgeError(
                "a no-box attacker cannot run the generator: use an attack that needs no training "
                "(criterion ('threshold', value)) or BlackBoxKnowledge"
            )
        return super().run(
            training_dataset, training_mode=False, rng=rng, seed_globals=seed_globals
        )

    @property
    def label(self) -> str:
        """Display name."""
        return f"{super().label}[no-box]"


class UncertainBoxKnowledge(KnownGenerator):
    """The attacker can run the mechanism but does not know its parameters.

    Parameters
    ----------
    generator : Generator
        Called with the parameters as keyword arguments.
    num_synthetic_records : int or None
    prior : callable
        Draws a dict of parameters, as the attacker imagines them.
    final_parameters : dict, optional
        The true parameters, used in tests; drawn from the prior as well if None.
    """

    def __init__(
        self,
        generator: Mechanism,
        num_synthetic_records: int | None,
        prior: Callable[[], Mapping[str, object]],
        final_parameters: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(generator, num_synthetic_records)
        if not callable(prior):
            raise KnowledgeError(
                f"prior must be a function that returns a dict of parameters, got {prior!r}"
            )
        self.prior = prior
        self.final_parameters = final_parameters

    @property
    def _runs_as_given(self) -> bool:
        return False

    @property
    def draws_from_globals(self) -> bool:
        """The prior may, and does in its documented use."""
        return True

    def _parameters(
        self, training_mode: bool, rng: np.random.Generator, seed_globals: bool
    ) -> Mapping[str, object]:
        seed = integer_seed(rng)
        if not training_mode and self.final_parameters is not None:
            return dict(self.final_parameters)
        with globals_for(seed, seed_globals):
            return self.prior()

    @property
    def label(self) -> str:
        """Display name."""
        return f"{super().label}[uncertain]"
