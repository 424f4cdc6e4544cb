"""Every game and goal from an audit file: played, stored, read again, judged and shown."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.tree import DecisionTreeClassifier

from tapas._random import Parts, part_stream
from tapas._spec import spec_of
from tapas.audit import Audit, audit_from_values, load_audit
from tapas.cli._outputs import verdict_values
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.generators import Raw
from tapas.report import AuditPage
from tapas.results import (
    AIAttackSummary,
    AuditRecord,
    BinaryLabelInferenceAttackSummary,
    MIAttackSummary,
    decide,
    shares_told,
)
from tapas.stats import look_share
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ImportedMIA,
    ModelAIA,
    ModelPropertyInference,
    TargetedMIA,
)

EQUAL_RECORDS = pytest.mark.filterwarnings("ignore:.*occur on both sides")
TREE = {
    "use": "sklearn.tree:DecisionTreeClassifier",
    "class_column": "Health",
    "shadows": 4,
}


def written(folder: Path, **values: Any) -> Path:
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def carried_out(folder: Path, audit: Audit) -> AuditRecord:
    """Checked, run into a folder, read again from there, and shown on a page."""
    assert audit.check().ok, audit.check().problems
    record = audit.run(folder / "run", n_jobs=1)
    assert not any(subject.crashes for subject in record.subjects)
    again = audit.run(folder / "run", n_jobs=1)
    for one, other in zip(record.subjects, again.subjects, strict=True):
        assert [s.to_json() for s in one.summaries] == [s.to_json() for s in other.summaries]
    page = AuditPage(AuditRecord.load(folder / "run")).html()
    assert record.title in page
    return record


def test_an_attribute_is_inferred_from_a_model(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 300},
        model=TREE,
        goal={"attribute": {"column": "Sex"}},
        attacks=["ConfidenceAIA", "ImputationAIA"],
        gates=[{"metric": "accuracy_gain", "at_most": 0.999}],
    )
    audit = load_audit(path)
    assert isinstance(audit.subjects[0].threat_model, ModelAIA)
    record = carried_out(tmp_path, audit)
    (confidence, imputation) = record.subjects[0].summaries
    assert confidence.sensitive_attribute == "Sex"  # type: ignore[attr-defined]
    # Of 150 targets two equal others.
    assert len(confidence) == len(imputation) == 148  # type: ignore[arg-type]
    assert confidence.dependence == "one release"  # type: ignore[attr-defined]
    assert decide(record).state == "pass"


SERVICE = """
import pathlib
import pandas
from sklearn.tree import DecisionTreeClassifier

table = pandas.read_csv(pathlib.Path(__file__).with_name("train.csv"))
kinds = [table[table["kind"] == name].head(number) for name, number in (("a", 6), ("b", 54))]
trained = pandas.concat(kinds)
tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(trained[["x", "z"]], trained["kind"])

def ask(X):
    return tree.predict_proba(X[["x", "z"]])
"""


def test_which_share_a_model_in_question_has_is_told_beside_what_is_recognised(
    tmp_path: Path,
) -> None:
    """The model answers elsewhere, and was trained on 54 records with the property of 60."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(500, 2)), columns=["x", "z"])
    table["kind"] = np.where(table["x"] + rng.normal(size=500) > 0, "b", "a")
    table.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "elsewhere.py").write_text(SERVICE)
    path = written(
        tmp_path,
        data={"table": "train.csv"},
        model={
            "endpoint": {"use": "elsewhere:ask", "classes": ["a", "b"]},
            "trainer": {"use": TREE["use"], "parameters": {"max_depth": 3}},
            "class_column": "kind",
        },
        goal={"property": {"column": "kind", "value": "b", "records": 60, "shares": [0.1, 0.9]}},
        attacks=["PropertyClassifier"],
        trials={"train": 24, "test": 20},
    )
    audit = load_audit(path)
    assert isinstance(audit.subjects[0].threat_model, ModelPropertyInference)
    record = carried_out(tmp_path, audit)
    (subject,) = record.subjects
    assert subject.trials == {"train": 24, "test": 20}
    (told,) = shares_told(AuditRecord.from_json(record.to_json()).audited)
    summary = subject.summaries[0]
    assert isinstance(summary, BinaryLabelInferenceAttackSummary)
    right = (summary.labels == summary.predictions)[summary.labels == 1].sum()
    assert told.counts[1][1] == right >= 8
    assert [sum(row) for row in told.counts] == [10, 10]
    assert told.answer is not None
    assert told.answer.share == 0.9
    assert verdict_values(record, decide(record))["shares"] == [told.to_dict()]
    page = AuditPage(record)
    assert "share of kind = b (0.1 or 0.9) in the training data" in page.html()
    assert told.words() in page.words
    assert "recognises a share of 0.1 in" in told.words()
    assert "The model in question is taken to have a share of 0.9; of " in page.html()
    assert page.html().count("Which share is recognised") == 1


