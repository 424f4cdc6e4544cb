"""Small tables with every kind of column, and games on them, for the tests of attacks."""

from typing import Any

import numpy as np
import pandas as pd

from tapas.attacks import Attack
from tapas.datasets import DataDescription, TabularDataset
from tapas.game import MEMBERSHIP, Briefing, Goal, Release, TableBriefing
from tapas.generators import Generator, Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)

SCHEMA: list[dict[str, Any]] = [
    {"name": "sex", "type": "finite", "representation": ["F", "M", "U"]},
    {"name": "ward", "type": "finite", "representation": 4},
    {"name": "risk", "type": "finite/ordered", "representation": ["low", "mid", "high"]},
    {"name": "grade", "type": "finite/ordered", "representation": 3},
    {"name": "visits", "type": "countable/ordered", "representation": "integer"},
    {"name": "cost", "type": "real/non-negative", "representation": "number"},
    {"name": "share", "type": "interval", "representation": "number"},
    {"name": "born", "type": "countable/ordered", "representation": "date"},
    {"name": "seen", "type": "real", "representation": "datetime"},
]
DESCRIPTION = DataDescription(SCHEMA, "mixed")


def mixed_table(rows: int, seed: int = 0, missing: float = 0.0) -> TabularDataset:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], size=rows),
            "ward": rng.integers(0, 4, size=rows),
            "risk": rng.choice(["low", "mid", "high"], size=rows),
            "grade": rng.integers(0, 3, size=rows),
            "visits": rng.integers(-3, 4, size=rows),
            "cost": np.round(rng.exponential(3, size=rows), 2),
            "share": np.round(rng.random(rows), 2),
            "born": np.datetime64("1970-01-01") + rng.integers(0, 9, size=rows).astype("m8[D]"),
            "seen": np.datetime64("1970-01-01T00:00:00")
            + rng.integers(0, 60, size=rows).astype("m8[s]"),
        }
    ).astype(object)
    holes = rng.random(frame.shape) < missing
    return TabularDataset(frame.mask(pd.DataFrame(holes, columns=frame.columns)), DESCRIPTION)


def outlier(sex: Any = "F") -> TabularDataset:
    """A record far from all of `mixed_table`."""
    row = [sex, 3, "high", 2, 40, 90.0, 1.0, "1972-01-01", "1970-01-01T09:00:00"]
    return TabularDataset(pd.DataFrame([row], columns=list(DESCRIPTION.columns)), DESCRIPTION)


_PUBLIC = mixed_table(500, seed=77)


class Deaf(Generator):
    """Ignores what it is fitted to: nothing can leak."""

    def fit(self, dataset: Any, **kwargs: Any) -> None:
        self.trained = True

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        return _PUBLIC.sample(num_samples, random_state=random_state)


def membership_game(
    target: TabularDataset,
    generator: Generator | None = None,
    *,
    size: int = 30,
    released: int = 30,
    no_box: bool = False,
    seed: int = 0,
) -> TargetedMIA:
    knowledge = NoBoxKnowledge if no_box else BlackBoxKnowledge
    return TargetedMIA(
        AuxiliaryDataKnowledge(mixed_table(200, seed=1), num_training_records=size, seed=seed),
        target,
        knowledge(generator or Raw(), num_synthetic_records=released),
        replace_target=True,
        seed=seed,
        n_jobs=1,
    )


def attribute_game(
    target: TabularDataset,
    values: Any = ("F", "M"),
    generator: Generator | None = None,
    *,
    attribute: str = "sex",
    size: int = 30,
    released: int = 30,
    no_box: bool = False,
    distribution: Any = None,
    seed: int = 0,
) -> TargetedAIA:
    knowledge = NoBoxKnowledge if no_box else BlackBoxKnowledge
    return TargetedAIA(
        AuxiliaryDataKnowledge(mixed_table(200, seed=1), num_training_records=size, seed=seed),
        target,
        attribute,
        values,
        knowledge(generator or Raw(), num_synthetic_records=released),
        distribution=distribution,
        seed=seed,
        n_jobs=1,
    )


def membership_briefing(targets: TabularDataset, auxiliary: Any = None) -> TableBriefing:
    return TableBriefing(MEMBERSHIP, targets, auxiliary)


def attribute_briefing(targets: TabularDataset, attribute: str, values: Any) -> TableBriefing:
    masked = targets.table.with_value(attribute, None)
    return TableBriefing(
        Goal("attribute", attribute, tuple(values)),
        TabularDataset.from_table(masked, targets.description),
    )


def no_samples(number: int) -> list[Release]:
    raise AssertionError("the attack has no need of simulated releases")


def seen(attack: Attack, briefing: Briefing, data: TabularDataset) -> np.ndarray:
    """What an attack sees in one dataset."""
    observer = attack.observer(briefing, no_samples)
    return np.asarray(observer(Release(data), briefing, rng=np.random.default_rng(0)))


def observed(attack: Attack, game: TargetedMIA | TargetedAIA, data: TabularDataset) -> np.ndarray:
    """What an attack sees in one dataset, for all targets of a game."""
    return seen(attack, game.briefing(all_targets=True), data)


def key_of(attack: Attack, briefing: Briefing | None = None) -> str:
    """What the attack's observations are remembered under."""
    return attack.observer(briefing or membership_briefing(outlier()), no_samples).key
