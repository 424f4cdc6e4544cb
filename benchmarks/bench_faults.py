"""What faults do to a run folder: kills and full disks at every write, flipped bits, races.

    python benchmarks/bench_faults.py kills 2000
    python benchmarks/bench_faults.py full 500
    python benchmarks/bench_faults.py flips 2000
    python benchmarks/bench_faults.py races 200
    python benchmarks/bench_faults.py readers

A second number begins elsewhere (``kills 500 1500`` does the last 500 of 2,000). Faults are made
below Python, in the calls that write (sqlite's among them), by a library that is compiled here; a
child process of this one meets each of them. After every fault the audit is run again, repaired
first where it is refused. Three things are counted: silent differences (a result that is not the
right one, or a folder that `verify` calls whole and is not), folders healed, and folders refused
for ever.
"""

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit, repair_run, verify_run
from tapas.datasets import load_sample
from tapas.engine import _folder_store
from tapas.errors import StoreError
from tapas.generators import Bootstrap
from tapas.results import read_history
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/types.h>

long calls = 0, written = 0;        /* what was met since it was armed */
long kill_at = -1, full_at = -1;    /* a number of calls; a number of bytes */
int armed = 0, torn = 0;

static void met(void) { if (armed && calls++ == kill_at) _exit(99); }

/* How much of a write there is room for; a torn one leaves its first half. */
static ssize_t room(size_t n) {
    if (!armed) return n;
    if (calls++ == kill_at) { if (torn && n > 1) return -(ssize_t)(n / 2); _exit(99); }
    if (full_at >= 0 && written + (long)n > full_at) { errno = ENOSPC; return 0; }
    written += n;
    return n;
}
#define REAL(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define WRITE(call, half) ssize_t r = room(n); if (r < 0) { n = -r; half; _exit(99); } \
    if (n && !r) return -1; return call

ssize_t write(int fd, const void *b, size_t n) {
    REAL(write); WRITE(real(fd, b, n), real(fd, b, n)); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) {
    REAL(pwrite); WRITE(real(fd, b, n, o), real(fd, b, n, o)); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
    REAL(pwrite64); WRITE(real(fd, b, n, o), real(fd, b, n, o)); }
