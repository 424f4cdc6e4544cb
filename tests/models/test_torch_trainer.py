"""Torch modules trained many at once, beside one trained by torch alone."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from tapas._random import integer_seed, stream
from tapas.attacks import RMIA
from tapas.errors import ConfigError, MechanismError, SchemaError
from tapas.models import ShapedTrainer, TorchTrainer, as_model
from tapas.threat_models import ModelMIA

torch = pytest.importorskip("torch", reason="torch is not installed")

from tapas.models._visits import schedule_of, visits_of  # noqa: E402

EPOCHS, BATCH, RATE, DECAY = 3, 16, 1e-2, 0.01


def small_cnn():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(4, 6, 3, stride=2, padding=1),
        torch.nn.GroupNorm(2, 6),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(24, 10),
    )


def with_dropout():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(64, 10))


@pytest.fixture(scope="module")
def images():
    X, y = load_digits(return_X_y=True)
    masks = np.random.default_rng(0).random((5, 200)) < 0.5
    return X[:200].reshape(-1, 1, 8, 8) / 16, y[:200], masks


def trained(images, make=small_cnn, masks=None, seed=0, n_jobs=1, **options):
    X, y, own = images
    given = {"epochs": EPOCHS, "batch_size": BATCH, "learning_rate": RATE, "weight_decay": DECAY}
    trainer = TorchTrainer(make, device="cpu", **{**given, **options})
    masks = own if masks is None else masks
    return trainer.train_many(X, y, masks, rng=np.random.default_rng(seed), n_jobs=n_jobs)


def twin(images, seed, key):
    """One model alone: the same initial weights and order, `torch.optim` and plain calls."""
    X, y, masks = images
    largest = int(masks.sum(axis=1).max())
    schedule = schedule_of(largest, EPOCHS, BATCH, seed)
    (order,), (present,), _ = vars(visits_of(masks[[key]], schedule, seed, [key], "cpu")).values()
    torch.manual_seed(integer_seed(stream(seed, 2, key)))
    module = small_cnn()
    optimizer = torch.optim.AdamW(module.parameters(), lr=RATE, weight_decay=DECAY)
    for places in schedule:
        rows = order[places][present[places] > 0]
        logits = module(torch.tensor(X[rows], dtype=torch.float32))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.tensor(y[rows])).backward()
        optimizer.step()
    with torch.no_grad():
        return torch.softmax(module(torch.tensor(X, dtype=torch.float32)), dim=1).numpy()


def test_copies_in_lockstep_learn_what_each_would_alone(images):
    X = images[0]
    seed = integer_seed(np.random.default_rng(0))
    models = trained(images)
    for key in (0, 3):
        model = models[key]
        np.testing.assert_allclose(model.predict_proba(X), twin(images, seed, key), atol=2e-3)


def test_orders_have_each_record_of_a_model_once(images):
    _, _, masks = images
    largest = int(masks.sum(axis=1).max())
    visits = visits_of(masks, schedule_of(largest, 1, BATCH, 7), 7, range(5), "cpu")
    for order, present, mask in zip(visits.orders, visits.present, masks, strict=True):
        assert sorted(order[present > 0].tolist()) == np.flatnonzero(mask).tolist()
        assert present[-1] == 0


def test_models_learn_their_own_images(images):
    X, y, masks = images
    for model, mask in zip(trained(images, masks=masks[:2], epochs=40), masks[:2], strict=True):
        correct = model.predict(X) == y
        assert correct[mask].mean() > 0.97 >= correct[~mask].mean() > 0.5


@pytest.mark.parametrize("make", [small_cnn, with_dropout])
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_bits_in_any_number_of_processes(images, make, jobs):
    X = images[0]
    state = torch.get_rng_state()
    runs = [trained(images, make, models_at_once=2, n_jobs=number) for number in (1, jobs)]
    for one, other in zip(*runs, strict=True):
        assert (one.predict_proba(X) == other.predict_proba(X)).all()
    assert (torch.get_rng_state() == state).all()
    other = trained(images, make, models_at_once=2, seed=1)[0]
    assert (runs[0][0].predict_proba(X) != other.predict_proba(X)).any()


def test_a_class_that_a_model_never_saw_is_impossible(images):
    X, y, masks = images
    models = trained(images, masks=masks & (y != 3))
    found = models[0].predict_proba(X)
    assert (found[:, 3] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)


def test_an_audit_trains_a_stack_of_networks_of_images(images):
    X, y, _ = images
    trainer = TorchTrainer(small_cnn, epochs=30, learning_rate=RATE, device="cpu", models_at_once=4)
    game = ModelMIA(
        trained(images, masks=(np.arange(200) < 100)[None], epochs=30)[0],
        (X[:100], y[:100]),
        (X[100:], y[100:]),
        trainer=trainer,
        num_shadows=4,
        seed=0,
        n_jobs=1,
    )
    shaped = game.game.trainer
    assert isinstance(shaped, ShapedTrainer)
    assert shaped.models_at_once == 4
    attack = RMIA()
    attack.train(game)
    assert 0.5 < game.test(attack).auc <= 1


def test_tokens_reach_an_embedding_as_whole_numbers():
    def reader():
        return torch.nn.Sequential(
            torch.nn.Embedding(7, 4), torch.nn.Flatten(), torch.nn.Linear(12, 2)
        )

    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, (60, 3))
    y = (X[:, 0] > 3).astype(int)
    trainer = TorchTrainer(reader, 60, BATCH, RATE, device="cpu")
    model = trainer.train(X, y, rng=rng)
    assert (model.predict(X) == y).mean() > 0.9


class Answering(torch.nn.Module):
    """Answers as libraries of language models do."""

    def __init__(self, way="object"):
        super().__init__()
        self.way, self.layer = way, torch.nn.Linear(64, 10)

    def forward(self, images):
        logits = self.layer(images.flatten(1))
        return {"tuple": (logits, images), "object": SimpleNamespace(loss=None, logits=logits)}.get(
            self.way, logits
        )


def test_the_first_output_or_the_logits_of_a_module_are_trained(images):
    X, y, masks = images
    for own in (masks, masks & (y != 3)):
        plain = trained(images, make=lambda: Answering("plain"), masks=own)
        for way in ("tuple", "object"):
            models = trained(images, make=lambda way=way: Answering(way), masks=own)
            np.testing.assert_array_equal(models[0].predict_proba(X), plain[0].predict_proba(X))


def test_a_class_of_modules_makes_them(images):
    made = trained(images, make=Answering)
    for model, twin in zip(made, trained(images, make=lambda: Answering()), strict=True):
        np.testing.assert_array_equal(model.predict_proba(images[0]), twin.predict_proba(images[0]))


def test_layers_that_cannot_learn_in_lockstep_are_refused_with_the_remedy(images):
    class Reader(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.reader = torch.nn.LSTM(8, 4, batch_first=True)
            self.last = torch.nn.Linear(4, 10)

        def forward(self, images):
            return self.last(self.reader(images.squeeze(1))[0][:, -1])

    with pytest.raises(ConfigError, match="one by one with CallableTrainer"):
        trained(images, make=Reader)


def test_several_inputs_are_refused_with_the_remedy(images):
    X, y, _ = images
    sides = [({"a": X[rows], "b": X[rows]}, y[rows]) for rows in (slice(0, 100), slice(100, 200))]
    model = as_model(lambda given: np.full((len(given["a"]), 10), 0.1), range(10))
    game = ModelMIA(model, *sides, trainer=TorchTrainer(small_cnn, device="cpu"), num_shadows=4)
    with pytest.raises(MechanismError, match="several inputs: train with CallableTrainer"):
        RMIA().train(game)


def test_what_cannot_be_trained_is_refused_with_the_remedy(images):
    X, y, masks = images
    for options, words in [({"epochs": 0}, "epochs must be"), ({"learning_rate": 0.0}, "positive")]:
        with pytest.raises(ConfigError, match=words):
            TorchTrainer(small_cnn, **options)
    for strange in ("a network", torch.nn.Linear(64, 10)):
        with pytest.raises(ConfigError, match="must be a function"):
            TorchTrainer(strange)
    few = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 9))
    for module, words in [
        (few, r"one logit for each of 10 classes, got shape \(1, 9\)"),
        (torch.nn.Sequential(few, torch.nn.Softmax(1)), "ends in Softmax"),
    ]:
        with pytest.raises(ConfigError, match=words):
            trained(images, make=lambda module=module: module)
    trainer = TorchTrainer(lambda: torch.nn.BatchNorm2d(1), device="cpu")
    with pytest.raises(ConfigError, match="running statistics"):
        trainer.train_many(X, y, masks, rng=np.random.default_rng(0), n_jobs=1)
    frame = pd.DataFrame({"town": ["york"] * 200})
    with pytest.raises(SchemaError, match="records of numbers"):
        trained((frame, y, masks))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_captured_graph_trains_as_the_cpu_does(images):
    X, y, masks = images
    on_cpu = trained(images)
    trainer = TorchTrainer(small_cnn, EPOCHS, BATCH, RATE, DECAY, device="cuda")
    on_gpu = trainer.train_many(X, y, masks, rng=np.random.default_rng(0))
    for one, other in zip(on_cpu, on_gpu, strict=True):
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-2)
