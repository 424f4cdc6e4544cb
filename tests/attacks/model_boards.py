"""Boards of models whose leakage is known, and what attacks see of a model."""

import numpy as np
from scipy.special import expit

from tapas.attacks.models._score_statistics import statistics_of
from tapas.game import MEMBERSHIP, Address, Attack, Board, Scorer
from tapas.threat_models import ModelMIA

RNG = np.random.default_rng


def observed(logit: np.ndarray) -> np.ndarray:
    """Statistics of a binary model with these logits of the true class."""
    probabilities = np.stack([expit(logit.ravel()), expit(-logit.ravel())], axis=1)
    rows = statistics_of(probabilities, np.zeros(logit.size, dtype=int))
    return rows.reshape(*logit.shape, -1)


def known(values: np.ndarray, members: np.ndarray) -> Board:
    """Records that can be learnt from and are not judged, on one model."""
    nobody = np.zeros(members.shape[1], dtype=bool)
    return Board(values, members, np.zeros(len(values), dtype=int), MEMBERSHIP, nobody)


def references(values: np.ndarray, inside: np.ndarray) -> Board:
    """The judged records on models that come in complementary pairs."""
    everybody = np.ones(inside.shape[1], dtype=bool)
    return Board(values, inside, np.arange(len(values)) // 2, MEMBERSHIP, everybody)


def fitted(attack: Attack, board: Board) -> Scorer:
    before = dict(vars(attack))
    scorer = attack.fit(board, rng=RNG(0))
    assert vars(attack) == before
    return scorer


def seen_in_test(threat_model: ModelMIA, attack: Attack) -> np.ndarray:
    """What an attack sees of the audited model."""
    game = threat_model.game
    address = Address(game.seed, "test", 0)
    (trial,) = game.play([address])
    rng = game.observation_rng(address)
    return attack.observe(trial.release, game.briefing("test"), rng=rng)[None]


def gaussian_game(
    records: int, references: int, seed: int, gap: float = 1.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Logits are normal around a mean of each record's own, shifted by `gap` for members."""
    rng = RNG(seed)
    difficulty = rng.normal(0, 3, records)
    inside = rng.random((references // 2, records)) < 0.5
    inside = np.stack([inside, ~inside], axis=1).reshape(references, records)
    seen = difficulty + gap * inside + rng.standard_normal((references, records))
    members = rng.random(records) < 0.5
    target = difficulty + gap * members + rng.standard_normal(records)
    return observed(seen), inside, observed(target[None]), members


def overfitted(records: int = 800, seed: int = 0) -> tuple:
    rng = RNG(seed)
    X = rng.standard_normal((records, 10))
    y = ((X[:, 0] > 0) ^ (rng.random(records) < 0.3)).astype(int)
    half = records // 2
    return (X[:half], y[:half]), (X[half:], y[half:])
