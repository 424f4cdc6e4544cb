"""A page says why there is a leak and what can be tried, only where there is one."""

import contextlib
import itertools
import re
import shlex
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from tapas import attacks
from tapas.audit import Audit
from tapas.audit._config_changes import changed_values
from tapas.cli._main import group
from tapas.cli._release import command as release
from tapas.compat import GameThreatModel
from tapas.datasets import Reading, load_sample
from tapas.errors import ConfigError
from tapas.generators import Raw
from tapas.report import AuditPage
from tapas.report._page_advice import _LOOKS_AT
from tapas.report._page_numbers import between
from tapas.report._page_remedies import READ_LABELS, READ_SCORES
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Copies,
    Estimate,
    Gate,
    MIAttackSummary,
    decide,
    exposed_people,
)
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ModelMIA,
    ModelPropertyInference,
    ObservedMIA,
    TargetedMIA,
)


def page(strength: float, attack: str = "LossMIA", **question: object) -> AuditPage:
    members = np.arange(400) % 2 == 0
    scores = strength * members + np.random.default_rng(1).normal(size=400)
    summary = MIAttackSummary(
        members, scores > 1, scores, "G", attack, "D", "all", dependence="one release"
    )
    record = AuditRecord(
        "Audit", question, "f" * 32, 1, (AuditedSubject("S", "audited", (summary,)),)
    )
    return AuditPage(record, ())


@pytest.mark.parametrize("kind", ["release", "model", "generator"])
def test_what_can_be_tried_fits_what_was_audited(kind: str) -> None:
    question = {kind: {"use": "X", "access": "scores"}, "knowledge": {}}
    html = page(3.0, **question).html()
    assert "What can be tried" in html
    assert "tapas compare" in html
    assert "looks at how little the model errs on the record" in html
    assert ("model.access=labels" in html) == (kind == "model")


def python_games() -> dict[str, GameThreatModel]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.arange(80) % 2
    forest = RandomForestClassifier(2, random_state=0).fit(X[:40], y[:40])
    data = load_sample("census", 60)
    return {
        "model": ModelMIA(forest, (X[:40], y[:40]), (X[40:], y[40:]), "parameters", seed=0),
        "property": ModelPropertyInference(
            forest, (X, y), y == 1, num_records=10, num_probes=10, seed=0
        ),
        "generator": TargetedMIA(
            AuxiliaryDataKnowledge(data, auxiliary_split=0.5, num_training_records=10),
            data.get_records([0]),
            BlackBoxKnowledge(Raw(), num_synthetic_records=10),
        ),
        "release": ObservedMIA(*(data.take(range(n, n + 20)) for n in (0, 20, 40))),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("model", ["(max_depth=6, min_samples_leaf=10)", 'access="scores"', 'access="labels"']),
        ("property", ["Weigh or resample the training records", 'access="labels"']),
        ("generator", ["such as MST(epsilon=1)", "from more records"]),
        ("release", ["out of the release.", "a generator that adds noise"]),
    ],
)
def test_audits_made_in_python_get_the_same_advice_in_words(kind: str, words: list[str]) -> None:
    threat_model = python_games()[kind]
    question = Audit(threat_model, num_train=2, num_test=2).asked()
    made = page(3.0, "TreeMIA", **question)
    named = replace(made.record.subjects[0], name=threat_model.subject_label)
    made = AuditPage(replace(made.record, subjects=(named,)), ())
    html = unescape(made.html())
    assert "What can be tried" in html
    for said in [*words, "ComparisonPage([record, record_after]).publish(folder)"]:
        assert said in html
    assert not advised(made)
    advice = html[html.index("What can be tried") : html.index("What was audited")]
    assert "audit file" not in advice
    assert ".csv and" not in advice


def test_nothing_is_advised_where_nothing_leaks() -> None:
    html = page(0.0, release={}).html()
    assert "What can be tried" not in html
    assert "looks at" not in html


def test_commands_that_are_advised_exist() -> None:
    assert {"release", "run", "compare"} <= set(group.list_commands(None))  # type: ignore[arg-type]


def test_every_description_is_of_an_attack() -> None:
    for name in _LOOKS_AT:
        assert any(attack.startswith(name) for attack in attacks.__all__), name


def test_every_attack_is_described() -> None:
    """Whichever default attack is strongest, the page says what it looked at."""
    for kind in attacks.__all__:
        if kind.endswith(("MIA", "AIA", "Attack")) and kind not in _BASES:
            assert any(kind.startswith(name) for name in _LOOKS_AT), kind


_BASES = ("Attack", "TrainableThresholdAttack")


