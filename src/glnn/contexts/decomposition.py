"""Symbols as bits: a binary tree over the alphabet, so that binary estimators can predict any symbol.

P(y) = Π P(bit of y at a branching | the branching was reached). The shape matters: each branching that a symbol
passes has its own parameters to learn, in every context.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glnn.sequences import InputError


@dataclass(frozen=True)
class Decomposition:
    """A binary tree over the symbols: row n of `children` has a later branching, or −1 − y for the symbol y."""

    children: np.ndarray

    @cached_property
    def codes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each symbol the branchings on its way, the bits taken there, and how many they are."""
        above: dict[int, list[tuple[int, int]]] = {0: []}
        for branching, pair in enumerate(self.children.tolist()):
            for bit, child in enumerate(pair):
                above[child] = [*above[branching], (branching, bit)]
        ways = [above[-1 - symbol] for symbol in range(len(self.children) + 1)]
        lengths = np.array([len(way) for way in ways], np.int64)
        branchings, bits = np.zeros((2, len(ways), lengths.max()), np.int64)
        for symbol, way in enumerate(ways):
            branchings[symbol, : len(way)], bits[symbol, : len(way)] = zip(*way, strict=True)
        return branchings, bits, lengths


def balanced(size: int) -> Decomposition:
    """The binary numbers 0 … size − 1, most significant bit first, without the bits that are not in doubt."""
    children: list[list[int]] = []

    def split(low: int, high: int) -> int:
        if high - low == 1:
            return -1 - low
        here = len(children)
        children.append([])
        middle = low + (1 << ((high - low - 1).bit_length() - 1))
        children[here] = [split(low, middle), split(middle, high)]
        return here

    split(0, size)
    return Decomposition(np.array(children, np.int64))


def huffman(counts: np.ndarray) -> Decomposition:
    """Huffman's tree: frequent symbols take few bits, and so few context trees have a say in them."""
    # Ties go to the earlier tree, so that symbols of equal count make a balanced tree, not a chain.
    heap: list[tuple[int, int, Any]] = [(int(count), symbol, symbol) for symbol, count in enumerate(counts)]
    heapq.heapify(heap)
    for order in range(len(counts), 2 * len(counts) - 1):
        (less, _, zero), (more, _, one) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (less + more, order, (zero, one)))
    children: list[list[int]] = []
    waiting = [(heap[0][2], -1, 0)]
    for tree, parent, bit in waiting:
        child = -1 - tree if isinstance(tree, int) else len(children)
        if parent >= 0:
            children[parent][bit] = child
        if isinstance(tree, tuple):
            children.append([0, 0])
            waiting += [(tree[0], child, 0), (tree[1], child, 1)]
    return Decomposition(np.array(children, np.int64))


def check_children(children: np.ndarray, alphabet_size: int) -> None:
    """Refuse a tree of a file that would lead the compiled loops outside of it."""
    roots = alphabet_size - 1
    if children.dtype != np.int64:
        raise InputError(f"children holds numbers of type {children.dtype}, not int64")
    whole = [*range(1, roots), *range(-alphabet_size, 0)]
    if children.shape != (roots, 2) or sorted(children.ravel().tolist()) != sorted(whole):
        raise InputError(f"the decomposition is not a tree over the {alphabet_size} symbols")
    if ((children >= 0) & (children <= np.arange(roots)[:, None])).any():
        raise InputError("the decomposition's branchings are out of order")
