"""Exposure over people: known areas, known p-values, and attacks that say the same of everybody."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from tapas.metrics import auc, column_aucs
from tapas.report import AuditPage
from tapas.results import AuditedSubject, AuditRecord, MIAttackSummary, constant_scores
from tapas.results import exposed_people as exposed


def summary(rng: np.random.Generator, shift: float, target: str, **about: Any) -> MIAttackSummary:
    members = np.tile([True, False], 100)
    scores = rng.normal(size=200) + shift * members
    about = {"groups": np.arange(200), "attack_info": "ours", **about}
    return MIAttackSummary(members, scores > 0, scores, target_id=target, **about)


def record(summaries: list[MIAttackSummary]) -> AuditRecord:
    subject = AuditedSubject("gen", summaries=tuple(summaries), trials={"test": 200})
    return AuditRecord("t", {}, "f", 0, (subject,))


def test_areas_of_columns_are_those_of_each() -> None:
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 5, (30, 4)).astype(float), rng.random((30, 4)) < 0.5
    positive[:, 3] = True
    found = column_aucs(scores, positive)
    for column in range(3):
        assert found[column] == pytest.approx(auc(positive[:, column], scores[:, column]))
    assert np.isnan(found[3])


def test_the_exposed_are_told_from_the_others() -> None:
    rng = np.random.default_rng(2)
    shifts = [1.5] * 4 + [0.0] * 16
    (people,) = exposed(record([summary(rng, s, f"p{n}") for n, s in enumerate(shifts)]))
    assert people.num_exposed == 4
    assert set(people.table["target"][:4]) == {"p0", "p1", "p2", "p3"}
    expected = (4 * norm.cdf(1.5 / np.sqrt(2)) + 16 * 0.5) / 20
    assert people.mean.low < expected < people.mean.high
    assert "Of 20 people in gen, 4 are exposed" in people.words()


def test_nobody_is_exposed_where_nothing_leaks() -> None:
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        (people,) = exposed(record([summary(rng, 0.0, f"p{n}") for n in range(10)]))
        wrong += people.num_exposed > 0
    assert wrong <= 6  # 2 expected at 5 %


def test_several_attacks_share_the_error() -> None:
    rng = np.random.default_rng(1)
    one = [summary(rng, 0.4, f"p{n}") for n in range(6)]
    other = [summary(rng, 0.0, f"p{n}", attack_info="other") for n in range(6)]
    (alone,), (both,) = exposed(record(one)), exposed(record([*one, *other]))
    assert both.attack == alone.attack == "ours"
    assert (both.table["p_value"] >= alone.table["p_value"]).all()
    assert both.mean.high - both.mean.low > alone.mean.high - alone.mean.low


def test_few_people_or_records_of_one_release_are_not_people() -> None:
    rng = np.random.default_rng(1)
    assert exposed(record([summary(rng, 1.0, "a"), summary(rng, 1.0, "b")])) == []
    together = [summary(rng, 1.0, f"p{n}", dependence="one release") for n in range(6)]
    assert exposed(record(together)) == []


def test_a_score_that_never_changes_is_a_warning_on_the_page() -> None:
    rng = np.random.default_rng(1)
    members = np.tile([True, False], 20)
    mute = MIAttackSummary(
        members, members, np.zeros(40), groups=np.arange(40), attack_info="blind", target_id="p"
    )
    (said,) = constant_scores(record([mute, summary(rng, 1.0, "p")]))
    assert "blind gave all trials of gen the same score for every target" in said
    page = AuditPage(record([mute, summary(rng, 1.0, "p")]))
    assert any("blind gave all trials" in sentence for sentence in page.words)
    assert "blind gave all trials" in page.html()


def test_the_page_has_a_picture_and_a_list_of_people(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    page = AuditPage(record([summary(rng, 0.5, f"=p{n}") for n in range(6)]))
    files = {path.name: path for path in page.publish(tmp_path)}
    assert "How exposure is spread over people" in files["report.html"].read_text(encoding="utf-8")
    lines = files["people.csv"].read_text(encoding="utf-8").splitlines()
    assert lines[0] == "subject,attack,target,auc,p_value"
    assert len(lines) == 7
    assert all("'=p" in line for line in lines[1:])
