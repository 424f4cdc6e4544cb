"""Files are there whole or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapas._files import write_bytes, write_text


def test_what_is_written_is_there_and_folders_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "text", "größer\r\n")
    write_bytes(str(tmp_path / "bytes"), b"\x00\xff")
    assert (tmp_path / "a" / "b" / "text").read_bytes() == "größer\r\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"


@pytest.mark.parametrize("step", ["write", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left"), KeyboardInterrupt()], ids=repr)
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    path = tmp_path / "file"
    write_text(path, "old")

    def half_written(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise failure

    def not_replaced(*_: object) -> None:
        raise failure

    with monkeypatch.context() as broken:
        if step == "write":
            broken.setattr(Path, "write_bytes", half_written)
        else:
            broken.setattr(os, "replace", not_replaced)
        with pytest.raises(type(failure)):
            write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_many_writers_of_one_file_leave_the_content_of_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([number]) * 100_000 for number in range(40)]

    def write_and_read(content: bytes) -> bytes:
        write_bytes(path, content)
        return path.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(write_and_read, contents))
    assert set(seen) <= set(contents)
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_other_files_and_kept_where_they_were_changed(
    tmp_path: Path,
) -> None:
    path, ordinary = tmp_path / "file", tmp_path / "ordinary"
    write_text(path, "for everybody")
    ordinary.write_text("")
    assert path.stat().st_mode == ordinary.stat().st_mode
    path.chmod(0o600)
    write_text(path, "for me")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_links_are_followed_and_pipes_are_written_to(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(real)
    write_text(link, "through the link")
    assert link.is_symlink()
    assert real.read_text() == "through the link"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        received = pool.submit(pipe.read_bytes)
        write_bytes(pipe, b"down the pipe")
        assert received.result(timeout=10) == b"down the pipe"
    assert pipe.is_fifo()


def test_a_folder_in_the_way_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "text")
