"""What shadow models rely on in a trainer, as checks that anybody can run on theirs."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property

import cloudpickle
import numpy as np
from numpy.typing import ArrayLike

from tapas._random import integer_seed, seeded_globals, stream
from tapas._spec import spec_of
from tapas.errors import ConfigError
from tapas.models import Classifier, Inputs, Model, SklearnTrainer, Trainer, TrainingPlan
from tapas.testing._check_model import answers, check_model
from tapas.testing._promises import Promise, kept_promises

FEWEST_MODELS = 3
FEWEST_CLASSES = 3


@dataclass(frozen=True, eq=False)
class _Training:
    """Records, and which of them each of some models is trained on."""

    X: Inputs
    y: np.ndarray
    num_models: int

    @cached_property
    def masks(self) -> np.ndarray:
        """Random halves; the last model never sees the last class."""
        masks = stream(0).random((self.num_models, len(self.y))) < 0.5
        for label in self.classes:
            masks[:, np.flatnonzero(self.y == label)[:2]] = True
        masks[-1] &= self.y != self.classes[-1]
        return masks

    @cached_property
    def classes(self) -> np.ndarray:
        return np.unique(self.y)

    def plan(self, seed: int = 1) -> TrainingPlan:
        return TrainingPlan.checked(self.X, self.y, self.masks, seed)

    def stacks(self, trainer: Trainer) -> list[range]:
        step = trainer.models_at_once
        return [
            range(first, min(first + step, self.num_models))
            for first in range(0, self.num_models, step)
        ]

    def trained(self, trainer: Trainer, seed: int = 1) -> list[Model]:
        """All models, stack by stack, here."""
        made = [trainer.train_some(self.plan(seed), stack) for stack in self.stacks(trainer)]
        return [model for stack in made for model in stack]

    def differ(self, first: list[Model], second: list[Model]) -> str | None:
        """The first model that two trainings answer differently by, in words."""
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            if not np.array_equal(answers(one, self.X), answers(other, self.X)):
                return f"model {number} is another"
        return None


def check_trainer(trainer: Trainer | Classifier, X: Inputs, y: ArrayLike) -> list[str]:
    """Run every check on a trainer.

    Parameters
    ----------
    trainer : Trainer or scikit-learn classifier
    X : array or DataFrame (n, d)
    y : array-like (n,)
        Of three classes or more, so that a model can be trained without one of them.

    Returns
    -------
    list of str
        Names of the promises that are kept.

    Raises
    ------
    BrokenPromiseError
        Names every promise that is broken, and what was seen instead.
    """
    asked = trainer if isinstance(trainer, Trainer) else SklearnTrainer(trainer)
    labels = np.asarray(y)
    if len(np.unique(labels)) < FEWEST_CLASSES:
        raise ConfigError(
            f"check_trainer trains a model that never saw one of the classes and needs at least "
            f"{FEWEST_CLASSES}; y has {len(np.unique(labels))}"
        )
    # More than fit into one stack, unless that is huge; what is left over is a shorter one.
    number = max(FEWEST_MODELS, min(asked.models_at_once, 16) + 1)
    return kept_promises(asked.label, _PROMISES, asked, _Training(X, labels, number))


# -- promises --------------------------------------------------------------------------------


def _label_breach(trainer: Trainer, training: _Training) -> str | None:
    label = trainer.label
    return None if isinstance(label, str) and label else f"it is {label!r}"


def _repetition_breach(trainer: Trainer, training: _Training) -> str | None:
    return training.differ(training.trained(trainer), training.trained(trainer))


def _order_breach(trainer: Trainer, training: _Training) -> str | None:
    made = {
        stack: trainer.train_some(training.plan(), stack)
        for stack in reversed(training.stacks(trainer))
    }
    models = [model for stack in training.stacks(trainer) for model in made[stack]]
    return training.differ(training.trained(trainer), models)


def _many_breach(trainer: Trainer, training: _Training) -> str | None:
    seed = integer_seed(np.random.default_rng(5))
    many = trainer.train_many(
        training.X, training.y, training.masks, rng=np.random.default_rng(5), n_jobs=1
    )
    return training.differ(training.trained(trainer, seed), many)


def _processes_breach(trainer: Trainer, training: _Training) -> str | None:
    one, two = (
        trainer.train_many(
            training.X, training.y, training.masks, rng=np.random.default_rng(5), n_jobs=jobs
        )
        for jobs in (1, 2)
    )
    return training.differ(one, two)


def _globals_breach(trainer: Trainer, training: _Training) -> str | None:
    made = []
    for ambient in (1, 2):
        with seeded_globals(ambient):
            made.append(training.trained(trainer))
    return training.differ(*made)


def _own_records_breach(trainer: Trainer, training: _Training) -> str | None:
    # Inputs of others get other classes, which no model that is not trained on them can notice.
    plan, outside, y = training.plan(), ~training.masks[0], training.y.copy()
    y[outside] = np.roll(y[outside], 1)
    stack = training.stacks(trainer)[0]
    first, second = (trainer.train_some(asked, stack)[:1] for asked in (plan, replace(plan, y=y)))
    return training.differ(first, second)


def _classes_breach(trainer: Trainer, training: _Training) -> str | None:
    for number, model in enumerate(training.trained(trainer)):
        if model.classes.tolist() != training.classes.tolist():
            return f"those of model {number} are {model.classes.tolist()}"
    return None


def _unseen_breach(trainer: Trainer, training: _Training) -> str | None:
    model = training.trained(trainer)[-1]
    if (model.predict_codes(training.X) == len(training.classes) - 1).any():
        return "it predicts that class"
    return None


def _data_breach(trainer: Trainer, training: _Training) -> str | None:
    X, y = deepcopy(training.X), training.y.copy()
    before = spec_of([X, y]).digest
    _Training(X, y, training.num_models).trained(trainer)
    return None if spec_of([X, y]).digest == before else "they had changed after training"


def _identity_breach(trainer: Trainer, training: _Training) -> str | None:
    first = training.stacks(trainer)[0]
    trainer.train_some(training.plan(), first)
    before = spec_of(trainer)
    if before.doubts:
        return f"it cannot be told from others: {before.doubts[0]}"
    training.trained(trainer)
    return None if spec_of(trainer).digest == before.digest else "training made it another"


def _travel_breach(trainer: Trainer, training: _Training) -> str | None:
    arrived = cloudpickle.loads(cloudpickle.dumps(trainer))
    if spec_of(arrived).digest != spec_of(trainer).digest:
        return "what arrived is another"
    return training.differ(training.trained(trainer), training.trained(arrived))


def _models_breach(trainer: Trainer, training: _Training) -> str | None:
    for model in (training.trained(trainer)[0], training.trained(trainer)[-1]):
        check_model(model, training.X)
    return None


_PROMISES = (
    Promise("label", "the label is a non-empty text", _label_breach),
    Promise("repetition", "the same seed trains the same models", _repetition_breach),
    Promise("order", "a model does not depend on which were trained before", _order_breach),
    Promise("many", "train_many trains the models that train_some does", _many_breach),
    Promise("processes", "two processes train the models that one does", _processes_breach),
    Promise("global randomness", "the seed decides everything random", _globals_breach),
    Promise("own records", "a model depends on its own records alone", _own_records_breach),
    Promise("classes", "every model has the classes of y, in order", _classes_breach),
    Promise("unseen class", "a class that a model never saw is never predicted", _unseen_breach),
    Promise("data", "the records are left as they were", _data_breach),
    Promise("identity", "it is known by what it is, not by what it trained", _identity_breach),
    Promise("travel", "it can be sent to another process", _travel_breach),
    Promise("models", "its models keep the promises of a model", _models_breach),
)
