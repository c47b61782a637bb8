"""A file is read as it grows: nothing twice, nothing left out, whatever happens to the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from glnn.streams.growing_file import LONGEST, GrowingFile, Position
from glnn.streams.standard_input import Pipe

pytestmark = pytest.mark.small


class Writer:
    """Does one thing to the file each time the reader waits, then stops it."""

    def __init__(self, *actions: object) -> None:
        self.actions: Iterator[object] = iter(actions)

    def __call__(self) -> bool:
        action = next(self.actions, None)
        if action is None:
            return True
        action()
        return False


def follow(path: Path, *actions: object, position: Position | None = None) -> tuple[list[bytes], GrowingFile]:
    file = GrowingFile(path, position, Writer(*actions), wait=0.0)
    return list(file.lines()), file


def add(path: Path, content: bytes) -> object:
    def act() -> None:
        with path.open("ab") as file:
            file.write(content)

    return act


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "log").write_bytes(b"one\ntw")
    return tmp_path / "log"


def test_a_line_comes_when_it_is_whole(path: Path) -> None:
    lines, file = follow(path, add(path, b"o"), add(path, b"\nthree\nfo"))
    assert lines == [b"one", b"two", b"three"]
    assert file.position.offset == len(b"one\ntwo\nthree\n")


def test_reading_goes_on_from_a_position(path: Path) -> None:
    _, file = follow(path)
    lines, _ = follow(path, add(path, b"o\n"), position=file.position)
    assert lines == [b"two"]


def test_the_position_is_after_the_last_line_given_out(path: Path) -> None:
    path.write_bytes(b"one\ntwo\nthree\n")
    file = GrowingFile(path)
    reading = file.lines()
    assert [next(reading), next(reading)] == [b"one", b"two"]
    lines, _ = follow(path, position=file.position)
    assert lines == [b"three"]


def test_rotation_ends_the_old_file_and_begins_the_new_one(path: Path) -> None:
    def rotate() -> None:
        add(path, b"o\nlast\n")()
        path.rename(path.with_name("log.1"))

    lines, file = follow(path, rotate, add(path, b"new\n"))
    assert lines == [b"one", b"two", b"last", b"new"]
    assert "rotated" in file.notes[0]


def test_a_rotation_while_nobody_read_loses_nothing(path: Path) -> None:
    _, file = follow(path)
    add(path, b"o\nlast\n")()
    path.rename(path.with_name("log.1"))
    add(path, b"new\n")()
    lines, _ = follow(path, lambda: None, position=file.position)
    assert lines == [b"two", b"last", b"new"]


def test_a_file_cut_short_is_read_from_its_beginning(path: Path) -> None:
    lines, file = follow(path, lambda: os.truncate(path, 0), add(path, b"a\n"))
    assert lines[-1] == b"a"
    assert "cut short" in file.notes[0]


def test_another_file_in_its_place_is_said(path: Path) -> None:
    lines, file = follow(path, position=Position(0, 0, 3))
    assert lines == [b"one"]
    assert "not the file" in file.notes[0]


def test_what_does_not_grow_ends_with_its_last_line(path: Path) -> None:
    assert list(GrowingFile(path, grows=False).lines()) == [b"one", b"tw"]


def test_a_line_without_end_is_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glnn.streams.growing_file.LONGEST", 10)
    lines, file = follow(path, add(path, b"x" * 50), add(path, b"\nnext\n"))
    assert lines[:2] == [b"one", b"twxxxxxxxx"]
    assert lines[-1] == b"next"
    assert any("was cut" in note for note in file.notes)


def test_a_pipe_whose_line_has_no_end_is_cut() -> None:
    """What never ends a line must not be gathered for ever."""
    here, there = os.pipe()

    def write() -> None:
        os.write(there, b"one\n")
        for _ in range(40):
            os.write(there, b"x" * 65536)
        os.close(there)

    writing = Thread(target=write)
    writing.start()
    pipe = Pipe(here)
    found = list(pipe.lines())
    writing.join()
    os.close(here)
    assert found[0] == b"one" and max(map(len, found)) == LONGEST
    assert any("was cut" in note for note in pipe.notes)
