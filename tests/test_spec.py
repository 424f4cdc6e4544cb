"""Two things with equal specs do the same; what cannot be told apart for certain is a doubt."""

import datetime
import decimal
import functools
import importlib
import itertools
import logging
import math
import os
import re
import subprocess
import sys
import threading
import uuid
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tapas
from tapas._spec import Plain, Spec, differences, digest_of, spec_of
from tapas.attacks import HammingDistance, LpDistance
from tapas.generators import Raw


def digest(thing: object) -> str:
    spec = spec_of(thing)
    assert spec.doubts == ()
    return spec.digest


def made(source: str, name: str = "thing", **names: Any) -> Any:
    """What a piece of own code defines."""
    namespace: dict[str, Any] = {"__name__": "__main__", **names}
    exec(source, namespace)
    return namespace[name]


class Thing:
    """Something with attributes."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


class Colour(Enum):
    RED = 1
    BLUE = 2


class Level(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    left: int
    right: int


class OtherPair(NamedTuple):
    left: int
    right: int


@dataclass(frozen=True)
class Settings:
    level: int


class Tagged(dict):  # type: ignore[type-arg]
    """A dictionary with more to it."""

    def __init__(self, tag: str, **items: object) -> None:
        super().__init__(items)
        self.tag = tag


# -- values --------------------------------------------------------------------------------------

DIFFERENT: dict[str, list[Any]] = {
    "scalars": [None, True, 1, 1.0, 2, "1", "True", "None", b"1", 1j, math.nan, "nan", math.inf],
    "zeros": [0.0, -0.0, 0, False],
    "sequences": [[1, 2], [2, 1], [1, 2, 3], [[1], 2], []],
    "sets": [{1, 2}, {1, 3}, [1, 2], set()],
    "mappings": [{"a": 1}, {"a": 2}, {"b": 1}, {1: 1}, {"1": 1}, {}],
    "mappings with more": [
        defaultdict(list, a=1),
        defaultdict(int, a=1),
        OrderedDict(a=1),
        Tagged("x", a=1),
        Tagged("y", a=1),
        {"a": 1},
    ],
    "tuples with names": [Pair(1, 2), OtherPair(1, 2), Pair(2, 1), (1, 2)],
    "enums": [Colour.RED, Colour.BLUE, Level.LOW, 1, "RED"],
    "ranges": [range(3), range(4), "range(0, 3)", slice(3), slice(4)],
    "paths": [Path("a"), Path("b"), "a"],
    "times": [
        datetime.date(2020, 1, 1),
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 1),
        np.datetime64("2020-01-01", "D"),
        np.datetime64("2020-01-02", "D"),
        np.datetime64("2020-01-01", "ns"),
        np.timedelta64(1, "D"),
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-02"),
    ],
    "others of the library": [
        decimal.Decimal("1.0"),
        decimal.Decimal("1.00"),
        uuid.UUID(int=1),
        uuid.UUID(int=2),
        re.compile("a"),
        re.compile("b"),
        re.compile("a", re.IGNORECASE),
        deque([1]),
        deque([1], maxlen=3),
        itertools.count(1),
        itertools.count(2),
        logging.getLogger("a"),
        logging.getLogger("b"),
    ],
    "arrays": [
        np.array([1, 2]),
        np.array([1.0, 2.0]),
        np.array([[1, 2]]),
        np.array([2, 1]),
        np.array([1, 2], dtype=np.int32),
        np.array([1, 2], dtype=object),
        np.array([[1], [2]], dtype=object),
        np.array(["1", "2"]),
        np.ma.masked_array([1, 2], mask=[True, False]),
        np.ma.masked_array([1, 2], mask=[False, False]),
        [1, 2],
    ],
    "random states": [
        np.random.default_rng(1),
        np.random.default_rng(2),
        np.random.RandomState(1),
        np.random.RandomState(2),
    ],
    "frames": [
        pd.DataFrame({"x": [1, 2]}),
        pd.DataFrame({"x": [1, 3]}),
        pd.DataFrame({"y": [1, 2]}),
        pd.DataFrame({"x": [1.0, 2.0]}),
        pd.DataFrame({"x": [True, True]}),
        pd.DataFrame({"x": [1, 1]}),
        pd.DataFrame({"x": [1, 2]}, index=[5, 6]),
        pd.DataFrame({0: [1, 2]}),
        pd.DataFrame({"0": [1, 2]}),
        pd.DataFrame({"x": ["a", "b"]}),
        pd.DataFrame({"x": pd.Categorical(["a", "b"])}),
        pd.DataFrame({"x": pd.Categorical(["a", "b"], ["b", "a"], ordered=True)}),
        pd.DataFrame({"x": [[1], [2]]}),
        pd.DataFrame({"x": [[1], [3]]}),
        pd.Series([1, 2], name="x"),
        pd.Series([1, 2], name="y"),
        pd.Index([1, 2]),
        pd.Index([1, 3]),
    ],
    "functions of the library": [len, math.sqrt, math.log, str.lower, str.upper, np.sqrt, np.log],
    "bound methods": [[1].append, [2].append, Pair(1, 2).count, Pair(2, 2).count],
    "partials": [
        functools.partial(int, base=2),
        functools.partial(int, base=3),
        functools.partial(float),
        functools.partial(int, "1", base=2),
    ],
    "classes": [int, float, Thing, Settings, Colour],
    "modules": [math, re],
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_different_values_have_different_specs(kind: str) -> None:
    values = DIFFERENT[kind]
    digests = [digest(Thing(value=value)) for value in values]
    same = [
        (values[i], values[j])
        for i, j in itertools.combinations(range(len(values)), 2)
        if digests[i] == digests[j]
    ]
    assert same == []


@pytest.mark.parametrize("kind", DIFFERENT)
def test_a_spec_taken_twice_is_the_same(kind: str) -> None:
    for value in DIFFERENT[kind]:
        assert digest(Thing(value=value)) == digest(Thing(value=value))


def test_equal_values_have_equal_specs() -> None:
    equal: list[tuple[Any, Any]] = [
        ([1, 2], (1, 2)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x", "y", "z"}, frozenset("zyx")),
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.str_("a"), "a"),
        (np.bool_(True), True),
        (np.arange(4)[::2], np.array([0, 2])),
        (np.asfortranarray(np.ones((2, 3))), np.ones((2, 3))),
        (pd.DataFrame({"x": [1, None]}), pd.DataFrame({"x": [1, None]})),
        (pd.DataFrame({"x": [[1], [2]]}), pd.DataFrame({"x": [[1], [2]]})),
        (Thing(a=1, b=2), Thing(b=2, a=1)),
    ]
    for left, right in equal:
        assert digest(Thing(value=left)) == digest(Thing(value=right)), left


def test_tensors_and_networks_are_their_values() -> None:
    torch = pytest.importorskip("torch")
    values = [
        torch.tensor([1.0, 2.0]),
        torch.tensor([1.0, 3.0]),
        torch.tensor([1, 2]),
        torch.tensor([1.0, 2.0], dtype=torch.float64),
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
        torch.tensor(1.0),
    ]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(torch.tensor([1.0, 2.0])) == digest(torch.tensor([1.0, 2.0]))
    net = torch.nn.Linear(2, 1)
    before = digest(net)
    with torch.no_grad():
        net.weight += 1
    assert digest(net) != before


class Grown:
    """What boosters of all libraries are to a spec: something in memory of another language."""

    def __init__(self, trees: str) -> None:
        self.trees, self.handle = trees, (one for one in trees)


class SavesRaw(Grown):
    def save_raw(self) -> bytearray:
        return bytearray(self.trees.encode())


class SavesText(Grown):
    def model_to_string(self) -> str:
        return self.trees


class SavesItsState(Grown):
    """With doors of ``catboost.CatBoost``; where it was grown and when makes no difference."""

    def __init__(self, trees: str) -> None:
        super().__init__(trees)
        self.about = {"model_guid": str(id(self)), "train_finish_time": "now", "kind": "plain"}

    def is_fitted(self) -> bool:
        return bool(self.trees)

    def copy(self) -> Self:
        return type(self)(self.trees)

    def get_metadata(self) -> dict[str, str]:
        return self.about

    def __getstate__(self) -> dict[str, Any]:
        return {"depth": 3, "trees": self.trees, "about": self.about if self.trees else None}


@pytest.mark.parametrize(
    ("package", "kind"),
    [("xgboost.core", SavesRaw), ("lightgbm.basic", SavesText), ("catboost.core", SavesItsState)],
)
def test_boosters_are_what_they_would_be_saved_as(package: str, kind: type) -> None:
    name = kind.__name__ if package.startswith("catboost") else "Booster"
    booster = type(name, (kind,), {"__module__": package})
    one, same, other, none = (booster(trees) for trees in ("ab", "ab", "ac", ""))
    assert digest(one) == digest(same)
    assert len({digest(each) for each in (one, other, none)}) == 3
    assert all(not spec_of(Thing(value=each)).doubts for each in (one, none))


@pytest.mark.parametrize(
    ("package", "name", "options"),
    [
        ("xgboost", "XGBClassifier", {"n_estimators": 2}),
        ("lightgbm", "LGBMClassifier", {"n_estimators": 2, "verbose": -1}),
        (
            "catboost",
            "CatBoostClassifier",
            {"iterations": 2, "verbose": 0, "allow_writing_files": False},
        ),
    ],
)
def test_estimators_of_boosters_are_their_parameters_and_trees(
    package: str, name: str, options: dict[str, Any]
) -> None:
    kind = getattr(pytest.importorskip(package, reason=f"{package} is not installed"), name)
    X = np.random.default_rng(0).normal(size=(60, 3))
    fresh = [kind(**options), kind(**options), kind(**options, max_depth=2)]
    fitted = [kind(**options).fit(X, y) for y in (X[:, 0] > 0, X[:, 0] > 0, X[:, 1] > 0)]
    for one, same, other in (fresh, fitted):
        assert digest(one) == digest(same) != digest(other)
        assert spec_of(one).doubts == ()


# -- objects -------------------------------------------------------------------------------------


def test_private_attributes_count() -> None:
    assert digest(Thing(_keep=1)) != digest(Thing(_keep=2))
    assert digest(Thing(__deep=1)) != digest(Thing(__deep=2))
    assert digest(Thing(a=Thing(_b=[Thing(c=1)]))) != digest(Thing(a=Thing(_b=[Thing(c=2)])))


def test_an_attribute_called_path_does_not_hide_the_class() -> None:
    class Other(Thing):
        pass

    for name in ("path", "source"):
        things = (Thing(**{name: "x"}), Other(**{name: "x"}), Thing(**{name: "y"}), Thing())
        assert len({digest(thing) for thing in things}) == 4
    assert spec_of(Thing(path="x")).path.endswith("Thing")


def test_slots_count() -> None:
    class Slotted:
        __slots__ = ("__deep", "_x", "missing")

        def __init__(self, x: int, deep: int = 0) -> None:
            self._x = x
            self.__deep = deep

    assert digest(Slotted(1)) == digest(Slotted(1))
    assert len({digest(Slotted(1)), digest(Slotted(2)), digest(Slotted(1, 1))}) == 3


def test_what_follows_from_the_rest_does_not_count() -> None:
    class Square:
        def __init__(self, side: int) -> None:
            self.side = side

        @functools.cached_property
        def area(self) -> int:
            return self.side**2

    square = Square(3)
    before = digest(square)
    assert square.area == 9
    assert digest(square) == before


def test_things_may_hold_themselves() -> None:
    def ring(size: int) -> Thing:
        things = [Thing(number=0) for _ in range(size)]
        for one, following in itertools.pairwise([*things, things[0]]):
            one.__dict__["next"] = following
        return things[0]

    assert digest(ring(2)) == digest(ring(2))
    assert digest(ring(2)) != digest(ring(3))
    itself: list[Any] = [1]
    itself.append(itself)
    assert digest(itself) == digest(itself)


def test_what_is_too_deep_is_a_doubt() -> None:
    chain = Thing()
    for _ in range(5000):
        chain = Thing(next=chain)
    assert "deep" in spec_of(chain).doubts[0]


def test_something_may_say_itself_what_it_is() -> None:
    class Says:
        def __init__(self, matters: int, cache: int) -> None:
            self.matters, self.cache = matters, cache

        def __spec__(self) -> dict[str, object]:
            return {"matters": self.matters}

    assert digest(Says(1, 1)) == digest(Says(1, 2))
    assert digest(Says(1, 1)) != digest(Says(2, 1))


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(C=2.0),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, random_state=np.random.RandomState(3)),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_are_their_parameters_and_what_they_learnt(estimator: Any) -> None:
    from sklearn.base import clone

    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    assert digest(clone(estimator)) == digest(clone(estimator))
    fitted, again = (clone(estimator).fit(X, y) for _ in range(2))
    assert digest(fitted) == digest(again)
    assert digest(fitted) != digest(clone(estimator))
    assert digest(fitted) != digest(clone(estimator).fit(X, 1 - y))
    other = clone(estimator)
    name = next(name for name, value in other.get_params().items() if isinstance(value, float))
    assert digest(other.set_params(**{name: 0.125})) != digest(clone(estimator))


def test_distances_and_generators_are_told_apart() -> None:
    assert digest(LpDistance(1)) != digest(LpDistance(2))
    assert digest(HammingDistance()) != digest(LpDistance(2))
    raw = Raw()
    before = digest(raw)
    raw._keep = 3  # type: ignore[attr-defined]
    assert digest(raw) != before


# -- code ----------------------------------------------------------------------------------------

EDITS = {
    "a constant": ("def thing(x): return x + 1", "def thing(x): return x + 2"),
    "an operation": ("def thing(x): return x + 1", "def thing(x): return x - 1"),
    "a called name": ("def thing(x): return abs(x)", "def thing(x): return hash(x)"),
    "a method name": ("def thing(x): return x.min()", "def thing(x): return x.max()"),
    "a default": ("def thing(x, y=1): return y", "def thing(x, y=2): return y"),
    "a keyword default": ("def thing(*, y=1): return y", "def thing(*, y=2): return y"),
    "a signature": ("def thing(x, y): return x", "def thing(x, *y): return x"),
    "a keyword": ("def thing(x, y): return x", "def thing(x, *, y): return x"),
    "a lambda": ("thing = lambda x: x + 1", "thing = lambda x: x + 2"),
    "an inner function": (
        "def thing(x):\n def inner(): return 1\n return inner()",
        "def thing(x):\n def inner(): return 2\n return inner()",
    ),
    "what is caught": (
        "def thing(x):\n try:\n  return x\n except KeyError:\n  return 1",
        "def thing(x):\n try:\n  return x\n except ValueError:\n  return 1",
    ),
    "a helper": (
        "def helper(x): return x + 1\ndef thing(x): return helper(x)",
        "def helper(x): return x + 2\ndef thing(x): return helper(x)",
    ),
    "a helper of a helper": (
        "def a(x): return 1\ndef b(x): return a(x)\ndef thing(x): return b(x)",
        "def a(x): return 2\ndef b(x): return a(x)\ndef thing(x): return b(x)",
    ),
    "a helper class": (
        "class Helper:\n def go(self): return 1\ndef thing(x): return Helper().go()",
        "class Helper:\n def go(self): return 2\ndef thing(x): return Helper().go()",
    ),
    "a remembered helper": (
        "import functools\n@functools.lru_cache\ndef h(x): return 1\ndef thing(x): return h(x)",
        "import functools\n@functools.lru_cache\ndef h(x): return 2\ndef thing(x): return h(x)",
    ),
    "a decorated helper": (
        "import functools\ndef d(f):\n @functools.wraps(f)\n def g(x): return f(x)\n return g\n"
        "@d\ndef h(x): return 1\ndef thing(x): return h(x)",
        "import functools\ndef d(f):\n @functools.wraps(f)\n def g(x): return f(x)\n return g\n"
        "@d\ndef h(x): return 2\ndef thing(x): return h(x)",
    ),
    "a global number": (
        "LEVEL = 1\ndef thing(x): return LEVEL",
        "LEVEL = 2\ndef thing(x): return LEVEL",
    ),
    "a global list": ("L = [1]\ndef thing(x): return L", "L = [2]\ndef thing(x): return L"),
    "a global set": ("L = {1}\ndef thing(x): return L", "L = {2}\ndef thing(x): return L"),
    "a global array": (
        "import numpy as np\nA = np.ones(2)\ndef thing(x): return A",
        "import numpy as np\nA = np.zeros(2)\ndef thing(x): return A",
    ),
    "a global frame": (
        "import pandas as pd\nA = pd.DataFrame({'x': [1]})\ndef thing(x): return A",
        "import pandas as pd\nA = pd.DataFrame({'x': [2]})\ndef thing(x): return A",
    ),
    "a global estimator": (
        "from sklearn.linear_model import Ridge\nA = Ridge(1)\ndef thing(x): return A",
        "from sklearn.linear_model import Ridge\nA = Ridge(2)\ndef thing(x): return A",
    ),
    "a global of ours": (
        "from tapas.attacks import LpDistance\nA = LpDistance(1)\ndef thing(x): return A",
        "from tapas.attacks import LpDistance\nA = LpDistance(2)\ndef thing(x): return A",
    ),
    "global settings": (
        "A = Settings(1)\ndef thing(x): return A.level",
        "A = Settings(2)\ndef thing(x): return A.level",
    ),
    "a method": (
        "class thing:\n def go(self): return 1",
        "class thing:\n def go(self): return 2",
    ),
    "a private method": (
        "class thing:\n def _go(self): return 1",
        "class thing:\n def _go(self): return 2",
    ),
    "an inherited method": (
        "class Base:\n def go(self): return 1\nclass thing(Base): pass",
        "class Base:\n def go(self): return 2\nclass thing(Base): pass",
    ),
    "a property": (
        "class thing:\n @property\n def go(self): return 1",
        "class thing:\n @property\n def go(self): return 2",
    ),
    "a static method": (
        "class thing:\n @staticmethod\n def go(): return 1",
        "class thing:\n @staticmethod\n def go(): return 2",
    ),
    "a class method": (
        "class thing:\n @classmethod\n def go(cls): return 1",
        "class thing:\n @classmethod\n def go(cls): return 2",
    ),
    "a class attribute": ("class thing:\n level = 1", "class thing:\n level = 2"),
    "a class list": ("class thing:\n levels = [1]", "class thing:\n levels = [2]"),
    "a class dictionary": ("class thing:\n levels = {'a': 1}", "class thing:\n levels = {'a': 2}"),
    "an inner class": (
        "class thing:\n class Inner:\n  def go(self): return 1",
        "class thing:\n class Inner:\n  def go(self): return 2",
    ),
    "a method of a dictionary": (
        "class thing(dict):\n def go(self): return 1",
        "class thing(dict):\n def go(self): return 2",
    ),
    "a keyword only field": (
        "from dataclasses import dataclass\n@dataclass\nclass thing:\n x: int = 1",
        "from dataclasses import dataclass\n@dataclass\nclass thing:\n x: int = 2",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_edited_code_is_other_code(what: str) -> None:
    before, again, after = (
        made(source, Settings=Settings) for source in (EDITS[what][0], *EDITS[what])
    )
    assert digest(before) == digest(again)
    assert digest(before) != digest(after)
    if isinstance(before, type):
        assert digest(before()) == digest(again())
        assert digest(before()) != digest(after())


def test_comments_and_places_do_not_matter() -> None:
    before = made("def thing(x):\n return x + 1")
    after = made("\n\n# a comment\ndef thing(x):\n\n  # another\n  return x + 1")
    assert digest(before) == digest(after)


def test_what_a_function_closes_over_counts() -> None:
    def adds(amount: Any) -> Any:
        return lambda x: x + amount

    assert digest(adds(1)) == digest(adds(1))
    assert digest(adds(1)) != digest(adds(2))
    assert digest(adds(Thing(a=1))) != digest(adds(Thing(a=2)))
    assert digest(functools.partial(adds(1), 3)) != digest(functools.partial(adds(2), 3))
    assert digest(Thing(call=adds(1)).call) != digest(Thing(call=adds(2)).call)  # type: ignore[attr-defined]


def test_functions_may_name_each_other() -> None:
    source = "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - {})"
    one, again, other = (made(source.format(step), "even") for step in (1, 1, 2))
    assert digest(one) == digest(again) != digest(other)


def test_a_method_is_what_its_object_is() -> None:
    assert digest(Pair(1, 2)._asdict) != digest(Pair(1, 3)._asdict)


def own_module(folder: Path, name: str, text: str) -> ModuleType:
    import importlib.util

    file = folder / f"{name}.py"
    file.write_text(text)
    found = importlib.util.spec_from_file_location(name, file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


def test_own_modules_that_code_uses_count(tmp_path: Path) -> None:
    source = "def thing(x): return helpers.level(x)"
    digests = []
    try:
        for level in (1, 1, 2):
            helpers = own_module(
                tmp_path, "helpers_of_spec", f"def level(x): return {level}\nL = 1"
            )
            digests.append(digest(made(source, helpers=helpers)))
        helpers.L = 5
        digests.append(digest(made(source, helpers=helpers)))
        inside = own_module(tmp_path, "inside_of_spec", "import helpers_of_spec\n")
        digests.append(digest(made(source, helpers=inside)))
        own_module(tmp_path, "helpers_of_spec", "def level(x): return 9\nL = 1")
        inside = own_module(tmp_path, "inside_of_spec", "import helpers_of_spec\n")
        digests.append(digest(made(source, helpers=inside)))
    finally:
        for name in ("helpers_of_spec", "inside_of_spec"):
            sys.modules.pop(name, None)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 5


def test_own_modules_that_are_imported_inside_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for source in (
        "def thing(x):\n import late_of_spec\n return late_of_spec.level(x)",
        "def thing(x):\n from late_of_spec import level\n return level(x)",
    ):
        for level in (1, 1, 2):
            (tmp_path / "late_of_spec.py").write_text(f"def level(x): return {level}")
            digests.append(digest(made(source)))
    assert "late_of_spec" not in sys.modules
    assert digests[0] == digests[1] != digests[2]
    assert digests[3] == digests[4] != digests[5]


def test_the_code_of_packages_is_known_by_name() -> None:
    assert spec_of(LogisticRegression()).source is None
    assert spec_of(Raw()).source is None
    assert spec_of(Thing()).source is not None


def test_without_code_only_what_a_thing_is_made_of_counts() -> None:
    before, after = (made(source)() for source in EDITS["a method"])
    assert spec_of(before, code=False).digest == spec_of(after, code=False).digest
    assert spec_of(Thing(a=1), code=False).digest != spec_of(Thing(a=2), code=False).digest


# -- doubts --------------------------------------------------------------------------------------


def test_what_cannot_be_compared_is_a_doubt(tmp_path: Path) -> None:
    file = (tmp_path / "open").open("w")
    with file:
        for thing in (threading.Lock(), file, (number for number in [1]), sys._getframe()):
            spec = spec_of(Thing(inner=[thing]))
            assert len(spec.doubts) == 1, thing
            assert spec.doubts[0].startswith("it.inner[0] is a ")


def test_a_doubtful_part_that_is_another_object_is_a_change() -> None:
    thing = Thing(lock=threading.Lock())
    before = spec_of(thing, code=False).digest
    assert spec_of(thing, code=False).digest == before
    thing.__dict__["lock"], kept = threading.Lock(), thing.__dict__["lock"]
    assert spec_of(thing, code=False).digest != before
    assert kept is not thing.__dict__["lock"]


def test_a_module_whose_file_is_gone_is_a_doubt(tmp_path: Path) -> None:
    try:
        gone = own_module(tmp_path, "gone_of_spec", "x = 1")
        (tmp_path / "gone_of_spec.py").unlink()
        spec = spec_of(made("def thing(x): return gone.x", gone=gone))
    finally:
        sys.modules.pop("gone_of_spec", None)
    assert "gone_of_spec" in spec.doubts[0]


# -- across processes ----------------------------------------------------------------------------

SCRIPT = """
import re, numpy as np, pandas as pd
from enum import Enum
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from tapas._spec import spec_of
from tapas.datasets import load_sample
from tapas.generators import Raw, NoisyMarginals
from tapas.threat_models import *

