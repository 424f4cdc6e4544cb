"""Shadow data made from marginals, noise and queries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.errors import ConfigError, KnowledgeError
from tapas.models import Model, QueryBudgetError, Records, as_model
from tapas.threat_models import (
    MarginalSynthesis,
    ModelMIA,
    NoisyRecords,
    QuerySynthesis,
    ShadowData,
)
from tapas.threat_models._reference_models import ReferencePlan


def records(number: int = 400, seed: int = 0) -> Records:
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, number)
    frame = pd.DataFrame({"age": age, "old": np.where(age > 40, "yes", "no")})
    return Records(frame, (age > 45).astype(int))


def threshold_model() -> Model:
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


@pytest.mark.parametrize(
    ("source", "queries"),
    [
        (MarginalSynthesis(), 80),
        (NoisyRecords(num_records=30), 30),
        (QuerySynthesis(rounds=5), 80 * 6),
    ],
)
def test_shadow_data_says_what_it_asks_and_never_overspends(
    source: ShadowData, queries: int
) -> None:
    view = threshold_model().restricted("scores", budget=queries)
    assert source.queries(40) == queries
    source.make(view, records(), 40, rng=np.random.default_rng(0))
    assert (view.queries, view.remaining) == (queries, 0)
    poor = threshold_model().restricted("scores", budget=queries - 1)
    with pytest.raises(QueryBudgetError, match="num_records"):
        source.make(poor, records(), 40, rng=np.random.default_rng(0))
    assert poor.queries == 0


def test_a_plan_gives_every_model_as_many_records_and_pairs_opposite_targets() -> None:
    plan = ReferencePlan(num_models=6, num_targets=21, num_others=30, size=25, seed=3)
    masks = plan.masks()
    assert (masks.sum(axis=1) == plan.largest).all()
    for first, second in zip(masks[::2], masks[1::2], strict=True):
        assert (first[:21] ^ second[:21]).all()
    for model in range(6):
        np.testing.assert_array_equal(plan.mask(model), masks[model])
    greedy = ReferencePlan(num_models=2, num_targets=4, num_others=3, size=50, seed=3)
    assert (greedy.masks().sum(axis=1) == greedy.largest).all()


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
    assert not threat_model.game.train_on_targets
    observed, judged = (threat_model.game.briefing(phase).targets for phase in ("train", "test"))
    assert len(observed) - len(judged) == 400
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
