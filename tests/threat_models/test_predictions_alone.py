"""Predictions that were written down, without any model: the same results as with the model."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import (
    RMIA,
    BlackBoxMIA,
    CalibratedLossMIA,
    CertaintyMIA,
    LabelOnlyMIA,
    LiRA,
    LossMIA,
    RehearsedMIA,
    RuleBasedMIA,
)
from tapas.audit import Audit
from tapas.cli._main import run
from tapas.errors import IncompatibleAttackError, SchemaError
from tapas.metrics import auc
from tapas.report import AuditPage
from tapas.results import AuditRecord, Gate, MIAttackSummary, decide, unfit_splits, unseen_inputs
from tapas.threat_models import PredictionsMIA

SIZE = 300


@pytest.fixture(scope="module")
def said() -> dict[str, np.ndarray]:
    """What a forest and eight others like it say of records, half of which each was trained on."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * SIZE, 5))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, "yes", "no")
    masks = [rng.permutation(2 * SIZE) < SIZE for _ in range(5)]
    masks = np.array([masks[0], *(m for mask in masks[1:] for m in (mask, ~mask))])
    forests = [RandomForestClassifier(10, random_state=0).fit(X[m], y[m]) for m in masks]
    scores = np.stack([forest.predict_proba(X) for forest in forests])
    return {
        "scores": scores[0],
        "labels": y,
        "members": masks[0],
        "reference_scores": scores[1:],
        "reference_members": masks[1:],
    }


def summary(threat_model: PredictionsMIA, attack: LossMIA) -> MIAttackSummary:
    attack.train(threat_model)
    return threat_model.test(attack)


def test_scores_are_those_of_the_records(said: dict[str, np.ndarray]) -> None:
    threat_model = PredictionsMIA(said["scores"], said["labels"], said["members"], seed=0)
    found = summary(threat_model, LossMIA())
    about = threat_model.judged_records()
    true = said["scores"][np.arange(2 * SIZE), (said["labels"] == "yes").astype(int)]
    rows = about["row"].to_numpy()
    np.testing.assert_allclose(np.exp(found.scores), true[rows].clip(1e-300))
    np.testing.assert_array_equal(found.labels, said["members"][rows])
    assert found.auc == pytest.approx(auc(said["members"][rows], true[rows]))


def test_recorded_reference_models_serve_reference_attacks(said: dict[str, np.ndarray]) -> None:
    threat_model = PredictionsMIA(**said, seed=0)
    plain = summary(threat_model, LossMIA()).auc
    for attack in (LiRA(), RMIA(), RehearsedMIA()):
        assert summary(threat_model, attack).auc > plain + 0.03
    # two models on opposite halves are a pair, in whatever order they come
    groups = [trial.group for trial in threat_model.game.play(_addresses(8))]
    assert groups == [0, 0, 2, 2, 4, 4, 6, 6]


def _addresses(number: int) -> list:
    from tapas.game import Address

    return [Address(0, "train", index) for index in range(number)]


def test_only_what_is_there_can_be_attacked(said: dict[str, np.ndarray]) -> None:
    threat_model = PredictionsMIA(said["scores"], said["labels"], said["members"], seed=0)
    for attack in (CertaintyMIA(), LabelOnlyMIA()):
        with pytest.raises(IncompatibleAttackError, match="predictions alone: use LossMIA"):
            attack.train(threat_model)
    for attack in (LiRA(), RMIA(), CalibratedLossMIA(), RehearsedMIA()):
        with pytest.raises(
            IncompatibleAttackError, match=r"reference_scores and reference_members, in an \.npz"
        ) as told:
            attack.train(threat_model)
        assert "`tapas run`" in str(told.value)
        assert "CertaintyMIA" not in str(told.value)
    predicted = np.where(said["scores"][:, 1] > 0.5, "yes", "no")
    labels = PredictionsMIA(predicted, said["labels"], said["members"], seed=0, outputs="labels")
    record = Audit(labels).run()
    assert [one.attack for one in record.subjects[0].summaries] == ["RuleBasedMIA"]
    with pytest.raises(IncompatibleAttackError, match=r"labels only: use RuleBasedMIA$"):
        LossMIA().train(labels)


