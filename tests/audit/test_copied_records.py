"""Private records that stand in a release word for word, counted over all of them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit
from tapas.cli._main import run
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.generators import Raw
from tapas.report import AuditPage
from tapas.results import (
    AuditRecord,
    Copies,
    Findings,
    Gate,
    compare_records,
    decide,
    holds_together,
)
from tapas.stats import excess_p_value, least_excess
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ObservedAIA,
    ObservedMIA,
    TargetedMIA,
)
from tapas.threat_models._row_keys import cell_names, find_rows

COLUMNS = [{"name": name, "type": "real"} for name in "abcdef"]
CHOICES = [{"name": name, "type": "finite", "representation": list("xyz")} for name in "uvwst"]


def _table(rows: int, seed: int, columns: list[dict] = COLUMNS) -> TabularDataset:
    rng = np.random.default_rng(seed)
    cells = {
        one["name"]: rng.normal(size=rows).round(3)
        if one["type"] == "real"
        else rng.choice(one["representation"], rows)
        for one in columns
    }
    return TabularDataset(pd.DataFrame(cells), DataDescription(columns))


def _release(copied: np.ndarray, private: TabularDataset, seed: int = 9) -> TabularDataset:
    """Records of the same population, and some private ones."""
    fresh = _table(len(private) - len(copied), seed, list(private.description.schema))
    return fresh.concat(private.take(copied)) if len(copied) else fresh


def _audited(
    release: TabularDataset, private: TabularDataset, holdout: TabularDataset
) -> AuditRecord:
    return Audit(ObservedMIA(release, private, holdout, seed=1)).run(n_jobs=1)


def test_all_private_records_are_counted_known_ones_too() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    game = ObservedMIA(_release(np.arange(30), private), private, holdout, seed=1)
    found = game.copies()
    judged = set(game.judged_records().query("source == 'members'")["row"])
    assert set(range(30)) - judged, "some of the copies are known to the attacker"
    assert (found.members, found.members_copied) == (125, 30)
    assert (found.non_members, found.non_members_copied) == (125, 0)
    assert found.rows == tuple(range(30))
    assert found.released_rows == tuple(range(95, 125))
    assert found.p_value == pytest.approx(fisher_exact([[30, 95], [0, 125]], "greater").pvalue)


def test_copies_among_the_known_alone_are_a_leak() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    judged = ObservedMIA(private, private, holdout, seed=1).judged_records()
    known = np.setdiff1d(np.arange(125), judged.query("source == 'members'")["row"])[:12]
    record = _audited(_release(known, private), private, holdout)
    words = " ".join(AuditPage(record).words)
    assert Findings(record).leaks
    assert words.startswith("Leak found: 12 of 125 private records stand in the release word for")
    assert "No leak shown" not in words


def test_one_copy_is_no_proof_and_is_not_passed_over() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    record = _audited(_release(np.array([7]), private), private, holdout)
    words = AuditPage(record).words
    assert not Findings(record).leaks
    fact = "1 of 125 private records stands in the release word for word; 0 of 125 holdout"
    assert words[0].startswith(f"Not settled: {fact}")
    assert any(one.startswith(fact) and "may be equal by chance" in one for one in words[1:])


@pytest.mark.filterwarnings("ignore::tapas.errors.TargetInDataWarning")
def test_records_that_are_equal_by_chance_are_no_leak() -> None:
    private, holdout = _table(120, 0, CHOICES), _table(120, 1, CHOICES)
    record = _audited(_table(120, 2, CHOICES), private, holdout)
    (copies,) = (subject.copies for subject in record.audited)
    assert copies is not None
    assert copies.members_copied > 30 < copies.non_members_copied
    words = " ".join(AuditPage(record).words)
    assert "No leak shown" in words
    assert "so many may be equal by chance" in words


@pytest.mark.filterwarnings("ignore::tapas.errors.TargetInDataWarning")
def test_the_test_of_copies_holds_its_level_with_repeats_and_unequal_sides() -> None:
    """What is released is drawn like both sides; 243 kinds of records: many repeats."""
    whole = _table(4000, 3, CHOICES)
    below = np.zeros(2)
    for seed in range(300):
        order = np.random.default_rng(seed).permutation(4000)
        release, private, holdout = (
            whole.take(part) for part in (order[:100], order[100:400], order[400:480])
        )
        game = ObservedMIA(release, private, holdout, seed=seed)
        found = game.copies()
        below += np.array([found.p_value, found.near_p_value]) <= 0.05
    assert (below <= 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)).all()


@pytest.mark.parametrize(("limit", "state"), [(29, "fail"), (30, "pass")])
def test_a_gate_limits_how_many_are_copied(limit: int, state: str) -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    record = _audited(_release(np.arange(30), private), private, holdout)
    outcome = decide(record, [Gate("copied_records", limit)])
    assert outcome.state == state
    assert "30 of 125 private records" in outcome.outcomes[0].words


def test_a_gate_on_copies_decides_nothing_where_there_are_no_files() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    record = _audited(_release(np.arange(30), private), private, holdout)
    bare = replace(record, subjects=tuple(replace(one, copies=None) for one in record.subjects))
    assert decide(bare, [Gate("copied_records", 0)]).state == "inconclusive"


def test_copies_reach_record_page_files_and_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    release = _release(np.arange(30), private)
    for name, table in (("private", private), ("holdout", holdout), ("released", release)):
        table.data.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / f"{name}.csv") for name in ("private", "holdout", "released")]
    folder, verdict = tmp_path / "run", tmp_path / "verdict.json"
    options = [
        "--folder",
        str(folder),
        "--json",
        str(verdict),
        "--max-copies",
        "0",
        "--no-controls",
    ]
    assert run(["release", *files, *options]) == 1
    words = "30 of 125 private records stand in the release word for word"
    assert words in capsys.readouterr().out
    said = json.loads(verdict.read_text())["copies"]
    assert said[0]["members_copied"] == 30
    assert said[0]["non_members_copied"] == 0
    assert said[0]["beyond_chance"] is True
    listed = pd.read_csv(folder / "copies.csv")
    assert listed["row"].tolist() == list(range(30))
    released, own = release.data.iloc[listed["released_row"]], private.data.iloc[listed["row"]]
    assert np.array_equal(released.to_numpy(), own.to_numpy())
    page = (folder / "report.html").read_text()
    assert "copies.csv" in page
    assert "Copied word for word" in page
    assert (
        AuditRecord.load(folder).audited[0].copies
        == _audited(release, private, holdout).audited[0].copies
    )


def test_equal_records_are_said_to_be_so_in_the_columns_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no attack can compare, and what --drop names, is not compared here either."""
    private, holdout = _table(125, 0), _table(125, 1)
    release = _release(np.arange(30), private)
    for number, (name, table) in enumerate(
        (("private", private), ("holdout", holdout), ("released", release))
    ):
        texts = [f"person {125 * number + row}" for row in range(len(table))]
        table.data.assign(name=texts).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / f"{name}.csv") for name in ("private", "holdout", "released")]
    options = ["--folder", str(tmp_path / "run"), "--no-controls", "--drop", "f"]
    assert run(["release", *files, *options, "--max-copies", "0"]) == 1
    within = "in the 5 columns compared"
    words = f"30 of 125 private records stand in the release word for word {within}"
    said = capsys.readouterr().out
    assert said.count(words) == said.count("private records stand") == 3  # page, sentence, gate
    record = AuditRecord.load(tmp_path / "run")
    assert words in decide(record).outcomes[0].words
    page = (tmp_path / "run" / "report.html").read_text()
    assert f"holdout: 0 of 125; {within}" in page
    assert page.count("private records stand in the release") == page.count(words)


