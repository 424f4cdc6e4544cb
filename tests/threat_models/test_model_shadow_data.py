"""Shadow data made from marginals, noise and queries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.errors import ConfigError, KnowledgeError
from tapas.models import Records, as_model
from tapas.threat_models._model_mia import ModelMIA
from tapas.threat_models._shadow_data import MarginalSynthesis, NoisyRecords, QuerySynthesis


def records(number: int = 400, seed: int = 0) -> Records:
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, number)
    frame = pd.DataFrame({"age": age, "old": np.where(age > 40, "yes", "no")})
    return Records(frame, (age > 45).astype(int))


def threshold_model() -> object:
    def probabilities(frame: pd.DataFrame) -> np.ndarray:
        p = 1 / (1 + np.exp(-(frame["age"].to_numpy(dtype=float) - 45)))
        return np.stack([1 - p, p], axis=1)

    return as_model(probabilities, classes=[0, 1])


def test_marginals_are_kept_and_correlations_are_not() -> None:
    basis = records()
    made = MarginalSynthesis(4000).make(threshold_model(), basis, 10, rng=np.random.default_rng(0))
    assert len(made) == 4000
    assert made.X["age"].mean() == pytest.approx(basis.X["age"].mean(), abs=0.8)
    assert (made.X["old"] == "yes").mean() == pytest.approx(
        (basis.X["old"] == "yes").mean(), abs=0.04
    )
    agree = ((made.X["age"] > 40) == (made.X["old"] == "yes")).mean()
    assert agree == pytest.approx(0.5, abs=0.05)
    np.testing.assert_array_equal(made.y, (made.X["age"] > 45).astype(int))


def test_noisy_records_replace_the_share_asked_for() -> None:
    basis = records()
    same = NoisyRecords(0.0, 400).make(threshold_model(), basis, 10, rng=np.random.default_rng(0))
    assert sorted(same.X["age"]) == sorted(basis.X["age"])
    made = NoisyRecords(0.5, 4000).make(threshold_model(), basis, 10, rng=np.random.default_rng(0))
    agree = ((made.X["age"] > 40) == (made.X["old"] == "yes")).mean()
    # Both kept or drawn together only in a quarter; otherwise right by chance.
    assert agree == pytest.approx(0.25 + 0.75 / 2, abs=0.04)


def test_query_synthesis_finds_records_that_the_model_is_sure_of() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 8))
    model = LogisticRegression().fit(X, (X.sum(axis=1) > 2).astype(int))
    basis = Records(X, model.predict(X))
    view = as_model(model).restricted("scores")
    made = QuerySynthesis(0.8, rounds=40, num_records=200).make(view, basis, 10, rng=rng)
    assert view.queries == 200 * 41
    sure = model.predict_proba(made.X).max(axis=1)
    assert (sure > 0.8).mean() > 0.95
    # Draws from the marginals seldom fall into the rare class; searches are for both alike.
    drawn = MarginalSynthesis(200).make(view, basis, 10, rng=rng)
    assert drawn.y.mean() < 0.35
    assert abs(made.y.mean() - 0.5) < 0.1


@pytest.mark.parametrize("source", [MarginalSynthesis(), NoisyRecords(), QuerySynthesis(rounds=5)])
def test_shadow_models_can_be_trained_on_made_up_data(source: object) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 5))
    y = ((X[:, 0] > 0) ^ (rng.random(400) < 0.3)).astype(int)
    members, others = (X[:200], y[:200]), (X[200:], y[200:])
    model = DecisionTreeClassifier(random_state=0).fit(*members)
    threat_model = ModelMIA(
        model, members, others, trainer=model, population=source, num_shadows=2, seed=0
    )
    assert not threat_model.train_on_targets
    assert len(threat_model._pool[0]) == 400
    attack = BlackBoxMIA("lr")
    attack.train(threat_model)
    assert threat_model.test(attack).auc > 0.55


def test_shadow_data_needs_examples_and_the_right_access() -> None:
    with pytest.raises(KnowledgeError, match="examples"):
        MarginalSynthesis().make(threshold_model(), None, 10, rng=np.random.default_rng(0))
    with pytest.raises(KnowledgeError, match="labels only"):
        QuerySynthesis().make(
            threshold_model().restricted("labels"), records(), 10, rng=np.random.default_rng(0)
        )
    with pytest.raises(ConfigError, match="share"):
        NoisyRecords(1.5)
