"""A zoo: generators, models and attacks that do what they should not."""

from pathlib import Path

import yaml

CODE = '''\
from tapas.attacks import ClosestDistanceMIA
from tapas.generators import Raw


# What the words use is imported with them: they travel to other machines without this module.
NEEDS = "import os, signal, sys, time\\nimport numpy as np\\n"


class Calm(Raw):
    """Misbehaves in one trial in five or so, which the seed chooses."""

    any_number = False

    def misbehave(self):
        pass

    def generate(self, num_samples=None, random_state=None):
        if random_state % 5 == 0:
            made = self.misbehave()
            if made is not None:
                return made
        return super().generate(num_samples, random_state)

    def __call__(self, dataset, num_samples=None, random_state=None):
        self.fit(dataset)
        self.asked = num_samples
        return self.generate(num_samples, random_state)


def odd(words):
    """A generator whose misbehaviour is an expression."""
    code = compile(NEEDS + words, "odd", "exec")

    class Odd(Calm):
        def misbehave(self):
            room = {"self": self, "made": None}
            exec(code, room)
            return room["made"]

    return Odd()


class OddAttack(ClosestDistanceMIA):
    where = ""

    def __init__(self, where="fit", words="sys.exit(0)"):
        super().__init__()
        self.where, self.words = where, words

    def fit(self, board, *, rng):
        if self.where == "fit":
            exec(NEEDS + self.words)
        return super().fit(board, rng=rng)

    def observer(self, briefing, samples):
        if self.where == "observer":
            exec(NEEDS + self.words)
        return super().observer(briefing, samples)


class OddDoors:
    """By the documented methods."""

    def __init__(self, where, words):
        self.words = words

    def attack(self, datasets):
        exec(NEEDS + self.words)
        return np.zeros(len(datasets))
'''

