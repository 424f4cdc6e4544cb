"""The practical limit of some documented cases: the same draws and kernels on bare numpy arrays."""

from collections.abc import Callable
from functools import cache, partial
from tempfile import TemporaryDirectory

import numpy as np
from documented_cases import ROWS, TEST, TRAIN, hospital_table

Arrays = tuple[np.ndarray, np.ndarray]


@cache
def arrays(rows: int) -> Arrays:
    """Codes of categories and numbers of a table."""
    table = hospital_table(rows + 1).table
    return table.codes, table.numbers


def release(pool: Arrays, rows: int, number: int, order: np.ndarray) -> Arrays:
    """One trial: a block of a shuffle, the target by a coin, a sample of the private rows."""
    coin, mixing, drawing = (
        np.random.default_rng(np.random.SeedSequence(0, spawn_key=(number, part)))
        for part in range(3)
    )
    here = order[number * rows % (len(order) - rows) :][:rows]
    if coin.random() < 0.5:
        here = np.append(here, 0)
    here = mixing.permutation(here)
    drawn = here[np.random.RandomState(drawing.integers(2**32)).permutation(len(here))[:rows]]
    return pool[0].take(drawn, axis=0), pool[1].take(drawn, axis=0)


def releases(rows: int, pool_rows: int, number: int) -> list[Arrays]:
    pool = arrays(pool_rows)
    blocks = max(1, pool_rows // 2 // rows)
    found = []
    for trial in range(number):
        if trial % blocks == 0:
            order = 1 + np.random.default_rng(trial).permutation(pool_rows // 2)
        found.append(release(pool, rows, trial, order))
    return found


def closest_hamming() -> None:
    pool = arrays(4_000)
    for codes, numbers in releases(ROWS, 4_000, TRAIN + TEST):
        ((codes != pool[0][0]).sum(1) + (numbers != pool[1][0]).sum(1)).min()


def kernel_density() -> None:
    sizes = hospital_table(2).table.num_categories()
    pool = arrays(4_000)
    for codes, numbers in releases(ROWS, 4_000, TRAIN + TEST):
        gaps = ((numbers - pool[1][0]) ** 2).sum(1)
        gaps += 2.0 * (codes != pool[0][0])[:, [size > 5 or size < 5 for size in sizes]].sum(1)
        np.logaddexp.reduce(-gaps / 2)


def figures(number: int) -> None:
    """So many figures of one axes with one line, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with TemporaryDirectory() as folder:
        for place in range(number):
            figure = Figure(figsize=(9, 4), dpi=110)
            FigureCanvasAgg(figure)
            figure.add_axes((0, 0, 1, 1)).plot([0, 1], [0, 1])
            figure.savefig(f"{folder}/{place}.png")


def sketches() -> dict[str, Callable[[], object]]:
    """By the name of the case."""
    return {
        "closest Hamming 200+200": closest_hamming,
        "KDE 200+200": kernel_density,
        "200 trials of 1,000 rows": partial(releases, 1_000, 20_000, 200),
        "200 trials of 5,000 rows": partial(releases, 5_000, 20_000, 200),
        "plain report of 20": partial(figures, 39),
        "ROC report of 20": partial(figures, 2),
        "bootstrap report of 20": partial(figures, 39),
        "500+500 Raw trials": lambda: releases(ROWS, 4_000, 1_000),
    }
