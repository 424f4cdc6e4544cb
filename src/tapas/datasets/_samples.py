"""Built-in sample tables. Every record is simulated: none describes a person.

The tables have what makes real ones hard to release: correlated columns, skewed categories,
rare combinations, missing values, dates.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import stream
from tapas._validate import check_choice, check_count
from tapas.datasets._description import DataDescription
from tapas.datasets._tabular import TabularDataset
from tapas.errors import ConfigError

MOST_ROWS = 100_000_000

REGIONS = [
    "North East", "North West", "Yorkshire", "East Midlands", "West Midlands", "East",
    "London", "South East", "South West", "Wales",
]  # fmt: skip
AGE_BANDS = ["0-15", "16-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+"]
MARITAL = ["single", "married", "separated", "divorced", "widowed"]
ECONOMIC = ["employed", "self-employed", "unemployed", "student", "retired", "carer", "sick"]
OCCUPATIONS = [
    "none", "managers", "professionals", "associate", "administrative", "trades", "care",
    "sales", "machine operators", "elementary",
]  # fmt: skip
INDUSTRIES = [
    "none", "agriculture", "manufacturing", "construction", "retail", "hospitality",
    "transport", "finance", "public", "education", "health", "other services",
]  # fmt: skip
GRADES = ["AB", "C1", "C2", "DE"]
HOURS = ["none", "1-15", "16-30", "31-48", "49+"]
ETHNIC = ["white", "mixed", "asian", "black", "other"]
RELIGIONS = ["none", "christian", "muslim", "hindu", "sikh", "jewish", "buddhist", "other"]
HEALTH = ["very good", "good", "fair", "bad", "very bad"]


def load_sample(name: str = "census", rows: int | None = None, seed: int = 0) -> TabularDataset:
    """Make a sample table.

    Parameters
    ----------
    name : {"census", "clinic"}
        "census": thirteen categorical columns about people in households. "clinic": hospital
        stays with numbers, dates, ordered categories and missing values.
    rows : int, optional
        10,000 by default.
    seed : int
        The same seed always gives the same table.
    """
    simulate, schema = _TABLES[check_choice(name, "name", _TABLES)]
    size = 10_000 if rows is None else check_count(rows, "rows", minimum=1)
    if size > MOST_ROWS:
        raise ConfigError(f"a sample has at most {MOST_ROWS:,} rows, got {size}")
    frame = simulate(size, stream(seed, list(_TABLES).index(name)))
    return TabularDataset(frame, DataDescription(schema, f"{name} (simulated)"))


def _finite(name: str, values: list[str]) -> dict[str, Any]:
    return {"name": name, "type": "finite", "representation": values}


_CENSUS_SCHEMA = [
    _finite("Region", REGIONS),
    _finite("Sex", ["female", "male"]),
    {"name": "Age", "type": "finite/ordered", "representation": AGE_BANDS},
    _finite("Marital Status", MARITAL),
    _finite("Student", ["no", "yes"]),
    {"name": "Health", "type": "finite/ordered", "representation": HEALTH},
    _finite("Ethnic Group", ETHNIC),
    _finite("Religion", RELIGIONS),
    _finite("Economic Activity", ECONOMIC),
    _finite("Occupation", OCCUPATIONS),
    _finite("Industry", INDUSTRIES),
    {"name": "Hours worked per week", "type": "finite/ordered", "representation": HOURS},
    _finite("Approximated Social Grade", GRADES),
]

_CLINIC_SCHEMA = [
    {"name": "admitted", "type": "countable/ordered", "representation": "date"},
    {"name": "triage time", "type": "real", "representation": "datetime"},
    {"name": "age", "type": "countable/ordered", "representation": "integer"},
    _finite("sex", ["F", "M"]),
    _finite("ward", ["cardiology", "surgery", "paediatrics", "maternity", "oncology", "general"]),
    {"name": "severity", "type": "finite/ordered", "representation": 5},
    {"name": "length of stay", "type": "countable", "representation": "integer"},
    {"name": "charge", "type": "real/non-negative", "representation": "number"},
    {"name": "temperature", "type": "real", "representation": "number"},
    {"name": "readmission risk", "type": "interval", "representation": "number"},
    {"name": "smoker", "type": "finite", "representation": 2},
]


def _simulate_census(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    age = rng.choice(8, rows, p=[0.19, 0.12, 0.13, 0.14, 0.14, 0.12, 0.09, 0.07])
    region = rng.choice(10, rows, p=_shares([5, 13, 10, 8, 10, 10, 15, 15, 9, 5]))
    sex = (rng.random(rows) < 0.49 - 0.08 * (age == 7)).astype(int)
    status = rng.normal(0.25 * (region == 6), 1.0, rows)  # latent advantage
    marital = _draw(rng, _marital_odds(age))
    student = (rng.random(rows) < np.array([0.7, 0.45, 0.06, 0.03, 0.02, 0, 0, 0])[age]).astype(int)
    ethnic = _draw(rng, _ethnic_odds(region))
    religion = _draw(rng, _religion_odds(ethnic, age))
    economic = _draw(rng, _economic_odds(age, student, sex, status))
    working = economic <= 1
    occupation = np.where(working, 1 + _draw(rng, _occupation_odds(status, sex)), 0)
    industry = np.where(working, 1 + _draw(rng, _industry_odds(occupation, region)), 0)
    hours = np.where(working, _hours(rng, sex, economic, status), 0)
    frailty = 0.35 * age - 0.5 * status + 2.5 * (economic == 6) + rng.normal(0, 1, rows)
    health = np.searchsorted([0.9, 2.3, 3.6, 4.8], frailty)
    grade = np.searchsorted([-0.8, 0.1, 0.7], -status + rng.normal(0, 0.6, rows))
    codes = [region, sex, age, marital, student, health, ethnic, religion, economic, occupation,
             industry, hours, grade]  # fmt: skip
    return pd.DataFrame(
        {
            entry["name"]: np.array(entry["representation"], dtype=object)[values]
            for entry, values in zip(_CENSUS_SCHEMA, codes, strict=True)
        }
    )


def _simulate_clinic(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    day = rng.integers(0, 730, rows)
    ward = rng.choice(6, rows, p=[0.18, 0.22, 0.12, 0.1, 0.13, 0.25])
    centre = np.array([66, 55, 8, 30, 62, 58])[ward]
    age = np.clip(np.round(rng.normal(centre, np.where(ward == 2, 4, 14))), 0, 104)
    sex = np.where(ward == 3, 0, rng.integers(0, 2, rows))
    burden = 0.03 * age + 0.6 * (ward == 4) + rng.gamma(1.5, 0.6, rows)
    severity = np.clip(np.floor(burden), 0, 4)
    stay = rng.poisson(np.exp(0.35 * severity + 0.4 * (ward == 1)))
    charge = np.round(np.exp(rng.normal(6.5 + 0.2 * severity, 0.5)) * (1 + stay), 2)
    temperature = np.round(36.7 + 0.25 * severity + rng.normal(0, 0.5, rows), 1)
    risk = np.round(1 / (1 + np.exp(3 - 0.5 * severity - 0.1 * stay)), 4)
    smoker = (rng.random(rows) < 0.18 + 0.1 * (ward == 0)) & (age >= 16)
    admitted = pd.Timestamp("2023-01-01") + pd.to_timedelta(day, unit="D")
    triage = admitted + pd.to_timedelta(rng.integers(0, 86_400, rows), unit="s")
    names = np.array(_CLINIC_SCHEMA[4]["representation"], dtype=object)
    frame = pd.DataFrame(
        {
            "admitted": admitted,
            "triage time": pd.Series(triage).mask(rng.random(rows) < 0.1),
            "age": age,
            "sex": np.array(["F", "M"], dtype=object)[sex],
            "ward": pd.Series(names[ward]).mask(rng.random(rows) < 0.02),
            "severity": severity,
            "length of stay": stay,
            "charge": pd.Series(charge).mask(rng.random(rows) < 0.05),
            "temperature": pd.Series(temperature).mask(rng.random(rows) < 0.2 - 0.04 * severity),
            "readmission risk": risk,
            "smoker": pd.Series(smoker.astype(float)).mask(rng.random(rows) < 0.12),
        }
    )
    return frame


def _shares(weights: list[float]) -> np.ndarray:
    total = np.array(weights, dtype=float)
    return total / total.sum()


def _draw(rng: np.random.Generator, odds: np.ndarray) -> np.ndarray:
    """One category per row, from unnormalised odds (rows x categories)."""
    cumulative = np.cumsum(odds, axis=1)
    points = rng.random(len(odds)) * cumulative[:, -1]
    return (points[:, None] >= cumulative).sum(axis=1)


def _marital_odds(age: np.ndarray) -> np.ndarray:
    by_age = [
        [1, 0, 0, 0, 0], [95, 4, 0.5, 0.3, 0.02], [60, 35, 2, 3, 0.1], [32, 54, 4, 9, 0.4],
        [18, 60, 4, 16, 2], [9, 66, 3, 17, 5], [6, 64, 2, 12, 16], [6, 42, 1, 5, 46],
    ]  # fmt: skip
    return np.array(by_age, dtype=float)[age]


def _ethnic_odds(region: np.ndarray) -> np.ndarray:
    urban = np.array([1, 2, 2, 2, 3, 1.5, 8, 1.5, 1, 1])[region][:, None]
    return np.array([[90.0, 0, 0, 0, 0]]) + urban * np.array([[0, 1.0, 3.5, 1.6, 0.5]])


def _religion_odds(ethnic: np.ndarray, age: np.ndarray) -> np.ndarray:
    base = np.array([
        [30, 66, 0.2, 0.05, 0.02, 0.5, 0.3, 0.4], [36, 48, 9, 1, 0.5, 0.7, 1, 0.8],
        [8, 11, 46, 21, 12, 0.1, 3, 1], [9, 72, 16, 0.4, 0.1, 0.1, 0.2, 0.5],
        [13, 27, 40, 2, 6, 1.5, 4, 3],
    ])  # fmt: skip
    odds = base[ethnic]
    odds[:, 0] *= np.linspace(1.6, 0.3, 8)[age]
    return odds


def _economic_odds(
    age: np.ndarray, student: np.ndarray, sex: np.ndarray, status: np.ndarray
) -> np.ndarray:
    by_age = np.array([
        [0, 0, 0, 100, 0, 0, 0.0], [55, 4, 14, 20, 0, 5, 2], [72, 9, 6, 2, 0, 8, 3],
        [70, 12, 4, 1, 0.1, 9, 4], [68, 14, 4, 0.3, 1, 7, 6], [45, 13, 3, 0.1, 26, 5, 8],
        [8, 4, 0.2, 0.1, 85, 1, 2], [1, 1, 0.05, 0.02, 97, 0.5, 0.5],
    ])  # fmt: skip
    odds = by_age[age]
    odds[:, 3] *= np.where(student == 1, 12, 0.05) + (age == 0)
    odds[:, 2] *= np.exp(-0.8 * status)
    odds[:, 5] *= np.where(sex == 0, 1.9, 0.25)
    odds[:, 6] *= np.exp(-0.5 * status)
    return odds


def _occupation_odds(status: np.ndarray, sex: np.ndarray) -> np.ndarray:
    lean = np.array([1.1, 1.5, 0.7, 0.1, -0.2, -0.3, -0.5, -0.8, -1.1])
    male = np.array([1.6, 0.9, 1.2, 0.3, 8.0, 0.2, 0.5, 5.0, 1.1])
    common = np.array([9, 16, 12, 12, 6, 9, 9, 4, 11.0])
    return common * np.exp(np.outer(status, lean)) * np.where(sex[:, None] == 1, male, 1.0)


def _industry_odds(occupation: np.ndarray, region: np.ndarray) -> np.ndarray:
    odds = np.tile(np.array([0.9, 9, 8, 16, 6, 5, 8, 6, 10, 13, 5.0]), (len(occupation), 1))
    odds[:, 2] *= np.where(occupation == 5, 9, 1)
    odds[:, 1] *= np.where(np.isin(occupation, (5, 8)), 4, 1)
    odds[:, 3] *= np.where(occupation == 7, 8, 1)
    odds[:, 9] *= np.where(occupation == 6, 9, 1)
    odds[:, 8] *= np.where(occupation == 2, 3, 1)
    odds[:, 6] *= np.where(region == 6, 3, 1)
    odds[:, 0] *= np.where(np.isin(region, (5, 8, 9)), 2.5, 0.6)
    return odds


def _hours(
    rng: np.random.Generator, sex: np.ndarray, economic: np.ndarray, status: np.ndarray
) -> np.ndarray:
    effort = 1.6 * sex + 0.5 * (economic == 1) + 0.3 * status + rng.normal(1.4, 1.1, len(sex))
    return 1 + np.searchsorted([0.2, 1.1, 3.6], effort)


_TABLES: dict[
    str, tuple[Callable[[int, np.random.Generator], pd.DataFrame], list[dict[str, Any]]]
] = {
    "census": (_simulate_census, _CENSUS_SCHEMA),
    "clinic": (_simulate_clinic, _CLINIC_SCHEMA),
}
