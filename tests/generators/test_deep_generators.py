"""Networks that make tables: exact where the truth is known, and alone within their stack."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.attacks import LikelihoodAttack
from tapas.audit import Audit
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, MechanismError
from tapas.generators import GaussianCopula, TableDiffusion, TableVAE
from tapas.threat_models import AuxiliaryDataKnowledge, TargetedMIA, WhiteBoxKnowledge

torch = pytest.importorskip("torch", reason="deep generators need torch")

from tapas.generators._deep_columns import DeepColumns, Places  # noqa: E402
from tapas.generators._deep_networks import draw  # noqa: E402
from tapas.generators._diffusion_networks import DiffusionNetworks  # noqa: E402
from tapas.generators._variational_networks import VariationalNetworks  # noqa: E402

FEW: dict[str, Any] = {"hidden": 8, "steps": 5, "batch_size": 16, "device": "cpu"}
BOTH = pytest.mark.parametrize("kind", [TableVAE, TableDiffusion])


def untaught(kind: type, places: Places, models: int = 1) -> Any:
    """Networks whose every parameter is 0."""
    shapes = kind.shapes(places, (8,))
    blocks = [size for i, o in shapes for size in ((models, i, o), (models, 1, o))]
    return kind(places, [torch.zeros(size) for size in blocks])


def test_without_knowledge_noise_is_taken_off_by_bayes_rule() -> None:
    """For normal numbers and even choices the untaught network is the exact answer."""
    networks, level = untaught(DiffusionNetworks, Places(1, (3,))), 0.7
    noisy = torch.tensor([[[0.4, 0.9, -0.2, 0.1]]])
    expected, shares = networks._cleaned(noisy, level)
    assert expected[0, 0, 0] == pytest.approx(0.4 * 0.25 / (0.49 + 0.25))
    densities = [np.exp(-np.sum((noisy[0, 0, 1:].numpy() - e) ** 2) / 0.98) for e in np.eye(3)]
    posterior = np.array(densities) / sum(densities)
    assert np.allclose(shares[0, 0].exp(), posterior)
    assert np.allclose(expected[0, 0, 1:], posterior)


@pytest.mark.parametrize("kind", [DiffusionNetworks, VariationalNetworks])
def test_without_knowledge_numbers_are_normal_and_choices_even(kind: type) -> None:
    """Marks that were not seen are never drawn."""
    seen = np.array([[True, True, True, False, True, True]])
    ((scores, marks),) = draw(untaught(kind, Places(1, (4, 2))), seen, 6000, seed=1)
    assert scores.mean() == pytest.approx(0, abs=0.06)
    assert scores.std() == pytest.approx(1, abs=0.05)
    shares = np.bincount(marks[:, 0], minlength=4) / len(marks)
    assert np.allclose(shares, [1 / 3, 1 / 3, 1 / 3, 0], atol=0.03)
    assert marks[:, 1].mean() == pytest.approx(0.5, abs=0.03)


def test_stacked_layers_are_those_of_each_model() -> None:
    networks = untaught(VariationalNetworks, Places(2, (3, 2, 2)), models=3)
    generator = torch.Generator().manual_seed(0)
    networks.parameters = [torch.randn(p.shape, generator=generator) for p in networks.parameters]
    rows = torch.randn((3, 5, 9), generator=generator)
    together = networks.perceptron(rows, 0, 2)
    for number in range(3):
        first, second = (torch.nn.Linear(*shape) for shape in ((9, 8), (8, 32)))
        with torch.no_grad():
            for layer, at in ((first, 0), (second, 2)):
                layer.weight.copy_(networks.parameters[at][number].T)
                layer.bias.copy_(networks.parameters[at + 1][number, 0])
            alone = second(torch.nn.functional.silu(first(rows[number])))
        assert torch.allclose(together[number], alone, atol=1e-5)


def test_rows_come_back_as_they_were() -> None:
    data = load_sample("clinic", rows=300)
    columns, rows = DeepColumns.learn(data.table, Places.of([data.table]))
    numbers = columns.places.numbers
    parts = np.split(rows[:, numbers:], np.cumsum(columns.places.choices)[:-1], axis=1)
    marks = np.stack([part.argmax(axis=1) for part in parts], axis=1)
    again = columns.decode(rows[:, :numbers], marks)
    for column in data.table.columns:
        real, back = data.table.column(column.name), again.column(column.name)
        if column.is_coded:
            assert np.array_equal(real, back)
        else:
            assert np.array_equal(np.isnan(real), np.isnan(back))
            present = ~np.isnan(real)
            ranks = pd.Series(real[present]).rank() - pd.Series(back[present]).rank()
            assert ranks.abs().max() <= 2


@BOTH
def test_what_stands_beside_a_table_in_a_stack_does_not_reach_it(kind: type) -> None:
    first, second, third = (load_sample("clinic", rows=40 + k, seed=k) for k in range(3))
    generator = kind(**FEW)
    one, _ = generator.run_stack([first, second], 20, [1, 2])
    other, last = generator.run_stack([first, third], 20, [1, 2])
    assert one[1].table.same_values(other[1].table)
    pairs = zip(one[0].parameters_, other[0].parameters_, strict=True)
    assert all(np.array_equal(*pair) for pair in pairs)
    assert last[0].num_records_ == 42
    assert not generator.trained
    alone = generator.run_stack([first], None, [1])[0][1]
    assert len(alone) == 40


@BOTH
def test_a_rule_of_the_data_is_learnt(kind: type) -> None:
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"side": side, "same": side, "x": side + 0.1 * rng.normal(size=400)})
    schema = [
        {"name": "side", "type": "finite", "representation": [0, 1]},
        {"name": "same", "type": "finite", "representation": [0, 1]},
        {"name": "x", "type": "real", "representation": "number"},
    ]
    data = TabularDataset(frame, DataDescription(schema))
    made = kind(hidden=32, steps=800, batch_size=64, learning_rate=5e-3, device="cpu")
    release = made(data, 400, random_state=1).data
    assert (release["side"] == release["same"]).mean() > 0.85
    assert ((release["x"] > 0.5) == (release["side"] == 1)).mean() > 0.8
    assert release["side"].mean() == pytest.approx(side.mean(), abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["clinic", "census"])
def test_tables_are_as_good_as_the_copulas(sample: str) -> None:
    data = load_sample(sample, rows=1000)
    names = [column.name for column in data.description.parsed if column.is_coded]

    def off(release: TabularDataset) -> float:
        pairs = [(a, b) for a in names for b in names if a < b]
        tables = [
            pd.crosstab(one.data[a], one.data[b], normalize=True).stack()
            for a, b in pairs
            for one in (data, release)
        ]
        both = zip(tables[::2], tables[1::2], strict=True)
        return float(np.mean([x.sub(y, fill_value=0).abs().sum() / 2 for x, y in both]))

    copula, diffusion, vae = (
        off(generator(data, 1000, random_state=0))
        for generator in (GaussianCopula(), TableDiffusion(device="cpu"), TableVAE(device="cpu"))
    )
    assert diffusion < copula
    assert vae < copula + 0.03


def test_missing_torch_devices_and_wide_tables_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="device must be"):
        TableDiffusion(device="abacus")
    with pytest.raises(ConfigError, match="learning_rate"):
        TableVAE(learning_rate=0, device="cpu")
    schema = [{"name": "plate", "type": "finite", "representation": 5000}]
    data = TabularDataset(pd.DataFrame({"plate": [1, 2]}), DataDescription(schema))
    with pytest.raises(MechanismError, match=r"'plate' has 5,000 categories"):
        TableVAE(device="cpu").refuse_table(data)


def game(generator: Any, records: int = 30, targets: int = 2) -> TargetedMIA:
    data = load_sample("census", 300, seed=1)
    chosen = np.flatnonzero(~data.data.duplicated(keep=False))[:targets].tolist()
    rest = data.drop_records(chosen)
    knowledge = AuxiliaryDataKnowledge(rest, num_training_records=records, seed=2)
    box = WhiteBoxKnowledge(generator, records)
    return TargetedMIA(knowledge, data.take(chosen), box, seed=3)


def test_stacks_of_trials_are_the_same_wherever_they_are_played(tmp_path: Path) -> None:
    def scores(folder: Path | None, jobs: int, trials: int = 8) -> list[list[float]]:
        audit = Audit(game(TableVAE(**FEW, fits_at_once=3)), [LikelihoodAttack()], 8, trials)
        (subject,) = audit.run(folder, n_jobs=jobs).subjects
        return [one.scores.tolist() for one in subject.summaries]  # type: ignore[attr-defined]

    whole = scores(None, 1)
    assert scores(None, 2) == whole
    scores(tmp_path, 1, 4)
    assert scores(tmp_path, 1) == whole


@pytest.mark.slow
def test_losses_of_a_diffusion_model_tell_members_from_others() -> None:
    generator = TableDiffusion(hidden=(64, 64), steps=800, batch_size=64, device="cpu")
    audit = Audit(game(generator, 60, 10), [LikelihoodAttack()], 30, 40)
    (subject,) = audit.run(n_jobs=2).subjects
    areas = [one.auc for one in subject.summaries]  # type: ignore[attr-defined]
    assert np.mean(areas) > 0.6
