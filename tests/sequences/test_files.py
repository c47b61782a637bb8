"""Sequences, masks and event logs from files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from glnn.sequences import InputError, encode, read_event_log, read_file, read_mask

pytestmark = pytest.mark.small


@pytest.fixture
def poem(tmp_path: Path) -> Path:
    path = tmp_path / "poem.txt"
    path.write_bytes("to be\r\n\n  or é\tbe\n".encode())
    return path


def test_characters_are_kept_as_they_are(poem: Path) -> None:
    assert read_file(poem) == "to be\r\n\n  or é\tbe\n"


def test_bytes(poem: Path) -> None:
    data = encode(read_file(poem, tokens="bytes"))
    assert data.alphabet.kind == "bytes"
    assert data.alphabet.join(data.alphabet.decode(data.codes)) == poem.read_bytes()


def test_bytes_are_mapped_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 34)  # a hole: 16 GiB that take no room on disk
    view = read_file(path, tokens="bytes")
    assert len(view) == 1 << 34
    assert view[12345] == 0


def test_text_is_held_once(tmp_path: Path) -> None:
    """The file's bytes beside the text would double the memory of a long one."""
    path = tmp_path / "long.txt"
    path.write_bytes(b"to be or not to be\n" * 100_000)
    tracemalloc.start()
    text = read_file(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(text) == path.stat().st_size
    assert peak < 1.2 * len(text)


def test_words_and_lines(poem: Path) -> None:
    words, lines = read_file(poem, tokens="words"), read_file(poem, tokens="lines")
    assert words == ["to", "be", "or", "é", "be"]
    assert lines == ["to be", "", "  or é\tbe"]
    assert (encode(words).alphabet.kind, encode(lines).alphabet.kind) == ("words", "lines")


def test_a_last_line_without_its_end_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo")
    assert read_file(path, tokens="lines") == ["one", "two"]
    assert read_file(path, tokens="words") == ["one", "two"]
    assert read_file(path) == "\ufeffone\ntwo"


def test_wrong_files(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"caf\xc3\xa9\nna\xefve\n")
    for tokens in ("chars", "words", "lines"):
        with pytest.raises(InputError, match=r"byte 0xef at offset 8 \(line 2\).*tokens='bytes'"):
            read_file(path, tokens=tokens)  # type: ignore[arg-type]
    assert bytes(read_file(path, tokens="bytes")) == path.read_bytes()  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"tokens is 'letters'.*chars, bytes, words, lines"):
        read_file(path, tokens="letters")  # type: ignore[arg-type]
    path.write_bytes(b"")
    for tokens in ("chars", "bytes", "words", "lines"):
        with pytest.raises(InputError, match="is empty"):
            read_file(path, tokens=tokens)  # type: ignore[arg-type]
    path.write_bytes(b" \n ")
    with pytest.raises(InputError, match="holds no words"):
        read_file(path, tokens="words")
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "nothing")


def test_masks(tmp_path: Path) -> None:
    path = tmp_path / "mask"
    path.write_text("001\n1 0\r\n")
    mask = read_mask(path)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, [False, False, True, True, False])
    path.write_text("0012")
    with pytest.raises(InputError, match="holds '2'"):
        read_mask(path)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_event_log_is_one_sequence_a_case_in_order_of_time(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "id,what,when\n"
        "9,ship,2024-01-03\n"
        '7,"pay, cash",2024-01-02T10:00:00\n'
        "9,order,2024-01-01\n"
        "7,order,2024-01-02T09:30:00\n"
        "9,pay,2024/01/02\n"
        "\n",
    )
    log = read_event_log(path, case="id", activity="what", time="when")
    assert log.names == ("9", "7")
    assert list(log) == [["order", "pay", "ship"], ["order", "pay, cash"]]
    assert encode(log).starts.tolist() == [0, 3, 5]
    as_in_file = read_event_log(path, case="id", activity="what")
    assert list(as_in_file) == [["ship", "order", "pay"], ["pay, cash", "order"]]


def test_times_as_numbers_are_not_ordered_as_text_and_ties_keep_the_files_order(tmp_path: Path) -> None:
    path = write(tmp_path, "id;what;when\n1;c;10\n1;b;9.5\n1;a;9.5\n1;d;1e3\n")
    log = read_event_log(path, case="id", activity="what", time="when", delimiter=";")
    assert list(log) == [["b", "a", "c", "d"]]


def test_times_of_a_named_format(tmp_path: Path) -> None:
    path = write(tmp_path, "id,what,when\n1,b,02.01.2024\n1,c,01.02.2024\n1,a,31.12.2023\n")
    log = read_event_log(path, case="id", activity="what", time="when", time_format="%d.%m.%Y")
    assert list(log) == [["a", "b", "c"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: its first line"),
        ("id,what,when\n", "holds no event"),
        ("case,what,when\n1,a,1\n", "no column 'id': its columns are case, what, when"),
        ("id,id,what,when\n1,1,a,1\n", "more than one column 'id'"),
        ("id,what,when\n1,a,1\n1,b\n", "line 3 of .* has 2 fields, the header 3"),
        ("id,what,when\n,a,1\n", "line 2 of .* nothing in column 'id'"),
        ("id,what,when\n1,,1\n", "nothing in column 'what'"),
        ("id,what,when\n1,a,yesterday\n", "line 2 of .* the time 'yesterday' is not a number or an ISO"),
        ("id,what,when\n1,a,nan\n", "'nan' is not a number that can be ordered"),
        ("id,what,when\n1,a,1\n1,b,2024-01-01\n", "times of case '1' cannot be compared"),
        ("id,what,when\n1,a,2024-01-01T00:00:00Z\n1,b,2024-01-01\n", "without a time zone"),
    ],
)
def test_wrong_event_logs(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_event_log(write(tmp_path, text), case="id", activity="what", time="when")
