"""Places that run side by side: everything is read evenly, in order, and sequences begin where they begin."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.sequences import encode
from glnn.training.corpus import Streams


@pytest.mark.parametrize("lengths", [(1000,), (400, 3, 250, 1, 90)])
def test_every_position_is_read_equally_often(lengths: tuple[int, ...]) -> None:
    total = sum(lengths)
    sequences = [list(range(sum(lengths[:k]), sum(lengths[: k + 1]))) for k in range(len(lengths))]
    data = encode(sequences, alphabet=range(total))
    streams = Streams(data, streams=7, length=13)
    assert streams.count == 7 and streams.positions == 91
    seen, starts, before = np.zeros(total, int), set(), None
    for _ in range(300):
        chunk = streams.next()
        assert chunk.x.shape == (7, 13) and len(set(chunk.x.ravel().tolist())) == 91
        np.add.at(seen, chunk.x, 1)
        starts |= set(chunk.x[chunk.first].tolist())
        if before is not None:
            # Every stream goes on where it stopped.
            np.testing.assert_array_equal(chunk.x[:, 0], (before[:, -1] + 1) % total)
        before = chunk.x
    assert seen.max() - seen.min() <= 2
    assert starts == set(np.concatenate([[0], np.cumsum(lengths)[:-1]]).tolist())


@pytest.mark.parametrize("size", [1, 2, 24, 25, 60])
def test_little_data(size: int) -> None:
    streams = Streams(encode([0, 1] * size, alphabet=range(2)))
    chunk = streams.next()
    assert 1 <= chunk.x.size <= 2 * size and chunk.weight is None


def test_weights_of_sequences() -> None:
    data = encode([[0] * 10, [1] * 30], alphabet=range(2))
    chunk = Streams(data, "equal", streams=1, length=40).next()
    assert chunk.weight is not None
    np.testing.assert_allclose(chunk.weight[chunk.x == 0], 2.0)
    np.testing.assert_allclose(chunk.weight[chunk.x == 1], 2.0 / 3.0)
