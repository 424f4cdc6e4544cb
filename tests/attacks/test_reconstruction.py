"""Linear reconstruction against dense least squares, and by every door."""

from pathlib import Path

import numpy as np
import pytest
from mixed_tables import attribute_briefing, attribute_game, mixed_table

from tapas.attacks import ReconstructionAttack
from tapas.attacks.tables._column_cells import ColumnCells
from tapas.attacks.tables._reconstruction import MOST_SETS, RIDGE, reconstructed, sets_of_columns
from tapas.audit import Audit, load_audit
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, ThreatModelError
from tapas.game import Address, Release
from tapas.generators import Bootstrap, Raw
from tapas.threat_models import (
    BlackBoxKnowledge,
    NoBoxKnowledge,
    QuasiIdentifierKnowledge,
    TargetedAIA,
    TargetedMIA,
)


def dense(private: np.ndarray, released: np.ndarray, values: np.ndarray, order: int) -> np.ndarray:
    """The formula of the docstring, equation by equation."""
    usual = values.mean(axis=0)
    rows, answers = [], []
    for columns in sets_of_columns(private.shape[1], order):
        for kind in np.unique(private[:, columns], axis=0):
            who = (private[:, columns] == kind).all(axis=1).astype(float)
            same = (released[:, columns] == kind).all(axis=1)
            if same.any():
                weight = np.sqrt(same.sum()) / who.sum()
                rows.append(weight * who)
                answers.append(weight * who.sum() * (values[same].mean(axis=0) - usual))
    matrix, right = np.array(rows), np.array(answers)
    squares = matrix.T @ matrix
    penalty = RIDGE * np.trace(squares) / len(private)
    return usual + np.linalg.solve(squares + penalty * np.eye(len(private)), matrix.T @ right)


def test_estimates_are_those_of_dense_least_squares() -> None:
    names = ["sex", "ward", "risk", "grade"]
    tables = [mixed_table(rows, seed=rows).view(columns=names) for rows in (40, 60)]
    codes = [np.stack([one.table.column(name) for name in names], axis=1) for one in tables]
    values = np.eye(3)[np.random.default_rng(0).integers(0, 3, 60)]
    found = reconstructed(ColumnCells([*tables, tables[0]]), values, order=2)
    assert np.allclose(found.sum(axis=1), 1)
    expected = dense(*codes, values, order=2)
    alike = [(codes[0] == one).all(axis=1) for one in codes[0]]
    assert np.allclose(found, [expected[some].mean(axis=0) for some in alike], atol=2e-3)


def test_small_sets_of_columns_come_first_and_whole_records_last() -> None:
    assert [len(one) for one in sets_of_columns(4, 2)] == [1] * 4 + [2] * 6 + [3] * 4 + [4]
    assert [len(one) for one in sets_of_columns(3, 2)] == [1] * 3 + [2] * 3 + [3]
    assert [len(one) for one in sets_of_columns(2, 2)] == [1, 1, 2]
    many = sets_of_columns(40, 2)
    assert len(many) <= MOST_SETS + 41
    assert [one.tolist() for one in many[:40]] == [[column] for column in range(40)]


def game(
    targets: TabularDataset,
    attribute: str = "sex",
    values: tuple[str, ...] = ("F", "M"),
    box: BlackBoxKnowledge | NoBoxKnowledge | None = None,
) -> TargetedAIA:
    knowledge = QuasiIdentifierKnowledge(mixed_table(200, seed=1), num_training_records=40, seed=0)
    box = BlackBoxKnowledge(Bootstrap(), 40) if box is None else box
    return TargetedAIA(knowledge, targets, attribute, values, box, seed=0, n_jobs=1)


def test_releases_carry_the_private_records_without_the_sensitive_value() -> None:
    played = game(mixed_table(3, seed=5))
    trial = played.draw_trial("test", 0)
    private, _ = played.game.data.draw_labelled(Address(played.seed, "test", 0))
    known = trial.release.identifiers
    assert known is not None
    assert isinstance(private, TabularDataset)
    assert known.data["sex"].isna().all()
    others = [one.view(exclude_columns=["sex"]).table.with_index() for one in (known, private)]
    assert others[0].same_values(others[1])
    assert list(known.table.index) == list(range(len(private)))


def mean_accuracy(played: TargetedAIA, attack: ReconstructionAttack, train: int) -> float:
    (subject,) = Audit(played, [attack], train, 20).run(n_jobs=1).subjects
    return float(np.mean([summary.accuracy for summary in subject.summaries]))  # type: ignore[attr-defined]


def test_values_of_a_resampled_table_are_reconstructed() -> None:
    played = game(mixed_table(4, seed=5), "risk", ("low", "mid", "high"))
    # Two of three records are in a resampled table, and chance is a third of the others.
    assert mean_accuracy(played, ReconstructionAttack(), 4) > 0.65


def test_no_training_is_needed_with_a_threshold() -> None:
    played = game(mixed_table(4, seed=5), box=NoBoxKnowledge(Raw(), 40))
    assert mean_accuracy(played, ReconstructionAttack(criterion=("threshold", 0.5)), 0) > 0.9


def test_who_does_not_know_the_other_columns_is_told_how_to() -> None:
    with pytest.raises(IncompatibleAttackError, match="QuasiIdentifierKnowledge"):
        ReconstructionAttack().train(attribute_game(mixed_table(1, seed=5)), num_samples=4)
    briefing = attribute_briefing(mixed_table(1), "sex", ("F", "M"))
    with pytest.raises(IncompatibleAttackError, match=r"release\.identifiers"):
        ReconstructionAttack().observe(
            Release(mixed_table(5)), briefing, rng=np.random.default_rng(0)
        )


def test_membership_cannot_be_asked_of_somebody_who_knows_it() -> None:
    knowledge = QuasiIdentifierKnowledge(mixed_table(60), num_training_records=20, seed=0)
    with pytest.raises(ThreatModelError, match="TargetedAIA"):
        TargetedMIA(knowledge, mixed_table(1, seed=3), BlackBoxKnowledge(Raw(), 20))


FILE = """\
data: {sample: census, rows: 400, targets: {vulnerable: 2, random: 2}}
generator: {use: Bootstrap}
knowledge: {data: identifiers, records: 60}
goal: GOAL
trials: {train: 8, test: 8}
controls: false
seed: 1
"""


def test_an_audit_file_names_what_the_attacker_knows(tmp_path: Path) -> None:
    place = tmp_path / "audit.yaml"
    place.write_text(FILE.replace("GOAL", "{attribute: {column: Sex}}"))
    record = load_audit(place).run(n_jobs=1)
    attacks = {summary.attack for summary in record.subjects[0].summaries}
    assert "Reconstruction" in attacks
    place.write_text(FILE.replace("GOAL", "{membership: {}}"))
    with pytest.raises(ConfigError, match=r"knowledge\.data: identifiers"):
        load_audit(place)
