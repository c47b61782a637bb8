"""Model files: what is written comes back; what is damaged, foreign or too new is refused with a reason."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from glnn.sequences import Alphabet, InputError
from glnn.sequences.alphabet import END, ESCAPE
from glnn.sequences.tokens import token_from_json, token_to_json
from glnn.storage import atomic
from glnn.storage.model_file import (
    FORMAT,
    ModelFileError,
    alphabet_from_json,
    alphabet_to_json,
    read_model_file,
    signed,
    write_model_file,
)

pytestmark = pytest.mark.small

ARRAYS = {
    "w": np.arange(12.0).reshape(3, 4),
    "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "sliced": np.arange(10)[::3],
    "empty": np.empty((0, 3)),
    "flags": np.array([True, False]),
}
HEADER: dict[str, Any] = {"class": "GLNN", "deep": {"number": 1, "text": "ü\ud800"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "model.glnn"
    write_model_file(file, ARRAYS, HEADER)
    return file


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any], sign: bool = True) -> None:
    """Write the file again with another header, signed as a forger would."""
    tensors = load_file(path)
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["glnn"])
    digest = header.pop("sha256")
    changed = change(header)
    text = json.dumps(changed)
    if isinstance(changed, dict):
        text = signed(tensors, changed) if sign else json.dumps({**changed, "sha256": digest})
    save_file(tensors, path, metadata={"glnn": text})


def test_everything_comes_back(path: Path) -> None:
    arrays, header = read_model_file(path)
    assert header == {"format": FORMAT, **HEADER}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_every_truncation_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            read_model_file(path)


def test_every_altered_byte_is_noticed(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    expected = read_model_file(path)
    for place in range(len(whole)):
        for flip in (1, 32):
            altered = bytearray(whole)
            altered[place] ^= flip
            path.write_bytes(altered)
            try:
                arrays, header = read_model_file(path)
            except ModelFileError:
                continue
            # Blanks and the spelling of names outside header and arrays may differ: what is read may not.
            assert header == expected[1]
            assert all(np.array_equal(arrays[name], expected[0][name]) for name in ARRAYS)


def test_a_header_that_was_edited_is_refused(path: Path) -> None:
    rewrite(path, lambda header: {**header, "class": "GNN"}, sign=False)
    with pytest.raises(ModelFileError, match="checksum"):
        read_model_file(path)


def test_foreign_files(tmp_path: Path) -> None:
    file = tmp_path / "other"
    save_file({"w": np.zeros(3)}, file)
    with pytest.raises(ModelFileError, match="not one of glnn"):
        read_model_file(file)
    for content in (b"", b"hello", b"\x80\x04\x95" + bytes(50), bytes(200), "näh".encode() * 30):
        file.write_bytes(content)
        with pytest.raises(ModelFileError, match="not a model file"):
            read_model_file(file)
    with pytest.raises(FileNotFoundError):
        read_model_file(tmp_path / "missing")


def test_newer_formats_say_what_to_do(path: Path) -> None:
    rewrite(path, lambda header: {**header, "format": FORMAT + 1}, sign=False)
    with pytest.raises(ModelFileError, match=f"format version {FORMAT + 1}.*install a newer glnn"):
        read_model_file(path)


@pytest.mark.parametrize("alphabet", ["abc", None, 3, []])
def test_old_formats_that_do_not_fit_together(path: Path, alphabet: Any) -> None:
    rewrite(path, lambda header: {**header, "format": 1, "alphabet": alphabet})
    with pytest.raises(ModelFileError, match=r"version 1|alphabet"):
        alphabet_from_json(read_model_file(path)[1]["alphabet"])


@pytest.mark.parametrize("version", [0, -1, "2", 2.0, None, True])
def test_versions_that_are_none(path: Path, version: Any) -> None:
    rewrite(path, lambda header: {**header, "format": version})
    with pytest.raises(ModelFileError, match="format version"):
        read_model_file(path)


@pytest.mark.parametrize("header", [[], 3, {}, "text"])
def test_headers_that_are_none(path: Path, header: Any) -> None:
    rewrite(path, lambda _: header)
    with pytest.raises(ModelFileError, match="header"):
        read_model_file(path)


def test_deeply_nested_headers(path: Path) -> None:
    tensors, text = load_file(path), "[" * 100_000 + "]" * 100_000
    save_file(tensors, path, metadata={"glnn": text})
    with pytest.raises(ModelFileError):
        read_model_file(path)


def test_absurd_sizes(path: Path) -> None:
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    for wrong in (2**63, 2**32, length + 1, len(whole)):
        path.write_bytes(struct.pack("<Q", wrong) + whole[8:])
        with pytest.raises(ModelFileError):
            read_model_file(path)
    header = json.loads(whole[8 : 8 + length])
    for shape, end in (([2**40, 2**20], 96), ([3, 4], 2**60), ([2**62, 2**62], 2**60)):
        header["w"].update(shape=shape, data_offsets=[0, end])
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])
        with pytest.raises(ModelFileError):
            read_model_file(path)


def test_version_1_still_opens(tmp_path: Path) -> None:
    # As version 1 wrote it: an alphabet without special symbols, no escape.
    file = tmp_path / "old.glnn"
    tensors = {"w": np.eye(3)}
    old = {"format": 1, "class": "GLNN", "alphabet": {"kind": "characters", "symbols": ["a", "b", "c"]}}
    save_file(tensors, file, metadata={"glnn": signed(tensors, old)})
    arrays, header = read_model_file(file)
    assert header["format"] == FORMAT and header["escape_probability"] is None
    assert alphabet_from_json(header["alphabet"]) == Alphabet("abc")
    np.testing.assert_array_equal(arrays["w"], np.eye(3))


def test_a_failed_write_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(atomic.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_model_file(path, {"w": np.zeros(9)}, {})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_new_file_is_on_the_disk_before_it_takes_the_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    replace = Path.replace
    monkeypatch.setattr(atomic.os, "fsync", lambda descriptor: events.append("fsync"))
    monkeypatch.setattr(Path, "replace", lambda self, target: (events.append("rename"), replace(self, target))[1])
    write_model_file(path, ARRAYS, HEADER)
    assert events[:2] == ["fsync", "rename"]


TOKENS = {
    "bytes": st.integers(0, 255),
    "unicode": st.characters(codec=None),
    "integers": st.integers(-(2**80), 2**80),
    "words": st.text(st.characters(codec=None)),
    "tuples of strings": st.lists(st.text(), min_size=1, max_size=3).map(tuple),
    "floats": st.floats(allow_nan=False),
    "byte strings": st.binary(max_size=5),
    "nested": st.tuples(st.none(), st.tuples(st.booleans(), st.floats(allow_nan=False)), st.binary(max_size=3)),
}


@pytest.mark.parametrize("kind", TOKENS)
@given(data=st.data())
def test_alphabets_of_any_tokens_come_back(kind: str, data: Any) -> None:
    symbols = data.draw(st.lists(TOKENS[kind], min_size=2, max_size=8, unique=True))
    alphabet = Alphabet(symbols, "bytes" if kind == "bytes" else None)
    for given_one in (alphabet, alphabet.with_special(END), alphabet.with_special(END, ESCAPE)):
        written = json.loads(json.dumps(alphabet_to_json(given_one)))
        again = alphabet_from_json(written)
        assert again == given_one and again.kind == given_one.kind
        assert list(map(type, again.symbols)) == list(map(type, given_one.symbols))
        assert [str(symbol) for symbol in again.symbols] == [str(symbol) for symbol in given_one.symbols]


@pytest.mark.parametrize(
    "token", [0.1, -0.0, float("inf"), 5e-324, (1, (None, b"\x00")), 2**8000, True, None, "\udc80"]
)
def test_tokens_come_back_exactly(token: Any) -> None:
    again = token_from_json(json.loads(json.dumps(token_to_json(token))))
    assert again == token and type(again) is type(token) and str(again) == str(token)


@pytest.mark.parametrize("token", [frozenset(), 1j, object(), 2**9000, np.float64(1.0)])
def test_other_tokens_are_refused(token: Any) -> None:
    with pytest.raises(InputError):
        token_to_json(token)


@pytest.mark.parametrize("value", [[], {"float": "x"}, {"tuple": 3}, {"bytes": "zz"}, {"a": 1, "b": 2}, 0.5])
def test_what_is_no_token_is_refused(value: Any) -> None:
    with pytest.raises(InputError):
        token_from_json(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"kind": "runes", "symbols": ["a", "b"], "special": []},
        {"kind": "tokens", "symbols": ["a", "a"], "special": []},
        {"kind": "tokens", "symbols": ["a", 1], "special": []},
        {"kind": "tokens", "symbols": ["a", "b"], "special": ["begin"]},
    ],
)
def test_what_is_no_alphabet_is_refused(value: Any) -> None:
    with pytest.raises(ModelFileError, match="alphabet"):
        alphabet_from_json(value)
