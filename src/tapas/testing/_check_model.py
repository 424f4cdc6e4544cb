"""What attacks rely on in a model, as checks that anybody can run on theirs."""

from collections.abc import Callable
from copy import deepcopy

import cloudpickle
import numpy as np

from tapas._spec import spec_of
from tapas.errors import SchemaError, TapasError
from tapas.models import Access, AccessError, Inputs, Model, QueryBudgetError, as_model
from tapas.testing._promises import Promise, kept_promises

ROUNDING = 1e-5  # sums of many products come in another order where rows come in other batches
MOST_ROWS = 64
NO_CLASS = "no class of the model"


def check_model(model: object, X: Inputs) -> list[str]:
    """Run every check on a model.

    Parameters
    ----------
    model : Model
        Or anything else that `tapas.models.as_model` takes. Its queries are counted on.
    X : array or DataFrame (n, d)
        At least 4 records that it can be asked about; the first 64 are.

    Returns
    -------
    list of str
        Names of the promises that are kept.

    Raises
    ------
    BrokenPromiseError
        Names every promise that is broken, and what was seen instead.
    """
    asked = as_model(model)
    return kept_promises(asked.label, _PROMISES, asked, some(X, slice(MOST_ROWS)))


def some(X: Inputs, rows: slice | np.ndarray) -> Inputs:
    """Rows by position."""
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def answers(model: Model, X: Inputs) -> np.ndarray:
    """The most that a model answers: probabilities, or the positions of predicted classes."""
    shows_scores = model.access.shows(Access.SCORES)
    return model.predict_proba(X) if shows_scores else model.predict_codes(X)


def _are_close(first: np.ndarray, second: np.ndarray) -> bool:
    return first.shape == second.shape and np.allclose(first, second, rtol=0, atol=ROUNDING)


def _raises(kind: type[TapasError], action: Callable[[], object]) -> bool:
    try:
        action()
    except kind:
        return True
    return False


# -- promises --------------------------------------------------------------------------------


def _label_breach(model: Model, X: Inputs) -> str | None:
    return None if isinstance(model.label, str) and model.label else f"it is {model.label!r}"


def _probabilities_breach(model: Model, X: Inputs) -> str | None:
    if not model.access.shows(Access.SCORES):
        return None
    found = model.predict_proba(X)
    if found.shape != (len(X), len(model.classes)):
        return f"their shape is {found.shape} for {len(X)} records"
    if not np.isfinite(found).all() or (found < 0).any() or (found > 1).any():
        return "some are outside [0, 1]"
    off = np.abs(found.sum(axis=1) - 1)
    return None if off.max() < 1e-3 else f"those of record {off.argmax()} are {found[off.argmax()]}"


def _labels_breach(model: Model, X: Inputs) -> str | None:
    labels, codes = model.predict(X), model.predict_codes(X)
    if labels.shape != (len(X),):
        return f"their shape is {labels.shape} for {len(X)} records"
    if not set(labels.tolist()) <= set(model.classes.tolist()):
        return f"it predicts {sorted(set(labels.tolist()) - set(model.classes.tolist()))}"
    same = (model.classes[codes] == labels).all() and (model.codes_of(labels) == codes).all()
    return None if same else "positions of the predicted classes belong to other classes"


def _repetition_breach(model: Model, X: Inputs) -> str | None:
    same = np.array_equal(answers(model, X), answers(model, X))
    return None if same else "the same records were answered differently the second time"