# What a generator does in a trial; each must end in another exit code than 0.
HANGS = {
    "sleeps": "time.sleep(3600)",
    "sleeps and catches errors": """
while True:
    try:
        time.sleep(3600)
    except Exception:
        pass""",
    "sleeps and catches everything": """
while True:
    try:
        time.sleep(3600)
    except BaseException:
        pass""",
    "spins": "\nwhile True:\n    pass",
    "backtracks, holding the interpreter": "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
    "waits for a child": "import subprocess; subprocess.run(['sleep', '3600'])",
    "waits for a lock": "import threading; l = threading.Lock(); l.acquire(); l.acquire()",
    "ignores alarms": "signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(3600)",
    "waits to read": "r, w = os.pipe(); os.read(r, 1)",
}
ENDS = {
    "exits with 0": "sys.exit(0)",
    "exits with 1": "sys.exit(1)",
    "exits with words": "sys.exit('bye')",
    "raises SystemExit of its own": "\nclass Bye(SystemExit): pass\nraise Bye(0)",
    "leaves at once with 0": "os._exit(0)",
    "leaves at once with 7": "os._exit(7)",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "ends itself politely": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)",
    "interrupts itself": "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)",
    "aborts": "os.abort()",
    "reads address 0": "import ctypes; ctypes.string_at(0)",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "raises GeneratorExit": "raise GeneratorExit",
    "raises CancelledError": "import asyncio; raise asyncio.CancelledError",
    "raises a BaseException of its own": "\nclass Odd(BaseException): pass\nraise Odd",
    "leaves from a thread": (
        "import threading; threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(5)"
    ),
    "executes another program": "os.execvp('true', ['true'])",
}
RAISES = {
    "divides by zero": "1 / 0",
    "runs out of memory": "raise MemoryError",
    "recurses": "\ndef f(): f()\nf()",
    "fails an assertion": "assert False",
    "stops iterating": "raise StopIteration",
    "raises what cannot travel": """
class Odd(Exception):
    def __init__(self, a, b): super().__init__(a)
raise Odd(1, 2)""",
    "raises a megabyte": "raise ValueError('x' * 1_000_000)",
    "raises without words": "\nclass Odd(Exception):\n    def __str__(self): 1 / 0\nraise Odd",
    "raises escape codes": "raise ValueError('\\x1b[2J\\x1b]0;gone\\x07')",
    "misses a file": "open('/no/such/file')",
    "misses a module": "import no_such_module",
}
RELEASES = {
    "releases nothing at all": "made = self.dataset.take([])",
    "releases half": "made = self.dataset.sample(self.asked // 2)",
    "releases one fewer": "made = self.dataset.take(range(self.asked - 1))",
    "releases three times as many": "made = self.dataset.take([*range(self.asked)] * 3)",
    "releases the whole twice": "made = self.dataset.take([*range(len(self.dataset))] * 2)",
    "releases a number": "made = 7",
    "releases words": "made = 'records'",
    "releases a list": "made = [1, 2, 3]",
    "releases an array": "made = np.zeros((self.asked, 3))",
    "releases other columns": "made = self.dataset.data.rename(columns=str.upper).head(self.asked)",
    "releases fewer columns": "made = self.dataset.data.iloc[: self.asked, :3]",
    "releases a column twice": (
        "import pandas as pd; d = self.dataset.data.head(self.asked); "
        "made = pd.concat([d, d.iloc[:, :1]], axis=1)"
    ),
    "releases words for numbers": "made = self.dataset.data.head(self.asked).astype(object); "
    "made.iloc[:, :] = 'x'",
    "releases unknown values": (
        "made = self.dataset.data.head(self.asked).copy().astype(object); "
        "made.iloc[0, 0] = 'never seen'"
    ),
    "releases a generator": "made = (row for row in ())",
    "releases a module": "made = os",
}
GENERATORS = {**HANGS, **ENDS, **RAISES, **RELEASES}
# An attack: where, and what it does there.
ATTACKS = {
    "an attack exits as it learns": ("fit", "sys.exit(0)"),
    "an attack leaves as it learns": ("fit", "os._exit(0)"),
    "an attack fails as it learns": ("fit", "1 / 0"),
    "an attack exits as it begins": ("observer", "sys.exit(0)"),
    "an attack leaves as it begins": ("observer", "os._exit(0)"),
    "an attack is interrupted by itself": ("fit", "raise KeyboardInterrupt"),
    "an attack sleeps as it begins": ("observer", HANGS["sleeps and catches errors"]),
    "an attack sleeps as it learns": ("fit", HANGS["sleeps and catches everything"]),
    "an attack sleeps as it is tested": ("attack", HANGS["sleeps and catches errors"]),
}
# A module: what its import does.
IMPORTS = {
    "an import exits": "import sys; sys.exit(0)",
    "an import leaves": "import os; os._exit(0)",
    "an import fails": "1 / 0",
    "an import is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
}


def write_audit(place: Path, name: str, **changes: object) -> Path:
    """An audit file about a member of the zoo, with the code beside it."""
    (place / "zoo.py").write_text(CODE)
    values: dict[str, object] = {
        "data": {"sample": "census", "rows": 160, "targets": {"random": 1}},
        "generator": "Raw",
        "attacks": [{"use": "ClosestDistanceMIA", "parameters": {"criterion": ["threshold", 1]}}],
        "knowledge": {"records": 40},
        "trials": {"train": 6, "test": 20},
        "controls": False,
        # No distance is as low as that threshold: this passes unless something went wrong.
        "gates": [{"metric": "recall", "at_most": 0.9}],
    }
    if name in GENERATORS:
        values["generator"] = {"use": "zoo:odd", "parameters": {"words": GENERATORS[name]}}
        if name in HANGS:
            values["trials"] = {"train": 6, "test": 20, "timeout": 1}
    elif name in ATTACKS:
        where, words = ATTACKS[name]
        use = "zoo:OddDoors" if where == "attack" else "zoo:OddAttack"
        values["attacks"] = [{"use": use, "parameters": {"where": where, "words": words}}]
        if words in HANGS.values():
            values["trials"] = {"train": 6, "test": 20, "attack_timeout": 1}
    else:
        (place / "odd_import.py").write_text(IMPORTS[name])
        values["generator"] = "odd_import:Odd"
    path = place / "audit.yaml"
    path.write_text(yaml.safe_dump({**values, **changes}))
    return path