@pytest.mark.parametrize("kind", ["csv", "semicolons", "one column", "npz"])
def test_files_give_what_arrays_give(
    said: dict[str, np.ndarray], kind: str, tmp_path: Path
) -> None:
    expected = summary(PredictionsMIA(**_plain(said), seed=3), LossMIA())
    path = tmp_path / ("p.npz" if kind == "npz" else "p.csv")
    if kind == "npz":
        np.savez(path, **_plain(said))
    else:
        columns = {"in": np.where(said["members"], "yes", "no"), "truth": said["labels"]}
        if kind != "one column":
            columns["p_no"] = said["scores"][:, 0]
        columns["p_yes"] = said["scores"][:, 1]
        comma = {"sep": ";", "decimal": ","} if kind == "semicolons" else {}
        pd.DataFrame(columns).to_csv(path, index=False, **comma)
    found = PredictionsMIA.read(path, member="in", label="truth", seed=3)
    np.testing.assert_allclose(summary(found, LossMIA()).scores, expected.scores, atol=1e-9)


def _plain(said: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: said[name] for name in ("scores", "labels", "members")}


def test_records_without_a_membership_are_judged(said: dict[str, np.ndarray]) -> None:
    members = said["members"].astype(float)
    members[:100] = np.nan
    threat_model = PredictionsMIA(**{**said, "members": members}, seed=0)
    assert not np.isin(np.arange(100), threat_model.judged_records()["row"]).any()
    table = threat_model.judge(RMIA()).table
    assert list(table["record"]) == list(range(100))
    assert auc(said["members"][:100], table["probability"].to_numpy()) > 0.65


def test_the_command_ends_in_a_page_and_judges(
    said: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame(said["scores"], columns=["no", "yes"])
    frame.insert(0, "member", said["members"].astype(object))
    frame.insert(1, "label", said["labels"])
    frame.loc[:49, "member"] = None
    file = tmp_path / "said.csv"
    frame.to_csv(file, index=False)
    words = ["predictions", str(file), "--max-auc", "0.6", "--json", str(tmp_path / "v.json")]
    assert run(words) == 1
    page = (tmp_path / "said-run" / "report.html").read_text(encoding="utf-8")
    assert "what the model said of each record" in page
    assert "in the training data" in page
    assert not re.search("private (data|table|record)", page)
    results = json.loads((tmp_path / "v.json").read_text())["results"]
    assert {one["attack"] for one in results} >= {"RuleBasedMIA", "BlackBoxMIA(gb)"}
    audit = {"data": {"table": "said.csv"}, "predictions": {}, "attacks": ["LossMIA"]}
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
    assert run(["judge", str(tmp_path / "audit.yaml")]) == 0
    assert len(pd.read_csv(tmp_path / "audit-judged.csv")) == 50
    assert "of 50 records" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.array(["no"] * 5)}, "scores has 600 records, labels 5"),
        ({"members": np.array(["maybe"] * 600)}, "row 0 holds 'maybe'"),
        ({"reference_members": None}, "go together"),
        ({"reference_scores": np.zeros((2, 3, 2))}, "reference_scores must have the shape"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    said: dict[str, np.ndarray], change: dict, words: str
) -> None:
    with pytest.raises(SchemaError, match=words):
        PredictionsMIA(**{**said, **change})


