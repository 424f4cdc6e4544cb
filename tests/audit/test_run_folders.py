"""A run folder knows whose trials it holds, notices every change, and keeps what is whole."""

import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit, load_audit, repair_run, replay_run, verify_run
from tapas.audit._folder_lock import FolderLock
from tapas.audit._run_progress import RunProgress
from tapas.datasets import load_sample
from tapas.engine import Entry, FolderStore, Snapshot
from tapas.errors import StoreError
from tapas.generators import Raw
from tapas.results import AuditRecord
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA


def audit(records: int = 20, generator: Raw | None = None, max_failures: int = 0) -> Audit:
    data = load_sample("census", 120, seed=1)
    model = TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=30, seed=2),
        data.take(np.arange(1)),
        BlackBoxKnowledge(generator or Raw(), records),
        seed=3,
    )
    return Audit(model, [ClosestDistanceMIA()], 6, 12, max_failures=max_failures)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    audit().run(folder, n_jobs=1)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run."""
    subprocess.run(["cp", "-a", str(finished), str(tmp_path / "run")], check=True)
    return tmp_path / "run"


def subjects(folder: Path) -> object:
    return json.loads((folder / "record.json").read_text())["subjects"]


def change(folder: Path, query: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "index.sqlite")) as index, index:
        assert index.execute(query, values).rowcount != 0


def test_a_finished_run_is_whole_and_private(folder: Path) -> None:
    assert verify_run(folder) == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("phases", [("train", "test"), ("test", "train")])
def test_a_trial_under_another_name_is_not_taken_over(
    folder: Path, finished: Path, phases: tuple[str, str]
) -> None:
    old, new = phases
    change(folder, "DELETE FROM entries WHERE key LIKE ?", f"%/{new}/000001/%")
    change(
        folder,
        "UPDATE entries SET key = replace(key, ?, ?) WHERE key LIKE ?",
        f"/{old}/",
        f"/{new}/",
        f"%/{old}/000001/%",
    )
    assert any("damaged" in line for line in verify_run(folder))
    audit().run(folder, n_jobs=1)
    assert subjects(folder) == subjects(finished)


def test_an_edited_record_is_noticed(folder: Path) -> None:
    path = folder / "record.json"
    whole = path.read_text()
    for old, new in (('"seed": 3', '"seed": 4'), ('"complete": true', '"complete": false')):
        assert old in whole
        path.write_text(whole.replace(old, new, 1))
        with pytest.raises(StoreError, match="changed after it was written"):
            AuditRecord.load(folder)
    path.write_text(whole)
    assert AuditRecord.load(folder).seed == 3


def test_other_layouts_formats_and_objects_are_refused(folder: Path) -> None:
    change(folder, "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END")
    with pytest.raises(StoreError, match="more than the values"):
        FolderStore(folder)
    change(folder, "DROP TRIGGER t")
    change(folder, "PRAGMA user_version=4")
    with pytest.raises(StoreError, match="layout 4"):
        FolderStore(folder)
    change(folder, "PRAGMA user_version=3")
    manifest = folder / "manifest.json"
    manifest.write_text('{"format": 99}')
    with pytest.raises(StoreError, match="format 99"):
        audit().run(folder)
    manifest.write_text("rubbish")
    with pytest.raises(StoreError, match="tapas repair"):
        audit().run(folder)


def test_a_store_of_something_else_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as index, index:
        index.execute("CREATE TABLE people (name TEXT)")
    with pytest.raises(StoreError, match="not a store of tapas"):
        FolderStore(tmp_path)


def test_one_run_at_a_time_uses_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapas.audit._folder_lock.PATIENCE", 0.0)
    lock = FolderLock(tmp_path)
    with pytest.raises(StoreError, match="another run is using"):
        audit().run(tmp_path)
    lock.release()
    assert audit().run(tmp_path, n_jobs=1).complete


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    for name in ("record.json", "index.sqlite", "lock", "report.html"):
        folder = tmp_path / f"run-{name}"
        folder.mkdir()
        (folder / name).symlink_to(outside)
        with pytest.raises(StoreError, match="is a link"):
            audit().run(folder)
    assert outside.read_text() == "mine"


def test_a_record_of_another_question_does_not_pass_for_that_of_a_run_that_dies(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = AuditRecord.load(folder)

    def dies(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("tapas.audit._subject_run.SubjectRun.learn", dies)
    with pytest.raises(KeyboardInterrupt):
        audit(10).run(folder, n_jobs=1)
    assert not (folder / "record.json").exists()
    kept = AuditRecord.load(folder / f"record-{before.fingerprint[:8]}.json")
    assert kept.fingerprint == before.fingerprint


def test_a_full_disk_is_an_error_and_no_crash_of_an_attack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: FolderStore, key: str, entry: object) -> None:
        if key.startswith("games/"):
            raise StoreError(f"{key!r} cannot be written: No space left on device")

    monkeypatch.setattr(FolderStore, "save", full)
    with pytest.raises(StoreError, match="No space"):
        audit().run(tmp_path, n_jobs=1)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.95])
def test_a_truncated_index_is_salvaged(folder: Path, finished: Path, share: float) -> None:
    index = folder / "index.sqlite"
    os.truncate(index, int(share * index.stat().st_size))
    assert verify_run(folder)
    repaired = repair_run(folder)
    assert repaired is not None
    assert (repaired[0] > 0) == (share > 0)
    audit().run(folder, n_jobs=1)
    assert subjects(folder) == subjects(finished)
    assert verify_run(folder) == []


KILLED = """
import os, signal, sys
from tapas._files import write_text

