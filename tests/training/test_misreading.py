"""Symbols misread in training: how many, which, who misreads, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.sequences import encode
from glnn.training import misreading
from glnn.training.budget import Budget
from glnn.training.corpus import Chunk, Streams
from glnn.training.misreading import PART, misread
from glnn.training.settings import Settings
from glnn.training.stochastic import StochasticTrainer
from tests.training.problems import problem

small = pytest.mark.small


def chunk_of(symbols: int = 50) -> Chunk:
    codes = np.arange(4000) % symbols
    return Streams(encode([codes.tolist()], alphabet=range(symbols)), streams=40, length=100).next()


@small
def test_a_part_is_misread_and_all_of_it_is_still_to_be_predicted() -> None:
    chunk = chunk_of()
    found = misread(chunk, 0.2, 3, 7)
    assert 0.15 < (found.read != chunk.x).mean() < 0.21
    assert np.array_equal(found.x, chunk.x) and found.mask is chunk.mask and found.read.dtype == chunk.x.dtype
    assert set(found.read.ravel()) <= set(chunk.x.ravel())
    assert misread(chunk, 0.0, 3, 7) is chunk and chunk.read is chunk.x


@small
def test_a_draw_is_known_by_its_numbers() -> None:
    chunk = chunk_of()
    first = misread(chunk, 0.2, 3, 7).read
    assert np.array_equal(first, misread(chunk, 0.2, 3, 7).read)
    assert not np.array_equal(first, misread(chunk, 0.2, 3, 8).read)
    assert not np.array_equal(first, misread(chunk, 0.2, 4, 7).read)


@pytest.mark.parametrize(("name", "noise", "most"), [("lstm", 0.1, PART), ("lstm", 0.0, 0.0), ("rnn", 0.1, 0.0)])
def test_who_misreads_and_when(name: str, noise: float, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[float] = []

    def seen(chunk: Chunk, part: float, seed: int, draw: int) -> Chunk:
        parts.append(part)
        return misread(chunk, part, seed, draw)

    monkeypatch.setattr(misreading, "misread", seen)
    given = problem(name, units=6, degree=3, symbols=4, lengths=(400, 3, 250, 60), masked=False, seed=2)
    chosen = Settings(training="stochastic", metric="adam", noise=noise)
    StochasticTrainer(given.model, given.data, given.params, chosen).run(Budget(steps=20))
    assert max(parts) == pytest.approx(most)
    # Rarer and rarer, as steps become shorter.
    assert parts[-1] <= 0.2 * max(parts)
