"""Perceptrons trained many at once, beside one trained by automatic differentiation."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from tapas.errors import ConfigError, SchemaError
from tapas.models import TorchMLPTrainer
from tapas.models._mlp_plan import Recipe, StackTask
from tapas.models._training_sets import ListedSets

torch = pytest.importorskip("torch", reason="torch is not installed")

from tapas.models._counted import counted_bits  # noqa: E402
from tapas.models._visits import schedule_of  # noqa: E402


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(160, 12, n_informative=6, n_classes=3, random_state=0, shuffle=True)
    masks = np.random.default_rng(0).random((5, 160)) < 0.5
    return X * 50 + 1000, y, masks


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _train(data, masks=None, seed=0, n_jobs=1, **options):
    X, y, own = data
    trainer = TorchMLPTrainer(
        device="cpu", **{"hidden": (16,), "epochs": 5, "batch_size": 16, **options}
    )
    masks = own if masks is None else masks
    return trainer.train_many(X, y, masks, rng=np.random.default_rng(seed), n_jobs=n_jobs)


def _splitmix(state: int) -> int:
    """The finaliser of SplitMix64, in whole numbers."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB % 2**64
    return state ^ (state >> 31)


def _number(start: int, place: int) -> int:
    return _splitmix((start + (place + 1) * 0x9E3779B97F4A7C15) % 2**64)


def _sequence(seed: int, purpose: int, key: int, count: int) -> list[int]:
    start = _number(_number(seed, purpose), key)
    return [_number(start, place) for place in range(count)]


