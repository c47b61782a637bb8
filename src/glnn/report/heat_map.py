"""A heat map as a PNG file, with nothing but zlib: rows of coloured cells, blue below zero, white at zero, red above.

Long sequences are cut into bands, one under the other.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

_WIDTH = 1600
_NARROWEST, _WIDEST = 4, 16
_LOWEST, _HIGHEST = 4, 16
_GAP = 12
_BELOW, _ZERO, _ABOVE = (np.array(colour, float) for colour in ((33, 102, 172), (247, 247, 247), (178, 24, 43)))
_BACKGROUND = 255


def png(activities: np.ndarray, starts: np.ndarray) -> bytes:
    """Activities (T, N) as a picture; sequences begin with a white gap of one cell."""
    colours = _colours(activities)
    columns = np.full((len(colours) + len(starts) - 2, activities.shape[1], 3), _BACKGROUND, np.uint8)
    sequence = np.searchsorted(starts, np.arange(len(colours)), side="right") - 1
    columns[np.arange(len(colours)) + sequence] = colours
    wide = min(max(_WIDTH // len(columns), _NARROWEST), _WIDEST)
    high = min(max(256 // activities.shape[1], _LOWEST), _HIGHEST)
    length = _WIDTH // wide
    bands = [columns[begin : begin + length] for begin in range(0, len(columns), length)]
    height, width = activities.shape[1] * high, min(len(columns), length) * wide
    picture = np.full((len(bands) * (height + _GAP) - _GAP, width, 3), _BACKGROUND, np.uint8)
    for k, band in enumerate(bands):
        cells = np.repeat(np.repeat(band.swapaxes(0, 1), high, axis=0), wide, axis=1)
        top = k * (height + _GAP)
        picture[top : top + height, : cells.shape[1]] = cells
    return _encoded(picture)


def _colours(activities: np.ndarray) -> np.ndarray:
    """(T, N, 3); the scale is that of the tanh, larger where activities are."""
    largest = max(1.0, float(np.abs(activities).max(initial=0.0)))
    share = np.clip(np.abs(activities) / largest, 0.0, 1.0)[..., None]
    end = np.where((activities > 0)[..., None], _ABOVE, _BELOW)
    return np.rint((1.0 - share) * _ZERO + share * end).astype(np.uint8)


def _encoded(picture: np.ndarray) -> bytes:
    height, width, _ = picture.shape
    # Every line begins with the number of its filter, 0 for none.
    lines = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
