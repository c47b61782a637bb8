"""Files come back byte for byte, whatever the model cuts them into; a failure leaves nothing behind."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glnn.codec import (
    DamagedStream,
    WrongModel,
    compress,
    compress_file,
    decompress,
    decompress_file,
    files,
    message,
    streams,
    symbols,
    text_layout,
)
from glnn.codec.container import Header, checksum, write_container
from glnn.codec.fingerprint import fingerprint
from glnn.codec.text_layout import tokens_and_layout
from glnn.sequences import Alphabet, InputError, read_file
from tests.codec.predictors import predictor

WORDS = Alphabet(["the", "cat", "sat", "on", "mat"], "words")
LINES = Alphabet(["one", "two", "", "three"], "lines")
ALPHABETS = {
    "bytes": Alphabet(bytes(range(97, 123))),
    "characters": Alphabet("abc \n"),
    "words": WORDS,
    "lines": LINES,
}
CONTENTS = [
    "",
    "a",
    "\n",
    "the cat\tsat  on\n\n the mat\u00a0. ",
    "one\r\ntwo\n\nthree\r\r\nfour\r",
    "\ufeffthe cat\nsat",
    "abc\x1c\x85é\u2028😀\x00 the\x0b\x0csat",
    ".. . the . cat.\n.",
]


def model_of(kind: str, end: bool = False) -> Any:
    return predictor("hmm", ALPHABETS[kind], end=end, escape=0.1)


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("kind", list(ALPHABETS))
def test_files_come_back(kind: str, end: bool, tmp_path: Path) -> None:
    model = model_of(kind, end)
    plain, packed, back = tmp_path / "plain", tmp_path / "packed", tmp_path / "back"
    for content in CONTENTS:
        plain.write_bytes(content.encode())
        assert compress_file(model, plain, packed) == packed.stat().st_size
        assert decompress_file(model, packed, back) == len(content.encode())
        assert back.read_bytes() == content.encode()
        assert decompress(model, packed.read_bytes()) == content.encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "packed", "plain"]


@given(
    kind=st.sampled_from(["words", "lines"]),
    text=st.text(st.sampled_from(" .\n\r\t\ufeffthe\x85\u2003"), max_size=40),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_layout_comes_back(kind: str, text: str, tmp_path: Path) -> None:
    model = model_of(kind)
    plain, packed, back = tmp_path / "plain", tmp_path / "packed", tmp_path / "back"
    plain.write_bytes(text.encode())
    compress_file(model, plain, packed)
    decompress_file(model, packed, back)
    assert back.read_bytes() == text.encode()


@given(st.text(st.sampled_from(" .\n\r\t\ufeffthe\x85\u2003\x1c"), min_size=1, max_size=40), st.integers(1, 9))
def test_tokens_are_those_of_reading_the_file(text: str, block: int) -> None:
    raw = text.encode()
    pieces = [raw[begin : begin + block] for begin in range(0, len(raw), block)]
    for kind in ("words", "lines"):
        # A mark in front of the first piece is only known when that piece holds all three bytes of it.
        cut = [raw[:3], *pieces_behind(raw, 3, block)]
        for source in (cut, [raw]):
            found = [token for tokens, _ in tokens_and_layout(kind, source) for token in tokens.as_list()]
            assert found == read_tokens(text, kind)
    points = [point for tokens, _ in tokens_and_layout("characters", pieces) for point in tokens.as_list()]
    assert "".join(map(str, points)) == text


def pieces_behind(raw: bytes, begin: int, block: int) -> list[bytes]:
    return [raw[place : place + block] for place in range(begin, len(raw), block)]


def read_tokens(text: str, kind: str) -> list[str]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(text.encode())
        try:
            return list(read_file(path, kind))  # type: ignore[arg-type]
        except InputError:
            return []


@pytest.mark.parametrize("kind", list(ALPHABETS))
def test_block_sizes_change_no_bit(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(kind)
    plain, packed, back = tmp_path / "plain", tmp_path / "packed", tmp_path / "back"
    plain.write_bytes("".join(CONTENTS).encode() * 3)
    compress_file(model, plain, packed)
    whole = packed.read_bytes()
    for block in (3, 10, 101):
        monkeypatch.setattr(files, "BLOCK", block)
        monkeypatch.setattr(text_layout, "BLOCK", block)
        monkeypatch.setattr(streams, "BLOCK", block)
        monkeypatch.setattr(symbols, "_BLOCK", block)
        compress_file(model, plain, packed)
        assert packed.read_bytes() == whole
        decompress_file(model, packed, back)
        assert back.read_bytes() == plain.read_bytes()


def test_refusals_leave_everything_as_it_was(tmp_path: Path) -> None:
    model = model_of("characters")
    plain, packed, back = tmp_path / "plain", tmp_path / "packed", tmp_path / "back"
    plain.write_bytes(b"a b c" * 20)
    compress_file(model, plain, packed)
    back.write_bytes(b"precious")
    damaged = bytearray(packed.read_bytes())
    damaged[50] ^= 4
    (tmp_path / "damaged").write_bytes(damaged)
    before = contents(tmp_path)
    with pytest.raises(DamagedStream):
        decompress_file(model, tmp_path / "damaged", back)
    with pytest.raises(WrongModel):
        decompress_file(model_of("bytes"), packed, back)
    with pytest.raises(InputError, match="is the input file"):
        compress_file(model, plain, plain)
    with pytest.raises(InputError, match="is the input file"):
        decompress_file(model, packed, packed)
    with pytest.raises(InputError, match="is a folder"):
        compress_file(model, plain, tmp_path)
    with pytest.raises(FileNotFoundError):
        compress_file(model, tmp_path / "nothing", back)
    with pytest.raises(InputError, match="does not exist: make it first"):
        compress_file(model, plain, tmp_path / "nowhere" / "packed")
    no_escape = predictor("hmm", "ab ")
    plain.write_bytes(b"ab " * 100_000 + b"a b c")
    before = contents(tmp_path)
    with pytest.raises(InputError, match="'c' at position 300004 is not in the alphabet"):
        compress_file(no_escape, plain, back)
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_other_data_behind_the_checks_are_not_written(tmp_path: Path) -> None:
    model = model_of("characters")
    header = Header(fingerprint(model), bytes(8), 4, 1, 5, is_file=True)
    with (tmp_path / "packed").open("wb") as target:
        write_container(target, header, [io.BytesIO(b"\x10\x20\x30\x40\x50")])
    with pytest.raises(DamagedStream):
        decompress_file(model, tmp_path / "packed", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_file_is_only_left_when_it_decodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").write_bytes(b"abc")
    monkeypatch.setattr(files, "restore", lambda *given_: message.check_data(given_[1], b"other"))
    with pytest.raises(message.StreamError, match="could not be decoded again, and nothing was written"):
        compress_file(model_of("bytes"), tmp_path / "plain", tmp_path / "packed")
    assert list(contents(tmp_path)) == ["plain"]
    seen: list[float] = []
    compress_file(model_of("bytes"), tmp_path / "plain", tmp_path / "packed", progress=seen.append, verify=False)
    monkeypatch.undo()
    decompress_file(model_of("bytes"), tmp_path / "packed", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"abc" and seen[-1] == 1.0


def test_what_is_no_text_needs_a_model_of_bytes(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    for raw, offset in ((b"abc\xff", 3), (b"ab" * 200_000 + b"\xe9 ", 400_000), (b"a\xf0\x9f\x98", 1)):
        plain.write_bytes(raw)
        with pytest.raises(InputError, match=f"not UTF-8 text: byte .* at offset {offset};"):
            compress_file(model_of("characters"), plain, tmp_path / "packed")
        compress_file(model_of("bytes"), plain, tmp_path / "packed")
        decompress_file(model_of("bytes"), tmp_path / "packed", tmp_path / "back")
        assert (tmp_path / "back").read_bytes() == raw


def test_models_of_other_symbols_take_no_files(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"1")
    for alphabet in (Alphabet(np.arange(3)), Alphabet([(1,), (2,)])):
        with pytest.raises(InputError, match="not the bytes, characters, words or lines"):
            compress_file(predictor("hmm", alphabet), tmp_path / "plain", tmp_path / "packed")


def test_sequences_are_no_file(tmp_path: Path) -> None:
    model = model_of("characters")
    (tmp_path / "packed").write_bytes(compress(model, "abc"))
    with pytest.raises(InputError, match="holds sequences, not a file"):
        decompress_file(model, tmp_path / "packed", tmp_path / "back")


def test_progress_runs_from_0_to_1(tmp_path: Path) -> None:
    model = model_of("bytes")
    (tmp_path / "plain").write_bytes(b"abcde" * 100_000)
    for work in (
        lambda told: compress_file(model, tmp_path / "plain", tmp_path / "packed", progress=told),
        lambda told: decompress_file(model, tmp_path / "packed", tmp_path / "back", progress=told),
    ):
        seen: list[float] = []
        work(seen.append)
        assert seen == sorted(seen) and 0 < seen[0] < 0.5 and seen[-1] == 1.0


@given(st.binary(max_size=30), st.integers(0, 30))
@settings(max_examples=150)
def test_a_layout_full_of_lies_is_refused(layout: bytes, symbols_: int) -> None:
    import zlib

    model = model_of("words")
    for packed in (layout, zlib.compress(layout)):
        header = Header(fingerprint(model), checksum().digest(), symbols_, 1, 9, len(packed), is_file=True)
        target = io.BytesIO()
        write_container(target, header, [io.BytesIO(b"123456789"), io.BytesIO(packed)])
        with pytest.raises(DamagedStream):
            decompress(model, target.getvalue())
