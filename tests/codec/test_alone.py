"""Compression that stands alone: what comes back is what was given, and nothing else ever does."""

from __future__ import annotations

import threading
import time
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glnn
from glnn.codec import StreamError, WrongModel, alone
from glnn.codec.alone import compress_file_alone, decompress_file_alone, stands_alone
from glnn.codec.alongside import Growing, decoded_alongside
from glnn.codec.container import read_header, write_container
from glnn.codec.files import Blocks, Progress, encode_bytes
from glnn.contexts.mixing_plan import VERSIONS
from glnn.predictors.mixture import MixturePredictor

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
    with pytest.raises(glnn.InputError, match="input file"):
        compress_file_alone(source, source)


def test_what_does_not_decode_is_never_given_unless_nobody_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blob, source, seen = glnn.compress(TEXT), tmp_path / "a.txt", []
    source.write_bytes(TEXT)

    fresh = alone._fresh

    def other(classes: np.ndarray, *version: int) -> MixturePredictor:
        """Another tree of decisions over the same bytes."""
        return fresh(np.where(classes > 0, 1 + np.arange(256) % 5, 0), *version)

    for encoding, checking, opening in ((other, fresh, fresh), (fresh, other, fresh), (fresh, fresh, other)):
        turns = iter((encoding, checking, *[opening] * len(VERSIONS)))
        monkeypatch.setattr(alone, "_fresh", lambda *given, turns=turns: next(turns)(*given))
        with pytest.raises(StreamError, match="could not be decoded again"):
            glnn.compress(TEXT)
    monkeypatch.setattr(alone, "_fresh", fresh)
    assert glnn.compress(TEXT, verify=False) == blob
    compress_file_alone(source, tmp_path / "a.glnn", progress=seen.append, verify=False)
    assert (tmp_path / "a.glnn").read_bytes() == blob and seen[-1] == 1.0


