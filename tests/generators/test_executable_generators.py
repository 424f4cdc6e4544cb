"""Generators that are programs: what they are sent, and every way in which they can fail."""

from pathlib import Path

import pytest

from tapas._spec import spec_of
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import MechanismError, NotTrainedError
from tapas.generators import GeneratorFromExecutable, Raw


def program(folder: Path, *lines: str) -> str:
    path = folder / "program"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_rows_go_in_and_come_out(tmp_path: Path, numbered: TabularDataset) -> None:
    generator = GeneratorFromExecutable(program(tmp_path, 'head -n "$1"'))
    released = generator(numbered, 5)
    assert released.description == numbered.description
    assert released.table.same_values(numbered.take(range(5)).table)  # type: ignore[attr-defined]


@pytest.mark.parametrize("header", [True, False])
def test_a_header_is_sent_only_on_request(
    tmp_path: Path, numbered: TabularDataset, header: bool
) -> None:
    seen = tmp_path / "seen"
    exe = program(tmp_path, f'tee "{seen}" | head -n "$(($1 + {int(header)}))"')
    released = GeneratorFromExecutable(exe, header=header)(numbered, 4)
    lines = seen.read_text().splitlines()
    assert (lines[0] == "number,half,letter") == header
    assert len(lines) == 100 + header
    assert released.data["number"].tolist() == [0, 1, 2, 3]  # type: ignore[attr-defined]


def test_the_output_may_have_a_header_in_any_order(
    tmp_path: Path, numbered: TabularDataset
) -> None:
    exe = program(tmp_path, "echo letter,half,number", "echo b,0.5,3", "cat > /dev/null")
    released = GeneratorFromExecutable(exe)(numbered, 1)
    assert released.data.values.tolist() == [[3, 0.5, "b"]]  # type: ignore[attr-defined]


def test_odd_values_survive_the_pipe(tmp_path: Path) -> None:
    words = ["a,b", 'q"q', "line\nline", "é", "", "NA"]
    schema = [
        {"name": "w", "type": "finite", "representation": words},
        {"name": "n", "type": "countable", "representation": "integer"},
    ]
    rows = [*([word, i] for i, word in enumerate(words)), [None, None]]
    dataset = TabularDataset(rows, DataDescription(schema))
    released = GeneratorFromExecutable(program(tmp_path, "cat"))(dataset, 7)
    assert released.table.same_values(dataset.table)  # type: ignore[attr-defined]


def test_a_seed_travels_in_the_environment(tmp_path: Path, numbered: TabularDataset) -> None:
    exe = program(tmp_path, 'echo "${TAPAS_SEED:-0},0.5,a"', "cat > /dev/null")
    generator = GeneratorFromExecutable(exe)
    generator.fit(numbered)
    assert generator.generate(1, random_state=42).data["number"].tolist() == [42]
    assert generator.generate(1, random_state=43).data["number"].tolist() == [43]


def test_a_failing_program_is_quoted(tmp_path: Path, numbered: TabularDataset) -> None:
    exe = program(tmp_path, "echo out of cheese >&2", "exit 3")
    generator = GeneratorFromExecutable(exe, label="mouse")
    with pytest.raises(MechanismError, match="mouse ended with exit status 3: out of cheese"):
        generator(numbered, 5)


def test_a_slow_program_is_stopped(tmp_path: Path, numbered: TabularDataset) -> None:
    generator = GeneratorFromExecutable(program(tmp_path, "exec sleep 30"), timeout=0.2)
    with pytest.raises(MechanismError, match=r"within 0\.2 seconds"):
        generator(numbered, 5)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("1,2", r"2 columns and the schema 3"),
        ("1,2,q", r"'letter', row 0: 'q'"),
        ("x,2,a", r"'number', row 0: 'x'"),
        ("1,2,a", r"asked for 2 records and printed 1"),
        ("", r"asked for 2 records and printed 0"),
    ],
)
def test_unusable_output_is_explained(
    tmp_path: Path, numbered: TabularDataset, output: str, words: str
) -> None:
    exe = program(tmp_path, "cat > /dev/null", f"echo '{output}'")
    with pytest.raises(MechanismError, match=words):
        GeneratorFromExecutable(exe)(numbered, 2)


def test_programs_are_found_on_the_path_or_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert GeneratorFromExecutable("cat").exe.endswith("/cat")
    assert GeneratorFromExecutable("cat").label == "cat"
    exe = program(tmp_path, "cat")
    monkeypatch.chdir(tmp_path)
    assert GeneratorFromExecutable("./program").exe.endswith("program")
    assert GeneratorFromExecutable("program").exe == exe
    assert GeneratorFromExecutable("program", "nice name").label == "nice name"
    with pytest.raises(RuntimeError, match="'no-such-program'"):
        GeneratorFromExecutable("no-such-program")
    Path("plain").write_text("")
    with pytest.raises(RuntimeError, match="chmod"):
        GeneratorFromExecutable("plain")


def test_only_tables_can_be_sent(numbered: TabularDataset) -> None:
    generator = GeneratorFromExecutable("cat")
    with pytest.raises(NotTrainedError, match="cat"):
        generator.generate(1)
    with pytest.raises(MechanismError, match="TabularDataset"):
        generator.fit(Raw())  # type: ignore[arg-type]


def test_an_edited_program_is_another_mechanism(tmp_path: Path) -> None:
    exe = program(tmp_path, 'head -n "$1"')
    before = spec_of(GeneratorFromExecutable(exe)).digest
    assert spec_of(GeneratorFromExecutable(exe)).digest == before
    program(tmp_path, 'tail -n "$1"')
    assert spec_of(GeneratorFromExecutable(exe)).digest != before
