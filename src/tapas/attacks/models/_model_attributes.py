"""Attribute inference from a model's answers, and from none of them."""

from typing import Any

import numpy as np
import pandas as pd

from tapas._validate import check_choice
from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import ModelAttack
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.models import Access, Records
from tapas.threat_models import Release
from tapas.threat_models._model_game import ModelNeeds

PRIORS = ("marginal", "imputation", "uniform")
MEMORISED = 0.5  # belief that the model simply knows a record it was trained on


class _AttributeAttack(ModelAttack):
    """Scores every value of the attribute; the guess is the likeliest."""

    needs = ModelNeeds(Access.SCORES, training=False, goal="attribute")

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest value."""
        if self.briefing is None:
            raise NotTrainedError(f"{self.label} knows no attribute yet: test it on a ModelAIA")
        values = np.asarray(self.briefing.attribute_values)
        return values[scores.argmax(axis=-1)]


class ImputationAIA(_AttributeAttack):
    """Guesses the attribute from the other inputs and the class, without asking the model.

    Idea: what the population's correlations give away is no leak of the model; this is the
    baseline to subtract.

    Needs: a population in which the attribute is known.

    Score: P(value | other inputs, class), by a classifier trained on the population.

    Reference: Jayaraman and Evans (2022).

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        A random forest by default.
    label : str, optional
    """

    needs = ModelNeeds(Access.LABELS, training=False, goal="attribute")

    def __init__(self, classifier: Any = None, *, label: str | None = None) -> None:
        super().__init__(label)
        self.classifier = classifier

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Probability of each value, (targets, values)."""
        return imputed(briefing, self.classifier, self.label, rng)


class ConfidenceAIA(_AttributeAttack):
    """Guesses the value with which the model is most confident of the true class.

    Idea: the model is asked about the record with every value of the attribute; where it learnt
    the record, the true value fits best.

    Needs: scores, one query per record and value.

    Score: prior(v) p_y(x with v), normalised over the values.

    Reference: Fredrikson, Jha and Ristenpart (2015).

    Parameters
    ----------
    prior : {"marginal", "imputation", "uniform"}
        What is believed before the model is asked: shares in the population, the answer of
        `ImputationAIA`, or nothing.
    label : str, optional
    """

    def __init__(self, prior: str = "marginal", *, label: str | None = None) -> None:
        super().__init__(label)
        self.prior = check_choice(prior, "prior", PRIORS)

    def _default_label(self) -> str:
        return f"{type(self).__name__}({self.prior})"

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Posterior probability of each value, (targets, values)."""
        prior = _prior(self.prior, briefing, self.label, rng)
        return _normalised(prior * self._likelihoods(release.data, briefing))

    def _likelihoods(self, model: Any, briefing: Any) -> np.ndarray:
        codes = model.codes_of(briefing.targets.y)
        rows = np.arange(len(codes))
        answers = [
            model.predict_proba(briefing.with_value(value))[rows, codes]
            for value in briefing.attribute_values
        ]
        return np.column_stack(answers)


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

    needs = ModelNeeds(Access.LABELS, training=False, goal="attribute")

    def _likelihoods(self, model: Any, briefing: Any) -> np.ndarray:
        codes = model.codes_of(briefing.targets.y)
        classes = len(model.classes)
        counts = np.full((classes, classes), 1 / classes) + np.eye(classes)
        if briefing.auxiliary is not None:
            held = briefing.auxiliary
            np.add.at(counts, (model.predict_codes(held.X), model.codes_of(held.y)), 1.0)
        confusion = counts / counts.sum(axis=1, keepdims=True)
        # A model is right about what it was trained on more often than the population shows.
        confusion = MEMORISED * np.eye(classes) + (1 - MEMORISED) * confusion
        answers = [
            confusion[model.predict_codes(briefing.with_value(value)), codes]
            for value in briefing.attribute_values
        ]
        return np.column_stack(answers)


def imputed(briefing: Any, classifier: Any, label: str, rng: np.random.Generator) -> np.ndarray:
    """P(value | other inputs, class), learned from the attacker's population."""
    if briefing.auxiliary is None:
        raise IncompatibleAttackError(
            f"{label} learns from a population in which the attribute is known: give the threat "
            f"model population=(X, y)"
        )
    from sklearn.ensemble import RandomForestClassifier

    held, attribute = briefing.auxiliary, briefing.attribute
    both = _without(held, attribute).concat(_without(briefing.targets, attribute))
    inputs = both.encoding().encode(both.X)
    classes = pd.get_dummies(pd.Series(both.y).astype(object)).to_numpy(dtype=float)
    inputs = np.concatenate([inputs, classes], axis=1)
    column = held.X[attribute] if held.is_frame else pd.Series(held.X[:, attribute])
    codes = pd.Index(briefing.attribute_values).get_indexer(pd.Index(column.astype(object)))
    known = codes >= 0
    model = classifier or RandomForestClassifier(100, min_samples_leaf=3)
    model = seeded_clone(model, rng).fit(inputs[: len(held)][known], codes[known])
    shares = np.zeros((len(briefing.targets), len(briefing.attribute_values)))
    shares[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(inputs[len(held) :])
    return shares


def _without(records: Any, attribute: Any) -> Records:
    """The records less a column."""
    if isinstance(records.X, pd.DataFrame):
        return Records(records.X.drop(columns=attribute), records.y)
    return Records(np.delete(records.X, attribute, axis=1), records.y)


def _prior(kind: str, briefing: Any, label: str, rng: np.random.Generator) -> np.ndarray:
    if kind == "imputation":
        # A share of zero in few similar records does not make a value impossible.
        return imputed(briefing, None, label, rng) + 0.01
    if kind == "uniform":
        return np.full(len(briefing.attribute_values), 1.0)
    return np.asarray(briefing.priors)


def _normalised(weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights, 1.0) / np.where(total > 0, total, weights.shape[1])
