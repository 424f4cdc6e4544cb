"""When an audit may stop: secrets that are no fair coins, rare events, attacks turned round."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from whole_audits import BACKGROUND, TARGET, Guess, Noise

from tapas.audit import Audit, StopEarly, Subject
from tapas.errors import ConfigError
from tapas.report import AuditPage
from tapas.results import (
    AuditRecord,
    BinaryAIAttackSummary,
    Claim,
    Findings,
    MIAttackSummary,
    decide,
    holds_together,
    look_words,
)
from tapas.stats import look_share
from tapas.testing import KnownEvent, RandomizedResponse
from tapas.threat_models import BlackBoxKnowledge, ExactDataKnowledge, TargetedAIA, TargetedMIA


def test_a_common_value_is_no_contradiction() -> None:
    """Nine in ten have the value, and the attack says so without looking."""
    stop = StopEarly(claim=Claim(1.0))
    for seed in range(40):
        labels = np.random.default_rng(seed).random(400) < 0.9
        assert stop.reason([BinaryAIAttackSummary(labels, np.ones(400), attack_info="A")]) is None


def test_an_audit_of_a_common_value_does_not_contradict_what_holds() -> None:
    """The same through the audit, of a generator that ignores its input."""
    box = BlackBoxKnowledge(Noise(), 2)
    column = BACKGROUND.description.columns[0]
    for seed in range(4):
        known, values = ExactDataKnowledge(BACKGROUND), ["common", "rare"]
        game = TargetedAIA(known, TARGET, column, values, box, [0.9, 0.1], seed=seed)
        claim = Claim(1.0)
        stop = StopEarly(claim=claim, every=20)
        audit = Audit(game, [Guess(0)], 0, 80, claim=claim, stop_early=stop)
        record = audit.run(n_jobs=1)
        assert not record.stopped
        assert not decide(record).contradicts_claim


@pytest.mark.parametrize("is_turned", [False, True])
def test_rare_events_stop_it_whichever_way_round(is_turned: bool) -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(1200) < 0.5
    found = labels & (rng.random(1200) < 0.05)
    guesses = ~found if is_turned else found
    reason = StopEarly(claim=Claim(1.0)).reason([MIAttackSummary(labels, guesses)])
    assert reason is not None
    assert "contradicted" in reason


def test_pairs_are_matched_by_their_group() -> None:
    """Both trials of every pair are alike, and the first of an odd number waits."""
    rng = np.random.default_rng(1)
    seen = np.repeat(rng.random(301) < 0.5, 2)[:-1]
    labels, groups = np.arange(601) % 2 == 0, np.arange(601) // 2
    assert (
        StopEarly(claim=Claim(0.0)).reason([MIAttackSummary(labels, seen, groups=groups)]) is None
    )
    told = MIAttackSummary(labels, labels, groups=groups)
    assert StopEarly(claim=Claim(3.0)).reason([told]) is not None


def _ended(seed: int, confidence: float = 0.95) -> AuditRecord:
    """Of a mechanism with twice the epsilon that is claimed."""
    mechanism, claim = RandomizedResponse(TARGET, 2.0), Claim(1.0)
    box = BlackBoxKnowledge(mechanism, len(BACKGROUND))
    game = TargetedMIA(ExactDataKnowledge(BACKGROUND), TARGET, box, seed=seed)
    stop = StopEarly(claim=claim, every=20, confidence=confidence)
    audit = Audit(game, [KnownEvent(mechanism)], 0, 200, claim=claim, stop_early=stop)
    return audit.run(n_jobs=1)


def test_what_ends_the_trials_contradicts_the_claim_in_verdict_page_and_record() -> None:
    """At this seed the certificate alone, which shares its error with every look, does not."""
    record = _ended(1)
    verdict = decide(record)
    assert float(verdict.claim.bound) < 1
    assert (verdict.contradicts_claim, verdict.exit_code) == (True, 1)
    words = " ".join(AuditPage(record).words)
    assert "Claim contradicted" in words
    assert "is not contradicted" not in words
    assert "a part of the error of its own" in " ".join(holds_together(Findings(record), verdict))
    again = AuditRecord.from_json(record.to_json())
    assert decide(again).contradicts_claim


def _claimed(epsilon: float, claim: float, **options: Any) -> Audit:
    mechanism = options.pop("make", RandomizedResponse)(TARGET, epsilon)
    box = BlackBoxKnowledge(mechanism, len(BACKGROUND))
    game = TargetedMIA(ExactDataKnowledge(BACKGROUND), TARGET, box, seed=options.pop("seed", 3))
    attack = KnownEvent(mechanism)
    trials = options.pop("trials", 400)
    subjects = [Subject(game, role=role) for role in options.pop("roles", ("control", "audited"))]
    return Audit(subjects, [attack], 0, trials, claim=Claim(claim), **options)


def test_a_false_claim_ends_the_trials_by_default_and_those_of_controls() -> None:
    record = _claimed(3.0, 1.0).run(n_jobs=1)
    control, audited = record.subjects
    assert "contradicted the claimed epsilon 1" in record.stopped
    assert audited.trials["test"] == control.trials["test"] < 400
    assert [one.summaries[0].error_share < 0.01 for one in record.subjects] == [False, True]
    assert decide(record).contradicts_claim
    whole = _claimed(3.0, 1.0, stop_early=StopEarly()).run(n_jobs=1)
    assert not whole.stopped
    assert whole.subjects[1].trials["test"] == len(whole.subjects[1].summaries[0]) == 400
    assert whole.subjects[1].summaries[0].error_share == 1


def test_a_true_claim_costs_little_and_few_trials_nothing() -> None:
    record = _claimed(1.0, 1.0).run(n_jobs=1)
    assert not record.stopped
    assert record.subjects[1].summaries[0].error_share == pytest.approx(0.855)
    said = " ".join(holds_together(Findings(record), decide(record)))
    assert "where they ended has 85.50% of the error" in said
    assert "a part of the error of its own" in said
    assert "looked at more than once" not in said
    assert look_words(Findings(AuditRecord.from_json(record.to_json()))) == []
    few = _claimed(1.0, 1.0, trials=50)
    assert few.stopping() is None
    two = _claimed(1.0, 1.0, roles=("audited", "audited"))
    assert two.stopping() is None
    with pytest.raises(ConfigError, match="one subject"):
        replace(two, stop_early=StopEarly(width=0.1))


class SeldomCrashing(RandomizedResponse):
    """Fails in one of a hundred trials."""

    def _answer(self, dataset: Any, rng: np.random.Generator) -> int:
        if rng.random() < 0.01:
            raise RuntimeError("crashed")
        return super()._answer(dataset, rng)


def test_what_is_played_ahead_of_a_look_changes_nothing() -> None:
    """Many workers play trials that one would not have come to, some of which fail."""
    found = []
    for workers in (1, 60):
        with ThreadPoolExecutor(workers) as pool:
            audit = _claimed(4.0, 1.0, trials=300, make=SeldomCrashing, seed=5)
            record = audit.run(executor=pool)
        assert record.stopped
        assert record.complete
        found.append([one.to_dict() for one in record.subjects])
    assert found[0] == found[1]
    assert not _claimed(1.0, 1.0, trials=300, make=SeldomCrashing, seed=5).run().complete


def test_less_certain_reasons_to_stop_do_not_contradict_a_claim() -> None:
    record = _ended(1, confidence=0.8)
    assert "with 80% confidence" in record.stopped
    assert not record.contradicted


def test_looks_and_what_ends_the_trials_share_one_error() -> None:
    claim = Claim(1.0)
    claimed, narrow = StopEarly(claim=claim, every=10), StopEarly(width=0.5, every=10)
    default = replace(StopEarly.on_contradiction(claim), every=10)
    for stop, spent, last in ((claimed, 0.5, 0.475), (narrow, 0, 0.25), (default, 0.1, 0.855)):
        looks = [stop.share_of_look(n, 40) for n in (10, 20, 30, 40)]
        assert sum(looks) + spent == pytest.approx(1)
        assert looks[-1] == pytest.approx(last)
    assert claimed.share_of_look(10, 10) == 0.5
    assert StopEarly().share_of_look(10, 40) == 1
    rng = np.random.default_rng(3)
    labels = rng.random(400) < 0.5
    summary = MIAttackSummary(labels, labels ^ (rng.random(400) < 0.1))
    sizes = range(20, 400, 10)

    def first(share: float) -> int:
        return next(n for n in sizes if claimed.end([summary.drawn(np.arange(n))], share))

    assert first(1.0) < first(look_share(2))
