"""What torch brings: data sets, loaders, token numbers, modules that return more than scores."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import LossMIA
from tapas.errors import MechanismError, SchemaError
from tapas.models import CallableTrainer, Records, as_model
from tapas.threat_models import ModelMIA
from tapas.threat_models._model_records import as_records, pair

torch = pytest.importorskip("torch", reason="torch is not installed")

X, Y = (part[:400] for part in load_digits(return_X_y=True))


def test_data_sets_and_loaders_of_torch_are_records() -> None:
    inside, outside = (
        torch.utils.data.TensorDataset(torch.tensor(X[part]), torch.tensor(Y[part]))
        for part in (slice(0, None, 2), slice(1, None, 2))
    )
    model = as_model(DecisionTreeClassifier(random_state=0).fit(X[::2], Y[::2]))
    summaries = []
    for sides in (
        (inside, torch.utils.data.DataLoader(outside, batch_size=7)),
        ((X[::2], Y[::2]), (X[1::2], Y[1::2])),
    ):
        attack = LossMIA()
        threat_model = ModelMIA(model, *sides, seed=0)
        attack.train(threat_model)
        summaries.append(threat_model.test(attack))
    np.testing.assert_array_equal(summaries[0].scores, summaries[1].scores)


class Wrapped(torch.nn.Module):
    def __init__(self, way: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.way, self.layer = way, torch.nn.Linear(3, 2)

    def forward(self, rows: "torch.Tensor") -> object:
        found = self.layer(rows)
        return {
            "tensor": found,
            "tuple": (found, rows),
            "mapping": {"hidden": rows, "logits": found},
            "object": SimpleNamespace(logits=found),
            "nothing": "found",
        }[self.way]


def test_the_first_output_or_the_logits_of_a_module_are_read() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3))
    expected = as_model(Wrapped("tensor")).predict_proba(rows)
    for way in ("tuple", "mapping", "object"):
        np.testing.assert_array_equal(as_model(Wrapped(way)).predict_proba(rows), expected)
    with pytest.raises(MechanismError, match="must return a tensor"):
        as_model(Wrapped("nothing")).predict_proba(rows)


def test_token_numbers_stay_whole() -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Embedding(50, 4), torch.nn.Flatten(), torch.nn.Linear(24, 3)
    )
    tokens = np.random.default_rng(0).integers(0, 50, (7, 6))
    found = as_model(module).predict_proba(Records(tokens, np.zeros(7, int)).X)
    with torch.no_grad():
        expected = torch.softmax(module(torch.tensor(tokens)).double(), 1).numpy()
    np.testing.assert_allclose(found, expected)


class OfTwoInputs(torch.nn.Module):
    """Takes token numbers and numbers, in order or by name."""

    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(20, 3)
        self.last = torch.nn.Linear(7, 2)

    def forward(self, tokens: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        return self.last(torch.cat([self.words(tokens).mean(dim=1), numbers], dim=1))


@pytest.mark.parametrize("by_name", [False, True])
def test_modules_of_several_inputs(by_name: bool) -> None:
    rng = np.random.default_rng(0)
    tokens, numbers = rng.integers(0, 20, (80, 5)), rng.normal(size=(80, 4))
    module = OfTwoInputs()
    data = {"tokens": tokens, "numbers": numbers} if by_name else (tokens, numbers)
    parts = [
        {name: part[rows] for name, part in data.items()}
        if isinstance(data, dict)
        else tuple(part[rows] for part in data)
        for rows in (slice(0, 40), slice(40, 80))
    ]
    y = rng.integers(0, 2, 80)
    threat_model = ModelMIA(module, (parts[0], y[:40]), (parts[1], y[40:]), seed=0)
    rows = np.concatenate([tokens, numbers], axis=1)
    with torch.no_grad():
        expected = module(torch.as_tensor(tokens), torch.as_tensor(numbers).float()).softmax(dim=1)
    np.testing.assert_allclose(threat_model.model.predict_proba(rows), expected, atol=1e-6)
    np.testing.assert_array_equal(threat_model.model.predict(rows), expected.argmax(dim=1))
    assert len(threat_model.judged_records()) == 40


def test_functions_may_return_tensors_that_remember_their_gradients() -> None:
    layer = torch.nn.Linear(3, 2)
    rows = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    asked = as_model(lambda X: layer(torch.as_tensor(X)).softmax(dim=1), [0, 1])
    np.testing.assert_allclose(
        asked.predict_proba(rows), as_model(layer).predict_proba(rows), atol=1e-6
    )
    np.testing.assert_array_equal(asked.predict(rows), as_model(layer).predict(rows))


# -- which records a loader gives ------------------------------------------------------------------

DATA = torch.utils.data


def whole_set(size: int = 30) -> "torch.utils.data.TensorDataset":
    numbers = torch.arange(size)
    return DATA.TensorDataset(numbers[:, None].double(), numbers % 2)


def rows_of(given: object) -> list[int]:
    """Which rows of `whole_set` are records."""
    return as_records(given, "members").X[:, 0].astype(int).tolist()


class EverySecond:
    """A sampler of somebody's own, in batches."""

    def __iter__(self) -> Iterator[list[int]]:
        yield from ([start, start + 2] for start in range(0, 28, 4))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sampler": DATA.SubsetRandomSampler(range(5, 15))}, range(5, 15)),
        ({"sampler": DATA.SequentialSampler(range(12)), "batch_size": None}, range(12)),
        ({"shuffle": True, "batch_size": 7}, range(30)),
        ({"shuffle": True, "batch_size": 7, "drop_last": True}, range(30)),
        ({"shuffle": False, "batch_size": 7, "drop_last": True}, range(28)),
        ({"batch_sampler": EverySecond()}, range(0, 28, 2)),
    ],
)
def test_records_of_a_loader_are_those_that_it_gives(options: dict, expected: range) -> None:
    generator = torch.Generator()
    loader = DATA.DataLoader(whole_set(), **options, generator=generator)
    before = torch.get_rng_state(), generator.get_state()
    assert rows_of(loader) == list(expected)
    assert all(map(torch.equal, before, (torch.get_rng_state(), generator.get_state())))
    given = [int(one) for batch in loader for one in np.ravel(batch[0])]
    if not (options.get("shuffle") and options.get("drop_last")):
        assert sorted(given) == list(expected)


