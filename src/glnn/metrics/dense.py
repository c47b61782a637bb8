"""Metrics written out as matrices, for tests and for people: what a direction solves, block by block or whole."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def block_diagonal(blocks: list[np.ndarray], start: np.ndarray) -> np.ndarray:
    """The matrix over all transition parameters and, after them, the start values, which have a diagonal metric."""
    size = sum(len(block) for block in blocks)
    whole = np.zeros((size + len(start),) * 2)
    begin = 0
    for block in blocks:
        end = begin + len(block)
        whole[begin:end, begin:end] = block
        begin = end
    whole[range(size, size + len(start)), range(size, size + len(start))] = start
    return whole


def diagonal(entries: np.ndarray) -> list[np.ndarray]:
    """One block for each number."""
    return [np.array([[entry]]) for entry in entries]


def packed_blocks(matrices: np.ndarray, block_ptr: np.ndarray, damping: float) -> list[np.ndarray]:
    """The blocks that `full_solve` inverts."""
    blocks, begin = [], 0
    for size in np.diff(block_ptr):
        block = matrices[begin : begin + size**2].reshape(size, size)
        blocks.append(block + damping * np.eye(size))
        begin += size**2
    return blocks


def quasi_diagonal_blocks(diagonal: np.ndarray, cross: np.ndarray, block_ptr: np.ndarray) -> list[np.ndarray]:
    """The blocks whose inverse is the quasi-diagonal one: M_00, M_0k and M_kk as they are, elsewhere M_0k M_0l / M_00.

    That is M if the signals are orthogonal to each other once their means are subtracted. `diagonal` has its damping.
    """
    blocks = []
    for begin, end in pairwise(block_ptr):
        own = cross[begin:end].copy()
        # M_00 is the constant's own entry, damped.
        own[0] = diagonal[begin]
        block = np.outer(own, own) / diagonal[begin]
        block[range(end - begin), range(end - begin)] = diagonal[begin:end]
        blocks.append(block)
    return blocks
