"""A page says what the attacker saw and knew, in Python audits too, and what gave no result."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import ClosestDistanceMIA, LossMIA, RuleBasedMIA, TreeMIA
from tapas.audit import Audit, Subject, audit_from_values
from tapas.compat import GameThreatModel
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.models import Shown
from tapas.report import AuditPage
from tapas.report._page_attacker import attacker_words
from tapas.results import AttackCrash, AuditedSubject, AuditRecord, MIAttackSummary
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    ModelAIA,
    ModelMIA,
    ModelPropertyInference,
    NoBoxKnowledge,
    ObservedMIA,
    PredictionsMIA,
    TargetedAIA,
    TargetedMIA,
    UncertainBoxKnowledge,
    WhiteBoxKnowledge,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.normal(size=80), "sex": np.tile([0, 0, 1, 1], 20)})
Y = np.arange(80) % 2
FOREST = RandomForestClassifier(2, random_state=0).fit(X[:40].to_numpy(), Y[:40])
SIDES = ((X[:40].to_numpy(), Y[:40]), (X[40:].to_numpy(), Y[40:]))
EVERYBODY = load_sample("census", 62)
DATA, TARGET = EVERYBODY.take(range(60)), EVERYBODY.get_records([61])


def said(*models: GameThreatModel, attacks: object = (), **trials: int) -> str:
    """The words of a record as it is after a run with so many trials."""
    audit = Audit([Subject(one, f"S{n}") for n, one in enumerate(models)], attacks, 2, 2)  # type: ignore[arg-type]
    question = json.loads(json.dumps(audit.asked()))
    played = [AuditedSubject(one.label, "audited", (), trials=trials) for one in audit.subjects]
    record = AuditRecord("Audit", question, "f" * 32, 0, tuple(played))
    assert "put together in Python" not in AuditPage(record, ()).html()
    return " ".join(attacker_words(record))


def test_a_model_is_asked_for_what_it_shows_by_who_knows_so_many_records() -> None:
    scores = said(ModelMIA(FOREST, *SIDES, seed=0))
    assert "sees its scores, and trains no models to compare with" in scores
    assert "knows of 20 records that they were used, and of 20 records not" in scores
    labels = said(ModelMIA(FOREST, *SIDES, access="labels", budget=900), attacks=[RuleBasedMIA()])
    assert "sees its labels of at most 900 records, and" in labels


def test_shadow_models_and_parts_of_scores_are_told() -> None:
    shown = Shown(top=1, decimals=2)
    words = said(ModelMIA(FOREST, *SIDES, trainer=FOREST, num_shadows=6, shown=shown, seed=0))
    assert "1 largest score for each record, to 2 decimals, and trains 6 models" in words


def test_parameters_that_no_attack_reads_are_told() -> None:
    model = ModelMIA(FOREST, *SIDES, access="parameters", seed=0)
    assert "None of these attacks reads the parameters" in said(model, attacks=[LossMIA()])
    assert "None of these" not in said(model, attacks=[LossMIA(), TreeMIA()])
    assert "sees its parameters" in said(model)


def test_attributes_properties_and_predictions_have_words_of_their_own() -> None:
    forest = RandomForestClassifier(2, random_state=0).fit(X, Y)
    words = said(ModelAIA(forest, (X, Y), "sex", seed=0))
    assert "sees its scores, and knows of each record all inputs but “sex”, and its class" in words
    about = ModelPropertyInference(forest, (X, Y), Y == 1, num_records=10, num_probes=10, seed=0)
    assert "trains 30 such models on other records" in said(about, train=30, test=2)
    answers = FOREST.predict_proba(X.to_numpy()) + 1e-3 * RNG.random((80, 2))
    answers /= answers.sum(1, keepdims=True)
    words = said(PredictionsMIA(answers, Y, np.arange(80) < 40, seed=0))
    assert "what the model said of each record and its true class" in words
    assert "knows of 20 records that they were used, and of 20 records not" in words


@pytest.mark.parametrize(
    ("knows", "words"),
    [
        (BlackBoxKnowledge, "can run the generator on data of their own."),
        (WhiteBoxKnowledge, "sees the fitted generator as well."),
        (UncertainBoxKnowledge, "without knowing its parameters."),
        (NoBoxKnowledge, "cannot run the generator."),
    ],
)
def test_a_generator_is_attacked_with_the_data_and_the_fits_that_are_told(
    knows: type, words: str
) -> None:
    more = {"prior": dict} if knows is UncertainBoxKnowledge else {}
    data = AuxiliaryDataKnowledge(DATA, auxiliary_split=0.5, num_training_records=10)
    model = TargetedMIA(data, TARGET, knows(Raw(), 10, **more))
    told = said(model, attacks=[ClosestDistanceMIA(criterion=("threshold", 0.5))], train=8, test=6)
    assert "holds 30 records, which the private datasets are not drawn from, and " in told
    assert words in told
    assert "Each private dataset has 10 records." in told
    assert "Attacks learnt from 8 fits of the generator and were judged by 6 fits." in told


def test_data_that_is_known_exactly_and_how_values_are_drawn_are_told() -> None:
    exact, generator = ExactDataKnowledge(DATA), BlackBoxKnowledge(Raw(), 10)
    assert "all private records but the secret one" in said(TargetedMIA(exact, TARGET, generator))
    column = "sex" if "sex" in DATA.description.columns else DATA.description.columns[-1]
    values = DATA.data[column].dropna().unique().tolist()[:2]
    known = AuxiliaryDataKnowledge(DATA, num_training_records=10)
    model = TargetedAIA(known, TARGET, column, values, generator)
    assert "drawn with equal probabilities" in said(model)


def test_released_files_say_how_many_records_are_known() -> None:
    words = said(ObservedMIA(*(DATA.take(range(n, n + 20)) for n in (0, 20, 40)), seed=0))
    assert "sees the released table" in words
    assert "records not." in words


def test_subjects_that_show_different_things_are_told_apart() -> None:
    shown = [ModelMIA(FOREST, *SIDES, access=one, seed=0) for one in ("scores", "labels")]
    words = said(*shown, attacks=[RuleBasedMIA()])
    assert "S0: The attacker may ask the model and sees its scores" in words
    assert "S1: The attacker may ask the model and sees its labels" in words


def test_an_audit_file_about_an_attribute_of_a_model_tells_no_shadow_models() -> None:
    question = {"model": {"use": "a:B"}, "goal": {"attribute": {"column": "sex"}}}
    (words,) = attacker_words(AuditRecord("Audit", question, "f00", 0, ()))
    assert words.endswith(
        "sees its scores, and knows of each record all inputs but “sex”, and its class."
    )


def test_records_of_earlier_versions_point_to_the_question() -> None:
    record = AuditRecord("Audit", {"subjects": [{"role": "audited"}]}, "f00", 0, ())
    assert "put together in Python" in attacker_words(record)[0]


def test_an_attack_that_a_budget_kept_from_a_result_is_named_in_the_verdict() -> None:
    model = ModelMIA(FOREST, *SIDES, budget=50, seed=0)
    record = Audit(model, [RuleBasedMIA(), LossMIA()]).run(n_jobs=1)
    (words,) = (one for one in AuditPage(record, ()).words if "gave no result" in one)
    assert words.startswith("LossMIA(accuracy) gave no result (40 queries were asked for, but 10 ")
    assert words.endswith("raise the budget): what it would have found is not known.")
    whole = Audit(ModelMIA(FOREST, *SIDES, seed=0), [RuleBasedMIA(), LossMIA()]).run(n_jobs=1)
    assert not any("gave no result" in one for one in AuditPage(whole, ()).words)


def test_what_crashed_about_some_targets_only_is_no_missing_attack() -> None:
    members = np.arange(40) % 2 == 0
    summaries = (MIAttackSummary(members, members, members * 1.0, "G", "A", "D", "0"),)
    crashes = tuple(AttackCrash(name, "1", "it broke") for name in "ABCC")
    subject = AuditedSubject("S", "audited", summaries, crashes=crashes)
    words = AuditPage(AuditRecord("Audit", {}, "f00", 0, (subject,)), ()).words
    assert (
        "B gave no result (it broke); C gave no result (it broke): what they would have found is "
        "not known."
    ) in words


@pytest.mark.filterwarnings("ignore::tapas.errors.TargetInDataWarning")
@pytest.mark.parametrize(
    ("goal", "share", "noun"),
    [
        ("membership", 0.5, "records"),
        ("membership", 0.0, "records"),
        ("canaries", 0.25, "canaries"),
    ],
)
def test_an_audit_file_of_a_model_tells_who_is_known_and_who_is_judged(
    goal: str, share: float, noun: str
) -> None:
    tree = {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Health", "shadows": 0}
    values = {
        "data": {"sample": "census", "rows": 300, "targets": {"random": 80}}
        if goal == "canaries"
        else {"sample": "census", "rows": 300},
        "model": {**tree, "known_share": share},
        "goal": goal,
        "attacks": ["RuleBasedMIA"],
    }
    audit = audit_from_values(values, "here")
    game: Any = audit.subjects[0].threat_model.game
    known = (0, 0) if game.known is None else game.known.of_each_side
    (members, others), judged = known, game.candidates.of_each_side
    assert min(judged) > 20
    words = " ".join(attacker_words(AuditRecord("Audit", dict(audit.asked()), "f00", 0, ())))
    assert words.endswith(
        f"The attacker knows of {members} {noun} that they were used, and of {others} {noun} not; "
        f"judged are {judged[0]} {noun} that were used and {judged[1]} that were not."
    )


def test_predictions_tell_who_is_known_and_who_is_judged(tmp_path: Path) -> None:
    scores = RNG.random(60)
    table = pd.DataFrame({"no": scores, "yes": 1 - scores, "member": np.arange(60) % 3 > 0})
    table.assign(label=np.where(RNG.random(60) < 0.5, "yes", "no")).to_csv(
        tmp_path / "said.csv", index=False
    )
    values = {"data": {"table": str(tmp_path / "said.csv")}, "predictions": {"known_share": 0.25}}
    question = dict(audit_from_values(values, "here").asked())
    (_, words) = attacker_words(AuditRecord("Audit", question, "f00", 0, ()))
    assert words == (
        "The attacker knows of 10 records that they were used, and of 5 records not; judged are "
        "30 records that were used and 15 that were not."
    )
