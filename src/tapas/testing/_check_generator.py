"""What an audit relies on in a generator, as checks that anybody can run on theirs."""

import copy
import inspect
from typing import Any

import cloudpickle
import numpy as np
from pandas import DataFrame

from tapas._random import seeded_globals, stream
from tapas._validate import listing
from tapas.datasets import TabularDataset, load_sample
from tapas.testing._promises import Promise, kept_promises
from tapas.threat_models import (
    BlackBoxKnowledge,
    accepts_seed,
    run_mechanism,
    uses_documented_call,
)

SEEDS_THAT_SHOULD_DIFFER = 20
SAMPLE_ROWS = 120


class GeneratorCheck(Promise[[Any, TabularDataset]]):
    """One promise of a generator; it is called with a generator and a dataset."""


def check_generator(generator: Any, dataset: TabularDataset | None = None) -> list[str]:
    """Run every check on a generator.

    Parameters
    ----------
    generator : Generator
        It is copied, never fitted itself.
    dataset : TabularDataset, optional
        At least 4 records that the generator can learn from; by default simulated census records
        (categories only), so give a table of your own where the generator handles numbers.

    Returns
    -------
    list of str
        Names of the promises that are kept: all of `generator_checks`.

    Raises
    ------
    BrokenPromiseError
        Names every promise that is broken and what was seen. It is an AssertionError too, so the
        call can stand in a test.
    """
    data = load_sample("census", rows=SAMPLE_ROWS, seed=1) if dataset is None else dataset
    name = BlackBoxKnowledge(generator, None).label
    return kept_promises(name, generator_checks(), generator, data)


def generator_checks() -> tuple[GeneratorCheck, ...]:
    """All checks, for parametrised tests: each is called with a generator and a dataset."""
    return _CHECKS


def _run(generator: Any, dataset: TabularDataset, size: int, seed: int) -> Any:
    return _read(run_mechanism(generator, dataset, size, {}, rng=stream(seed)).output, dataset)


def _read(output: Any, dataset: TabularDataset) -> Any:
    """A release as an audit reads it: a data frame may stand for a dataset."""
    return TabularDataset(output, dataset.description) if isinstance(output, DataFrame) else output


def _half(dataset: TabularDataset) -> int:
    return max(len(dataset) // 2, 1)


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, TabularDataset) and isinstance(second, TabularDataset):
        return first.table.same_values(second.table)
    return bool(first == second)


def _label_breach(generator: Any, dataset: TabularDataset) -> str | None:
    label = getattr(generator, "label", None)
    return None if isinstance(label, str) and label else f"its label is {label!r}"


def _untrained_breach(generator: Any, dataset: TabularDataset) -> str | None:
    if not uses_documented_call(generator) or getattr(generator, "trained", False):
        return None
    try:
        release = copy.deepcopy(generator).generate(1)
    except Exception:
        return None
    return f"it returned a {type(release).__name__}"


def _schema_breach(generator: Any, dataset: TabularDataset) -> str | None:
    release = _run(generator, dataset, _half(dataset), 1)
    if not isinstance(release, TabularDataset):
        return f"it is a {type(release).__name__}"
    if release.description != dataset.description:
        return f"its columns are {list(release.description.columns)}"
    return None


def _number_breach(generator: Any, dataset: TabularDataset) -> str | None:
    for size in sorted({1, 3, _half(dataset)}):
        release = _run(generator, dataset, size, 1)
        if len(release) != size:
            return f"asked for {size} records it gave {len(release)}"
    return None


def _values_breach(generator: Any, dataset: TabularDataset) -> str | None:
    release = _run(generator, dataset, _half(dataset), 1)
    checked = TabularDataset(release.data.copy(), dataset.description).table
    for column in checked.number_columns():
        values = checked.column(column.name)
        values = values[~np.isnan(values)]
        if column.kind in ("integer", "date") and np.any(values != np.floor(values)):
            return f"column {column.name!r} holds values that are not whole"
        least = {"interval": 0.0, "real/non-negative": 0.0}.get(column.type, -np.inf)
        most = 1.0 if column.type == "interval" else np.inf
        if np.any((values < least) | (values > most)):
            return f"column {column.name!r} ({column.type}) holds values out of its range"
    return None