def _naive_twin(task: StackTask, key: int) -> list[np.ndarray]:
    """Follow the plan of one model alone, with autograd and an unfused optimiser."""
    recipe = task.recipe
    mask = task.sets.mask(key)
    order = [number % 2**63 for number in _sequence(task.seed, 1, key, len(mask))]
    rows = np.array(sorted(np.flatnonzero(mask), key=order.__getitem__))
    count = sum((inputs + 1) * outputs for inputs, outputs in recipe.shapes)
    drawn = np.array([number >> 40 for number in _sequence(task.seed, 2, key, count)]) / 2**24
    parameters, at = [], 0
    for inputs, outputs in recipe.shapes:
        for shape in ((outputs, inputs), (outputs,)):
            block = drawn[at : at + math.prod(shape)].reshape(shape)
            values = ((2 * block - 1) / np.sqrt(inputs)).astype(np.float32)
            parameters.append(torch.tensor(np.ascontiguousarray(values.T)))
            at += math.prod(shape)
    for parameter in parameters:
        parameter.requires_grad_()
    own = task.inputs[mask]
    X = torch.tensor((task.inputs - own.mean(axis=0)) / own.std(axis=0), dtype=torch.float32)
    y = torch.tensor(task.codes)
    optimizer = torch.optim.AdamW(
        parameters, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    for places in schedule_of(task.sets.largest, recipe.epochs, recipe.batch_size, task.seed):
        at = torch.tensor(rows[places[places < len(rows)]].astype(int))
        signal = X[at]
        for weights, biases in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            signal = torch.relu(signal @ weights + biases)
        loss = torch.nn.functional.cross_entropy(signal @ parameters[-2] + parameters[-1], y[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [parameter.detach().numpy() for parameter in parameters]


def test_numbers_by_their_place_are_those_that_are_published():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    found = counted_bits(torch.tensor([1234567]), torch.arange(3))[0].tolist()
    assert [number % 2**64 for number in found] == published
    assert [_number(1234567, place) for place in range(3)] == published


@pytest.mark.parametrize("hidden", [(8,), (8, 5), ()])
def test_a_stack_follows_automatic_differentiation_of_each_model(data, hidden):
    X, y, masks = data
    recipe = Recipe((12, *hidden, 3), 3, 16, 1e-2, 0.01, "cpu")
    task = StackTask(X, np.ones(12, dtype=bool), y, ListedSets(masks), recipe, seed=3)
    trained = task(range(1, 4))
    for key, (layers, shift, scale) in zip(range(1, 4), trained, strict=True):
        expected = _naive_twin(task, key)
        for found, wanted in zip([p for layer in layers for p in layer], expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=2e-4)
        np.testing.assert_allclose(shift, X[masks[key]].mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(scale, X[masks[key]].std(axis=0), rtol=1e-4)


def test_models_learn_their_own_records(data):
    X, y, masks = data
    models = _train(data, epochs=60, hidden=(32,), learning_rate=5e-3)
    for model, mask in zip(models, masks, strict=True):
        correct = model.predict(X) == y
        assert correct[mask].mean() > 0.95 > correct[~mask].mean() > 0.4


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_bits_in_any_number_of_processes(data, jobs):
    X = data[0]
    runs = [_train(data, models_at_once=2, n_jobs=number) for number in (1, jobs)]
    for models in zip(*runs, strict=True):
        first, *others = (model.predict_proba(X) for model in models)
        assert all((first == other).all() for other in others)


def test_another_seed_gives_other_models(data):
    X = data[0]
    first, second = _train(data, seed=0)[0], _train(data, seed=1)[0]
    assert (first.predict_proba(X) != second.predict_proba(X)).any()


def test_models_on_the_same_records_differ(data):
    X, y, _ = data
    first, second = _train(data, masks=np.ones((2, len(y)), dtype=bool))
    assert (first.predict_proba(X) != second.predict_proba(X)).any()


def test_the_size_of_a_stack_changes_rounding_alone(data):
    X = data[0]
    together, apart = _train(data), _train(data, models_at_once=1)
    for one, other in zip(together, apart, strict=True):
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-3)


def test_records_outside_a_mask_do_not_matter(data):
    X, y, masks = data
    changed = X.copy()
    changed[~masks[0]] += np.random.default_rng(0).normal(size=changed[~masks[0]].shape)
    model = _train(data)[0]
    other = _train((changed, y, masks))[0]
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-3)


def test_training_leaves_global_randomness_and_threads_alone(data):
    torch.manual_seed(5)
    torch.set_num_threads(2)
    before = torch.get_rng_state()
    _train(data, epochs=1)
    assert (torch.get_rng_state() == before).all()
    assert torch.get_num_threads() == 2


def test_frames_with_categories_and_missing_values_are_encoded(data):
    X, y, masks = data
    rng = np.random.default_rng(0)
    town = np.array(["york", "hull", "leeds"])[y]
    frame = pd.DataFrame({"x": X[:, 0], "town": town, "constant": 1.0})
    frame.loc[rng.random(len(y)) < 0.1, "x"] = np.nan
    models = _train((frame, np.array(["a", "b", "c"])[y], masks), epochs=60, learning_rate=5e-3)
    assert (models[0].predict(frame) == np.array(["a", "b", "c"])[y]).mean() > 0.95
    strange = frame.assign(town="unheard of")
    assert models[0].predict_proba(strange).shape == (len(y), 3)


def test_a_class_absent_from_a_mask_is_still_a_column(data):
    X, y, masks = data
    masks = masks & (y != 2)
    masks[1] = True
    model = _train((X, y, masks), epochs=20)[0]
    assert model.predict_proba(X).shape == (len(y), 3)
    assert (model.predict_proba(X)[:, 2] == 0).all()


def test_masks_of_different_sizes_train_together(data):
    X, y, _ = data
    masks = np.zeros((3, len(y)), dtype=bool)
    for mask, size in zip(masks, (20, 90, 160), strict=True):
        mask[:size] = True
    models = _train((X, y, masks), epochs=60, learning_rate=5e-3)
    for model, mask in zip(models, masks, strict=True):
        assert (model.predict(X[mask]) == y[mask]).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": (0,)}, "hidden must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"batch_size": 2.5}, "batch_size must be"),
        ({"models_at_once": 0}, "models_at_once must be"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
    ],
)
def test_wrong_parameters_are_refused_by_name(options, message):
    with pytest.raises(ConfigError, match=message):
        TorchMLPTrainer(**options)


def test_records_that_are_not_numbers_are_refused(data):
    _, y, masks = data
    with pytest.raises(SchemaError, match="data frame"):
        _train((np.full((len(y), 2), "text", dtype=object), y, masks))


def test_an_unknown_device_is_refused(data):
    X, y, masks = data
    with pytest.raises(ConfigError, match="device must be"):
        TorchMLPTrainer(device="abacus").train_many(X, y, masks, rng=np.random.default_rng(0))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_captured_graph_trains_as_the_cpu_does(data):
    X, y, masks = data
    on_cpu = _train(data)
    on_gpu = TorchMLPTrainer(hidden=(16,), epochs=5, batch_size=16, device="cuda").train_many(
        X, y, masks, rng=np.random.default_rng(0)
    )
    for one, other in zip(on_cpu, on_gpu, strict=True):
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-2)