def test_a_part_of_a_data_set_is_that_part() -> None:
    assert rows_of(DATA.Subset(whole_set(), [4, 2, 9])) == [4, 2, 9]
    assert rows_of(DATA.DataLoader(DATA.Subset(whole_set(), [4, 2, 9]), shuffle=True)) == [4, 2, 9]


def test_no_more_members_than_the_loader_gives() -> None:
    rng = np.random.default_rng(0)
    features, classes = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
    data = DATA.TensorDataset(torch.tensor(features[:300]), torch.tensor(classes[:300]))
    loader = DATA.DataLoader(data, sampler=DATA.SubsetRandomSampler(range(150)))
    tree = DecisionTreeClassifier(random_state=0).fit(features[:150], classes[:150])
    threat_model = ModelMIA(tree, loader, (features[300:], classes[300:]), known_share=0.0, seed=0)
    assert (threat_model.judged_records()["source"] == "members").sum() == 150


class Endless:
    def __iter__(self) -> Iterator[int]:
        while True:
            yield 0


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self) -> Iterator[tuple[np.ndarray, int]]:
        yield np.zeros(2), 0


class StreamOfKnownLength(Stream):
    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            DATA.DataLoader(whole_set(), sampler=DATA.WeightedRandomSampler(np.ones(30), 30)),
            "Subset",
        ),
        (
            DATA.DataLoader(whole_set(), sampler=DATA.RandomSampler(range(30), num_samples=9)),
            "Subset",
        ),
        (DATA.DataLoader(whole_set(), sampler=Endless()), "never ends"),
        (DATA.DataLoader(Stream()), "Stream gives records one after the other"),
        (DATA.DataLoader(StreamOfKnownLength()), "Subset"),
        (Stream(), "a pair"),
        (StreamOfKnownLength(), "give a pair"),
        (DATA.TensorDataset(torch.zeros(0, 2), torch.zeros(0)), "empty"),
        (DATA.TensorDataset(torch.zeros(4, 2)), "class"),
    ],
)
def test_loaders_that_do_not_say_whom_they_give_are_refused(given: object, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        as_records(given, "members")


# -- items of several inputs, or by name -----------------------------------------------------------


class Items:
    """A data set of whatever is listed."""

    def __init__(self, items: list) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, number: int) -> object:
        return self.items[number]