@pytest.mark.parametrize(
    ("copies", "words"),
    [
        (Copies(10, 0, 12, 0, 1.0), "in the release word for word in the 3 columns compared."),
        (
            Copies(9, 0, 9, 0, 1.0, 4),
            "4 of 9 private records stand in the release but for one of the 3 columns compared; ",
        ),
    ],
)
def test_every_count_of_copies_names_the_columns_compared(copies: Copies, words: str) -> None:
    assert words in copies.words(beyond_chance=False, columns="the 3 columns compared")


def test_fisher_is_what_the_p_value_is() -> None:
    for table in ([3, 10, 1, 12], [0, 5, 0, 9], [5, 0, 0, 5], [40, 60, 30, 70]):
        (a, b), (c, d) = table[:2], table[2:]
        known = fisher_exact([[a, b], [c, d]], alternative="greater").pvalue
        assert excess_p_value(a, a + b, c, c + d) == pytest.approx(known)


def test_copies_say_no_more_than_they_know() -> None:
    assert Copies(10, 0, 12, 0, 1.0).words(beyond_chance=False) == (
        "No private record stands in the release word for word."
    )


@pytest.mark.filterwarnings("ignore::tapas.errors.TargetInDataWarning")
def test_a_limit_on_copies_is_for_files_of_any_goal() -> None:
    private, holdout = _table(60, 0, CHOICES), _table(60, 1, CHOICES)
    gates = [Gate("copied_records", 0)]
    model = ObservedAIA(_table(60, 2, CHOICES), private, holdout, "u", seed=1)
    assert Audit(model, gates=gates).check().problems == ()
    data = load_sample("clinic", 40)
    knowledge = AuxiliaryDataKnowledge(data, auxiliary_split=0.5, num_training_records=10)
    generator = TargetedMIA(
        knowledge, data.get_records([0]), BlackBoxKnowledge(Raw(), num_synthetic_records=10)
    )
    problems = Audit(generator, [ClosestDistanceMIA()], 2, 2, gates=gates).check().problems
    assert any("copied_records is for released files" in problem for problem in problems)


