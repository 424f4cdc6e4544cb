"""Models behind a service: what it shows of its scores, and how it is asked."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import yaml
from sklearn.ensemble import RandomForestClassifier

from tapas.attacks import RMIA, LabelOnlyMIA, LossMIA
from tapas.audit import Audit, load_audit
from tapas.cli._main import run
from tapas.errors import ConfigError, MechanismError, StoreError
from tapas.models import AccessError, RemoteModel, Shown, ShownModel, as_model
from tapas.results import AuditRecord, record_facts
from tapas.threat_models import ModelMIA

pytestmark = pytest.mark.usefixtures("no_baseline")
SIDE = 150


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * SIDE, 4))
    return X, np.digitize(X[:, 0] + rng.normal(size=len(X)), [-0.5, 0.5])


@pytest.fixture(scope="module")
def forest() -> RandomForestClassifier:
    X, y = table()
    return RandomForestClassifier(20, random_state=0).fit(X[:SIDE], y[:SIDE])


class BusyError(Exception):
    """As requests has it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.headers = {"Retry-After": "0"}


class Service:
    """Answers like a forest, is busy now and then, and remembers whom it was asked about."""

    def __init__(self, forest: RandomForestClassifier, busy: tuple[int, ...] = ()) -> None:
        self.forest, self.busy, self.calls = forest, list(busy), 0
        self.asked: list[bytes] = []
        self.largest = 0

    def __call__(self, X: np.ndarray) -> np.ndarray:
        self.calls += 1
        if self.busy:
            status = self.busy.pop(0)
            if status:
                raise BusyError(status)
        self.largest = max(self.largest, len(X))
        self.asked += [row.tobytes() for row in np.asarray(X)]
        return self.forest.predict_proba(X)


# -- what is shown -------------------------------------------------------------------------------


