"""Lines become events; what is no event is said and costs nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from glnn import InputError
from glnn.sequences import ReadOptions
from glnn.streams.events import BrokenLine, Columns, CutLines, Event, JsonObjects, WholeLines, parser_for

pytestmark = pytest.mark.small


def test_a_line_is_a_symbol() -> None:
    assert list(WholeLines().events(b"unpack libc\r")) == [Event(None, "unpack libc")]
    assert list(WholeLines().events(b"")) == []


@pytest.mark.parametrize(
    ("cut", "symbols"), [("chars", ["a", "é", "\n"]), ("words", ["aé"]), ("bytes", list("aé\n".encode()))]
)
def test_a_line_is_cut_as_the_training_data_were(cut: str, symbols: list[object]) -> None:
    assert [event.symbol for event in CutLines(cut).events("aé".encode())] == symbols


def test_other_cuts_are_refused() -> None:
    with pytest.raises(InputError, match="chars, bytes or words"):
        CutLines("lines")


def test_rows_name_their_case_and_a_second_header_is_no_event() -> None:
    columns = Columns("id", "what", ";")
    found = [list(columns.events(line)) for line in (b"what;id;x", b'"a;b";7;', b"what;id;x", b"")]
    assert found == [[], [Event("7", "a;b")], [], []]


def test_rows_go_on_with_the_header_of_before() -> None:
    first = Columns("id", "what")
    list(first.events(b"id,what"))
    again = Columns("id", "what", **first.memory())
    assert list(again.events(b"3,pay")) == [Event("3", "pay")]


@pytest.mark.parametrize("line", [b"1", b"1,2,3", b",pay", b"1,", b"\xff,\xfe", b"1," + b"x" * 140_000])
def test_broken_rows_are_told(line: bytes) -> None:
    columns = Columns("id", "what")
    list(columns.events(b"id,what"))
    with pytest.raises(BrokenLine):
        list(columns.events(line))
    assert list(columns.events(b"3,pay")) == [Event("3", "pay")]


def test_a_log_without_the_columns_is_refused() -> None:
    with pytest.raises(InputError, match="no single column 'id'"):
        list(Columns("id", "what").events(b"a,b"))


def test_objects_have_an_activity_and_a_case() -> None:
    assert list(JsonObjects("do", "id").events(b'{"do": "pay", "id": 4}')) == [Event(4, "pay")]
    assert list(JsonObjects("do").events(b'{"do": "pay"}')) == [Event(None, "pay")]


@pytest.mark.parametrize("line", [b"{", b"[1]", b'{"do": [1]}', b'{"do": "pay"}', b"[" * 100_000])
def test_other_json_is_told(line: bytes) -> None:
    with pytest.raises(BrokenLine):
        list(JsonObjects("do", "id").events(line))


@pytest.mark.parametrize("header", [{"id": 0, "what": 1}, [1, 2], ["id", None], "id,what"])
def test_a_header_that_was_kept_and_altered_is_refused(header: Any) -> None:
    with pytest.raises(InputError):
        Columns("id", "what", header=header)
    with pytest.raises(InputError):
        parser_for(ReadOptions(format="csv", case="id", activity="what"), {"header": header})
