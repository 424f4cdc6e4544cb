"""Reference attacks that ask about each record several times: itself, and copies of it."""

import numpy as np
import pandas as pd
import pytest
from model_boards import RNG, fitted, gaussian_game, observed, references
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import RMIA, LiRA, RehearsedMIA
from tapas.attacks.models._several_queries import MOST_QUERIES, copies_of, moved
from tapas.audit import audit_from_values
from tapas.errors import ConfigError, IncompatibleAttackError
from tapas.game import MEMBERSHIP, ModelBriefing
from tapas.metrics import auc
from tapas.models import Records
from tapas.threat_models import ModelMIA, PredictionsMIA


def test_images_are_moved_and_mirrored_whatever_the_order_of_axes() -> None:
    image = np.arange(42.0).reshape(1, 7, 6)
    flat = image.reshape(1, -1)
    one = moved(flat, (7, 6), 1, -2, True).reshape(7, 6)
    np.testing.assert_array_equal(one[1:, :4], image[0, :-1, ::-1][:, 2:])
    np.testing.assert_array_equal(one[0], one[1])  # what comes in repeats the edge
    first = moved(np.stack([image, -image], axis=1).reshape(1, -1), (2, 7, 6), 1, -2, True)
    np.testing.assert_array_equal(first.reshape(2, 7, 6), [one, -one])
    last = moved(np.stack([image, -image], axis=-1).reshape(1, -1), (7, 6, 2), 1, -2, True)
    np.testing.assert_array_equal(last.reshape(7, 6, 2), np.stack([one, -one], axis=-1))
    about = ModelBriefing(MEMBERSHIP, Records(np.tile(flat, (2, 1)), [0, 1]), image=(7, 6))
    copies = [np.asarray(X)[0].tobytes() for X in copies_of(about, MOST_QUERIES)]
    assert copies[0] == flat[0].tobytes()
    assert len(set(copies)) == len(copies) == MOST_QUERIES


def test_tables_get_a_little_noise_and_keep_their_categories() -> None:
    rng = RNG(0)
    X = pd.DataFrame({"a": rng.normal(5, 3, 200), "b": rng.choice(["x", "y", "z"], 200)})
    one, again = (list(copies_of(ModelBriefing(MEMBERSHIP, Records(X, X.b)), 3)) for _ in "12")
    pd.testing.assert_frame_equal(one[0], X)
    for copy, same in zip(one[1:], again[1:], strict=True):
        pd.testing.assert_frame_equal(copy, same)  # every model is asked about the same copies
        assert (copy.b == X.b).all()
        assert 0.2 < (copy.a - X.a).std() < 0.5
    assert (one[1].a != one[2].a).all()
    words = list(copies_of(ModelBriefing(MEMBERSHIP, Records(X[["b"]], X.b)), 2))[1]
    assert (words.b != X.b).all()
    assert set(words.b) == {"x", "y", "z"}


@pytest.mark.parametrize("attack", [LiRA, RMIA, RehearsedMIA])
def test_the_mean_over_equal_queries_is_one_query_and_noise_is_averaged_out(attack: type) -> None:
    seen, inside, target, members = gaussian_game(400, 8, 3)
    rng = RNG(4)
    board = references(np.tile(seen, 3), inside)
    once = fitted(attack(), references(seen, inside)).score(target)
    thrice = fitted(attack(queries=3), board).score(np.tile(target, 3))
    assert auc(members, thrice[0]) == pytest.approx(auc(members, once[0]), abs=0.02)

    def blurred(values: np.ndarray, number: int) -> np.ndarray:
        logit = np.log(values[..., 1]) - np.log(values[..., 2])
        drawn = [observed(logit + rng.normal(0, 2.0, logit.shape)) for _ in range(number)]
        return np.concatenate(drawn, axis=-1)

    found = [
        auc(members, scorer.score(values)[0])
        for number in (1, 9)
        for values in [blurred(target, number)]
        for scorer in [fitted(attack(queries=number), references(blurred(seen, number), inside))]
    ]
    assert found[1] > found[0] + 0.05


@pytest.mark.filterwarnings("ignore:.*equal:tapas.errors.TapasWarning")
def test_a_model_is_asked_so_often_by_every_door() -> None:
    rng = RNG(1)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:40], y[:40])
    threat_model = ModelMIA(
        tree, (X[:40], y[:40]), (X[40:], y[40:]), trainer=tree, num_shadows=4, seed=0, known_share=0
    )
    about = {
        "data": {"sample": "census", "rows": 60},
        "model": {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Health"},
        "attacks": [{"use": "RMIA", "parameters": {"queries": 4}}],
    }
    (attack,) = audit_from_values(about, "here").attacks
    attack.train(threat_model)
    assert attack.label == "RMIA(online, gamma=2), 4 queries"
    assert threat_model.test(attack).auc > 0.7
    assert threat_model.queries(attack) == 4 * 80
    with pytest.raises(ConfigError, match="at most 50"):
        LiRA(queries=51)
    alone = PredictionsMIA(tree.predict_proba(X), y, np.arange(80) < 40, seed=0)
    with pytest.raises(IncompatibleAttackError, match="changes the inputs of records"):
        LiRA(queries=2).train(alone)