def advised(made: AuditPage) -> list[list[str]]:
    """The commands on a page, as words."""
    blocks = re.findall(r'aria-label="Commands">(.*?)</pre>', made.html(), re.DOTALL)
    return [shlex.split(line) for block in blocks for line in unescape(block).splitlines()]


def test_commands_name_the_files_and_folders_of_the_audit() -> None:
    made = page(3.0, generator=[{"use": "X"}], knowledge={})
    about = {"audit_file": "my/own people.yaml", "folder": "my/first-run", "set": ["seed=3"]}
    commands = advised(AuditPage(replace(made.record, provenance=about), ()))
    assert len(commands) == 6
    folders = {words[-1] for words in commands}
    assert len(folders) == 3
    for play, compare in zip(commands[::2], commands[1::2], strict=True):
        assert play[:3] == ["tapas", "run", "my/own people.yaml"]
        assert play[3:5] == ["--set", "seed=3"]
        assert compare == ["tapas", "compare", "my/first-run", play[-1]]
        assert play[-1].startswith("my/first-")


def test_a_stricter_guarantee_is_advised_where_there_is_one() -> None:
    generator = {"use": "MST", "parameters": {"epsilon": 2, "bins": 8}}
    commands = advised(page(3.0, generator=[generator], knowledge={}))
    assert "generator.parameters={epsilon: 0.2, bins: 8}" in commands[0]


@pytest.mark.parametrize(
    ("model", "change"),
    [
        ({"use": "sklearn.linear_model:LogisticRegression"}, "model.parameters={C: 0.01}"),
        ({"use": "a:B", "parameters": {"c": 1}}, "model.parameters={c: 1, PARAMETER: 1}"),
        ({"file": "model.onnx"}, "model.file=regular.onnx"),
        ({"endpoint": {"use": "a:b"}}, "model.endpoint.answers=regular.sqlite"),
    ],
)
def test_models_are_regularised_by_what_they_have(model: dict[str, Any], change: str) -> None:
    made = page(3.0, model=model)
    assert change in advised(made)[0]
    assert ("Save the model so trained as regular.onnx" in made.html()) == ("file" in model)


def test_parameters_that_are_shown_can_be_kept_back() -> None:
    model = {"use": FOREST, "access": "parameters"}
    for attack in ("TreeMIA(gb)", "mine"):
        made = page(3.0, attack, model=model)
        assert "model.access=scores" in [word for words in advised(made) for word in words]
    assert "model.access=scores" not in str(advised(page(3.0, "TreeMIA", model={"use": FOREST})))


def test_what_the_strongest_attack_does_not_read_need_not_be_kept_back() -> None:
    model = {"use": FOREST, "access": "parameters"}
    for attack, kept in (("CertaintyMIA(gb)", ["labels"]), ("LabelOnlyMIA(boundary)", [])):
        said = str(advised(page(3.0, attack, model=model)))
        assert [one for one in ("scores", "labels") if f"model.access={one}" in said] == kept
    reads = {"scores": READ_SCORES - {"PropertyClassifier"}, "labels": READ_LABELS}
    found: dict[str, set[str]] = {"scores": set(), "labels": set()}
    for name in attacks.__all__:
        with contextlib.suppress(TypeError, AttributeError, ConfigError):  # no attacks
            needs = getattr(attacks, name)().needs
            if needs.release == "model" and needs.access.value in found:
                found[needs.access.value].add(name)
    found["labels"].discard("PropertyClassifier")  # reads scores where they are shown
    assert found == reads


def about_members(share: float) -> AuditPage:
    """A record of 800 that tells so many of its members from the others."""
    rng = np.random.default_rng(0)
    members = np.arange(800) % 2 == 0
    told = members & (rng.random(800) < share)
    scores = rng.normal(size=800) + 6 * told
    summary = MIAttackSummary(
        members, scores > 3, scores, "G", "LossMIA", "D", "all", dependence="one release"
    )
    about = {"source": np.where(members, "members", "non_members"), "row": np.arange(800)}
    subject = AuditedSubject("S", "audited", (summary,), records=about)
    question = {"model": {"use": FOREST, "access": "scores"}}
    return AuditPage(AuditRecord("Audit", question, "f" * 32, 1, (subject,)), ())


def test_where_most_members_are_exposed_nobody_is_left_out() -> None:
    whole, few = about_members(0.9), about_members(0.2)
    assert "the model as a whole leaks. Of 400 members in exposure.csv 3" in whole.html()
    assert "data.leave_out" not in str(advised(whole))
    assert "as a whole" not in few.html()
    assert "data.leave_out" in str(advised(few))