def test_the_largest_scores_are_shown_and_the_rest_is_spread() -> None:
    given = np.array([[0.5, 0.3, 0.15, 0.05], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(Shown(top=2).of(given)[0], [0.5, 0.3, 0.1, 0.1])
    np.testing.assert_allclose(Shown(top=1).of(given)[0], [0.5, 0.5 / 3, 0.5 / 3, 0.5 / 3])
    np.testing.assert_allclose(Shown(top=1).of(given)[1], 0.25)
    np.testing.assert_allclose(Shown(decimals=1).of(given)[0], [0.5, 0.3, 0.2, 0.0])  # sums to 1.0
    np.testing.assert_allclose(Shown(top=4).of(given), given)
    np.testing.assert_allclose(Shown(top=1, decimals=0).of(given)[0].sum(), 1.0)
    with pytest.raises(ValueError, match="top"):
        Shown(top=0)


@pytest.mark.parametrize("shown", [Shown(top=1), Shown(decimals=1), Shown(top=2, decimals=2)])
def test_attacks_see_what_is_shown_of_audited_and_shadow_models(
    forest: RandomForestClassifier, shown: Shown
) -> None:
    X, y = table()
    sides = (X[:SIDE], y[:SIDE]), (X[SIDE:], y[SIDE:])
    threat_model = ModelMIA(forest, *sides, trainer=forest, num_shadows=4, seed=0, shown=shown)
    everyone = X[:20]
    expected = shown.of(forest.predict_proba(everyone))
    np.testing.assert_allclose(threat_model.model.predict_proba(everyone), expected)
    np.testing.assert_array_equal(threat_model.model.predict(everyone), forest.predict(everyone))
    for shadow in threat_model.shadow_models[:2]:
        seen = shadow.predict_proba(everyone)
        np.testing.assert_allclose(shown.of(seen), seen, atol=1e-12)  # nothing is left to hide
    attack = RMIA()
    attack.train(threat_model)
    assert threat_model.test(attack).auc > 0.6


@pytest.mark.parametrize("missing", [0.0, np.nan])
@pytest.mark.parametrize("top", [1, 2])
def test_services_that_show_the_largest_scores_only(
    forest: RandomForestClassifier, missing: float, top: int
) -> None:
    X, y = table()

    def service(X: np.ndarray) -> np.ndarray:
        scores = forest.predict_proba(X)
        rank = scores.argsort(axis=1, kind="stable").argsort(axis=1)
        return np.where(rank >= 3 - top, scores, missing)

    sides = (X[:SIDE], y[:SIDE]), (X[SIDE:], y[SIDE:])
    with pytest.raises(MechanismError, match=r"shown=Shown\(top=1\)"):
        RemoteModel(service, [0, 1, 2]).predict_proba(X)
    for model in (RemoteModel(service, [0, 1, 2]), as_model(service, [0, 1, 2])):
        shown = ModelMIA(model, *sides, shown=Shown(top=top), seed=0).model
        expected = Shown(top=top).of(forest.predict_proba(X))
        np.testing.assert_allclose(shown.predict_proba(X), expected)
        rows = forest.predict_proba(X)
        assert (rows[np.arange(len(X)), shown.predict_codes(X)] == rows.max(axis=1)).all()


@pytest.mark.parametrize("answer", [[3.0, 0.0, 0.0], [0.9, 0.8, 0.0], [0.0, np.nan, 0.0]])
def test_what_is_no_part_of_probabilities_is_refused(answer: list[float]) -> None:
    model = ShownModel(as_model(lambda X: np.array([answer] * len(X)), [0, 1, 2]), Shown(top=1))
    with pytest.raises(MechanismError, match="the model's probabilities are"):
        model.predict_proba(np.zeros((2, 1)))


def test_labels_show_no_scores(forest: RandomForestClassifier) -> None:
    with pytest.raises(AccessError, match="labels only"):
        ShownModel(as_model(forest.predict, [0, 1, 2], outputs="labels"), Shown(top=1))


# -- how it is asked -----------------------------------------------------------------------------


def test_nobody_is_asked_about_twice_and_calls_are_small(
    forest: RandomForestClassifier, tmp_path: Path
) -> None:
    X, y = table()
    service = Service(forest, busy=(429, 0, 503))
    model = RemoteModel(service, [0, 1, 2], batch_size=16, answers=tmp_path / "answers.sqlite")
    threat_model = ModelMIA(model, (X[:SIDE], y[:SIDE]), (X[SIDE:], y[SIDE:]), seed=0)
    for attack in (LossMIA(), LossMIA(per_class=True)):
        attack.train(threat_model)
        found = threat_model.test(attack)
    assert service.largest <= 16
    assert len(service.asked) == len(set(service.asked)) == 2 * SIDE
    plain = ModelMIA(forest, (X[:SIDE], y[:SIDE]), (X[SIDE:], y[SIDE:]), seed=0)
    attack = LossMIA(per_class=True)
    attack.train(plain)
    np.testing.assert_array_equal(found.scores, plain.test(attack).scores)
    assert (tmp_path / "answers.sqlite").stat().st_mode & 0o077 == 0


def test_what_was_answered_is_kept_when_a_service_ends(
    forest: RandomForestClassifier, tmp_path: Path
) -> None:
    X, _ = table()
    file = tmp_path / "answers.sqlite"
    ending = Service(forest, busy=(0, 0, 403))
    with pytest.raises(MechanismError, match=r"still to ask about.*are kept in"):
        RemoteModel(ending, [0, 1, 2], batch_size=50, answers=file).predict_proba(X)
    again = Service(forest)
    found = RemoteModel(again, [0, 1, 2], batch_size=50, answers=file).predict_proba(X)
    np.testing.assert_allclose(found, forest.predict_proba(X))
    assert not set(ending.asked) & set(again.asked)
    assert len(again.asked) == 2 * SIDE - 100


def test_calls_keep_to_a_rate(
    forest: RandomForestClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    clock = iter(np.arange(0.0, 100.0, 0.05))
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    model = RemoteModel(Service(forest), [0, 1, 2], batch_size=100, per_second=2)
    model.predict_proba(table()[0])
    assert model.calls == 3
    assert slept == pytest.approx([0.0, 0.45, 0.45])


def test_frames_with_categories_and_labels_are_kept_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", None] * 4), "b": np.arange(12) % 3})
    asked = []

    def service(X: pd.DataFrame) -> list[str]:
        asked.append(len(X))
        return ["yes" if value == "x" else "no" for value in X["a"]]

    for _ in range(2):
        model = RemoteModel(service, ["no", "yes"], outputs="labels", answers=tmp_path / "a.db")
        assert list(model.predict(frame)) == ["yes", "no", "no"] * 4
    assert asked == [3]  # three different records


TEXTS = [f"word{number} again" for number in range(20)]
SPARSE = scipy.sparse.csr_matrix(np.tril(np.arange(1.0, 401.0).reshape(20, 20)) / 400)


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (TEXTS, lambda X: [int(text[4 : text.index(" ")]) for text in X]),
        (SPARSE, lambda X: X.sum(axis=1)),
        ((np.arange(40).reshape(20, 2), np.ones((20, 1))), lambda X: X[0][:, 0]),
        ({"a": np.arange(40).reshape(20, 2), "b": np.ones((20, 1))}, lambda X: X["a"][:, 0]),
        (np.arange(80.0).reshape(20, 2, 2), lambda X: X[:, 0, 0]),
    ],
)
def test_every_kind_of_record_reaches_a_service_once(
    data: Any, first: Callable, tmp_path: Path
) -> None:
    sizes = []

    def service(X: Any) -> np.ndarray:
        assert isinstance(X, type(data))
        value = np.ravel(np.asarray(first(X), dtype=float))
        sizes.append(len(value))
        return 1 / (1 + np.exp(-value / 20))

    def half(part: slice) -> Any:
        if isinstance(data, dict):
            return {name: values[part] for name, values in data.items()}
        return tuple(one[part] for one in data) if isinstance(data, tuple) else data[part]

    y = np.arange(20) % 2
    expected = 1 / (1 + np.exp(-np.ravel(np.asarray(first(data), dtype=float)) / 20))
    for _ in range(2):
        model = RemoteModel(service, [0, 1], answers=tmp_path / "a.db", batch_size=7)
        sides = [(half(part), y[part]) for part in (slice(0, 10), slice(10, 20))]
        threat_model = ModelMIA(model, *sides, known_share=0.0, seed=0)
        everyone = np.concatenate([threat_model._layout.records(side, "x").X for side in sides])
        np.testing.assert_allclose(threat_model.model.predict_proba(everyone)[:, 1], expected)
    assert sum(sizes) == 20
    assert max(sizes) <= 7


@pytest.mark.parametrize(
    ("answer", "words"),
    [(lambda X: np.ones(3), "shape \\(3,\\)"), (lambda X: 1.0, "one row for each")],
)
def test_answers_of_the_wrong_size_are_refused(answer: object, words: str) -> None:
    with pytest.raises(MechanismError, match=words):
        RemoteModel(answer, [0, 1]).predict_proba(np.zeros((1, 2)))


def test_what_is_no_file_of_answers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind" * 100)
    with pytest.raises(StoreError, match="name another file"):
        RemoteModel(len, [0, 1], answers=tmp_path / "notes.txt").predict_proba(np.zeros((1, 2)))
    with pytest.raises(ConfigError, match="per_second"):
        RemoteModel(len, [0, 1], per_second=0)


SERVICE = """
from pathlib import Path
import numpy as np

def ask(X):
    with Path(__file__).with_name("calls.txt").open("a") as log:
        log.write(f"{len(X)}\\n")
    first = (X["Age"].astype(str).to_numpy() > "3").astype(float)
    return np.stack([0.3 + 0.4 * first, 0.7 - 0.4 * first], axis=1)
"""


def test_an_audit_file_names_an_endpoint_and_what_it_shows(tmp_path: Path) -> None:
    from tapas.datasets import load_sample

    data = load_sample("census", 400).data.drop_duplicates()
    data.iloc[:150].to_csv(tmp_path / "train.csv", index=False)
    data.iloc[150:300].to_csv(tmp_path / "others.csv", index=False)
    (tmp_path / "our_service.py").write_text(SERVICE)
    audit = {
        "data": {"table": "train.csv", "holdout": "others.csv"},
        "model": {
            "endpoint": {"use": "our_service:ask", "classes": ["female", "male"], "batch": 32},
            "class_column": "Sex",
            "shown": {"decimals": 1},
        },
        "attacks": ["LossMIA"],
    }
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
    assert run(["run", str(tmp_path / "audit.yaml"), "--quiet"]) == 0
    calls = [int(line) for line in (tmp_path / "calls.txt").read_text().split()]
    assert max(calls) <= 32
    assert sum(calls) <= 300
    record = AuditRecord.load(tmp_path / "audit-run")
    assert record_facts(record)[0].auc.value == pytest.approx(0.5, abs=0.1)
    before = len(calls)
    load_audit(tmp_path / "audit.yaml").run(n_jobs=1)
    assert len((tmp_path / "calls.txt").read_text().split()) == before


def test_words_that_yaml_reads_as_true_and_false_are_told_to_be_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{n},{'yes' if n % 3 else 'no'}" for n in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["a,diagnosis", *rows]))
    (tmp_path / "asked.py").write_text("def ask(X):\n    return [[0.5, 0.5]] * len(X)\n")
    (tmp_path / "audit.yaml").write_text(
        "data: {table: people.csv, holdout: people.csv}\n"
        'model: {endpoint: {use: "asked:ask", classes: [no, yes]}, class_column: diagnosis}\n'
    )
    assert run(["check", str(tmp_path / "audit.yaml")]) == 4
    assert "model.endpoint.classes: YAML reads words such as yes and no" in (
        said := " ".join(capsys.readouterr().err.split())
    )
    assert 'classes: ["no", "yes"]' in said


def test_an_error_that_speaks_of_429_hints_at_how_to_say_busy() -> None:
    def ask(X: Any) -> np.ndarray:
        raise RuntimeError("429 Too Many Requests")

    with pytest.raises(MechanismError, match="with a status_code such as 429"):
        RemoteModel(ask, [0, 1]).predict_proba(np.zeros((3, 2)))


def test_an_audit_counts_what_labels_cost(forest: RandomForestClassifier) -> None:
    X, y = table()
    service = Service(forest)
    model = RemoteModel(service, [0, 1, 2])
    threat_model = ModelMIA(
        model, (X[:SIDE], y[:SIDE]), (X[SIDE:], y[SIDE:]), access="labels", seed=0
    )
    record = Audit(threat_model, [LabelOnlyMIA("noise", 13)]).run(n_jobs=1)
    assert record_facts(record)[0].auc.value > 0.5
    assert len(set(service.asked)) == len(service.asked)
