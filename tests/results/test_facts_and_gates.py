"""Numbers with their intervals, and limits that act on interval ends."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from tapas.errors import ConfigError, StoreError
from tapas.report import EffectiveEpsilonReport
from tapas.results import (
    AIAttackSummary,
    AttackCrash,
    AuditedSubject,
    AuditRecord,
    Claim,
    Findings,
    Gate,
    MIAttackSummary,
    _facts,
    _findings,
    decide,
    judge_claim,
    record_facts,
    rounded_down,
    summary_facts,
)
from tapas.results._gates import _interval
from tapas.stats import auc_interval, clopper_pearson, gaussian_epsilon_from_mu


def _summary(
    strength: float, trials: int = 400, *, seed: int = 0, groups: object = None
) -> MIAttackSummary:
    rng = np.random.default_rng(seed)
    labels = np.arange(trials) % 2 == 0
    scores = rng.normal(size=trials) + strength * labels
    return MIAttackSummary(
        labels, scores > strength / 2, scores, "G", f"attack {seed}", "D", "7", groups=groups
    )


def _record(*summaries: MIAttackSummary, **options: object) -> AuditRecord:
    crashes = options.pop("crashes", ())
    subject = AuditedSubject("ours", "audited", summaries, crashes=crashes)
    return AuditRecord("title", {"a": [1]}, "f00", 3, (subject,), **options)


def test_a_record_is_shown_in_a_line() -> None:
    assert repr(_record(_summary(1.0))) == "AuditRecord('title' of ours, complete=True)"


def test_facts_are_the_statistics_of_the_summary() -> None:
    summary = _summary(1.0)
    facts = summary_facts(summary)
    low, high = clopper_pearson(round(summary.accuracy * 400), 400, 0.95, "two-sided")
    assert (facts.accuracy.low, facts.accuracy.high) == pytest.approx((low, high))
    positive = summary.labels.astype(bool)
    expected = auc_interval(summary.scores[positive], summary.scores[~positive])
    assert (facts.auc.low, facts.auc.high) == pytest.approx((expected.low, expected.high))
    assert facts.tpr_at_low_fpr.value == summary.tpr_at_fpr(0.01).tpr
    assert 0 < float(facts.epsilon) < facts.epsilon.ceiling


# 10 positive trials of which 6 are found, 30 negative ones with 3 false alarms
_COUNTED = ([True] * 10 + [False] * 30, [True] * 6 + [False] * 4 + [True] * 3 + [False] * 27)


@pytest.mark.parametrize("dependence", ["independent", "one release", "coins"])
def test_precision_and_recall_are_exact_shares_of_what_was_counted(dependence: str) -> None:
    facts = summary_facts(MIAttackSummary(*_COUNTED, dependence=dependence))
    for name, right, of in (("precision", 6, 9), ("recall", 6, 10)):
        found = facts.measured(name)
        assert found.value == right / of
        assert (found.low, found.high) == pytest.approx(clopper_pearson(right, of, 0.95))
    assert facts.positive_share == 0.25


def test_the_precision_of_pairs_follows_from_limits_of_both_rates() -> None:
    labels = np.tile([True, False], 50)
    guesses = np.where(labels, np.arange(100) < 80, np.arange(100) < 20)
    found = summary_facts(MIAttackSummary(labels, guesses, groups=np.arange(100) // 2))
    (low, high), (fewest, most) = (clopper_pearson(n, 50, 0.975) for n in (40, 10))
    ends = (low / (low + most), high / (high + fewest))
    precision = found.measured("precision")
    assert precision.value == 0.8
    assert (precision.low, precision.high) == pytest.approx(ends)


def test_gates_limit_precision_and_recall_by_the_ends_of_their_intervals() -> None:
    found = _record(MIAttackSummary(*_COUNTED, None, "G", "A", "D", "7"))
    low, high = clopper_pearson(6, 9, 0.95)
    gates = [Gate("precision", x) for x in (low - 0.01, low + 0.01, high + 0.001)]
    states = [outcome.state for outcome in decide(found, gates).outcomes]
    assert states == ["fail", "inconclusive", "pass"]
    (said, recall) = decide(found, [Gate("precision", 0.2), Gate("recall", 0.2)]).outcomes
    assert "25% of the trials are positive" in said.words
    for outcome in (said, recall):
        assert "of the guesses as they were made" in outcome.words
    assert (recall.state, recall.low) == ("fail", clopper_pearson(6, 10, 0.95)[0])


def test_an_attack_that_guesses_nobody_has_no_precision_and_hides_no_failure() -> None:
    labels = np.arange(400) % 2 == 0
    silent = MIAttackSummary(labels, labels & False, labels * 1.0, "G", "silent", "D", "7")
    (outcome,) = decide(_record(silent), [Gate("precision", 0.6)]).outcomes
    assert outcome.state == "inconclusive"
    assert "no guess was positive" in outcome.words
    (outcome,) = decide(_record(silent, _summary(3.0)), [Gate("precision", 0.6)]).outcomes
    assert outcome.state == "fail"


def test_a_trial_without_a_score_counts_as_the_lowest() -> None:
    labels = [True] * 20 + [False] * 20
    scores = np.concatenate([np.linspace(1, 2, 20), np.linspace(0, 1, 20)])
    scores[[0, 25]] = np.nan
    facts = summary_facts(MIAttackSummary(labels, scores > 1, scores))
    lowest = np.where(np.isnan(scores), -10.0, scores)
    assert facts.auc.value == summary_facts(MIAttackSummary(labels, lowest > 1, lowest)).auc.value


def test_many_values_and_one_class_have_an_accuracy_only() -> None:
    several = AIAttackSummary(["a", "b", "c"], ["a", "b", "b"])
    assert summary_facts(several).auc is None
    assert summary_facts(several).accuracy.value == pytest.approx(2 / 3)
    assert summary_facts(MIAttackSummary([True] * 5, [True] * 5)).epsilon is None


@pytest.mark.parametrize(
    ("strength", "limit", "state", "code"),
    [(3.0, 0.6, "fail", 1), (0.0, 0.7, "pass", 0), (0.0, 0.52, "inconclusive", 6)],
)
def test_gates_act_on_interval_ends(strength: float, limit: float, state: str, code: int) -> None:
    verdict = decide(_record(_summary(strength), gates=(Gate("auc", limit),)))
    assert (verdict.state, verdict.exit_code) == (state, code)
    (outcome,) = verdict.outcomes
    ends = {"fail": outcome.low > limit, "pass": outcome.high <= limit}
    assert ends.get(state, outcome.low <= limit < outcome.high)


def test_the_worst_attack_decides_and_all_share_the_error() -> None:
    record = _record(*(_summary(s, seed=i) for i, s in enumerate([0.0, 2.5, 0.0])))
    (outcome,) = decide(record, [Gate("accuracy", 0.6)]).outcomes
    assert outcome.state == "fail"
    assert "attack 1" in outcome.words
    alone = decide(_record(_summary(2.5, seed=1)), [Gate("accuracy", 0.6)]).outcomes[0]
    assert outcome.low < alone.low


def test_a_crashed_attack_never_passes() -> None:
    crash = AttackCrash("broken", "7", "ValueError: no")
    harmless = _record(_summary(0.0), gates=(Gate("auc", 0.9),), crashes=(crash,))
    assert decide(harmless).state == "inconclusive"
    leaking = _record(_summary(3.0), gates=(Gate("auc", 0.6),), crashes=(crash,))
    assert decide(leaking).state == "fail"


def test_an_audit_without_gates_or_without_results_says_so() -> None:
    assert decide(_record(_summary(1.0))).state == "none"
    nothing = decide(_record(gates=(Gate("auc", 0.6),)))
    assert (nothing.state, nothing.exit_code) == ("inconclusive", 5)


def test_gates_look_past_controls() -> None:
    record = _record(_summary(0.0), gates=(Gate("auc", 0.7),))
    control = AuditedSubject("copy", "control", (_summary(4.0),))
    both = dataclasses.replace(record, subjects=(*record.subjects, control))
    assert decide(both).state == "pass"
    assert {facts.role for facts in record_facts(both)} == {"audited", "control"}


def test_an_epsilon_gate_fails_on_the_certificate() -> None:
    record = _record(_summary(4.0), gates=(Gate("epsilon", 1.0),), claim=Claim(1.0))
    verdict = decide(record)
    assert verdict.state == "fail"
    least = rounded_down(verdict.outcomes[0].low)
    said = f"Epsilon of at least {least} (attack 0 on target 7), above 1"
    assert verdict.outcomes[0].words == said


def test_a_gate_cites_no_attack_that_saw_nothing_where_another_decides_alike() -> None:
    sees = _summary(0.0)
    labels = np.arange(60) % 2 == 0
    blind = MIAttackSummary(labels, ~labels, np.zeros(60), "G", "blind", "D", "7")
    for limit, state, cited in ((0.75, "pass", "attack 0"), (0.6, "inconclusive", "blind")):
        outcome = decide(_record(sees, blind), [Gate("auc", limit)]).outcomes[0]
        assert (outcome.state, cited in outcome.words) == (state, True)
    alone = decide(_record(blind, _summary(4.0)), [Gate("auc", 0.75)]).outcomes[0]
    assert (alone.state, "attack 0" in alone.words) == ("fail", True)


def test_an_epsilon_gate_never_passes() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(1000) % 2 == 0
    rare = (rng.random(1000) < 0.05) & labels
    summary = MIAttackSummary(labels, rare, np.where(rare, 5.0, 0.0) + rng.normal(size=1000))
    outcome = decide(_record(summary), [Gate("epsilon", 50)]).outcomes[0]
    assert (outcome.state, outcome.high) == ("inconclusive", math.inf)
    assert "cannot pass" in outcome.words


@pytest.mark.parametrize("metric", ["auc", "advantage", "accuracy", "tpr_at_fpr"])
def test_a_leak_in_the_other_direction_counts(metric: str) -> None:
    limit = {"auc": 0.7, "advantage": 0.4, "accuracy": 0.7, "tpr_at_fpr": 0.2}[metric]
    told, turned = _summary(2.5, 2000), _turned(_summary(2.5, 2000))
    outcomes = [decide(_record(s), [Gate(metric, limit)]).outcomes[0] for s in (told, turned)]
    assert [outcome.state for outcome in outcomes] == ["fail", "fail"]
    assert outcomes[0].low == pytest.approx(outcomes[1].low)
    assert Findings(_record(turned)).leaks
    harmless = decide(_record(_summary(0.0, 4000)), [Gate(metric, limit)]).outcomes[0]
    assert harmless.state == "pass"
    none = -0.1 if metric == "advantage" else 0.0
    assert decide(_record(_summary(0.0, 4000)), [Gate(metric, none)]).state == "fail"


def _turned(summary: MIAttackSummary) -> MIAttackSummary:
    return MIAttackSummary(summary.labels, 1 - summary.predictions, -summary.scores)


def test_scores_that_are_missing_for_members_only_are_a_leak() -> None:
    labels = np.arange(400) % 2 == 0
    scores = np.where(labels, np.nan, np.random.default_rng(0).normal(size=400))
    record = _record(MIAttackSummary(labels, np.zeros(400, bool), scores))
    assert decide(record, [Gate("auc", 0.6)]).state == "fail"


@pytest.mark.parametrize("metric", ["accuracy", "advantage", "recall"])
def test_limits_on_guesses_see_that_scores_are_missing_for_members_only(metric: str) -> None:
    labels = np.tile([True, False], 200)
    scores = np.where(labels, np.nan, np.random.default_rng(0).normal(size=400))
    record = _record(MIAttackSummary(labels, np.zeros(400, bool), scores))
    assert decide(record, [Gate(metric, 0.6)]).exit_code == 1


def test_values_without_scores_count_as_each_value() -> None:
    values = np.array(["a", "b", "c"])[np.arange(300) % 3]
    scores = np.zeros((300, 3))
    scores[values == "c"] = np.nan
    summary = AIAttackSummary(
        values, ["a"] * 300, scores, "G", "A", "D", "7", "job", attribute_values=["a", "b", "c"]
    )
    (outcome,) = decide(_record(summary), [Gate("accuracy_gain", 0.1)]).outcomes
    assert outcome.state == "fail"


@pytest.mark.parametrize("limit", [0.1, 0.99])
def test_a_limit_on_the_accuracy_of_an_attribute_decides_nothing(limit: float) -> None:
    values = np.array(["a", "b"])[(np.arange(300) % 10 == 0).astype(int)]
    summary = AIAttackSummary(values, ["a"] * 300, sensitive_attribute="job")
    (outcome,) = decide(_record(summary), [Gate("accuracy", limit)]).outcomes
    assert outcome.state == "inconclusive"
    assert "90% are right without the release): limit accuracy_gain" in outcome.words


def test_a_record_comes_back_from_its_file(tmp_path: object) -> None:
    record = _record(
        _summary(1.0, groups=np.arange(400) // 2),
        claim=Claim(1.0, 1e-5),
        gates=(Gate("tpr_at_fpr", 0.1, fpr=0.001),),
        crashes=(AttackCrash("a", "b", "c"),),
    )
    record.save(tmp_path)
    again = AuditRecord.load(tmp_path)
    assert again.to_json() == record.to_json()
    assert again.gates == record.gates
    np.testing.assert_array_equal(again.subjects[0].summaries[0].groups, np.arange(400) // 2)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "tapas-audit", "version": 99}'])
def test_what_is_not_a_record_is_refused(text: str) -> None:
    with pytest.raises(StoreError):
        AuditRecord.from_json(text)


def test_wrong_limits_are_refused() -> None:
    with pytest.raises(ConfigError, match="metric of a gate"):
        Gate("loss", 1)
    with pytest.raises(ConfigError, match="at least 0"):
        Claim(-1)
    with pytest.raises(ConfigError, match="at least 0"):
        Claim(math.nan)


def test_a_contradicted_claim_fails_and_is_part_of_the_verdict() -> None:
    verdict = decide(_record(_summary(4.0), claim=Claim(0.5)))
    assert (verdict.state, verdict.exit_code) == ("fail", 1)
    assert verdict.claim.state == "contradicted"
    assert "contradicted" in verdict.words
    passing = decide(_record(_summary(4.0), claim=Claim(0.5), gates=(Gate("auc", 1.0),)))
    assert passing.state == "fail"
    assert passing.words == "the claimed epsilon is contradicted; the gate passed"


@pytest.mark.parametrize(
    ("summary", "claim", "state"),
    [
        (_summary(4.0), 20.0, "unseen"),
        (_summary(0.0), 1.0, "open"),
        (_summary(4.0, groups=np.zeros(400, dtype=int)), 0.5, "untested"),
    ],
)
def test_a_claim_that_is_not_contradicted_proves_nothing(summary, claim, state) -> None:
    verdict = decide(_record(summary, claim=Claim(claim)))
    assert (verdict.state, verdict.exit_code, verdict.claim.state) == ("none", 0, state)
    assert decide(_record(summary)).claim is None


def test_an_open_claim_says_how_likely_a_false_one_was_to_be_found() -> None:
    few, many = (Findings(_record(_summary(0.0, n), claim=Claim(1.0))).claim for n in (100, 2000))
    assert "twice as large, by a mechanism like randomized response" in few.words
    gaussian = Findings(_record(_summary(0.0, 100), claim=Claim(1.0, 1e-5, "gaussian"))).claim
    assert "twice as large, by a Gaussian one" in gaussian.words
    assert many.words.endswith(" 1.00.") or many.words.endswith(" 0.99.")
    chance = [float(one.words.rstrip(".").rsplit(" ", 1)[1]) for one in (few, many)]
    assert 0.05 < chance[0] < chance[1]
    assert few.power == pytest.approx(chance[0], abs=0.006)


def test_a_gate_on_few_false_alarms_is_open_where_one_secret_was_drawn() -> None:
    one = MIAttackSummary(np.array([0]), np.array([0]), np.array([0.3]))
    gates = (Gate("tpr_at_fpr", at_most=0.5, fpr=0.01), Gate("auc", at_most=0.7))
    found = decide(_record(one, gates=gates))
    assert found.state == "inconclusive"
    assert [outcome.state for outcome in found.outcomes] == ["inconclusive"] * 2


@pytest.mark.parametrize(
    ("claim", "trials", "about"),
    [
        (Claim(1.0), 30, {}),
        (Claim(0.3), 500, {}),
        (Claim(1.0), 60, {"groups": True}),
        (Claim(0.7), 100, {"dependence": "coins"}),
        (Claim(1.5, 1e-5, "gaussian"), 60, {}),
        (Claim(1.0, 1e-3), 30, {}),
        (Claim(1.0), 60, {"error_share": 0.05}),
    ],
)
def test_the_power_that_is_told_is_that_of_the_certificate(claim, trials, about) -> None:
    rng, found, audits = np.random.default_rng(0), 0, 60 if trials == 500 else 120
    about = {**about, **({"groups": np.arange(2 * trials) // 2} if "groups" in about else {})}
    rate = 1 / (1 + math.exp(-2 * claim.epsilon))
    mu = brentq(lambda m: gaussian_epsilon_from_mu(m, 1e-5) - 2 * claim.epsilon, 0.1, 9)
    for _ in range(audits):
        number = trials if "dependence" in about else 2 * trials
        labels = np.arange(number) % 2 == 0
        if "dependence" in about:
            labels = rng.random(number) < 0.5
        scores = (labels ^ (rng.random(number) > rate)).astype(float)
        if claim.family is not None:
            scores = mu * labels + rng.normal(size=number)
        outcome = judge_claim(claim, [MIAttackSummary(labels, scores > 0, scores, **about)])
        found += outcome.state == "contradicted"
    quiet = MIAttackSummary(labels, np.zeros(number), rng.random(number), **about)
    power = judge_claim(claim, [quiet]).power
    error = math.sqrt(power * (1 - power) / audits)
    assert abs(found / audits - power) < 3 * error + 0.06


def test_a_claim_is_judged_by_the_certificate_that_all_attacks_share() -> None:
    record = _record(*(_summary(s, seed=i) for i, s in enumerate([3.0, 0.0, 0.0])), claim=Claim(9))
    findings = Findings(record)
    assert float(findings.claim.bound) == findings.epsilon
    assert findings.claim.bound.ceiling == findings.ceiling
    alone = Findings(_record(_summary(3.0), claim=Claim(9)))
    assert findings.epsilon < alone.epsilon


def test_facts_of_a_record_are_computed_once(monkeypatch) -> None:
    calls = []
    for room, name in ((_facts, "_epsilon"), (_facts, "estimate"), (_findings, "judge_claim")):
        computed = getattr(room, name)
        monkeypatch.setattr(
            room, name, lambda *a, name=name, by=computed: calls.append((name, a[0])) or by(*a)
        )
    record = _record(
        _summary(1.0), claim=Claim(1.0), gates=(Gate("auc", 0.9), Gate("accuracy", 0.9))
    )
    for _ in range(2):
        decide(record)
        _ = Findings(record).best
        assert record_facts(record)[0].auc is not None
        assert record_facts(record)[0].epsilon is not None
    assert len(calls) == len(set(calls)) > 3


@pytest.mark.parametrize("strength", [-2.0, 0.0, 0.3])
def test_the_upper_end_of_epsilon_is_that_of_the_report_and_not_below_the_lower(strength) -> None:
    summary = _summary(strength)
    facts = summary_facts(summary)
    table = EffectiveEpsilonReport([summary], confidence_levels=0.95).estimate()
    assert table["epsilon_high"][0] >= table["epsilon_low"][0] >= 0
    assert table["epsilon_low"][0] == pytest.approx(float(facts.epsilon))


def test_dependent_trials_have_facts_but_no_certificate() -> None:
    facts = summary_facts(_summary(3.0, groups=np.zeros(400, dtype=int)))
    assert facts.epsilon is None
    assert "records of one release" in facts.no_epsilon
    assert facts.accuracy.low > 0.8


def test_an_epsilon_gate_on_one_release_is_inconclusive() -> None:
    verdict = decide(
        _record(_summary(3.0, groups=np.zeros(400, dtype=int)), gates=(Gate("epsilon", 1.0),))
    )
    assert verdict.state == "inconclusive"
    (outcome,) = verdict.outcomes
    assert outcome.words.startswith("Epsilon not shown to be above 0 (attack 0 on target 7), limit")
    assert "none is certified: the trials are records of one release" in outcome.words


@pytest.mark.parametrize(
    ("low", "said"),
    [(0.0, "not shown to be above 0"), (0.004, "above 0"), (0.2591, "of at least 0.25")],
)
def test_an_open_end_is_told_by_the_other_alone(low: float, said: str) -> None:
    assert _interval(Gate("epsilon", 1.0), low, math.inf) == f"Epsilon {said}"
    ratio = _interval(Gate("accuracy_ratio", 1.2), low + 1, math.inf)
    assert ratio == f"Accuracy ratio of at least {rounded_down(low + 1)}"
