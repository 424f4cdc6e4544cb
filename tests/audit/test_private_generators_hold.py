"""Whole audits of private generators: they certify no more than was spent, and find who lied.

Every person has a value that nobody else has, so that a release shows whose cells are counted.
A generator that spends what it claims is certified above the claim no more often than stated. Its
twin spends several times as much (a sixteenth is claimed of the Gaussian one, of which so few
trials show least), and is contradicted. `pytest -m slow -s` prints the figures.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from whole_audits import most_wrong

from tapas.attacks import EnsembleAttack, SubsetAttack
from tapas.audit import Audit
from tapas.datasets import DataDescription, TabularDataset
from tapas.generators import MST, Generator, NoisyMarginals, PrivBayes
from tapas.results import Claim, Findings, decide
from tapas.threat_models import BlackBoxKnowledge, CanaryMIA, ExactDataKnowledge, TargetedMIA

COMMON, PEOPLE, OTHERS, RELEASED = 10, 100, 60, 1000
DELTA = 1e-6
COLUMNS = [
    {"name": "place", "type": "finite", "representation": COMMON + PEOPLE},
    {"name": "flag", "type": "finite", "representation": 2},
]
GENERATORS: dict[str, Callable[[float], Generator]] = {
    "noisy marginals": lambda epsilon: NoisyMarginals(epsilon, missing=False),
    "PrivBayes": lambda epsilon: PrivBayes(epsilon, missing=False),
    "MST": lambda epsilon: MST(epsilon, DELTA, missing=False),
}
TWINS = {"noisy marginals": 4.0, "PrivBayes": 8.0, "MST": 16.0}  # spent, of a claim of 1
SHAPES = ("one run", "four runs", "a pool")
AUDITS = {"one run": 200, "four runs": 200, "a pool": 40}
# Of the twins' audits at least this share must contradict the claim.
FOUND = 0.5


def tables(seed: int) -> tuple[TabularDataset, TabularDataset]:
    """Others, who live in a few places, and people who live where nobody else does."""
    rng, schema = np.random.default_rng(seed), DataDescription(COLUMNS, "places")
    places, flags = rng.integers(COMMON, size=OTHERS), rng.integers(2, size=OTHERS)
    others = list(zip(places.tolist(), flags.tolist(), strict=True))
    people = [[COMMON + number, number % 2] for number in range(PEOPLE)]
    return TabularDataset(others, schema), TabularDataset(people, schema)


def audited(
    kind: str, shape: str, seed: int, *, spent: float, claimed: float
) -> tuple[float, bool]:
    """The epsilon that an audit certifies, and whether it contradicts what is claimed."""
    others, people = tables(seed)
    known, box = ExactDataKnowledge(others), BlackBoxKnowledge(GENERATORS[kind](spent), RELEASED)
    claim = Claim(claimed, DELTA if kind == "MST" else 0.0)
    if shape == "a pool":
        game = TargetedMIA(known, people, box, seed=seed, n_jobs=1)
        audit = Audit(game, [SubsetAttack(), EnsembleAttack()], 20, 120, claim=claim)
    else:
        canaries = CanaryMIA(known, people, box, seed=seed, n_jobs=1)
        runs = 1 if shape == "one run" else 4
        audit = Audit(canaries, [EnsembleAttack()], 10, runs, claim=claim)
    record = audit.run(n_jobs=1)
    return Findings(record).epsilon, decide(record).contradicts_claim


def counted(
    kind: str, shape: str, seeds: int, *, spent: float, claimed: float
) -> tuple[Counter[str], list[float]]:
    found, certified = Counter[str](), []
    for seed in range(seeds):
        epsilon, contradicted = audited(kind, shape, seed, spent=spent, claimed=claimed)
        found.update({"above": int(epsilon > spent), "contradicted": int(contradicted)})
        certified.append(epsilon)
    middle, largest = np.median(certified), max(certified)
    print(f"{kind}, {shape}: spent {spent:g}, claimed {claimed:g}, "  # noqa: T201
          f"certified {middle:.2f} (at most {largest:.2f}), {dict(found)} of {seeds}")  # fmt: skip
    return found, certified


@pytest.mark.parametrize("shape", ["four runs", "a pool"])
@pytest.mark.parametrize("kind", GENERATORS)
def test_one_audit_tells_an_honest_generator_from_its_twin(kind: str, shape: str) -> None:
    honest, said = audited(kind, shape, 0, spent=1.0, claimed=1.0)
    assert honest <= 1.0
    assert not said
    found, said = audited(kind, shape, 0, spent=TWINS[kind], claimed=1.0)
    assert 1.0 < found <= TWINS[kind]
    assert said


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", GENERATORS)
def test_no_more_than_was_spent_is_certified(kind: str, shape: str, epsilon: float) -> None:
    seeds = AUDITS[shape]
    found, _ = counted(kind, shape, seeds, spent=epsilon, claimed=epsilon)
    assert found["above"] <= seeds * most_wrong(seeds)
    assert found["contradicted"] <= seeds * most_wrong(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["four runs", "a pool"])
@pytest.mark.parametrize("kind", GENERATORS)
def test_twins_that_claim_too_little_are_contradicted(kind: str, shape: str) -> None:
    seeds = AUDITS[shape] // 4
    found, certified = counted(kind, shape, seeds, spent=TWINS[kind], claimed=1.0)
    assert found["contradicted"] >= FOUND * seeds
    assert found["above"] <= seeds * most_wrong(seeds)
    assert np.median(certified) > 1.0
