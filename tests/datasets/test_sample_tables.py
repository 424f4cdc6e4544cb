"""The built-in tables are seeded and have what makes real tables hard to release."""

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import load_sample
from tapas.errors import ConfigError


@pytest.mark.parametrize("name", ["census", "clinic"])
def test_a_seed_gives_one_table(name: str) -> None:
    first, second = load_sample(name, rows=500, seed=3), load_sample(name, rows=500, seed=3)
    assert first.table.same_values(second.table)
    assert not first.table.same_values(load_sample(name, rows=500, seed=4).table)
    assert len(first) == 500
    assert first.label == f"{name} (simulated)"


def test_drawing_a_sample_leaves_global_randomness_alone() -> None:
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    load_sample(rows=50)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]  # noqa: NPY002


def test_the_default_is_a_census_of_ten_thousand() -> None:
    census = load_sample()
    assert len(census) == 10_000
    assert census.description.num_features == 13
    assert all(entry["type"].startswith("finite") for entry in census.description.schema)


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'census', 'clinic'.*'texas'"):
        load_sample("texas")
    with pytest.raises(ConfigError, match="rows"):
        load_sample(rows=0)


def test_columns_of_the_census_depend_on_each_other() -> None:
    frame = load_sample("census", rows=5000, seed=1).data
    pairs = [("Age", "Marital Status"), ("Age", "Economic Activity"), ("Sex", "Occupation")]
    for pair in pairs:
        counts = pd.crosstab(frame[pair[0]], frame[pair[1]]).to_numpy()
        expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
        chi_square = ((counts - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
        assert np.sqrt(chi_square / len(frame)) > 0.2, pair


def test_the_census_has_rare_categories_and_unique_records() -> None:
    census = load_sample("census", rows=5000, seed=1)
    frame = census.data
    assert frame["Religion"].value_counts(normalize=True).min() < 0.02
    unique = ~frame.duplicated(keep=False)
    assert 0.05 < unique.mean() < 1
    impossible = (frame["Age"] == "0-15") & (frame["Economic Activity"] == "retired")
    assert not impossible.any()


def test_the_clinic_has_numbers_dates_and_missing_values() -> None:
    clinic = load_sample("clinic", rows=3000, seed=1)
    frame = clinic.data
    missing = frame.isna().mean()
    assert (missing > 0).sum() >= 4
    assert missing.max() < 0.3
    assert frame["admitted"].dt.normalize().equals(frame["admitted"])
    assert {column.kind for column in clinic.description.parsed} == {
        "date", "datetime", "integer", "category", "ordered", "real"
    }  # fmt: skip
    seen = frame.dropna(subset=["charge"])
    assert np.corrcoef(seen["length of stay"], np.log(seen["charge"]))[0, 1] > 0.4
    assert frame["readmission risk"].between(0, 1).all()
    assert set(frame.loc[frame["ward"] == "maternity", "sex"]) == {"F"}
