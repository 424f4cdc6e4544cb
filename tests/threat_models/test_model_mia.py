"""Membership games about models: who is known, who is judged, what reference models train on."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._quantile import QuantileMIA
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._rule_based import RuleBasedMIA
from tapas.attacks.models._score_attacks import LossMIA
from tapas.attacks.tables._closest_distance import ClosestDistanceMIA
from tapas.errors import (
    IncompatibleAttackError,
    MechanismError,
    SchemaError,
    TapasWarning,
    TargetInDataWarning,
    ThreatModelError,
)
from tapas.models import as_model
from tapas.threat_models._model_mia import ModelMIA
from tapas.threat_models._reference_models import ReferencePlan


def blobs(number: int, seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((number, 6))
    y = ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(number) < noise)).astype(int)
    return X, y


@pytest.fixture(scope="module")
def game() -> tuple:
    members, others = blobs(120, 0), blobs(120, 1)
    return DecisionTreeClassifier(random_state=0).fit(*members), members, others


def all_attacks() -> list:
    return [
        RuleBasedMIA(),
        LossMIA(),
        BlackBoxMIA("lr"),
        QuantileMIA(DecisionTreeRegressor(min_samples_leaf=5)),
        LabelOnlyMIA(max_queries=20),
        CalibratedLossMIA(),
        LiRA(),
        LiRA("offline"),
        RMIA(),
        RMIA("offline"),
    ]


def test_known_records_are_never_judged_and_all_others_are(game: tuple) -> None:
    model, members, others = game
    threat_model = ModelMIA(model, members, others, known_share=0.25, seed=3)
    known = threat_model.game.known.records.row_keys()
    judged = threat_model.game.candidates.records.row_keys()
    assert len(known) == 60
    assert len(judged) == 180
    assert not np.isin(judged, known).any()
    about = threat_model.judged_records()
    source = np.where(about["source"] == "members", 0, 1)
    given = np.stack([members[0], others[0]])
    np.testing.assert_array_equal(
        given[source, about["row"].to_numpy()], threat_model.game.candidates.records.X
    )
    assert (about["correct"] == (about["predicted"] == about["class"])).all()


def test_equal_records_of_a_side_are_compared_once() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(400, 2)).astype(float), np.zeros(400, dtype=int)
    y[:200] = 1  # the sides share no record, and each has many copies of few
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.warns(TargetInDataWarning, match="191 members and 191 non-members repeat others"):
        threat_model = ModelMIA(tree, (X[:200], y[:200]), (X[200:], y[200:]), seed=1)
    known = threat_model.game.known.records.row_keys()
    judged = threat_model.game.candidates.records.row_keys()
    assert len(known) + len(judged) == 18
    assert min(len(known), len(judged)) > 0
    assert not np.isin(judged, known).any()


def test_the_order_of_judged_records_does_not_tell_members(game: tuple) -> None:
    model, members, others = game
    secrets = ModelMIA(model, members, others, seed=0).game.candidates.members
    assert 10 < secrets[: len(secrets) // 2].sum() < 50


def test_permuting_the_judged_memberships_changes_nothing_but_the_truth_of_the_summary(
    game: tuple,
) -> None:
    model, members, others = game

    def play(permuted: bool) -> dict:
        threat_model = ModelMIA(
            model, members, others, trainer=DecisionTreeClassifier(), num_shadows=4, seed=5
        )
        if permuted:
            judged = threat_model.game.candidates
            flipped = np.random.default_rng(0).permutation(judged.members)
            threat_model._game = dataclasses.replace(
                threat_model.game, candidates=dataclasses.replace(judged, members=flipped)
            )
        outcome = {}
        for attack in all_attacks():
            attack.train(threat_model)
            outcome[attack.label] = threat_model.test(attack)
        return outcome

    honest, permuted = play(False), play(True)
    for label, summary in honest.items():
        np.testing.assert_array_equal(summary.scores, permuted[label].scores, err_msg=label)
        np.testing.assert_array_equal(summary.predictions, permuted[label].predictions)
    assert (honest["LiRA(online, auto)"].labels != permuted["LiRA(online, auto)"].labels).any()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_on_any_number_of_processes(game: tuple) -> None:
    model, members, others = game
    scores = []
    for jobs in (1, 2):
        threat_model = ModelMIA(
            model,
            members,
            others,
            trainer=RandomForestClassifier(5),
            num_shadows=4,
            seed=1,
            n_jobs=jobs,
        )
        attack = LiRA()
        attack.train(threat_model)
        scores.append(threat_model.test(attack).scores)
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("targets", "others", "size"), [(40, 60, 50), (41, 60, 50), (40, 0, 20), (40, 10, 45)]
)
def test_reference_models_come_in_pairs_of_the_audited_models_size(
    targets: int, others: int, size: int
) -> None:
    plan = ReferencePlan(6, targets, others, size, seed=0)
    masks = plan.masks()
    assert (masks.sum(axis=1) == size).all()
    if size - others <= targets // 2:
        np.testing.assert_array_equal(masks[0::2, :targets], ~masks[1::2, :targets])
        assert (masks[:, :targets].sum(axis=0) == 3).all()
    else:
        assert (~masks[0::2, :targets] & ~masks[1::2, :targets]).sum() == 0
    assert len({mask.tobytes() for mask in masks}) == 6


def test_reference_models_are_trained_on_as_many_records_as_the_audited_one(game: tuple) -> None:
    model, members, others = game
    threat_model = ModelMIA(model, members, others, trainer=DecisionTreeClassifier(), seed=0)
    assert (threat_model.game._pool[1].masks().sum(axis=1) == len(members[1])).all()


def test_without_targets_in_the_pool_shadows_never_see_judged_records(game: tuple) -> None:
    model, members, others = game
    threat_model = ModelMIA(
        model,
        members,
        others,
        trainer=DecisionTreeClassifier(),
        population=blobs(300, 9),
        train_on_targets=False,
        num_shadows=4,
        seed=0,
    )
    pool = threat_model.game._pool[0]
    judged = threat_model.game.candidates.records
    assert not np.isin(pool.row_keys(), judged.row_keys()).any()
    assert (threat_model.game._pool[1].masks().sum(axis=1) == 120).all()
    assert not threat_model.observe(LossMIA()).references.secrets.any()
    for attack in (CalibratedLossMIA(), LiRA("offline"), RMIA("offline"), BlackBoxMIA("lr")):
        attack.train(threat_model)
        assert threat_model.test(attack).auc > 0.52
    with pytest.raises(IncompatibleAttackError, match="mode='offline'"):
        LiRA("online").train(threat_model)


def test_too_small_a_pool_is_said_to_overfit(game: tuple) -> None:
    model, members, others = game
    threat_model = ModelMIA(
        model, members, others, trainer=DecisionTreeClassifier(), train_on_targets=False, seed=0
    )
    with pytest.warns(TapasWarning, match="trained on 60 records, the audited model on 120"):
        LossMIA().train(threat_model)


def test_a_model_that_memorises_is_broken_at_the_rate_its_errors_imply() -> None:
    members, others = blobs(400, 0, noise=0.4), blobs(400, 1, noise=0.4)
    model = KNeighborsClassifier(1).fit(*members)
    threat_model = ModelMIA(model, members, others, access="labels", known_share=0, seed=0)
    summary = threat_model.test(RuleBasedMIA())
    assert summary.tp == 1
    assert summary.fp == pytest.approx(model.score(*others))


def test_a_model_that_ignores_its_data_leaves_every_attack_at_chance() -> None:
    members, others = blobs(600, 0), blobs(600, 1)

    class Constant(LogisticRegression):
        def fit(self, X: np.ndarray, y: np.ndarray) -> "Constant":
            self.classes_ = np.array([0, 1])
            self.coef_, self.intercept_ = np.ones((1, X.shape[1])), np.zeros(1)
            self.n_features_in_ = X.shape[1]
            return self

    model = Constant().fit(*members)
    threat_model = ModelMIA(model, members, others, trainer=Constant(), num_shadows=4, seed=0)
    for attack in all_attacks():
        attack.train(threat_model)
        summary = threat_model.test(attack)
        # Standard error of the AUC at chance with 300 records of each kind: 0.024.
        assert abs(summary.auc - 0.5) < 0.09, attack.label


def test_scores_do_not_depend_on_the_order_of_records_or_on_batches(game: tuple) -> None:
    model, members, others = game

    def judged_scores(batch_size: int | None, reverse: bool) -> list[dict]:
        threat_model = ModelMIA(as_model(model, batch_size=batch_size), members, others, seed=2)
        judged = threat_model.game.candidates
        order = np.arange(len(judged))[:: -1 if reverse else 1]
        attacks = [LossMIA(), BlackBoxMIA("lr"), LabelOnlyMIA(max_queries=30)]
        found = []
        for attack in attacks:
            attack.train(threat_model)
        reordered = dataclasses.replace(
            judged,
            records=judged.records.take(order),
            members=judged.members[order],
            rows=judged.rows[order],
        )
        threat_model._game = dataclasses.replace(threat_model.game, candidates=reordered)
        keys = threat_model.game.candidates.records.row_keys().tolist()
        for attack in attacks:
            scores = threat_model.test(attack).scores
            found.append(dict(zip(keys, scores, strict=True)))
        return found

    usual = judged_scores(None, False)
    for other in (judged_scores(7, False), judged_scores(None, True)):
        for first, second in zip(usual, other, strict=True):
            assert first.keys() == second.keys()
            np.testing.assert_allclose(
                [first[key] for key in first], [second[key] for key in first], rtol=1e-9
            )


def test_frames_with_categories_missing_values_and_text_classes_work() -> None:
    rng = np.random.default_rng(0)

    def table(number: int) -> tuple[pd.DataFrame, np.ndarray]:
        frame = pd.DataFrame(
            {
                "age": rng.normal(40, 10, number).round(1),
                "income": rng.normal(0, 1, number),
                "job": pd.Categorical(rng.choice(["a", "b", "c"], number)),
                "town": rng.choice(np.array(["x", "y", None], dtype=object), number),
            }
        )
        frame.loc[::7, "age"] = np.nan
        return frame, np.where(rng.random(number) < 0.5, "no", "yes")

    members, others = table(100), table(100)

    def encoded() -> object:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer

        columns = ColumnTransformer(
            [
                ("numbers", SimpleImputer(), ["age", "income"]),
                ("categories", OneHotEncoder(handle_unknown="ignore"), ["job", "town"]),
            ]
        )
        return make_pipeline(columns, DecisionTreeClassifier(random_state=0))

    model = encoded().fit(*members)
    threat_model = ModelMIA(model, members, others, trainer=encoded(), num_shadows=4, seed=0)
    for attack in [*all_attacks(), LabelOnlyMIA("noise", 25)]:
        attack.train(threat_model)
        assert threat_model.test(attack).auc > 0.55, attack.label


def test_equal_non_members_are_counted_and_left_out(game: tuple) -> None:
    model, members, others = game
    X, y = np.concatenate([others[0], members[0][:5]]), np.concatenate([others[1], members[1][:5]])
    words = "5 members and 5 non-members .* 115 members and 120 non-members remain"
    with pytest.warns(TargetInDataWarning, match=words):
        threat_model = ModelMIA(model, members, (X, y), known_share=0, seed=0)
    assert (~threat_model.game.candidates.members).sum() == 120
    assert threat_model.game.candidates.members.sum() == 115
    with (
        pytest.raises(ThreatModelError, match="0 members and 0 non-members"),
        pytest.warns(TargetInDataWarning),
    ):
        ModelMIA(model, members, members)


def test_bad_input_is_refused_by_name(game: tuple) -> None:
    model, members, others = game
    with pytest.raises(SchemaError, match="120 records and y has 119"):
        ModelMIA(model, (members[0], members[1][:-1]), others)
    with pytest.raises(SchemaError, match="must be a pair"):
        ModelMIA(model, members[0], others)
    with pytest.raises(SchemaError, match="must have the columns"):
        ModelMIA(model, members, (others[0][:, :5], others[1]))
    strange = np.where(np.arange(120) == 7, 9, others[1])
    with pytest.raises(SchemaError, match=r"1 records have classes .* 9, the first in row 7"):
        ModelMIA(model, members, (others[0], strange))
    with pytest.raises(ThreatModelError, match="too few records"):
        ModelMIA(model, members, (others[0][:2], others[1][:2]), known_share=0.5)
    broken = as_model(lambda X: np.full((len(X), 2), 0.7), classes=[0, 1])
    with pytest.raises(MechanismError, match="not summing to one"):
        LossMIA().train(ModelMIA(broken, members, others))
    hollow = as_model(lambda X: np.full((len(X), 2), np.nan), classes=[0, 1])
    with pytest.raises(MechanismError, match="answered NaN for"):
        LossMIA().train(ModelMIA(hollow, members, others))


def test_an_attack_that_does_not_fit_is_refused_with_one_that_does(game: tuple) -> None:
    model, members, others = game
    labels = ModelMIA(model, members, others, access="labels", seed=0)
    for attack in (LossMIA(), BlackBoxMIA(), QuantileMIA()):
        with pytest.raises(IncompatibleAttackError, match="RuleBasedMIA or LabelOnlyMIA"):
            attack.train(labels)
    scores = ModelMIA(model, members, others, seed=0)
    for attack in (LiRA(), RMIA("offline"), CalibratedLossMIA()):
        with pytest.raises(IncompatibleAttackError, match="LossMIA, CertaintyMIA or BlackBoxMIA"):
            attack.train(scores)
    two = ModelMIA(model, members, others, trainer=DecisionTreeClassifier(), num_shadows=2, seed=0)
    with pytest.raises(IncompatibleAttackError, match="at least 4 reference models, there are 2"):
        LiRA().train(two)
    nothing_known = ModelMIA(model, members, others, known_share=0, seed=0)
    with pytest.raises(IncompatibleAttackError, match="or RuleBasedMIA"):
        LossMIA().train(nothing_known)
    assert nothing_known.test(LossMIA(("threshold", -0.1))).accuracy > 0.5
    with pytest.raises(
        IncompatibleAttackError, match="attacks tables, but ModelMIA is about a model"
    ):
        scores.test(ClosestDistanceMIA())


def test_queries_are_counted_and_a_budget_holds(game: tuple) -> None:
    from tapas.models import QueryBudgetError

    model, members, others = game
    threat_model = ModelMIA(model, members, others, seed=0, budget=240)
    attack = LossMIA()
    attack.train(threat_model)
    threat_model.test(attack)
    threat_model.test(LossMIA(("threshold", 0)))
    assert threat_model.queries(attack) == 240
    with pytest.raises(QueryBudgetError):
        LabelOnlyMIA(max_queries=50).train(threat_model)


def test_fewer_shadow_models_can_be_asked_for_but_not_more(game: tuple) -> None:
    model, members, others = game
    threat_model = ModelMIA(
        model, members, others, trainer=DecisionTreeClassifier(), num_shadows=6, seed=0
    )
    attack = LiRA()
    attack.train(threat_model, num_samples=4)
    assert len(attack._trained.scorer.references) == 4
    with pytest.raises(ThreatModelError, match="num_shadows=8"):
        attack.train(threat_model, num_samples=8)


def test_equal_records_and_unequal_sizes_do_not_make_a_leak() -> None:
    rng = np.random.default_rng(0)

    def people(number: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.choice(8, (number, 4), p=np.array([8, 7, 6, 5, 4, 3, 2, 1]) / 36).astype(float)
        return X, (X.sum(axis=1) + rng.normal(size=number) > 9).astype(int)

    unrelated = RandomForestClassifier(20, random_state=0).fit(*people(500))
    areas = []
    for seed in range(6):
        with pytest.warns(TargetInDataWarning):
            threat_model = ModelMIA(unrelated, people(900), people(300), known_share=0, seed=seed)
        attack = LossMIA(criterion=("threshold", 0))
        attack.train(threat_model)
        areas.append(threat_model.test(attack).auc)
    assert abs(np.mean(areas) - 0.5) < 0.05


def test_records_that_repeat_can_be_audited_with_shadow_models() -> None:
    """Equal records are all known or all judged, and both sides are left to learn from."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (400, 3)).astype(float)
    X[:, 2] = rng.integers(0, 40, 400)
    y = rng.integers(0, 2, 400)
    tree = DecisionTreeClassifier(random_state=0)
    with pytest.warns(TargetInDataWarning, match="both sides"):
        threat_model = ModelMIA(
            clone(tree).fit(X[:200], y[:200]),
            (X[:200], y[:200]),
            (X[200:], y[200:]),
            trainer=tree,
            num_shadows=4,
            seed=0,
            n_jobs=1,
        )
    attack = CalibratedLossMIA()
    attack.train(threat_model)
    summary = threat_model.test(attack)
    assert 0 < summary.labels.sum() < len(summary)
    game = threat_model.game
    keys = [side.records.row_keys() for side in (game.known, game.candidates)]
    assert not np.isin(*keys).any()
