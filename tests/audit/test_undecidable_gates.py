"""Gates that no run of an audit could decide are refused before it runs."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceMIA, LossMIA
from tapas.audit import Audit, Subject
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Raw
from tapas.results import FEWEST_PEOPLE, Gate, decide
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ExactDataKnowledge,
    ModelMIA,
    ObservedMIA,
    TargetedMIA,
)

EPSILON, PEOPLE = Gate("epsilon", 1.0), Gate("exposed_people", 0.1)
DATA = load_sample("clinic", 60)
RAW = BlackBoxKnowledge(Raw(), num_synthetic_records=10)


def of_a_model(coins: bool = False) -> ModelMIA:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:60], y[:60])
    return ModelMIA(tree, (X[:60], y[:60]), (X[60:], y[60:]), seed=0, coins=coins)


def of_files() -> ObservedMIA:
    return ObservedMIA(part(0, 20), part(20, 40), part(40, 60), seed=0)


def of_targets(number: int) -> TargetedMIA:
    targets = list(range(number))
    others = DATA.drop_records(targets)
    known = AuxiliaryDataKnowledge(others, auxiliary_split=0.5, num_training_records=20)
    return TargetedMIA(known, DATA.get_records(targets), RAW, seed=0)


def of_canaries() -> CanaryMIA:
    return CanaryMIA(ExactDataKnowledge(part(0, 30)), DATA.get_records(range(30, 38)), RAW, seed=0)


def part(start: int, end: int) -> TabularDataset:
    return DATA.take(np.arange(start, end))


def problems(*games: ModelMIA | ObservedMIA | TargetedMIA, gate: Gate) -> str:
    subjects = [Subject(game, f"subject {place}") for place, game in enumerate(games)]
    of_tables = not isinstance(games[0], ModelMIA)
    attack = ClosestDistanceMIA() if of_tables else LossMIA()
    return "; ".join(Audit(subjects, [attack], 2, 2, gates=[gate]).check().problems)


@pytest.mark.parametrize(
    ("game", "what", "remedy"),
    [
        (of_a_model, "one model", "put canaries into it by fair coins"),
        (of_files, "one release", "audit the generator"),
    ],
)
def test_an_epsilon_of_one_release_is_refused_with_the_remedy(game, what, remedy) -> None:
    said = problems(game(), gate=EPSILON)
    assert f"records of {what} are not independent" in said
    assert remedy in said
    assert "limit auc or tpr_at_fpr instead" in said


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (of_a_model, "subject 0 is one model"),
        (of_files, "subject 0 is one release"),
        (lambda: of_a_model(coins=True), "puts all records into the same releases"),
        (of_canaries, "puts all records into the same releases"),
        (lambda: of_targets(1), "has 1 target;"),
        (lambda: of_targets(FEWEST_PEOPLE - 1), "has 4 targets;"),
    ],
)
def test_people_who_cannot_be_told_apart_are_not_counted(game, why: str) -> None:
    assert why in problems(game(), gate=PEOPLE)


def test_what_can_be_decided_is_not_refused() -> None:
    assert problems(of_a_model(coins=True), gate=EPSILON) == ""
    assert problems(of_canaries(), gate=EPSILON) == ""
    assert problems(of_targets(FEWEST_PEOPLE), gate=PEOPLE) == ""
    assert problems(of_targets(1), gate=EPSILON) == ""
    assert problems(of_a_model(), gate=Gate("tpr_at_fpr", 0.5)) == ""


def test_a_generator_beside_a_file_may_exceed_an_epsilon_and_nobody_counts_people_in_both() -> None:
    assert problems(of_targets(FEWEST_PEOPLE), of_files(), gate=EPSILON) == ""
    assert "subject 1 is one release" in problems(
        of_targets(FEWEST_PEOPLE), of_files(), gate=PEOPLE
    )


@pytest.mark.parametrize("gate", [EPSILON, PEOPLE])
def test_what_is_refused_would_not_have_been_decided(gate: Gate) -> None:
    record = Audit(of_a_model(), [LossMIA()], gates=[gate]).run(n_jobs=1)
    assert [outcome.state for outcome in decide(record).outcomes] == ["inconclusive"]