def test_what_trains_the_models_of_a_property_must_be_named(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 100},
        model={"file": "model.onnx", "class_column": "Health"},
        goal={"property": {"column": "Health", "value": "good"}},
    )
    with pytest.raises(ConfigError, match=r"goal\.property: .* by model\.trainer beside model"):
        load_audit(path)


@pytest.mark.parametrize(
    ("model", "wanted", "message"),
    [
        ({}, {"column": "Shoe"}, "goal.property.column: 'Shoe' is not a column; they are 'Region'"),
        ({}, {"value": "tall"}, "goal.property.value: no record has 'tall' in column 'Sex'"),
        ({}, {"shares": [0.3, 0.3]}, "goal.property: shares must be two or more"),
        ({}, {"records": 150}, "got .* and .*: give more records, or a smaller goal.property.rec"),
        ({}, {"records": 1}, "goal.property.records: Input should be greater than or equal to 2"),
        (
            {"use": "sklearn.linear_model:LinearRegression"},
            {},
            "goal.property: a regressor is audited",
        ),
        ({"class_column": "Shoe"}, {}, "model.class_column: 'Shoe' is not a column"),
    ],
)
def test_what_is_wrong_in_a_question_about_a_property_names_file_and_key(
    tmp_path: Path, model: dict[str, str], wanted: dict[str, Any], message: str
) -> None:
    value = load_sample("census", 200).data["Sex"].iloc[0]
    asked = {"column": "Sex", "value": str(value), "records": 20, **wanted}
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 200},
        model={**TREE, **model},
        goal={"property": asked},
    )
    with pytest.raises(ConfigError, match=message) as caught:
        load_audit(path)
    assert str(caught.value).startswith(str(path))


def test_one_of_three_shares_of_the_training_data_is_inferred(tmp_path: Path) -> None:
    value = str(load_sample("census", 900).data["Health"].value_counts().index[1])
    wanted = {"column": "Health", "value": value, "shares": [0.1, 0.5, 0.9], "records": 60}
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 900},
        model={**TREE, "parameters": {"max_depth": 3}, "access": "parameters"},
        goal={"property": wanted},
        trials={"train": 24, "test": 21},
        gates=[
            {"metric": "accuracy", "at_most": 0.5},
            {"metric": "accuracy_gain", "at_most": 0.95},
        ],
    )
    record = carried_out(tmp_path, load_audit(path))
    again = AuditRecord.from_json(record.to_json()).subjects[0].summaries
    for one, other in zip(again, record.subjects[0].summaries, strict=True):
        assert isinstance(one, AIAttackSummary)
        assert one.attribute_values == (0.1, 0.5, 0.9)
        assert one.to_json() == other.to_json()
    assert again[1].attack == "WhiteBoxPropertyClassifier"  # type: ignore[attr-defined]
    assert again[1].accuracy == 1  # type: ignore[attr-defined]  # the root of a tree counts classes
    assert [gate.state for gate in decide(record).outcomes] == ["fail", "pass"]
    page = AuditPage(record).html()
    assert f"find out the share of Health = {value} (0.1, 0.5 or 0.9) in the training" in page
    assert "tapas certifies none for a secret of more than two values" in page
    assert "trains 24 such models on other records, with each share" in page
    told = shares_told(record.audited)
    assert [one.attack for one in told] == ["PropertyClassifier", "WhiteBoxPropertyClassifier"]
    assert told[1].counts == ((7, 0, 0), (0, 7, 0), (0, 0, 7))
    said = "recognises a share of 0.1 in 7 of 7 models, of 0.5 in 7 of 7 and of 0.9 in 7 of 7."
    assert told[1].words() == f"WhiteBoxPropertyClassifier {said}"
    assert said in page


