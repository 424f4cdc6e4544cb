"""One release that exists already, judged from files."""

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KernelDensity

from tapas.attacks import (
    DOMIAS,
    ClosestDistanceMIA,
    GenLRA,
    GroundhogAttack,
    InferenceAttack,
    LinkabilityAttack,
    LocalNeighbourhoodAttack,
    LocalNeighboursWithReference,
    LossMIA,
    MixedDistance,
    ProbabilityEstimationAttack,
    RecordEnsembleAttack,
    SinglingOutAttack,
)
from tapas.audit import Audit
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import (
    IncompatibleAttackError,
    SchemaError,
    TargetInDataWarning,
    ThreatModelError,
)
from tapas.game import TableBriefing
from tapas.generators import Bootstrap
from tapas.report import AuditPage
from tapas.report._page_controls import control_words
from tapas.results import (
    Findings,
    Gate,
    decide,
    exposure_table,
    leak,
    record_facts,
    summary_facts,
)
from tapas.stats import auc_interval
from tapas.threat_models import ObservedMIA

MAKERS = {
    "closest": ClosestDistanceMIA,
    "ball": lambda: LocalNeighbourhoodAttack(radius=3),
    "density": lambda: ProbabilityEstimationAttack(KernelDensity(bandwidth=0.5), "accuracy"),
    "domias": DOMIAS,
    "local likelihood": GenLRA,
    "neighbours": LocalNeighboursWithReference,
    "ensemble": RecordEnsembleAttack,
    "singling out": SinglingOutAttack,
    "linkability": LinkabilityAttack,
    "inference": InferenceAttack,
}


def pools(name: str, sizes: tuple[int, ...], seed: int = 0) -> list[TabularDataset]:
    """Disjoint random parts of one sample table."""
    data = load_sample(name, sum(sizes), seed=seed)
    order = np.random.default_rng(seed).permutation(len(data))
    return [data.take(rows) for rows in np.split(order, np.cumsum(sizes)[:-1])]


def judged(game: ObservedMIA, attack: Any) -> Any:
    attack.train(game)
    return game.test(attack)


@pytest.fixture(autouse=True)
def _quiet_about_equal_records() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetInDataWarning)
        yield


# -- null calibration ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["census", "clinic"])
@pytest.mark.parametrize("sizes", [(600, 150), (150, 600), (300, 300)])
def test_real_rows_that_are_nobodys_leave_every_attack_at_chance(
    name: str, sizes: tuple[int, int]
) -> None:
    areas: dict[str, list[float]] = {key: [] for key in MAKERS}
    variances = []
    for seed in range(4):
        members, others, unused = pools(name, (*sizes, 300), seed)
        game = ObservedMIA(unused, members, others, seed=seed)
        variances.append(variance_by_chance(game))
        for key, make in MAKERS.items():
            areas[key].append(judged(game, make()).auc)
    # The mean of independent repetitions: four standard errors.
    error = np.sqrt(sum(variances)) / len(variances)
    assert {key: abs(np.mean(found) - 0.5) < 4 * error for key, found in areas.items()} == (
        dict.fromkeys(MAKERS, True)
    )


def variance_by_chance(game: ObservedMIA) -> float:
    """Of the area where labels say nothing about scores; ties make it smaller."""
    inside, outside = game.counts.judged_members, game.counts.judged_non_members
    return (inside + outside + 1) / (12 * inside * outside)