@pytest.mark.parametrize("by_name", [False, True])
def test_items_of_several_inputs_are_records(by_name: bool) -> None:
    rng = np.random.default_rng(0)
    tokens, numbers = rng.integers(0, 20, (80, 5)), rng.normal(size=(80, 4)).astype(np.float32)
    y, module = rng.integers(0, 2, 80), OfTwoInputs()
    tensors = [torch.tensor(tokens), torch.tensor(numbers), torch.tensor(y)]
    names = ("tokens", "numbers", "labels")
    items = list(zip(*tensors, strict=True))
    data = Items([dict(zip(names, one, strict=True)) for one in items] if by_name else items)
    inside, outside = DATA.Subset(data, range(40)), DATA.Subset(data, range(40, 80))
    plain = {"tokens": tokens, "numbers": numbers} if by_name else (tokens, numbers)
    sides = [
        (
            {k: v[part] for k, v in plain.items()} if by_name else tuple(v[part] for v in plain),
            y[part],
        )
        for part in (slice(0, 40), slice(40, 80))
    ]
    summaries = []
    for members, others in ((inside, DATA.DataLoader(outside, shuffle=True)), sides):
        threat_model, attack = ModelMIA(module, members, others, seed=0), LossMIA()
        attack.train(threat_model)
        summaries.append(threat_model.test(attack))
    np.testing.assert_array_equal(summaries[0].scores, summaries[1].scores)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (
            [{"input_ids": [1, 2, 3], "label": 0}, {"input_ids": [1], "label": 1}],
            "'input_ids'.*pad",
        ),
        ([([1, 2], 0), ([1], 1)], "pad"),
        ([{"input_ids": [1, 2], "kind": 0}], "'labels', 'label'.*holds 'input_ids', 'kind'"),
        ([{"text": "a b", "input_ids": [1, 2], "label": 0}], "'text' hold no numbers"),
        ([3, 4], "got int"),
    ],
)
def test_items_that_are_no_records_are_refused(items: list, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        as_records(Items(items), "members")


def test_one_input_by_name_stands_for_itself() -> None:
    data = Items([{"pixels": np.full((2, 2), number), "label": number} for number in range(3)])
    images, classes = pair(data, "members")
    assert images.shape == (3, 2, 2)
    assert classes.tolist() == [0, 1, 2]
    texts, _ = pair(Items([("some words", 0), ("others", 1)]), "members")
    assert texts.tolist() == ["some words", "others"]


# -- numbers ---------------------------------------------------------------------------------------


def test_modules_that_predict_numbers_are_audited_by_their_residuals() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 3))
    y = features[:, 0] + rng.normal(size=80)

    def trained(X: np.ndarray, y: np.ndarray, seed: int) -> "torch.nn.Module":
        found = np.linalg.lstsq(X, y, rcond=None)[0]
        layer = torch.nn.Linear(3, 1, bias=False).double()
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(found[None, :]))
        return layer

    module = trained(features[:40], y[:40], 0)
    weights = module.weight.detach().numpy()[0]
    found = []
    for model in (module, SimpleNamespace(predict=lambda rows: rows @ weights)):
        sides = (features[:40], y[:40]), (features[40:], y[40:])
        threat_model = ModelMIA(
            model, *sides, trainer=CallableTrainer(trained), num_shadows=4, seed=0, n_jobs=1
        )
        attack = LossMIA()
        attack.train(threat_model)
        found.append(threat_model.test(attack).scores)
    np.testing.assert_allclose(found[0], found[1])
