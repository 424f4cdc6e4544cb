"""The subset attack against loops over data frames, and against its formulae."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mixed_tables import (
    Deaf,
    attribute_briefing,
    attribute_game,
    membership_briefing,
    membership_game,
    mixed_table,
    seen,
)

from tapas.attacks import SubsetAttack
from tapas.attacks._shared_discriminant import mean_auc
from tapas.attacks.features._subset_attack import RIDGE, SubsetObserver
from tapas.audit import Audit
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError
from tapas.game import Board, TableBriefing
from tapas.generators import Bootstrap
from tapas.threat_models import TargetedMIA

NUMBERS = ("visits", "cost", "share", "born", "seen")


def naive_counts(
    data: TabularDataset, targets: TabularDataset, columns: list[str]
) -> list[list[int]]:
    """Counts row by row, subset by subset."""
    released = data.copy().data
    conditions = {
        name: ("most", "least", "equal") if name in NUMBERS else ("equal",) for name in columns
    }
    found = []
    for _, target in targets.copy().data.iterrows():
        counts = []
        for order in (1, 2, 3):
            for subset in combinations(columns, order):
                for sides in product(*(conditions[name] for name in subset)):
                    met = np.ones(len(released), dtype=bool)
                    for name, side in zip(subset, sides, strict=True):
                        met &= [agrees(x, target[name], side) for x in released[name]]
                    counts.append(int(met.sum()))
        found.append(counts)
    return found


def agrees(value: Any, wanted: Any, side: str) -> bool:
    if pd.isna(value) or pd.isna(wanted):
        return bool(pd.isna(value) and pd.isna(wanted))
    return bool(
        {"equal": value == wanted}.get(side)
        or (side == "most" and value <= wanted)
        or (side == "least" and value >= wanted)
    )


def all_subsets(briefing: TableBriefing, data: TabularDataset) -> np.ndarray:
    return seen(SubsetAttack(number=5000), briefing, data)


def test_counts_agree_with_loops_over_rows() -> None:
    data, targets = mixed_table(16, seed=1, missing=0.1), mixed_table(1, seed=2, missing=0.1)
    counts = all_subsets(membership_briefing(targets), data)
    assert counts.dtype == np.uint16
    assert counts.tolist() == naive_counts(data, targets, list(data.description.columns))


def test_counts_for_each_value_agree_with_loops_over_rows() -> None:
    data, targets = mixed_table(16, seed=1, missing=0.1), mixed_table(1, seed=2)
    values = ("low", "high", "mid")
    counts = all_subsets(attribute_briefing(targets, "risk", values), data)
    columns = [name for name in data.description.columns if name != "risk"]
    assert counts.shape[:2] == (1, 3)
    for position, value in enumerate(values):
        having = data.take(np.flatnonzero((data.copy().data["risk"] == value).to_numpy()))
        assert counts[:, position].tolist() == naive_counts(having, targets, columns)


def test_wide_tables_keep_small_subsets_and_draw_the_rest_once() -> None:
    briefing = membership_briefing(mixed_table(2))
    whole, few = (SubsetObserver(number).plan(briefing) for number in (5000, 100))
    assert few.sizes() == [19, 81]  # no triples, which do not fit
    assert whole.sizes()[0] == 19  # four columns of categories, five of numbers
    every = {tuple(subset) for subset in whole.by_order[1].tolist()}
    assert {tuple(subset) for subset in few.by_order[1].tolist()} <= every
    again = SubsetObserver(100).plan(membership_briefing(mixed_table(5, seed=3)))
    assert again.by_order[1].tolist() == few.by_order[1].tolist()


def board_of(game: TargetedMIA, attack: SubsetAttack, releases: int) -> Board:
    return game.observe(attack, releases, all_targets=True)


def naive_weights(board: Board, subsets: int, chosen: list[int]) -> np.ndarray:
    rows, towards = [], []
    for target in chosen:
        features = np.log(board.values[:, target, :subsets] + 0.5)
        secret = board.secrets[:, target].astype(float)
        rows.append(features - features.mean(axis=0))
        towards.append(secret - secret.mean())
    matrix = np.concatenate(rows)
    gram = matrix.T @ matrix
    penalty = RIDGE * np.trace(gram) / subsets
    ridge = gram + penalty * np.eye(subsets)
    return np.linalg.solve(ridge, matrix.T @ np.concatenate(towards))


@pytest.fixture(scope="module")
def several() -> TargetedMIA:
    return membership_game(mixed_table(6, seed=9), size=40, released=40)


def test_weights_are_one_ridge_discriminant_of_all_targets(several: TargetedMIA) -> None:
    attack = SubsetAttack(number=60)
    board = board_of(several, attack, 40)
    scorer = attack.fit(board, rng=np.random.default_rng(0))
    used = scorer.weights.shape[1]
    naive = naive_weights(board, used, list(range(6)))
    np.testing.assert_allclose(scorer.weights[0], naive, rtol=1e-3, atol=1e-5)
    values, secrets = board.values[:, 2, :used], board.secrets[:, 2]
    expected = np.log((values + 0.5) / (values[~secrets].mean(axis=0) + 0.5)) @ naive
    np.testing.assert_allclose(scorer.score(board.values)[:, 2], expected, rtol=1e-3, atol=1e-4)


def test_transferred_weights_come_from_other_targets_alone(several: TargetedMIA) -> None:
    attack = SubsetAttack(transfer=True, number=60)
    board = board_of(several, attack, 40)
    scorer = attack.fit(board, rng=np.random.default_rng(0))
    mine = scorer.fold[0]
    others = [target for target in range(6) if scorer.fold[target] != mine]
    used = int(np.flatnonzero(scorer.weights[mine])[-1]) + 1
    expected = naive_weights(board, used, others)
    np.testing.assert_allclose(scorer.weights[mine, :used], expected, rtol=1e-3, atol=1e-5)
    flipped = board.secrets.copy()
    flipped[:, 0] = np.random.default_rng(3).permutation(flipped[:, 0])
    other = Board(board.values, flipped, board.groups, board.goal, board.judged, board.briefing)
    again = attack.fit(other, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(again.weights[mine], scorer.weights[mine])
    assert not np.array_equal(again.weights, scorer.weights)


def test_one_target_has_no_others_to_learn_from() -> None:
    game = membership_game(mixed_table(1, seed=9))
    with pytest.raises(IncompatibleAttackError, match="only one: give several targets"):
        SubsetAttack(transfer=True, number=20).train(game, 10)


@pytest.mark.parametrize("transfer", [False, True])
def test_members_are_found_in_resampled_records(transfer: bool) -> None:
    game = membership_game(mixed_table(10, seed=9), Bootstrap(), size=40, released=40)
    record = Audit(game, [SubsetAttack(transfer, number=100)], 40, 40).run(n_jobs=1)
    areas = [summary.auc for summary in record.subjects[0].summaries]
    assert len(areas) == 10
    assert np.mean(areas) > 0.75


@pytest.mark.parametrize("values", [("F", "M"), ("F", "M", "U")], ids=len)
def test_values_are_found_in_resampled_records(values: tuple[str, ...]) -> None:
    game = attribute_game(mixed_table(8, seed=9), values, Bootstrap(), size=40, released=40)
    record = Audit(game, [SubsetAttack(number=60)], 40, 40).run(n_jobs=1)
    accuracy = [summary.accuracy for summary in record.subjects[0].summaries]
    assert np.mean(accuracy) > 1 / len(values) + 0.15


def test_the_documented_doors_judge_each_view_as_an_audit_does(several: TargetedMIA) -> None:
    record = Audit(several, [SubsetAttack(number=60)], 30, 20).run(n_jobs=1)
    for view, summary in zip(several, record.subjects[0].summaries, strict=True):
        attack = SubsetAttack(number=60)
        attack.train(view, 30)
        told = view.test(attack, 20)
        assert told.target_id == summary.target_id
        np.testing.assert_allclose(told.scores, summary.scores, rtol=1e-5)


class Alone(SubsetAttack):
    """Learns about each target from its own trials."""

    pools_targets = False


def test_weights_may_be_learnt_about_each_view_by_itself(several: TargetedMIA) -> None:
    record = Audit(several, [Alone(number=60)], 30, 20).run(n_jobs=1)
    for view, summary in zip(several, record.subjects[0].summaries, strict=True):
        attack = Alone(number=60)
        attack.train(view, 30)
        np.testing.assert_allclose(view.test(attack, 20).scores, summary.scores, rtol=1e-5)


def test_one_secret_is_not_enough_to_learn_from() -> None:
    game = membership_game(mixed_table(1, seed=9))
    with pytest.raises(IncompatibleAttackError, match="with both secrets"):
        SubsetAttack(number=20).train(game, 1)
    with pytest.raises(ConfigError, match="number"):
        SubsetAttack(number=0)


def test_areas_are_those_of_pairs_of_releases() -> None:
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 4, (20, 3)).astype(float), rng.random((20, 3)) < 0.5
    areas = []
    for target in range(3):
        inside, outside = scores[positive[:, target], target], scores[~positive[:, target], target]
        areas.append(np.mean((inside[:, None] > outside) + (inside[:, None] == outside) / 2))
    assert mean_auc(scores, positive) == pytest.approx(np.mean(areas))


@pytest.mark.slow
@pytest.mark.parametrize("transfer", [False, True])
def test_a_generator_that_leaks_nothing_leaves_the_attack_at_chance(transfer: bool) -> None:
    areas = []
    for seed in range(200):
        game = membership_game(mixed_table(6, seed=9), Deaf(), size=20, released=20, seed=seed)
        record = Audit(game, [SubsetAttack(transfer, number=100)], 20, 40).run(n_jobs=1)
        areas += [np.mean([summary.auc for summary in record.subjects[0].summaries])]
    error = np.std(areas) / np.sqrt(len(areas))
    assert abs(np.mean(areas) - 0.5) < 4 * error
    assert np.mean(np.abs(np.array(areas) - 0.5) > 1.96 * np.std(areas)) < 0.1
