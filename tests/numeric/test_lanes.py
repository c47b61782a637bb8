"""Explicit vectors, lane by lane; compiled and as plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.numeric.kernel import CONTRACT, kernel
from glnn.numeric.lanes import (
    add,
    even_pairs,
    evens,
    fma,
    load,
    load_some,
    multiply,
    numbers_at,
    odd_pairs,
    odds,
    spread,
    store,
    store_some,
    subtract,
    transpose,
)
from glnn.numeric.scratch import aligned

pytestmark = pytest.mark.small


@kernel(CONTRACT)
def _everything(a: np.ndarray, ends: np.ndarray, out: np.ndarray) -> None:
    u, v = load(a, 1), load(a, 9)
    store(out, 0, evens(u, v))
    store(out, 8, odds(u, v))
    store(out, 16, subtract(multiply(u, spread(3)), add(u, v)))
    store(out, 24, fma(u, spread(2), v))
    store_some(out, 32, load_some(a, 3, 5), 6)
    store(out, 40, numbers_at(a, ends, 1))
    store(out, 48, even_pairs(a, ends, 1))
    store(out, 56, odd_pairs(a, ends, 1))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.uint8, np.uint16, np.uint32, np.int64])
def test_every_lane_by_hand(kind: type, index: type) -> None:
    a = np.arange(30).astype(kind)
    ends = np.array([99, 4, 7, 1, 20, 13, 2, 28, 5], index)
    out = np.full(64, -1, kind)
    _everything(a, ends, out)
    u, v = np.arange(1, 9), np.arange(9, 17)
    assert out[0:8].tolist() == [1, 9, 3, 11, 5, 13, 7, 15]
    assert out[8:16].tolist() == [2, 10, 4, 12, 6, 14, 8, 16]
    assert out[16:24].tolist() == (3 * u - (u + v)).tolist()
    assert out[24:32].tolist() == (2 * u + v).tolist()
    assert out[32:40].tolist() == [3, 4, 5, 6, 7, 0, -1, -1]
    assert out[40:48].tolist() == [4, 7, 1, 20, 13, 2, 28, 5]
    assert out[48:56].tolist() == [4, 5, 1, 2, 13, 14, 28, 29]
    assert out[56:64].tolist() == [7, 8, 20, 21, 2, 3, 5, 6]


@kernel()
def _transposed(a: np.ndarray, order: np.ndarray, out: np.ndarray) -> None:
    transpose(a, order, 3, 2, out, 1)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_transposed_rows_in_any_order(kind: type) -> None:
    generator = np.random.default_rng(0)
    a, order = generator.standard_normal((40, 12)).astype(kind), generator.permutation(40).astype(np.int32)
    out = np.zeros((12, 20))
    _transposed(a, order, out)
    expected = np.zeros((12, 20))
    expected[2:10, 1:9] = a[order[3:11], 2:10].T
    assert np.array_equal(out, expected)


def test_arrays_begin_with_a_line_of_the_cache() -> None:
    for kind in (np.float64, np.float32, np.uint8):
        for shape in ((3, 5), (1,), (100,)):
            array = aligned(*shape, dtype=kind)
            assert array.shape == shape and array.dtype == kind and array.ctypes.data % 64 == 0
            assert array.flags.c_contiguous and array.flags.writeable