int fsync(int fd) { REAL(fsync); met(); return real(fd); }
int fdatasync(int fd) { REAL(fdatasync); met(); return real(fd); }
int ftruncate(int fd, off_t n) { REAL(ftruncate); met(); return real(fd, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); met(); return real(fd, n); }
int rename(const char *a, const char *b) { REAL(rename); met(); return real(a, b); }
int unlink(const char *a) { REAL(unlink); met(); return real(a); }
"""
_folder_store.LARGEST_INLINE = 2_000  # so that this small audit has values in files of their own
SECONDS = 300  # of one call
WRONG, REFUSED, CRASHED, KILLED = 10, 11, 12, 99


def audit(records: int = 10) -> Audit:
    """A small one, whose result is compared."""
    data = load_sample("census", 60, seed=1)
    model = TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=12, seed=2),
        data.take(np.arange(1)),
        BlackBoxKnowledge(Bootstrap(), 10 * records),
        seed=3,
    )
    return Audit(model, [ClosestDistanceMIA()], 3, 4, keep_data=True)


def subjects(folder: Path) -> object:
    return json.loads((folder / "record.json").read_text(encoding="utf-8"))["subjects"]


def run(folder: Path, right: object, records: int = 10) -> int:
    """0, or what is wrong with the run."""
    try:
        audit(records).run(folder, n_jobs=1)
        read_history(folder)
    except StoreError:
        return REFUSED
    except Exception as error:
        print(f"  {type(error).__name__}: {error}", file=sys.stderr)
        return CRASHED
    return 0 if subjects(folder) == right else WRONG


def in_child(work: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        try:
            code = work()
        except BaseException as error:
            print(f"  {type(error).__name__}: {error}", file=sys.stderr)
            code = CRASHED
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def healed(folder: Path, right: object) -> str:
    """What running again comes to, repaired where that is asked for."""
    code, words = in_child(lambda: run(folder, right)), "healed"
    if code == REFUSED or (code == 0 and verify_run(folder)):
        repair_run(folder)
        code, words = in_child(lambda: run(folder, right)), "healed by repair"
    if code == 0 and verify_run(folder):
        return "not verified afterwards"
    names = {0: words, WRONG: "SILENT DIFFERENCE", REFUSED: "refused for ever"}
    return names.get(code, "CRASHED")


@contextmanager
def room() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _armed(faults: ctypes.CDLL, *, kill: int = -1, full: int = -1, torn: int = 0) -> None:
    for name, value in (("kill_at", kill), ("full_at", full), ("calls", 0), ("written", 0)):
        ctypes.c_long.in_dll(faults, name).value = value
    ctypes.c_int.in_dll(faults, "torn").value = torn
    ctypes.c_int.in_dll(faults, "armed").value = 1


def _measured(faults: ctypes.CDLL, place: Path, right: object) -> tuple[int, int]:
    """Calls and bytes of a whole run."""

    def work() -> int:
        _armed(faults)
        run(place / "measured", right)
        ctypes.c_int.in_dll(faults, "armed").value = 0
        counts = [ctypes.c_long.in_dll(faults, name).value for name in ("calls", "written")]
        (place / "counts").write_text(json.dumps(counts))
        return 0

    in_child(work)
    calls, written = json.loads((place / "counts").read_text())
    return calls, written


def kills(numbers: range, right: object, place: Path, finished: Path) -> Iterator[str]:
    """Killed at every call that writes: before it, or half-way through; in new folders and old."""
    faults = ctypes.CDLL(None)
    calls, _ = _measured(faults, place, right)
    print(f"a run writes in {calls} calls")
    for number in numbers:
        folder = place / str(number)
        at, variant = number % calls, number // calls
        if variant % 4 >= 2:  # a run that goes on: half of its trials are there
            shutil.copytree(finished, folder)
            _forget_trials(folder, variant // 4)

        def work(at: int = at, variant: int = variant, folder: Path = folder) -> int:
            _armed(faults, kill=at, torn=variant % 2)
            return run(folder, right)

        code = in_child(work)
        if code not in (0, KILLED):
            yield "CRASHED" if code == CRASHED else "refused at once"
        else:
            yield healed(folder, right)
        shutil.rmtree(folder, ignore_errors=True)


def _forget_trials(folder: Path, seed: int) -> None:
    from tapas.engine import FolderStore

    with FolderStore(folder) as store:
        chance = random.Random(seed)
        for key in [key for key in store.keys("games/") if "/t" in key]:
            if chance.random() < 0.5:
                store.discard(key)


def full(numbers: range, right: object, place: Path, finished: Path) -> Iterator[str]:
    """A disk that is full after so many bytes."""
    faults = ctypes.CDLL(None)
    _, written = _measured(faults, place, right)
    print(f"a run writes {written} bytes")
    for number in numbers:
        folder, most = place / str(number), (number * 2477) % written

        def work(most: int = most, folder: Path = folder) -> int:
            _armed(faults, full=most)
            code = run(folder, right)
            ctypes.c_int.in_dll(faults, "armed").value = 0
            return code

        code = in_child(work)
        if code in (0, REFUSED):
            yield ("nothing was missing, " if code == 0 else "told, ") + healed(folder, right)
        else:
            yield "SILENT DIFFERENCE" if code == WRONG else "CRASHED"
        shutil.rmtree(folder, ignore_errors=True)


def flips(numbers: range, right: object, place: Path, finished: Path) -> Iterator[str]:
    """One bit of one file, each file as often as the others."""
    from tapas.report import AuditPage
    from tapas.results import AuditRecord

    AuditPage(AuditRecord.load(finished)).publish(finished)
    files = sorted(p.relative_to(finished) for p in finished.rglob("*") if p.is_file())
    files = [name for name in files if (finished / name).stat().st_size]
    for number in numbers:
        folder, chance = place / str(number), random.Random(number)
        shutil.copytree(finished, folder)
        name = files[number % len(files)]
        file = "entries/*.npz" if name.parent.name else name.name
        content = bytearray((folder / name).read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        (folder / name).write_bytes(content)
        noticed = verified(folder) if name.suffix in (".html", ".csv") else verify_run(folder)
        if not noticed:
            yield f"{file}: SILENT DIFFERENCE (verify)"
        else:
            yield f"{file}: noticed, {healed(folder, right)}"
        shutil.rmtree(folder, ignore_errors=True)


def verified(folder: Path) -> bool:
    """Whether `tapas verify` finds something, pages included."""
    from tapas.cli._main import run as tapas

    with open(os.devnull, "w") as nowhere:
        before, sys.stdout = sys.stdout, nowhere
        try:
            return tapas(["verify", str(folder)]) == 4
        finally:
            sys.stdout = before


def races(numbers: range, right: object, place: Path, finished: Path) -> Iterator[str]:
    """Two audits, of the same or another question, begun at once in one new folder."""
    other = place / "other"
    audit(9).run(other, n_jobs=1)
    answers = {10: right, 9: subjects(other)}
    for number in numbers:
        folder, start = place / str(number), time.monotonic() + 0.02
        pair = (10, 10 if number % 4 == 0 else 9)

        def work(records: int, start: float = start, folder: Path = folder) -> int:
            time.sleep(max(0.0, start - time.monotonic()))
            return run(folder, answers[records], records)

        children = []
        for records in pair:
            child = os.fork()
            if child == 0:
                os._exit(work(records))
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        if set(codes) - {0, REFUSED}:
            yield "SILENT DIFFERENCE" if WRONG in codes else "CRASHED"
        else:
            waited = "one was told to wait" if REFUSED in codes else "one after the other"
            yield f"{waited}, {healed(folder, right)}"
        shutil.rmtree(folder, ignore_errors=True)


def readers(numbers: range, right: object, place: Path, finished: Path) -> Iterator[str]:
    """Another user, who may read the folder or not even that."""
    if os.getuid() != 0:
        yield "skipped: only root becomes another user"
        return

    def content() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted(finished.rglob("*")) if p.is_file()}

    verified(finished)  # all modules are imported before somebody else may not read them
    before = content()
    os.chmod(place, 0o755)

    def as_other(work: Callable[[], int]) -> int:
        def changed() -> int:
            os.setgid(65534)
            os.setuid(65534)
            return work()

        return in_child(changed)

    for may_read in (False, True):
        os.chmod(finished, 0o755 if may_read else 0o700)
        for path in finished.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        who = "a reader" if may_read else "a stranger"
        code = as_other(lambda: run(finished, right))
        yield f"{who} runs: {'refused' if code == REFUSED else f'CODE {code}'}"
        code = as_other(lambda: 1 if verified(finished) else 0)
        yield f"{who} verifies: {'whole' if code == 0 else 'told that it cannot be read'}"
    yield "nothing was changed" if content() == before else "SILENT DIFFERENCE"


KINDS = {one.__name__: one for one in (kills, full, flips, races, readers)}


def main() -> None:
    kind, number, first = (sys.argv[1:] + ["kills", "200", "0"][len(sys.argv) - 1 :])[:3]
    if "BENCH_FAULTS" not in os.environ:
        with tempfile.TemporaryDirectory() as made:
            source, library = Path(made) / "faults.c", Path(made) / "faults.so"
            source.write_text(LIBRARY)
            command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
            subprocess.run(command, check=True)
            environment = {**os.environ, "LD_PRELOAD": str(library), "BENCH_FAULTS": "1"}
            arguments = [sys.executable, __file__, kind, number, first]
            sys.exit(subprocess.run(arguments, env=environment, check=False).returncode)
    start, counts = time.perf_counter(), Counter[str]()
    with room() as place:
        finished = place / "finished"
        audit().run(finished, n_jobs=1)
        right = subjects(finished)
        numbers = range(int(first), int(first) + int(number))
        for outcome in KINDS[kind](numbers, right, place, finished):
            counts[outcome] += 1
            if time.perf_counter() - start > SECONDS:
                last = int(first) + sum(counts.values())
                print(f"time is up: go on with {kind} {numbers.stop - last} {last}")
                break
    for outcome, how_often in sorted(counts.items()):
        print(f"{how_often:6}  {outcome}")
    total = sum(counts.values())
    bad = sum(n for o, n in counts.items() if any(word.isupper() for word in o.split()))
    fine = sum(n for o, n in counts.items() if "healed" in o)
    print(f"{kind}: {total} faults, {bad} silent or crashed, {fine / total:.1%} healed")
    print(f"({time.perf_counter() - start:.0f} s)")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
