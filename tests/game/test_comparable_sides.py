"""Members and non-members that are compared differ by membership alone."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import TargetInDataWarning, ThreatModelError
from tapas.game import Candidates, Compared, compare_sides, split_sides
from tapas.threat_models import ObservedMIA


@dataclass(frozen=True, eq=False)
class Numbers:
    """Records that are numbers."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def splice(self, other: "Numbers", rows: np.ndarray) -> "Numbers":
        return Numbers(np.concatenate([self.values, other.values])[rows])


Sides = tuple[np.ndarray, np.ndarray]


def split(
    keys: Sides, share: float, seed: int
) -> tuple[Compared, Candidates[Numbers] | None, Candidates[Numbers]]:
    compared = compare_sides(keys, seed)
    records = (Numbers(keys[0]), Numbers(keys[1]))
    return compared, *split_sides(records, keys, compared.rows, share, seed)


def chance_to_stay(own: int, other: int, copies: int) -> Fraction:
    """What makes c equal records of one side as likely, relative to its size, as of the other."""
    total = own + other
    all_own = Fraction(comb(total - copies, own - copies), comb(total, own))
    all_other = Fraction(comb(total - copies, own), comb(total, own)) if copies <= other else 0
    return Fraction(own, other) * all_other / all_own


# -- sizes ---------------------------------------------------------------------------------------


def test_all_are_compared_where_no_records_are_equal() -> None:
    compared, known, judged = split((np.arange(1000), np.arange(1000, 1200)), 0.5, seed=1)
    assert [len(rows) for rows in compared.rows] == [1000, 200]
    assert (compared.on_both_sides, compared.thinned, compared.left_out) == ((0, 0), 0, 0)
    assert known is not None
    assert (known.members.sum(), (~known.members).sum()) == (500, 100)
    assert (judged.members.sum(), (~judged.members).sum()) == (500, 100)


def test_one_equal_record_takes_one_of_each_side() -> None:
    compared, known, judged = split((np.arange(1000), np.arange(999, 1199)), 0.5, seed=1)
    assert [len(rows) for rows in compared.rows] == [999, 199]
    assert (compared.on_both_sides, compared.thinned) == ((1, 1), 0)
    assert "1 members and 1 non-members" in compared.words()
    assert "999 members and 199 non-members remain" in compared.words()
    assert known is not None
    assert known.members.sum() + judged.members.sum() == 999
    assert len(known) + len(judged) == 999 + 199


@pytest.mark.parametrize("swapped", [False, True])
def test_files_of_unequal_sizes_are_compared_whole(swapped: bool) -> None:
    description = DataDescription([{"name": "x", "type": "countable"}], "numbers")

    def table(start: int, stop: int) -> TabularDataset:
        return TabularDataset([[value] for value in range(start, stop)], description)

    def game(first: int) -> ObservedMIA:
        sides = [table(0, 1000), table(first, first + 200)]
        members, others = reversed(sides) if swapped else sides
        return ObservedMIA(table(0, 9), members, others, table(2000, 2300), seed=3)

    counts = game(1000).counts
    sizes = [counts.known_members, counts.known_non_members]
    assert sorted(sizes) == [100, 500]
    assert sizes == [counts.judged_members, counts.judged_non_members]
    assert (counts.left_out_members, counts.left_out_non_members) == (0, 0)
    with pytest.warns(TargetInDataWarning, match="999|199"):
        counts = game(999).counts
    remaining = [
        counts.known_members + counts.judged_members,
        counts.known_non_members + counts.judged_non_members,
    ]
    assert sorted(remaining) == [199, 999]
    assert (counts.left_out_members, counts.left_out_non_members) == (1, 1)


# -- values say nothing about the side -----------------------------------------------------------


@pytest.mark.parametrize(("inside", "outside"), [(60, 28), (28, 60), (44, 44)])
def test_the_share_of_members_is_that_of_the_sides_for_values_of_every_multiplicity(
    inside: int, outside: int
) -> None:
    copies = np.repeat([1, 2, 3, 4], [20, 12, 8, 5])
    records = np.repeat(np.arange(len(copies)), copies)
    assert len(records) == inside + outside
    kept = np.zeros((2, 5), dtype=int)
    rng = np.random.default_rng(7)
    for seed in range(5000):
        dealt = rng.permutation(records)
        keys = (dealt[:inside], dealt[inside:])
        compared = compare_sides(keys, seed)
        for side in (0, 1):
            values = np.unique(keys[side][compared.rows[side]])
            kept[side] += np.bincount(copies[values], minlength=5)
    members, others = kept[:, 1:]
    assert (members + others > 200).all()
    share = inside / (inside + outside)
    for among, all_kept in zip(members, members + others, strict=True):
        # Values of one deal are not quite independent: a wide margin.
        assert abs(among / all_kept - share) < 4.5 * np.sqrt(share * (1 - share) / all_kept)
    table = np.stack([members, others])
    assert stats.chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("copies", [1, 2, 3, 5])