os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write_text(sys.argv[1], "half")
"""


def test_what_killed_writes_leave_is_taken_away_by_the_next_run(folder: Path) -> None:
    for name in ("record.json", "entries/value.npz"):
        subprocess.run([sys.executable, "-c", KILLED, str(folder / name)], check=False)
    assert len(list(folder.rglob(".*.part"))) == 2
    (folder / ".mine.part").touch()
    audit().run(folder, n_jobs=1)
    assert [path.name for path in folder.rglob(".*.part")] == [".mine.part"]


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(content))


def test_helper_modules_are_part_of_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_generator.py").write_text(
        "import own_helper\nfrom tapas.generators import Raw\n\n"
        "class Own(Raw):\n    def label_of(self):\n        import own_later\n"
        "        return own_helper.NAME\n"
    )
    (tmp_path / "own_helper.py").write_text("NAME = 'one'\n")
    (tmp_path / "own_later.py").write_text("NAME = 'one'\n")
    path = tmp_path / "audit.yaml"
    path.write_text(
        "data: {sample: census, rows: 100, targets: {random: 1}}\n"
        "generator: own_generator:Own\nattacks: [ClosestDistanceMIA]\ntrials: {test: 20}\n"
    )
    code = load_audit(path).asked()["code"]
    assert isinstance(code, dict)
    assert sorted(code) == ["own_generator", "own_helper", "own_later"]
    for name in ("own_helper", "own_later"):
        (tmp_path / f"{name}.py").write_text("NAME = 'two'\n")
        changed = load_audit(path).asked()["code"]
        assert isinstance(changed, dict)
        assert changed[name] != code[name]


@pytest.mark.parametrize("seed", range(12))
def test_any_changed_byte_of_any_file_is_noticed(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    changed = files[seed % len(files)]
    flip(changed, chance)
    assert any(changed.name in line for line in verify_run(folder)), changed


def test_verifying_changes_nothing(folder: Path) -> None:
    def content() -> dict[str, bytes]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in files}

    before = content()
    assert verify_run(folder) == []
    assert not [one for one in replay_run(folder, audit(), 3, n_jobs=1) if one.differing]
    assert content() == before


def test_a_run_that_did_not_end_is_not_verified(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.audit._run_folder.write_seal", lambda folder: None)
    audit().run(folder, n_jobs=1)
    assert any("seal.json is missing" in line for line in verify_run(folder))
    monkeypatch.undo()
    audit().run(folder, n_jobs=1)
    assert verify_run(folder) == []


def test_a_record_answers_for_the_trials_that_it_rests_on(folder: Path) -> None:
    with FolderStore(folder) as store:
        key = next(key for key in store.keys("games/") if "/test/000003/seen" in key)
        entry = store.load(key)
        ((name, values),) = entry.arrays.items()
        store.save(key, Entry({name: values + 1.0}, entry.notes))  # with a digest that holds
    assert any("not those that the record rests on" in line for line in verify_run(folder))
    (different,) = [one for one in replay_run(folder, audit(), 99, n_jobs=1) if one.differing]
    assert (different.phase, different.index) == ("test", 3)
    assert "observed came out otherwise; with the same versions" in str(different)


def test_versions_are_noted_trial_by_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = {"tapas": "0.0.9", "numpy": "1.0"}
    monkeypatch.setattr("tapas.game._tasks.provenance", lambda: earlier)
    model = audit().subjects[0].threat_model
    Audit(model, [ClosestDistanceMIA()], 6, 5).run(tmp_path, n_jobs=1)
    monkeypatch.undo()
    record = audit().run(tmp_path, n_jobs=1)
    (said,) = record.provenance["evidence"]
    assert sorted((one["trials"], one["tapas"]) for one in said["made_with"]) == [
        (7, record.provenance["tapas"]),
        (11, "0.0.9"),
    ]
    with Snapshot(tmp_path) as store:
        assert len(list(store.keys(f"games/{said['game']}/versions/"))) == 2
    replayed = replay_run(tmp_path, audit(), 99, n_jobs=1)
    assert len(replayed) == 18
    assert not [one for one in replayed if one.differing]
    assert sum("0.0.9, now" in one.made_with.get("tapas", "") for one in replayed) == 11


def test_trials_of_another_game_are_not_replayed(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="num_synthetic_records: stored 20, asked 10"):
        replay_run(folder, audit(10), 1)
    with pytest.raises(StoreError, match="there is no index"):
        replay_run(tmp_path, audit(), 1)


def test_failures_come_out_the_same_too(tmp_path: Path) -> None:
    class Fails(Raw):
        def generate(self, num_samples=None, random_state=None):  # type: ignore[no-untyped-def]
            if random_state % 3 == 0:
                raise ValueError("no")
            return super().generate(num_samples, random_state)

        def __call__(self, dataset, num_samples=None, random_state=None):  # type: ignore[no-untyped-def]
            self.fit(dataset)
            return self.generate(num_samples, random_state)

    failing = audit(generator=Fails(), max_failures=18)
    record = failing.run(tmp_path, n_jobs=1)
    replayed = replay_run(tmp_path, failing, 99, n_jobs=1)
    assert len(replayed) == 18
    assert not [one for one in replayed if one.differing]
    failed = [one for one in replayed if one.compared == ("failure",)]
    assert len(failed) == len(record.subjects[0].failures) > 0


def test_releases_that_are_looked_at_again_are_no_more_trials(tmp_path: Path) -> None:
    progress = RunProgress(tmp_path, 10, None)
    for number in (6, 4, 5):
        progress.count(number)
    progress.tell(())
    noted = json.loads((tmp_path / "progress.json").read_text())
    assert (noted["done"], noted["total"]) == (10, 10)
