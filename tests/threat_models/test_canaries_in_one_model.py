"""What one model certifies: canaries by coins, against noisy training whose epsilon is known."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.base import BaseEstimator, ClassifierMixin

from tapas.attacks import LossMIA
from tapas.audit import Audit
from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.errors import ThreatModelError
from tapas.results import AuditRecord, Claim, Gate, decide, record_facts
from tapas.stats import gaussian_epsilon_from_mu
from tapas.threat_models import ModelMIA

CANARIES, STEPS, RATE, DELTA = 200, 10, 0.02, 1e-5


@dataclass
class NoisyDescent(ClassifierMixin, BaseEstimator):
    """Logistic regression by gradient descent on clipped gradients with Gaussian noise.

    The sum of gradients of norm at most 1 moves by at most 1 if a record is added, so `STEPS` steps
    with noise of standard deviation `noise` are Gaussian-private with mu = sqrt(STEPS) / noise.
    """

    noise: float = 1.0
    random_state: int | None = None

    def fit(self, X: np.ndarray, y: np.ndarray) -> "NoisyDescent":
        rng = np.random.default_rng(self.random_state)
        X = np.asarray(X, dtype=float)
        self.classes_ = np.unique(y)
        signs = np.where(y == self.classes_[-1], 1.0, -1.0)
        self.weights_ = np.zeros(X.shape[1])
        for _ in range(STEPS):
            margin = signs * (X @ self.weights_)
            gradients = (signs / (1 + np.exp(margin)))[:, None] * X
            lengths = np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1e-12)
            total = (gradients * np.minimum(1, 1 / lengths)).sum(axis=0)
            self.weights_ += RATE * (total + self.noise * rng.normal(size=len(total)))
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        share = 1 / (1 + np.exp(-np.clip(np.asarray(X, dtype=float) @ self.weights_, -500, 500)))
        return np.column_stack([1 - share, share])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, -1] > 0.5).astype(int)]


def epsilon_of(noise: float) -> float:
    return gaussian_epsilon_from_mu(np.sqrt(STEPS) / noise, DELTA)


def canary_game(seed: int, noise: float) -> ModelMIA:
    """Canaries in directions of their own, each in by a coin."""
    rng = np.random.default_rng(seed)
    X, y = 3.0 * np.eye(CANARIES), rng.integers(0, 2, CANARIES)
    inside = rng.random(CANARIES) < 0.5
    model = NoisyDescent(noise, seed).fit(X[inside], y[inside])
    sides = (X[inside], y[inside]), (X[~inside], y[~inside])
    return ModelMIA(model, *sides, known_share=0.3, seed=seed, coins=True)


def certified(seed: int, noise: float, claim: float) -> AuditRecord:
    attack = LossMIA()
    gates = (Gate("epsilon", claim),)
    audit = Audit(canary_game(seed, noise), [attack], claim=Claim(claim, DELTA), gates=gates)
    return audit.run(n_jobs=1)


def test_one_model_contradicts_a_claim_that_is_too_small(tmp_path: Path) -> None:
    record = certified(0, noise=1.0, claim=1.0)
    facts = record_facts(record)[0]
    assert str(facts.dependence) == "coins"
    assert 1.0 < float(facts.epsilon) < epsilon_of(1.0)
    verdict = decide(record)
    assert verdict.claim is not None
    assert verdict.claim.state == "contradicted"
    assert verdict.outcomes[0].state == "fail"
    from tapas.report import AuditPage

    page = AuditPage(record).html()
    assert "contradict" in page


def test_certificates_stay_below_the_known_epsilon() -> None:
    for noise in (6.0, 20.0):
        true = epsilon_of(noise)
        found = [float(record_facts(certified(seed, noise, true))[0].epsilon) for seed in range(3)]
        assert sum(value > true for value in found) <= 1  # 5 % each


# What one run of 200 canaries certifies, in the median of 200, as a share of the true epsilon.
SHARE_REACHED = {1.0: 0.08, 3.0: 0.05, 10.0: -1.0}


@pytest.mark.slow
def test_certificates_exceed_the_known_epsilon_no_more_often_than_stated() -> None:
    for noise in (1.0, 3.0, 10.0):
        true = epsilon_of(noise)
        found = np.array(
            [float(record_facts(certified(seed, noise, true))[0].epsilon) for seed in range(200)]
        )
        assert (found > true).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
        assert np.median(found) > SHARE_REACHED[noise] * true


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_networks_by_opacus_are_not_certified_above_the_epsilon_that_it_states(
    noise: float,
) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    opacus = pytest.importorskip("opacus", reason="needs opacus")
    certificates, stated = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = 3.0 * np.eye(CANARIES, dtype=np.float32), rng.integers(0, 2, CANARIES)
        inside = rng.random(CANARIES) < 0.5
        torch.manual_seed(seed)
        network = torch.nn.Linear(CANARIES, 2)
        given = torch.utils.data.TensorDataset(*map(torch.tensor, (X[inside], y[inside])))
        engine = opacus.PrivacyEngine(accountant="rdp")
        private, optimizer, loader = engine.make_private(
            module=network,
            optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
            data_loader=torch.utils.data.DataLoader(given, batch_size=20),
            noise_multiplier=noise,
            max_grad_norm=1.0,
        )
        for _ in range(5):
            for rows, classes in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(private(rows), classes).backward()
                optimizer.step()
        sides = (X[inside], y[inside]), (X[~inside], y[~inside])
        threat_model = ModelMIA(network, *sides, known_share=0.3, seed=seed, coins=True)
        stated.append(engine.get_epsilon(DELTA))
        audit = Audit(threat_model, [LossMIA()], claim=Claim(stated[-1], DELTA))
        certificates.append(float(record_facts(audit.run(n_jobs=1))[0].epsilon))
    assert sum(np.array(certificates) > stated) <= 1  # 5 % each
    assert noise > 1 or max(certificates) > 0  # little noise shows


def test_canaries_must_differ() -> None:
    X, y = np.eye(10), np.arange(10) % 2
    model = NoisyDescent(1.0, 0).fit(X, y)
    with pytest.raises(ThreatModelError, match="have the values of others"):
        ModelMIA(model, (X, y), (X, y), coins=True)


def test_known_canaries_are_drawn_without_a_look_at_their_side() -> None:
    shares = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
        inside = rng.random(60) < 0.5
        model = NoisyDescent(1.0, 0).fit(X, y)
        sides = (X[inside], y[inside]), (X[~inside], y[~inside])
        game = ModelMIA(model, *sides, known_share=0.5, seed=seed, coins=True).game
        shares.append(game.candidates.members.mean() - game.known.members.mean())
        assert len(game.candidates) == 30
    assert np.std(shares) > 0.1  # were sides drawn alike, they would hardly differ


def test_an_audit_file_asks_for_canaries_in_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = load_sample("census", 500).data.drop_duplicates().iloc[:300]
    data.to_csv(tmp_path / "people.csv", index=False)
    audit = {
        "data": {"table": "people.csv", "targets": {"random": 120}},
        "model": {
            "use": "sklearn.tree:DecisionTreeClassifier",
            "class_column": "Industry",
            "shadows": 0,
            "known_share": 0.3,
        },
        "goal": "canaries",
        "attacks": ["LossMIA"],
        "claim": {"epsilon": 0.1},
    }
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
    assert run(["run", str(tmp_path / "audit.yaml"), "--quiet"]) == 1
    assert "contradict" in capsys.readouterr().out
    facts = record_facts(AuditRecord.load(tmp_path / "audit-run"))[0]
    assert facts.trials == 84
    assert float(facts.epsilon) > 0.1
