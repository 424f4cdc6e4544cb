"""Nearness against loops over records; the ensemble against its members."""

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

from tapas.attacks import (
    ClosestDistanceMIA,
    EnsembleAttack,
    MixedDistance,
    NearnessAttack,
    SubsetAttack,
)
from tapas.attacks.tables._column_values import ColumnValues
from tapas.attacks.tables._nearness import STEEPNESS, nearness
from tapas.audit import Audit
from tapas.compat import AttackDoors
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.generators import Bootstrap
from tapas.threat_models import TargetedMIA

NUMBERS = ("visits", "cost", "share", "born", "seen")
SMALL = (SubsetAttack(number=60), NearnessAttack())


def naive_distance(record: pd.Series, row: pd.Series, spreads: pd.Series) -> float:
    total = 0.0
    for name in record.index:
        if pd.isna(record[name]) or pd.isna(row[name]):
            total += bool(pd.isna(record[name])) != bool(pd.isna(row[name]))
        elif name in NUMBERS:
            apart = record[name] - row[name]
            days = apart.total_seconds() if name == "seen" else getattr(apart, "days", apart)
            total += min(1.0, abs(float(days)) / spreads[name])
        else:
            total += record[name] != row[name]
    return total


def test_nearness_agrees_with_loops_over_records() -> None:
    released, records = mixed_table(15, seed=1, missing=0.1), mixed_table(3, seed=2, missing=0.1)
    numbers = {c.name: released.table.column(c.name) for c in released.table.number_columns()}
    spreads = pd.Series({name: np.nanstd(column) for name, column in numbers.items()})
    found = nearness(records, released)
    for number, (_, record) in enumerate(records.copy().data.iterrows()):
        rows = released.copy().data.iterrows()
        apart = np.array([naive_distance(record, row, spreads) for _, row in rows])
        densities = [np.log(np.exp(-b * apart).sum()) for b in STEEPNESS]
        np.testing.assert_allclose(found[number, :4], [-apart.min(), *densities], rtol=1e-4)


def test_numbers_that_return_are_near_and_tables_without_any_are_as_before() -> None:
    released, records = mixed_table(40, seed=1), mixed_table(6, seed=2)
    cells = ColumnValues.between(released, released)
    logs = cells.log_densities(records, released) + np.log(cells.ranges)[:, None]
    np.testing.assert_allclose(nearness(records, released)[:, 4], logs.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(nearness(records, released)[:, 6:], logs.T, rtol=1e-5)
    marks = ["sex", "ward"]
    assert nearness(records.view(marks), released.view(marks)).shape == (6, 4)
    # Every number of a record comes back, each in another row.
    frame = released.copy().data
    shifted = {name: np.roll(frame[name], n) for n, name in enumerate(frame)}
    mixed = TabularDataset(pd.DataFrame(shifted), released.description)
    assert nearness(released, mixed)[:, 4].min() > nearness(records, mixed)[:, 4].max()


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_where_there_are_numbers_the_mixed_distance_counts_on_a_logarithmic_scale(
    missing: float,
) -> None:
    released, records = mixed_table(40, 1, missing), mixed_table(6, 2, missing)
    least = MixedDistance()(records, released).min(axis=1)
    np.testing.assert_allclose(nearness(records, released)[:, 5], -np.log(least + 0.05), rtol=1e-5)
    assert nearness(released, released)[:, 5] == pytest.approx(-np.log(0.05))


@pytest.mark.parametrize(("columns", "told"), [(1, 6), (2, 8), (32, 38), (33, 6)])
def test_of_very_many_numbers_only_the_sum_is_told(columns: int, told: int) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, columns))).rename(columns=str)
    table = TabularDataset.from_dataframe(frame)
    assert nearness(table.take(range(5)), table).shape == (5, told)


def test_an_empty_release_is_near_nobody() -> None:
    empty, records = mixed_table(3).empty(), mixed_table(2)
    assert np.isfinite(nearness(records, empty)).all()
    assert (nearness(records, empty) < nearness(records, mixed_table(3))).all()


def mean_area(game: TargetedMIA, attack: AttackDoors) -> float:
    record = Audit(game, [attack], 40, 40).run(n_jobs=1)
    assert record.subjects[0].crashes == ()
    return float(np.mean([summary.auc for summary in record.subjects[0].summaries]))


