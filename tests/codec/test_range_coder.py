"""The range coder: byte for byte what unlimited whole numbers give, and as short as the counts allow."""

from __future__ import annotations

import io
import math

import constriction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.codec.errors import DamagedStream
from glnn.codec.streams import StreamDecoder, StreamEncoder
from glnn.coding import range_coder
from glnn.sequences import Alphabet
from tests.codec.naive_coder import naive_encode
from tests.codec.predictors import Markov

pytestmark = pytest.mark.small

TOTAL = 2**32
COUNTS = st.one_of(st.sampled_from([0, 1, 2, 255, 256, TOTAL // 2, TOTAL - 2, TOTAL - 1, TOTAL]), st.integers(0, TOTAL))
INTERVALS = st.lists(
    st.tuples(COUNTS, COUNTS).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: (min(pair), max(pair))),
    max_size=60,
)


def encoded(intervals: list[tuple[int, int]]) -> bytes:
    coder, out = range_coder.encoder(), np.empty(8 * len(intervals) + 64, np.uint8)
    for begin, end in intervals:
        range_coder.encode(np.uint64(begin), np.uint64(end), coder, out)
    range_coder.finish(coder, out)
    return out[: int(coder[range_coder.PLACE])].tobytes()


def check_decoding(intervals: list[tuple[int, int]], stream: bytes) -> None:
    source = np.frombuffer(stream + bytes(64), np.uint8)
    coder = range_coder.decoder()
    assert range_coder.start(coder, source)
    for begin, end in intervals:
        code, span = coder[range_coder.CODE], coder[range_coder.SPAN]
        assert range_coder.part(span, np.uint64(begin)) <= code < range_coder.part(span, np.uint64(end))
        range_coder.decode(np.uint64(begin), np.uint64(end), coder, source)
    assert int(coder[range_coder.PLACE]) == len(stream) + range_coder.OVERHANG


@given(INTERVALS)
def test_bytes_are_those_of_whole_numbers(intervals: list[tuple[int, int]]) -> None:
    stream = encoded(intervals)
    assert stream == naive_encode(intervals)
    check_decoding(intervals, stream)


@pytest.mark.parametrize("last", [(0, 1), (TOTAL - 1, TOTAL), (TOTAL // 2, TOTAL // 2 + 1)])
def test_a_carry_runs_through_all_bytes_held_back(last: tuple[int, int]) -> None:
    # The interval closes in on 1/2 from below: a row of 0x7F FF FF … that the last symbols may or may not turn over.
    half = [(0, TOTAL // 2 + 1), *[(TOTAL - 2, TOTAL)] * 12]
    for top in (0, 1, 2):
        intervals = [*half, (TOTAL - 1 - top, TOTAL), last]
        stream = encoded(intervals)
        assert stream == naive_encode(intervals)
        check_decoding(intervals, stream)


def test_carries_do_occur() -> None:
    carried = 0
    generator = np.random.default_rng(0)
    for _ in range(60):
        cuts = np.sort(generator.integers(0, TOTAL + 1, (40, 2)), axis=1)
        intervals = [(int(begin), int(end)) for begin, end in cuts if begin < end]
        plain = encoded(intervals)
        assert plain == naive_encode(intervals)
        # A coder that loses carries differs as soon as one occurs.
        carried += _without_carries(intervals) != plain
    assert carried > 5


def _without_carries(intervals: list[tuple[int, int]]) -> bytes:
    low, span, out = 0, 2**64 - 1, bytearray()
    for begin, end in intervals:
        bottom, top = span * begin // TOTAL, span * end // TOTAL
        low, span = (low + bottom) % 2**64, top - bottom
        while span < 2**56:
            out.append(low >> 56)
            low, span = (low << 8) % 2**64, span << 8
    out.append((low + 2**56 - 1 >> 56) & 255)
    return bytes(out)


@given(INTERVALS)
def test_length_is_the_information(intervals: list[tuple[int, int]]) -> None:
    bits = sum(32 - math.log2(end - begin) for begin, end in intervals)
    assert bits - 1e-3 <= 8 * len(encoded(intervals)) <= bits + 16


@given(st.lists(st.integers(1, 2**31).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))), max_size=40))
def test_numbers_come_back(pairs: list[tuple[int, int]]) -> None:
    sink = io.BytesIO()
    encoder = StreamEncoder(two_letters(), sink)
    for value, total in pairs:
        encoder.number(value, total)
    size = encoder.finish()
    assert 8 * size <= sum(math.log2(total) for _, total in pairs) + 1e-3 * len(pairs) + 16
    decoder = StreamDecoder(two_letters(), io.BytesIO(sink.getvalue()), size)
    assert [decoder.number(total) for _, total in pairs] == [value for value, _ in pairs]
    decoder.finish()


@given(st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**62)), max_size=20))
def test_lengths_come_back(values: list[int]) -> None:
    sink = io.BytesIO()
    encoder = StreamEncoder(two_letters(), sink)
    for value in values:
        encoder.length(value)
    size = encoder.finish()
    decoder = StreamDecoder(two_letters(), io.BytesIO(sink.getvalue()), size)
    assert [decoder.length() for _ in values] == values
    decoder.finish()


def test_a_stream_of_all_ones_is_refused() -> None:
    with pytest.raises(DamagedStream, match="no encoder writes"):
        StreamDecoder(two_letters(), io.BytesIO(b"\xff" * 8), 8)


def test_reading_past_the_end_is_refused() -> None:
    decoder = StreamDecoder(two_letters(), io.BytesIO(b"\x12"), 1)
    with pytest.raises(DamagedStream, match="ends before"):
        for _ in range(1000):
            decoder.number(256)


def test_as_short_as_constriction_on_the_same_counts() -> None:
    generator = np.random.default_rng(3)
    rows = generator.dirichlet(np.full(12, 0.3), 12)
    codes = [0]
    for _ in range(1500):
        codes.append(int(generator.choice(12, p=rows[codes[-1]])))
    x = np.array(codes[1:], np.int32)
    sink = io.BytesIO()
    encoder = StreamEncoder(Markov(Alphabet(np.arange(12)), rows), sink)
    encoder.begin()
    encoder.symbols(x)
    ours = 8 * encoder.finish()
    family = constriction.stream.model.Categorical(perfect=False)
    coder = constriction.stream.stack.AnsCoder()
    coder.encode_reverse(x, family, rows[codes[:-1]])
    theirs = 32 * len(coder.get_compressed())
    ideal = -np.log2(rows[codes[:-1], x]).sum()
    assert ideal <= ours <= ideal + 16
    assert ours <= theirs + 8
    assert (coder.decode(family, rows[codes[:-1]]) == x).all()


def two_letters() -> Markov:
    return Markov(Alphabet("ab"), np.array([[0.5, 0.5], [0.25, 0.75]]))