def _changed(private: TabularDataset, rows: range, seed: int = 5) -> TabularDataset:
    """Private records with another value in one column."""
    frame = private.data.iloc[list(rows)].copy()
    frame["c"] = np.random.default_rng(seed).normal(size=len(frame))
    return TabularDataset(frame, private.description)


def test_near_copies_are_a_leak_that_removing_whole_ones_does_not_hide() -> None:
    private, holdout = _table(200, 0), _table(150, 1)
    near = _changed(private, range(25, 40))
    whole = _release(np.arange(25), private).concat(near)
    before, after = (
        _audited(one, private, holdout) for one in (whole, near.concat(_table(150, 9)))
    )
    first, later = (AuditPage(one).words for one in (before, after))
    count = "25 of 200 private records stand in the release word for word, and 15 more but for one"
    assert first[0].startswith(f"Leak found: {count} column")
    assert later[0].startswith("Leak found: 15 of 200 private records stand in the release but for")
    (found,) = (one.copies for one in after.audited)
    assert found is not None
    assert [(row, column) for row, _, column, _ in found.listed] == [
        (row, "c") for row in range(25, 40)
    ]
    (change,) = (one for one in compare_records([before, after]).changes if one.kind == "copies")
    assert (change.before.value, change.after.value) == (0.2, 0.075)
    assert change.state == "better"
    assert "20% before, 7.5% after (better)" in compare_records([before, after]).words[0]


@pytest.mark.filterwarnings("ignore::tapas.errors.TargetInDataWarning")
def test_rows_are_found_as_by_looking_at_every_pair() -> None:
    private, release = _table(60, 1, CHOICES), _table(50, 2, CHOICES)
    (found,) = find_rows(release, private)
    differences = (private.data.to_numpy()[:, None] != release.data.to_numpy()[None]).sum(axis=2)
    assert found.exact.tolist() == (differences.min(axis=1) == 0).tolist()
    assert found.nearly.tolist() == (differences.min(axis=1) <= 1).tolist()
    assert 0 < found.exact.sum() < found.nearly.sum()
    names = cell_names(release)
    for row in np.flatnonzero(found.nearly & ~found.exact):
        mine, theirs = private.data.iloc[row], release.data.iloc[found.rows[row]]
        assert [name for name in names if mine[name] != theirs[name]] == [names[found.differs[row]]]


