"""Attacks that learn a model of who is a member, against models that are overfitted."""

import numpy as np
import pytest
from model_boards import RNG, fitted, gaussian_game, known, observed, overfitted, references
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._prediction_features import PredictionFeatures
from tapas.attacks.models._quantile import QuantileMIA
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._rule_based import RuleBasedMIA
from tapas.attacks.models._score_attacks import (
    EntropyMIA,
    LossMIA,
)
from tapas.errors import IncompatibleAttackError
from tapas.game import MEMBERSHIP, Attack, Board
from tapas.threat_models import ModelMIA


@pytest.mark.parametrize("kind", ["nn", "rf", "gb", "lr"])
@pytest.mark.parametrize("per_class", [False, True])
def test_no_attack_model_is_blind_to_a_right_prediction(kind: str, per_class: bool) -> None:
    members, others = overfitted()
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(model, members, others, seed=0)
    attack = BlackBoxMIA(kind, per_class=per_class)
    attack.train(threat_model)
    gap = (1 - model.score(*others)) / 2
    assert threat_model.test(attack).auc > 0.5 + gap - 0.06


def test_any_classifier_can_be_the_attack_model_and_training_again_forgets() -> None:
    members, others = overfitted()
    forest = RandomForestClassifier(30, random_state=0).fit(*members)
    threat_model = ModelMIA(forest, members, others, seed=0)
    attack = BlackBoxMIA(DecisionTreeClassifier(max_depth=3), criterion="accuracy")
    attack.train(threat_model)
    loss = LossMIA()
    loss.train(threat_model)
    # A tree of depth three has eight scores at most, so it may fall a little behind.
    assert threat_model.test(attack).auc > threat_model.test(loss).auc - 0.05
    once = threat_model.test(attack).scores
    attack.train(threat_model)
    np.testing.assert_array_equal(once, threat_model.test(attack).scores)
    assert attack.label == "BlackBoxMIA(DecisionTreeClassifier)"


def test_attack_models_learn_from_shadow_models_alone() -> None:
    members, others = overfitted()
    forest = RandomForestClassifier(20, random_state=0).fit(*members)
    threat_model = ModelMIA(
        forest, members, others, known_share=0, trainer=forest, num_shadows=4, seed=0
    )
    for attack in (BlackBoxMIA("lr"), LossMIA(), QuantileMIA()):
        attack.train(threat_model)
        assert threat_model.test(attack).auc > 0.85


def test_a_trained_attack_scores_other_models_too() -> None:
    members, others = overfitted()
    forest = RandomForestClassifier(20, random_state=0).fit(*members)
    threat_model = ModelMIA(forest, members, others, seed=0)
    for attack in (RuleBasedMIA(), LossMIA(), BlackBoxMIA("lr")):
        attack.train(threat_model)
        summary = threat_model.test(attack)
        twice = attack.attack_score([forest, forest])
        np.testing.assert_allclose(twice, np.stack([summary.scores] * 2))
        np.testing.assert_array_equal(attack.attack([forest])[0], summary.predictions == 1)


def test_prediction_features_are_finite_for_extreme_and_many_classes() -> None:
    rng = RNG(0)
    vectors = np.column_stack([rng.integers(0, 60, 200), np.eye(60)[rng.integers(0, 60, 200)]])
    features = PredictionFeatures.learn(vectors)
    assert np.isfinite(features(vectors)).all()
    assert features(vectors).shape[1] < 30


def test_an_attack_needs_members_and_non_members_to_learn_from() -> None:
    rows = observed(np.zeros((1, 20)))
    board = references(np.repeat(rows, 4, axis=0), np.ones((4, 20), dtype=bool))
    for attack in (LossMIA(), CalibratedLossMIA()):
        with pytest.raises(IncompatibleAttackError, match="both members and non-members"):
            fitted(attack, board)
    with pytest.raises(IncompatibleAttackError, match="at least 4 reference models, got 2"):
        fitted(LiRA(), board.of_releases(slice(2)))


def test_attacks_learn_from_records_that_are_not_judged_and_judge_by_those_that_are() -> None:
    seen, inside, target, _ = gaussian_game(60, 8, 5)
    judged = np.arange(60) < 20
    board = Board(seen, inside & ~judged, np.arange(8) // 2, MEMBERSHIP, judged)
    for attack in (LossMIA(), QuantileMIA()):
        alone = fitted(attack, known(seen[:, ~judged], inside[:, ~judged]))
        assert fitted(attack, board).threshold == alone.threshold
    scorer = fitted(LiRA("offline", "pooled", clip=1e-9), board)
    pool = references(seen[:, ~judged], inside[:, ~judged])
    assert scorer.threshold == fitted(LiRA("offline", "pooled", clip=1e-9), pool).threshold
    assert scorer.references.num_targets == 20
    assert not scorer.references.secrets.any()
    assert scorer.score(target[:, :20]).shape == (1, 20)


def test_attacks_that_look_at_the_same_share_what_they_see() -> None:
    def key(attack: Attack) -> str:
        return attack.observer(None, lambda number: []).key

    statistics = {key(attack) for attack in (LossMIA(), EntropyMIA(("fp", 0.1)), LiRA(), RMIA())}
    vectors = {key(BlackBoxMIA(kind)) for kind in ("nn", "lr")}
    walks = {key(LabelOnlyMIA(criterion=kind)) for kind in ("accuracy", ("tp", 0.5))}
    others = {key(RuleBasedMIA()), key(QuantileMIA()), key(LabelOnlyMIA("noise"))}
    shorter = {key(LabelOnlyMIA(max_queries=50)), key(LabelOnlyMIA(calibrate=False))}
    assert [len(keys) for keys in (statistics, vectors, walks, others, shorter)] == [1, 1, 1, 3, 2]
    assert len(statistics | vectors | walks | others | shorter) == 8