def test_canaries_certify_an_epsilon_from_a_few_runs(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 500, "targets": {"random": 60}},
        generator="Raw",
        knowledge={"records": 100},
        goal="canaries",
        attacks=[{"use": "ClosestDistanceMIA", "parameters": {"criterion": ["threshold", 0]}}],
        trials={"train": 0, "test": 2},
        claim={"epsilon": 1.0},
        gates=[{"metric": "epsilon", "at_most": limit} for limit in (1.0, 9.0)],
        controls=False,
    )
    audit = load_audit(path)
    assert isinstance(audit.subjects[0].threat_model, CanaryMIA)
    record = carried_out(tmp_path, audit)
    (summary,) = record.subjects[0].summaries
    assert summary.dependence == "coins"  # type: ignore[attr-defined]
    assert len(summary) == 2 * 60  # type: ignore[arg-type]
    verdict = decide(record)
    assert verdict.claim is not None
    assert verdict.claim.state == "contradicted"
    assert verdict.exit_code == 1
    low, high = verdict.outcomes
    assert low.state == "fail"
    assert high.state != "fail"
    assert "Certified ε" in AuditPage(record).html()


def releases(folder: Path, number: int = 20) -> tuple[TargetedMIA, TabularDataset]:
    """A folder of releases with their secrets, as somebody else would hand them over."""
    data = load_sample("census", 300, seed=4)
    targets, rest = data.take([3, 7]), data.drop_records([3, 7])
    game = TargetedMIA(
        AuxiliaryDataKnowledge(rest, num_training_records=40, seed=1),
        targets,
        BlackBoxKnowledge(Raw(), 20),
        seed=2,
    )
    rows = []
    for phase in ("train", "test"):
        for index in range(number):
            trial = game.draw_trial(phase, index)  # type: ignore[arg-type]
            name = f"{phase}{index}.csv"
            (folder / name).write_text(trial.release.table.write_to_string())
            rows.append({"file": name, "phase": phase, "group": trial.group})
            rows[-1] |= dict(zip(("3", "7"), trial.secrets.astype(int), strict=True))
    pd.DataFrame(rows).to_csv(folder / "labels.csv", index=False)
    data.write(folder / "people")
    return game, rest


def test_releases_from_elsewhere_are_audited_like_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "releases"
    folder.mkdir()
    game, _ = releases(folder)
    path = written(
        tmp_path,
        data={"table": "releases/people.csv", "targets": {"rows": [3, 7]}},
        imported={"folder": "releases", "labels": "releases/labels.csv"},
        attacks=["ClosestDistanceMIA"],
    )
    audit = load_audit(path)
    assert isinstance(audit.subjects[0].threat_model, ImportedMIA)
    record = carried_out(tmp_path, audit)
    mine = Audit(game, audit.attacks, 20, 20).run(n_jobs=1)
    for theirs, ours in zip(record.subjects[0].summaries, mine.subjects[0].summaries, strict=True):
        assert theirs.scores.tolist() == ours.scores.tolist()  # type: ignore[attr-defined]
        assert theirs.labels.tolist() == ours.labels.tolist()  # type: ignore[attr-defined]
        assert theirs.dependence == ours.dependence == "pairs"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"generator": "Raw", "goal": {"property": {"column": "Sex", "value": 1}}},
            "goal.property",
        ),
        ({"predictions": {}, "goal": "canaries"}, "which know membership"),
        ({"imported": {"folder": "a", "labels": "b"}, "goal": "canaries"}, "goal.canaries"),
        ({"generator": "Raw", "model": TREE}, "exactly one of generator, model, predictions"),
    ],
)
def test_goals_that_do_not_go_with_what_is_audited_are_refused(
    values: dict[str, Any], words: str
) -> None:
    about = {"data": {"sample": "census"}, "attacks": ["ClosestDistanceMIA"], **values}
    with pytest.raises(ConfigError, match=words):
        audit_from_values(about, "here")


@EQUAL_RECORDS
def test_a_model_audit_asks_about_real_categories_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 200},
        model={**TREE, "shadows": 0},
        attacks=[{"use": "LabelOnlyMIA", "parameters": {"method": "noise", "max_queries": 30}}],
    )
    asked: list[np.ndarray] = []
    predict = DecisionTreeClassifier.predict

    def listening(self: DecisionTreeClassifier, X: Any, *more: Any) -> Any:
        asked.append(np.asarray(X))
        return predict(self, X, *more)

    audit = load_audit(path)
    monkeypatch.setattr(DecisionTreeClassifier, "predict", listening)
    assert not audit.run(n_jobs=1).subjects[0].crashes
    seen = np.concatenate(asked)
    assert len(seen) > 1000
    columns = load_sample("census", 200).view(exclude_columns=["Health"]).description.parsed
    start = 0
    for column in columns:
        width = len(column.values) if column.is_one_hot and column.values is not None else 1
        block = seen[:, start : start + width]
        if width > 1:
            assert set(np.unique(block)) <= {0.0, 1.0}
            assert (block.sum(axis=1) <= 1).all(), column.name
        start += width
    assert start == seen.shape[1]