def test_advice_about_a_share_is_not_about_single_records() -> None:
    asked = {"property": {"column": "sex", "value": "F", "shares": [0.1, 0.3, 0.5]}}
    made = page(3.0, model={"use": FOREST}, goal=asked)
    assert "such as that of the population" in made.html()
    assert "data.leave_out" not in str(advised(made))


FOREST = "sklearn.ensemble:RandomForestClassifier"


@pytest.mark.parametrize(
    ("asked", "folder"),
    [
        ({"model": {"use": FOREST, "parameters": {"max_depth": 6}}}, "regular"),
        ({"model": {"file": "model.onnx"}}, "regular"),
        ({"model": {"use": FOREST}, "data": {"table": "people.csv"}}, "more"),
        ({"model": {"use": FOREST}}, "labels"),
        ({"release": {"file": "released.csv"}}, "fewer"),
        ({"release": {"file": ["released.csv"]}}, "noisy"),
        ({"generator": [{"use": "A"}, {"use": "B"}], "data": {"bounds": "table"}}, "private"),
    ],
)
def test_what_was_done_is_not_advised_again(asked: dict[str, Any], folder: str) -> None:
    about = {"audit_file": "audit.yaml"}
    first = page(3.0, **asked).record
    before = advised(AuditPage(replace(first, provenance=about), ()))
    (command,) = (w for w in before if w[-1].endswith(f"-{folder}-run") and w[1] == "run")
    changes = [words for flag, words in itertools.pairwise(command) if flag == "--set"]
    question, _ = changed_values(asked, changes, "audit.yaml")
    after = advised(AuditPage(replace(first, provenance=about, question=question), ()))
    assert not any(words[-1].endswith(f"-{folder}-run") for words in after)
    assert len(after) == len(before) - (1 if folder == "private" else 2)


def test_more_of_a_sample_is_more_rows_of_it() -> None:
    inputs = {"data.sample": {"rows": 300}}
    data = {"sample": "census", "rows": 300}
    asked = {"generator": [{"use": "X"}], "knowledge": {"records": 40}, "inputs": inputs}
    *_, more, _ = advised(page(3.0, data=data, **asked))
    assert more[3:7] == ["--set", "data.rows=600", "--set", "knowledge.records=80"]
    *_, more, _ = advised(page(3.0, data={"table": "t.csv", "rows": 9}, **asked))
    assert more[3:7] == ["--set", "data.table=more.csv", "--set", "data.rows=null"]


def test_commands_about_files_read_them_as_the_audit_did() -> None:
    read = {"delimiter": "\t", "header": False, "missing": ["-", "n/a"], "skip_rows": 0}
    data = {"drop": ["patient id", "note"], "read": read, "schema": "s.json"}
    goal = {"attribute": {"column": "sick"}}
    asked = {"release": {"reference": "r.csv"}, "data": data, "goal": goal, "seed": 4}
    commands = [words for words in advised(page(3.0, **asked)) if words[1] == "release"]
    assert len(commands) == 2  # no column gives anybody away
    for words in commands:
        given = release.make_context("release", words[2:]).params
        assert given["drop"][:2] == ("patient id", "note")
        chosen = Reading.from_words(given["read"])
        assert chosen == Reading(delimiter="\t", header=False, missing=("-", "n/a"))
        assert (given["attribute"], given["seed"]) == ("sick", 4)
        assert (str(given["schema"]), str(given["reference"])) == ("s.json", "r.csv")


def two_attacks(**options: object) -> AuditRecord:
    """A strong attack with many trials, and a weak one whose interval reaches higher."""
    rng = np.random.default_rng(2)
    summaries = []
    for name, size, strength in (("Strong", 400, 2.0), ("Weak", 8, 1.5)):
        members = np.arange(size) % 2 == 0
        scores = strength * members + rng.normal(size=size)
        summaries.append(
            MIAttackSummary(members, scores > 1, scores, "G", name, "D", "7", **options)  # type: ignore[arg-type]
        )
    subject = AuditedSubject("S", "audited", tuple(summaries))
    return AuditRecord("Audit", {}, "f" * 32, 1, (subject,), gates=(Gate("auc", 0.6),))


def test_where_a_limit_is_exceeded_gate_and_verdict_name_the_same_attack() -> None:
    record = two_attacks()
    (outcome,) = decide(record).outcomes
    assert outcome.state == "fail"
    assert "(Strong on target 7)" in outcome.words
    assert any(
        line.startswith("The strongest by AUC, Strong") for line in AuditPage(record, ()).words
    )


