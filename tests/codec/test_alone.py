"""Compression that stands alone: what comes back is what was given, and nothing else ever does."""

from __future__ import annotations

import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glnn
from glnn.codec import StreamError, WrongModel
from glnn.codec.alone import compress_file_alone, decompress_file_alone, stands_alone
from glnn.codec.container import read_header, write_container

TEXT = ("It learns what it reads while it reads it, and what it reads twice it knows the second time. " * 30).encode()


@settings(max_examples=25, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.text(max_size=200), st.binary(max_size=8).map(lambda part: part * 300)))
def test_what_comes_back_is_what_was_given(data: bytes | str) -> None:
    blob = glnn.compress(data)
    assert glnn.decompress(blob) == data
    assert len(blob) < len(data.encode() if isinstance(data, str) else data) * 1.1 + 250


@pytest.mark.parametrize("data", [b"", b"x", "", "é", b"\xff" * 5000, bytes(range(256)), TEXT, TEXT.decode()])
def test_round_trips(data: bytes | str) -> None:
    blob = glnn.compress(data)
    assert glnn.decompress(blob) == data
    assert glnn.compress(data) == blob


def test_repeats_and_noise() -> None:
    assert len(glnn.compress(TEXT)) < len(TEXT) / 20
    assert len(glnn.compress(b"\xff" * 100_000)) < 80
    noise = np.random.default_rng(0).integers(0, 256, 5000).astype(np.uint8).tobytes()
    assert len(glnn.compress(noise)) < 1.06 * len(noise)


def test_files(tmp_path: Path) -> None:
    source, packed, back = tmp_path / "a.txt", tmp_path / "a.glnn", tmp_path / "b.txt"
    source.write_bytes(TEXT)
    seen: list[float] = []
    assert compress_file_alone(source, packed, progress=seen.append) == packed.stat().st_size
    assert seen[-1] == 1.0 and seen == sorted(seen)
    assert stands_alone(packed)
    assert decompress_file_alone(packed, back) == len(TEXT)
    assert back.read_bytes() == TEXT == glnn.decompress(packed.read_bytes())
    with pytest.raises(glnn.InputError, match="file that is read"):
        compress_file_alone(source, source)


def test_every_damage_is_found() -> None:
    blob = glnn.compress(TEXT[:300])
    generator = np.random.default_rng(0)
    for place in generator.integers(0, len(blob), 40).tolist():
        broken = bytearray(blob)
        broken[place] ^= 1 << int(generator.integers(8))
        with pytest.raises(StreamError):
            glnn.decompress(bytes(broken))
    for length in (0, 3, 20, len(blob) - 1):
        with pytest.raises(StreamError):
            glnn.decompress(blob[:length])
    with pytest.raises(StreamError):
        glnn.decompress(blob + b"\0")


def forged(blob: bytes, layout: bytes | None = None, **changes: object) -> bytes:
    """The stream with other contents and right checksums."""
    source = BytesIO(blob)
    header = read_header(source)
    code, own = source.read(header.code), source.read(header.layout)
    layout = own if layout is None else layout
    target = BytesIO()
    write_container(target, replace(header, layout=len(layout), **changes), [BytesIO(code), BytesIO(layout)])  # type: ignore[arg-type]
    return target.getvalue()


def test_forged_streams_are_refused() -> None:
    blob = glnn.compress(TEXT)
    assert forged(blob) == blob
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = bomb.compress(bytes(10**7)) + bomb.flush()
    for layout in (b"", b"nonsense", packed):
        with pytest.raises(StreamError, match="frequencies"):
            glnn.decompress(forged(blob, layout))
    with pytest.raises(StreamError):
        glnn.decompress(forged(blob, symbols=len(TEXT) + 5))
    with pytest.raises(StreamError):
        glnn.decompress(forged(blob, symbols=len(TEXT) - 5))
    with pytest.raises(WrongModel, match="version"):
        glnn.decompress(forged(blob, model=bytes(8)))
    with pytest.raises(StreamError, match="most_symbols"):
        glnn.decompress(blob, most_symbols=100)


def test_with_and_without_a_model_are_told_apart() -> None:
    model = glnn.Mixture(networks=0, verbose=0).fit(TEXT)
    with pytest.raises(WrongModel, match="with a model"):
        glnn.decompress(model.compress(TEXT[:50]))
    with pytest.raises(WrongModel, match="no model"):
        model.decompress(glnn.compress(TEXT[:50]))


def test_what_it_takes() -> None:
    with pytest.raises(glnn.InputError, match="Mixture"):
        glnn.compress([1, 2, 3])  # type: ignore[arg-type]
    with pytest.raises(glnn.InputError, match="bytes"):
        glnn.decompress("text")  # type: ignore[arg-type]
