"""Singling out, linkability and inference of files, and the ensemble over records."""

import numpy as np
import pytest
from mixed_tables import mixed_table

from tapas.attacks import (
    DOMIAS,
    Attack,
    ClosestDistanceMIA,
    InferenceAttack,
    LinkabilityAttack,
    RecordEnsembleAttack,
    SinglingOutAttack,
)
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, SchemaError
from tapas.game import MEMBERSHIP, Release, TableBriefing
from tapas.generators import Smote
from tapas.threat_models import ObservedMIA


def seen(
    attack: Attack,
    release: TabularDataset,
    targets: TabularDataset,
    reference: TabularDataset | None = None,
) -> np.ndarray:
    briefing = TableBriefing(MEMBERSHIP, targets, reference)
    return attack.observe(Release(release), briefing, rng=np.random.default_rng(0))


def letters(rows: list[str]) -> TabularDataset:
    """A table whose columns are the letters of words."""
    names = [f"c{place}" for place in range(len(rows[0]))]
    listed = {"type": "finite", "representation": list("abcdxyz")}
    description = DataDescription([{"name": name, **listed} for name in names], "letters")
    return TabularDataset([list(row) for row in rows], description)


def test_a_secret_is_guessed_from_the_released_record_that_is_nearest() -> None:
    released, targets = letters(["aax", "bby", "ccz"]), letters(["aax", "bbz", "acx", "ccz"])
    # The third is as near to the first as to the last; the first of them is taken.
    assert seen(InferenceAttack("c2"), released, targets).tolist() == [1, 0, 1, 1]
    # c1 from the nearest by c0 and c2, and c0 and c2 from the nearest by c1.
    assert seen(InferenceAttack(), released, targets) == pytest.approx([1, 2 / 3, 0, 1])
    with pytest.raises(SchemaError, match="no column 'nothing'"):
        seen(InferenceAttack("nothing"), released, targets)


def test_a_number_is_guessed_right_when_it_is_near() -> None:
    description = DataDescription([{"name": name, "type": "real"} for name in "xy"])
    released = TabularDataset([[0.0, 0.0], [1.0, 100.0]], description)
    targets = TabularDataset([[0.1, 4.9], [0.1, 5.1], [0.9, 95.1]], description)
    assert seen(InferenceAttack("y"), released, targets).tolist() == [1, 0, 1]


def test_two_parts_are_linked_where_they_lead_to_one_record() -> None:
    released, targets = letters(["axaz", "bybx", "czcy"]), letters(["axaz", "aybx", "czcd"])
    halves = LinkabilityAttack([["c0", "c1"], ["c2", "c3"]])
    assert seen(halves, released, targets).tolist() == [1, 0, 1]
    with pytest.raises(ConfigError, match="two lists"):
        LinkabilityAttack([["c0"]])


def naive_singling_out(
    released: TabularDataset,
    reference: TabularDataset,
    target: tuple[object, ...],
    columns: list[int],
) -> bool:
    def rows(data: TabularDataset) -> set[tuple[object, ...]]:
        return {tuple(row[column] for column in columns) for row in data.data.to_numpy().tolist()}

    wanted = tuple(target[column] for column in columns)
    return wanted in rows(released) and wanted not in rows(reference)


def test_singling_out_agrees_with_its_definition() -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(list("abcdxyz"), size=(3, 30, 5))
    released, reference, targets = (letters(["".join(word) for word in some]) for some in words)
    attack = SinglingOutAttack(predicates=400, order=2)
    pairs = [[i, j] for i in range(5) for j in range(i)]
    expected = [
        np.mean([naive_singling_out(released, reference, tuple(row), pair) for pair in pairs])
        for row in targets.data.to_numpy().tolist()
    ]
    assert 0.1 < np.mean(expected) < 0.9
    assert seen(attack, released, targets, reference) == pytest.approx(expected)


def test_the_ensemble_is_stronger_than_its_parts_where_records_are_mixed() -> None:
    data = load_sample("clinic", 1600, seed=4)
    members, others = data.take(range(800)), data.take(range(800, 1600))
    game = ObservedMIA(Smote()(members, 800, random_state=0), members, others, seed=0)
    auc = {}
    for attack in (RecordEnsembleAttack(), ClosestDistanceMIA(), DOMIAS()):
        attack.train(game)
        auc[type(attack).__name__] = game.test(attack).auc
    assert auc["RecordEnsembleAttack"] > max(auc["ClosestDistanceMIA"], auc["DOMIAS"])


def test_the_ensemble_does_without_anything_that_varies() -> None:
    table = mixed_table(40, 1, 0.3)
    game = ObservedMIA(
        table.take([0] * 30), table.take(range(20)), table.take(range(20, 40)), seed=0
    )
    attack = RecordEnsembleAttack()
    attack.train(game)
    assert np.isfinite(game.test(attack).scores).all()
    assert np.isfinite(seen(attack, table.empty(), table, table)).all()
