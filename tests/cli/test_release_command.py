"""From three files to a report: `tapas release`, and audit files about a release."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas.audit import Audit, load_audit
from tapas.audit._config import AuditFile, audit_file_schema
from tapas.cli._main import run
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Bootstrap
from tapas.results import AuditRecord

FILES = ["private.csv", "holdout.csv", "released.csv"]


def write(table: TabularDataset, path: Path, **changes: Any) -> None:
    table.data.assign(**changes).to_csv(path, index=False)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a private table, a holdout, and a release that is a copy."""
    monkeypatch.chdir(tmp_path)
    data = load_sample("clinic", 400)
    private, holdout = data.take(range(240)), data.take(range(240, 340))
    write(private, tmp_path / "private.csv")
    write(holdout, tmp_path / "holdout.csv")
    write(Bootstrap()(private, 200, random_state=0), tmp_path / "released.csv")
    write(data.take(range(340, 400)), tmp_path / "more.csv")
    return tmp_path


def audit_file(place: Path, **changes: Any) -> Path:
    values = {
        "data": {"table": "private.csv", "holdout": "holdout.csv"},
        "release": {"file": "released.csv"},
        "attacks": ["ClosestDistanceMIA", "DOMIAS"],
        **changes,
    }
    path = place / "files.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def error_line(captured: Any) -> str:
    (line,) = [x for x in captured.err.splitlines() if not x.startswith("Note: ")]
    assert "Traceback" not in captured.err
    return line


# -- the command ---------------------------------------------------------------------------------


def test_a_column_of_one_table_alone_can_be_dropped(place: Path) -> None:
    data = load_sample("clinic", 240)
    write(data, place / "private.csv", id=range(240))
    assert run(["release", *FILES, "--drop", "id", "--no-controls"]) == 0


def test_a_file_in_another_dialect_is_read_like_the_others(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = TabularDataset.read(place / "released.csv").data
    frame.to_csv(place / "released.csv", sep=";", decimal=",", index=True)
    assert run(["release", *FILES, "--no-controls", "--json", "private.json"]) == 0
    record = AuditRecord.load(place / "released-run")
    about = record.question["inputs"]["release.file"]  # type: ignore[index,call-overload]
    assert "cells separated by semicolons" in about["read"]
    assert len(about["sha256"]) == 64
    # The verdict beside the private table is not taken for its schema.
    assert run(["release", *FILES, "--no-controls"]) == 0


def test_several_releases_are_compared_on_the_same_records(place: Path) -> None:
    write(TabularDataset.read(place / "more.csv"), place / "harmless.csv")
    shown = ["--no-controls", "--attack", "ClosestDistanceMIA", "--attack", "InferenceAttack"]
    assert run(["release", *FILES, "harmless.csv", *shown, "--max-auc", "0.6"]) == 1
    record = AuditRecord.load(place / "released-run")
    assert [subject.name for subject in record.subjects] == ["released", "harmless"]
    leaky, harmless = ({s.attack: s for s in one.summaries} for one in record.subjects)
    attack = "ClosestDistance(fitting, accuracy)"
    assert leaky[attack].auc > 0.7 > harmless[attack].auc  # type: ignore[attr-defined]
    assert np.array_equal(leaky[attack].labels, harmless[attack].labels)  # type: ignore[attr-defined]
    assert {"release.file[0]", "release.file[1]"} <= set(record.question["inputs"])  # type: ignore[arg-type]
    page = (place / "released-run" / "report.html").read_text(encoding="utf-8")
    assert "harmless" in page
    assert "Inference(all columns)" in page


def test_dropping_every_column_is_refused_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = load_sample("clinic", 10).description.columns
    every = [word for name in names for word in ("--drop", name)]
    assert run(["release", *FILES, *every]) == 4
    assert "no column is left" in error_line(capsys.readouterr())


def test_three_files_end_in_a_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["release", *FILES, "--json", "v.json", "--junit", "v.xml"]) == 0
    out = capsys.readouterr().out
    assert "Report: released-run/report.html" in out
    assert "No epsilon is certified" in out
    page = (place / "released-run" / "report.html").read_text(encoding="utf-8")
    assert "control: resampled records" in page
    record = AuditRecord.load("released-run")
    assert [subject.role for subject in record.subjects] == ["audited", "control", "control"]
    assert not any(subject.crashes for subject in record.subjects)
    counts = record.question["data"]["records"]
    assert (counts["judged_members"], counts["judged_non_members"]) == (160, 50)
    verdict = json.loads((place / "v.json").read_text())
    assert all(result["epsilon_over_all"] is None for result in verdict["results"])
    strongest = max(r["auc"]["low"] for r in verdict["results"] if r["role"] == "audited")
    assert strongest > 0.6
    assert (place / "v.xml").exists()


