"""Distances to a boundary that only labels show, against a plane and naive twins."""

import tracemalloc

import numpy as np
import pytest
from model_boards import RNG, overfitted, seen_in_test
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models import _boundary_walk, _noise_robustness
from tapas.attacks.models._boundary_walk import WalkPlan, boundary_distances, nearest_elsewhere
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._label_queries import LabelQueries
from tapas.errors import TapasWarning
from tapas.models import Records, as_model
from tapas.threat_models import ModelMIA


def test_distances_to_a_plane_are_found_within_a_tenth() -> None:
    rng = RNG(0)
    normal = rng.standard_normal(8)
    normal /= np.linalg.norm(normal)
    points = rng.standard_normal((200, 8)) * 2
    true = np.abs(points @ normal - 0.5)

    def ask(some: np.ndarray) -> np.ndarray:
        return (some @ normal > 0.5).astype(int)

    codes = ask(points)
    starts = points[nearest_elsewhere(points, codes, points, codes)]
    plan = WalkPlan.within(600)
    assert plan.queries <= 600
    found = boundary_distances(ask, points, codes, starts, plan, lambda x: x, rng=RNG(1))
    assert (found >= true - 1e-9).all()
    assert np.median(found / true) < 1.1


def test_nearest_points_of_another_class_equal_a_naive_twin() -> None:
    rng = RNG(0)
    points, pool = rng.standard_normal((40, 3)), rng.standard_normal((60, 3))
    codes, pool_codes = rng.integers(0, 3, 40), rng.integers(0, 3, 60)
    found = nearest_elsewhere(points, codes, pool, pool_codes)
    for point, code, position in zip(points, codes, found, strict=True):
        distances = np.linalg.norm(pool - point, axis=1)
        distances[pool_codes == code] = np.inf
        assert position == distances.argmin()
    assert (nearest_elsewhere(points, np.zeros(40), pool, np.zeros(60)) == -1).all()


def test_the_nearest_is_the_same_by_parts_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = RNG(1)
    points, pool = rng.standard_normal((40, 3)), rng.standard_normal((60, 3))
    codes, pool_codes = rng.integers(0, 3, 40), rng.integers(0, 3, 60)
    whole = nearest_elsewhere(points, codes, pool, pool_codes)
    monkeypatch.setattr(_boundary_walk, "POOL_AT_ONCE", 21)
    np.testing.assert_array_equal(nearest_elsewhere(points, codes, pool, pool_codes), whole)


def test_images_are_walked_from_without_a_copy_of_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, name in ((_boundary_walk, "NUMBERS_AT_ONCE"), (_boundary_walk, "POOL_AT_ONCE")):
        monkeypatch.setattr(room, name, 100_000)
    monkeypatch.setattr(_noise_robustness, "NUMBERS_AT_ONCE", 100_000)
    X, y = RNG(0).integers(0, 256, (1_000, 1_000), dtype=np.uint8), np.arange(1_000) % 2
    records = Records(X, y)
    model = as_model(lambda rows: (rows[:, 0] > 128).astype(int), classes=[0, 1], outputs="labels")
    asked = LabelQueries(model, records, None, records.encoding())
    tracemalloc.start()
    assert (asked.distances(30, RNG(1))[asked.right] > 0).all()
    asked.robustness(2, RNG(1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * X.nbytes  # all of them as points, once


def test_a_boundary_that_cannot_be_found_is_reported_and_counted_as_neither() -> None:
    members, others = overfitted(200)
    model = as_model(lambda X: np.zeros(len(X), dtype=int), classes=[0, 1], outputs="labels")
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    attack = LabelOnlyMIA(max_queries=50)
    attack.train(threat_model)
    with pytest.warns(TapasWarning, match="boundary was not found"):
        summary = threat_model.test(attack)
    right = threat_model.judged_records()["correct"].to_numpy()
    failed = LabelOnlyMIA.failed(seen_in_test(threat_model, attack))
    np.testing.assert_array_equal(failed[0], right)
    assert np.isfinite(summary.scores).all()


@pytest.mark.parametrize("method", ["boundary", "noise"])
def test_label_only_attacks_keep_to_their_queries(method: str) -> None:
    members, others = overfitted(300)
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, access="labels", seed=0)
    attack = LabelOnlyMIA(method, max_queries=100)
    attack.train(threat_model)
    summary = threat_model.test(attack)
    # The pool of starting points costs one query a record beside.
    assert threat_model.queries(attack) <= 300 * 101 + 300
    assert summary.auc > 0.6
