"""Mechanisms of known epsilon, whole audits of them, and which of their statements are wrong."""

import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import laplace

from tapas.attacks import TrainableThresholdAttack
from tapas.audit import Audit
from tapas.datasets import TabularDataset
from tapas.generators import Generator
from tapas.report import AuditPage
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    BinaryLabelInferenceAttackSummary,
    Claim,
    Estimate,
    Findings,
    Gate,
    MIAttackSummary,
    decide,
    exposed_people,
    leak,
)
from tapas.stats import roc_band
from tapas.testing import (
    KnownEvent,
    KnownMechanism,
    LaplaceCount,
    RandomizedResponse,
    worst_case,
)
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    Briefing,
    ExactDataKnowledge,
    Release,
    TargetedMIA,
)

BACKGROUND, TARGET = worst_case(3)
AUDITS = 2000
# By scores, a certificate, the mean over people, their p-values: each alone may be wrong as often.
WAYS = 4


def most_wrong(audits: int, error: float = 0.05) -> float:
    return error + 3 * math.sqrt(error * (1 - error) / audits)


class Crashing(RandomizedResponse):
    """Crashes in three of ten trials, with the target and without: epsilon stays 1."""

    def _answer(self, dataset: Any, rng: np.random.Generator) -> int:
        lie = 1 / (1 + math.e)
        rates = (1 - lie, lie) if len(dataset) > len(BACKGROUND) else (lie, 1 - lie)
        answer = rng.choice(3, p=[0.7 * rates[1], 0.7 * rates[0], 0.3])
        if answer == 2:
            raise RuntimeError("crash")
        return int(answer)


class LyingByOthers(RandomizedResponse):
    """Lies by what the other records are: both releases of a pair hold the same lie."""

    def _answer(self, dataset: Any, rng: np.random.Generator) -> int:
        values = dataset.table.numbers[:, 0]
        mine = values == TARGET.table.numbers[0, 0]
        drawn = np.random.default_rng(int(1e6 * values[~mine].sum())).random()
        return int(mine.any() != (drawn < 1 / (1 + math.exp(self.epsilon))))


class Numbers(KnownMechanism):
    """Whether the target is there, plus Laplace noise: no two answers are equal."""

    def _answer(self, dataset: Any, rng: np.random.Generator) -> float:
        present = bool((dataset.table.numbers[:, 0] == TARGET.table.numbers[0, 0]).any())
        return present + rng.laplace(scale=1 / self.epsilon)

    def _release(self, answer: float, num_samples: int) -> TabularDataset:
        return TabularDataset([["common", 0, 0, answer]] * num_samples, BACKGROUND.description)

    def evidence(self, release: TabularDataset) -> float:
        return float(release.table.numbers[0, 0])

    @property
    def rates(self) -> tuple[float, float]:
        return 0.5, float(laplace.sf(self.epsilon))


class NumbersByOthers(Numbers):
    """The same, moved as far as the other records say: both releases of a pair as far."""

    def _answer(self, dataset: Any, rng: np.random.Generator) -> float:
        values = dataset.table.numbers[:, 0]
        others = values[values != TARGET.table.numbers[0, 0]]
        moved = np.random.default_rng(int(1e6 * others.sum())).random()
        return super()._answer(dataset, rng) + MOST_MOVED * float(moved)


MOST_MOVED = 6.0
MECHANISMS = {
    "responses": (RandomizedResponse, 1.0),
    "ties": (LaplaceCount, 1.0),
    "nothing": (RandomizedResponse, 1e-9),
    "failures": (Crashing, 1.0),
    "pairs": (LyingByOthers, 1.0),
    "numbers": (Numbers, 1.0),
    "pairs of numbers": (NumbersByOthers, 1.0),
    "pairs of nothing": (LyingByOthers, 1e-9),
}
NULLS = ("nothing", "pairs of nothing", "unequal")