def test_a_value_is_guessed_as_the_excess_over_the_holdout(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--attack", "ClosestDistanceAIA", "--no-controls"]
    assert run(["release", *FILES, "--attribute", "ward", *small, "--json", "v.json"]) == 0
    record = AuditRecord.load("released-run")
    assert record.question["goal"]["attribute"]["column"] == "ward"
    (result,) = json.loads((place / "v.json").read_text())["results"]
    assert result["auc"]["low"] > 0.5  # two thirds of the private records are in the release
    said = capsys.readouterr().out
    assert "tried to guess “ward” of records that were used better than of others" in said
    assert "more of the records that were used than of the others" in said
    assert "was right in" not in said
    again = load_audit(
        audit_file(
            place,
            controls=False,
            attacks=["ClosestDistanceAIA"],
            goal={"attribute": {"column": "ward"}},
        )
    ).run()
    mine, theirs = (one.subjects[0].summaries[0].to_json() for one in (again, record))
    assert mine == theirs


@pytest.mark.parametrize(
    ("column", "words"),
    [("colour", "'colour'"), ("charge", "at least two listed values: name one of 'sex', 'ward'")],
)
def test_a_column_that_cannot_be_guessed_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], column: str, words: str
) -> None:
    assert run(["release", *FILES, "--attribute", column]) == 4
    assert words in error_line(capsys.readouterr())