def _batches_breach(model: Model, X: Inputs) -> str | None:
    whole = answers(model, X)
    for words, rows in {
        "one by one": [slice(row, row + 1) for row in range(len(X))],
        "in two halves": [slice(0, len(X) // 2), slice(len(X) // 2, None)],
    }.items():
        parts = np.concatenate([answers(model, some(X, part)) for part in rows])
        if not _are_close(whole, parts):
            return f"records asked about {words} are answered differently"
    backwards = np.arange(len(X))[::-1]
    if not _are_close(whole[backwards], answers(model, some(X, backwards))):
        return "records in another order are answered differently"
    return None


def _inputs_breach(model: Model, X: Inputs) -> str | None:
    given = deepcopy(X)
    before = spec_of(given).digest
    answers(model, given)
    return None if spec_of(given).digest == before else "the records had changed afterwards"


def _counting_breach(model: Model, X: Inputs) -> str | None:
    ways = {"predict": model.predict, "predict_codes": model.predict_codes}
    if model.access.shows(Access.SCORES):
        ways["predict_proba"] = model.predict_proba
    for name, ask in ways.items():
        for rows in (X, some(X, slice(1)), some(X, slice(0))):
            before = model.queries
            answer = ask(rows)
            if model.queries - before != len(rows):
                return f"{name} of {len(rows)} records counted {model.queries - before} queries"
            if len(answer) != len(rows):
                return f"{name} of {len(rows)} records gave {len(answer)} answers"
    view, before = model.restricted(Access.LABELS), model.queries
    view.predict(X)
    if (view.queries, model.queries - before) != (len(X), len(X)):
        return (
            f"{len(X)} queries through a view count {view.queries} on it and "
            f"{model.queries - before} on the model"
        )
    return None


def _budget_breach(model: Model, X: Inputs) -> str | None:
    view = model.restricted(Access.LABELS, budget=3)
    view.predict(some(X, slice(2)))
    before = model.queries
    if not _raises(QueryBudgetError, lambda: view.predict(some(X, slice(2)))):
        return "4 queries were answered on a budget of 3"
    if model.queries != before or view.remaining != 1:
        return f"queries that were refused count: {view.remaining} of 1 remain"
    view.predict(some(X, slice(1)))
    return None if view.remaining == 0 else f"{view.remaining} remain when all are used"


def _access_breach(model: Model, X: Inputs) -> str | None:
    reads: dict[Access, Callable[[Model], object]] = {
        Access.LABELS: lambda view: view.predict(X),
        Access.SCORES: lambda view: view.predict_proba(X),
        Access.PARAMETERS: lambda view: view.parameters,
    }
    for shown in Access:
        if not model.access.shows(shown):
            if not _raises(AccessError, lambda shown=shown: model.restricted(shown)):  # type: ignore[misc]
                return f"a view shows {shown.value}, though it shows {model.access.value} only"
            continue
        view = model.restricted(shown)
        for wanted, read in reads.items():
            refused = _raises(AccessError, lambda view=view, read=read: read(view))  # type: ignore[misc]
            if refused == shown.shows(wanted):
                does = "refuses" if refused else "gives"
                return f"a view of its {shown.value} {does} {wanted.value}"
        if shown is not Access.PARAMETERS and not _raises(
            AccessError,
            lambda view=view: view.restricted(Access.PARAMETERS),  # type: ignore[misc]
        ):
            return f"a view of its {shown.value} can be widened"
    return None


def _alignment_breach(model: Model, X: Inputs) -> str | None:
    known = model.classes
    whole, labels = answers(model, X), model.predict(X)
    scores = model.access.shows(Access.SCORES)
    turned = model.aligned(known[::-1])
    wanted = whole[:, ::-1] if scores else len(known) - 1 - whole
    if not np.array_equal(answers(turned, X), wanted) or not (turned.predict(X) == labels).all():
        return "turning the order of classes does not turn the columns"
    wider = model.aligned(np.array([NO_CLASS, *known.tolist()], dtype=object))
    if not (wider.predict(X) == labels).all():
        return "beside a class that it does not know, it predicts others"
    if scores and (wider.predict_proba(X)[:, 0] != 0).any():
        return "a class that it does not know has a probability above zero"
    if not _raises(SchemaError, lambda: model.aligned(known[:-1])):
        return "it can be aligned to classes without those that it knows"
    return None


def _identity_breach(model: Model, X: Inputs) -> str | None:
    answers(model, some(X, slice(1)))
    before = spec_of(model)
    if before.doubts:
        return f"it cannot be told from others: {before.doubts[0]}"
    answers(model, X)
    return None if spec_of(model).digest == before.digest else "asking it made it another"


def _travel_breach(model: Model, X: Inputs) -> str | None:
    arrived = cloudpickle.loads(cloudpickle.dumps(model))
    if not np.array_equal(answers(arrived, X), answers(model, X)):
        return "what arrived answers differently"
    return None if spec_of(arrived).digest == spec_of(model).digest else "what arrived is another"


_PROMISES = (
    Promise("label", "the label is a non-empty text", _label_breach),
    Promise("probabilities", "those of each record sum to one", _probabilities_breach),
    Promise("labels", "predicted classes are among its classes", _labels_breach),
    Promise("repetition", "the same question has the same answer", _repetition_breach),
    Promise("batches", "an answer does not depend on what else is asked", _batches_breach),
    Promise("inputs", "records that it is asked about are left as they were", _inputs_breach),
    Promise("queries", "every record asked about counts as one query", _counting_breach),
    Promise("budget", "a budget of queries is kept", _budget_breach),
    Promise("access", "a view shows what it should and no more", _access_breach),
    Promise("alignment", "columns follow the classes that are asked for", _alignment_breach),
    Promise("identity", "it is known by what it is, not by what it was asked", _identity_breach),
    Promise("travel", "it can be sent to another process", _travel_breach),
)