NAMES = {"alpha", "beta", "gamma", "delta"}
class Colour(Enum):
    RED = 1
def helper(name):
    return name in {"one", "two", "three", "four"} or name in NAMES
class Mine(Raw):
    words = frozenset(["x", "y", "z"])
    def __init__(self, **rest):
        super().__init__()
        self.tags = {"p", "q", "r", "s"}
        self.keep = lambda row, level=0.5: helper(row) or len(self.words) > level
        self.rest = rest
    def fit(self, dataset, **kwargs):
        self.dataset = dataset if helper("one") else None
        super().fit(dataset)
X = np.random.default_rng(0).normal(size=(60, 3)); y = X[:, 0] > 0
people = load_sample("census", rows=60, seed=1)
things = [
    Mine(colour=Colour.RED, pattern=re.compile("a"), frame=people.data, when=pd.Timestamp("2020")),
    LogisticRegression().fit(X, y),
    RandomForestClassifier(3, random_state=0).fit(X, y),
    TargetedMIA(AuxiliaryDataKnowledge(people.drop_records([0]), num_training_records=20, seed=0),
                people.get_records([0]), BlackBoxKnowledge(Mine(), 5), seed=1).game,
    TargetedAIA(ExactDataKnowledge(people.drop_records([0])), people.get_records([0]), "Sex",
                ["female", "male"], BlackBoxKnowledge(NoisyMarginals(1.0), 5), seed=1).game,
]
for thing in things:
    spec = spec_of(thing)
    assert not spec.doubts, spec.doubts
    print(spec.digest)