def test_another_limit_does_not_let_copies_pass() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    record = _audited(_release(np.arange(9), private), private, holdout)
    gated = replace(record, gates=(Gate("auc", 0.99),))
    verdict = decide(gated)
    assert [one.state for one in verdict.outcomes] == ["pass", "fail"]
    assert verdict.exit_code == 1
    assert "--max-copies" in verdict.outcomes[1].words
    assert AuditPage(gated).words[0].startswith("Fail: 1 of 2 gates failed: Copied records above 0")
    allowed = decide(record, [Gate("auc", 0.99), Gate("copied_records", 9)])
    assert (allowed.state, len(allowed.outcomes)) == ("pass", 2)
    assert decide(record, ()).state == "none"


def test_a_limit_that_is_undecided_does_not_hide_a_copy() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    record = _audited(_release(np.array([7]), private), private, holdout)
    words = AuditPage(replace(record, gates=(Gate("auc", 0.55),))).words[0]
    assert words.startswith("Inconclusive, with copies: ")
    assert "1 of 125 private records stands in the release word for word" in words


def test_a_limit_on_copies_counts_near_ones_beyond_chance() -> None:
    private, holdout = _table(200, 0), _table(150, 1)
    near = _changed(private, range(25, 40))
    record = _audited(near.concat(_table(150, 9)), private, holdout)
    (copies,) = (one.copies for one in record.audited)
    assert copies is not None
    assert (copies.near_counts, copies.most(0.95)) == ((15, 200, 0, 150), 15)
    least = least_excess(15, 200, 0, 150, confidence=0.95)
    assert 8 < least < 13
    states = {
        limit: decide(record, [Gate("copied_records", limit)]).state
        for limit in (least - 1, least, 14, 15)
    }
    assert list(states.values()) == ["fail", "inconclusive", "inconclusive", "pass"]
    (open_still,) = decide(record, [Gate("copied_records", 14)]).outcomes
    counted = f"at least {least} of them count, word for word or near beyond chance"
    assert f"{counted}, and no more than 15: limit 14" in open_still.words


def test_near_ones_that_the_holdout_has_too_are_not_counted() -> None:
    copies = Copies(200, 25, 200, 0, 1e-9, 30, 31, 1e-4, (30, 175, 31, 200))
    assert (copies.least(0.95), copies.most(0.95)) == (25, 25)
    unsaid = replace(copies, near_counts=())
    assert (unsaid.least(0.95), unsaid.most(0.95)) == (25, 55)


def test_the_least_excess_is_what_fishers_test_does_not_refuse() -> None:
    assert least_excess(0, 5, 3, 5) == least_excess(3, 5, 3, 5) == 0
    for counts in ((15, 200, 0, 150), (40, 100, 12, 90), (9, 9, 0, 7)):
        k, n, *others = counts
        least = least_excess(*counts, confidence=0.9)
        assert 0 < least < k
        assert excess_p_value(k - least, n - least, *others) > 0.1
        assert excess_p_value(k - least + 1, n - least + 1, *others) <= 0.1


@pytest.mark.parametrize("copied", [0, 3, 20])
def test_the_least_excess_is_too_large_as_rarely_as_stated(copied: int) -> None:
    """Of 60 private records, that many are copied; the rest are equal by chance like others."""
    rng, wrong = np.random.default_rng(copied), 0
    for _ in range(2000):
        by_chance = rng.permutation(100 - copied) < 15
        own = int(by_chance[: 60 - copied].sum())
        wrong += least_excess(copied + own, 60, 15 - own, 40) > copied
    assert wrong <= 2000 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000))


