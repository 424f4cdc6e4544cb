"""Values of columns that no attack looks at are looked up in the release."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from tapas.audit import audit_from_values
from tapas.audit._left_out_columns import looked_up
from tapas.cli._main import run
from tapas.report import AuditPage
from tapas.report._page_advice import actions
from tapas.report._page_banner import verdict_words
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Findings,
    LeftOutColumn,
    decide,
    given_away,
    holds_together,
    read_history,
)

RNG = np.random.default_rng(0)
NAMES = np.array([f"Person {number}" for number in RNG.permutation(10_000)])


def _people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, ages = rng.choice(["f", "m"], rows), rng.integers(18, 90, rows)
    return pd.DataFrame({"age": ages, "sex": sex, "x": rng.normal(size=rows)})


def _write(place: Path, **tables: pd.DataFrame) -> list[str]:
    for name, table in tables.items():
        table.to_csv(place / f"{name}.csv", index=False)
    return [str(place / f"{name}.csv") for name in tables]


def _tables(released: np.ndarray) -> dict[str, pd.DataFrame]:
    """A release that is independent of the private table but for the names."""
    return {
        "private": _people(150, 1).assign(name=NAMES[:150]),
        "holdout": _people(100, 2).assign(name=NAMES[150:250]),
        "released": _people(len(released), 3).assign(name=released),
    }


@pytest.mark.parametrize(
    "options",
    [[], ["--drop", "name"], ["--read", "index=name"], ["--drop", "name", "--read", "index=name"]],
    ids=["free text", "dropped", "labels", "dropped labels"],
)
def test_names_that_no_attack_looks_at_are_told_beside_a_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    files = _write(tmp_path, **_tables(RNG.permutation(NAMES[:150])))
    folder, verdict, cases = tmp_path / "run", tmp_path / "verdict.json", tmp_path / "verdict.xml"
    written = ["--folder", str(folder), "--json", str(verdict), "--junit", str(cases)]
    written.append("--no-controls")
    asked = ["--attack", "ClosestDistanceMIA", "--max-auc", "0.95", *options]
    assert run(["release", *files, *written, *asked]) == 0
    count = "All 150 private values of “name” stand in the release, of 100 of the holdout none"
    words = (
        f"{count}: the column was left out of the attacks, and gives people away by itself. "
        "Take it out of the release, or draw its values anew."
    )
    out = capsys.readouterr().out
    assert out.startswith(f"Pass, with private values: The gate passed. {count}.")
    assert words in out
    said = json.loads(verdict.read_text())
    assert said["words"].startswith("Pass, with private values")
    assert words in said["cautions"]
    assert ElementTree.parse(cases).findtext("system-out") == f"{said['words']}\n{words}"
    assert not said["leaks"]
    (told,) = said["left_out_columns"]
    assert (told["name"], told["private_released"], told["beyond_chance"]) == ("name", 150, True)
    page = (folder / "report.html").read_text()
    assert words in page
    assert "Pass, with private values" in page
    (column,) = AuditRecord.load(folder).audited[0].left_out_columns
    assert column.p_value == pytest.approx(fisher_exact([[150, 0], [0, 100]], "greater").pvalue)
    assert verdict_words(read_history(folder)[-1]) == "pass; private values released"


def _record(place: Path, tables: dict[str, pd.DataFrame], **changes: Any) -> AuditRecord:
    _write(place, **tables)
    values = {
        "data": {"table": str(place / "private.csv"), "holdout": str(place / "holdout.csv")},
        "release": {"file": str(place / "released.csv")},
        "attacks": ["ClosestDistanceMIA"],
        "controls": False,
    }
    return audit_from_values({**values, **changes}, "here").run(n_jobs=1)


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_no_leak_shown_is_not_said_of_names_that_are_released(tmp_path: Path) -> None:
    record = _record(tmp_path, _tables(NAMES[:100]))
    first, *others = AuditPage(record).words
    assert first.startswith(
        "Not settled: 100 of 150 private values of “name” stand in the release, of 100 of the "
        "holdout none. No attack did reliably better than guessing."
    )
    assert sum("gives people away" in one for one in others) == 1
    together = holds_together(Findings(record), decide(record))
    assert any("has an error of 5% of its own" in one for one in together)


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_the_remedy_is_advised_of_audits_in_python_and_of_files(tmp_path: Path) -> None:
    record = _record(tmp_path, _tables(NAMES[:150]))
    of_files, of_python = (
        actions(Findings(one), []) for one in (record, replace(record, question={}))
    )
    words = "Take “name” out of the release, or draw its values anew, without the private table"
    assert of_files[0].words == f"{words}, save it as redrawn.csv, and audit that."
    assert [one.words for one in of_python] == [f"{words}."]
    assert not of_python[0].commands
    without = tuple(replace(one, left_out_columns=()) for one in record.subjects)
    assert not actions(Findings(replace(record, subjects=without)), [])


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_no_other_statement_pays_for_it(tmp_path: Path) -> None:
    record = _record(tmp_path, _tables(NAMES[:150]))
    bare = replace(
        record, subjects=tuple(replace(one, left_out_columns=()) for one in record.subjects)
    )
    found, without = Findings(record), Findings(bare)
    assert given_away(found)
    assert not given_away(without)
    assert (found.ways, found.leaks) == (without.ways, without.leaks)
    assert found.verdict_confidence == without.verdict_confidence
    assert record.audited[0].summaries[0].auc == bare.audited[0].summaries[0].auc


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_names_of_somebody_else_are_not_told(tmp_path: Path) -> None:
    record = _record(tmp_path, _tables(NAMES[300:450]))
    (column,) = record.audited[0].left_out_columns
    assert (column.private_released, column.others_released) == (0, 0)
    assert not given_away(Findings(record))
    assert AuditPage(record).words[0].startswith("No leak shown")


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_only_the_records_that_are_audited_are_looked_up(tmp_path: Path) -> None:
    tables = _tables(NAMES[:150])
    data = {"table": str(tmp_path / "private.csv"), "holdout": str(tmp_path / "holdout.csv")}
    few = _record(tmp_path, tables, data={**data, "rows": 80})
    (column,) = few.audited[0].left_out_columns
    assert (column.private, column.private_released) == (80, 80)
    out = [str(row) for row in range(20)]
    fewer = _record(tmp_path, tables, data={**data, "leave_out": out})
    (column,) = fewer.audited[0].left_out_columns
    assert (column.private, column.private_released) == (130, 130)
    assert "of 100 of the holdout none" in column.count


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_labels_of_the_records_that_are_audited_are_looked_up_too(tmp_path: Path) -> None:
    tables = {
        name: table.rename(columns={"name": "patient"})
        for name, table in _tables(NAMES[:150]).items()
    }
    data = {
        "table": str(tmp_path / "private.csv"),
        "holdout": str(tmp_path / "holdout.csv"),
        "read": {"index": "patient"},
    }
    fewer = _record(tmp_path, tables, data={**data, "leave_out": list(NAMES[:20])})
    (column,) = fewer.audited[0].left_out_columns
    assert (column.name, column.private, column.private_released) == ("patient", 130, 130)
    other = {"file": str(tmp_path / "released.csv"), "read": {"index": "number"}}
    tables["released"] = tables["released"].rename(columns={"patient": "number"})
    assert not _record(tmp_path, tables, data=data, release=other).audited[0].left_out_columns


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
@pytest.mark.parametrize("named", [False, True], ids=["without a name", "named"])
def test_labels_that_number_the_rows_are_about_nobody(tmp_path: Path, named: bool) -> None:
    tables = _tables(NAMES[300:450])
    starts = {"private": 0, "holdout": 150, "released": 0}
    for name, first in starts.items():
        tables[name] = tables[name].drop(columns="name")
        numbers = range(first, first + len(tables[name]))
        tables[name].insert(0, "number" if named else "", numbers)
    read = {"read": {"index": "number"}} if named else {}
    data = {"table": str(tmp_path / "private.csv"), "holdout": str(tmp_path / "holdout.csv")}
    record = _record(tmp_path, tables, data={**data, **read})
    assert record.audited[0].left_out_columns == ()
    assert AuditPage(record).words[0].startswith("No leak shown")


def _of(*columns: list[Any]) -> LeftOutColumn | None:
    private, holdout, released = (pd.DataFrame({"c": column}) for column in columns)
    found = looked_up(private, holdout, released, 0)
    return found[0] if found else None


def test_each_value_of_one_side_counts_once_and_missing_ones_do_not() -> None:
    private, holdout = ["a", "a", "b", "both", None, ""], ["c", "both", None, "d"]
    found = _of(private, holdout, ["a", "b", None, "both", "c"])
    assert found is not None
    assert (found.private, found.private_released) == (2, 2)
    assert (found.others, found.others_released) == (2, 1)
    assert found.count == (
        "All 2 private values of “c” stand in the release, of 2 of the holdout 1"
    )


def test_whole_numbers_are_the_same_with_a_point_and_texts_with_spaces() -> None:
    found = _of([71, 25, 33], ["44 ", "55", "66"], ["71.0", " 33", "44"])
    assert found is not None
    assert (found.private_released, found.others_released) == (2, 1)


@pytest.mark.parametrize("first", [0, 1, 500])
def test_numbers_of_the_released_rows_are_about_nobody(first: int) -> None:
    numbers = [str(first + row) for row in range(40)]
    assert _of(numbers, [str(number) for number in range(9000, 9040)], numbers) is None
    assert _of(numbers, [str(number) for number in range(9000, 9040)], numbers[::-1]) is not None


def test_a_column_that_a_file_lacks_or_both_sides_share_is_not_counted() -> None:
    one = pd.DataFrame({"c": ["a", "b"]})
    assert looked_up(one, one, pd.DataFrame({"d": ["a"]}), 0) == ()
    assert looked_up(one, one, one, 0) == ()


def test_the_look_up_holds_its_level_with_repeats_and_unequal_sides() -> None:
    """All three are drawn alike, from names of which some are common and most are rare."""
    chance = 1 / np.arange(5, 405)
    below = 0
    for seed in range(300):
        drawn = np.random.default_rng(seed).choice(NAMES[:400], 600, p=chance / chance.sum())
        private, holdout, released = (
            pd.DataFrame({"name": one}) for one in np.split(drawn, [300, 380])
        )
        found = looked_up(private, holdout, released, seed)
        below += bool(found) and found[0].p_value <= 0.05
    assert below <= 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)


def test_the_error_is_shared_between_columns() -> None:
    column = LeftOutColumn("name", 10, 10, 10, 5, 0.03)
    other = replace(column, name="other", p_value=0.5)

    def told(*columns: LeftOutColumn) -> int:
        subject = AuditedSubject("released", left_out_columns=columns)
        again = AuditedSubject.from_dict(json.loads(json.dumps(subject.to_dict())))
        assert again.left_out_columns == columns
        return len(given_away(Findings(AuditRecord("Audit", {}, "f" * 32, 0, (again,)))))

    assert told(column) == 1
    assert told(column, other) == 0