def test_other_bytes_than_were_counted_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a file changes while it is read."""
    monkeypatch.setattr(
        alone,
        "encode_bytes",
        lambda predictor, blocks, *given, **more: encode_bytes(
            predictor, Blocks(BytesIO(TEXT[::-1]), lambda done: None), *given, **more
        ),
    )
    with pytest.raises(StreamError, match="could not be decoded again"):
        glnn.compress(TEXT)


@pytest.mark.parametrize("after", [0.0, 0.5, 0.9])
def test_stopping_a_compression_ends_its_check(after: float, tmp_path: Path) -> None:
    source, packed = tmp_path / "a.txt", tmp_path / "a.glnn"
    source.write_bytes(TEXT * 20)

    def stop(done: float) -> None:
        if done >= after:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        compress_file_alone(source, packed, progress=stop)
    assert threading.active_count() == before
    assert not packed.exists()


def test_a_check_that_nobody_waits_for_any_more_is_left() -> None:
    reached = []

    def decode(growing: Growing, told: Progress) -> None:
        for part in range(500):
            time.sleep(0.01)
            reached.append(part)
            told(part / 500)

    with pytest.raises(KeyboardInterrupt), decoded_alongside(BytesIO(), decode, lambda done: None):
        raise KeyboardInterrupt
    assert len(reached) < 500


def test_a_code_is_read_while_it_is_written() -> None:
    growing, found = Growing(BytesIO()), []
    reader = threading.Thread(target=lambda: found.extend(iter(lambda: growing.read(3), b"")))
    reader.start()
    pieces = [bytes(range(length)) for length in (1, 7, 0, 2, 90)]
    for piece in pieces:
        growing.write(piece)
    growing.end()
    reader.join()
    assert b"".join(found) == b"".join(pieces) and max(map(len, found)) == 3


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


BEFORE = Path(__file__).parent / "written_before"
OLD_TEXT = "".join(f"{'    ' * (n % 3)}for line{n * n % 7} in lines: print(line, {n})\n" for n in range(30))


def test_sequences_written_before_one_text_had_more_contexts_are_read_as_they_were() -> None:
    assert glnn.decompress((BEFORE / "cases.compressed").read_bytes()) == [*map(list, ("abcabd", "abd", "aabbc"))] * 5


@pytest.mark.parametrize(("name", "bits"), [("", 37.88527607404839), ("_with_lines", 33.68377923414175)])
def test_what_was_written_before_one_text_had_more_contexts_is_read_as_it_was(name: str, bits: float) -> None:
    assert glnn.decompress((BEFORE / f"text{name}.compressed").read_bytes()) == OLD_TEXT
    assert glnn.compress(OLD_TEXT) != (BEFORE / f"text{name}.compressed").read_bytes()
    model, part = glnn.load(BEFORE / f"mixture{name}.glnn"), OLD_TEXT[100:300]
    assert model.bits(part) == pytest.approx(bits, rel=1e-12)
    assert model.compress(part) == (BEFORE / f"with_mixture{name}.compressed").read_bytes()
    assert model.decompress((BEFORE / f"with_mixture{name}.compressed").read_bytes()) == part


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


SYMBOLS = [
    ["order", "pay", "order", "ship"],
    [3, 1, 3, -7],
    [("C", 4), ("E", 8), ("C", 4)],
    ["a", "b", "a"],
    [0.5, 0.25, 0.5],
    [["order", "pay"], ["order"], []],
    [[1, 2], [2]],
    list(range(300)) * 2,
    [[number] for number in range(256)],
    [],
]


@pytest.mark.parametrize("data", SYMBOLS, ids=[str(data)[:24] for data in SYMBOLS])
def test_any_symbols(data: list) -> None:
    assert glnn.decompress(glnn.compress(data)) == data


def test_arrays_texts_and_names_come_back_as_what_they_were() -> None:
    array = np.array([5, 5, 70000, -1])
    back = glnn.decompress(glnn.compress(array))
    assert back.dtype == np.int64 and back.tolist() == array.tolist()
    texts = glnn.decompress(glnn.compress(glnn.Sequences(["abba", "", "é"])))
    assert isinstance(texts, glnn.Sequences) and list(texts) == ["abba", "", "é"]
    assert list(glnn.decompress(glnn.compress(glnn.Sequences([b"ab", b"\xff"])))) == [b"ab", b"\xff"]
    assert glnn.decompress(glnn.compress(glnn.Sequences(["ab", ["cd"]]))) == [["a", "b"], ["cd"]]


def test_symbols_that_repeat_cost_little() -> None:
    cases = [["register", "inspect", "repair", "test", "hand over"]] * 400
    assert len(glnn.compress(cases)) < 200


def test_symbols_from_strangers() -> None:
    blob = glnn.compress(["order", "pay", "order"])
    source = BytesIO(blob)
    header = read_header(source)
    source.read(header.code)
    plain = zlib.decompress(source.read(header.layout), -15)

    def with_symbols(said: bytes) -> bytes:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return forged(blob, packer.compress(plain[:256] + said) + packer.flush())

    assert glnn.decompress(with_symbols(plain[256:])) == ["order", "pay", "order"]
    for said in (
        b"",
        b"nonsense",
        b"[]",
        b'{"kind":"tokens","several":false}',
        b'{"kind":"tokens","several":false,"symbols":["order"]}',
        b'{"kind":"tokens","several":true,"symbols":["order","pay"]}',
        b'{"kind":"bytes","several":false,"symbols":["order","pay"]}',
        b'{"kind":"else","several":false,"symbols":["order","pay"]}',
    ):
        with pytest.raises(StreamError):
            glnn.decompress(with_symbols(said))


def test_a_file_of_sequences_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(glnn.compress([1, 2]))
    with pytest.raises(glnn.InputError, match="holds sequences"):
        decompress_file_alone(tmp_path / "packed", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_what_it_takes() -> None:
    for given_ in (7, None, [{"a"}, {"b"}], [1.5, "x"]):
        with pytest.raises(glnn.InputError):
            glnn.compress(given_)
    with pytest.raises(glnn.InputError, match="bytes"):
        glnn.decompress("text")  # type: ignore[arg-type]
