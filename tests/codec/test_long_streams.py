"""Ten million symbols, file to file, in memory that does not grow with them."""

from __future__ import annotations

import filecmp
import tracemalloc
from pathlib import Path

import numpy as np

from glnn.codec import compress_file, decompress_file
from glnn.models import GLNN
from glnn.network import random_graph
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import Alphabet
from tests.codec.predictors import random_params

MEGABYTE = 2**20


def write_symbols(path: Path, count: int) -> None:
    generator = np.random.default_rng(0)
    with path.open("wb") as file:
        for begin in range(0, count, MEGABYTE):
            drawn = generator.random(min(MEGABYTE, count - begin)) < 0.1
            file.write((drawn + np.uint8(ord("a"))).astype(np.uint8).tobytes())


def test_memory_stays_bounded(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    model = GLNN(random_graph(1, 1, generator), 2)
    predictor = NetworkPredictor(model, random_params(model, generator, 0.1), Alphabet(b"ab"))
    plain, packed, back = tmp_path / "plain", tmp_path / "packed", tmp_path / "back"
    write_symbols(plain, 10)
    compress_file(predictor, plain, packed)  # compiles, which takes memory of its own
    decompress_file(predictor, packed, back)
    write_symbols(plain, 10_000_000)
    tracemalloc.start()
    try:
        compress_file(predictor, plain, packed)
        decompress_file(predictor, packed, back)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert filecmp.cmp(plain, back, shallow=False)
    # The file alone is 10 MB, its codes 40 MB. The compressed bytes, some 1.3 MB, are kept in memory up to 16 MB.
    assert peak < 8 * MEGABYTE