def few_values(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Five columns of skewed categories: many records have equals, on both sides."""
    shares = np.array([0.5, 0.25, 0.1, 0.06, 0.04, 0.02, 0.02, 0.01])
    return rng.choice(8, size=(rows, 5), p=shares)


@pytest.mark.parametrize("sizes", [(900, 200), (200, 900)])
@pytest.mark.parametrize("given_reference", [False, True])
def test_records_with_equals_are_left_out_without_favouring_a_side(
    sizes: tuple[int, int], given_reference: bool
) -> None:
    description = DataDescription(
        [{"name": c, "type": "finite", "representation": 8} for c in "abcde"], "few"
    )
    positive: dict[str, list[float]] = {key: [] for key in MAKERS}
    for seed in range(14):
        rng = np.random.default_rng(seed)
        tables = [TabularDataset(few_values(n, rng), description) for n in (*sizes, 250, 150)]
        members, others, unused, more = tables
        reference = more if given_reference else None
        try:
            game = ObservedMIA(unused, members, others, reference, 0.3, seed=seed)
        except ThreatModelError:
            continue
        for key, make in MAKERS.items():
            positive[key].append(judged(game, make()).auc)
    for key, areas in positive.items():
        assert len(areas) >= 10
        # The mean of independent repetitions: four standard errors.
        error = np.std(areas, ddof=1) / np.sqrt(len(areas))
        assert abs(np.mean(areas) - 0.5) < 4 * error + 1e-9, key


def test_a_reference_that_holds_the_non_members_does_not_give_them_away() -> None:
    members, others, unused, more = pools("clinic", (300, 300, 300, 300), 5)
    game = ObservedMIA(unused, members, others, others + members + more, seed=1)
    assert game.counts.reference == 300
    assert game.counts.reference_left_out == 600
    for make in (DOMIAS, LocalNeighboursWithReference):
        facts = summary_facts(judged(game, make()))
        assert facts.auc is not None
        assert facts.auc.low <= 0.5 <= facts.auc.high


@pytest.mark.slow
def test_intervals_cover_chance_as_often_as_they_say() -> None:
    covered = dict.fromkeys(MAKERS, 0)
    rounds = 60
    for seed in range(rounds):
        members, others, unused = pools("census", (900, 200, 500), 100 + seed)
        game = ObservedMIA(unused, members, others, seed=seed)
        for key, make in MAKERS.items():
            summary = judged(game, make())
            inside = summary.scores[summary.labels == 1], summary.scores[summary.labels == 0]
            found = auc_interval(*inside)
            covered[key] += found.low <= 0.5 <= found.high
    assert min(covered.values()) >= 0.95 * rounds - 4 * np.sqrt(0.95 * 0.05 * rounds), covered


# -- leaks are found -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["census", "clinic"])
def test_a_bootstrap_copy_is_broken(name: str) -> None:
    members, others = pools(name, (500, 300), 1)
    game = ObservedMIA(Bootstrap()(members, 500, random_state=1), members, others, seed=0)
    for key in ("closest", "domias", "ensemble", "singling out", "inference"):
        facts = summary_facts(judged(game, MAKERS[key]()))
        assert facts.auc is not None
        assert facts.auc.low > 0.6
    # A record is in the copy with probability 1 - 1/e, and is then surely found.
    facts = summary_facts(judged(game, ClosestDistanceMIA(criterion=("threshold", 0))))
    assert facts.advantage is not None
    assert facts.advantage.low < 1 - np.exp(-1) < facts.advantage.high


@pytest.mark.parametrize("key", MAKERS)
def test_a_perfect_copy_does_not_crash(key: str) -> None:
    members, others = pools("clinic", (200, 200), 2)
    summary = judged(ObservedMIA(members, members, others, seed=0), MAKERS[key]())
    assert not np.isnan(summary.scores).any()
    if key == "closest":
        assert summary.auc == 1


def test_no_epsilon_is_certified_from_one_release() -> None:
    members, others = pools("clinic", (200, 200), 2)
    game = ObservedMIA(members, members, others, seed=0)
    summary = judged(game, ClosestDistanceMIA())
    assert set(summary.groups.tolist()) == {0}
    assert summary_facts(summary).epsilon is None


# -- who is compared -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "known", "judged"),
    [(0.5, (200, 150), (400, 300)), (0.2, (67, 60), (533, 480)), (0.8, (400, 240), (200, 120))],
)
def test_without_a_reference_so_many_are_known_as_the_docs_say(
    share: float, known: tuple[int, int], judged: tuple[int, int]
) -> None:
    numbers = pd.DataFrame({"x": np.random.default_rng(0).normal(size=1300)})
    table = TabularDataset.from_dataframe(numbers)
    members, others = table.take(range(600)), table.take(range(600, 1200))
    release = table.take(range(1200, 1300))
    counts = ObservedMIA(release, members, others, known_share=share, seed=0).counts
    assert (counts.known_members, counts.known_non_members) == known
    assert (counts.judged_members, counts.judged_non_members) == judged
    assert counts.known_members == round(600 * share / (2 - share))


def test_nobody_is_cut_off_for_size_and_nobody_is_both_known_and_judged() -> None:
    members, others, unused = pools("clinic", (900, 200, 100), 3)
    game = ObservedMIA(unused, members, others, seed=4)
    counts = game.counts
    assert (counts.members, counts.non_members, counts.released) == (900, 200, 100)
    assert (counts.left_out_members, counts.left_out_non_members) == (0, 0)
    # A quarter of the non-members is the reference, a third of the rest is known, of either side.
    assert counts.reference == 50
    assert (counts.known_members, counts.known_non_members) == (300, 50)
    assert (counts.judged_members, counts.judged_non_members) == (600, 100)
    known, asked = game.game.briefing("train"), game.briefing()
    assert isinstance(asked, TableBriefing)
    assert (len(known.targets), len(asked.targets)) == (350, 700)
    held = asked.auxiliary
    assert isinstance(held, TabularDataset)
    for first, second in ((known.targets, asked.targets), (held, asked.targets)):
        assert (first.table.count_differences(second.table) > 0).all()
    who = game.judged_records()
    assert who["source"].value_counts().to_dict() == {"members": 600, "non_members": 100}
    for source, table in (("members", members), ("non_members", others)):
        rows = who.index[who["source"] == source].to_numpy()
        given = table.take(who["row"].to_numpy()[rows])
        assert given.table.same_values(asked.targets.take(rows).table)


def test_equal_records_are_counted_and_left_out() -> None:
    members, others = pools("clinic", (100, 100), 3)
    shared = members.take(range(10))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        game = ObservedMIA(members, members, others + shared, known_share=0, seed=0)
    assert [w.category for w in caught] == [TargetInDataWarning]
    counts = game.counts
    assert (counts.left_out_members, counts.left_out_non_members) == (10, 10)
    assert (counts.judged_members, counts.judged_non_members) == (90, 100)
    assert "10 members and 10 non-members" in str(caught[0].message)
    assert "90 members and 100 non-members remain" in str(caught[0].message)
    who = game.judged_records()
    assert (who["row"][who["source"] == "members"] >= 10).all()
    assert (who["row"][who["source"] == "non_members"] < 100).all()


def test_all_records_equal_is_an_error_that_says_so() -> None:
    members, unused = pools("clinic", (50, 50), 3)
    with pytest.raises(ThreatModelError, match="not on both sides"):
        ObservedMIA(unused, members, members)
    with pytest.raises(ThreatModelError, match="reference"):
        ObservedMIA(unused, members.take(range(25)), members.take(range(25, 50)), members)


def test_missing_values_and_minus_zero_are_equal_to_themselves() -> None:
    description = DataDescription([{"name": "x", "type": "real"}], "numbers")
    inside = [[np.nan], [0.0], [1.0], [2.0], [3.0]]
    outside = [[np.nan], [-0.0], [4.0], [5.0], [6.0]]
    game = ObservedMIA(
        TabularDataset([[1.0]], description),
        TabularDataset(inside, description),
        TabularDataset(outside, description),
        known_share=0,
    )
    assert (game.counts.left_out_members, game.counts.left_out_non_members) == (2, 2)
    assert (game.counts.judged_members, game.counts.judged_non_members) == (3, 3)


def test_equal_seeds_give_equal_results() -> None:
    members, others, unused = pools("census", (200, 100, 100), 3)
    first, second, third = (
        judged(ObservedMIA(unused, members, others, seed=seed), DOMIAS()) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.scores, second.scores)
    assert not np.array_equal(first.scores, third.scores)


# -- attacks -------------------------------------------------------------------------------------


def test_fixed_thresholds_need_no_known_records() -> None:
    members, others = pools("clinic", (100, 100), 3)
    game = ObservedMIA(members, members, others, known_share=0, seed=0)
    assert (game.counts.judged_members, game.counts.judged_non_members) == (100, 100)
    summary = judged(game, ClosestDistanceMIA(criterion=("threshold", 0)))
    assert summary.accuracy == 1
    with pytest.raises(IncompatibleAttackError, match="known_share leaves none"):
        judged(game, ClosestDistanceMIA())
    with pytest.raises(IncompatibleAttackError, match="reference"):
        judged(game, DOMIAS(("threshold", 0)))
    with_reference = ObservedMIA(members, members, others.take(range(50)), others, 0, seed=0)
    assert judged(with_reference, DOMIAS(("threshold", 0))).auc > 0.8


@pytest.mark.parametrize(
    ("attack", "words"),
    [(GroundhogAttack(), "there is only one: use .*DOMIAS"), (LossMIA(), "attacks models")],
    ids=["groundhog", "loss"],
)
def test_attacks_that_do_not_fit_one_table_are_refused(attack: Any, words: str) -> None:
    members, others = pools("clinic", (60, 60), 3)
    game = ObservedMIA(members, members, others, seed=0)
    with pytest.raises(IncompatibleAttackError, match=words):
        game.check(attack)
    with pytest.raises(IncompatibleAttackError):
        judged(game, attack)


@pytest.mark.parametrize("key", MAKERS)
def test_results_do_not_depend_on_chunks(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    members, others, unused = pools("clinic", (80, 60, 50), 3)
    whole = judged(ObservedMIA(unused, members, others, seed=1), MAKERS[key]())
    monkeypatch.setattr("tapas.game._tasks.LARGEST_CHUNK", 7 * 50)
    parts = judged(ObservedMIA(unused, members, others, seed=1), MAKERS[key]())
    assert parts.scores == pytest.approx(whole.scores, rel=1e-9)
    assert np.array_equal(parts.predictions, whole.predictions)


@pytest.mark.parametrize(
    ("key", "chunk", "rows"), [("ball", 1 << 18, 4000), ("domias", 1 << 22, 3500)]
)
def test_memory_does_not_grow_with_the_product_of_the_tables(
    key: str, chunk: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapas.game._tasks.LARGEST_CHUNK", chunk)
    monkeypatch.setattr("tapas.attacks.tables._distances.LARGEST_MATRIX", 1 << 16)
    monkeypatch.setattr("tapas.attacks.tables._mixed_kernel.PAIRS_AT_ONCE", 1 << 16)
    members, others, unused = pools("census", (rows, rows, rows), 1)
    game = ObservedMIA(unused, members, others, seed=1)
    tracemalloc.start()
    judged(game, MAKERS[key]())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < rows * rows


def test_another_release_keeps_records_and_secrets() -> None:
    members, others, unused = pools("clinic", (200, 200, 100), 3)
    game = ObservedMIA(unused, members, others, seed=1)
    copied = game.with_release(members)
    attack = ClosestDistanceMIA()
    assert judged(game, attack).auc < 0.7
    assert judged(copied, attack).auc == 1
    assert judged(game, attack).auc < 0.7
    assert np.array_equal(judged(game, attack).labels, judged(copied, attack).labels)


def test_the_most_exposed_records_can_be_listed() -> None:
    members, others = pools("clinic", (100, 100), 3)
    game = ObservedMIA(members, members, others, seed=1)
    table = exposure_table(judged(game, DOMIAS()), game.judged_records(), most=5)
    assert table["source"].tolist() == ["members"] * 5


def test_tables_of_another_description_are_refused() -> None:
    members, others = pools("clinic", (50, 50), 3)
    (different,) = pools("census", (50,), 3)
    for tables in ((different, members, others), (members, members, different)):
        with pytest.raises(SchemaError, match="one description"):
            ObservedMIA(*tables)
    with pytest.raises(SchemaError, match="must be a TabularDataset"):
        ObservedMIA(pd.DataFrame(), members, others)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="known_share"):
        ObservedMIA(members, members, others, known_share=2)


def periods(seed: int, size: int, shift: float) -> list[TabularDataset]:
    """Private records and a release of one period that knows nothing of them; others of another."""
    rng = np.random.default_rng(seed)
    tables = []
    for moved in (0.0, 0.0, shift):
        frame = pd.DataFrame({"a": rng.normal(moved, 1, size).round(3), "b": rng.normal(size=size)})
        frame["ward"] = rng.choice(list("xyz"), size, p=[0.3 + 0.3 * moved, 0.4 - 0.3 * moved, 0.3])
        tables.append(frame)
    schema = DataDescription.infer(pd.concat(tables))
    return [TabularDataset(frame, schema) for frame in tables]


def test_a_holdout_of_another_period_shows_no_leak_and_decides_nothing() -> None:
    private, released, holdout = periods(0, 500, 0.8)
    game = ObservedMIA(released, private, holdout, seed=0)
    gates = [Gate("auc", 0.55), Gate("auc", 0.99)]
    record = Audit(game, [ClosestDistanceMIA(), RecordEnsembleAttack()], gates=gates).run(n_jobs=1)
    found = Findings(record)
    assert max(one.own.auc.low for one in found.audited) > 0.55
    assert not found.leaks
    assert found.best.shared.split_is_unfit
    assert [one.state for one in decide(record).outcomes] == ["inconclusive"] * 2
    said = " ".join(AuditPage(record).words)
    assert "do not come from one distribution" in said
    assert "without the release" in said
    assert "the model" not in said
    assert control_words(found).startswith("As members and non-members do not come from one")


def test_a_leak_is_found_where_the_sides_are_alike() -> None:
    private, _, holdout = periods(1, 500, 0.0)
    noise = np.random.default_rng(2).normal(0, 0.01, len(private))
    near = TabularDataset(private.data.assign(b=private.data["b"] + noise), private.description)
    game = ObservedMIA(near, private, holdout, seed=0)
    record = Audit(game, [RecordEnsembleAttack()], gates=[Gate("auc", 0.6)]).run(n_jobs=1)
    found = Findings(record)
    assert found.leaks
    assert not found.best.shared.split_is_unfit
    assert decide(record).exit_code == 1
    assert found.surest is not None


def test_a_game_about_fewer_records_is_about_some_of_the_same() -> None:
    private, released, holdout = periods(4, 300, 0.0)
    game = ObservedMIA(released, private, holdout, seed=0)
    few = game.fewer(80)
    assert few.judged_records().equals(game.judged_records().head(80))
    assert len(few.game.known) == 80
    assert few.game.reference is game.game.reference
    copied = judged(few.with_release(private), ClosestDistanceMIA())
    assert len(copied) == 80
    assert copied.auc == 1
    assert game.fewer(10**6).judged_records().equals(game.judged_records())


def test_what_records_alone_tell_is_asked_once_whatever_the_release() -> None:
    private, released, holdout = periods(2, 200, 0.5)
    game = ObservedMIA(released, private, holdout, seed=0)
    told = game.game.inputs_alone
    assert game.with_release(private).game.inputs_alone is told
    turned = game.turned()
    assert turned is not None
    assert len(turned.game.inputs_alone) == len(turned.judged_records())
    assert turned.turned().game.inputs_alone is told


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shift", [0.15, 0.5])
def test_few_holdouts_of_another_period_are_called_leaks(shift: float) -> None:
    called: dict[str, int] = {}
    for seed in range(200):
        private, released, holdout = periods(seed, 250, shift)
        game = ObservedMIA(released, private, holdout, seed=seed)
        attacks = [ClosestDistanceMIA(), DOMIAS(), RecordEnsembleAttack()]
        record = Audit(game, attacks).run(n_jobs=1)
        for facts in record_facts(record):
            called[facts.attack] = called.get(facts.attack, 0) + (leak(facts)[0] > 0)
        called["page"] = called.get("page", 0) + Findings(record).leaks
    print(shift, called)  # noqa: T201
    assert max(called.values()) <= 10 + 3 * np.sqrt(200 * 0.05 * 0.95), called


def test_an_empty_release_gives_nothing_away() -> None:
    members, others = pools("clinic", (50, 50), 3)
    game = ObservedMIA(members.empty(), members, others, seed=1)
    for make in (ClosestDistanceMIA, DOMIAS, LocalNeighboursWithReference):
        assert judged(game, make()).auc == 0.5


@pytest.mark.parametrize(("kept_back", "leaks"), [(0.1, True), (0.0, False)])
def test_the_default_attacks_see_that_what_was_nearest_is_missing(
    kept_back: float, leaks: bool
) -> None:
    """A tenth of the rows, nearest by gaps of numbers; whether numbers are equal tells nothing."""
    private, holdout, drawn = pools("clinic", (500, 500, 5000), 0)
    gaps = MixedDistance(exact=False).nearest(drawn, private)
    kept = np.flatnonzero(gaps >= np.quantile(gaps, kept_back))[:1000]
    game = ObservedMIA(private, holdout, drawn.take(kept), seed=0)
    assert Findings(Audit(game).run(n_jobs=1)).leaks == leaks
    assert not Findings(Audit(game, [ClosestDistanceMIA()]).run(n_jobs=1)).leaks
