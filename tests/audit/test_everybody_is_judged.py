"""Records that the attacker learns from are judged too, by what the others teach."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tapas.attacks import ClosestDistanceMIA, LossMIA, RecordEnsembleAttack
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample
from tapas.report import AuditPage
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Findings,
    MIAttackSummary,
    exposed_records,
)
from tapas.threat_models import ModelMIA, ObservedAIA, ObservedMIA


def _tables(seed: int = 0) -> tuple[TabularDataset, TabularDataset, TabularDataset]:
    data = load_sample("clinic", 360, seed=seed)
    private, holdout, others = (data.take(range(i, i + 120)) for i in (0, 120, 240))
    return others.take(range(60)).concat(private.take(range(60))), private, holdout


def test_every_private_record_that_can_be_compared_is_in_the_table() -> None:
    game = ObservedMIA(*_tables(), seed=1)
    record = Audit(game, [RecordEnsembleAttack(), ClosestDistanceMIA()]).run(n_jobs=1)
    (exposed,) = exposed_records(Findings(record))
    members = exposed.table[exposed.table["member"]]
    assert sorted(members["row"]) == list(range(120))
    counts = game.counts
    judged = counts.judged_members + counts.judged_non_members
    assert len(exposed.table) == judged + counts.known_members + counts.known_non_members
    assert exposed.table["rank"].tolist() == list(range(1, len(exposed.table) + 1))
    assert exposed.table["record"].is_unique
    assert (members["row"].head(20) < 60).mean() > 0.8, "those that were copied come first"


def test_halves_are_exchanged_and_nothing_else() -> None:
    game = ObservedMIA(*_tables(), seed=1)
    turned = game.turned()
    assert turned is not None
    both = pd.concat([game.judged_records(), turned.judged_records()])
    assert not both.duplicated(["source", "row"]).any()
    again = turned.turned()
    assert again is not None
    assert again.judged_records().equals(game.judged_records())
    assert again.game.release is game.game.release


def test_results_and_their_intervals_are_those_of_the_judged_half_alone() -> None:
    game = ObservedMIA(*_tables(), seed=1)
    record = Audit(game, [ClosestDistanceMIA()]).run(n_jobs=1)
    (summary,) = record.subjects[0].summaries
    assert len(summary) == game.counts.judged_members + game.counts.judged_non_members
    (exposed,) = exposed_records(Findings(record))
    assert exposed.slices["members"][0] == game.counts.judged_members


@pytest.mark.parametrize("turned", [False, True])
def test_the_nearest_released_record_is_known_of_all_that_are_listed(turned) -> None:
    """Also where many score the same, and where what was kept back is copied instead."""
    release, private, holdout = _tables()
    game = ObservedMIA(release, *([holdout, private] if turned else [private, holdout]), seed=1)
    record = Audit(game, [ClosestDistanceMIA()]).run(n_jobs=1)
    (exposed,) = exposed_records(Findings(record))
    assert exposed.read_reversed is turned
    assert set(exposed.table["told"].head(20)) == {True, False}
    assert exposed.table["agrees_on"].head(20).notna().all()


def test_each_half_is_ranked_by_its_own_false_alarms() -> None:
    game = ObservedMIA(*_tables(), seed=1)
    record = Audit(game, [RecordEnsembleAttack()]).run(n_jobs=1)
    (exposed,) = exposed_records(Findings(record))
    table = exposed.table
    assert (np.diff(table["false_positive_rate"]) >= 0).all()
    assert set(table["told"]) == {True, False}
    for _, half in table.groupby("told"):
        assert (np.diff(half["score"]) <= 0).all()
        others = half.loc[~half["member"], "score"].to_numpy()
        rates = [(others >= score).mean() for score in half["score"]]
        assert half["false_positive_rate"].tolist() == pytest.approx(rates)


def test_of_records_that_no_other_reaches_those_come_first_that_few_of_their_half_reach() -> None:
    """Five of a hundred are copied in one half, two of forty in the other, which score 0."""

    def half(members: int, copies: int) -> AuditedSubject:
        scores = np.r_[np.zeros(copies), -1 - np.arange(members - copies) / 1000, [-9.0] * members]
        labels = np.arange(2 * members) < members
        one = MIAttackSummary(
            labels, scores > -2, scores, "", "A", "", "all", dependence="one release"
        )
        about = {"source": ["x"] * len(scores), "row": list(range(len(scores)))}
        return AuditedSubject("S", summaries=(one,), records=about)

    both = replace(half(50, 5), other_half=half(20, 2))
    (exposed,) = exposed_records(Findings(AuditRecord("", {}, "f", 0, (both,))))
    scores = exposed.table["score"].tolist()
    assert scores[:7] == [0.0] * 7
    assert scores[7] < 0


def test_attributes_name_the_rows_that_were_given() -> None:
    release, private, holdout = _tables()
    frame = private.data.copy()
    frame.loc[frame.index[:7], "smoker"] = None
    private = TabularDataset(frame, private.description)
    game = ObservedAIA(release, private, holdout, "smoker", seed=1)
    turned = game.turned()
    assert turned is not None
    rows = turned.judged_records().query("source == 'members'")["row"]
    assert rows.min() >= 7
    values = turned.judged_values()["age"].to_numpy()[turned.game.candidates.members]
    assert values.tolist() == private.data["age"].to_numpy()[rows].tolist()


def _model(**options: object) -> ModelMIA:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 3, 300)
    model = RandomForestClassifier(20, random_state=0).fit(X[:150], y[:150])
    return ModelMIA(model, (X[:150], y[:150]), (X[150:], y[150:]), seed=2, **options)


def test_all_members_of_a_model_without_shadow_models_are_listed() -> None:
    record = Audit(_model(), [LossMIA()]).run(n_jobs=1)
    (exposed,) = exposed_records(Findings(record))
    assert sorted(exposed.table[exposed.table["member"]]["row"]) == list(range(150))
    page = AuditPage(record)
    assert "lists all 300 records" in page.html()


def test_no_shadow_models_are_trained_for_it_and_the_page_says_who_is_left_out() -> None:
    game = _model(trainer=LogisticRegression(), num_shadows=2)
    assert game.turned() is None
    record = Audit(game, [LossMIA()]).run(n_jobs=1)
    assert record.subjects[0].other_half is None
    assert "are not among them" in AuditPage(record).html()


def test_nobody_is_known_or_canaries_are_judged_once() -> None:
    assert ObservedMIA(*_tables(), known_share=0, seed=1).turned() is None
    assert _model(known_share=0).turned() is None
    assert _model(coins=True).turned() is None


def test_the_other_half_survives_the_disk_and_earlier_records_lack_it(tmp_path) -> None:
    record = Audit(ObservedMIA(*_tables(), seed=1), [ClosestDistanceMIA()]).run(tmp_path / "run")
    again = AuditRecord.load(tmp_path / "run")
    assert again.to_json() == record.to_json()
    (mine,), (theirs,) = exposed_records(Findings(record)), exposed_records(Findings(again))
    pd.testing.assert_frame_equal(mine.table, theirs.table)