def test_each_file_of_a_release_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load_sample("clinic", 300, seed=1)
    for name, rows in (("private", range(100)), ("holdout", range(100, 200))):
        (tmp_path / f"{name}.csv").write_text(data.take(rows).write_to_string())
    (tmp_path / "released.csv").write_text(data.take(range(200, 300)).write_to_string())
    read: list[str] = []
    plain = Path.read_bytes

    def counting(self: Path) -> bytes:
        if self.suffix == ".csv":
            read.append(self.name)
        return plain(self)

    monkeypatch.setattr(Path, "read_bytes", counting)
    monkeypatch.chdir(tmp_path)
    audit = audit_from_values(
        {
            "data": {"table": "private.csv", "holdout": "holdout.csv"},
            "release": {"file": "released.csv"},
            "attacks": ["ClosestDistanceMIA"],
        },
        "tapas release",
    )
    assert sorted(read) == ["holdout.csv", "private.csv", "released.csv"]
    assert len(audit.subjects) == 3


@EQUAL_RECORDS
def test_the_audited_model_and_the_shadow_models_draw_from_different_streams(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path,
        data={"sample": "census", "rows": 200},
        model={
            "use": "sklearn.ensemble:RandomForestClassifier",
            "parameters": {"n_estimators": 3},
            "class_column": "Health",
            "shadows": 2,
        },
        attacks=["LossMIA"],
    )
    (subject,) = load_audit(path).subjects
    threat_model: Any = subject.threat_model
    audited, *shadows = threat_model.model, *threat_model.shadow_models
    seeds = {spec_of(model).digest for model in (audited, *shadows)}
    assert len(seeds) == 3
    drawn = [stream.bit_generator.state["state"]["state"] for stream in _training_streams(0)]
    assert len(set(drawn)) == 2


def _training_streams(seed: int) -> list[np.random.Generator]:
    return [part_stream(seed, part) for part in (Parts.AUDITED_MODEL, Parts.SHADOW_TRAINING)]


@EQUAL_RECORDS
def test_more_shadow_models_add_to_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits: list[int] = []
    fit = DecisionTreeClassifier.fit

    def counting(self: DecisionTreeClassifier, X: Any, y: Any) -> Any:
        fits.append(len(y))
        return fit(self, X, y)

    def audited(shadows: int, folder: str | None) -> AuditRecord:
        path = written(
            tmp_path,
            data={"sample": "census", "rows": 200},
            model={**TREE, "shadows": shadows},
            attacks=["LossMIA"],
        )
        audit = load_audit(path)
        fits.clear()
        return audit.run(None if folder is None else tmp_path / folder, n_jobs=1)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", counting)
    audited(4, "run")
    assert len(fits) == 4
    more = audited(6, "run")
    assert len(fits) == 2
    fresh = audited(6, None)
    assert len(fits) == 6
    for one, other in zip(more.subjects[0].summaries, fresh.subjects[0].summaries, strict=True):
        assert one.sharing(1.0).to_json() == other.to_json()
        assert one.error_share == look_share(2)  # the same records, seen with four models before


def test_shadow_models_of_a_file_are_trained_by_what_the_audit_names(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx, which writes the file, is missing")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"]).round(6)
    table["y"] = np.where(rng.random(120) < 0.5, "no", "yes")
    for name, part in (("train", table[:60]), ("others", table[60:])):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    tree = DecisionTreeClassifier(random_state=0).fit(
        table[["a", "b", "c"]][:60].to_numpy(np.float32), table["y"][:60]
    )
    file = skl2onnx.to_onnx(tree, np.zeros((1, 3), np.float32), options={"zipmap": False})
    (tmp_path / "model.onnx").write_bytes(file.SerializeToString())
    model = {"file": "model.onnx", "class_column": "y"}
    question = {"data": {"table": "train.csv", "holdout": "others.csv"}, "attacks": ["LiRA"]}
    with pytest.raises(ConfigError, match=r"name a trainer .* or set shadows: 0"):
        load_audit(written(tmp_path, **question, model={**model, "shadows": 4}))
    trainer = {"use": "sklearn.tree:DecisionTreeClassifier", "parameters": {"max_depth": 20}}
    path = written(tmp_path, **question, model={**model, "trainer": trainer, "shadows": 4})
    (summary,) = carried_out(tmp_path, load_audit(path)).subjects[0].summaries
    assert isinstance(summary, MIAttackSummary)
    assert summary.auc > 0.6
