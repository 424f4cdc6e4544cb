"""The map of every record: what it measures, where it stands, and what it is used for."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import norm

from tapas.attacks import ClosestDistanceAIA, ClosestDistanceMIA, SubsetAttack
from tapas.attacks.features._every_record import EveryRecord
from tapas.attacks.features._subset_counts import count_subsets, plan_subsets
from tapas.audit import Audit, audit_from_values
from tapas.cli._main import run
from tapas.cli._outputs import verdict_values
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import ConfigError
from tapas.game import MEMBERSHIP, Ledger, Release, TableBriefing
from tapas.generators import Bootstrap, Generator, IndependentMarginals
from tapas.report import AuditPage
from tapas.results import (
    MOST_RECORDS,
    AuditRecord,
    ExposureMap,
    Findings,
    decide,
    holds_together,
)
from tapas.stats import auc_interval, column_auc_errors
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)
from tapas.threat_models._row_keys import rows_within


@pytest.mark.parametrize("sample", ["census", "clinic"])
def test_scores_of_every_record_are_weighted_logs_of_its_counts(sample: Any) -> None:
    data = load_sample(sample, 130)
    released, records = data.take(range(70)), data.take(range(60, 130))
    plan = plan_subsets(records, None, 10_000, 2)
    counts = count_subsets(released, TableBriefing(MEMBERSHIP, records), plan)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=counts.shape[1])
    judge = EveryRecord(records, weights, 10_000)
    found = judge(Release(released), TableBriefing(MEMBERSHIP, records.take([0])), rng=rng)
    np.testing.assert_allclose(found, [np.log(counts + 0.5) @ weights], rtol=1e-5, atol=1e-4)
    assert 0 < judge.work <= counts.size


def test_errors_of_areas_are_delongs_where_trials_are_independent() -> None:
    rng = np.random.default_rng(1)
    positive = np.repeat(rng.permutation(np.arange(300) < 100)[:, None], 30, axis=1)
    scores = rng.normal(size=(300, 30)) + 0.5 * positive
    errors = column_auc_errors(scores, positive, np.arange(300))
    ends = [auc_interval(s[p], s[~p]) for s, p in zip(scores.T, positive.T, strict=True)]
    widths = [(end.high - end.low) / 2 / 1.96 for end in ends]
    np.testing.assert_allclose(np.mean(errors), np.mean(widths), rtol=0.03)


def test_errors_of_areas_know_that_pairs_share_their_background() -> None:
    rng = np.random.default_rng(2)
    groups = np.arange(80) // 2
    inside = rng.permuted(np.tile(np.arange(40) < 10, (3000, 1)), axis=1).T[groups]
    shared = rng.normal(size=(40, 3000))[groups] + 0.3 * rng.normal(size=(80, 3000))
    scores = shared + 0.6 * inside
    errors = column_auc_errors(scores, inside, groups)
    alone = column_auc_errors(scores, inside, np.arange(80))
    areas = ExposureMap.measured(range(3000), scores, inside, groups).table["auc"]
    assert np.sqrt((errors**2).mean()) == pytest.approx(areas.std(), rel=0.1)
    assert alone.mean() < 0.8 * errors.mean()


def test_what_is_expected_of_records_is_what_further_trials_show() -> None:
    rng = np.random.default_rng(3)
    shift = rng.normal(0.5, 0.4, size=4000)
    inside = rng.random((2, 150, 4000)) < 0.3
    scores = rng.normal(size=(2, 150, 4000)) + shift * inside
    first, again = (
        ExposureMap.measured(range(4000), s, m, np.arange(150))
        for s, m in zip(scores, inside, strict=True)
    )
    top = first.ranked.head(200)
    later = again.table.set_index("record").loc[top["record"], "auc"]
    assert top["expected"].mean() == pytest.approx(later.mean(), abs=0.015)
    assert top["auc"].mean() > later.mean() + 0.03
    assert first.ranked["record"].nunique() == 4000


def test_records_that_are_ranked_last_are_exposed_as_much() -> None:
    rng = np.random.default_rng(5)
    inside = rng.random((100, 60)) < 0.5
    scores = rng.normal(size=(100, 60))
    scores[:, 7] -= 3 * inside[:, 7]
    scores[:, 9] += 2 * inside[:, 9]
    found = ExposureMap.measured(range(60), scores, inside, np.arange(100))
    assert found.ranked["record"].tolist()[:2] == ["7", "9"]
    assert found.ranked["auc"][0] < 0.1
    assert found.exposed() == ["7", "9"]
    assert "or as far below 0.5" in found.words("G")
    of_targets = ExposureMap.measured(range(60), scores, inside, np.arange(100), is_target=True)
    assert of_targets.exposed() == []
    content = found.to_dict()
    assert ExposureMap.from_dict(content).exposed() == ["7", "9"]
    del content["columns"]["p_value"]  # as maps were stored before
    assert ExposureMap.from_dict(content).ranked.equals(found.ranked)
    assert ExposureMap.from_dict(content).exposed() == []


def test_a_map_of_equal_scores_says_so() -> None:
    inside = np.random.default_rng(0).random((40, 30)) < 0.5
    found = ExposureMap.measured(range(30), np.zeros((40, 30)), inside, np.arange(40))
    assert found.exposed() == []
    assert "one in ten is expected above 0.50" in found.words("G")


@pytest.mark.parametrize("kind", ["normal", "rare", "pairs"])
def test_somebody_is_told_for_certain_on_few_maps_that_tell_nothing(kind: str) -> None:
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        groups = np.arange(120) // (2 if kind == "pairs" else 1)
        inside = (rng.random((120, 300)) < 0.15)[groups]
        scores = rng.normal(size=(120, 300))
        scores += 2 * rng.normal(size=(120, 300))[groups] * (kind == "pairs")
        scores = (scores > 1).astype(float) if kind == "rare" else scores
        told += bool(ExposureMap.measured(range(300), scores, inside, groups).exposed())
    assert told <= 60 * 0.05 + 2 * np.sqrt(60 * 0.05 * 0.95)


class CopiesSome(Generator):
    """Releases what nobody has, and word for word those of the first people who are in."""

    def fit(self, dataset: TabularDataset, **kwargs: object) -> None:
        self.given = dataset.data.reset_index(drop=True)

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        rng = np.random.default_rng(random_state)
        fresh = incomes(num_samples, rng)
        copied = self.given[self.given["income"].isin(PEOPLE["income"][:15])]
        return pd.concat([copied, fresh[len(copied) :]], ignore_index=True)


def incomes(number: int, rng: np.random.Generator) -> pd.DataFrame:
    sexes = rng.choice(["F", "M"], number)
    income = rng.uniform(-2, 2, number).round(6)
    return pd.DataFrame({"age": rng.integers(20, 80, number), "sex": sexes, "income": income})


PEOPLE = incomes(300, np.random.default_rng(0))


def test_people_who_were_no_targets_and_are_told_for_certain_are_a_leak(tmp_path: Path) -> None:
    """The targets do not leak, so that no attack that judges them alone shows anything."""
    table, targets = TabularDataset.from_dataframe(PEOPLE), list(range(200, 230))
    knowledge = AuxiliaryDataKnowledge(table.drop_records(targets), num_training_records=60, seed=2)
    box = BlackBoxKnowledge(CopiesSome(), 60)
    model = TargetedMIA(knowledge, table.take(targets), box, seed=2, n_jobs=1)
    record = Audit(model, [ClosestDistanceMIA()], 80, 80, exposure_map=True).run(n_jobs=1)
    findings, page = Findings(record), AuditPage(record)
    assert not findings.shown_by_scores
    assert findings.leaks
    ((_, told),) = findings.shown_on_maps.items()
    assert set(told) <= {str(row) for row in range(15)}
    assert len(told) > 4
    assert page.words[0].startswith("Leak found")
    assert "told apart for certain" in page.html()
    (ways,) = (one for one in holds_together(findings, decide(record)) if "share the error" in one)
    assert ways.count(" or by ") == findings.ways - 1
    assert "the exposure map" in ways
    shown = json.loads(json.dumps(verdict_values(record, decide(record))))
    assert list(shown["exposure_map_told"].values()) == [told]
    assert AuditRecord.from_json(record.to_json()).subjects[0].exposure.exposed(0.99)


COLUMNS = list(load_sample("census", 1).description.columns)[:8]
CENSUS = load_sample("census", 500).view(columns=COLUMNS)
DIFFERENT = np.flatnonzero(~CENSUS.data.duplicated(keep=False)).tolist()


def audited(
    generator: Any, box: Any = BlackBoxKnowledge, folder: Path | None = None, **changes: Any
) -> AuditRecord:
    table = CENSUS
    targets = DIFFERENT[:20]
    knowledge = AuxiliaryDataKnowledge(table.drop_records(targets), num_training_records=60, seed=1)
    model = TargetedMIA(knowledge, table.take(targets), box(generator, 60), seed=1, n_jobs=1)
    return Audit(model, [SubsetAttack(order=1)], 40, 40, **changes).run(folder, n_jobs=1)


@pytest.fixture(scope="module")
def copied() -> AuditRecord:
    return audited(Bootstrap())


@pytest.fixture(scope="module")
def published(copied: AuditRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "first-run"
    about = {"audit_file": "my/people.yaml", "folder": "my/first-run"}
    AuditPage(replace(copied, provenance=about)).publish(folder)
    return folder


def test_records_of_a_copying_generator_are_exposed_and_others_are_not(
    copied: AuditRecord,
) -> None:
    leaking, safe = (one.subjects[0].exposure for one in (copied, audited(IndependentMarginals())))
    assert leaking is not None
    assert safe is not None
    assert leaking.total == len(leaking) == 500
    assert leaking.table["is_target"].sum() == 20
    assert leaking.mean > 0.7
    assert safe.mean < leaking.mean - 0.1
    areas = leaking.table.groupby("is_target")["auc"].mean()
    assert areas[True] == pytest.approx(areas[False], abs=0.1)


def test_nobody_is_exposed_where_releases_are_of_nobody() -> None:
    class Elsewhere(IndependentMarginals):
        """Releases what has nothing to do with the private data."""

        def __call__(self, dataset: Any, num_samples: Any = None, **given: Any) -> Any:
            return super().__call__(CENSUS.take(range(90)), 60, **given)

    found = audited(Elsewhere()).subjects[0].exposure
    assert found is not None
    assert found.mean == pytest.approx(0.5, abs=0.03)
    assert (found.ranked["low"] > 0.5).mean() < 0.06


def test_the_map_stands_on_the_page_in_the_csv_and_in_the_record(
    copied: AuditRecord, published: Path
) -> None:
    again = AuditRecord.from_json(copied.to_json())
    mine, theirs = (one.subjects[0].exposure for one in (copied, again))
    assert mine is not None
    assert theirs is not None
    pd.testing.assert_frame_equal(mine.ranked, theirs.ranked)
    page = AuditPage(again)
    assert any("Every record (500)" in sentence for sentence in page.words)
    assert "How exposed every record is" in (published / "report.html").read_text()
    table = pd.read_csv(published / "exposure-map.csv")
    assert list(table.columns[:6]) == ["subject", "record", "expected", "auc", "low", "high"]
    assert table["expected"].is_monotonic_decreasing
    ranked = mine.ranked.head(MOST_RECORDS)
    listed = re.search(r'id="map".*?<tbody>(.*?)</tbody>', page.html(), re.DOTALL)
    assert listed is not None
    rows = [
        re.findall(r'<span class="v">(.*?)</span>', row) for row in listed[1].split("</tr>")[:-1]
    ]
    assert [row[0] for row in rows] == ranked["record"].tolist()
    assert [row[-1] == "yes" for row in rows] == ranked["is_target"].tolist()
    told = verdict_values(again, decide(again))["exposure_map"][again.subjects[0].name]
    assert [row["record"] for row in told] == [row[0] for row in rows]


@pytest.mark.parametrize(("asked", "told"), [(None, ""), (False, ""), (True, "ask for membership")])
def test_other_goals_have_no_map_and_say_so_only_where_one_was_asked(
    asked: bool | None, told: str
) -> None:
    known = AuxiliaryDataKnowledge(CENSUS.drop_records([0]), num_training_records=60, seed=1)
    model = TargetedAIA(
        known,
        CENSUS.take([0]),
        "Sex",
        ["female", "male"],
        BlackBoxKnowledge(Bootstrap(), 60),
        seed=1,
    )
    audit = Audit(model, [ClosestDistanceAIA()], 4, 4, exposure_map=asked)
    record = audit.run(n_jobs=1)
    assert told in record.subjects[0].unmapped
    assert bool(record.subjects[0].unmapped) == bool(told)
    assert any("no exposure map" in words for words in AuditPage(record).words) == bool(told)


def test_who_stands_high_on_the_map_and_was_no_target_is_named(copied: AuditRecord) -> None:
    about = {"audit_file": "my/audit.yaml"}
    question = {**copied.question, "generator": [{"use": "Bootstrap"}], "data": {}}
    record = replace(copied, provenance=about, question=question)
    found = record.subjects[0].exposure
    assert found is not None
    html = unescape(AuditPage(record).html())
    others = found.ranked.head(MOST_RECORDS).query("not is_target")["record"].tolist()[:5]
    assert f"no targets and stand high on the map ({', '.join(others)})" in html
    assert "--set 'data.targets={exposed: 50, map: audit-run/exposure-map.csv}'" in html
    assert "--set seed=1 " in html
    assert "data.rows" not in html
    assert "Leave the most exposed of the 20 targets out" in html
    # The seed draws the rows as well, of which others would not be on the map.
    drawn = {**question, "seed": 7, "data": {"table": "people.csv", "rows": 500}}
    html = unescape(AuditPage(replace(record, question=drawn)).html())
    assert "--set seed=8 --set data.rows=null" in html


def test_a_map_that_is_not_there_says_why_and_what_to_do() -> None:
    for changes, words in (
        ({"exposure_map": False}, "it was not wanted"),
        (
            {"keep_data": False},
            "the releases of 80 of 80 trials were not kept: `exposure_map",
        ),
    ):
        record = audited(Bootstrap(), **changes)
        (subject,) = AuditRecord.from_json(record.to_json()).subjects
        assert subject.exposure is None
        assert words in subject.unmapped
        said = f"There is no exposure map of {subject.name}: {subject.unmapped}."
        page = AuditPage(record)
        assert said in page.words
        assert said in unescape(page.html())
        told = verdict_values(record, decide(record))
        assert told["exposure_map_missing"] == {subject.name: subject.unmapped}
        assert told["exposure_map"] == told["exposure_map_covers"] == {}


def test_a_map_of_releases_that_were_not_kept_is_that_of_releases_that_were(
    copied: AuditRecord,
) -> None:
    again = audited(Bootstrap(), keep_data=False, exposure_map=True)
    mine, theirs = (one.subjects[0].exposure for one in (copied, again))
    assert mine is not None
    assert theirs is not None
    pd.testing.assert_frame_equal(mine.table, theirs.table)
    assert again.subjects[0].trials == copied.subjects[0].trials
    assert "in 80 releases, 80 of them made again" in theirs.words("it")
    assert "in 80 releases:" in mine.words("it")
    told = verdict_values(again, decide(again))
    covered = {"records": 500, "of": 500, "releases": 80, "played_again": 80}
    assert told["exposure_map_covers"] == {again.subjects[0].name: covered}
    assert ExposureMap.from_dict(theirs.to_dict()).covers == covered


def test_few_releases_that_were_not_kept_are_made_again_unasked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Ledger.has_data
    monkeypatch.setattr(Ledger, "has_data", lambda *asked: asked[2] % 10 > 0 and kept(*asked))
    found = audited(Bootstrap()).subjects[0].exposure
    assert found is not None
    assert found.covers["played_again"] == 8


def test_releases_that_memory_did_not_hold_are_made_again_for_a_map_that_is_asked_for(
    copied: AuditRecord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held: list[Ledger] = []
    begin = Ledger.__init__
    monkeypatch.setattr(Ledger, "__init__", lambda self: (begin(self), held.append(self))[0])
    monkeypatch.setattr("tapas.game._playing.MOST_HELD", 20_000)
    unasked, asked = (audited(Bootstrap(), exposure_map=ask).subjects[0] for ask in (None, True))
    assert sum(ledger.held > 10_000 for ledger in held) == 2, "what is made again is not held"
    assert unasked.exposure is None
    assert re.fullmatch(
        "the releases of [67]. of 80 trials were not kept: `exposure_map=True` plays these again, "
        "`keep_data=True` keeps any number of releases in a run folder",
        unasked.unmapped,
    )
    mine, theirs = copied.subjects[0].exposure, asked.exposure
    assert mine is not None
    assert theirs is not None
    pd.testing.assert_frame_equal(theirs.table, mine.table)
    assert 60 <= theirs.covers["played_again"] < 80
    stored = audited(Bootstrap(), folder=tmp_path / "run", keep_data=True).subjects[0].exposure
    assert stored is not None
    assert stored.covers["played_again"] == 0, "what is told helps"


def test_trials_that_fail_when_they_are_played_again_are_no_failures_of_the_run() -> None:
    class Failing(Bootstrap):
        """Fails from its 91st run on."""

        runs: ClassVar[list[int]] = []

        def __call__(self, dataset: Any, num_samples: Any = None, **given: Any) -> Any:
            self.runs.append(1)
            if len(self.runs) > 90:
                raise RuntimeError("worn out")
            return super().__call__(dataset, num_samples, **given)

    record = audited(Failing(), keep_data=False, exposure_map=True)
    (subject,) = record.subjects
    assert subject.exposure is None
    assert "failed when it was played again" in subject.unmapped
    assert not subject.failures
    assert subject.trials == {"train": 40, "test": 40}


@pytest.mark.parametrize("kept", [True, False])
def test_audit_files_ask_for_maps_of_releases_that_were_not_kept(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {
        "data": {"sample": "census", "rows": 80, "targets": {"random": 5}},
        "generator": "Raw",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 20},
        "trials": {"train": 20, "test": 20, "keep_data": kept},
        "controls": False,
    }
    Path("audit.yaml").write_text(yaml.safe_dump(values))
    assert run(["run", "audit.yaml", "--n-jobs", "1", "--json", "first.json"]) == 0
    said = capsys.readouterr().out
    assert ("no exposure map of Raw: the releases of 40 of 40" in said) is not kept
    asked = ["--set", "exposure_map=true", "--folder", "asked", "--json", "asked.json"]
    assert run(["run", "audit.yaml", "--n-jobs", "1", *asked]) == 0
    assert "Every record (" in capsys.readouterr().out
    first, second = (json.loads(Path(f"{name}.json").read_text()) for name in ("first", "asked"))
    assert first["exposure_map_covers"] == ({} if not kept else second["exposure_map_covers"])
    assert second["exposure_map_covers"]["Raw"]["played_again"] == (0 if kept else 40)
    assert bool(first["exposure_map_missing"]) is not kept
    assert Path("asked/exposure-map.csv").exists()
    # Nothing is played again for a map that is there.
    runs = audit_from_values({**values, "exposure_map": True}, "test").run("asked", n_jobs=1)
    assert runs.subjects[0].exposure is not None
    assert runs.subjects[0].exposure.replayed == 0


def test_questions_that_leave_nothing_to_map_say_so() -> None:
    def unmapped(**changes: Any) -> str:
        values = {
            "data": {"sample": "census", "rows": 80, "targets": {"random": 5}},
            "generator": "Raw",
            "attacks": ["ClosestDistanceMIA"],
            "knowledge": {"records": 20},
            "trials": {"train": 20, "test": 20},
            "controls": False,
        }
        record = audit_from_values({**values, **changes}, "test").run(n_jobs=1)
        assert record.subjects[0].exposure is None
        return record.subjects[0].unmapped

    few = {"sample": "census", "rows": 80, "targets": {"random": 1}}
    assert "1 target teaches too little" in unmapped(data=few)
    assert "at least 20 trials" in unmapped(trials={"train": 20, "test": 8})
    assert "knowledge.data: auxiliary" in unmapped(knowledge={"data": "exact"})


def test_releases_with_their_mechanism_are_mapped_where_that_is_asked_for(
    copied: AuditRecord,
) -> None:
    unasked, asked = (
        audited(Bootstrap(), box=WhiteBoxKnowledge, exposure_map=ask).subjects[0]
        for ask in (None, True)
    )
    assert unasked.unmapped.endswith(
        "80 of 80 trials were not kept: `exposure_map=True` plays these again"
    )
    assert asked.exposure is not None
    mine = copied.subjects[0].exposure
    assert mine is not None
    pd.testing.assert_frame_equal(asked.exposure.table, mine.table)


def test_large_tables_are_mapped_in_part_unless_asked_for_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tapas.audit._exposure_map.MOST_WORK", 20_000)
    some, whole = (
        audited(Bootstrap(), exposure_map=ask).subjects[0].exposure for ask in (None, True)
    )
    assert some is not None
    assert whole is not None
    assert 20 < len(some) < some.total == len(whole) == 500
    assert "of 500" in some.words("it")
    together = some.table.merge(whole.table, on="record")
    np.testing.assert_array_equal(together["auc_x"], together["auc_y"])


def test_the_most_exposed_of_an_earlier_run_can_be_targets(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(published)
    top = pd.read_csv("exposure-map.csv")["record"].astype(str).tolist()

    def targets(**chosen: Any) -> tuple[str, ...]:
        values = {
            "data": {"sample": "census", "rows": 500, "targets": chosen},
            "generator": "Raw",
            "trials": {"train": 4, "test": 4},
        }
        return audit_from_values(values, "test").subjects[0].threat_model.game.target_labels

    assert list(targets(exposed=3, map="exposure-map.csv", random=2))[:3] == top[:3]
    with pytest.raises(ConfigError, match="exposed goes with map"):
        targets(exposed=3)
    pd.DataFrame({"record": ["nobody"], "expected": [1.0]}).to_csv("other.csv")
    with pytest.raises(ConfigError, match="'nobody' are not records of this table"):
        targets(exposed=1, map="other.csv")
    with pytest.raises(ConfigError, match=r"missing\.csv is not the exposure-map\.csv"):
        targets(exposed=1, map="missing.csv")
    monkeypatch.chdir(published.parent)  # where the audit file lies
    (said,) = re.findall(r"<code>(targets: .*?)</code>", (published / "report.html").read_text())
    assert list(targets(**yaml.safe_load(said)["targets"])) == top[:50]


def test_members_of_many_trials_are_those_of_each() -> None:
    data = load_sample("census", 60, seed=4)
    others = [data.take(rows) for rows in ([3, 5, 5, 7], list(range(40)), [59], [0, 1, 2])]
    found = rows_within(data, iter(others))
    rows = [tuple(row) for row in data.data.itertuples(index=False)]
    for other, inside in zip(others, found, strict=True):
        present = {tuple(row) for row in other.data.itertuples(index=False)}
        assert inside.tolist() == [row in present for row in rows]


@pytest.mark.parametrize("area", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("releases", [20, 100])
def test_intervals_of_records_cover_their_area_also_near_one(releases: int, area: float) -> None:
    rng = np.random.default_rng(0)
    shift, missed, total = np.sqrt(2) * norm.ppf(area), 0, 0
    for _ in range(6):
        members = rng.random((releases, 150)) < 0.4
        scores = rng.normal(size=members.shape) + shift * members
        labels = [str(number) for number in range(150)]
        found = ExposureMap.measured(labels, scores, members, np.arange(releases)).ranked
        missed += int(((found["low"] > area) | (found["high"] < area)).sum())
        total += len(found)
    assert missed / total <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / total)
    assert (found["low"] < found["high"]).all()