@pytest.mark.parametrize(("limit", "code"), [("0.55", 1), ("0.999", 0), ("0.8", 6)])
def test_a_limit_decides_the_exit_code(place: Path, limit: str, code: int) -> None:
    small = ["--attack", "ClosestDistanceMIA", "--no-controls", "--max-copies", "240"]
    assert run(["release", *FILES, "--max-auc", limit, *small]) == code


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_release_without_rows_near_private_records_fails_its_gate(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members are then farther from what is released than others: as telling as being nearer."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    private, holdout, drawn = (rng.normal(size=(n, 2)) for n in (300, 300, 3000))
    gaps = np.sqrt(((drawn[:, None] - private[None]) ** 2).sum(axis=2)).min(axis=1)
    for name, table in zip(FILES, (private, holdout, drawn[gaps > 0.15]), strict=True):
        pd.DataFrame(table, columns=["a", "b"]).to_csv(tmp_path / name, index=False)
    small = ["--attack", "ClosestDistanceMIA", "--no-controls"]
    assert run(["release", *FILES, "--max-auc", "0.55", *small]) == 1


def _people(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers and categories, each drawn by itself."""
    numbers = {name: rng.normal(size=rows).round(2) for name in ("age", "income")}
    return pd.DataFrame(
        {**numbers, "ward": rng.choice(list("abc"), rows), "sex": rng.choice(["f", "m"], rows)}
    )


def _gaps(released: pd.DataFrame, private: pd.DataFrame) -> np.ndarray:
    """How far the nearest private record is: gaps of numbers, and 1 for another category."""
    found = np.zeros((len(released), len(private)))
    for name in private:
        left, right = released[name].to_numpy()[:, None], private[name].to_numpy()[None]
        found += np.abs(left - right) if name in ("age", "income") else left != right
    return found.min(axis=1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_a_mixed_release_without_the_half_near_private_records_fails_its_gate(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the attacks that a release has by default, which share the error."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    private, holdout, drawn = (_people(rows, rng) for rows in (350, 350, 1750))
    gaps = _gaps(drawn, private)
    for name, table in zip(FILES, (private, holdout, drawn[gaps > np.median(gaps)]), strict=True):
        table.to_csv(tmp_path / name, index=False)
    assert run(["release", *FILES, "--max-auc", "0.55", "--no-controls", "--seed", str(seed)]) == 1


def test_a_reference_and_a_folder_can_be_given(place: Path) -> None:
    arguments = ["--reference", "more.csv", "--folder", "out", "--attack", "DOMIAS"]
    assert run(["release", *FILES, *arguments]) == 0
    counts = AuditRecord.load("out").question["data"]["records"]
    assert (counts["reference"], counts["left_out_members"]) == (60, 0)


def test_the_same_command_again_gives_the_same_result(place: Path) -> None:
    small = ["release", *FILES, "--attack", "DOMIAS", "--no-controls"]
    assert run(small) == 0
    first = AuditRecord.load("released-run").subjects[0].summaries[0]
    assert run(small) == 0
    second = AuditRecord.load("released-run").subjects[0].summaries[0]
    assert first.to_json() == second.to_json()


def test_another_question_in_the_same_folder_is_answered_by_itself(place: Path) -> None:
    small = ["release", *FILES, "--attack", "DOMIAS", "--no-controls"]
    assert run([*small, "--folder", "fresh", "--seed", "1"]) == 0
    assert run([*small, "--folder", "shared"]) == 0
    assert run([*small, "--folder", "shared", "--seed", "1"]) == 0
    fresh, shared = (AuditRecord.load(name).subjects[0].summaries for name in ("fresh", "shared"))
    assert [one.to_json() for one in fresh] == [one.to_json() for one in shared]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["private.csv", "holdout.csv", "nothing.csv"], "nothing.csv: No such file"),
        ([*FILES, "--attack", "GroundhogAttack"], "there is only one: use ClosestDistanceMIA"),
        ([*FILES, "--attack", "Nonsense"], "there is no 'Nonsense'"),
        ([*FILES, "--known-share", "1"], "'--known-share'"),
        ([*FILES, "--attack", "DOMIAS", "--known-share", "0"], "--known-share leaves none"),
        (["private.csv", "nothing.csv", "released.csv"], "HOLDOUT: "),
        (["nothing.csv", "holdout.csv", "released.csv"], "PRIVATE: "),
        ([*FILES, "--reference", "nothing.csv"], "--reference: "),
        ([*FILES, "--schema", "nothing.json"], "--schema: "),
        ([*FILES, "--subgroup", "colour"], "--subgroup: 'colour'"),
        ([*FILES, "--read", "index=colour"], "(--read index)"),
        ([*FILES, "--read", "dates=first"], "--read: dates must be"),
        ([*FILES, "--read", "delimiter=;"], "in a schema (--schema)"),
        ([*FILES, "--max-auc", "2"], "'--max-auc'"),
        ([*FILES, "--max-auc", "1"], "--max-auc 1 cannot fail: it is never above 1"),
        ([*FILES, "--max-copies", "-1"], "'--max-copies'"),
        ([*FILES, "--attribute", "charge"], "--attribute 'charge' must be a column with"),
        ([*FILES, "--attack", "LiRA"], "but `tapas release` is about a table"),
        ([*FILES, "--drop", "shoe size"], "'shoe size'"),
        (["private.csv", "private.csv", "released.csv"], "not on both sides"),
        ([*FILES, "--reference", "holdout.csv"], "reference records are also"),
        (["private.csv", "holdout.csv"], "Missing argument 'RELEASED"),
    ],
)
def test_wrong_use_is_one_line_and_four(
    place: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["release", *arguments]) == 4
    told = error_line(capsys.readouterr())
    assert words in told
    assert not re.search(r"audit file|data\.|release\.|attacks|attribute_|known_share|MIA is", told)


def test_tables_with_other_columns_are_named(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load_sample("census", 50).data.to_csv("people.csv", index=False)
    assert run(["release", "private.csv", "holdout.csv", "people.csv"]) == 4
    told = error_line(capsys.readouterr())
    assert "must have the same columns" in told
    assert "(--drop)" in told
    assert "data." not in told


def test_categories_and_numbers_of_any_of_the_files_are_understood(place: Path) -> None:
    data = load_sample("clinic", 400)
    write(data.take(range(240, 340)), place / "holdout.csv", ward="a new ward")
    write(data.take(range(100)), place / "released.csv", age=np.linspace(1.5, 99.5, 100))
    small = ["release", *FILES, "--no-controls"]
    assert run(small) == 0
    assert not AuditRecord.load("released-run").subjects[0].crashes


def test_free_text_is_left_out_and_identifiers_are_pointed_at(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = load_sample("clinic", 640)
    starts = {"private.csv": 0, "holdout.csv": 240, "released.csv": 340}
    for name, start in starts.items():
        rows = np.arange(start, start + 200 if start == 340 else start + 100)
        names = [f"person {row}" for row in rows]
        write(data.take(rows), place / name, name=names, number=1000 + rows)
    assert run(["release", *FILES, "--no-controls"]) == 0
    said = capsys.readouterr().err
    assert "free text are left out: 'name'" in said
    assert "'number'" in said
    assert run(["release", *FILES, "--no-controls", "--drop", "number", "--folder", "again"]) == 0
    assert "'number'" not in capsys.readouterr().err


# -- audit files ---------------------------------------------------------------------------------


def test_init_check_and_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "private.csv", "--kind", "files"]) == 0
    written = yaml.safe_load((place / "audit.yaml").read_text())
    assert written["release"]["file"] == "released.csv"
    assert written["data"]["holdout"] == "holdout.csv"
    assert run(["check", "audit.yaml"]) == 0
    said = capsys.readouterr().out
    assert "data.table: private.csv, 240 records: cells separated by commas" in said
    assert "can run" in said
    assert run(["run", "audit.yaml", "--quiet"]) == 1
    assert (place / "audit-run" / "report.html").exists()
    assert run(["report", "audit-run"]) == 1
    assert run(["plan", "audit.yaml", "--epsilon", "1"]) == 0


def test_init_describes_all_tables_together(place: Path) -> None:
    data = load_sample("clinic", 340)
    write(data.take(range(240, 340)), place / "kept.csv", ward="a new ward")
    assert run(["init", "private.csv", "--kind", "files", "--holdout", "kept.csv"]) == 0
    assert "a new ward" in (place / "audit.schema.json").read_text()
    assert run(["check", "audit.yaml"]) == 0


def test_init_works_before_the_other_files_are_there(place: Path) -> None:
    (place / "holdout.csv").unlink()
    (place / "released.csv").unlink()
    assert run(["init", "private.csv", "--kind", "files"]) == 0
    assert run(["check", "audit.yaml"]) == 4


def test_an_audit_file_makes_the_same_audit_as_the_command(place: Path) -> None:
    audit = load_audit(audit_file(place, controls=False))
    assert isinstance(audit, Audit)
    assert audit.check().ok
    record = audit.run()
    small = ["--attack", "ClosestDistanceMIA", "--attack", "DOMIAS", "--no-controls"]
    assert run(["release", *FILES, *small]) == 0
    theirs = AuditRecord.load("released-run").subjects[0].summaries
    for mine, other in zip(record.subjects[0].summaries, theirs, strict=True):
        assert mine.to_json() == other.to_json()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"claim": {"epsilon": 1.0}}, "remove claim"),
        ({"goal": "canaries"}, "which know membership, attribute"),
        ({"data": {"table": "private.csv"}}, "data.holdout"),
        ({"data": {"sample": "clinic"}}, "data.table"),
        ({"generator": "Raw"}, "exactly one of generator, model, predictions, release"),
        ({"release": {"file": "released.csv", "rows": 3}}, "unknown key"),
    ],
)
def test_audit_files_that_make_no_sense_are_refused(
    place: Path, changes: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    audit_file(place, **changes)
    assert run(["check", "files.yaml"]) == 4
    line = error_line(capsys.readouterr())
    assert words in line
    assert "files.yaml" in line


def test_the_schema_for_editors_knows_releases() -> None:
    assert "release" in audit_file_schema()["properties"]
    page = Path(__file__).parents[2] / "docs" / "observed-releases.md"
    blocks = page.read_text(encoding="utf-8").split("```yaml\n")[1:]
    assert blocks
    for block in blocks:
        AuditFile.model_validate(yaml.safe_load(block.split("```")[0]))


# -- who is exposed ------------------------------------------------------------------------------


def exposed_page(place: Path, *options: str) -> tuple[str, str]:
    run(["release", *FILES, "--no-controls", "--attack", "ClosestDistanceMIA", *options])
    folder = place / "released-run"
    return (folder / "report.html").read_text(), (folder / "exposure.csv").read_text()


def test_the_nearest_released_record_stands_beside_the_exposed_one(place: Path) -> None:
    page, table = exposed_page(place)
    assert "Values of records are not shown" in page
    counts = json.loads((place / "released-run/question.json").read_text())["data"]["records"]
    assert (
        f"The attacker knows of {counts['known_members']} records that they were used, and of "
        f"{counts['known_non_members']} records not, and holds {counts['reference']} records that "
        f"were not used as the population; judged are {counts['judged_members']} records that were "
        f"used and {counts['judged_non_members']} that were not." in page
    )
    assert "of the records whether they were used" not in page
    shares = [counts["known_members"] / 240, counts["known_non_members"] / 100]
    assert shares == pytest.approx([1 / 3, 1 / 4], abs=0.03)  # of what known_share 0.5 takes
    used, others = (f"{100 * share:.1f}%" for share in shares)
    assert f"Known are {used} of the private records and {others} of the holdout, where" in page
    assert "known_share is 0.5: of the holdout half of that is the population" in page
    assert "Distribution of exposure" in page
    assert "value of" not in page + table
    first = next(csv.DictReader(io.StringIO(table)))
    assert first["rank"] == "1"
    # The release is a resample of the private table: its nearest record is a copy.
    assert first["agrees_on"] == "all columns"
    released = TabularDataset.read(place / "released.csv")
    private = TabularDataset.read(place / "private.csv", description=released.description)
    copy = released.take([int(first["released_row"])])
    assert copy.table.same_values(private.take([int(first["row"])]).table)


def test_with_a_reference_as_many_are_known_as_known_share_says(place: Path) -> None:
    page, _ = exposed_page(place, "--reference", "more.csv", "--known-share", "0.25")
    assert "The attacker knows of 60 records that they were used, and of 25 records not" in page
    assert "Known are" not in page


def test_check_says_who_is_known_of_a_release_and_why(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit_file(place)
    assert run(["check", "files.yaml"]) == 0
    asked: Any = load_audit(place / "files.yaml").asked()
    counts, said = asked["data"]["records"], capsys.readouterr().out
    total = counts["judged_members"] + counts["judged_non_members"]
    assert (
        f"Judged: {total} of 340 records, {counts['judged_members']} that were used and "
        f"{counts['judged_non_members']} that were not. The attacker learns from others "
        f"({counts['known_members']} that were used and {counts['known_non_members']} that were "
        f"not: known_share says how many)" in said
    )
    assert f"of the holdout, {counts['reference']} records, is the reference" in said
    audit_file(place, release={"file": "released.csv", "reference": "more.csv"})
    assert run(["check", "files.yaml"]) == 0
    assert "is the reference" not in capsys.readouterr().out


def test_exposed_records_go_by_their_own_names(place: Path) -> None:
    for name in ("private.csv", "holdout.csv"):
        frame = TabularDataset.read(place / name).data
        frame.insert(0, "person", [f"P{number}" for number in range(len(frame))])
        frame.to_csv(place / name, index=False)
    page, table = exposed_page(place, "--read", "index=person")
    first = next(csv.DictReader(io.StringIO(table)))
    assert first["id"] == f"P{first['row']}"
    assert first["id"] in page


def test_values_are_shown_where_that_is_allowed(place: Path) -> None:
    page, table = exposed_page(place, "--show-values")
    assert "treat this page like the private data" in page
    first = next(csv.DictReader(io.StringIO(table)))
    private = TabularDataset.read(place / "private.csv").data
    name = private.columns[0]
    assert first[f"value of {name}"] == str(private[name].iloc[int(first["row"])])


def test_results_are_told_apart_by_a_column(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    column = next(
        c for c in load_sample("clinic", 10).description.parsed if c.values and len(c.values) < 5
    )
    page, table = exposed_page(place, "--subgroup", column.name)
    assert f"by {column.name}:" in page
    assert f"by {column.name}" not in table.splitlines()[0]
    capsys.readouterr()
    assert run(["release", *FILES, "--subgroup", "colour"]) == 4
    assert "--subgroup: 'colour' are not columns" in error_line(capsys.readouterr())
