"""Every attack in every game it fits, where nothing can leak: 0.5 is missed as rarely as stated.

Attacks of one game look at the same trials. Attacks on models that tell members, and the strongest
of those that learn from many releases, have nulls of their own beside this file.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import test_model_null_calibration
import test_null_calibration
from scipy.special import softmax
from scipy.stats import t
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import tapas.attacks
from tapas.attacks import (
    DOMIAS,
    RMIA,
    Attack,
    BlackBoxMIA,
    CalibratedLossMIA,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    ConfidenceAIA,
    ConfidenceMIA,
    EnsembleAttack,
    EntropyMIA,
    FeatureBasedSetClassifier,
    GenLRA,
    GroundhogAttack,
    ImputationAIA,
    InferenceAttack,
    LabelOnlyAIA,
    LikelihoodAttack,
    LinkabilityAttack,
    LiRA,
    LocalNeighbourhoodAttack,
    LocalNeighboursWithReference,
    LossMIA,
    MarginalsAttack,
    ModifiedEntropyMIA,
    NaiveSetFeature,
    NearnessAttack,
    ProbabilityEstimationAttack,
    PropertyClassifier,
    QueryAttack,
    ReconstructionAttack,
    RecordEnsembleAttack,
    RehearsedMIA,
    RuleBasedMIA,
    ShadowModellingAttack,
    SinglingOutAttack,
    SubsetAttack,
    SyntheticPredictorAttack,
    WhiteBoxPropertyClassifier,
)
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample, rare_combinations
from tapas.generators import BayesianNetwork, Generator, Raw
from tapas.results import AuditRecord, BinaryLabelInferenceAttackSummary, leak, record_facts
from tapas.stats import mean_auc_influences
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    CanaryMIA,
    ModelAIA,
    ModelPropertyInference,
    ObservedAIA,
    ObservedMIA,
    PredictionsMIA,
    QuasiIdentifierKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)

SEEDS = 200
TRAIN, TEST, RECORDS, TARGETS = 20, 40, 24, 4
COLUMN = "Sex"
OF_MANY = "Occupation"
COLUMNS = [COLUMN, "Age", "Region", OF_MANY]
NUMBERS = ["age", "sex", "length of stay", "charge", "smoker"]
RARE = 0.1  # the share of a rare second value, which many targets have once or twice


class OfOthers(BayesianNetwork):
    """Learns from other people once for all, whatever it is given."""

    def __init__(self, others: TabularDataset) -> None:
        super().__init__(degree=1)
        super().fit(others)

    def fit(self, dataset: Any, random_state: Any = None) -> Any:
        return self


def forest() -> ShadowModellingAttack:
    return ShadowModellingAttack(
        FeatureBasedSetClassifier(NaiveSetFeature(), RandomForestClassifier(10, random_state=0))
    )


def on_records() -> list[Attack]:
    """Membership of records, from one release or many."""
    return [
        ClosestDistanceMIA(),
        LocalNeighbourhoodAttack(radius=1),
        ProbabilityEstimationAttack(KernelDensity(bandwidth=0.5), "accuracy"),
        DOMIAS(),
        GenLRA(),
        LocalNeighboursWithReference(),
        RecordEnsembleAttack(),
        SinglingOutAttack(),
        LinkabilityAttack(),
        InferenceAttack(),
    ]


def on_attributes() -> list[Attack]:
    """Values, from one release or many."""
    guess = SyntheticPredictorAttack(LogisticRegression(), "accuracy")
    return [ClosestDistanceAIA(), LocalNeighbourhoodAttack(radius=1), guess]


def on_many_values() -> list[Attack]:
    """Values, from releases of which the attacker can have many."""
    return [
        *on_attributes(),
        GroundhogAttack(),
        forest(),
        QueryAttack(30, RandomForestClassifier(20)),
        *pooled(),
    ]


def pooled() -> list[Attack]:
    """Those that learn from all targets together, of others only among them."""
    return [SubsetAttack(), SubsetAttack(transfer=True), NearnessAttack(), EnsembleAttack()]


ATTACKS: dict[str, Callable[[], list[Attack]]] = {
    "membership": lambda: [*on_records(), GroundhogAttack(), forest()],
    "attribute": lambda: [*on_many_values(), LikelihoodAttack(), ReconstructionAttack()],
    "one of three values": lambda: [
        one for one in on_many_values() if one.label != "Subsets(transferred)"
    ],
    "a rare value": lambda: [*on_many_values(), LikelihoodAttack(), ReconstructionAttack()],
    "canaries": lambda: [*on_records(), MarginalsAttack(), *pooled()],
    "numbers": lambda: [*on_records(), GroundhogAttack(), forest(), MarginalsAttack(), *pooled()],
    "files": lambda: [*on_records(), MarginalsAttack()],
    "files with numbers, of unequal sides": lambda: [*on_records(), MarginalsAttack()],
    "values in files": on_attributes,
    "attribute of a model": lambda: [
        ConfidenceAIA(),
        LabelOnlyAIA(),
        ImputationAIA(),
    ],
    "property": lambda: [PropertyClassifier(), WhiteBoxPropertyClassifier()],
    "predictions": lambda: [
        RuleBasedMIA(),
        LossMIA(),
        ConfidenceMIA(),
        EntropyMIA(),
        ModifiedEntropyMIA(),
        BlackBoxMIA(),
    ],
    "predictions and references": lambda: [CalibratedLossMIA(), LiRA(), RMIA(), RehearsedMIA()],
}


def people(seed: int, *sizes: int, numbers: bool = False) -> list[TabularDataset]:
    table, columns = ("clinic", NUMBERS) if numbers else ("census", COLUMNS)
    data = load_sample(table, sum(sizes), seed=seed).view(columns=columns)
    order = np.random.default_rng(seed).permutation(len(data))
    return [data.take(rows) for rows in np.split(order, np.cumsum(sizes)[:-1])]


def played(
    game: str, seed: int, attacks: Sequence[Attack], made: Generator | None = None
) -> AuditRecord:
    """An audit of what knows nothing of the secret, unless a generator is given."""
    if game == "files":
        return Audit(ObservedMIA(*people(seed, 60, 80, 80), seed=seed), attacks).run(n_jobs=1)
    if game == "files with numbers, of unequal sides":
        tables = people(seed, 60, 160, 50, numbers=True)
        return Audit(ObservedMIA(*tables, seed=seed), attacks).run(n_jobs=1)
    if game == "values in files":
        model = ObservedAIA(*people(seed, 60, 80, 80), COLUMN, seed=seed)
        return Audit(model, attacks).run(n_jobs=1)
    if game == "attribute of a model":
        return Audit(of_a_model(seed), attacks).run(n_jobs=1)
    if game == "property":
        return Audit(of_a_property(seed), attacks, 30, TEST).run(n_jobs=1)
    if game.startswith("predictions"):
        return Audit(of_predictions(seed, game != "predictions"), attacks).run(n_jobs=1)
    rest, others, some = people(seed, 200, 100, 60, numbers=game == "numbers")
    targets = some.take(np.flatnonzero(~some.data.duplicated())[:TARGETS])
    box = WhiteBoxKnowledge(made or OfOthers(others), RECORDS)
    known = AuxiliaryDataKnowledge(rest, num_training_records=RECORDS, seed=seed)
    threat: TargetedMIA | TargetedAIA
    if game in ("membership", "numbers"):
        threat = TargetedMIA(known, targets, box, seed=seed, n_jobs=1)
    elif game == "canaries":
        canaries = rare_combinations(rest, 12, random_state=seed)
        threat = CanaryMIA(known, canaries, box, seed=seed, n_jobs=1)
    else:
        told = QuasiIdentifierKnowledge(rest, num_training_records=RECORDS, seed=seed)
        column, number = (OF_MANY, 3) if game == "one of three values" else (COLUMN, 2)
        asked = targets.take([0]) if game == "one of three values" else targets
        values = sorted(set(rest.data[column].dropna()))[:number]
        prior = [1 - RARE, RARE] if game == "a rare value" else None
        threat = TargetedAIA(told, asked, column, values, box, prior, seed=seed, n_jobs=1)
    return Audit(threat, attacks, TRAIN, TEST).run(n_jobs=1)


def of_a_model(seed: int) -> ModelAIA:
    """The value is independent of all that the model sees, which was trained on others."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=500),
            "z": rng.normal(size=500),
            "secret": rng.choice(["a", "b"], 500),
        }
    )
    y = rng.integers(0, 3, 500)
    columns = make_column_transformer((OneHotEncoder(), ["secret"]), remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeClassifier(max_depth=5, random_state=0))
    others, members, known = slice(0, 150), slice(150, 300), slice(300, 500)
    model.fit(frame[others], y[others])
    population = frame[known].reset_index(drop=True), y[known]
    judged = frame[members].reset_index(drop=True), y[members]
    return ModelAIA(model, judged, "secret", population=population, seed=seed)


