"""Noise on the state while training:  V_j^{t+1} += σ z, with z fresh for every draw, position and unit.

A draw is a function of its number, of the position and of the unit: counters go through a hash, so nothing has to be
remembered. A step and its trials see the same noise, and so do activities that are computed again, any number of
threads, and a resumed run. z is the sum of the four bytes of a hash, with mean 0 and variance 1: close to normal, and
a tenth of the cost of a normal number.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np

from glnn.models.base import NO_NOISE, Model
from glnn.numeric.kernel import kernel
from glnn.numeric.scratch import Workspace

# The sum of four uniform bytes has mean 510 and variance 4 (256² − 1) / 12.
_MEAN = 510.0
_SCALE = 1.0 / float(np.sqrt((256.0**2 - 1.0) / 3.0))
_WORD, _LONG = (1 << 32) - 1, (1 << 64) - 1


def takes_noise(model: Model) -> bool:
    """Whether a model's forward pass can be given noise; one that cannot is trained without."""
    return "noise" in signature(model.forward).parameters


@dataclass(frozen=True)
class Noise:
    """The noise of a training with the given seed; `sigma` is its standard deviation, 0 for none."""

    sigma: float
    seed: int = 0

    @property
    def scale(self) -> np.float32:
        """What the sum of four bytes is multiplied by."""
        return np.float32(self.sigma * _SCALE)

    def key(self, draw: int) -> int:
        """One word for draw number `draw`."""
        return _key(self.seed, draw)

    def rows(self, draw: int, begin: int, count: int, units: int, out: np.ndarray | None = None) -> np.ndarray:
        """The noise of draw number `draw` at positions begin ≤ t < begin + count, (count, units) in float32."""
        if self.sigma == 0.0:
            return NO_NOISE
        if out is None:
            out = np.empty((count, units), np.float32)
        fill(self.key(draw), begin, 1, self.scale, out)
        return out

    def side_by_side(self, draw: int, shape: tuple[int, ...], units: int, space: Workspace) -> np.ndarray:
        """The same rows for streams side by side, `shape` (length, streams): a time of all streams after the other."""
        if self.sigma == 0.0:
            return NO_NOISE
        length, streams = shape
        out = space.array("noise", length * streams, units, dtype=np.float32)
        fill(self.key(draw), 0, streams, self.scale, out)
        return out


def _key(seed: int, draw: int) -> int:
    """One word of the seed and the number of the draw; neighbouring draws have unlike words."""
    h = seed
    for number in (seed >> 64, draw):
        # The finaliser of SplitMix64.
        h = (h + (number + 1) * 0x9E3779B97F4A7C15) & _LONG
        h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & _LONG
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & _LONG
        h ^= h >> 31
    return h & _WORD


@kernel()
def fill(key: int, begin: int, streams: int, scale: np.float32, out: np.ndarray) -> None:
    """out[t, j] = scale · (sum of the bytes of hash(key, begin + t, j) − 510), streams in turn where there are more."""
    n, N = out.shape
    length = n // streams
    for t in range(n):
        position = begin + (t % streams) * length + t // streams
        # One word for the row, by the same hash: columns then only count on.
        row = np.uint32(position & 0xFFFFFFFF) * np.uint32(0x9E3779B1) ^ np.uint32(key)
        row = (row ^ (row >> np.uint32(16))) * np.uint32(0x21F0AAAD)
        row = (row ^ (row >> np.uint32(15))) * np.uint32(0x735A2D97)
        row ^= row >> np.uint32(15)
        z = out[t]
        for j in range(N):
            h = np.uint32(row + np.uint32(j) * np.uint32(0x85EBCA6B))
            h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x21F0AAAD))
            h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x735A2D97))
            h = np.uint32(h ^ (h >> np.uint32(15)))
            # Bytes in pairs: 16 bits hold the sum of two.
            pairs = np.uint32((h & np.uint32(0x00FF00FF)) + ((h >> np.uint32(8)) & np.uint32(0x00FF00FF)))
            total = np.uint32((pairs & np.uint32(0xFFFF)) + (pairs >> np.uint32(16)))
            z[j] = scale * (np.float32(total) - np.float32(_MEAN))