def test_the_test_of_copies_is_one_way_among_others_and_pays_for_earlier_looks() -> None:
    private, holdout = _table(125, 0), _table(125, 1)
    record = _audited(_release(np.arange(9), private), private, holdout)
    (subject,) = record.audited
    assert Findings(record).copied == [subject]

    def seen(p_value: float, share: float) -> Findings:
        assert subject.copies is not None
        copies = replace(subject.copies, p_value=p_value, near_p_value=1.0)
        summaries = tuple(one.sharing(share) for one in subject.summaries)
        changed = replace(subject, copies=copies, summaries=summaries)
        return Findings(replace(record, subjects=(changed,)))

    ways = seen(1.0, 1.0).ways
    assert ways == 1 + any(one.own.surest for one in Findings(record).audited) + 1
    assert seen(0.0499 / (2 * ways), 1.0).copied
    assert not seen(0.0501 / (2 * ways), 1.0).copied
    assert not seen(0.0499 / (2 * ways), 0.1).copied
    assert seen(0.00499 / (2 * ways), 0.1).copied
    assert any("the test of copies" in said for said in _together(seen(1.0, 1.0)))
    open_still = seen(0.0499 / 2, 1.0)
    assert (open_still.nearly, open_still.leaks) == ("copies", False)

    words = AuditPage(open_still.record).words[0]
    assert words.startswith("Not settled: 9 of 125 private records stand in the release")
    assert subject.copies is not None
    beside = replace(subject.copies, non_members_copied=3, p_value=0.04, near_p_value=1.0)
    chance = replace(record, subjects=(replace(subject, copies=beside),))
    assert AuditPage(chance).words[0].startswith("No leak shown: No attack did")


def _together(findings: Findings) -> list[str]:
    return holds_together(findings, decide(findings.record))


def test_near_ones_are_named_only_where_chance_makes_hardly_any() -> None:
    rows = {
        "rows": (4, 9),
        "released_rows": (1, 0),
        "differs_in": ("", "age"),
        "labels": ("d", "i"),
    }
    sure = Copies(700, 1, 700, 0, 0.5, 48, 2, 1e-9, **rows)
    assert [one[3] for one in sure.listed] == ["d", "i"]
    assert sure.words(beyond_chance=True) == (
        "1 of 700 private records stands in the release word for word, and 48 more but for one "
        "column; of 700 holdout records 0 and 2 do. So many are more than chance explains. They "
        "are d, i; copies.csv lists them."
    )
    unsure = Copies(700, 1, 700, 0, 0.5, 48, 27, 1e-2, **rows)
    assert [one[3] for one in unsure.listed] == ["d"]
    assert "Which of those but for one column are copies and which are chance is unsure" in (
        unsure.words(beyond_chance=False)
    )


def test_a_release_is_written_without_its_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a file of another dialect, with a column that is left out, and copies that repeat."""
    private, holdout = _table(125, 0), _table(125, 1)
    release = _release(np.arange(12), private).concat(private.take([3]))
    for name, table in (("private", private), ("holdout", holdout), ("released", release)):
        frame = table.data.assign(note=[f"n{k % 7}" for k in range(len(table))])
        frame.to_csv(tmp_path / f"{name}.csv", index=False, sep=";", decimal=",")
    monkeypatch.chdir(tmp_path)
    files = ["private.csv", "holdout.csv", "released.csv"]
    options = ["--drop", "note", "--read", "decimal=,", "--no-controls", "--max-copies", "0"]
    assert run(["release", *files, *options]) == 1
    page = (tmp_path / "released-run" / "report.html").read_text()
    assert "--without-copies fewer.csv" in page
    assert run(["release", *files, *options, "--without-copies", "fewer.csv"]) == 0
    assert "113 rows of released.csv; 13 that equal private records" in capsys.readouterr().out
    left = pd.read_csv("fewer.csv")
    expected = release.data.iloc[:113].reset_index(drop=True)
    assert np.allclose(left[list("abcdef")], expected.to_numpy(dtype=float))
    assert left["note"].tolist() == [f"n{k % 7}" for k in range(113)]
    assert run(["release", *files, *options, "--without-copies", "released.csv"]) == 4
