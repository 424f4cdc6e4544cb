"""Audit files: what they may hold, and how wrong ones are refused."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tapas.audit import Audit, audit_from_values
from tapas.audit._build import load_audit
from tapas.audit._config import AuditFile, audit_file_schema, read_audit_file
from tapas.audit._config_names import Names
from tapas.audit._config_yaml import LARGEST_FILE
from tapas.datasets import load_sample
from tapas.errors import ConfigError, TapasWarning
from tapas.results import dropped_columns
from tapas.threat_models import (
    ExactDataKnowledge,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)

SMALL = {
    "data": {"sample": "census", "rows": 200, "targets": {"random": 2}},
    "generator": "Raw",
    "attacks": ["ClosestDistanceMIA"],
    "trials": {"train": 4, "test": 4},
}


def written(folder: Path, values: Any, name: str = "audit.yaml") -> Path:
    path = folder / name
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values))
    return path


def built(folder: Path, **changes: Any) -> Audit:
    audit = load_audit(written(folder, {**SMALL, **changes}))
    assert isinstance(audit, Audit)
    return audit


# -- refusing ------------------------------------------------------------------------------------


def test_columns_that_are_dropped_of_a_sample_are_counted() -> None:
    data = {**SMALL["data"], "drop": ["Occupation"]}
    record = audit_from_values({**SMALL, "data": data}, "test").run(n_jobs=1)
    assert dropped_columns(record) == ["Occupation"]


def test_a_bomb_of_references_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(ConfigError, match=r"audit.yaml: line 2: references"):
        read_audit_file(written(tmp_path, "\n".join(lines)))


def test_merge_keys_are_references_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="references"):
        read_audit_file(written(tmp_path, "a: &a {x: 1}\nb:\n  <<: *a\n"))


def test_huge_and_deep_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="larger than"):
        read_audit_file(written(tmp_path, "# " + "x" * LARGEST_FILE))
    with pytest.raises(ConfigError, match="nested"):
        read_audit_file(written(tmp_path, "data: " + "[" * 5000 + "]" * 5000))


@pytest.mark.parametrize(
    "text",
    [
        "data: !!python/object/apply:os.system ['true']",
        "a: b: c",
        "- 1\n- 2",
        "just text",
        "title: a\ntitle: b",
        "title: \x00",
        "? [1, 2]\n: 3",
        "",
    ],
)
def test_what_is_no_audit_file_is_refused_naming_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"audit\.yaml"):
        read_audit_file(written(tmp_path, text))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.yaml"
    path.write_bytes(b"title: \xff\xfe")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_audit_file(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sed": 1}, r"audit.yaml:\d+: sed: unknown key; known here: .*seed"),
        ({"seed": "1"}, r"seed: .*integer, got '1'"),
        ({"seed": True}, r"seed: "),
        ({"trials": {"test": 0}}, r"trials\.test: .*greater than 0, got 0"),
        ({"trials": {"tests": 5}}, r"trials\.tests: unknown key; known here: .*test, "),
        ({"attacks": []}, r"attacks: "),
        ({"attacks": [{"parameters": {}}]}, r"attacks\[0\]\.use: this key is required"),
        ({"attacks": [{"use": "LossMIA", "labl": "x"}]}, r"attacks\[0\]\.labl: unknown key"),
        ({"data": {"sample": "census", "table": "x.csv"}}, r"data: .*exactly one"),
        ({"data": {"sample": "moon"}}, r"data\.sample: .*'census' or 'clinic'"),
        ({"data": {"sample": "census", "targets": {}}}, r"data\.targets: .*got none"),
        ({"generator": {"records": 5}}, r"generator.*use, command"),
        ({"generator": {"command": ["a", "b"]}}, r"generator: command names one program"),
        ({"gates": [{"metric": "auc"}]}, r"gates\[0\]\.at_most: this key is required"),
        ({"gates": [{"metric": "AUC", "at_most": 1}]}, r"gates\[0\]\.metric"),
        ({"trials": {"stop_early": {}}}, r"needs a claim or a width"),
        ({"model": {"use": "a:B", "class_column": "x"}}, r"generator and model"),
        ({"goal": {"membership": {}, "attribute": {"column": "Sex"}}}, r"goal: .*exactly one"),
    ],
)
def test_complaints_name_file_line_and_key(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        read_audit_file(written(tmp_path, {**SMALL, **changes}))
    assert "audit.yaml:" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (
            "property: {column: Health, value: Yes}",
            'goal.property.value: YAML reads Yes as true; a text stands in quotes: value: "Yes"',
        ),
        (
            "attribute: {column: Health, values: [good, off]}",
            'goal.attribute.values[1]: YAML reads off as false; a text stands in quotes: "off"',
        ),
        (
            "attribute: {column: 2020-01-01}",
            "goal.attribute.column: YAML reads 2020-01-01 as a date; a text stands in quotes: "
            'column: "2020-01-01"',
        ),
    ],
)
def test_a_word_that_yaml_takes_for_something_else_is_to_be_quoted(
    tmp_path: Path, goal: str, message: str
) -> None:
    model = '{use: "sklearn.tree:DecisionTreeClassifier", class_column: Health}'
    text = f"data: {{sample: census}}\nmodel: {model}\ngoal:\n  {goal}\n"
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_audit_file(path)
    assert str(caught.value) == f"{path}:4: {message}"
    quoted = written(tmp_path, text.replace(goal, "property: {column: Health, value: good}"))
    with pytest.raises(ConfigError) as caught:
        read_audit_file(quoted, ["goal.property.value=no"])
    assert "goal.property.value: YAML reads no as false" in str(caught.value)


def test_the_line_of_a_complaint_is_the_line_of_the_key(tmp_path: Path) -> None:
    text = "data:\n  sample: census\n  rows: many\ngenerator: Raw\nattacks: [X]\n"
    with pytest.raises(ConfigError, match=r"audit\.yaml:3: data\.rows: .*got 'many'"):
        read_audit_file(written(tmp_path, text))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attacks": ["Nonsense"]}, r"attacks\[0\]: there is no 'Nonsense'; there are .*Closest"),
        ({"attacks": ["Attack"]}, r"attacks\[0\]"),
        ({"generator": "no_such_module:Thing"}, r"generator: no_such_module cannot be imported"),
        ({"generator": "json:Thing"}, r"generator: json has no class 'Thing'"),
        (
            {"attacks": [{"use": "ClosestDistanceMIA", "parameters": {"radius": 1}}]},
            r"attacks\[0\]: ClosestDistanceMIA cannot be made: .*radius",
        ),
        (
            {"attacks": [{"use": "ClosestDistanceMIA", "parameters": {"criterion": "best"}}]},
            r"attacks\[0\]: criterion must be",
        ),
        ({"generator": {"command": ["no-such-program"]}}, r"generator\.command: there is no"),
        ({"data": {"table": "missing.csv"}}, r"data\.table: .*missing\.csv"),
        (
            {"data": {"sample": "census", "rows": 50, "targets": {"rows": [50]}}},
            r"data\.targets\.rows must be different positions below 50",
        ),
        (
            {"data": {"sample": "census", "rows": 50, "drop": ["Shoe"]}},
            r"data\.drop: 'Shoe' are not columns",
        ),
        ({"knowledge": {"records": 150}}, r"knowledge\.records is 150"),
        ({"goal": {"attribute": {"column": "Shoe"}}}, r"goal\.attribute: 'Shoe'"),
    ],
)
def test_what_cannot_be_built_names_the_key(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        built(tmp_path, **changes)


# -- building ------------------------------------------------------------------------------------


def test_a_small_file_becomes_an_audit_with_controls(tmp_path: Path) -> None:
    audit = built(tmp_path)
    assert [s.role for s in audit.subjects] == ["audited", "control", "control"]
    model = audit.subjects[0].threat_model
    assert isinstance(model, TargetedMIA)
    assert len(model.atk_know_data.target_records) == 2
    assert audit.check().ok
    record = audit.run()
    assert len(record.subjects[0].summaries) == 2


def test_controls_are_attacked_about_some_of_many_targets(tmp_path: Path) -> None:
    data = {"sample": "census", "rows": 200, "targets": {"random": 60}}
    audited, *others = built(tmp_path, data=data).subjects
    many, *few = ([*one.threat_model.game.target_labels] for one in (audited, *others))
    assert len(many) == 60
    assert few == [many[::3], many[::3]]


def test_no_copy_of_a_target_stays_in_the_data(tmp_path: Path) -> None:
    rows = "colour,size\n" + "red,1.5\n" * 3 + "".join(f"blue,{i}.25\n" for i in range(20))
    (tmp_path / "t.csv").write_text(rows)
    audit = built(tmp_path, data={"table": "t.csv", "targets": {"rows": [0]}})
    data = audit.subjects[0].threat_model.atk_know_data.attacker_knowledge
    assert len(data.aux_data) + len(data.test_data) == 20
    assert audit.asked()["data"]["copies_of_targets_left_out"] == 2


def test_the_knowledge_and_the_goal_are_those_of_the_file(tmp_path: Path) -> None:
    exact = built(tmp_path, knowledge={"data": "exact", "mechanism": "white-box"})
    model = exact.subjects[0].threat_model
    assert isinstance(model.atk_know_data.attacker_knowledge, ExactDataKnowledge)
    assert isinstance(model.atk_know_gen, WhiteBoxKnowledge)
    nobox = built(tmp_path, knowledge={"mechanism": "no-box"})
    assert isinstance(nobox.subjects[0].threat_model.atk_know_gen, NoBoxKnowledge)
    assert nobox.subjects[0].threat_model.game.rounds("train") == 0
    attribute = built(tmp_path, goal={"attribute": {"column": "Sex"}})
    model = attribute.subjects[0].threat_model
    assert isinstance(model, TargetedAIA)
    assert len(model.attribute_values) == 2


def test_parameters_may_be_made_by_name_as_well(tmp_path: Path) -> None:
    attack = {
        "use": "ClosestDistanceMIA",
        "label": "nearest",
        "parameters": {"distance": {"use": "LpDistance", "parameters": {"p": 1}}},
    }
    audit = built(tmp_path, attacks=[attack])
    assert audit.attacks[0].label == "nearest"
    assert type(audit.attacks[0].distance).__name__ == "LpDistance"


def test_words_are_names_where_a_parameter_is_an_object(tmp_path: Path) -> None:
    code = "from tapas.attacks import SubsetAttack\n\n\nclass Mine(SubsetAttack):\n    pass\n"
    (tmp_path / "own_member.py").write_text(code)
    members = ["SubsetAttack", {"use": "QueryAttack"}, "own_member:Mine"]
    ensemble = {"use": "EnsembleAttack", "parameters": {"attacks": members}}
    nearest = {"use": "ClosestDistanceMIA", "parameters": {"distance": "LpDistance"}}
    audit = built(tmp_path, attacks=[ensemble, nearest])
    made = [type(one).__name__ for one in (*audit.attacks[0].attacks, audit.attacks[1].distance)]
    assert made == ["SubsetAttack", "QueryAttack", "Mine", "LpDistance"]
    assert "own_member" in audit.asked()["code"]
    assert len(audit.run(n_jobs=1).subjects[0].summaries) >= 2


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("QuerryAttack", r"attacks\[0\]\.parameters\.attacks\[0\]: .*did you mean 'QueryAttack'"),
        (3, r"attacks\[0\]: an ensemble needs attacks that observe releases"),
    ],
)
def test_members_that_are_no_attacks_are_told_by_their_key(
    tmp_path: Path, member: Any, message: str
) -> None:
    ensemble = {"use": "EnsembleAttack", "parameters": {"attacks": [member]}}
    with pytest.raises(ConfigError, match=message):
        built(tmp_path, attacks=[ensemble])


def test_a_class_beside_the_file_is_found_and_part_of_the_question(tmp_path: Path) -> None:
    code = "from tapas.generators import Raw\n\n\nclass Mine(Raw):\n    label = 'Mine'\n"
    (tmp_path / "mine_for_config.py").write_text(code)
    audit = built(tmp_path, generator="mine_for_config:Mine", controls=False)
    assert audit.subjects[0].label == "Mine"
    before = audit.asked()
    assert list(before["code"]) == ["mine_for_config"]
    (tmp_path / "mine_for_config.py").write_text(code + "    changed = True\n")
    assert built(tmp_path, generator="mine_for_config:Mine", controls=False).asked() != before


def test_installed_code_is_not_part_of_the_question() -> None:
    # The folder of the audit file may hold the environment, and this package.
    names = Names(Path(sys.prefix).parent, "audit.yaml")
    names.find("sklearn.tree:DecisionTreeClassifier", ("models",), "model")
    names.find("tapas.generators:Raw", ("generators",), "generator")
    assert names.own_code == {}


def test_a_file_with_the_name_of_another_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("class Mine: pass\n")
    with pytest.raises(ConfigError, match=r"json\.py has the name of another module"):
        built(tmp_path, generator="json:Mine")


def test_a_program_beside_the_file_is_run(tmp_path: Path) -> None:
    program = tmp_path / "generate"
    program.write_text('#!/bin/sh\nexec head -n "$1"\n')
    program.chmod(0o755)
    audit = built(tmp_path, generator={"command": ["./generate"], "label": "head"}, controls=False)
    assert audit.check().ok
    assert audit.subjects[0].label == "head"
    assert list(audit.asked()["code"]) == ["./generate"]


def test_equal_seeds_choose_equal_targets_and_rows(tmp_path: Path) -> None:
    def targets(seed: int) -> np.ndarray:
        model = built(tmp_path, seed=seed).subjects[0].threat_model
        return np.asarray(model.atk_know_data.target_records.table.codes)

    assert np.array_equal(targets(1), targets(1))
    assert not np.array_equal(targets(1), targets(2))


def test_gates_and_title_are_not_part_of_the_question(tmp_path: Path) -> None:
    plain = built(tmp_path).asked()
    gates = [{"metric": "auc", "at_most": 0.6}]
    assert built(tmp_path, title="Other", gates=gates).asked() == plain
    assert built(tmp_path, trials={"train": 4, "test": 6}).asked() != plain
    data = {"sample": "census", "rows": 201, "targets": {"random": 2}}
    assert built(tmp_path, data=data).asked()["data"]["digest"] != plain["data"]["digest"]


def test_stopping_early_turns_controls_off(tmp_path: Path) -> None:
    trials = {"train": 4, "test": 8, "stop_early": {"every": 4}}
    audit = built(tmp_path, trials=trials, claim={"epsilon": 1})
    assert len(audit.subjects) == 1
    assert audit.stop_early is not None
    assert len(built(tmp_path, trials=trials, claim={"epsilon": 1}, controls=True).subjects) == 3


def test_claims_stop_early_unless_all_trials_are_asked_for(tmp_path: Path) -> None:
    whole = {"train": 4, "test": 100, "stop_early": {"claim": False}}
    for trials, stops in (({"train": 4, "test": 100}, True), (whole, False)):
        audit = built(tmp_path, trials=trials, claim={"epsilon": 1})
        assert len(audit.subjects) == 3
        assert (audit.stopping() is not None) == stops


def test_the_schema_describes_every_key_and_is_json() -> None:
    schema = json.loads(json.dumps(audit_file_schema()))
    assert set(schema["properties"]) == set(AuditFile.model_fields)
    assert "schema" in schema["$defs"]["DataPart"]["properties"]
    for part in ("GeneratorPart", "ComponentPart", "GoalPart"):
        assert part in schema["$defs"]


def test_a_model_audit_needs_no_attacks_to_be_named(tmp_path: Path) -> None:
    model = {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Sex", "shadows": 4}
    values = {"data": {"sample": "census", "rows": 80}, "model": model}
    audit = load_audit(written(tmp_path, values))
    assert [attack.label for attack in audit.attacks][-1] == "RehearsedMIA"


def test_a_model_is_audited_from_a_file(tmp_path: Path) -> None:
    load_sample("census", 120).write(tmp_path / "inside")
    (tmp_path / "inside.json").unlink()
    text = (tmp_path / "inside.csv").read_text().splitlines()
    (tmp_path / "inside.csv").write_text("\n".join(text[:70]))
    (tmp_path / "outside.csv").write_text("\n".join([text[0], *text[40:]]))
    tree = {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Sex", "shadows": 2}
    data = {"table": "inside.csv", "holdout": "outside.csv", "drop": ["Region"]}
    attacks = ["tapas.attacks.models._score_attacks:LossMIA"]
    values = {"data": data, "model": tree, "attacks": attacks}
    with pytest.warns(TapasWarning, match="occur on both sides"):
        audit = load_audit(written(tmp_path, values))
    assert audit.check().ok
    record = audit.run(tmp_path / "run", n_jobs=1)
    (subject,) = record.subjects
    assert not subject.crashes
    # One release: nothing may be certified from records that share it.
    assert subject.summaries[0].dependence == "one release"  # type: ignore[attr-defined]
    tree["class_column"] = "Shoe"
    with pytest.raises(ConfigError, match=r"model\.class_column: 'Shoe' is not a column"):
        load_audit(written(tmp_path, values))
    tree.update(class_column="Sex", file="model.onnx", shadows=0)
    with pytest.raises(ConfigError, match=r"model: .*exactly one of use, file"):
        load_audit(written(tmp_path, values))
    del tree["use"]
    with pytest.raises(ConfigError, match=r"model\.file: there is no file"):
        load_audit(written(tmp_path, values))