def test_an_ensemble_tells_about_as_much_as_its_best_member() -> None:
    game = membership_game(mixed_table(8, seed=9), Bootstrap(), size=40, released=40)
    together = mean_area(game, EnsembleAttack(SMALL))
    assert together > 0.75
    assert together > max(mean_area(game, member) for member in SMALL) - 0.03


def test_members_may_learn_about_one_target_at_a_time() -> None:
    game = membership_game(mixed_table(4, seed=9), Bootstrap(), size=40, released=40)
    alone = mean_area(game, ClosestDistanceMIA())
    stacked = mean_area(game, EnsembleAttack([ClosestDistanceMIA()]))
    assert stacked == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("values", [("F", "M"), ("F", "M", "U")], ids=len)
def test_values_are_found_in_resampled_records(values: tuple[str, ...]) -> None:
    game = attribute_game(mixed_table(6, seed=9), values, Bootstrap(), size=40, released=40)
    record = Audit(game, [EnsembleAttack(SMALL)], 40, 40).run(n_jobs=1)
    accuracy = [summary.accuracy for summary in record.subjects[0].summaries]
    assert np.mean(accuracy) > 1 / len(values) + 0.15


def test_what_members_see_stands_side_by_side() -> None:
    briefing = membership_briefing(mixed_table(3, seed=4))
    data: TabularDataset = mixed_table(20)
    together = seen(EnsembleAttack(SMALL), briefing, data)
    for number, member in enumerate(SMALL):
        assert together[f"{number}"].tolist() == seen(member, briefing, data).tolist()


def test_views_are_judged_by_their_own_part_of_what_was_learnt() -> None:
    game = membership_game(mixed_table(3, seed=9), size=30, released=30)
    record = Audit(game, [EnsembleAttack(SMALL)], 20, 10).run(n_jobs=1)
    for view, summary in zip(game, record.subjects[0].summaries, strict=True):
        attack = EnsembleAttack(SMALL)
        attack.train(view, 20)
        np.testing.assert_allclose(view.test(attack, 10).scores, summary.scores, rtol=1e-4)


def test_an_ensemble_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        EnsembleAttack([])


@pytest.mark.slow
def test_a_generator_that_leaks_nothing_leaves_the_ensemble_at_chance() -> None:
    areas = []
    for seed in range(200):
        game = membership_game(mixed_table(6, seed=9), Deaf(), size=20, released=20, seed=seed)
        record = Audit(game, [EnsembleAttack(SMALL)], 20, 40).run(n_jobs=1)
        areas += [np.mean([summary.auc for summary in record.subjects[0].summaries])]
    assert abs(np.mean(areas) - 0.5) < 4 * np.std(areas) / np.sqrt(len(areas))


def test_marginals_are_weighed_where_the_attacker_has_records_to_compare_with() -> None:
    targets, held = mixed_table(2), mixed_table(30, seed=4)
    names = {
        what: [type(one).__name__ for one in EnsembleAttack().members(briefing)]
        for what, briefing in {
            "held": membership_briefing(targets, held),
            "nothing held": membership_briefing(targets),
            "attribute": attribute_briefing(targets, "sex", ("F", "M")),
        }.items()
    }
    assert names["held"] == ["SubsetAttack", "NearnessAttack", "MarginalsAttack"]
    assert names["nothing held"] == names["attribute"] == names["held"][:2]
    assert EnsembleAttack(SMALL).members(membership_briefing(targets, held)) == tuple(SMALL)
    seen_by_all = seen(EnsembleAttack(), membership_briefing(targets, held), mixed_table(20))
    assert len(seen_by_all.dtype.names or ()) == 3


def test_members_that_learn_one_by_one_are_weighed_where_few_releases_have_one_secret() -> None:
    members = (ClosestDistanceMIA(), SubsetAttack(number=60))
    for seed in range(3):
        game = membership_game(
            mixed_table(12, seed=9), Bootstrap(), size=20, released=20, seed=seed
        )
        record = Audit(game, [EnsembleAttack(members)], 3, 6).run(n_jobs=1)
        (subject,) = record.subjects
        assert not subject.crashes
        assert len(subject.summaries) == 12
