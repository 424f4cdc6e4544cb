"""Records whose membership nobody knows: what is decided of them, and how often that is wrong."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import RMIA, BlackBoxMIA, LossMIA, RuleBasedMIA
from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.errors import ConfigError, TapasWarning, TargetInDataWarning, ThreatModelError
from tapas.models import as_model
from tapas.results import judge_records
from tapas.threat_models import ModelMIA

SIZE, UNKNOWN = 400, 300


def noisy_table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of a class that is hard to learn, so that a tree learns them by heart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * SIZE + 2 * UNKNOWN, 6))
    return X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)


def asked(seed: int, leaky: bool = True, **options: object) -> tuple[ModelMIA, tuple, np.ndarray]:
    """A tree that was trained on known members and on half of the records asked about."""
    X, y = noisy_table(seed)
    parts = np.split(np.arange(len(X)), [SIZE, 2 * SIZE, 2 * SIZE + UNKNOWN])
    trained = np.concatenate([parts[0], parts[2]])
    tree = DecisionTreeClassifier(max_depth=None if leaky else 1, random_state=0)
    tree.fit(X[trained], y[trained] if leaky else y[trained[::-1]])
    sides = ((X[part], y[part]) for part in parts[:2])
    unknown = np.concatenate(parts[2:])
    truth = np.arange(2 * UNKNOWN) < UNKNOWN
    return ModelMIA(tree, *sides, seed=seed, **options), (X[unknown], y[unknown]), truth


@pytest.mark.parametrize("references", [False, True])
def test_what_is_judged_of_a_model_that_leaks(references: bool) -> None:
    options = {"trainer": DecisionTreeClassifier(), "num_shadows": 8} if references else {}
    threat_model, records, truth = asked(0, **options)
    judged = threat_model.judge(RMIA() if references else BlackBoxMIA("gb"), records, prior=0.5)
    table = judged.table
    called = table["member"].to_numpy()
    assert len(table) == len(truth)
    assert called[~truth].mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / UNKNOWN)
    assert table["probability"][truth].mean() > table["probability"][~truth].mean() + 0.1
    # calibrated: among those of about one probability, about that share are members
    thirds = pd.qcut(table["probability"], 3, duplicates="drop")
    for _, part in table.groupby(thirds, observed=True):
        share = truth[part.index].mean()
        assert share == pytest.approx(part["probability"].mean(), abs=0.12)
    assert (table["false_alarm_rate_low"] <= table["false_alarm_rate"]).all()
    assert (table["false_alarm_rate"] <= table["false_alarm_rate_high"]).all()
    assert called[truth].mean() == pytest.approx(judged.found[0], abs=0.12)
    assert "prior of 0.5" in judged.words()


def test_a_smaller_prior_gives_smaller_probabilities_and_the_same_decisions() -> None:
    threat_model, records, _ = asked(1)
    even, rare = (threat_model.judge(LossMIA(), records, prior=p).table for p in (0.5, 0.01))
    assert (rare["probability"] < even["probability"]).all()
    assert (rare["member"] == even["member"]).all()


def test_a_model_that_tells_nothing_leaves_the_prior_and_few_alarms() -> None:
    called, probability = [], []
    for seed in range(5):
        X, y = noisy_table(seed)
        noise = as_model(lambda X: 0.5 + 0.4 * np.sin(1e4 * X[:, :1]) * [[1, -1]], [0, 1])
        sides = ((X[part], y[part]) for part in (slice(0, SIZE), slice(SIZE, 2 * SIZE)))
        threat_model = ModelMIA(noise, *sides, seed=seed)
        table = threat_model.judge(LossMIA(), (X[2 * SIZE :], y[2 * SIZE :]), prior=0.2).table
        called.append(table["member"].mean())
        probability.append(table["probability"].mean())
    assert np.mean(called) < 0.075  # 0.05 and three standard deviations of it
    assert np.mean(probability) == pytest.approx(0.2, abs=0.04)


def test_judging_changes_nothing_and_is_the_same_again() -> None:
    threat_model, records, _ = asked(2)
    attack = BlackBoxMIA("lr")
    attack.train(threat_model)
    before = threat_model.test(attack).scores
    first, second = (threat_model.judge(attack, records).table for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    np.testing.assert_array_equal(threat_model.test(attack).scores, before)


def test_what_cannot_be_judged_is_said() -> None:
    threat_model, records, _ = asked(3)
    X, y = noisy_table(3)
    some = (np.concatenate([records[0][:3], X[:2]]), np.concatenate([records[1][:3], y[:2]]))
    with pytest.warns(TapasWarning, match=r"2 of the 5 records \(3, 4, counted from 0\) are among"):
        threat_model.judge(RuleBasedMIA(), some)
    with pytest.raises(ThreatModelError, match=r"2 of the 2 records .* there is nothing to judge"):
        threat_model.judge(RuleBasedMIA(), (X[:2], y[:2]))
    with pytest.raises(ThreatModelError, match="records holds none"):
        threat_model.judge(RuleBasedMIA(), (X[:0], y[:0]))
    with pytest.raises(ConfigError, match="scores holds none"):
        judge_records(np.zeros(0), np.arange(10.0), np.arange(10) > 4, attack="any")
    sides = ((X[part], y[part]) for part in (slice(SIZE), slice(SIZE - 10, 2 * SIZE)))
    with pytest.warns(TargetInDataWarning):
        overlapping = ModelMIA(threat_model.model, *sides, seed=0)
    with pytest.raises(ThreatModelError, match="3 of the 3 records"):
        overlapping.judge(RuleBasedMIA(), (X[SIZE - 9 : SIZE - 6], y[SIZE - 9 : SIZE - 6]))
    with pytest.raises(ConfigError, match="strictly between 0 and 1"):
        threat_model.judge(RuleBasedMIA(), records, prior=1.0)
    with pytest.warns(TapasWarning, match="no record can be decided"):
        judge_records(
            np.zeros(3), np.arange(10.0), np.arange(10) > 4, attack="any", false_alarms=0.05
        )


def test_the_ends_of_probabilities_hold_the_posterior_of_every_record_asked_about() -> None:
    members, wrong = np.arange(600) % 2 == 0, 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        unknown, known = rng.normal(0.5, 1.2, size=80), rng.normal(1.0 * members)
        table = judge_records(unknown, known, members, attack="any", prior=0.2).table
        exact = 1 / (1 + 4 * np.exp(0.5 - unknown))
        low, high = table["probability_low"], table["probability_high"]
        wrong += bool(((exact < low) | (exact > high)).any())
        assert (low <= table["probability"]).all()
        assert (table["probability"] <= high).all()
    assert wrong <= 7  # of 50 at 5 %, with probability 0.997


def test_the_command_judges_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = load_sample("census", 700)
    rows = {"train.csv": range(250), "others.csv": range(250, 500), "asked.csv": range(500, 700)}
    for name, part in rows.items():
        data.take(part).data.to_csv(tmp_path / name, index=False)
    audit = {
        "data": {"table": "train.csv", "holdout": "others.csv"},
        "model": {
            "use": "sklearn.tree:DecisionTreeClassifier",
            "class_column": "Health",
            "shadows": 0,
        },
        "attacks": ["RuleBasedMIA", "LossMIA"],
    }
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
    words = ["judge", str(tmp_path / "audit.yaml"), str(tmp_path / "asked.csv"), "--prior", "0.1"]
    assert run(words) == 0
    said = capsys.readouterr().out
    table = pd.read_csv(tmp_path / "asked-judged.csv")
    assert len(table) == 200
    assert said.startswith("LossMIA")
    assert "prior of 0.1" in said
    assert table["probability"].between(0, 0.5).all()
    capsys.readouterr()
    assert run(["judge", str(tmp_path / "audit.yaml"), str(tmp_path / "others.csv")]) != 0
    assert "there is nothing to judge" in capsys.readouterr().err
    assert not (tmp_path / "others-judged.csv").exists()
    data.take([]).data.to_csv(tmp_path / "none.csv", index=False)
    assert run(["judge", str(tmp_path / "audit.yaml"), str(tmp_path / "none.csv")]) == 4
    assert "none.csv: there are no rows" in capsys.readouterr().err
    data.take(range(5)).data.rename(columns={"Health": "d"}).to_csv(tmp_path / "no.csv")
    assert run(["judge", str(tmp_path / "audit.yaml"), str(tmp_path / "no.csv")]) == 4
    assert "Health" in capsys.readouterr().err
    assert run(["judge", str(tmp_path / "audit.yaml")]) == 4
    assert "name the file of records" in capsys.readouterr().err
    other = {**audit, "goal": {"attribute": {"column": "Sex"}}, "attacks": ["ConfidenceAIA"]}
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(other))
    assert run(words) == 4
    assert "the members of a model, not by this one" in capsys.readouterr().err


def test_rates_that_hold_for_no_other_records_are_told_with_a_warning() -> None:
    X, y = noisy_table(0)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:SIZE], y[:SIZE])
    members, asked_about = (X[:SIZE], y[:SIZE]), (X[-50:] + 2, y[-50:])
    for moved in (0.0, 1.0):
        others = (X[SIZE : 2 * SIZE] - moved, y[SIZE : 2 * SIZE])
        threat_model = ModelMIA(tree, members, others, seed=0)
        if not moved:
            judged = threat_model.judge(LossMIA(), asked_about)
            assert judged.caution == ""
            assert "Warning" not in judged.words()
            continue
        with pytest.warns(TapasWarning, match="do not come from one distribution"):
            judged = threat_model.judge(LossMIA(), asked_about)
        assert judged.words().startswith(f"Warning: {judged.caution}. LossMIA")
        assert "at most 5 % of such non-members as were given" in judged.words()
