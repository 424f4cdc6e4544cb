"""Where a mechanism fails more often with a record than without it, that is said to tell."""

from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.attacks import ClosestDistanceMIA, GroundhogAttack
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Raw
from tapas.report import AuditPage
from tapas.results import AuditRecord
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

CENSUS = load_sample("census", 400, seed=1)
TARGET = CENSUS.take(np.arange(1))


class Failing(Raw):
    """Releases others' records whatever it is given, and fails in a share of its runs."""

    def __init__(self, with_target: float, without: float = 0.0, copies: bool = False) -> None:
        super().__init__()
        self.shares = (without, with_target)
        self.copies = copies

    def __call__(self, dataset: Any, num_samples: Any = None, random_state: Any = None) -> Any:
        rng = np.random.default_rng([7, random_state])
        inside = len(dataset.data.merge(TARGET.data)) > 0
        if rng.random() < self.shares[inside]:
            raise ValueError("too rare a value")
        drawn = CENSUS.data.iloc[rng.integers(1, 400, num_samples)]
        if self.copies and inside:
            drawn = pd.concat([TARGET.data, drawn.iloc[1:]])
        return TabularDataset(drawn.reset_index(drop=True), dataset.description)


def audited(generator: Raw, pairs: bool = False) -> AuditRecord:
    model = TargetedMIA(
        AuxiliaryDataKnowledge(CENSUS.drop_records([0]), num_training_records=30, seed=2),
        TARGET,
        BlackBoxKnowledge(generator, 30),
        generate_pairs=pairs,
        replace_target=False,
        seed=3,
    )
    attacks = [ClosestDistanceMIA(), GroundhogAttack()]
    sizes: Any = {"num_train": 100, "num_test": 200, "max_failures": 1000}
    return Audit(model, attacks, exposure_map=False, **sizes).run(n_jobs=1)


def said_of_failures(page: AuditPage) -> list[str]:
    return [sentence for sentence in page.words if "that alone tells" in sentence]


def advice(page: AuditPage) -> list[str]:
    found = unescape(page.html()).partition('<ul class="actions">')[2].partition("</ul>")[0]
    return [one.strip() for one in found.split("<li>")[1:]]


@pytest.mark.parametrize("pairs", [False, True])
def test_failures_that_hang_together_with_the_secret_are_named(pairs: bool) -> None:
    record = audited(Failing(0.3), pairs)
    page = AuditPage(record)
    failed = sum(one.phase == "test" for one in record.audited[0].failures)
    (said,) = said_of_failures(page)
    labels = record.audited[0].summaries[0].labels  # type: ignore[attr-defined]
    inside, outside = int(labels.sum()), int((labels == 0).sum())
    assert failed > 15
    assert said == (
        f"“Raw” failed in {failed} of {inside} trials with target 0 in the private data, and "
        f"in 0 of {outside} without it: that alone tells the one from the other."
    )
    assert page.words[0].startswith("Leak found")
    assert not any(" looks at " in sentence for sentence in page.words)
    assert any("among the trials that did not fail" in sentence for sentence in page.words)
    assert said in unescape(page.html())
    (action,) = advice(page)
    assert action.startswith("Let the mechanism fail alike")


def test_failures_as_frequent_without_the_target_are_not() -> None:
    page = AuditPage(audited(Failing(0.3, 0.3)))
    assert not said_of_failures(page)


def test_what_releases_tell_beside_failures_is_told_too() -> None:
    page = AuditPage(audited(Failing(0.3, copies=True)))
    assert len(said_of_failures(page)) == 1
    assert any(s.startswith("Beside the failures") and "looks at" in s for s in page.words)
    assert len(advice(page)) > 1
