"""Time set features, queries and the Groundhog attack beside plain pandas twins.

Run it with ``python benchmarks/bench_features.py [PREFIX]``, where PREFIX.csv and PREFIX.json hold
a table to use instead of the simulated one. CPU time on one core.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from tapas.attacks.features._corr_feature import CorrSetFeature
from tapas.attacks.features._groundhog import GroundhogAttack
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._query_attack import QueryAttack
from tapas.attacks.features._query_feature import RandomTargetedQueryFeature
from tapas.attacks.features._set_features import SetFeature
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.datasets import DataDescription, TabularDataset
from tapas.game import MEMBERSHIP, Release, TableBriefing
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

CATEGORIES = [7, 9, 23, 4, 6, 3, 7]
NUM_BINS = 10


def stays(rows: int, seed: int = 0) -> TabularDataset:
    """Eighteen columns: categories, ordered ones, counts and charges."""
    rng = np.random.default_rng(seed)
    schema: list[dict[str, Any]] = []
    values: dict[str, np.ndarray] = {}
    for number, count in enumerate(CATEGORIES):
        name = f"category {number}"
        texts = [f"code {code}" for code in range(count)]
        schema.append({"name": name, "type": "finite", "representation": texts})
        values[name] = np.array(texts)[np.minimum(rng.geometric(0.4, rows) - 1, count - 1)]
    for number in range(2):
        name = f"severity {number}"
        schema.append({"name": name, "type": "finite/ordered", "representation": 5})
        values[name] = rng.integers(0, 5, rows)
    for number in range(3):
        name = f"days {number}"
        schema.append({"name": name, "type": "countable/ordered", "representation": "integer"})
        values[name] = rng.poisson(5, rows)
    for number in range(6):
        name = f"charge {number}"
        schema.append({"name": name, "type": "real/non-negative", "representation": "number"})
        values[name] = rng.lognormal(9, 1, rows).round(2)
    return TabularDataset(pd.DataFrame(values), DataDescription(schema, "stays (simulated)"))


def categories(columns: int, rows: int = 1_000) -> TabularDataset:
    """A table of binary categories whose numeric form has `columns` columns."""
    names = [f"c{number}" for number in range(columns // 2)]
    schema = [{"name": name, "type": "finite", "representation": 2} for name in names]
    codes = np.random.default_rng(0).integers(0, 2, (rows, len(names)))
    return TabularDataset(pd.DataFrame(codes, columns=names), DataDescription(schema))


def cpu_seconds(function: Callable[[], object], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def looped_numeric(frame: pd.DataFrame, description: DataDescription) -> np.ndarray:
    blocks = []
    for column in description.parsed:
        if column.is_one_hot:
            typed = pd.Categorical(frame[column.name], categories=list(column.values or ()))
            blocks.append(pd.get_dummies(typed).to_numpy(dtype=float))
        else:
            blocks.append(frame[column.name].to_numpy(dtype=float)[:, None])
    return np.concatenate(blocks, axis=1)


def looped_features(frame: pd.DataFrame, description: DataDescription) -> np.ndarray:
    """The three feature sets as a script writes them: the numeric form once for each."""
    moments = looped_numeric(frame, description)
    naive = [f(moments, axis=0) for f in (np.nanmean, np.nanmedian, np.nanvar)]
    histograms = []
    for column in description.parsed:
        values = frame[column.name]
        if column.values is not None:
            shares = values.value_counts(normalize=True)
            histograms.append(np.array([shares.get(value, 0.0) for value in column.values]))
        else:
            counts, _ = np.histogram(values.to_numpy(), bins=NUM_BINS)
            histograms.append(counts / len(frame))
    matrix = looped_numeric(frame, description)
    with np.errstate(invalid="ignore", divide="ignore"):
        pearson = np.nan_to_num(np.corrcoef(matrix.T))
    upper = pearson[np.triu_indices(len(pearson), 1)]
    return np.concatenate([*naive, *histograms, upper])


def looped_queries(frame: pd.DataFrame, target: np.ndarray, queries: Any) -> np.ndarray:
    values = frame.to_numpy()
    counts = [
        (values[:, list(query)] == target[list(query)]).all(axis=1).sum() for query in queries
    ]
    return np.array(counts)


class Frames(SetFeature):
    """The twin as a feature: a data frame for each release."""

    def extract(self, datasets: Any) -> np.ndarray:
        return np.stack([looped_features(d.copy().data, d.description) for d in datasets])


def row(what: str, ours: float, twin: float | None = None, unit: str = "ms") -> None:
    scale = 1e3 if unit == "ms" else 1.0
    line = f"{what:<52}{ours * scale:>10.2f} {unit}"
    if twin is not None:
        line += f"{twin * scale:>12.2f} {unit}{twin / ours:>9.1f} x"
    print(line)


def bench_features(source: TabularDataset) -> None:
    features = NaiveSetFeature() + HistSetFeature(NUM_BINS, "data") + CorrSetFeature()
    fitted = features.fitted_to([source])
    rng = np.random.default_rng(0)
    for rows in (1_000, 5_000, 19_000):
        table = source.take(rng.integers(0, len(source), rows), reset_index=True)
        frame = table.copy().data
        twin = cpu_seconds(lambda f=frame: looped_features(f, source.description), 3)
        row(f"all features, {rows:,} rows", cpu_seconds(lambda t=table: fitted([t])), twin)
    for columns in (10, 50, 200):
        table = categories(columns)
        frame = table.copy().data
        fitted = features.fitted_to([table])
        twin = cpu_seconds(lambda f=frame, t=table: looped_features(f, t.description), 3)
        ours = cpu_seconds(lambda t=table, f=fitted: f([t]), 20)
        row(f"all features, 1,000 rows, {columns} one-hot columns", ours, twin)


def bench_queries() -> None:
    rng = np.random.default_rng(0)
    schema = [{"name": f"c{i}", "type": "finite", "representation": 8} for i in range(17)]
    description = DataDescription(schema)
    table = TabularDataset(rng.integers(0, 8, (1_000, 17)), description)
    frame = table.copy().data
    for number in (500, 100_000):
        order = 3 if number == 500 else 8
        feature = RandomTargetedQueryFeature(table.get_records([0]), order, number, seed=0)
        queries, target = feature.queries, feature.target_values
        ours = cpu_seconds(lambda f=feature: f([table]))
        twin = None
        if number == 500:
            twin = cpu_seconds(lambda q=queries, t=target: looped_queries(frame, t, q), 3)
        row(f"{len(queries or ()):,} queries of order {order}, 1,000 x 17", ours, twin)
    many = RandomTargetedQueryFeature(None, 3, 500, seed=0)
    threat_model = game(table, table.take(range(50)), Raw())
    briefing = threat_model.briefing(all_targets=True)
    row("500 queries for each of 50 targets", cpu_seconds(lambda: many.observe(table, briefing)))
    few = table.view([f"c{i}" for i in range(15)])
    about = TableBriefing(MEMBERSHIP, few.take(range(50)))
    see, release = QueryAttack(1 << 15).observer(about, lambda number: []), Release(few)
    every = cpu_seconds(lambda: see(release, about, rng=rng))
    row("all 32,767 queries of 15 columns for 50 targets", every)


def game(source: TabularDataset, targets: TabularDataset, generator: Raw) -> TargetedMIA:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TargetedMIA(
            AuxiliaryDataKnowledge(source, num_training_records=len(source) // 4, seed=0),
            targets,
            BlackBoxKnowledge(generator, num_synthetic_records=len(source) // 4),
            replace_target=True,
            seed=0,
            n_jobs=1,
        )


def play(attack: ShadowModellingAttack, threat_model: TargetedMIA, trials: int) -> None:
    for view in threat_model:
        attack.train(view, num_samples=trials)
        view.test(attack, num_samples=trials)


def bench_attacks(source: TabularDataset) -> None:
    pool = source.take(np.random.default_rng(0).integers(0, len(source), 4_000), reset_index=True)
    one, fifty = pool.take([0]), pool.take(range(50))
    ours = cpu_seconds(lambda: play(GroundhogAttack(), game(pool, one, Raw()), 200), 2)
    loop = cpu_seconds(
        lambda: play(GroundhogAttack(features=Frames()), game(pool, one, Raw()), 200), 1
    )
    row("Groundhog, 200 + 200 trials of 1,000 rows, everything", ours, loop, "s")
    threat_model = game(pool, fifty, Raw())
    attack = GroundhogAttack()
    observed = cpu_seconds(lambda: attack.train(next(iter(threat_model)), 500), 1)
    row("50 targets, 500 trials: trials, features, 1 forest", observed, None, "s")
    rest = cpu_seconds(lambda: [attack.train(view, 500) for view in threat_model], 1)
    row("50 targets, 500 trials: a forest for each target", rest, None, "s")
    values = threat_model.observe(attack, 500)
    forest = RandomForestClassifier(100, random_state=0)
    alone = cpu_seconds(lambda: forest.fit(values.values[:, 0], values.secrets[:, 0]), 2)
    row("of these, one forest of scikit-learn by itself", alone, None, "s")


def main() -> None:
    source = TabularDataset.read(sys.argv[1]) if len(sys.argv) > 1 else stays(20_000)
    print(f"{'':<52}{'ours':>13}{'pandas twin':>15}{'ratio':>11}")
    with threadpool_limits(1):
        bench_features(source)
        bench_queries()
        bench_attacks(source)


if __name__ == "__main__":
    main()