def of_three(columns: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of three classes; nobody has the last."""
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), 60)[:, :columns]
    return scores, rng.integers(0, 2, 60), rng.random(60) < 0.5


@pytest.mark.parametrize("words", [False, True])
def test_classes_that_nobody_has_are_named(tmp_path: Path, words: bool) -> None:
    scores, codes, members = of_three()
    labels = np.array(["a", "b", "c"])[codes] if words else codes
    names = ["a", "b", "c"] if words else [0, 1, 2]
    told = r"scores have 3 columns, and labels hold 2 classes, .*classes=\[\.\.\.\]"
    with pytest.raises(SchemaError, match=told):
        PredictionsMIA(scores, labels, members)
    assert PredictionsMIA(scores, labels, members, names).model.classes.tolist() == names
    np.savez(tmp_path / "said.npz", scores=scores, labels=labels, members=members)
    with pytest.raises(SchemaError, match=r"said\.npz: .*the array classes"):
        PredictionsMIA.read(tmp_path / "said.npz")
    with pytest.raises(SchemaError, match="scores have one column"):
        PredictionsMIA(scores[:, 0], np.arange(60) % 3, members)


def test_rows_that_mark_a_class_are_labels() -> None:
    scores, codes, members = of_three()
    plain = PredictionsMIA(scores, codes, members, [0, 1, 2], seed=0)
    marked = PredictionsMIA(scores, np.eye(3)[codes], members, seed=0)
    assert marked.model.classes.tolist() == [0, 1, 2]
    pd.testing.assert_frame_equal(marked.judged_records(), plain.judged_records())
    named = PredictionsMIA(scores, np.eye(3)[codes], members, ["a", "b", "c"], seed=0)
    assert set(named.judged_records()["class"]) == {"a", "b"}
    with pytest.raises(SchemaError, match="one of 3 classes, and classes lists 2"):
        PredictionsMIA(scores, np.eye(3)[codes], members, ["a", "b"])


def test_predicted_classes_may_be_others_than_true_ones() -> None:
    _, codes, members = of_three()
    predicted = np.where(np.arange(60) % 5 == 0, 7, codes)
    model = PredictionsMIA(predicted, codes, members, outputs="labels").model
    assert sorted(model.classes.tolist()) == [0, 1, 7]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": [[0.5, 0.5], [1.0]]}, "scores must have rows of equal length"),
        ({"labels": np.zeros((600, 2))}, r"labels must hold one class label.*\(600, 2\)"),
        ({"members": np.zeros((600, 2))}, r"members must hold one value.*\(600, 2\)"),
    ],
)
def test_arrays_of_other_shapes_are_refused(
    said: dict[str, np.ndarray], change: dict, words: str
) -> None:
    with pytest.raises(SchemaError, match=words):
        PredictionsMIA(**{**_plain(said), **change})


def one_cell(scores: np.ndarray) -> np.ndarray:
    changed = scores.copy()
    changed[7, 1] = 1.7
    return changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda scores: scores * [1.0, 1.3], "rows are not"),
        (lambda scores: 100 * scores, "divide percentages by 100"),
        (one_cell, r"1 of 600 rows are not, the first is row 7: [0-9.]+, 1.7"),
        (lambda scores: 3 + scores, "outputs='logits'"),
    ],
)
def test_numbers_that_are_almost_probabilities_are_not_read_as_logits(
    said: dict[str, np.ndarray], change: Callable[[np.ndarray], np.ndarray], words: str
) -> None:
    given = change(said["scores"]), said["labels"], said["members"]
    with pytest.raises(SchemaError, match=words):
        PredictionsMIA(*given)
    assert PredictionsMIA(*given, outputs="logits").model.classes.tolist() == ["no", "yes"]


def test_scores_that_are_missing_are_counted(said: dict[str, np.ndarray]) -> None:
    frame = pd.DataFrame(said["scores"], columns=["no", "yes"])
    frame = frame.assign(member=said["members"], label=said["labels"])
    frame.loc[[7, 9], "yes"] = np.nan
    for outputs in (None, "logits"):
        with pytest.raises(SchemaError, match=r"missing in 2 of 600 rows, 7, 9: .* leave") as told:
            PredictionsMIA.from_frame(frame, outputs=outputs)
        assert "sum to one" not in str(told.value)


def test_logits_and_rounded_scores_need_no_word(said: dict[str, np.ndarray]) -> None:
    labels, members = said["labels"], said["members"]
    plain = PredictionsMIA(said["scores"], labels, members, seed=0)
    logits = np.log(said["scores"] + 1e-9)
    for given in (logits - logits.mean(axis=1, keepdims=True), said["scores"].round(2)):
        found = PredictionsMIA(given, labels, members, seed=0)
        numbers = np.arange(2 * SIZE)[:, None]
        said_of = [one.model.predict_proba(numbers) for one in (plain, found)]
        np.testing.assert_allclose(said_of[0], said_of[1], atol=0.006)


def test_columns_that_are_no_scores_are_named_with_the_command_that_leaves_them_out(
    tmp_path: Path, said: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {"no": said["scores"][:, 0], "p_yes": said["scores"][:, 1]}
    more = {"age": 40, "name": "x", "the loss": 0.3, "predicted": "no"}
    about = {"label": said["labels"], "member": said["members"].astype(int)}
    file = str(tmp_path / "said.csv")
    pd.DataFrame({**more, **columns, **about}).to_csv(file, index=False)
    assert run(["predictions", file]) == 4
    told = capsys.readouterr().err
    command = "--drop age --drop name --drop 'the loss' --drop predicted"
    assert f"({command})" in told
    assert "data." not in told
    page = tmp_path / "said-run" / "report.html"
    assert run(["predictions", file, *shlex.split(command), "--attack", "LossMIA"]) == 0
    told = capsys.readouterr().out
    read = "Scores were read as probabilities: “no” is class no, “p_yes” class yes."
    assert read in told
    assert read in page.read_text(encoding="utf-8")
    assert "name: left out by --drop" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("columns", "outputs", "words"),
    [
        (["score"], None, "probabilities: “score” is class yes"),
        (["logit"], None, "logits: “p_no” is class no, “p_yes” class yes"),
        (["logit"], "log_scores", "logarithms of probabilities"),
        (["predicted"], None, "predicted classes: “predicted” is the predicted class"),
        (["predicted", "confidence"], None, "“confidence” its probability"),
    ],
)
def test_it_is_said_how_scores_were_read(
    tmp_path: Path, said: dict[str, np.ndarray], columns: list[str], outputs: str, words: str
) -> None:
    frame = pd.DataFrame({"label": said["labels"], "member": said["members"].astype(int)})
    logs = np.log(said["scores"] + 1e-9)
    made = {
        "score": {"score": said["scores"][:, 1]},
        "logit": {"p_no": logs[:, 0], "p_yes": logs[:, 1]},
        "predicted": {"predicted": np.array(["no", "yes"])[said["scores"].argmax(axis=1)]},
        "confidence": {"confidence": said["scores"].max(axis=1)},
    }
    for name in columns:
        frame = frame.assign(**made[name])
    file, verdict = tmp_path / "said.csv", tmp_path / "verdict.json"
    frame.to_csv(file, index=False)
    more = [] if outputs is None else ["--outputs", outputs]
    more += ["--attack", "RuleBasedMIA", "--json", str(verdict)]
    assert run(["predictions", str(file), *more]) == 0
    record = AuditRecord.load(tmp_path / "said-run")
    (told,) = [one for one in AuditPage(record).words if one.startswith("Scores were read")]
    assert words in told
    assert json.loads(verdict.read_text())["inputs"]["data.table"]["scores"]["read_as"] in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "FILE: "),
        (["said.csv", "--member", "inside"], "no column 'inside' that says who is a member"),
        (["said.csv", "--member", "p_no"], "column 'p_no' must hold 1 and 0"),
        (["said.csv", "--drop", "colour"], "--drop: 'colour' are not columns"),
        (["said.csv", "--attack", "Nonsense"], "--attack: there is no 'Nonsense'"),
        (["said.csv", "--attack", "RMIA"], "reference_scores and reference_members"),
        (["said.csv", "--attack", "CertaintyMIA"], "`tapas predictions` has predictions alone"),
        (["said.csv", "--known-share", "1"], "'--known-share'"),
        (["odd.csv"], "say so with --outputs logits"),
    ],
)
def test_wrong_use_of_the_command_is_told_in_its_own_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: dict[str, np.ndarray],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(said["scores"], columns=["p_no", "p_yes"])
    frame = frame.assign(member=said["members"].astype(int), label=said["labels"])
    frame.to_csv("said.csv", index=False)
    frame.assign(p_yes=0.3).to_csv("odd.csv", index=False)
    assert run(["predictions", *arguments]) == 4
    told = capsys.readouterr().err
    assert words in told
    assert not re.search(r"audit file|data\.|predictions\.|attacks|known_share|MIA has", told)


@pytest.mark.parametrize("name", ["yes", "p_yes", "score", "Probability", "prob_positive"])
def test_one_column_is_the_probability_of_a_class(said: dict[str, np.ndarray], name: str) -> None:
    frame = pd.DataFrame({"member": said["members"], "label": said["labels"]})
    found = PredictionsMIA.from_frame(frame.assign(**{name: said["scores"][:, 1]}), seed=0)
    numbers = np.arange(2 * SIZE)[:, None]
    position = found.model.classes.tolist().index("yes")
    asked = found.model.predict_proba(numbers)[:, position]
    np.testing.assert_allclose(asked, said["scores"][:, 1])


@pytest.mark.parametrize("name", ["loss", "age"])
def test_one_column_of_something_else_is_refused(said: dict[str, np.ndarray], name: str) -> None:
    frame = pd.DataFrame({"member": said["members"], "label": said["labels"], name: 0.3})
    with pytest.raises(SchemaError, match=rf"'score'.*there are '{name}'.*--drop"):
        PredictionsMIA.from_frame(frame)


def test_the_predicted_class_and_its_confidence_are_scores(said: dict[str, np.ndarray]) -> None:
    best = said["scores"].argmax(axis=1)
    frame = pd.DataFrame({"member": said["members"], "label": said["labels"]}).assign(
        predicted=np.array(["no", "yes"])[best], confidence=said["scores"].max(axis=1)
    )
    found = summary(PredictionsMIA.from_frame(frame, seed=0), LossMIA())
    expected = summary(PredictionsMIA(**_plain(said), seed=0), LossMIA())  # two classes: the same
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-9)
    frame.loc[7, "confidence"] = 98
    with pytest.raises(SchemaError, match=r"'confidence' must be .* row 7 holds .*98"):
        PredictionsMIA.from_frame(frame)


@pytest.mark.parametrize("share", [0.6, 0.9])
def test_gates_and_warnings_name_what_was_compared_as_pages_do(share: float) -> None:
    """The scores tell no more than the classes, of which members have one more often."""
    rng = np.random.default_rng(0)
    members = np.arange(2_000) < 1_000
    labels = (rng.random(2_000) < np.where(members, share, 1 - share)).astype(int)
    game = PredictionsMIA(np.stack([1 - labels, labels], axis=1), labels, members, seed=0)
    gate = Gate("auc", 0.51)
    record = Audit(game, [BlackBoxMIA("gb")], gates=[gate]).run(n_jobs=1)
    verdict, page = decide(record), AuditPage(record)
    assert "the classes alone, without the model, reach an AUC" in verdict.outcomes[0].words
    said = [*page.words, page.html(), verdict.outcomes[0].words, *unfit_splits(record)]
    assert bool(unfit_splits(record)) == (share == 0.9)
    assert not [words for words in said if "inputs alone" in words]


def test_pages_say_that_the_inputs_were_not_there_to_compare() -> None:
    """A model that was trained on others is surer of easier cases, which members are."""
    rng = np.random.default_rng(0)
    members = np.arange(400) < 200
    labels = rng.integers(0, 2, 400)
    sure = np.where(members, rng.beta(9, 1, 400), rng.beta(3, 1, 400))
    scores = np.stack([1 - sure, sure], axis=1)
    scores[labels == 0] = scores[labels == 0, ::-1]
    game = PredictionsMIA(scores, labels, members, seed=0)
    record = Audit(game, [LossMIA()]).run(n_jobs=1)
    page = AuditPage(AuditRecord.from_json(record.to_json()))
    said = " ".join(page.words)
    assert "Nothing was found in the classes alone, without the model, that tells members" in said
    assert (
        "if members and non-members were drawn at random from the same source, which no test can "
        "prove: their inputs are not there to compare" in said
    )
    assert "the split is fit" not in page.html()
    assert "which records were in the training data" in said
    assert "private data" not in page.html()
    assert "AUC of classes alone" in page.html()
    assert "inputs alone" not in said + page.html()
    (caution,) = unseen_inputs(record)
    assert "is for you to see to" in caution
    assert caution in page.html()


def test_a_model_that_was_trained_on_others_is_at_chance() -> None:
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(900, 4)), rng.integers(0, 2, 900)
        tree = DecisionTreeClassifier(max_depth=6).fit(X[600:], y[600:])
        threat_model = PredictionsMIA(
            tree.predict_proba(X[:600]), y[:600], np.arange(600) < 300, seed=seed
        )
        found += [summary(threat_model, attack).auc for attack in (LossMIA(), RuleBasedMIA())]
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)
