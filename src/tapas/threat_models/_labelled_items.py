"""Data sets and loaders of torch, or anything of their kind, as inputs and classes."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError

LABELS = ("labels", "label", "targets", "target", "y")
MOST_TIMES = 20  # that a loader may give each record before it counts as endless


@runtime_checkable
class LabelledItems(Protocol):
    """A data set of torch, or anything that gives (inputs, class) by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Sequence[ArrayLike]: ...


@runtime_checkable
class Loader(Protocol):
    """A data loader of torch; a part of a data set has no sampler."""

    dataset: LabelledItems
    sampler: Iterable[int]
    batch_sampler: Iterable[Sequence[int]] | None


@runtime_checkable
class _Batches(Protocol):
    """Batches of what a sampler gives."""

    sampler: Iterable[int]


@runtime_checkable
class _Drawn(Protocol):
    """What is drawn by a generator of its own, if it has one."""

    generator: Any


def items_of(given: Any, name: str) -> tuple[Any, np.ndarray]:
    """Inputs and classes of all items of a data set, or of those that a loader gives."""
    if isinstance(given, Loader):
        items, numbers = given.dataset, _given_numbers(given, name)
    else:
        items, numbers = given, list(range(len(given)))
    try:
        rows = [items[number] for number in numbers]
    except NotImplementedError:
        raise SchemaError(f"{name}: {_no_numbers(type(items).__name__)}") from None
    if not rows:
        raise SchemaError(f"{name}: the data set is empty")
    return _parted(rows, name)


def _given_numbers(loader: Loader, name: str) -> list[int]:
    """Who is given, once each and in order, however often and in whatever order they come."""
    if not isinstance(loader.dataset, LabelledItems):
        raise SchemaError(f"{name}: {_no_numbers(type(loader.dataset).__name__)}")
    limit = MOST_TIMES * len(loader.dataset)
    batches = loader.batch_sampler
    samplers: list[Any] = [loader.sampler if batches is None else batches]
    if isinstance(batches, _Batches):  # shuffled batches without the last leave others out
        samplers.append(batches.sampler)
    generators = [one.generator for one in samplers if isinstance(one, _Drawn)]
    for sampler in samplers:
        with _same_randomness(*generators):
            first, second = _numbers(sampler, limit), _numbers(sampler, limit)
        if first is None:
            break
        if first == second:
            return sorted(first)
    raise SchemaError(
        f"{name}: {type(loader.sampler).__name__} gives other records each time, or never ends, so "
        f"that it cannot be told who was trained on: give a data set with numbered items, "
        f"torch.utils.data.Subset(dataset, rows) with the rows that were, or a pair (X, y)"
    )


def _numbers(sampler: Iterable[int | Sequence[int]], limit: int) -> set[int] | None:
    """Distinct numbers that a sampler gives, one by one or in batches; None where it never ends."""
    flat = (one for step in sampler for one in np.atleast_1d(np.asarray(step)))
    found = list(islice(flat, limit + 1))
    return None if len(found) > limit else {int(one) for one in found}


@contextmanager
def _same_randomness(*generators: Any) -> Iterator[None]:
    """Leave generators of torch, and torch's own, as if nothing had been drawn."""
    torch = sys.modules.get("torch")
    holders = [one for one in (*generators, torch and torch.default_generator) if one is not None]
    states = [one.get_state() for one in holders]
    try:
        yield
    finally:
        for one, state in zip(holders, states, strict=True):
            one.set_state(state)


def _parted(rows: list[Any], name: str) -> tuple[Any, np.ndarray]:
    """Items (x, y), (a, b, ..., y) or by name as inputs, one or several, and classes."""
    if isinstance(rows[0], Mapping):
        keys = list(rows[0])
        label: Any = next((key for key in LABELS if key in keys), None)
        if label is None:
            raise SchemaError(
                f"{name}: an item must hold its class as {listing(LABELS)}, and holds "
                f"{listing(keys)}"
            )
    elif isinstance(rows[0], (tuple, list)) and len(rows[0]) > 1:
        keys, label = list(range(len(rows[0]))), len(rows[0]) - 1
    else:
        raise SchemaError(
            f"{name}: an item must be (inputs, class), or a dictionary of inputs and 'labels', got "
            f"{type(rows[0]).__name__}"
        )
    inputs = {str(key): _stacked(rows, key, name) for key in keys if key != label}
    no_numbers = [key for key, part in inputs.items() if part.dtype.kind not in "biuf"]
    if no_numbers and len(inputs) > 1:
        raise SchemaError(
            f"{name}: the inputs {listing(no_numbers)} hold no numbers: leave them out"
        )
    y = np.asarray([np.asarray(row[label]).tolist() for row in rows])
    if len(inputs) == 1:
        X: Any = next(iter(inputs.values()))
    else:
        X = inputs if isinstance(rows[0], Mapping) else tuple(inputs.values())
    return X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def _stacked(rows: list[Any], key: Any, name: str) -> np.ndarray:
    parts = [np.asarray(row[key]) for row in rows]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise SchemaError(
            f"{name}: input {key!r} has the shape {parts[0].shape} in the first item, and others "
            f"differ: {listing(sorted(shapes))}; pad or cut all to one length, as the collate_fn "
            f"of a loader does for a batch"
        )
    return np.stack(parts)


def _no_numbers(kind: str) -> str:
    return (
        f"{kind} gives records one after the other, not by number: give a pair (X, y) or a data "
        f"set with __len__ and __getitem__"
    )