def test_more_trials_are_asked_for_only_where_there_are_more_to_be_had() -> None:
    for options, remedy in (
        ({}, "more trials are needed"),
        ({"dependence": "one release"}, "more records whose membership is known"),
    ):
        record = replace(two_attacks(**options), gates=(Gate("auc", 0.97),))
        (outcome,) = decide(record).outcomes
        assert outcome.state == "inconclusive"
        assert remedy in outcome.words
        assert ("more trials" in outcome.words) == (not options)


def test_people_who_are_exposed_beyond_doubt_are_reason_enough_for_advice() -> None:
    rng = np.random.default_rng(3)
    members = np.arange(24) % 2 == 0
    summaries = tuple(
        MIAttackSummary(members, s > 1, s, "G", "EnsembleAttack", "D", str(target))
        for target in range(12)
        for s in [2.6 * members + rng.normal(size=24)]
    )
    subject = AuditedSubject("S", "audited", summaries)
    question = {"generator": {"use": "G"}, "knowledge": {}}
    record = AuditRecord("Audit", question, "f" * 32, 1, (subject,))
    (people,) = exposed_people(record)
    assert people.num_exposed > 0
    assert "What can be tried" in AuditPage(record, ()).html()


def exposed_files(
    copies: Copies | None,
    agreed: list[str],
    gates: tuple[Gate, ...] = (),
    provenance: dict[str, Any] | None = None,
    **question: Any,
) -> str:
    made = page(3.0, release={"file": "r.csv"}, **question)
    (subject,) = made.record.subjects
    nearest = [agreed[i // 2] if i % 2 == 0 and i // 2 < len(agreed) else None for i in range(400)]
    about = {"source": ["x"] * 400, "row": list(range(400)), "agrees_on": nearest}
    told = replace(subject, copies=copies, records=about)
    changed = replace(made.record, subjects=(told,), gates=gates, provenance=provenance or {})
    return unescape(AuditPage(changed, ()).html())


def test_whole_copies_are_taken_out_and_no_column_is_blamed() -> None:
    copies = Copies(
        200,
        9,
        200,
        0,
        1e-3,
        rows=tuple(range(9)),
        released_rows=tuple(range(9)),
        differs_in=("",) * 9,
    )
    html = exposed_files(copies, ["all columns"] * 9)
    assert "private records, or are but for one column (copies.csv lists 9)" in html
    assert "--drop" not in html


def test_the_column_that_gives_most_away_is_named_not_one_that_all_share() -> None:
    html = exposed_files(None, ["town, sex", "town, job, sex", "job, sex"])
    assert "--drop town" in html
    assert "as if “town” had not been released" in html


@pytest.mark.parametrize(("most", "allowed"), [(0, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("file", [None, "audit.yaml"])
def test_advice_to_leave_out_a_column_allows_for_a_limit_on_such(
    most: int, allowed: int, file: str | None
) -> None:
    inputs = {key: {"dropped": {"note": "free text"}} for key in ("data.table", "release.file")}
    gates = (Gate("auc", 0.9), Gate("dropped_columns", most))
    about = {"audit_file": file} if file else {}
    html = exposed_files(None, ["town, sex", "town, job, sex"], gates, about, inputs=inputs)
    said = f"The gate on dropped_columns (at most {most}) counts that, so it is {allowed} here."
    assert (said in html) == (allowed > most)
    commands = re.findall(r"tapas (?:release|run) [^<\n]*", html)
    (without,) = (shlex.split(one)[2:] for one in commands if "town" in one)
    (other,) = (one for one in commands if "noisy.csv" in one)
    if file is None:
        given = release.make_context("release", without).params
        assert (given["max_dropped"], given["max_auc"]) == (allowed, 0.9)
        assert f"--max-dropped {most}" in other
    else:
        changes = [words for flag, words in itertools.pairwise(without) if flag == "--set"]
        assert any(one.startswith("gates=") for one in changes) == (allowed > most)
        asked = {"gates": [{"metric": one.metric, "at_most": one.at_most} for one in gates]}
        values, _ = changed_values(asked, changes, "audit.yaml")
        found = tuple(Gate(**one) for one in values["gates"])
        assert found == (gates[0], Gate("dropped_columns", allowed))
        assert "gates" not in other


def test_a_lower_end_just_above_one_half_is_not_written_as_one_half() -> None:
    assert between(Estimate(0.63, 0.5031, 0.75))[1] == "0.503 to 0.75"
    assert between(Estimate(0.63, 0.50009, 0.75))[1] == "0.5000 to 0.75"
    assert between(Estimate(0.63, 0.5, 0.75))[1] == "0.50 to 0.75"
    assert between(Estimate(0.63, 0.512, 0.75))[1] == "0.51 to 0.75"