def played(
    kind: str, seed: int, trials: int = 40, folder: Path | None = None, **options: Any
) -> AuditRecord:
    make, epsilon = MECHANISMS[kind]
    mechanism = make(TARGET, epsilon)
    box = BlackBoxKnowledge(mechanism, len(BACKGROUND))
    known: AttackerKnowledgeOnData = ExactDataKnowledge(BACKGROUND)
    if kind.startswith("pairs"):
        values = np.random.default_rng(seed).random(600).round(6) / 2
        others = TabularDataset([["common", 0, 0, v] for v in values], BACKGROUND.description)
        known = AuxiliaryDataKnowledge(others, num_training_records=3, seed=seed)
    game = TargetedMIA(known, TARGET, box, seed=seed)
    audit = Audit(game, [KnownEvent(mechanism)], 0, trials, max_failures=trials, **options)
    return audit.run(folder, n_jobs=1)


def recorded(kind: str, seed: int, trials: int) -> AuditRecord:
    """What such an audit records: scores drawn by the law that they follow."""
    rng = np.random.default_rng([seed, trials])
    member, epsilon = rng.permutation(trials) % 2 == 0, truth(kind)["epsilon"]
    if kind == "ties":
        scores = np.clip(np.floor(member + rng.laplace(size=trials)), -1, 2)
    elif kind == "numbers":
        scores = member + rng.laplace(size=trials)
    else:
        scores = (member ^ (rng.random(trials) > expit(epsilon))).astype(float)
    summary = MIAttackSummary(
        member, scores >= 1, scores, kind, "KnownEvent", "D", "0", dependence="independent"
    )
    subject = AuditedSubject(kind, "audited", (summary,))
    return AuditRecord("drawn", {}, "f00", seed, (subject,), claim=Claim(epsilon))


class Noise(Generator):
    """Ignores its input."""

    def fit(self, dataset: TabularDataset, **_: Any) -> None:
        self.schema = dataset.description

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        rng = np.random.default_rng(random_state)
        rows = [["common", 0, 0, float(value)] for value in rng.random(num_samples)]
        return TabularDataset(rows, self.schema)


class Guess(TrainableThresholdAttack):
    """Scores of targets that all hang on one release, and on nothing else."""

    def __init__(self, number: int) -> None:
        super().__init__(("threshold", 1.0))
        self.number = number

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        first = int(release.table.table.numbers[0, 0] * 2**40)
        drawn = np.random.default_rng([first, self.number])
        return drawn.random() + np.asarray(drawn.random(len(briefing.targets)))

    @property
    def label(self) -> str:
        return f"Guess({self.number})"


def played_by_many(seed: int, attacks: int, targets: int, trials: int) -> AuditRecord:
    """Several attacks on several targets of the same releases, which tell nothing."""
    rows = [["rare", 3, 1, 0.75 + number / 1000] for number in range(targets)]
    people = TabularDataset(rows, BACKGROUND.description)
    box = BlackBoxKnowledge(Noise(), 2)
    game = TargetedMIA(ExactDataKnowledge(BACKGROUND), people, box, seed=seed)
    return Audit(game, [Guess(k) for k in range(attacks)], 0, trials).run(n_jobs=1)


@cache
def truth(kind: str) -> dict[str, float]:
    """Epsilon, AUC, and the true and false positive rates of the attack that knows the event."""
    if kind == "ties":
        rng = np.random.default_rng(0)
        # Three rows carry the numbers from -1 to 2; what lies beyond is clipped.
        worlds = [np.clip(np.floor(k + rng.laplace(size=400_000)), -1, 2) for k in (1, 0)]
        area = np.mean(worlds[0] > worlds[1]) + np.mean(worlds[0] == worlds[1]) / 2
        highest = min(t for t in range(20) if np.mean(worlds[1] >= t) <= 0.01)
        rates = dict(zip(("tpr", "fpr"), LaplaceCount(TARGET, 1.0).rates, strict=True))
        found = float(np.mean(worlds[0] >= highest))
        return {"epsilon": 1.0, "auc": float(area), "found": found, **rates}
    if kind == "unequal":
        return {"epsilon": 0.0, "auc": 0.5}
    if kind.endswith("numbers"):
        return truth_of_numbers(MOST_MOVED * kind.startswith("pairs"))
    epsilon = MECHANISMS[kind][1]
    rate = float(expit(epsilon))
    if kind == "failures":  # they rank below all answers
        area = 0.49 * rate + 0.21 + 0.09 / 2
        return {"epsilon": 1.0, "auc": area, "tpr": 0.7 * rate, "fpr": 0.7 * (1 - rate), "found": 0}
    return {"epsilon": epsilon, "auc": rate, "tpr": rate, "fpr": 1 - rate, "found": 0.0}


