"""Real tables that need no network, as labelled records for the benchmarks.

scikit-learn's bundled sets, the RAND health insurance experiment where statsmodels is installed
(its file is read, the package is not imported), and UCI Adult where a path is given.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from tapas.models import Records

RANDHIE_OUTCOMES = [
    *("outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "meddol", "lnmeddol", "binexp"),
    *("totadm", "inpmis", "mentvis", "mdvis", "notmdvis"),
]
RANDHIE_CODES = ("plan", "site", "year")


@dataclass(frozen=True, eq=False)
class Table:
    """Records, and which of them belong to one person (a split must not part them)."""

    name: str
    records: Records
    groups: np.ndarray

    def limited(self, rows: int, rng: np.random.Generator) -> "Table":
        """At most about `rows` records of whole groups, drawn at random."""
        if len(self.records) <= rows:
            return self
        found, sizes = np.unique(self.groups, return_counts=True)
        order = rng.permutation(len(found))
        kept = found[order[np.cumsum(sizes[order]) <= rows]]
        where = np.flatnonzero(np.isin(self.groups, kept))
        return Table(self.name, self.records.take(where), self.groups[where])

    def halves(self, rng: np.random.Generator) -> tuple[Records, Records]:
        """Two halves by groups."""
        found = np.unique(self.groups)
        first = rng.permutation(found)[: len(found) // 2]
        inside = np.isin(self.groups, first)
        return self.records.take(inside), self.records.take(~inside)


def load_bundled() -> Iterator[Table]:
    """digits, breast cancer, wine, and diabetes with its outcome cut at the median."""
    for name in ("digits", "breast_cancer", "wine"):
        bunch = getattr(datasets, f"load_{name}")()
        yield _ungrouped(name, Records(bunch.data, bunch.target))
    bunch = datasets.load_diabetes()
    above = np.where(bunch.target > np.median(bunch.target), "worse", "better")
    yield _ungrouped("diabetes", Records(bunch.data, above))


def load_randhie() -> Table | None:
    """Who saw a doctor more than twice in a year; several years of one person are one group."""
    spec = find_spec("statsmodels")
    if spec is None or not spec.submodule_search_locations:
        return None
    home = Path(spec.submodule_search_locations[0])
    frame = pd.read_csv(home / "datasets" / "randhie" / "src" / "randhie.csv")
    visits = np.where(frame["mdvis"] > 2, "often", "seldom")
    X = frame.drop(columns=[*RANDHIE_OUTCOMES, "zper"])
    X = X.astype(dict.fromkeys(RANDHIE_CODES, "category"))
    return Table("randhie", Records(X, visits), frame["zper"].to_numpy())


def load_adult(path: str | Path) -> Table:
    """Who earns above 50,000 a year; ``?`` is a missing value."""
    frame = pd.read_csv(path, na_values="?", skipinitialspace=True)
    records = Records(frame.drop(columns="income"), frame["income"].str.rstrip("."))
    return _ungrouped("adult", records)


def load_tables(adult: str | Path | None = None) -> list[Table]:
    """All tables that are there."""
    tables = list(load_bundled())
    randhie = load_randhie()
    tables += [randhie] if randhie is not None else []
    return [*tables, load_adult(adult)] if adult is not None else tables


def _ungrouped(name: str, records: Records) -> Table:
    return Table(name, records, np.arange(len(records)))