def test_repeated_values_of_the_larger_side_stay_with_the_exact_chance(copies: int) -> None:
    large = np.repeat(np.arange(600), copies)
    small = np.arange(10_000, 10_000 + len(large) * 3 // 4)
    stayed = []
    for seed in range(5):
        compared = compare_sides((large, small), seed)
        values = np.unique(large[compared.rows[0]])
        assert len(compared.rows[0]) == copies * len(values)
        assert len(compared.rows[1]) == len(small)
        assert compared.thinned == len(large) - len(compared.rows[0])
        stayed.append(len(values))
    chance = float(chance_to_stay(len(large), len(small), copies))
    error = np.sqrt(chance * (1 - chance) / (5 * 600))
    assert abs(np.mean(stayed) / 600 - chance) <= 4 * error
    assert copies > 1 or chance == 1


def test_more_copies_than_the_other_side_has_records_cannot_stay() -> None:
    compared = compare_sides((np.array([1, 1, 1, 1, 2, 3, 4]), np.array([7, 8, 9])), seed=0)
    assert compared.rows[0].tolist() == [4, 5, 6]
    assert compared.thinned == 4
    assert "4 repeated records of the larger side" in compared.words()


def test_the_smaller_side_and_equal_sides_are_not_thinned() -> None:
    large = np.arange(100)
    small = np.array([200, 200, 200, 201, 201, 202])
    for keys in ((large, small), (small, large), (small, small + 10)):
        compared = compare_sides(keys, seed=5)
        assert [len(rows) for rows in compared.rows] == [len(side) for side in keys]


def test_who_is_compared_follows_from_the_seed() -> None:
    keys = (np.repeat(np.arange(50), 3), np.arange(100, 200))
    first, again, other = (compare_sides(keys, seed).rows[0].tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


# -- known and judged ----------------------------------------------------------------------------


def test_equal_records_are_all_known_or_all_judged() -> None:
    keys = (np.repeat(np.arange(40), 5), np.repeat(np.arange(100, 140), 4))
    for seed in range(30):
        _, known, judged = split(keys, 0.5, seed)
        assert known is not None
        seen, asked = (Counter(side.records.values.tolist()) for side in (known, judged))
        assert not set(seen) & set(asked)
        assert set(seen.values()) | set(asked.values()) <= {4, 5}


def test_every_record_is_known_with_the_same_chance_whatever_its_copies() -> None:
    keys = (np.repeat(np.arange(60), [1, 2, 3] * 20), np.arange(100, 220))
    known_values = np.zeros(60)
    for seed in range(400):
        _, known, _ = split(keys, 0.4, seed)
        assert known is not None
        known_values[np.unique(known.records.values[known.members])] += 1
    shares = known_values.reshape(20, 3).mean(axis=0) / 400
    assert np.abs(shares - 0.4).max() < 4 * np.sqrt(0.24 / (20 * 400))


def test_the_order_of_those_that_are_judged_says_nothing() -> None:
    ranks = []
    for seed in range(40):
        _, known, judged = split((np.arange(30), np.arange(100, 130)), 0.5, seed)
        assert known is not None
        for side in (known, judged):
            assert np.array_equal(side.records.values, side.rows + 100 * ~side.members)
            ranks.append(np.flatnonzero(side.members).mean() - 14.5)
    assert abs(np.mean(ranks)) < 4 * np.std(ranks) / np.sqrt(len(ranks))


def test_nobody_is_known_without_a_share() -> None:
    _, known, judged = split((np.arange(5), np.arange(10, 14)), 0.0, seed=0)
    assert known is None
    assert len(judged) == 9


def test_too_few_to_judge_are_refused_with_their_number() -> None:
    with pytest.raises(ThreatModelError, match="1 members and 5 non-members"):
        split((np.array([1, 2, 3]), np.array([2, 3, 4, 5, 6, 7, 8])), 0.0, seed=0)
    with pytest.raises(ThreatModelError, match="smaller known_share"):
        split((np.arange(5), np.arange(10, 15)), 0.9, seed=0)
