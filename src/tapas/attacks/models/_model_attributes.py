"""Attribute inference from a model's answers, and from none of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from tapas._validate import check_choice
from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import ModelAttack, model_briefing
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Briefing, ModelBriefing, Needs, Release, Value
from tapas.models import Access, Classifier, Inputs, Model, Records

PRIORS = ("marginal", "imputation", "uniform")
MEMORISED = 0.5  # belief that the model simply knows a record it was trained on
MOST_ASKED = 1_000  # records of the population that the model is asked about
ORDINARY_GAP, LARGE_GAP = 0.02, 0.1  # how much surer a model is of records it was trained on
MOST_WEIGHT = 32.0
LEAST_SHARE = 0.01  # a share of zero in few similar records does not make a value impossible


@dataclass(frozen=True)
class LikeliestValue:
    """Guesses the value with the highest probability.

    Attributes
    ----------
    values : tuple
        Of the attribute, in the order of scores.
    """

    values: tuple[Value, ...]

    def score(self, values: np.ndarray) -> np.ndarray:
        """Probability of each value, or of the second where there are two."""
        return values if values.shape[-1] > 2 else values[..., 1]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest value."""
        codes = scores.argmax(axis=-1) if scores.ndim == 3 else (scores > 0.5).astype(int)
        return np.array(self.values)[codes]


class AttributeAttack(ModelAttack):
    """Observes the probability of every value of the attribute; the guess is the likeliest."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> LikeliestValue:
        """Nothing is learnt beside the values that there are."""
        return LikeliestValue(board.goal.values)


class ImputationAIA(AttributeAttack):
    """Guesses the attribute from the other inputs and the class, without asking the model.

    Idea: what the population's correlations give away is no leak of the model; this is the
    baseline to subtract.

    Needs: a population in which the attribute is known.

    Score: P(value | other inputs, class), by a classifier trained on the population.

    Reference: Jayaraman and Evans (2022).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        A random forest and gradient boosting, averaged, by default.
    label : str, optional
    """

    observation_depends_on: ClassVar[tuple[str, ...]] = ("classifier",)

    def __init__(self, classifier: Classifier | None = None, *, label: str | None = None) -> None:
        super().__init__(label)
        self.classifier = classifier

    @property
    def needs(self) -> Needs:
        """A population, and nothing of the model."""
        return Needs("model", ("attribute",), training=False, auxiliary=True)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Probability of each value, (targets, values)."""
        return imputed(model_briefing(briefing), self.classifier, rng)


class ConfidenceAIA(AttributeAttack):
    """Guesses the value with which the model is most confident of the true class.

    Idea: the model is asked about the record with every value of the attribute; where it learnt
    the record, the true value fits best.

    Needs: scores, one query per value of each record, and of up to 1,000 of the population.

    Score: prior(v) p_y(x with v)^w, normalised over the values. By Bayes' rule w is 1 for records
    that the model never saw; it grows, up to 32, with how much surer the model is of the targets
    than of the population: of what a model knows by heart, small differences tell much.

    Reference: Fredrikson, Jha and Ristenpart (2015); the weight is ours.

    Parameters
    ----------
    prior : {"marginal", "imputation", "uniform"}
        What is believed before the model is asked: shares in the population, the answer of
        `ImputationAIA`, or nothing.
    label : str, optional
    """

    access: ClassVar[Access] = Access.SCORES
    observation_depends_on: ClassVar[tuple[str, ...]] = ("prior",)

    def __init__(self, prior: str = "marginal", *, label: str | None = None) -> None:
        super().__init__(label)
        self.prior = check_choice(prior, "prior", PRIORS)

    def _default_label(self) -> str:
        return f"{type(self).__name__}({self.prior})"

    @property
    def needs(self) -> Needs:
        """What is asked of the model, and a population to impute from if that is the prior."""
        return Needs(
            "model",
            ("attribute",),
            training=False,
            auxiliary=self.prior == "imputation",
            access=self.access,
        )

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Posterior probability of each value, (targets, values)."""
        about = model_briefing(briefing)
        prior = _prior(self.prior, about, rng)
        found = _confidences(release.model, about)
        return _normalised(prior * found ** _weight(found, release.model, about))


class LabelOnlyAIA(ConfidenceAIA):
    """Guesses the value with which the model predicts the true class.

    Idea: as `ConfidenceAIA`, where the release shows labels only. How much a predicted class says
    about the true one is read off the population, in equal parts with the belief that the model
    is right about records it was trained on.

    Needs: labels, one query per record and value, and one per record of the population.

    Score: prior(v) (1[right with v] + P(true class | class predicted with v)) / 2, normalised over
    the values.

    Reference: Mehnaz et al. (2022); Fredrikson, Jha and Ristenpart (2015).

    Parameters
    ----------
    prior, label
        As in `ConfidenceAIA`.
    """

    access: ClassVar[Access] = Access.LABELS
    observation_depends_on: ClassVar[tuple[str, ...]] = ("prior",)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Posterior probability of each value, (targets, values)."""
        about = model_briefing(briefing)
        prior = _prior(self.prior, about, rng)
        return _normalised(prior * _hits(release.model, about))


