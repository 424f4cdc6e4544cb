"""Every game, small: one that leaks, and one whose release is independent of the secrets."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tapas.compat import GameThreatModel
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Bootstrap, Generator, Raw
from tapas.models import Records, SklearnTrainer
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ExactDataKnowledge,
    ImportedAIA,
    ImportedMIA,
    MarginalSynthesis,
    ModelAIA,
    ModelMIA,
    ModelPropertyInference,
    NoBoxKnowledge,
    ObservedAIA,
    ObservedMIA,
    PredictionsMIA,
    QuasiIdentifierKnowledge,
    TargetedAIA,
    TargetedMIA,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)

ROWS = 16  # of a private dataset
CANARIES = 24
FILES = 12  # of each phase
RECORDS = 48  # of each side
WARDS = ("cardiology", "surgery", "general")

# Whether it leaks, the seed of the game, the seed of the data, and where files are kept.
Make = Callable[[bool, int, int, Path], GameThreatModel]


class Public(Generator):
    """Ignores the private data and draws from a table that everybody has."""

    def fit(self, dataset: Any, **_: Any) -> None:
        self.trained = True

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        return _population(9).sample(num_samples, random_state=random_state)

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        return np.zeros((len(dataset), 1))

    @property
    def label(self) -> str:
        return "Public"


@lru_cache
def _population(seed: int) -> TabularDataset:
    return load_sample("clinic", 400, seed=seed)


def _people(seed: int, targets: int) -> tuple[TabularDataset, TabularDataset]:
    """Targets, and others of the same population."""
    everyone = _population(seed)
    return everyone.take(range(targets)), everyone.take(range(targets, len(everyone)))


def _knowledge(leaky: bool, rest: TabularDataset) -> Any:
    """Where it leaks, nothing but the secret is unknown."""
    if leaky:
        return ExactDataKnowledge(rest.take(range(ROWS), reset_index=True))
    return AuxiliaryDataKnowledge(rest, num_training_records=ROWS, seed=0)


class ExactAndShown(ExactDataKnowledge):
    """Knows all but the secret, and is shown it in every release."""

    shows_identifiers = True


def _box(leaky: bool, size: int = ROWS) -> BlackBoxKnowledge:
    return BlackBoxKnowledge(Raw() if leaky else Public(), size)


def targeted_mia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    targets, rest = _people(data, 2)
    box = WhiteBoxKnowledge(Raw() if leaky else Public(), ROWS)
    return TargetedMIA(_knowledge(leaky, rest), targets, box, replace_target=True, seed=seed)


def _targeted_aia(
    leaky: bool, seed: int, data: int, attribute: str, values: tuple[str, ...]
) -> TargetedAIA:
    targets, rest = _people(data, 2)
    return TargetedAIA(_knowledge(leaky, rest), targets, attribute, values, _box(leaky), seed=seed)


def targeted_aia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    """The other columns of all records are known."""
    targets, rest = _people(data, 2)
    knowledge: AttackerKnowledgeOnData = (
        ExactAndShown(rest.take(range(ROWS), reset_index=True))
        if leaky
        else QuasiIdentifierKnowledge(rest, num_training_records=ROWS, seed=0)
    )
    return TargetedAIA(knowledge, targets, "sex", ("F", "M"), _box(leaky), seed=seed)


def targeted_aia_of_many(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    return _targeted_aia(leaky, seed, data, "ward", WARDS)


def canary_mia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    targets, rest = _people(data, CANARIES)
    knowledge = AuxiliaryDataKnowledge(rest, num_training_records=2 * CANARIES, seed=0)
    return CanaryMIA(knowledge, targets, _box(leaky, 2 * CANARIES), replace_target=True, seed=seed)


def imported_mia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    """Files that somebody wrote, the labels among them."""
    place = folder / f"imported-{leaky}-{data}"
    targets, rest = _people(data, 2)
    if not place.exists():
        place.mkdir()
        _write_releases(targeted_mia(leaky, data, data, folder), place)
    return ImportedMIA(place, place / "labels.csv", targets, auxiliary=rest, seed=seed)


def _write_releases(made: Any, place: Path) -> None:
    rows = []
    for phase in ("train", "test"):
        for index in range(FILES):
            trial = made.draw_trial(phase, index)
            name = f"{phase}-{index}.csv"
            trial.release.table.write(place / name.removesuffix(".csv"))
            secrets = dict(zip(made.game.target_labels, trial.secrets.tolist(), strict=True))
            rows.append({"file": name, "phase": phase, "group": trial.group, **secrets})
    pd.DataFrame(rows).to_csv(place / "labels.csv", index=False)


def _observed(leaky: bool, data: int) -> tuple[TabularDataset, ...]:
    """A release, members, others, and a reference; the release is of members where it leaks."""
    everyone = _population(data)
    members, others, more, reference = (
        everyone.take(range(start, start + 100)) for start in range(0, 400, 100)
    )
    release = members if leaky else more
    shuffled = release.take(np.random.default_rng(data).permutation(len(release)))
    return shuffled, members, others, reference


def observed_mia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    return ObservedMIA(*_observed(leaky, data), seed=seed)


def observed_aia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    release, members, others, reference = _observed(leaky, data)
    return ObservedAIA(release, members, others, "ward", reference=reference, seed=seed)


@lru_cache
def _records(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs that say nothing of their classes: a model can only learn them by heart."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3 * RECORDS, 5)), rng.choice(["a", "b", "c"], size=3 * RECORDS)


def _forest() -> RandomForestClassifier:
    return RandomForestClassifier(6, bootstrap=False, max_features=1, random_state=0)


def _model_mia(leaky: bool, seed: int, data: int, **options: Any) -> ModelMIA:
    X, y = _records(data)
    inside, outside, third = (slice(i * RECORDS, (i + 1) * RECORDS) for i in range(3))
    learnt = inside if leaky else third
    model = _forest().fit(X[learnt], y[learnt])
    sides = (X[inside], y[inside]), (X[outside], y[outside])
    return ModelMIA(model, *sides, seed=seed, **options)


def model_mia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    return _model_mia(leaky, seed, data, access="parameters")


def model_mia_with_shadows(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    return _model_mia(leaky, seed, data, trainer=_forest(), num_shadows=8, known_share=0.2)


def predictions_mia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    """What a model said of members and others, and what other models did."""
    X, y = (part[: 2 * RECORDS] for part in _records(data))
    members = np.arange(len(y)) < RECORDS
    coins = np.random.default_rng(data).random((8, len(y))) < 0.5
    learnt = members if leaky else coins[0]
    scores = [_forest().fit(X[mask], y[mask]).predict_proba(X) for mask in (learnt, *coins)]
    return PredictionsMIA(
        scores[0],
        y,
        members,
        reference_scores=np.stack(scores[1:]),
        reference_members=coins,
        known_share=0.2,
        seed=seed,
    )


def model_aia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    """The class follows from the attribute, or from nothing."""
    rng = np.random.default_rng(data)
    X = np.column_stack([rng.integers(0, 2, 300), rng.normal(size=(300, 3))]).astype(float)
    noise = rng.integers(0, 2, 300)
    y = np.where(rng.random(300) < 0.9, X[:, 0], noise) if leaky else noise
    learnt, targets, known = slice(0, 100), slice(100, 200), slice(200, 300)
    model = RandomForestClassifier(10, random_state=0).fit(X[learnt], y[learnt])
    return ModelAIA(
        model, (X[targets], y[targets]), 0, [0.0, 1.0], population=(X[known], y[known]), seed=seed
    )


def property_inference(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    """The property is the class, or a mark that leaves no trace."""
    rng = np.random.default_rng(data)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    marked = y == 1 if leaky else rng.random(400) < 0.5
    model = make_pipeline(StandardScaler(), GaussianNB())
    return ModelPropertyInference(
        model, Records(X, y), marked, (0.3, 0.7), 60, "parameters", 20, seed=seed
    )


def boxed(box: Any, **options: Any) -> Make:
    """Membership of two targets, under some knowledge of the mechanism."""

    def make(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
        targets, rest = _people(data, 2)
        return TargetedMIA(_knowledge(False, rest), targets, box, seed=seed, **options)

    return make


class InPairs(SklearnTrainer):
    """Trains two models at once."""

    models_at_once = 2


def of_model(*, population: Any = None, **options: Any) -> Make:
    """Membership in the training set of a tree."""

    def make(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
        X, y = _records(data)
        inside, outside, third = (slice(i * RECORDS, (i + 1) * RECORDS) for i in range(3))
        tree = DecisionTreeClassifier(random_state=0).fit(X[inside], y[inside])
        held = (X[third], y[third]) if population == "given" else population
        sides = (X[inside], y[inside]), (X[outside], y[outside])
        return ModelMIA(tree, *sides, population=held, seed=seed, **options)

    return make


def observed_without_known(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    everyone = _population(data)
    members, others = everyone.take(range(30)), everyone.take(range(30, 60))
    return ObservedMIA(members, members, others, known_share=0, seed=seed)


def imported_aia(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    place = folder / f"attributes-{data}"
    targets, rest = _people(data, 2)
    if not place.exists():
        place.mkdir()
        _write_releases(targeted_aia(True, data, data, folder), place)
    return ImportedAIA(
        place, place / "labels.csv", targets, "sex", ["F", "M"], auxiliary=rest, seed=seed
    )


def model_aia_of_words(leaky: bool, seed: int, data: int, folder: Path) -> GameThreatModel:
    rng = np.random.default_rng(data)
    X = pd.DataFrame({"word": rng.choice(["x", "y", "z"], 120), "number": rng.normal(size=120)})
    y = np.where(X["word"] == "x", "no", "yes")
    trainer = SklearnTrainer(RandomForestClassifier(5, random_state=0), encode=True)
    model = trainer.train(X[:60], y[:60], rng=np.random.default_rng(0))
    return ModelAIA(model, (X[60:], y[60:]), "word", access="labels", seed=seed)


@dataclass(frozen=True)
class SmallGame:
    """How a game is made, and how many trials an audit of it plays."""

    make: Make
    num_train: int | None = None
    num_test: int | None = None


GAMES = {
    "TargetedMIA": SmallGame(targeted_mia, 30, 30),
    "TargetedAIA": SmallGame(targeted_aia, 30, 30),
    "TargetedAIA of many values": SmallGame(targeted_aia_of_many, 40, 30),
    "CanaryMIA": SmallGame(canary_mia, 6, 1),
    "ImportedMIA": SmallGame(imported_mia),
    "ObservedMIA": SmallGame(observed_mia),
    "ObservedAIA": SmallGame(observed_aia),
    "ModelMIA": SmallGame(model_mia),
    "ModelMIA with shadow models": SmallGame(model_mia_with_shadows),
    "PredictionsMIA": SmallGame(predictions_mia),
    "ModelAIA": SmallGame(model_aia),
    "ModelPropertyInference": SmallGame(property_inference, 30, 30),
}

UNUSUAL = {
    "no box": SmallGame(boxed(NoBoxKnowledge(Raw(), ROWS)), 0, 6),
    "white box": SmallGame(boxed(WhiteBoxKnowledge(Bootstrap(), ROWS)), 6, 6),
    "uncertain box": SmallGame(
        boxed(UncertainBoxKnowledge(Public(), ROWS, lambda: {"x": np.random.random()})),  # noqa: NPY002
        6,
        6,
    ),
    "targets that are added, without pairs": SmallGame(
        boxed(BlackBoxKnowledge(Raw(), ROWS), generate_pairs=False), 8, 6
    ),
    "canaries in several releases": SmallGame(canary_mia, 4, 3),
    "files of which nothing is known": SmallGame(observed_without_known),
    "attributes in files": SmallGame(imported_aia),
    "a model of which nothing is known": SmallGame(of_model(known_share=0.0)),
    "a model that shows labels": SmallGame(of_model(access="labels")),
    "a model that answers so many queries": SmallGame(of_model(budget=20 * RECORDS)),
    "shadow models on other records": SmallGame(
        of_model(
            trainer=DecisionTreeClassifier(),
            population="given",
            train_on_targets=False,
            num_shadows=4,
        )
    ),
    "shadow models on made-up records": SmallGame(
        of_model(trainer=DecisionTreeClassifier(), population=MarginalSynthesis(), num_shadows=5)
    ),
    "shadow models trained two at a time": SmallGame(
        of_model(trainer=InPairs(DecisionTreeClassifier()), num_shadows=5)
    ),
    "a model of words that shows labels": SmallGame(model_aia_of_words),
}
