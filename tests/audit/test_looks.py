"""Who adds trials after a look at the results, looks again; every door counts it."""

from pathlib import Path

import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit, StopEarly, _subject_run
from tapas.audit._run_progress import RunProgress
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.results import (
    AuditRecord,
    Claim,
    Findings,
    decide,
    holds_together,
    summary_facts,
)
from tapas.stats import look_share
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA


def _threat_model() -> TargetedMIA:
    data = load_sample("census", 200, seed=1)
    return TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=20, seed=0),
        data.get_records([0]),
        BlackBoxKnowledge(Raw(), 20),
        seed=1,
    )


def test_topping_up_in_python_is_another_look() -> None:
    threat_model, attack = _threat_model(), ClosestDistanceMIA(criterion=("threshold", 0))
    attack.train(threat_model, 4)
    shares = [threat_model.test(attack, n).error_share for n in (10, 20, 20, 10, 30)]
    assert shares == [1, look_share(2), look_share(2), 1, look_share(3)]
    fresh = threat_model.test(attack, 20, ignore_memory=True)
    assert fresh.error_share == 1


def test_a_run_folder_remembers_looks(tmp_path: Path) -> None:
    attacks = [ClosestDistanceMIA(criterion=("threshold", 0))]

    def share(num_test: int) -> float:
        Audit(_threat_model(), attacks, 4, num_test).run(tmp_path, n_jobs=1)
        return AuditRecord.load(tmp_path).subjects[0].summaries[0].error_share

    assert [share(n) for n in (10, 10, 20, 10)] == [1, 1, look_share(2), 1]


def test_other_attacks_on_the_same_trials_are_another_look(tmp_path: Path) -> None:
    """Who tries attacks one after another and reports the strongest has looked at all of them."""
    attacks = [ClosestDistanceMIA(criterion=("threshold", float(n)), label=str(n)) for n in (0, 1)]

    def share(chosen: list[ClosestDistanceMIA], num_train: int = 4) -> float:
        audit = Audit(_threat_model(), chosen, num_train, 10)
        return audit.run(tmp_path, n_jobs=1).subjects[0].summaries[0].error_share

    shares = [share(attacks[:1]), share(attacks[1:]), share(attacks[:1]), share(attacks)]
    assert shares == [1, look_share(2), 1, look_share(3)]
    assert share(attacks, num_train=6) == look_share(4)


def test_what_a_run_shows_before_its_end_is_a_look(tmp_path: Path, monkeypatch) -> None:
    """Who has seen a part of 40 trials, ends the run and asks for less has looked before."""
    monkeypatch.setattr(_subject_run, "WORTH_TELLING", 0)
    attacks, seen = [ClosestDistanceMIA(criterion=("threshold", 0))], []

    def interrupt(self: RunProgress, said: list[str]) -> None:
        seen.extend(said)
        raise KeyboardInterrupt

    audit = Audit(_threat_model(), attacks, 4, 40)
    with monkeypatch.context() as patched:
        patched.setattr(RunProgress, "tell", interrupt)
        with pytest.raises(KeyboardInterrupt):
            audit.run(tmp_path, n_jobs=1)
    assert "After 10 test trials" in seen[0]
    for num_test, look in ((20, 2), (40, 1)):
        record = Audit(_threat_model(), attacks, 4, num_test).run(tmp_path, n_jobs=1)
        assert record.subjects[0].summaries[0].error_share == look_share(look)


def test_looks_that_may_end_the_trials_share_the_error() -> None:
    attacks = [ClosestDistanceMIA(criterion=("threshold", 0))]
    stop = StopEarly(claim=Claim(50.0), every=10)
    record = Audit(_threat_model(), attacks, 4, 40, stop_early=stop).run(n_jobs=1)
    (summary,) = record.subjects[0].summaries
    assert summary.error_share == pytest.approx(0.475)
    said = " ".join(holds_together(Findings(record), decide(record)))
    assert "where they ended has 47.50% of the error" in said
    assert "looked at more than once" not in said
    once = summary.sharing(1.0)
    assert float(summary_facts(summary).epsilon) < float(summary_facts(once).epsilon)
    assert summary_facts(summary).auc.low < summary_facts(once).auc.low
    assert float(summary_facts(summary).epsilon) == float(
        summary_facts(once, confidence=1 - 0.05 * 0.475).epsilon
    )


def test_looks_that_may_end_the_trials_and_trials_added_later_share_one_error(tmp_path) -> None:
    attacks = [ClosestDistanceMIA(criterion=("threshold", 0))]
    stop, spent = StopEarly(claim=Claim(50.0), every=10), 0.0
    for num_test in (20, 40, 60):
        Audit(_threat_model(), attacks, 4, num_test, stop_early=stop).run(tmp_path, n_jobs=1)
        (summary,) = AuditRecord.load(tmp_path).subjects[0].summaries
        spent += summary.error_share / stop.share_of_look(num_test, num_test)
    assert spent <= sum(map(look_share, (1, 2, 3))) + 1e-9
    record = AuditRecord.load(tmp_path)
    said = " ".join(holds_together(Findings(record), decide(record)))
    assert "this look spends 1.67% of the error, so that all looks hold together with 94.5%" in said
    assert "where they ended has 47.50% of the error" in said


def test_audits_without_a_folder_and_tests_of_one_threat_model_count_each_others_looks() -> None:
    threat_model, attack = _threat_model(), ClosestDistanceMIA(criterion=("threshold", 0))

    def share(num_test: int) -> float:
        record = Audit(threat_model, [attack], 4, num_test).run(n_jobs=1)
        return record.subjects[0].summaries[0].error_share

    assert [share(n) for n in (10, 20, 20)] == [1, look_share(2), look_share(2)]
    attack.train(threat_model, 4)
    assert threat_model.test(attack, 30).error_share == look_share(3)
    assert share(40) == look_share(4)


def test_a_saved_threat_model_keeps_the_looks_at_its_trials(tmp_path: Path) -> None:
    threat_model, attack = _threat_model(), ClosestDistanceMIA(criterion=("threshold", 0))
    attack.train(threat_model, 4)
    assert threat_model.test(attack, 10).error_share == 1
    threat_model.save(tmp_path / "saved")
    again = TargetedMIA.load(tmp_path / "saved")
    assert again.test(attack, 20).error_share == look_share(2)


def test_trials_that_are_played_afresh_each_time_were_never_looked_at() -> None:
    threat_model, attack = _threat_model(), ClosestDistanceMIA(criterion=("threshold", 0))
    threat_model.memorise_datasets = False
    attack.train(threat_model, 4)
    assert [threat_model.test(attack, n).error_share for n in (10, 20)] == [1, 1]