def truth_of_numbers(most_moved: float) -> dict[str, float]:
    """Of Laplace noise that is moved by a uniform number of at most this, on a fine grid."""
    grid = np.linspace(-30, 40, 70_001)
    moves = most_moved * (np.arange(200) + 0.5) / 200 if most_moved else [0.0]
    other = np.mean([laplace.cdf(grid - move) for move in moves], axis=0)
    member = np.interp(grid - 1, grid, other)
    tpr, fpr = (1 - float(np.interp(1.0, grid, world)) for world in (member, other))
    return {
        "epsilon": 1.0,
        "auc": 1 - float(np.sum(np.diff(other) * (member[1:] + member[:-1]) / 2)),
        "tpr": tpr,
        "fpr": fpr,
        "found": 1 - float(np.interp(np.interp(0.99, other, grid), grid, member)),
    }


def misses(estimate: Estimate | None, value: float) -> int:
    return int(estimate is not None and not estimate.low <= value <= estimate.high)


def wrongs(kind: str, record: AuditRecord) -> Counter[str]:
    """Which statements about an audit are wrong."""
    known, findings = truth(kind), Findings(record)
    found = Counter({"audits": 1, "epsilon": int(findings.epsilon > known["epsilon"])})
    gates = [Gate("epsilon", known["epsilon"]), Gate("auc", known["auc"])]
    states = [outcome.state for outcome in decide(record, gates).outcomes]
    found["epsilon gate fails"] = int(states[0] == "fail")
    found["auc gate fails"] = int(states[1] == "fail")
    if record.claim is not None:
        found["claim"] = int(decide(record).contradicts_claim)
    for finding in findings.audited:
        area = finding.shared.auc
        found["auc intervals"] |= misses(area, known["auc"])
        if "found" in known:
            found["tpr intervals"] |= misses(finding.shared.tpr_at_low_fpr, known["found"])
        found["words too strong"] |= int(leak(finding.shared)[0] > 2 * known["auc"] - 1)
    for people in exposed_people(record) if kind in NULLS else ():
        found["people exposed"] |= int(people.num_exposed > 0)
        found["means over people"] |= misses(people.mean, known["auc"])
    if findings.best is not None and kind in NULLS:
        said = " ".join(AuditPage(record).words)
        found["not settled"] = int("by itself excludes guessing" in said)
        found["leak in words"] = int("No attack did" not in said and not found["not settled"])
    if len(findings.audited) == 1 and "tpr" in known:
        edge = known["tpr"] - known["fpr"]
        found["advantage intervals"] = misses(findings.audited[0].shared.advantage, edge)
        found["band"] = int(not band_holds(record, known))
    return found


def band_holds(record: AuditRecord, known: dict[str, float]) -> bool:
    """Whether the band around the curve holds at the threshold whose rates are known."""
    (summary,) = record.subjects[0].summaries
    assert isinstance(summary, BinaryLabelInferenceAttackSummary)
    assert summary.scores is not None
    member = summary.labels == 1
    band = roc_band(summary.scores[member], summary.scores[~member])
    place = int(np.sum(band.thresholds >= 1)) - 1
    if place < 0:
        return True
    limits = (
        (band.tpr_low[place], known["tpr"], band.tpr_high[place]),
        (band.fpr_low[place], known["fpr"], band.fpr_high[place]),
    )
    return all(low <= rate <= high for low, rate, high in limits)


def told(kind: str, found: Counter[str], audits: int = AUDITS, error: float = 0.05) -> None:
    said = ", ".join(f"{name} {count}" for name, count in found.items() if name != "audits")
    print(f"{kind}: wrong in {found['audits']} audits: {said}")  # noqa: T201
    assert found["audits"] == audits
    for name, count in found.items():
        if name != "audits":
            allowed = WAYS * error if name == "not settled" else error
            assert count / audits <= most_wrong(audits, allowed), name
