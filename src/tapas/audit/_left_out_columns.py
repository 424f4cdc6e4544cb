"""Values of columns that are left out of an audit of files, or label records, in the release."""

import numpy as np
import pandas as pd

from tapas.game import compare_sides
from tapas.results import LeftOutColumn
from tapas.stats import excess_p_value

__all__ = ["looked_up"]


def looked_up(
    private: pd.DataFrame, holdout: pd.DataFrame, released: pd.DataFrame, seed: int
) -> tuple[LeftOutColumn, ...]:
    """Count the private values in the release, and those of the holdout, of columns of all three.

    Values are compared as text. A column that counts the rows of the release is not looked at, nor
    one without values of either side alone.
    """
    tables = (private, holdout, released)
    shared = [name for name in private if name in holdout and name in released]
    found = (_looked_up(str(name), [_texts(one[name]) for one in tables], seed) for name in shared)
    return tuple(one for one in found if one is not None)


def _looked_up(name: str, texts: list[pd.Series], seed: int) -> LeftOutColumn | None:
    if _counts_rows(texts[2]):
        return None
    codes = pd.factorize(pd.concat(texts, ignore_index=True))[0]
    inside, outside, among = np.split(codes, np.cumsum([len(one) for one in texts])[:-1])
    alone = (np.setdiff1d(inside, outside), np.setdiff1d(outside, inside))
    if not all(map(len, alone)):
        return None
    sides = (inside, outside)
    rows = compare_sides(sides, seed).once(sides).rows
    compared = [_held(side[some], among) for side, some in zip(sides, rows, strict=True)]
    counts = [(len(values), _held(values, among)[0]) for values in alone]
    return LeftOutColumn(name, *counts[0], *counts[1], excess_p_value(*compared[0], *compared[1]))


def _held(values: np.ndarray, among: np.ndarray) -> tuple[int, int]:
    """How many of some values are among others, and how many there are."""
    return int(np.isin(values, among).sum()), len(values)


def _texts(column: pd.Series) -> pd.Series:
    """Values as text, missing ones left out; 7.0 is 7, as where a whole number is missing."""
    texts = column[column.notna()].astype(str).str.strip()
    return texts[texts != ""].str.replace(r"^(-?\d+)\.0$", r"\1", regex=True)


def _counts_rows(texts: pd.Series) -> bool:
    """Whether a column holds 0, 1, 2 and so on, from whatever number: it is about no record."""
    if not texts.str.fullmatch(r"\d{1,15}").all():
        return False
    numbers = texts.astype(np.int64).to_numpy()
    return len(numbers) > 1 and bool((np.diff(numbers) == 1).all())