def of_predictions(seed: int, with_references: bool) -> PredictionsMIA:
    """What models say that never saw the records that are called members."""
    rng = np.random.default_rng(seed)
    labels, members = rng.integers(0, 3, 300), rng.permutation(300) % 2 == 0
    easy = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[labels]

    def said() -> np.ndarray:
        return softmax(easy + 0.7 * rng.normal(size=easy.shape), axis=1)

    if not with_references:
        return PredictionsMIA(said(), labels, members, seed=seed)
    halves = np.stack([rng.permutation(300) % 2 == 0 for _ in range(8)])
    told = [np.where(half[:, None], said(), said()) for half in halves]
    return PredictionsMIA(
        said(), labels, members, reference_scores=told, reference_members=halves, seed=seed
    )


class OfNoise(DecisionTreeClassifier):
    """Learns from noise, whatever it is given."""

    def fit(self, X: Any, y: Any) -> Any:
        rng = np.random.default_rng(np.asarray(X, dtype=float).view(np.uint8).reshape(-1)[:64])
        return super().fit(rng.normal(size=np.shape(X)), rng.permutation(len(y)) % 2)


def of_a_property(seed: int) -> ModelPropertyInference:
    """Models that do not look at their records; by chance some others would show a property."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    marked = rng.random(600) < 0.5
    return ModelPropertyInference(
        OfNoise(), (X, y), marked, num_records=60, access="parameters", seed=seed
    )


def missed(record: AuditRecord, confidence: float = 0.95) -> dict[str, bool]:
    """Whether the interval of each attack's AUC, over targets where they are several, misses.

    Of a secret with more than two values: whether a leak is called.
    """
    facts = record_facts(record, confidence=confidence)
    if not isinstance(record.subjects[0].summaries[0], BinaryLabelInferenceAttackSummary):
        return {one.attack: leak(one)[0] > 0 for one in facts}
    by_attack: dict[str, list[BinaryLabelInferenceAttackSummary]] = {}
    for one in record.subjects[0].summaries:
        assert isinstance(one, BinaryLabelInferenceAttackSummary)
        by_attack.setdefault(str(one.attack), []).append(one)
    if max(map(len, by_attack.values())) == 1:
        return {f.attack: not f.auc.low <= 0.5 <= f.auc.high for f in facts if f.auc}
    return {name: _mean_misses(mine, confidence) for name, mine in by_attack.items()}


def _mean_misses(mine: list[BinaryLabelInferenceAttackSummary], confidence: float) -> bool:
    scores = np.stack([np.asarray(one.scores, dtype=float) for one in mine], axis=1)
    members = np.stack([one.labels.astype(bool) for one in mine], axis=1)
    of_both = members.any(axis=0) & ~members.all(axis=0)  # a rare value may never have been drawn
    groups = mine[0].groups if mine[0].groups is not None else np.arange(len(scores))
    mean, parts, degrees = mean_auc_influences(scores[:, of_both], members[:, of_both], groups)
    reach = t.ppf((1 + confidence) / 2, degrees) * np.sqrt((parts**2).sum())
    assert np.isfinite(reach)
    return bool(abs(mean - 0.5) > reach + 1e-12)


def counted(game: str, seeds: range) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in seeds:
        found.update({k: int(v) for k, v in missed(played(game, seed, ATTACKS[game]())).items()})
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("game", ATTACKS)
def test_no_attack_is_far_from_chance_in_one_audit(game: str) -> None:
    found = missed(played(game, 0, ATTACKS[game]()), 0.999)
    assert len(found) == len(ATTACKS[game]())
    assert not any(found.values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("game", ["membership", "attribute", "canaries", "numbers"])
def test_where_records_are_copied_the_same_check_fails(game: str) -> None:
    attacks = [SubsetAttack(), SubsetAttack(transfer=True), NearnessAttack(), EnsembleAttack()]
    found = missed(played(game, 0, attacks, Raw()), 0.999)
    assert found == dict.fromkeys(found, True)
    assert len(found) == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("game", ATTACKS)
def test_attacks_are_at_chance_as_often_as_stated(game: str) -> None:
    found = counted(game, range(SEEDS))
    print(f"{game}: 0.5 missed in {SEEDS}: {dict(found)}")  # noqa: T201
    assert len(found) == len(ATTACKS[game]())
    most = SEEDS * 0.05 + 3 * np.sqrt(SEEDS * 0.05 * 0.95)
    assert {name: count for name, count in found.items() if count > most} == {}


def test_every_attack_has_a_null_in_every_game_that_it_fits() -> None:
    covered = {(type(one).__name__, game) for game, made in ATTACKS.items() for one in made()}
    covered |= {(type(one).__name__, "membership") for one in test_null_calibration.attacks()}
    for kind in ("known", "references"):
        made = test_model_null_calibration.attacks_of(kind)
        covered |= {(type(one).__name__, "membership of a model") for one in made}
    named = (getattr(tapas.attacks, name) for name in tapas.attacks.__all__)
    kinds = [one for one in named if inspect.isclass(one) and issubclass(one, Attack)]
    bases = {"Attack", "TrainableThresholdAttack"}
    known = {name for name, _ in covered}
    assert {one.__name__ for one in kinds} - bases == known
    examples = {type(one): one for made in ATTACKS.values() for one in made()}
    for made in (test_null_calibration.attacks(), test_model_null_calibration.attacks_of("known")):
        examples |= {type(one): one for one in made}
    for kind, attack in examples.items():
        for game in games_of(attack):
            assert (kind.__name__, game) in covered


def games_of(attack: Attack) -> list[str]:
    """Which of these games an attack fits."""
    needs = attack.needs
    goals = needs.goals or ("membership", "attribute")
    if needs.release == "model":
        return ["property" if goal == "property" else f"{goal} of a model" for goal in goals]
    one_release = not (needs.many_releases or needs.repeated or needs.mechanism)
    files = {"membership": "files", "attribute": "values in files"}
    alone = [files[goal] for goal in goals if one_release and not needs.identifiers]
    return [*goals, *alone]