def _private_data_breach(generator: Any, dataset: TabularDataset) -> str | None:
    before, given = dataset.table, dataset.copy()
    release = _run(generator, given, _half(dataset), 1)
    if not given.table.same_values(before) or given.description != dataset.description:
        return "the dataset had changed after fit and generate"
    return "the release is the private dataset object" if release is given else None


def _original_breach(generator: Any, dataset: TabularDataset) -> str | None:
    before = dict(getattr(generator, "__dict__", {}))
    _run(generator, dataset.copy(), 1, 1)
    after = dict(getattr(generator, "__dict__", {}))
    touched = [n for n in {**before, **after} if before.get(n) is not after.get(n)]
    return f"fitting a copy changed {listing(sorted(touched))} of the original" if touched else None


def _repeat_breach(generator: Any, dataset: TabularDataset) -> str | None:
    releases = [_run(generator, dataset, _half(dataset), 1) for _ in range(2)]
    return None if _same(*releases) else "two runs with the same seed differ"


def _variety_breach(generator: Any, dataset: TabularDataset) -> str | None:
    first = _run(generator, dataset, _half(dataset), 0)
    for seed in range(1, SEEDS_THAT_SHOULD_DIFFER):
        if not _same(first, _run(generator, dataset, _half(dataset), seed)):
            return None
    return f"{SEEDS_THAT_SHOULD_DIFFER} seeds all gave the same release"


def _global_state_breach(generator: Any, dataset: TabularDataset) -> str | None:
    if not accepts_seed(generator):
        return None
    releases = []
    for ambient in (1, 2):
        with seeded_globals(ambient):
            output = run_mechanism(
                generator, dataset, _half(dataset), {}, rng=stream(1), seed_globals=False
            ).output
        if inspect.iscoroutine(output):
            output.close()
            return None
        releases.append(_read(output, dataset))
    return None if _same(*releases) else "numpy's global generator changed the release"


def _second_fit_breach(generator: Any, dataset: TabularDataset) -> str | None:
    if not uses_documented_call(generator):
        return None
    size = _half(dataset)
    order = np.arange(len(dataset))
    first, second = dataset.take(order[: len(order) // 2]), dataset.take(order[len(order) // 2 :])
    used = copy.deepcopy(generator)
    with seeded_globals(0):
        used.fit(first)
        used.generate(min(size, len(first)))
    size = min(size, len(second))
    return (
        None
        if _same(_run(used, second, size, 1), _run(generator, second, size, 1))
        else "after an earlier fit the release differs from that of a fresh generator"
    )


def _travel_breach(generator: Any, dataset: TabularDataset) -> str | None:
    arrived = cloudpickle.loads(cloudpickle.dumps(generator))
    size = _half(dataset)
    same = _same(_run(arrived, dataset, size, 1), _run(generator, dataset, size, 1))
    return None if same else "what arrived gives another release for the same seed"


_CHECKS = (
    GeneratorCheck("copies", "fitting a copy leaves the original alone", _original_breach),
    GeneratorCheck("label", "the label is a non-empty text", _label_breach),
    GeneratorCheck("not trained", "generate before fit is refused", _untrained_breach),
    GeneratorCheck(
        "schema", "a release is a table with the schema of the private data",
        _schema_breach,
    ),
    GeneratorCheck("number of records", "a release has as many records as asked", _number_breach),
    GeneratorCheck("values", "every value is one that its column allows", _values_breach),
    GeneratorCheck("private data", "the private data is left as it was", _private_data_breach),
    GeneratorCheck("same seed", "the same seed gives the same release", _repeat_breach),
    GeneratorCheck("other seeds", "different seeds give different releases", _variety_breach),
    GeneratorCheck(
        "global randomness", "where a seed is accepted, it decides everything random",
        _global_state_breach,
    ),
    GeneratorCheck("second fit", "a second fit forgets the first", _second_fit_breach),
    GeneratorCheck("travel", "it can be sent to another process", _travel_breach),
)  # fmt: skip