"""


def test_specs_are_equal_in_every_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    outputs = []
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(Path(tapas.__file__).parents[1]),
        }
        run = subprocess.run(
            [sys.executable, str(script)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout.split())
    assert len(set(outputs[0])) == 5
    assert outputs[0] == outputs[1]


# -- reading specs -------------------------------------------------------------------------------


def test_a_spec_has_a_path_arguments_and_a_digest() -> None:
    spec = spec_of(LogisticRegression(C=2.0))
    assert spec.path.endswith("LogisticRegression")
    assert spec.arguments["C"] == 2.0
    assert spec.plain()["C"] == 2.0
    assert spec.digest == digest_of(spec.plain())
    assert spec_of(3) == Spec("builtins.int", {"value": 3})


def test_differences_name_where_two_specs_differ() -> None:
    stored: Plain = {"a": 1, "b": {"c": [1, 2], "d": "x"}, "gone": True, "same": None}
    asked: Plain = {"a": 2, "b": {"c": [1, 3], "d": "x"}, "new": [1], "same": None}
    assert differences(stored, asked) == [
        "a: stored 1, asked 2",
        "b.c[1]: stored 2, asked 3",
        "gone: stored true, asked nothing",
        "new: stored nothing, asked [1]",
    ]
    assert differences(stored, stored) == []
    assert differences([1], [1, 2], "x") == ["x: stored [1], asked [1, 2]"]
    (line,) = differences({"long": "x" * 200}, {"long": "y"})
    assert len(line) < 110
    assert line.endswith('..., asked "y"')


def test_differences_of_things_are_found_by_attribute() -> None:
    left, right = (spec_of(Thing(inner=Thing(_keep=value))).plain() for value in (1, 2))
    assert differences(left, right) == ["inner._keep: stored 1, asked 2"]


@pytest.mark.parametrize(
    ("folder", "record", "installed"),
    [
        ("lib/python3/site-packages", None, True),
        ("lib/python3/dist-packages", None, True),
        ("deps", "somelib_of_tests/__init__.py,sha256=x,1", True),
        ("deps", "another/__init__.py,sha256=x,1", False),
        ("project", None, False),
    ],
)
def test_packages_are_installed_wherever_they_were_installed_to(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    record: str | None,
    installed: bool,
) -> None:
    package = tmp_path / folder / "somelib_of_tests"
    package.mkdir(parents=True)
    if record is not None:
        about = tmp_path / folder / "somelib-1.0.dist-info"
        about.mkdir()
        (about / "RECORD").write_text(record + "\n")
    monkeypatch.syspath_prepend(tmp_path / folder)
    found = []
    for number in (1, 2):
        (package / "__init__.py").write_text(f"class Thing:\n    number = {number}\n")
        monkeypatch.delitem(sys.modules, "somelib_of_tests", raising=False)
        importlib.invalidate_caches()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "dont_write_bytecode", True)
            found.append(digest(importlib.import_module("somelib_of_tests").Thing()))
    monkeypatch.delitem(sys.modules, "somelib_of_tests")
    assert (found[0] == found[1]) == installed
