"""Symbols that a network misreads while it is trained, so that what never happened does not put it out for good.

Where nothing surprising happens in the training data, nothing teaches a network what to do after a surprise. An LSTM,
whose cells keep what was strange, then goes on being wrong to the end of the sequence: 56 bits for a case of a log in
which one event was new, where misreading one symbol in a hundred leaves 28 (`experiments/learning.md`). What is to be
predicted stays as it is. Misreading becomes rarer as steps become shorter, so that the network ends on the true data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from glnn.training.corpus import Chunk

PART = 0.01
"""Of the symbols, at the full rate of steps."""


@dataclass(frozen=True)
class Misreading:
    """How much of what is read is misread, for every unit of the rate of steps."""

    part: float
    seed: int

    def __call__(self, chunk: Chunk, rate: float, draw: int) -> Chunk:
        """The chunk as it is read by a step of this rate."""
        return misread(chunk, self.part * rate, self.seed, draw)


def misread(chunk: Chunk, part: float, seed: int, draw: int) -> Chunk:
    """The chunk with such a part of what is read replaced by symbols from elsewhere in it: the same for the same draw.

    So nothing has to be remembered, and a training that is taken up again misreads the same symbols.
    """
    if part == 0.0:
        return chunk
    generator = np.random.default_rng([seed, draw])
    read = chunk.x.copy()
    wrong = generator.random(read.shape) < part
    read[wrong] = generator.choice(chunk.x.ravel(), int(wrong.sum()))
    return replace(chunk, misread=read)
