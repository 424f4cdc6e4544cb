"""When an audit may stop: secrets that are no fair coins, rare events, attacks turned round."""

import numpy as np
import pytest
from whole_audits import BACKGROUND, TARGET, Guess, Noise

from tapas.audit import Audit, StopEarly
from tapas.results import BinaryAIAttackSummary, Claim, MIAttackSummary, decide
from tapas.threat_models import BlackBoxKnowledge, ExactDataKnowledge, TargetedAIA


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
