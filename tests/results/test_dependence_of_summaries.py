"""Every summary says how its trials depend on each other, in memory and on disk."""

import json
import math

import numpy as np
import pytest

from tapas.errors import ConfigError
from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    Dependence,
    LabelInferenceAttackSummary,
    MIAttackSummary,
)

LABELS = [1, 0, 1, 0]
KINDS = (
    LabelInferenceAttackSummary,
    BinaryLabelInferenceAttackSummary,
    MIAttackSummary,
    AIAttackSummary,
    BinaryAIAttackSummary,
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_summary_states_its_dependence(kind) -> None:
    assert kind(LABELS, LABELS).dependence is Dependence.INDEPENDENT
    assert kind(LABELS, LABELS, groups=[0, 0, 1, 1]).dependence is Dependence.PAIRS
    assert kind(LABELS, LABELS, groups=[3, 3, 3, 3]).dependence is Dependence.ONE_RELEASE
    assert kind(LABELS, LABELS, dependence="unknown").dependence is Dependence.UNKNOWN
    with pytest.raises(ConfigError, match="groups say one release"):
        kind(LABELS, LABELS, groups=[0, 0, 0, 0], dependence="independent")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dependence", list(Dependence))
def test_dependence_survives_the_disk(kind, dependence, tmp_path) -> None:
    groups = [0, 0, 1, 1] if dependence in (Dependence.PAIRS, Dependence.GROUPS) else None
    summary = kind(LABELS, LABELS, groups=groups, dependence=dependence, attack_info="A")
    for again in (
        AttackSummary.from_json(summary.to_json()),
        AttackSummary.from_parquet(summary.to_parquet(tmp_path / "s.parquet")),
    ):
        assert (again.dependence, again.attack) == (dependence, "A")


def _version_1(summary: MIAttackSummary) -> str:
    content = json.loads(summary.to_json())
    content["version"] = 1
    del content["fields"]["dependence"]
    return json.dumps(content)


@pytest.mark.parametrize(
    ("target", "groups", "expected"),
    [
        ("all", None, "one release"),
        ("all", [0, 0, 1, 1], "pairs"),
        ("7", None, "independent"),
        ("all", [0, 0, 0, 0], "one release"),
    ],
)
def test_earlier_files_load_with_what_their_audits_meant(target, groups, expected) -> None:
    summary = MIAttackSummary(LABELS, LABELS, target_id=target, groups=groups)
    assert AttackSummary.from_json(_version_1(summary)).dependence == expected


@pytest.mark.parametrize("dependence", ["one release", "unknown"])
def test_dependent_trials_show_no_effective_epsilon(dependence) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 100)
    scores = labels + rng.normal(size=100)
    free = MIAttackSummary(labels, scores > 0.5, scores)
    bound = MIAttackSummary(labels, scores > 0.5, scores, dependence=dependence)
    assert free.get_metrics()["effective_epsilon"][0] > 0
    assert math.isnan(bound.effective_epsilon)
    assert bound.get_metrics()["auc"][0] == free.auc


def test_a_summary_that_says_nothing_is_of_unknown_dependence() -> None:
    class Own(AttackSummary):
        def get_metrics(self):
            return None

        def get_metric_filename(self, postfix=""):
            return "own.csv"

    assert Own().dependence is Dependence.UNKNOWN


def test_two_values_name_the_positive_one() -> None:
    summary = BinaryAIAttackSummary(["no", "yes"], ["no", "no"], attribute_values=("no", "yes"))
    assert summary.labels.tolist() == [0, 1]
    with pytest.raises(ConfigError, match="two values"):
        BinaryAIAttackSummary(["a"], ["a"], attribute_values=("a", "b", "c"))
    with pytest.raises(ConfigError, match="BinaryAIAttackSummary"):
        AIAttackSummary(["a"], ["a"], positive_value="a")