def imputed(
    briefing: ModelBriefing, classifier: Classifier | None, rng: np.random.Generator
) -> np.ndarray:
    """P(value | other inputs, class), learnt from the attacker's population."""
    held, attribute = _population(briefing), briefing.goal.attribute
    both = held.drop(attribute).concat(briefing.targets.drop(attribute))
    classes = pd.get_dummies(pd.Series(both.y).astype(object)).to_numpy(dtype=float)
    inputs = np.concatenate([both.numeric(), classes], axis=1)
    known_values = pd.Index(held.values_of(attribute), dtype=object)
    codes = pd.Index(briefing.attribute_values).get_indexer(known_values)
    known = codes >= 0
    model = seeded_clone(classifier or _forest_and_boosting(), rng).fit(
        inputs[: len(held)][known], codes[known]
    )
    shares = np.zeros((len(briefing.targets), len(briefing.attribute_values)))
    shares[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(inputs[len(held) :])
    return shares


def _forest_and_boosting() -> Classifier:
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        VotingClassifier,
    )

    boosting = HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.08, max_leaf_nodes=15, early_stopping=False
    )
    forest = RandomForestClassifier(100, min_samples_leaf=3)
    return VotingClassifier([("forest", forest), ("boosting", boosting)], voting="soft")


def _population(briefing: ModelBriefing) -> Records:
    if briefing.auxiliary is None:
        raise IncompatibleAttackError(
            "imputation learns from a population in which the attribute is known: give the threat "
            "model population=(X, y)"
        )
    return briefing.auxiliary


def _prior(kind: str, briefing: ModelBriefing, rng: np.random.Generator) -> np.ndarray:
    if kind == "imputation":
        return imputed(briefing, None, rng) + LEAST_SHARE
    if kind == "uniform" or briefing.priors is None:
        return np.full(len(briefing.attribute_values), 1.0)
    return briefing.priors


def _confidences(model: Model, briefing: ModelBriefing) -> np.ndarray:
    """Probability of the true class with each value, (targets, values)."""
    codes = model.codes_of(briefing.targets.y)
    rows = np.arange(len(codes))
    return np.column_stack([model.predict_proba(X)[rows, codes] for X in _candidates(briefing)])


def _weight(found: np.ndarray, model: Model, briefing: ModelBriefing) -> float:
    """How much the model's confidence in a target counts, by how well it knows the targets."""
    held = briefing.auxiliary
    if held is None or len(held) == 0:
        return 1.0
    others = held.take(np.arange(min(len(held), MOST_ASKED))).without_value(briefing.goal.attribute)
    usual = _confidences(model, replace(briefing, targets=others))
    gap = float(found.max(axis=1).mean() - usual.max(axis=1).mean())
    share = np.clip((gap - ORDINARY_GAP) / (LARGE_GAP - ORDINARY_GAP), 0.0, 1.0)
    return float(1.0 + (MOST_WEIGHT - 1.0) * share)


def _hits(model: Model, briefing: ModelBriefing) -> np.ndarray:
    """How likely the true class is, given the class predicted with each value."""
    codes = model.codes_of(briefing.targets.y)
    classes = len(model.classes)
    counts = np.full((classes, classes), 1 / classes) + np.eye(classes)
    held = briefing.auxiliary
    if held is not None:
        np.add.at(counts, (model.predict_codes(held.X), model.codes_of(held.y)), 1.0)
    confusion = counts / counts.sum(axis=1, keepdims=True)
    # A model is right about what it was trained on more often than the population shows.
    confusion = MEMORISED * np.eye(classes) + (1 - MEMORISED) * confusion
    return np.column_stack(
        [confusion[model.predict_codes(X), codes] for X in _candidates(briefing)]
    )


def _candidates(briefing: ModelBriefing) -> Iterator[Inputs]:
    """Inputs of the targets, all with one value of the attribute, for each value."""
    for value in briefing.attribute_values:
        yield briefing.targets.with_value(briefing.goal.attribute, value).X


def _normalised(weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights, 1.0) / np.where(total > 0, total, weights.shape[1])
