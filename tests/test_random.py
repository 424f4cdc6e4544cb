"""Every stream has an address of its own, and all addresses are given in one place."""

import ast
import random
from pathlib import Path

import numpy as np
import pytest

import tapas
from tapas import _random
from tapas._random import Part, Parts, TrialPart, part_stream, resolve_seed, stream, trial_stream

SOURCE = Path(tapas.__file__).parent


def parts() -> dict[str, Part]:
    return {name: part for name, part in vars(Parts).items() if isinstance(part, Part)}


def numbers(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(rng.integers(2**62, size=4).tolist())


def test_all_parts_have_addresses_of_their_own() -> None:
    assert len(parts()) > 20
    assert len(set(parts().values())) == len(parts())


def test_no_two_parts_draw_the_same_numbers() -> None:
    drawn = {}
    for name, part in parts().items():
        for first in range(3 if part.depth else 1):
            drawn[name, first] = numbers(part_stream(7, part, *[first] * part.depth))
    assert len(set(drawn.values())) == len(drawn)


def test_the_parts_of_trials_meet_neither_each_other_nor_other_parts() -> None:
    trials = {
        numbers(trial_stream(7, round_, phase, index, part))
        for round_ in range(3)
        for phase in range(2)
        for index in range(3)
        for part in TrialPart
    }
    assert len(trials) == 3 * 2 * 3 * len(TrialPart)
    assert max(part.depth for part in parts().values()) < 3
    for part in parts().values():
        for first in range(3):
            assert numbers(part_stream(7, part, *[first] * part.depth)) not in trials


@pytest.mark.parametrize("name", parts())
def test_a_part_takes_as_many_indices_as_it_says(name: str) -> None:
    part = parts()[name]
    for depth in {0, 1, 2, 3} - {part.depth}:
        with pytest.raises(ValueError, match=f"takes {part.depth} indices, got {depth}"):
            part_stream(1, part, *range(depth))


def test_a_stream_is_found_by_its_address_alone() -> None:
    first = numbers(stream(3, 1, 2))
    stream(3, 1, 2).random(100)
    assert numbers(stream(3, 1, 2)) == first
    others = [stream(4, 1, 2), stream(3, 2, 1), stream(3, 1), stream(3, 1, 2, 0), stream(3)]
    assert first not in [numbers(other) for other in others]


def _literal_addresses(path: Path) -> list[str]:
    """Calls of `stream` that give a number of a part by hand."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else None
        called = node.func.id if isinstance(node.func, ast.Name) else called
        given = [argument for argument in node.args[1:] if isinstance(argument, ast.Constant)]
        if called == "stream" and any(type(argument.value) is int for argument in given):
            found.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_nobody_gives_the_number_of_a_part_by_hand() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.name != "_random.py"]
    assert [line for path in files for line in _literal_addresses(path)] == []


def test_numbers_given_by_hand_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    file = tmp_path / "some.py"
    file.write_text(
        "stream(seed, 3)\nstream(3)\n_random.stream(seed, index, 4)\nstream(0, index)\n"
    )
    assert [line.split(":")[1] for line in _literal_addresses(file)] == ["1", "3"]


@pytest.mark.parametrize("seed", [-1, True, 1.5, "1"])
def test_a_seed_is_a_non_negative_integer(seed: object) -> None:
    with pytest.raises(ValueError, match="seed"):
        resolve_seed(seed)  # type: ignore[arg-type]


def test_a_missing_seed_is_drawn() -> None:
    assert resolve_seed(None) != resolve_seed(None)
    assert resolve_seed(np.int64(5)) == 5


def test_global_generators_are_seeded_and_put_back() -> None:
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    expected = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    drawn = []
    for _ in range(2):
        with _random.seeded_globals(9):
            drawn.append((np.random.random(), random.random()))  # noqa: NPY002
    assert drawn[0] == drawn[1]
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002
